"""`Samples.of` and back: groups of a log as columns, and what their numbers stand for."""

import numpy as np
import pytest

from setrl import DEGENERATE, Method, Samples, methods, objectives, set_advantages
from setrl.evaluate.loading import load_samples
from setrl.logs import open_log
from setrl.logs.recording import log_records
from setrl.samples.labels import coded
from setrl.samples.types import Group, Sample, SampleColumns
from setrl.samples.values import read_answer
from setrl.support.files import write_lines
from setrl.train.scoring import samples_of, score
from setrl.train.scoring.credit import scored_groups

NAN = np.nan
GROUPS = [
    Group("p", "1 + 1", (
        Sample("2", True, 1.0, "factor", "2", more={"proxy": 0.5, "family": "x"}),
        Sample("3", False, 0.0, DEGENERATE, None),
        Sample("4", None, None, None, "10", more={"proxy": 0.25, "family": 7}),
    ), gold="2"),
    Group("q", "1 + 2", (Sample("3", True, 1.0, 3, "3"), Sample("3", True, 1.0, "formula", "2"))),
]  # fmt: skip
READ = ["rewards", "correct", "strategies", "answers", "proxy", "families"]


def test_groups_become_columns():
    found = Samples.of(GROUPS, READ)
    np.testing.assert_array_equal(found.rewards, [[1, 0, NAN], [1, 1, NAN]])
    np.testing.assert_array_equal(found.correct, [[1, 0, NAN], [1, 1, NAN]])
    np.testing.assert_array_equal(found.strategies, [[1, -1, NAN], [0, 2, NAN]])
    np.testing.assert_array_equal(found.answers, [[0, NAN, 2], [1, 0, NAN]])
    np.testing.assert_array_equal(found.proxy, [[0.5, NAN, 0.25], [NAN] * 3])
    assert found.mask.tolist() == [[True] * 3, [True, True, False]]
    assert found.names == {
        "strategies": (3, "factor", "formula"),
        "answers": ("2", "3", "10"),
        "families": (7, "x"),
    }
    assert (found.ids, found.prompts, found.golds) == (("p", "q"), ("1 + 1", "1 + 2"), ("2", None))
    assert found.labels("strategies") == [["factor", -1, None], [3, "formula", None]]
    assert found.labels("answers") == [["2", None, "10"], ["3", "2", None]]
    assert Samples.of(GROUPS, ["rewards"]).labels("strategies") is None


def test_a_width_that_a_method_needs_is_unknown_behind_the_end():
    found = Samples.of(GROUPS, ["rewards"], width=5)
    assert found.rewards.shape == (2, 5)
    assert np.isnan(found.rewards[:, 3:]).all()
    assert found.mask.sum(axis=1).tolist() == [3, 2]
    assert Samples.of(GROUPS[:1], ["rewards"]).mask is None
    assert Samples.of([], ["rewards"]).rewards.shape == (0, 1)


def test_some_prompts_keep_all_that_is_known_of_them():
    whole = Samples.of(GROUPS, READ)
    last = whole.of_prompts([1])
    assert (last.ids, last.golds, last.labels("answers")) == (("q",), (None,), [["3", "2", None]])
    view = whole.of_prompts(slice(0, 1))
    assert view.rewards.base is not None
    assert (view.prompts, view.mask.tolist()) == (("1 + 1",), [[True] * 3])


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]])
def test_numbers_do_not_depend_on_the_order_of_the_samples(order):
    labels = ["b", 10, 9, "a", None, DEGENERATE]
    want = [3, 1, 0, 2, NAN, -1]
    codes, names = coded(labels[i] for i in order)
    np.testing.assert_array_equal(codes, [want[i] for i in order])
    assert names == (9, 10, "a", "b")


def test_labels_as_numbers_get_the_credit_of_their_names():
    rewards, labels = [1.0, 1.0, 1.0, 0.0, 1.0], ["b", "a", "b", 2, DEGENERATE]
    members = [Sample("", None, *one) for one in zip(rewards, labels, strict=True)]
    batch = scored_groups([*GROUPS, Group("r", "r", tuple(members))], methods.poly_epo(2))
    column = np.array([labels], dtype=object)
    want = set_advantages([rewards], methods.poly_epo(2), strategies=column).values_BN
    np.testing.assert_array_equal(batch.advantages.values_BN[2:], want)
    assert len(np.unique(want)) == 4
    reasons = [one and one.reason for one in batch.missing_B]
    assert reasons == ["no reward", "no reward", None]


def test_minus_one_is_an_answer_and_no_strategy():
    texts = ["-1", "10", "9", None]
    for codes, names in (coded(texts, "answers"), coded([-1, 10, 9.0, None], "answers")):
        np.testing.assert_array_equal(codes, [0, 2, 1, NAN])  # in the order of numbers
        assert names == ("-1", "9", "10")
    members = [Sample(answer=text, reward=float(i < 2)) for i, text in enumerate(texts)]
    method = methods.set_rl(objectives.majority(), 3)
    found = scored_groups([Group("p", "p", tuple(members))], method).advantages.values_BN
    answers = np.array([texts], dtype=object)
    want = set_advantages([[1, 1, 0, 0]], method, answers=answers, abstain=True).values_BN
    np.testing.assert_array_equal(found, want)
    samples = samples_of([[1, 1, 0, 0]], 4, fields={"answers": texts})
    np.testing.assert_array_equal(score(samples, method).advantages.values_BN, want)
    assert np.ptp(want) > 0


@pytest.mark.parametrize("answers", [[9, 10, 10, 10], [9.0, 10, 10, 10], ["9", "10", "10", "10"]])
def test_answers_are_ordered_by_value_at_every_door(answers):
    """9 is before 10, so that it wins a tie: also of texts, whose letters say the opposite."""
    method = Method("m", objectives.majority(ties="lexicographic"), set_size=2)
    rewards = [1.0, 0, 0, 0]
    core = [set_advantages([rewards], method, answers=make([answers])).values_BN[0]
            for make in (list, np.array, lambda rows: np.array(rows, dtype=object))]  # fmt: skip
    samples = samples_of([rewards], 4, fields={"answers": answers})
    members = [Sample(answer=read_answer(answer), reward=reward)
               for answer, reward in zip(answers, rewards, strict=True)]  # fmt: skip
    others = score(samples, method), scored_groups([Group("p", "p", tuple(members))], method)
    for found in (*core, *(batch.advantages.values_BN[0] for batch in others)):
        np.testing.assert_allclose(found, [1 / 2, -1 / 6, -1 / 6, -1 / 6])


def test_numbers_come_before_texts_and_equal_numbers_by_their_digits():
    _, names = coded(["x", "10", "1e1", "-3", "9.5", "\u22122", "007"], "answers")
    assert names == ("-3", "\u22122", "007", "9.5", "10", "1e1", "x")


def test_further_columns_bring_their_own_names():
    samples = Samples.read([[1, 0]], strategies=[["a", "b"]])
    both = samples.with_columns(families=[["x", None]])
    assert both.labels("strategies") == [["a", "b"]]
    assert both.labels("families") == [["x", None]]
    numbered = both.with_columns(strategies=[[3, DEGENERATE]])
    assert numbered.labels("strategies") == [[3, DEGENERATE]]
    assert samples.with_columns(strategies=None).labels("strategies") == [["a", "b"]]


def test_some_prompts_keep_what_no_method_reads():
    cut, tokens = [False, True] * 2, [1, 2, 3, 4]
    samples = samples_of([[1, 0, 1, 1], [5, 6, 7, 8]], 2, cut=cut, tokens=tokens, prompts="pq")
    second = samples.of_prompts([1])
    np.testing.assert_array_equal(second.components, [[[1, 7], [1, 8]]])
    np.testing.assert_array_equal(second.cut, [[False, True]])
    np.testing.assert_array_equal(second.tokens, [[3, 4]])
    assert np.isnan(second.rewards).all()  # nobody has combined them yet


def test_samples_of_columns_are_those_of_rows():
    rows = (Sample("a", True, 1.0, "x", more={"proxy": 2.0}), Sample("b", None, None, None))
    columns = {key: [getattr(row, key) for row in rows]
               for key in ("text", "correct", "reward", "strategy", "more")}  # fmt: skip
    group, of_columns = (Group("g", "p", given) for given in (rows, SampleColumns(2, columns)))
    assert group == of_columns
    assert of_columns == group
    assert hash(group) == hash(of_columns)
    assert group != Group("g", "p", SampleColumns(2, {**columns, "text": ["a", "c"]}))
    assert of_columns.samples[1:] == rows[1:]
    for key in ("text", "advantage", "turns", "proxy", "second"):
        assert of_columns.column(key) == group.column(key)
    assert len(Group("g", "p", SampleColumns(0, {})).samples) == 0


@pytest.mark.parametrize("name", ["log.jsonl", "evaluation.jsonl"])
def test_figures_read_columns_and_make_no_sample(tmp_path, monkeypatch, name):
    rows = [{"id": i % 3, "correct": i % 2, "answer": str(i), "output": "text"} for i in range(12)]
    write_lines(tmp_path / "log.jsonl", rows)
    log = open_log(tmp_path / "log.jsonl", needs=["correct"])
    write_lines(tmp_path / "evaluation.jsonl", log_records(log))
    monkeypatch.setattr(SampleColumns, "_samples", property(lambda _: pytest.fail("made samples")))
    evaluation = load_samples(tmp_path / name)
    assert evaluation.correct_count_P.tolist() == [2, 2, 2]
    assert evaluation.samples.texts == (("text",) * 4,) * 3
