"""Pairs → labels: what is asked, what contradicts, what a missing answer does."""

import numpy as np
import pytest

from setrl.judges import Group, Judge, Judgement, by_first_appearance
from setrl.judges.embedding import EmbeddingJudge
from setrl.judges.pairwise import ByJudge, PairwiseJudge

GROUP = Group.of_texts(
    "p", ("a0", "b1", "a2", "c3", "b4", "a5", "d6", "a7")
)  # equal first letters are the same


def equal(_prompt, pairs):
    return [first[0] == second[0] for first, second in pairs]


def test_a_consistent_judge_of_pairs_gives_its_classes():
    judge = PairwiseJudge(equal)
    assert isinstance(judge, Judge)
    (judgement,) = judge.judge([GROUP])
    assert judgement.labels_N == (0, 1, 0, 2, 1, 0, 3, 0)
    assert judge.counts.unanswered == 0


def test_questions_are_counted():
    few = PairwiseJudge(equal)
    few.judge([GROUP])
    # Rounds compare 7, 3, 1 and 0 samples with the first of a, b, c and d; N·C would be 32.
    assert few.counts.questions == 7 + 3 + 1


def test_representatives_are_asked_once_a_round():
    calls = []

    def noted(prompt, pairs):
        calls.append((prompt, len({first for first, _ in pairs}), len(pairs)))
        return equal(prompt, pairs)

    PairwiseJudge(noted).judge([GROUP])
    assert calls == [("p", 1, 7), ("p", 1, 3), ("p", 1, 1)]


def chain(_prompt, pairs):
    """Neighbours are the same, others are not: a = b, b = c, a ≠ c."""
    return [abs(ord(first) - ord(second)) <= 1 for first, second in pairs]


def test_the_first_of_a_strategy_decides():
    (by_first,) = PairwiseJudge(chain).judge([Group.of_texts("p", tuple("abcd"))])
    assert by_first.labels_N == (0, 0, 1, 1)


def silent_about(*silent):
    def same(_prompt, pairs):
        return [None if set(pair) == set(silent) else pair[0] == pair[1] for pair in pairs]

    return same


def test_a_missing_answer_makes_the_group_unknown():
    judge = PairwiseJudge(silent_about("a", "b"))
    known, unknown = judge.judge(
        [Group.of_texts("p", ("a", "c", "a")), Group.of_texts("p", ("a", "b", "c"))]
    )
    assert known.labels_N == (0, 1, 0)
    assert unknown == Judgement(None, reason="unanswered")
    assert judge.counts.unanswered == 1


def test_blank_samples_are_degenerate_and_cost_nothing():
    judge = PairwiseJudge(equal)
    judgements = judge.judge(
        [
            Group.of_texts("p", ("", "a", " \n", "a2")),
            Group.of_texts("p", ("",)),
            Group.of_texts("p", ()),
        ]
    )
    assert [one.labels_N for one in judgements] == [(-1, 0, -1, 0), (-1,), ()]
    assert judge.counts.questions == 1


def test_permuting_samples_permutes_labels():
    rng = np.random.default_rng(0)
    order = rng.permutation(len(GROUP.texts))
    shuffled = Group.of_texts("p", tuple(GROUP.texts[place] for place in order))
    first, second = PairwiseJudge(equal).judge([GROUP, shuffled])
    expected = by_first_appearance([first.labels_N[place] for place in order])
    assert second.labels_N == expected


def test_too_few_answers_are_an_error():
    with pytest.raises(ValueError, match="one answer per pair, 7, got 0"):
        PairwiseJudge(lambda _, pairs: []).judge([GROUP])


def test_a_judge_of_groups_can_be_asked_about_pairs():
    def encode(texts):
        return [[np.cos(int(text or 0)), np.sin(int(text or 0))] for text in texts]

    same = ByJudge(EmbeddingJudge(encode, threshold=1 - np.cos(1.5)))
    assert same("p", [("0", "1"), ("0", "2"), ("3", "2"), ("", "1")]) == [True, False, True, False]


def test_pairs_that_a_judge_could_not_judge_have_no_answer():
    class Silent:
        name = "silent"

        def judge(self, groups):
            return [Judgement(None, reason="timeout") for _ in groups]

    judge = PairwiseJudge(ByJudge(Silent()))
    assert judge.judge([GROUP]) == [Judgement(None, reason="unanswered")]
    assert judge.counts.unanswered == judge.counts.questions == 7
