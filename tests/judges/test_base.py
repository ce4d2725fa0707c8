import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl import DEGENERATE
from setrl.judges import BackgroundJudge, Judge, by_first_appearance, pairwise
from setrl.judges.ensemble import EnsembleJudge
from setrl.judges.exact import ExactJudge
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
        (lambda judge: EnsembleJudge((judge, NoisyJudge(judge, 0.1))), 2),
        (lambda judge: pairwise.of_judge(judge), 1),
    ],
    ids=["noisy", "ensemble", "pairwise"],
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
