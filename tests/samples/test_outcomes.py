"""Which samples of a log are correct: one meaning in credit, view and reports."""

import json

import pytest

from setrl.cli import main
from setrl.logs.records import checked, group_of

ROWS = [
    {"prompt": "p", "reward": r, "correct": c, "strategy": s}
    for r, c, s in [(1.2, 1, "a"), (0.7, 0, "a"), (0.3, 1, "b"), (0.9, 0, "c")]
]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def credited(path, *more, method="{method: concave_counts, alpha: 0}"):
    with pytest.raises(SystemExit) as ended:
        main(["credit", str(path), "--method", method, *more])
    return ended.value.code


def test_credit_reads_the_field_that_says_it(tmp_path, capsys):
    path = written(tmp_path / "log.jsonl", ROWS)
    assert credited(path) == 0
    out, err = capsys.readouterr()
    assert [json.loads(line)["advantage"] for line in out.splitlines()] == [1, 0, 1, 0]
    assert "2 right and 2 wrong" in err
    assert "wrong samples pushed up: 0; right samples pushed down: 0" in err


def test_credit_of_graded_rewards_asks_or_shows_no_number(tmp_path, capsys):
    rows = [{key: row[key] for key in ("prompt", "reward", "strategy")} for row in ROWS]
    path = written(tmp_path / "log.jsonl", rows)
    assert credited(path) == 2
    assert "is graded (0.3 to 1.2): --correct-above X says which" in capsys.readouterr().err
    assert credited(path, "--correct-above", "0.8") == 0
    assert "2 right and 2 wrong" in capsys.readouterr().err
    assert credited(path, method="grpo") == 0
    err = capsys.readouterr().err
    assert "— right and — wrong" in err
    assert "wrong samples pushed up: —; right samples pushed down: —" in err


@pytest.mark.parametrize(
    ("rewards", "own", "expected"),
    [
        ([1.0, 0.0, None], [None] * 3, [True, False, None]),
        ([1.0, 0.6, 0.0], [None] * 3, [None] * 3),
        ([1.6, 0.6, None], [True, False, None], [True, False, None]),
        ([0.0, 0.0, 1.0], [True, False, None], [True, False, None]),
    ],
)
def test_a_recorded_outcome_is_read_and_old_records_are_read_by_rewards(rewards, own, expected):
    samples = [
        {
            "text": "t",
            "reward": reward,
            **({} if one is None and own[0] is None else {"correct": one}),
        }
        for reward, one in zip(rewards, own, strict=True)
    ]
    record = checked({"schema_version": 1, "prompt": "p", "samples": samples}, "here")
    assert group_of(record, "here").column("correct") == expected
