"""`setrl credit`: real logs of others, every shape of line, and files that are wrong."""

import errno
import json
import re
from pathlib import Path

import numpy as np
import pytest

from setrl import Method, cli, methods, objectives
from setrl.errors import DataError
from setrl.groups.groups import UNJUDGED, Keys, credit_groups, read_groups

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


def test_every_shape_of_line_is_the_same_group(tmp_path):
    as_objects = {
        "id": "a",
        "samples": [{"reward": 1, "strategy": "x"}, {"reward": 0, "strategy": None}],
    }
    as_lists = {"id": "a", "rewards": [1, 0], "clusters": ["x", None]}
    as_lines = [
        {"prompt": "a", "correct": True, "cluster": "x"},
        {"prompt": "a", "correct": False, "cluster": None},
    ]
    shapes = [[as_objects], [as_lists], as_lines]
    groups = [read_groups(write(tmp_path, *records), Keys()) for records in shapes]
    assert groups[0] == groups[1] == groups[2]
    assert groups[0][0].clusters == ["x", None]


def test_finals_are_compared_with_the_answer(tmp_path):
    path = write(tmp_path, {"finals": ["2", "3", "2"], "answer": 2})
    (group,) = read_groups(path, Keys())
    assert group.rewards == [1, 0, 1]
    assert group.clusters == ["2", "3", "2"]


def test_advantages_equal_the_core_s_on_ragged_groups(tmp_path):
    path = write(
        tmp_path,
        {"rewards": [1, 1, 0, 1], "clusters": [5, 5, -1, 7]},
        {"rewards": [1, 0, 1], "clusters": ["a", "b", "c"]},
    )
    method = methods.poly_epo(set_size=2)
    values = credit_groups(read_groups(path, Keys()), method).values_BN
    first = method.advantages(np.array([[1.0, 1, 0, 1]]), clusters=np.array([[0, 0, -1, 1]]))
    second = method.advantages(np.array([[1.0, 0, 1]]), clusters=np.array([[0, 1, 2]]))
    np.testing.assert_array_equal(values[0], first.values_BN[0])
    np.testing.assert_array_equal(values[1], [*second.values_BN[0], 0])


def test_unjudged_samples_are_left_out_and_counted(tmp_path, capsys):
    path = write(tmp_path, {"samples": [{"reward": 1, "cluster": 0}] * 4 + [{"reward": None}]})
    code, (record,), err = run(capsys, "credit", path, "--method", "poly_epo", "--set-size", 2)
    assert code == 0
    assert record["advantages"] == [0] * 5
    assert "left out: 1 samples" in err


def test_real_logs_of_another_model(capsys):
    """30 samples each of two SVAMP problems (MIT, see tests/data/README.md)."""
    path = DATA / "generations_svamp_2x30.jsonl"
    code, records, err = run(capsys, "credit", path, "--method", "maxpo", "--set-size", 4)
    assert code == 0
    assert [len(record["advantages"]) for record in records] == [30, 30]
    assert "2 groups of 30 samples" in err
    for record in records:
        values, right = np.array(record["advantages"]), np.array(record["rewards"]) > 0.5
        assert values.sum() == pytest.approx(0, abs=1e-12)
        assert values[right].min() >= values[~right].max()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "groups.jsonl:1: is not JSON"),
        ("[1]", "groups.jsonl:1: a line must be an object, got list"),
        ('{"cluster": 1}', "a sample has no 'reward' or 'correct' or 'score'; it has 'cluster'"),
        ('{"rewards": [1], "clusters": []}', "lists of one group must be equally long"),
        ('{"reward": "yes"}', "reward must be a number, true, false or null, got 'yes'"),
        ("", "holds no groups"),
    ],
)
def test_a_wrong_file_is_named_by_line(tmp_path, capsys, line, message):
    path = tmp_path / "groups.jsonl"
    path.write_text(line)
    code, _, err = run(capsys, "credit", path)
    assert code == 3
    assert message in err


def test_wrong_usage_leaves_with_2(tmp_path, capsys):
    path = write(tmp_path, {"rewards": [1, 0, 1], "clusters": [0, 1, 1]})
    code, _, err = run(capsys, "credit", path, "--method", "polyepo")
    assert (code, "did you mean 'poly_epo'?" in err) == (2, True)
    code, _, err = run(capsys, "credit", path, "--set-size", 9)
    assert (code, "set_size=9 needs 10 samples that can be used, and no group" in err) == (2, True)
    code, _, err = run(capsys, "credit", path, "--method", "grpo", "--set-size", 2)
    assert (code, "unknown argument of grpo 'set_size'" in err) == (2, True)


def test_what_a_file_cannot_serve_is_said(tmp_path, capsys):
    path = write(tmp_path, {"rewards": [1, 0, 1], "clusters": [0, 1, 1]})
    code, _, err = run(capsys, "credit", path, "--set-size", 3)
    assert (code, "and no group has more than 3" in err) == (2, True)
    code, _, err = run(capsys, "credit", path, "--method", "unlikeliness")
    assert (code, "reads proxy, which the file does not hold" in err) == (
        2,
        True,
    )
    code, _, err = run(capsys, "credit", path, "--method", "order_grad")
    assert (code, "order_grad needs the argument 'weights'" in err) == (2, True)


def test_output_is_written_whole_or_not_at_all(tmp_path, capsys, monkeypatch):
    path = write(tmp_path, {"rewards": [1, None, 1, 0], "clusters": [0, 1, 1, 2]})
    output = tmp_path / "new" / "out.jsonl"
    usual = ("credit", path, "--set-size", 2)
    code, [printed], _ = run(capsys, *usual)
    assert (code, printed["rewards"]) == (0, [1, None, 1, 0])
    assert run(capsys, *usual, "--output", output)[0] == 0
    assert json.loads(output.read_text()) == printed

    def full_disk(path, text, encoding):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    before = output.read_bytes()
    monkeypatch.setattr(Path, "write_text", full_disk)
    code, _, err = run(capsys, *usual, "--output", output)
    assert code == 1
    assert re.search(r"setrl: cannot write or read .*: No space left on device", err)
    assert output.read_bytes() == before
    assert [left.name for left in output.parent.iterdir()] == ["out.jsonl"]


def test_a_missing_file_leaves_with_3(capsys):
    code, _, err = run(capsys, "credit", "nowhere.jsonl")
    assert code == 3
    assert re.search("nowhere.jsonl: cannot be read", err)


def test_a_method_that_reads_clusters_asks_for_them(tmp_path):
    path = write(tmp_path, {"rewards": [1, 0, 1, 1, 1]})
    with pytest.raises(DataError, match="name their key with --cluster"):
        credit_groups(read_groups(path, Keys()), methods.poly_epo())


def test_what_a_judge_could_not_judge_is_left_out_and_not_degenerate(tmp_path):
    unknown = {"cluster": {"judge": "j", "unknown": "timeout"}}
    path = write(
        tmp_path,
        {"rewards": [1, 0], "clusters": [None, None], "judged": unknown},
        {"samples": [{"reward": 1, "cluster": None}], "judged": unknown},
        {"prompt": "p", "reward": 1, "cluster": None, "judged": unknown},
        {"prompt": "p", "reward": 1, "cluster": None, "judged": {"cluster": {"judge": "j"}}},
        {"prompt": "q", "reward": 1, "cluster": None, "judged": "by hand"},
    )
    clusters = [group.clusters for group in read_groups(path, Keys())]
    assert clusters == [[UNJUDGED] * 2, [UNJUDGED], [UNJUDGED, None], [None]]
    other_key = read_groups(path, Keys(cluster="reward"))
    assert UNJUDGED not in other_key[-1].clusters


def test_further_fields_of_samples_are_read(tmp_path):
    """Ragged, and null where something is unknown."""
    rows = [
        [(1, "a", 0.5), (0, "b", 0.1), (1, None, 0.7), (0, "b", 0.2)],
        [(1, "c", None), (0, "c", 0.3), (1, "a", 0.4), (None, "a", 0.5), (0, "a", 1)],
    ]
    keys = ("reward", "answer", "proxy")
    lines = [{"samples": [dict(zip(keys, one, strict=True)) for one in group]} for group in rows]
    read = read_groups(write(tmp_path, *lines), Keys())
    for objective, field in ((objectives.majority(), "answers"), (objectives.best_of(), "proxy")):
        method = Method("own", objective, 2)
        values = credit_groups(read, method).values_BN
        for row, group in enumerate(rows):
            rewards, answers, proxy = (
                np.array([one], dtype=object) for one in zip(*group, strict=True)
            )
            known = {"answers": answers, "proxy": proxy}[field]
            want = method.advantages(rewards, abstain=True, **{field: known}).values_BN[0]
            assert np.ptp(want) > 0
            # Sums of other shapes take other kernels on some processors: a few ulps.
            np.testing.assert_allclose(values[row, : len(group)], want, rtol=1e-14, atol=1e-15)


def test_a_sample_whose_cluster_is_unknown_is_left_out_and_not_degenerate(tmp_path):
    sample = {"reward": 1, "cluster": None, "unknown": ["cluster"]}
    other = {"reward": 1, "cluster": None, "unknown": "something else"}
    (group,) = read_groups(write(tmp_path, {"samples": [sample, other]}), Keys())
    assert group.clusters == [UNJUDGED, None]


def test_fields_of_two_kinds_are_answered(tmp_path, capsys):
    samples = [{"reward": 1, "answer": answer} for answer in ("a", 2, "b")]
    majority = "{method: set_rl, objective: majority, set_size: 2}"
    code, _, err = run(
        capsys, "credit", write(tmp_path, {"samples": samples}), "--method", majority
    )
    assert (code, "answers must be all numbers or all strings" in err) == (2, True)
