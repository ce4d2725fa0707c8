"""`setrl credit`: the user's rows with advantages, in every shape, and files that are wrong."""

import errno
import json
import re
from pathlib import Path

import numpy as np
import pytest

from setrl import Method, cli, methods, objectives
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.support.errors import ConfigError
from setrl.train.scoring.credit import credit_groups

DATA = Path(__file__).parents[1] / "data"


def write(tmp_path, *records):
    path = tmp_path / "groups.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return left.value.code, [json.loads(line) for line in out.splitlines()], err


def credited(path, method):
    """The advantages of each group, without what pads it."""
    groups = list(open_log(path))
    values_BN = credit_groups(groups, method).values_BN
    return [row[: len(group)] for row, group in zip(values_BN, groups, strict=True)]


def test_advantages_equal_the_core_s_on_ragged_groups(tmp_path):
    path = write(
        tmp_path,
        {"rewards": [1, 1, 0, 1], "strategies": [5, 5, -1, 7]},
        {"rewards": [1, 0, 1], "strategies": ["a", "b", "c"]},
    )
    method = methods.poly_epo(set_size=2)
    values = credited(path, method)
    first = method.advantages(np.array([[1.0, 1, 0, 1]]), strategies=np.array([[0, 0, -1, 1]]))
    second = method.advantages(np.array([[1.0, 0, 1]]), strategies=np.array([[0, 1, 2]]))
    np.testing.assert_array_equal(values[0], first.values_BN[0])
    np.testing.assert_array_equal(values[1], second.values_BN[0])


ROWS = [
    {"extra": {"k": None}, "prompt": p, "reward": r, "strategy": s, "z": 1}
    for p, r, s in (("p", 1, "a"), ("q", 0, "b"), ("p", 0, "b"), ("q", 1, "b"), ("p", 1, "a"),
                    ("q", 1, "a"))
]  # fmt: skip
OBJECTS = [
    {"prompt": p, "samples": [{k: r[k] for k in ("reward", "strategy")} for r in ROWS
                              if r["prompt"] == p], "more": [1, {"a": 2}]}
    for p in "pq"
]  # fmt: skip
LISTS = [
    {"prompt": p, "rewards": [r["reward"] for r in ROWS if r["prompt"] == p],
     "strategies": [r["strategy"] for r in ROWS if r["prompt"] == p], "more": "x"}
    for p in "pq"
]  # fmt: skip


def test_rows_come_back_as_they_were_with_credit(tmp_path, capsys):
    """Byte by byte: keys keep their order, and what is added comes after them."""
    found = {}
    for name, rows in (("rows", ROWS), ("objects", OBJECTS), ("lists", LISTS)):
        code, lines, _ = run(capsys, "credit", write(tmp_path, *rows), "--set-size", 2)
        assert code == 0
        said = {"advantage": {"method": "poly_epo", "set_size": 2, "skipped": False}}
        assert all(line["credit"] == said for line in lines)
        given = sorted(rows, key=lambda row: row["prompt"])  # a group together, in order
        found[name] = []
        for line, row in zip(lines, given, strict=True):
            del line["credit"]
            values = line.pop("advantage", None)
            found[name] += [values] if values is not None else line.pop("advantages", [])
            found[name] += [one.pop("advantage") for one in line.get("samples", ())]
            assert json.dumps(line) == json.dumps(row)
    assert found["rows"] == found["objects"] == found["lists"]
    assert len(set(found["rows"])) > 2


def test_a_key_of_the_user_s_is_never_overwritten(tmp_path, capsys):
    path = write(tmp_path, *[{**row, "advantage": 7} for row in ROWS])
    code, _, err = run(capsys, "credit", path, "--into", "advantage")
    assert (code, "has 'advantage' already: name another key with --into" in err) == (3, True)
    code, lines, _ = run(capsys, "credit", path, "--set-size", 2)
    assert (code, {line["advantage"] for line in lines}) == (0, {7})
    assert any(line["advantage_poly_epo"] for line in lines)
    code, lines, _ = run(capsys, "credit", path, "--into", "mine", "--set-size", 2)
    assert (code, {line["advantage"] for line in lines}) == (0, {7})
    assert any(line["mine"] for line in lines)
    late = write(tmp_path, *ROWS, {**ROWS[0], "advantage": 1})
    assert run(capsys, "credit", late, "--set-size", 2, "--into", "advantage")[0] == 3


def methods_of(record):
    """Column → method, of the credit that a record names."""
    return {key: one["method"] for key, one in record.items()}


@pytest.mark.parametrize("rows", [ROWS, OBJECTS, LISTS])
def test_each_column_of_credit_keeps_its_own_record(tmp_path, capsys, rows):
    """Credit of credit, also where an earlier version wrote one record for a whole row."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    run(capsys, "credit", write(tmp_path, *rows), "--set-size", 2, "--output", first)
    run(capsys, "credit", first, "--method", "maxpo", "--set-size", 1, "--output", second)
    wanted = {"advantage": "poly_epo", "advantage_maxpo": "maxpo"}
    earlier = []
    for line in second.read_text().splitlines():
        row = json.loads(line)
        assert methods_of(row["credit"]) == wanted
        earlier.append({**row, "credit": row["credit"]["advantage_maxpo"]})
    path = write(tmp_path, *earlier)  # the method of `advantage` is no longer known
    _, lines, _ = run(capsys, "credit", path, "--method", "grpo")
    assert {*map(str, (methods_of(line["credit"]) for line in lines))} == {
        str({"advantage_maxpo": "maxpo", "advantage_grpo": "grpo"})}  # fmt: skip
    assert run(capsys, "credit", first, "--method", "grpo", "--output", path)[0] == 0


def test_what_a_user_says_of_credit_stays(tmp_path, capsys):
    path = write(tmp_path, {"rewards": [1, 0, 1], "credit": {"by": "me"}})
    _, (line,), _ = run(capsys, "credit", path, "--method", "grpo")
    assert (line["credit"]["by"], line["credit"]["advantage"]["method"]) == ("me", "grpo")


def test_an_answer_is_not_a_strategy_until_it_is_named(tmp_path, capsys):
    """Four samples of one approach with four answers are one strategy, not four."""
    rows = [
        {"prompt": "p", "reward": int(i > 0), "answer": str(i), "approach": "a"} for i in range(4)
    ]
    path = write(tmp_path, *rows)
    [one] = credited(path, methods.poly_epo(2))
    want = methods.poly_epo(2).advantages(np.array([[0.0, 1, 1, 1]]), strategies=np.zeros((1, 4)))
    np.testing.assert_array_equal(one, want.values_BN[0])
    bare = write(tmp_path, *[{k: v for k, v in row.items() if k != "approach"} for row in rows])
    code, _, err = run(capsys, "credit", bare)
    assert code == 2
    assert "poly_epo compares strategies" in err
    assert "--strategy answer takes each answer as a strategy" in err
    assert run(capsys, "credit", bare, "--strategy", "answer", "--set-size", 2)[0] == 0


def test_unjudged_samples_are_left_out_and_counted(tmp_path, capsys):
    samples = [{"reward": 1, "strategy": 0}] * 4 + [{"reward": None}]
    path = write(tmp_path, {"samples": samples})
    code, (record,), err = run(capsys, "credit", path, "--method", "poly_epo", "--set-size", 2)
    assert code == 0
    assert [one["advantage"] for one in record["samples"]] == [0, 0, 0, 0, None]
    assert "advantage is null: 1 sample left out;" in err


def test_real_logs_of_another_model(capsys):
    """30 samples each of two SVAMP problems (MIT, see tests/data/README.md)."""
    path = DATA / "generations_svamp_2x30.jsonl"
    code, records, err = run(capsys, "credit", path, "--method", "maxpo", "--set-size", 4)
    assert code == 0
    assert "2 groups of 30 samples" in err
    for record in records:
        values = np.array(record["advantages"])
        right = np.array(record["finals"]) == record["answer"]
        assert len(values) == 30
        assert values.sum() == pytest.approx(0, abs=1e-12)
        assert values[right].min() >= values[~right].max()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "groups.jsonl:1: is not JSON"),
        ("[1]", "row 1: must be an object, got int"),
        ('{"prompt": "p", "strategy": 1}', "no field holds rewards: name it with --reward"),
        ('{"rewards": [1, 0], "strategies": [1]}', "lists of one problem must be equally long"),
        ('{"prompt": "p", "reward": "maybe"}', "but it holds 'maybe': values must be true or"),
        ("", "is empty"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, capsys, line, message):
    path = tmp_path / "groups.jsonl"
    path.write_text(line)
    code, out, err = run(capsys, "credit", path)
    assert (code in (2, 3), out) == (True, [])
    assert message in err


def test_wrong_usage_leaves_with_2(tmp_path, capsys):
    path = write(tmp_path, {"rewards": [1, 0, 1], "strategies": [0, 1, 1]})
    code, _, err = run(capsys, "credit", path, "--method", "polyepo")
    assert (code, "did you mean 'poly_epo'?" in err) == (2, True)
    code, out, err = run(capsys, "credit", path, "--set-size", 9)
    assert (code, out) == (2, [])
    assert "set_size=9 needs 10 samples that can be used, and no group" in err
    code, _, err = run(capsys, "credit", path, "--method", "grpo", "--set-size", 2)
    assert (code, "unknown option of grpo 'set_size'" in err) == (2, True)


def test_what_a_file_cannot_serve_is_said(tmp_path, capsys):
    path = write(tmp_path, {"rewards": [1, 0, 1], "strategies": [0, 1, 1]})
    code, _, err = run(capsys, "credit", path, "--set-size", 3)
    assert (code, "and no group has more than 3" in err) == (2, True)
    code, _, err = run(capsys, "credit", path, "--method", "unlikeliness")
    assert (code, "reads proxy: the file does not hold it" in err) == (2, True)
    code, _, err = run(capsys, "credit", path, "--method", "order_grad")
    assert (code, "order_grad needs the option 'weights'" in err) == (2, True)


def test_output_is_written_whole_or_not_at_all(tmp_path, capsys, monkeypatch):
    path = write(tmp_path, {"rewards": [1, None, 1, 0], "strategies": [0, 1, 1, 2]})
    output = tmp_path / "new" / "out.jsonl"
    usual = ("credit", path, "--set-size", 2)
    code, [printed], _ = run(capsys, *usual)
    assert (code, printed["rewards"]) == (0, [1, None, 1, 0])
    assert run(capsys, *usual, "--output", output)[0] == 0
    assert json.loads(output.read_text()) == printed

    def full_disk(self, *arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    before, usual_replace = output.read_bytes(), "setrl.support.files.atomic.os.replace"
    monkeypatch.setattr(usual_replace, full_disk)
    code, _, err = run(capsys, *usual, "--output", output)
    assert code == 1
    assert re.search(r"setrl: cannot write or read .*: No space left on device", err)
    assert output.read_bytes() == before
    assert [left.name for left in output.parent.iterdir()] == ["out.jsonl"]


def test_a_missing_file_leaves_with_3(capsys):
    code, _, err = run(capsys, "credit", "nowhere.jsonl")
    assert code == 3
    assert "nowhere.jsonl: no such file" in err


def test_a_null_label_is_unknown_and_a_minus_one_is_degenerate(tmp_path):
    """Whoever wrote the null: a judge that could not tell, or another program."""
    unknown = {"strategy": {"judge": "j", "unknown": "timeout"}}
    rows = [
        {"prompt": "p", "reward": 1, "strategy": None, "judged": unknown},
        {"prompt": "p", "reward": 1, "strategy": -1, "judged": {"strategy": {"judge": "j"}}},
        {"prompt": "q", "reward": 1, "strategy": None},
        {"prompt": "q", "reward": 1, "strategy": 3},
        {"prompt": "q", "reward": 1},
    ]
    log = open_log(write(tmp_path, *rows))
    strategies = [[one.strategy for one in group.samples] for group in log]
    assert strategies == [[None, -1], [None, 3, None]]
    [note] = [note for note in log.notes() if "null" in note]
    assert note.startswith("3 samples have no label (null, or no field)")
    log = open_log(write(tmp_path, *rows), LogOptions(degenerate="null"))
    assert [[one.strategy for one in group.samples] for group in log] == [[-1, -1], [-1, 3, -1]]
    assert not any("label" in note for note in log.notes())
    missing = [{"prompt": "p", "reward": 1}, {"prompt": "p", "reward": 0, "strategy": 2}]
    log = open_log(write(tmp_path, *missing))
    assert len([*log, *log, log[0]]) == 3  # a group that is read again is not counted again
    assert any(note.startswith("1 sample has no label") for note in log.notes())
    lists = [
        {"rewards": [1, 0], "strategies": [None, -1]},
        {"rewards": [1, 0], "strategies": [0, 1]},
    ]
    said = LogOptions(degenerate="null")
    for options, first in ((None, [None, -1]), (said, [-1, -1])):
        group = next(iter(open_log(write(tmp_path, *lists), options)))
        assert [one.strategy for one in group.samples] == first


def test_a_missing_label_of_a_tool_is_what_its_reader_says(tmp_path):
    """A line of verl may lack the field."""
    about = {"input": "q", "output": "a", "score": 1.0, "step": 1}
    path = write(tmp_path, {**about, "label": 3}, about, {**about, "label": None})
    for degenerate, wanted in ((None, [3, None, None]), ("null", [3, -1, -1])):
        options = LogOptions(FieldNames(strategy="label"), degenerate=degenerate)
        [group] = open_log(path, options, tool="verl")
        assert [one.strategy for one in group.samples] == wanted
    with pytest.raises(ConfigError, match="no field 'labl'; the lines have input, output, score"):
        open_log(path, LogOptions(FieldNames(strategy="labl")), tool="verl")


def test_further_fields_of_samples_are_read(tmp_path):
    """Ragged, and null where something is unknown."""
    rows = [
        [(1, "a", 0.5), (0, "b", 0.1), (1, None, 0.7), (0, "b", 0.2)],
        [(1, "c", None), (0, "c", 0.3), (1, "a", 0.4), (None, "a", 0.5), (0, "a", 1)],
    ]
    keys = ("reward", "answer", "proxy")
    lines = [{"samples": [dict(zip(keys, one, strict=True)) for one in group]} for group in rows]
    path = write(tmp_path, *lines)
    for objective, field in ((objectives.majority(), "answers"), (objectives.best_of(), "proxy")):
        method = Method("own", objective, 2)
        for values, group in zip(credited(path, method), rows, strict=True):
            rewards, answers, proxy = (
                np.array([one], dtype=object) for one in zip(*group, strict=True)
            )
            known = {"answers": answers, "proxy": proxy}[field]
            want = method.advantages(rewards, abstain=True, **{field: known}).values_BN[0]
            assert np.ptp(want) > 0
            # Sums of other shapes take other kernels on some processors: a few ulps.
            np.testing.assert_allclose(values, want, rtol=1e-14, atol=1e-15)


def test_answers_of_equal_digits_are_one(tmp_path):
    samples = [{"reward": int(a == 2), "answer": a} for a in (2, "2", "b", 2.0)]
    [group] = open_log(write(tmp_path, {"samples": samples}))
    assert [one.answer for one in group.samples] == ["2", "2", "b", "2"]
