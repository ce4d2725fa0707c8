"""`setrl recommend`, from the command line to what it prints."""

import json
import random
import re
import shlex

import pytest

pytest.importorskip("tyro")

from setrl.cli import main
from setrl.core import methods

QUICK = ["--steps", "5", "--prompts-per-step", "2", "--samples-per-prompt", "6", "--resamples", "2"]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def groups(prompts=8, samples=8):
    rng = random.Random(0)
    rows = []
    for number in range(prompts):
        labels = [rng.choice(["factoring", "formula", None]) for _ in range(samples)]
        rewards = [int(label is not None and rng.random() < 0.9) for label in labels]
        other = [rng.choice([label, "formula"]) for label in labels]
        rows.append({"id": f"p{number}", "rewards": rewards, "clusters": labels, "second": other})
    return rows


def run(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["recommend", *arguments])
    return left.value.code, *capsys.readouterr()


def test_groups_get_a_method_with_its_reasons(tmp_path, capsys):
    path = write(tmp_path / "groups.jsonl", groups())
    code, out, err = run([path, *QUICK], capsys)
    assert code == 0
    for part in ("8 prompts × 8 samples", "factoring", "take   ", "next   setrl credit"):
        assert part in out
    without = sum(one is None for row in groups() for one in row["clusters"]) / 64
    assert f"; {100 * without:.0f}% of samples without one" in out
    assert out.count("\n") < 30  # one screen
    assert "how sure\n" not in out
    details = run([path, *QUICK, "--details"], capsys)[1]
    for part in ("take   ", "\nwhy\n", "\nhow sure\n", "success p̂", "pays wrong"):
        assert part in details
    assert "strategy  clusters" in err


def test_a_base_weaker_than_all_that_were_compared_is_said(tmp_path, capsys):
    hard = [{**one, "rewards": [*one["rewards"][:4], 0, 0, 0, 0]} for one in groups()]
    easy = [{**one, "rewards": [*one["rewards"][:4], 1, 1, 1, 1]} for one in hard]
    said = "below 55% forecasts of pass@1 were 4 to 36 points too high"
    assert said in run([write(tmp_path / "hard.jsonl", hard), *QUICK], capsys)[1]
    out = run([write(tmp_path / "easy.jsonl", easy), *QUICK], capsys)[1]
    assert said not in out
    assert "pilot" not in out


def test_a_weak_base_gets_a_pilot_of_two_methods(tmp_path, capsys):
    """What to train, for how long, and what to compare: a config that can be used as it is."""
    yaml = pytest.importorskip("yaml")
    hard = [{**one, "rewards": [*one["rewards"][:4], 0, 0, 0, 0]} for one in groups()]
    path = write(tmp_path / "hard.jsonl", hard)
    options = [*QUICK, "--steps", "40"]
    out = run([path, *options], capsys)[1]
    found = json.loads(run([path, *options, "--json"], capsys)[1])
    one, other = (found["candidates"][name]["config"] for name in found["pilot"])
    assert found["pilot"][0] == found["choice"]
    assert "concave_counts" in {one["method"], other["method"]}
    assert one["method"] != other["method"]
    assert "take   " not in out
    block = out.partition("setrl train --config YOURS:\n")[2].partition("then")[0]
    arms = {"grpo": {"method": "grpo"}, one["method"]: one, other["method"]: other}
    assert yaml.safe_load(block) == {"steps": 10, "arms": arms}
    assert f"setrl compare RUN/{one['method']} RUN/{other['method']}" in out
    assert all(f"\n→ {name} " in out for name in found["pilot"])
    assert "raise its success" not in out

    hopeless = [{**row, "rewards": [0] * 8} for row in groups(prompts=30)]
    hopeless[0]["rewards"][0] = hopeless[1]["rewards"][1] = 1
    out = run([write(tmp_path / "hopeless.jsonl", hopeless), *options], capsys)[1]
    assert "first raise its success" in out


def test_the_choice_comes_first_with_its_ties_and_the_next_command(tmp_path, capsys, monkeypatch):
    yaml = pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "groups.jsonl", groups())
    _, out, err = run([path, *QUICK], capsys)
    found = json.loads(run([path, *QUICK, "--json"], capsys)[1])
    tied, of_all = len(found["near"]) + 1, len(found["candidates"])
    assert tied > 1
    assert out.startswith(f"take   {found['choice']}: ")
    assert f"{tied - 1} of {of_all - 1} others are as good within the error of forecasts" in out
    assert out.count("\n= ") == tied - 1
    block = out.partition("setrl train --config YOURS:\n")[2].partition("\n\n")[0]
    arms = yaml.safe_load(block)["arms"]
    config = found["candidates"][found["choice"]]["config"]
    assert arms == {"grpo": {"method": "grpo"}, config["method"]: config}
    assert "forecast" in err  # the bar, with the time left
    assert f"next   {found['next']}  #" in out
    with pytest.raises(SystemExit) as left:  # the command can be run as it is
        main(shlex.split(found["next"])[1:])
    assert left.value.code == 0
    [first, *_] = (tmp_path / "groups.credited.jsonl").read_text().splitlines()
    credit = json.loads(first)["credit"]["advantage"]
    assert config.items() <= credit.items()


def test_the_python_line_makes_the_method_of_the_config(tmp_path, capsys):
    hard = [{**one, "rewards": [*one["rewards"][:4], 0, 0, 0, 0]} for one in groups()]
    for rows, times in ((groups(), 1), (hard, 2)):
        path = write(tmp_path / "groups.jsonl", rows)
        out = run([path, *QUICK], capsys)[1]
        found = json.loads(run([path, *QUICK, "--json"], capsys)[1])
        lines = re.findall(r"in a TRL script: method=(.+)", out)
        configs = [found["candidates"][n]["config"] for n in found["pilot"] or [found["choice"]]]
        made = [eval(line, {"methods": methods}) for line in lines]
        assert made == [methods.from_config(config) for config in configs]
        assert len(lines) == times


def test_the_speed_of_the_forecast_is_said_below_its_table(tmp_path, capsys):
    out = run([write(tmp_path / "groups.jsonl", groups()), *QUICK], capsys)[1]
    table, said, _ = out.partition("forecasts assume the speed of a small model")
    assert said
    assert "concave_counts" in table.splitlines()[-2]


def test_labels_that_do_not_recur_are_ranked_and_it_says_why(tmp_path, capsys):
    rows = groups()
    for number, row in enumerate(rows):
        row["clusters"] = [label and f"{label} {number}" for label in row["clusters"]]
    path = write(tmp_path / "groups.jsonl", rows)
    why = (
        "for each prompt, because fewer than half of right samples (0%) have a label that is right"
    )
    assert why in run([path, *QUICK], capsys)[1]
    assert "because --labels by_prompt" in run([path, *QUICK, "--labels", "by_prompt"], capsys)[1]
    assert "counted anew" not in run([path, *QUICK, "--labels", "shared"], capsys)[1]


def test_json_holds_the_same(tmp_path, capsys):
    path = write(tmp_path / "groups.jsonl", groups())
    code, out, _ = run([path, *QUICK, "--json", "--goal", "pass@1"], capsys)
    found = json.loads(out)
    assert code == 0
    assert found["goal"] == "the highest pass@1"
    assert found["choice"] in found["candidates"]
    assert found["training"]["num_samples"] == 6


def test_two_columns_of_labels_measure_the_noise(tmp_path, capsys):
    path = write(tmp_path / "groups.jsonl", groups())
    code, out, err = run([path, *QUICK, "--second-strategy", "second"], capsys)
    assert code == 0
    assert "the two judges disagree on" in err
    assert "noise of the judge:" in out


def test_without_strategies_it_says_what_is_missing(tmp_path, capsys):
    rows = [{"id": r["id"], "rewards": r["rewards"], "way": r["clusters"]} for r in groups()]
    code, out, _ = run([write(tmp_path / "groups.jsonl", rows)], capsys)
    assert code == 0
    assert "missing: which strategy each sample uses" in out
    assert "if a field of the log says it (way), add --strategy FIELD" in out
    assert "next   setrl judge " in out


@pytest.mark.parametrize(
    ("rows", "options", "code", "message"),
    [
        (groups(3), [], 3, "too few prompts to say something about others: 3"),
        ([{"id": str(n), "rewards": [1, 1]} for n in range(9)], [], 3, "all 18 samples are right"),
        (groups(), ["--goal", "best"], 2, "goal must be strategies, pass@1, or the points"),
        (groups(), ["--resamples", "0"], 2, "--resamples must be at least 1"),
        (groups(), ["--samples-per-prompt", "2"], 2, "--samples-per-prompt must be at least 3"),
        (groups(), ["--judge-noise", "2"], 2, "--judge-noise must be a share from 0 to 1, got 2"),
        (
            groups(),
            ["--judge-noise", "0.1", "--second-strategy", "second"],
            2,
            "give --judge-noise or --second-strategy, not both",
        ),
        (groups(), ["--second-strategy", "third"], 2, "there is no field 'third'"),
    ],
)
def test_what_cannot_be_is_a_sentence(tmp_path, capsys, rows, options, code, message):
    found, _, err = run([write(tmp_path / "groups.jsonl", rows), *QUICK[:2], *options], capsys)
    assert found == code
    assert message in err


def test_a_missing_file_is_named(tmp_path, capsys):
    code, _, err = run([str(tmp_path / "none.jsonl")], capsys)
    assert code == 3
    assert "none.jsonl: no such file" in err


def test_quiet_leaves_out_how_the_log_was_read(tmp_path, capsys):
    path = write(tmp_path / "groups.jsonl", groups())
    assert "its name" in run([path, *QUICK], capsys)[2]
    code, out, err = run([path, *QUICK, "--quiet"], capsys)
    assert code == 0
    assert "its name" not in err
    assert "take   " in out
