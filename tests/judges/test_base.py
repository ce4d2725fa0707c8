from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl import DEGENERATE
from setrl.judges import BackgroundJudge, Group, Judge, Judgement, by_first_appearance, pairwise
from setrl.judges.exact import ExactJudge
from setrl.samples import Sample
from setrl.support.errors import RunError
from setrl.train.gathering.judging import JudgeQueue
from studies.faulty import NoisyJudge


@given(st.lists(st.integers(-1, 5)))
def test_labels_are_renamed_and_mean_the_same(labels):
    named = by_first_appearance(labels)
    pairs = [(i, j) for i in range(len(labels)) for j in range(i)]
    assert all((labels[i] == labels[j]) == (named[i] == named[j]) for i, j in pairs)
    assert [label == DEGENERATE for label in labels] == [label == DEGENERATE for label in named]
    seen = list(dict.fromkeys(label for label in named if label != DEGENERATE))
    assert seen == list(range(len(seen)))


class Closing(ExactJudge):
    """Notes how often it was closed."""

    def close(self):
        closed.append(self)


closed = []


@pytest.mark.parametrize(
    ("make", "times"),
    [
        (lambda judge: NoisyJudge(judge, 0.1), 1),
        (lambda judge: pairwise.of_judge(judge), 1),
    ],
    ids=["noisy", "pairwise"],
)
def test_a_judge_closes_the_judges_that_it_is_made_of(make, times):
    closed.clear()
    judge = make(Closing())
    assert isinstance(judge, Judge)
    judge.close()
    assert len(closed) == times


def test_a_judge_without_threads_and_files_is_closed_all_the_same():
    judge = ExactJudge()
    judge.close()
    assert not isinstance(judge, BackgroundJudge)
    assert not isinstance("exact", Judge)


class AllDifferent(BackgroundJudge):
    """Calls all samples that it sees different; answers when `answer` is called."""

    name = "all different"

    def __init__(self):
        self.seen, self.open = [], []

    def judge(self, groups):
        self.seen += groups
        return [Judgement(tuple(range(len(one.texts))), one.texts) for one in groups]

    def submit(self, group):
        self.open.append((group, Future()))
        return self.open[-1][1]

    def answer(self):
        for group, future in self.open:
            future.set_result(Judgement(tuple(range(len(group.texts)))))


def test_equal_texts_have_one_label_before_a_judge_is_asked():
    judge = AllDifferent()
    same, mixed, none = judge.judge(
        [
            Group.of_texts("p", ("a",) * 5),
            Group.of_texts("p", ("b", "a", "b", "c")),
            Group.of_texts("p", ()),
        ]
    )
    assert same.labels_N == (0,) * 5
    assert mixed == Judgement((0, 1, 0, 2), ("b", "a", "b", "c"))
    assert none.labels_N == ()
    assert [one.texts for one in judge.seen] == [("a",), ("b", "a", "c"), ()]


def test_equal_texts_have_one_label_in_the_background():
    judge = AllDifferent()
    same, different = (
        judge.submit(Group.of_texts("p", ("a", "a"))),
        judge.submit(Group.of_texts("p", ("a", "b"))),
    )
    assert [group.texts for group, _ in judge.open] == [("a",), ("a", "b")]
    assert not same.done()
    judge.answer()
    assert same.result().labels_N == (0, 0)
    assert different.result().labels_N == (0, 1)


def test_an_error_in_the_background_reaches_the_caller():
    judge = AllDifferent()
    answer = judge.submit(Group.of_texts("p", ("a", "a")))
    judge.open[0][1].set_exception(OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        answer.result()


def test_a_judge_may_ask_to_see_copies():
    (judgement,) = NoisyJudge(ExactJudge(), 1.0).judge([Group.of_texts("p", ("a",) * 6)])
    assert len(set(judgement.labels_N)) > 1


class Says(Judge):
    """A judge that gives every group of three samples one judgement."""

    name = "mine"

    def __init__(self, judgement):
        self.judgement = judgement

    def judge(self, groups):
        return [self.judgement for _ in groups]


class SaysOfAll(Says, sees_copies=True):
    """The same, which is asked about copies, too."""

    def judge(self, groups):
        return [self.judgement for _ in groups]


class SaysAlone:
    """The same, which inherits nothing."""

    name, close = "mine", lambda self: None
    __init__, judge = Says.__init__, SaysOfAll.judge


@pytest.mark.parametrize("kind", [Says, SaysOfAll, SaysAlone])
@pytest.mark.parametrize(
    ("judgement", "message"),
    [
        (Judgement((1.5, 2, 2)), r"names or integers from 0 .* got 1\.5"),
        (Judgement((-2, 0, 0)), "names or integers from 0 .* got -2"),
        (Judgement((0, 2**60, 0)), "names or integers from 0 .* got 1152921504606846976"),
        (Judgement(("a", 0, 0)), r"numbers as labels, and names beside them, got \('a', 0, 0\)"),
        (Judgement((0, 1, 1), (1.5, "b", "b")), r"names or integers from 0 .* got 1\.5"),
        (Judgement((0, 1)), "3 samples one label each, got 2"),
        (Judgement((0, 1, 1), ("a", "b", "b", "b")), "3 samples one label each, got 4"),
    ],
)
def test_what_a_judge_gives_is_read_where_it_is_taken(kind, judgement, message):
    group = Group.of_texts("p", ("a", "b", "c"))
    with pytest.raises(RunError, match=f"the judge 'mine' must give {message}"):
        JudgeQueue(kind(judgement)).collect([group])


@pytest.mark.parametrize("kind", [Says, SaysOfAll, SaysAlone])
def test_a_judge_may_not_know_a_sample(kind):
    [[found], _] = JudgeQueue(kind(Judgement((0, None, -1)))).collect(
        [Group.of_texts("p", ("a", "b", "c"))]
    )
    assert found.labels_N == (0, None, -1)


@pytest.mark.parametrize(("kind", "label"), [(Says, (0, 1)), (SaysOfAll, (0, 1, 0))])
def test_a_judge_is_not_asked_about_a_text_that_is_unknown(kind, label):
    samples = tuple(Sample(text) for text in ("a", None, "c", "a"))
    [found] = kind(Judgement(label, tuple(map(str, label)))).judge([Group("p", "p", samples)])
    assert found.labels_N == (0, None, 1, 0)
    assert found.names_N == ("0", None, "1", "0")


def test_labels_of_a_judge_may_be_numbers_of_any_library():
    judge = Says(Judgement((np.int64(1), 0.0, "-1")))
    [[found], _] = JudgeQueue(judge).collect([Group.of_texts("p", ("a", "b", "c"))])
    assert found.labels_N == (1, 0, -1)
    assert {type(label) for label in found.labels_N} == {int}
