"""`setrl judge-audit`: its files, its table, and where it gets rewards and gold labels from."""

import json
import re

import pytest

from setrl import cli
from setrl.evaluate.judge_audit import audit
from setrl.judges import Group
from setrl.judges.exact import ExactJudge
from setrl.show.report.judge_audit import audit_markdown, audit_record
from studies.faulty import NoisyJudge
from tests.judges.helpers import make_groups
from tests.judges.server import FaultyServer

ABOUT = {"judge": "j", "file": "f.jsonl", "method": "poly_epo", "set_size": 2, "seed": 0}


def run(*arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    return left.value.code


@pytest.fixture
def path(tmp_path):
    texts = ["a", "b", "a", "c", "b", "a"]
    samples = [
        {"text": text, "strategy": "x" if text == "c" else text, "reward": int(n != 4)}
        for n, text in enumerate(texts)
    ]
    records = [{"prompt": f"p{n}", "samples": samples[n % 2 :]} for n in range(5)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_an_audit_is_written_as_json_table_and_page(path, tmp_path, capsys):
    config = tmp_path / "judge.yaml"
    config.write_text("judge: studies.faulty:NoisyJudge\nof: exact\nflips: 0.4\n")
    options = ["--orders", 3, "--pairs", "--set-size", 2]
    assert run("judge-audit", path, "--config", config, *options) == 0
    folder = tmp_path / "in.audit"
    record = json.loads((folder / "audit.json").read_text())
    assert record["judge"] == "noisy:exact, flips 0.4"
    assert (record["groups"], record["orders"], record["judgements_unknown"]) == (5, 3, 0)
    assert list(record["agreement"]) == ["itself", "pairwise", "gold"]
    assert 0 < record["agreement"]["gold"]["flips"]["value"] < 1
    assert 0 < record["agreement"]["itself"]["signs_changed"]["value"] < 1
    assert 5 * 2 <= record["pairs"]["questions"] <= 5 * 3  # of three different texts
    printed = capsys.readouterr().out
    assert (folder / "audit.md").read_text() in printed
    page = (folder / "audit.html").read_text()
    shown = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert shown["audit"] == record
    assert shown["verdict"][0].startswith("When the judge “noisy:exact, flips 0.4” sees the same")
    flips = record["agreement"]["gold"]["flips"]
    by_group = record["by_group"]["gold"]["flips"]
    assert sum(by_group) / len(by_group) == pytest.approx(flips["value"], abs=1e-6)
    worst = record["examples"][0]
    itself = record["by_group"]["itself"]["flips"]
    assert itself[worst["group"]] == max(itself)
    assert worst["prompt"] == f"p{worst['group']}"
    assert len({tuple(one["labels"]) for one in worst["samples"]}) > 1
    assert all(len(one["labels"]) == 3 for one in worst["samples"])
    assert f"{flips['value']:.3f} [{flips['low']:.3f}, {flips['high']:.3f}]" in printed
    assert f"{record['pairs']['questions']} questions about pairs" in printed


def test_groups_too_small_for_sets_are_said(path, tmp_path, capsys):
    assert run("judge-audit", path, "--judge", "exact", "--set-size", "6") == 0
    assert "note: no group has more than --set-size 6 samples" in capsys.readouterr().err
    assert run("judge-audit", path, "--judge", "exact", "--set-size", "5") == 0
    assert "note" not in capsys.readouterr().err


def test_the_same_seed_finds_the_same(path, tmp_path):
    for name in ("one", "two"):
        run("judge-audit", path, "--judge", "exact", "--output", tmp_path / name)
    one, two = ((tmp_path / name / "audit.json").read_text() for name in ("one", "two"))
    assert one == two


def test_gold_labels_are_compared_as_partitions(path, tmp_path):
    run("judge-audit", path, "--judge", "exact")
    record = json.loads((tmp_path / "in.audit" / "audit.json").read_text())
    assert record["agreement"]["gold"]["adjusted_rand"]["value"] == 1.0
    assert "pairwise" not in record["agreement"]


def test_without_rewards_and_gold_only_agreement_with_itself_is_known(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"prompt": "p", "completions": ["a", "b", "a"]}\n')
    assert run("judge-audit", path, "--judge", "exact") == 0
    record = json.loads((tmp_path / "in.audit" / "audit.json").read_text())
    assert list(record["agreement"]) == ["itself"]
    signs = record["agreement"]["itself"]["signs_changed"]
    assert (signs["value"], signs["groups"], signs["missing"]) == (None, 0, 1)
    assert "| signs of advantages changed | − |" in (tmp_path / "in.audit" / "audit.md").read_text()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ["--judge", "exact", "--gold", "nope"],
            2,
            "right labels of samples are named with --strategy",
        ),
        (["--judge", "exact", "--reward", "nope"], 2, "--reward: there is no field 'nope'"),
        (["--judge", "exact", "--orders", "0"], 2, "--orders must be at least 1, got 0"),
        (["--judge", "exact", "--set-size", "0"], 2, "--set-size must be at least 1, got 0"),
    ],
)
def test_what_is_wrong_is_said(path, capsys, options, code, message):
    assert run("judge-audit", path, *options) == code
    assert message in capsys.readouterr().err


def test_a_language_model_sees_every_order_and_every_pair(tmp_path):
    groups = make_groups(6, num_samples=4)
    path = tmp_path / "in.jsonl"
    records = [{"prompt": group.prompt, "completions": group.texts} for group in groups]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    config = tmp_path / "judge.yaml"
    config.write_text("judge: lm\nmodel: m\nlimits: {backoff_s: 0.002}\n")
    options = ["--config", config, "--orders", 3, "--pairs"]
    with FaultyServer({"rate_limit": 0.1}) as server:
        assert run("judge-audit", path, *options, "--endpoint", server.url) == 0
        asked = server.log.count("fine")
        # No order is asked about twice, even where another judge's was the same by chance.
        assert 2 * 6 + 3 * 6 < asked <= 3 * 6 + 6 * 6
        assert run("judge-audit", path, *options, "--endpoint", server.url) == 0
        assert server.log.count("fine") == asked  # the cache in the folder knows all of them
    record = json.loads((tmp_path / "in.audit" / "audit.json").read_text())
    assert re.fullmatch(
        r"lm:m, style mathematics@\w{12}, seed 0, sample_tokens 24000", record["judge"]
    )
    assert record["agreement"]["itself"]["flips"]["value"] == 0.0
    assert record["agreement"]["itself"]["flips"]["groups"] == 6
    assert 3 * 6 <= record["pairs"]["questions"] <= 6 * 6
    assert record["agreement"]["pairwise"]["flips"]["value"] == 0.0


def test_a_server_that_never_answers_ends_with_exit_code_3(path, tmp_path, capsys):
    config = tmp_path / "judge.yaml"
    config.write_text("judge: lm\nmodel: m\nlimits: {attempts: 1}\n")
    with FaultyServer({"server_error": 1.0}) as server:
        options = ["--config", config, "--endpoint", server.url]
        assert run("judge-audit", path, *options) == 3
    assert "could not judge any group" in capsys.readouterr().err


def test_counts_of_groups_without_a_value_are_said():
    groups = [Group.of_texts("p", tuple("abcd")), Group.of_texts("q", tuple("aabb"))]
    found = audit(groups, lambda _: ExactJudge(), orders=2)
    table = audit_markdown(audit_record(found, ABOUT))
    assert "| pairwise F1 | 1.000 (n = 1) |" in table
    assert "4 judgements unknown" in table


def test_intervals_are_over_groups():
    groups = [Group.of_texts(f"p{n}", tuple("aabbccdd")) for n in range(30)]
    gold = [(0, 0, 1, 1, 2, 2, 3, 3)] * 30
    found = audit(groups, lambda _: NoisyJudge(ExactJudge(), 0.1), orders=1, gold=gold)
    flips = audit_record(found, ABOUT)["agreement"]["gold"]["flips"]
    assert flips["groups"] == 30
    assert flips["low"] < flips["value"] < flips["high"]
    assert flips["value"] == pytest.approx(0.1, abs=0.05)
