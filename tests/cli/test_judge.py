"""`setrl judge`: exit codes, and a server that fails."""

import json
import re
import socket
from pathlib import Path

import pytest

from setrl import cli
from setrl.cli.judge_audit import GOLD_NAMES, JudgeAudit
from setrl.logs import LogOptions, open_log
from tests.judges.helpers import make_groups, right_labels
from tests.judges.server import FaultyServer

OBJECTS = {"prompt": "p", "samples": [{"text": t, "reward": 1} for t in ("a", "b", "", "a")]}


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def run(*arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    return left.value.code


def served(tmp_path, url, *options, count=12):
    groups = make_groups(count)
    records = [{"prompt": group.prompt, "completions": group.texts} for group in groups]
    path = write(tmp_path / "in.jsonl", records)
    config = tmp_path / "judge.yaml"
    config.write_text(
        "judge: lm\nmodel: a-judge\n"
        "limits: {timeout_s: 20, backoff_s: 0.002, longest_pause_s: 0.05, attempts: 8}\n"
    )
    arguments = ["judge", path, "--config", config, "--endpoint", url, *options]
    return groups, run(*arguments), tmp_path / "in.judged.jsonl"


def test_a_language_model_behind_a_server_that_fails_now_and_then(tmp_path, capsys):
    with FaultyServer({"server_error": 0.2, "prose_around": 0.1, "dropped": 0.1}) as server:
        groups, code, output = served(tmp_path, server.url)
        asked = len(server.log)
        assert code == 0
        for group, line in zip(groups, read(output), strict=True):
            assert tuple(line["strategies"]) == right_labels(group)
        _, code, _ = served(tmp_path, server.url)
        assert code == 0
        assert len(server.log) == asked  # all were in the cache next to the output
    assert "12 groups, " in capsys.readouterr().err


def test_too_many_unknown_groups_end_with_exit_code_3(tmp_path, capsys):
    with FaultyServer({"server_error": 1.0}) as server:
        _, code, output = served(tmp_path, server.url, "--max-unknown", "0.5")
        assert code == 3
    printed = capsys.readouterr().err
    assert "unknown: 12 groups (12 server_error)" in printed
    assert "12 of 12 groups are unknown, more than --max-unknown allows (0.5)" in printed
    assert all(line["strategies"] == [None] * 5 for line in read(output))


def test_a_server_that_answers_nothing_ends_the_command(tmp_path, capsys):
    with FaultyServer({"server_error": 1.0}) as server:
        _, code, output = served(tmp_path, server.url, count=200)
        asked_about = len({json.dumps(body["messages"]) for body in server.bodies})
    assert code == 1
    printed = capsys.readouterr().err
    assert re.search(r"fails too often: (\d+) of \1 prompts unknown \(\1 server_error\)", printed)
    assert asked_about < 200
    with FaultyServer() as server:
        groups, code, _ = served(tmp_path, server.url, count=200)
    assert code == 0
    assert [tuple(line["strategies"]) for line in read(output)] == list(map(right_labels, groups))


def nobody_listens():
    """An address at which nothing listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def asleep(monkeypatch):
    """The pauses between attempts, which are not waited for."""
    pauses = []

    async def sleep(seconds, *_):
        pauses.append(seconds)

    monkeypatch.setattr("setrl.models.served.client.asyncio.sleep", sleep)
    return pauses


def test_a_dead_endpoint_is_named_before_any_pause(tmp_path, capsys, monkeypatch):
    pauses = asleep(monkeypatch)
    _, code, output = served(tmp_path, nobody_listens())
    assert code == 1
    assert "cannot be reached" in capsys.readouterr().err
    assert not output.exists()
    assert not pauses
    config = ["--config", tmp_path / "judge.yaml", "--endpoint", nobody_listens()]
    assert run("judge-audit", tmp_path / "in.jsonl", *config) == 1
    assert "cannot be reached" in capsys.readouterr().err


def test_earlier_judgements_are_enough_where_nothing_listens(tmp_path, capsys, monkeypatch):
    with FaultyServer() as server:
        _, _, output = served(tmp_path, server.url)
    labels = read(output)
    output.unlink()
    pauses = asleep(monkeypatch)
    url = nobody_listens()
    assert served(tmp_path, url)[1] == 0
    assert read(output) == labels
    assert "only" in capsys.readouterr().err
    served(tmp_path, url, count=14)  # two are new
    assert not pauses, "a new one is asked once"


def test_the_label_of_degenerate_golds_is_an_option_of_the_audit(tmp_path):
    texts, golds = ["a", "b", "c", "d"], [1, 2, 100, 100]
    samples = [{"text": t, "gold": g} for t, g in zip(texts, golds, strict=True)]
    path = write(tmp_path / "in.jsonl", [{"prompt": "p", "samples": samples}])
    found = []
    for degenerate in (None, "100"):
        options = LogOptions(degenerate=degenerate)
        log = open_log(path, options, ["text", "prompt"], strategies=GOLD_NAMES)
        gold = JudgeAudit(file=path, judge="exact")._gold_labels(log, list(log))
        found.append((gold, any("the labels have 100" in note for note in log.notes())))
    assert found == [([[0, 1, 2, 2]], True), ([[0, 1, -1, -1]], False)]


def test_wrong_usage_ends_with_exit_code_2(tmp_path, capsys):
    path = write(tmp_path / "in.jsonl", [OBJECTS])
    (tmp_path / "j.yaml").write_text("judge: exact\nflips: 1\n")
    (tmp_path / "t.yaml").write_text("task: {data: own.jsonl, strategy: final_answer}\n")
    for options, message in [
        ([], "name the judge with --judge"),
        (["--judge", "exat"], "did you mean 'exact'"),
        (["--judge", "lm:m"], "judge lm needs the option 'endpoint'"),
        (["--judge", "exact", "--config", tmp_path / "j.yaml"], "name the judge with --judge, or"),
        (["--config", tmp_path / "j.yaml"], "unknown option of judge exact 'flips'"),
        (["--config", tmp_path / "t.yaml"], "the strategy of the task is not a judge"),
        (["--judge", "exact", "--max-unknown", "5"], r"--max-unknown must be in [0, 1]"),
        (["--judge", "oracle:quadratik"], "did you mean 'quadratic'"),
    ]:
        assert run("judge", path, *options) == 2
        assert message in capsys.readouterr().err
    assert not Path(tmp_path / "in.judged.jsonl").exists()


@pytest.mark.parametrize(
    "judge",
    ["exact", "{judge: exact}", "{judge: studies.faulty:NoisyJudge, of: exact, flips: 0}"],
)
def test_the_judge_of_a_task(tmp_path, judge):
    path = write(tmp_path / "in.jsonl", [OBJECTS])
    strategy = judge if "flips" in judge else f"{{judge: {judge}}}"
    text = f"task:\n  data: nowhere.jsonl\n  strategy: {strategy}\n"
    (tmp_path / "config.yaml").write_text(text)
    assert run("judge", path, "--config", tmp_path / "config.yaml") == 0
    own, named = tmp_path / "in.judged.jsonl", tmp_path / "named.jsonl"
    assert run("judge", path, "--judge", "exact", "--output", named) == 0
    found, expected = (read(each)[0]["samples"] for each in (own, named))
    assert [one["strategy"] for one in found] == [one["strategy"] for one in expected]
