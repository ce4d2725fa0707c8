"""Pairs → clusters: what is asked, what contradicts, what a missing answer does."""

from itertools import combinations, product

import numpy as np
import pytest

from setrl.judges import Group, Judge, Judgement, by_first_appearance
from setrl.judges.embedding import EmbeddingJudge
from setrl.judges.pairwise import ByJudge, PairwiseJudge, count_triples

GROUP = Group.of_texts(
    "p", ("a0", "b1", "a2", "c3", "b4", "a5", "d6", "a7")
)  # equal first letters are the same


def equal(_prompt, pairs):
    return [first[0] == second[0] for first, second in pairs]


@pytest.mark.parametrize("ask", ["representatives", "all_pairs"])
def test_a_consistent_judge_of_pairs_gives_its_classes(ask):
    judge = PairwiseJudge(equal, ask)
    assert isinstance(judge, Judge)
    (judgement,) = judge.judge([GROUP])
    assert judgement.labels_N == (0, 1, 0, 2, 1, 0, 3, 0)
    assert judge.counts.intransitive == judge.counts.unanswered == 0


def test_questions_are_counted():
    every = PairwiseJudge(equal, "all_pairs")
    every.judge([GROUP, GROUP])
    assert every.counts.questions == 2 * 28
    assert every.counts.triples == 2 * 56
    few = PairwiseJudge(equal)
    few.judge([GROUP])
    # Rounds compare 7, 3, 1 and 0 samples with the first of a, b, c and d; N·C would be 32.
    assert few.counts.questions == 7 + 3 + 1
    assert few.counts.triples == 0


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


def test_union_find_joins_chains_and_counts_what_it_overrules():
    every = PairwiseJudge(chain, "all_pairs")
    (judgement,) = every.judge([Group.of_texts("p", tuple("abcd"))])
    assert judgement.labels_N == (0, 0, 0, 0)
    assert every.counts.triples == 4
    assert every.counts.intransitive == 2  # abc and bcd
    (by_first,) = PairwiseJudge(chain).judge([Group.of_texts("p", tuple("abcd"))])
    assert by_first.labels_N == (0, 0, 1, 1)


def test_intransitive_triples_by_enumeration():
    pairs = list(combinations(range(4), 2))
    for answers in product((True, False, None), repeat=6):
        same, different = np.zeros((2, 4, 4), dtype=int)
        for pair, answer in zip(pairs, answers, strict=True):
            if answer is not None:
                (same if answer else different)[pair] = 1
        known = dict(zip(pairs, answers, strict=True))
        triples = [
            [known[pair] for pair in combinations(triple, 2)]
            for triple in combinations(range(4), 3)
        ]
        whole = [triple for triple in triples if None not in triple]
        expected = len(whole), sum(sum(triple) == 2 for triple in whole)
        assert count_triples(same, different) == expected


def silent_about(*silent):
    def same(_prompt, pairs):
        return [None if set(pair) == set(silent) else pair[0] == pair[1] for pair in pairs]

    return same


def test_a_missing_answer_that_decides_nothing_is_counted_only():
    def same(_prompt, pairs):
        return [None if pair == ("a", "b") else True for pair in pairs]

    judge = PairwiseJudge(same, "all_pairs")
    (judgement,) = judge.judge([Group.of_texts("p", tuple("abc"))])
    assert judgement.labels_N == (0, 0, 0)
    assert judge.counts.unanswered == 1


@pytest.mark.parametrize("ask", ["representatives", "all_pairs"])
def test_a_missing_answer_between_clusters_makes_the_group_unknown(ask):
    judge = PairwiseJudge(silent_about("a", "b"), ask)
    known, unknown = judge.judge(
        [Group.of_texts("p", ("a", "c", "a")), Group.of_texts("p", ("a", "b", "c"))]
    )
    assert known.labels_N == (0, 1, 0)
    assert unknown == Judgement(None, reason="unanswered")
    assert judge.counts.unanswered == 1


@pytest.mark.parametrize("ask", ["representatives", "all_pairs"])
def test_blank_samples_are_degenerate_and_cost_nothing(ask):
    judge = PairwiseJudge(equal, ask)
    judgements = judge.judge(
        [
            Group.of_texts("p", ("", "a", " \n", "a2")),
            Group.of_texts("p", ("",)),
            Group.of_texts("p", ()),
        ]
    )
    assert [one.labels_N for one in judgements] == [(-1, 0, -1, 0), (-1,), ()]
    assert judge.counts.questions == 1


def test_permuting_samples_permutes_clusters():
    rng = np.random.default_rng(0)
    order = rng.permutation(len(GROUP.texts))
    shuffled = Group.of_texts("p", tuple(GROUP.texts[place] for place in order))
    for ask in ("representatives", "all_pairs"):
        first, second = PairwiseJudge(equal, ask).judge([GROUP, shuffled])
        expected = by_first_appearance([first.labels_N[place] for place in order])
        assert second.labels_N == expected


def test_too_few_answers_are_an_error():
    with pytest.raises(ValueError, match="one answer per pair, 7, got 0"):
        PairwiseJudge(lambda _, pairs: []).judge([GROUP])
    with pytest.raises(ValueError, match="ask must be one of representatives, all_pairs, got 'al'"):
        PairwiseJudge(equal, "al")


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
