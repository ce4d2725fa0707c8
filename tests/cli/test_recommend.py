"""`setrl recommend`, from the command line to what it prints."""

import json
import random
import shlex

import pytest

pytest.importorskip("tyro")

from setrl.cli import main


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def groups(prompts=8, samples=8):
    rng = random.Random(0)
    rows = []
    for number in range(prompts):
        labels = [rng.choice(["factoring", "formula", None]) for _ in range(samples)]
        rewards = [int(label is not None and rng.random() < 0.9) for label in labels]
        rows.append({"id": f"p{number}", "rewards": rewards, "strategies": labels})
    return rows


def run(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["recommend", *arguments])
    return left.value.code, *capsys.readouterr()


def test_the_row_comes_first_with_a_command_that_can_be_run(tmp_path, capsys, monkeypatch):
    yaml = pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "groups.jsonl", groups())
    code, out, err = run([path], capsys)
    found = json.loads(run([path, "--json"], capsys)[1])
    assert code == 0
    assert out.startswith("row 9 of the table in docs/choosing.md holds: none of the rows above\n")
    assert out.count("\n") < 20  # one screen
    assert f"next   {found['next']}\n" in out
    assert "strategy  strategies" in err
    block = out.partition("setrl train --config YOURS:\n")[2].partition("\n\n")[0]
    [config] = found["methods"]
    assert yaml.safe_load(block)["arms"] == {"grpo": {"method": "grpo"}, config["method"]: config}
    with pytest.raises(SystemExit) as left:
        main(shlex.split(found["next"])[1:])
    assert left.value.code == 0
    [first, *_] = (tmp_path / "groups.credited.jsonl").read_text().splitlines()
    assert config.items() <= json.loads(first)["credit"]["advantage"].items()


def test_a_weak_base_gets_a_pilot_of_two_methods(tmp_path, capsys):
    hard = [{**one, "rewards": [*one["rewards"][:4], 0, 0, 0, 0]} for one in groups()]
    out = run([write(tmp_path / "hard.jsonl", hard)], capsys)[1]
    assert "setrl compare RUN/concave_counts RUN/poly_epo, on problems that were held out" in out
    assert out.count("in a TRL script: method=") == 2


def test_without_strategies_it_says_what_is_missing(tmp_path, capsys):
    rows = [{"id": r["id"], "rewards": r["rewards"], "way": r["strategies"], "vote": "a"}
            for r in groups()]  # fmt: skip
    code, out, _ = run([write(tmp_path / "groups.jsonl", rows)], capsys)
    assert code == 0
    assert "--strategy FIELD if a field of the log says the strategy of a sample (way)" in out
    assert "next   setrl judge " in out


def test_lost_samples_are_said_also_with_quiet(tmp_path, capsys):
    rows = groups()
    for row in rows[1:]:
        for name in ("rewards", "strategies"):
            row[name] = row[name][:5]
    path = write(tmp_path / "groups.jsonl", rows)
    code, out, err = run([path, "--quiet"], capsys)
    assert code == 0
    assert "its name" not in err
    assert "problems have 5 to 8 samples" in out
    assert "of the 1 prompt with at least 8 samples" in out


@pytest.mark.parametrize(
    ("rows", "options", "code", "message"),
    [
        (groups(3), [], 3, "too few prompts to say something about others: 3"),
        (groups(), ["--samples-per-prompt", "2"], 2, "--samples-per-prompt must be at least 3"),
        (None, [], 3, "groups.jsonl: no such file"),
    ],
)
def test_what_cannot_be_is_a_sentence(tmp_path, capsys, rows, options, code, message):
    path = tmp_path / "groups.jsonl"
    if rows is not None:
        write(path, rows)
    found, _, err = run([str(path), *options], capsys)
    assert found == code
    assert message in err
