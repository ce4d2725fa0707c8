"""What is one rule for the readers of all tools: names of files, ids, and options."""

import json

import pytest

from setrl.logs import FieldNames, LogOptions, open_log
from setrl.logs.importers import tools
from setrl.logs.importers.importing import ALL_FIELDS, LogReader, choose_score
from setrl.samples import Group
from setrl.samples.types import Sample
from setrl.support.errors import ConfigError


def _groups(path, options, notes):
    """Read lines {id, rounds: [[{output, scores}]]}, with nothing but what a new reader needs."""
    for line in path.read_text().splitlines():
        record = json.loads(line)
        [[one]] = record["rounds"]
        name = choose_score(list(one["scores"]), options.fields.reward, str(path))
        sample = Sample(one["output"], reward=one["scores"][name])
        yield Group(str(record["id"]), f"q{record['id']}", (sample,))


@pytest.fixture
def acme(monkeypatch):
    """A tool that was added: its reader and one line."""
    monkeypatch.setitem(tools.READERS, "acme", LogReader(("**/acme_*.jsonl",), _groups))


def write(path, *rewards):
    path.parent.mkdir(exist_ok=True)
    rows = [
        {"id": i, "rounds": [[{"output": f"text {i}", "scores": {"right": reward}}]]}
        for i, reward in enumerate(rewards)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.usefixtures("acme")
def test_a_folder_of_the_tool_s_files_is_recognised(tmp_path):
    write(tmp_path / "acme_first.jsonl", 1, 0)
    log = open_log(tmp_path)
    assert (log.source, [group.prompt for group in log]) == ("acme", ["q0", "q1"])


@pytest.mark.usefixtures("acme")
def test_one_id_in_two_files_is_two_problems(tmp_path):
    for name in ("acme_a.jsonl", "acme_b.jsonl", "old/acme_b.jsonl"):
        write(tmp_path / name, 1, 0)
    groups = list(open_log(tmp_path))
    assert [len(group) for group in groups] == [1] * 6
    assert [group.id for group in groups[:2]] == ["acme_a/0", "acme_a/1"]
    assert len({group.id for group in groups}) == 6


@pytest.mark.usefixtures("acme")
def test_a_single_file_that_is_not_recognised_names_its_command(tmp_path):
    path = write(tmp_path / "acme_first.jsonl", 1, 0)
    with pytest.raises(ConfigError, match=f"setrl import acme {path} --output FILE"):
        open_log(path, needs=["correct"])
    other = path.rename(tmp_path / "mine.jsonl")
    with pytest.raises(ConfigError) as caught:
        open_log(other, needs=["correct"])
    assert "setrl import" not in str(caught.value)


def test_a_single_file_is_read_where_its_first_bytes_tell_the_tool(tmp_path, monkeypatch):
    reader = LogReader(
        ("**/acme_*.jsonl",), _groups, opens=lambda _, start: start.startswith(b'{"id": 0, "rou')
    )
    monkeypatch.setitem(tools.READERS, "acme", reader)
    log = open_log(write(tmp_path / "mine.jsonl", 1, 0))
    assert (log.source, len(log)) == ("acme", 2)


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("tool", [*tools.READERS, "acme"])
def test_a_field_that_a_reader_does_not_read_is_refused(tool, tmp_path):
    path = write(tmp_path / "acme_first.jsonl", 1, 0)
    read = tools.READERS[tool].fields
    for role in {*ALL_FIELDS, "prompt"} - {*read}:
        options = LogOptions(FieldNames(**{role: "x"}))
        with pytest.raises(ConfigError, match=f"leave out --{role}(;.* can be named)?$"):
            tools.tool_groups(tool, path, options, [])


def test_no_two_tools_claim_one_name():
    names = {
        "completions_12.parquet": "trl",
        "12.jsonl": "verl",
        "samples_gsm8k.jsonl": "lm-eval",
        "details_aime.parquet": "lighteval",
        "one.eval": "inspect",
    }
    for name, tool in names.items():
        assert [one for one, reader in tools.READERS.items() if reader.knows(name)] == [tool]
    for name in ("log.json", "mine.jsonl", "train_rollout_summaries.jsonl", "samples.jsonl"):
        assert not [one for one, reader in tools.READERS.items() if reader.knows(name)]
