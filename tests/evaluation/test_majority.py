"""Majority vote against enumeration of all subsets, closed forms in fractions, and laws."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from setrl.evaluation.majority import majority_at_k


def vote(counts, right):
    """Accuracy and votes of the winner for one set, by the definition."""
    top = max(counts)
    winners = [r for c, r in zip(counts, right, strict=True) if c == top]
    accuracy = Fraction(sum(winners), len(winners)) if top else Fraction(0)
    return accuracy, top


def by_enumeration(votes, right, n, k):
    answers = [a for a, count in enumerate(votes) for _ in range(count)]
    answers += [None] * (n - len(answers))
    accuracy, share = Fraction(0), Fraction(0)
    for subset in combinations(range(n), k):
        drawn = [answers[i] for i in subset]
        one, top = vote([drawn.count(a) for a in range(len(votes))], right)
        accuracy, share = accuracy + one, share + Fraction(top, k)
    return accuracy / comb(n, k), share / comb(n, k)


def by_counts(votes, right, k):
    """The same as a sum over the count vectors of the sets (multivariate hypergeometric)."""
    total = comb(sum(votes), k)
    accuracy, share = Fraction(0), Fraction(0)
    for counts in product(*(range(min(m, k) + 1) for m in votes)):
        if sum(counts) == k:
            weight = Fraction(np.prod([comb(m, c) for m, c in zip(votes, counts, strict=True)]))
            one, top = vote(counts, right)
            accuracy, share = accuracy + weight * one, share + weight * Fraction(top, k)
    return accuracy / total, share / total


@pytest.mark.parametrize("n", range(1, 7))
def test_equals_enumeration_for_every_count_vector(n):
    vectors = [v for v in product(range(n + 1), repeat=3) if sum(v) <= n]
    right = (True, False, False)
    for k in range(1, n + 1):
        got = majority_at_k(vectors, [right] * len(vectors), n, k)
        expected = np.array([by_enumeration(v, right, n, k) for v in vectors], dtype=float)
        np.testing.assert_allclose(got.accuracy_P, expected[:, 0], atol=1e-13)
        np.testing.assert_allclose(got.share_P, expected[:, 1], atol=1e-13)


@pytest.mark.parametrize("k", range(1, 9))
def test_several_right_answers_and_many_ties(k):
    for votes in ([1] * 8, [2, 2, 2, 2], [3, 1, 1, 1], [2, 2, 1, 1, 1]):
        right = [a % 2 == 0 for a in range(len(votes))]
        got = majority_at_k([votes], [right], 8, k)
        accuracy, share = by_enumeration(votes, right, 8, k)
        assert got.accuracy_P[0] == pytest.approx(float(accuracy), abs=1e-13)
        assert got.share_P[0] == pytest.approx(float(share), abs=1e-13)


@pytest.mark.parametrize("k", [1, 2, 7, 31, 64, 199, 299])
def test_two_answers_in_closed_form(k):
    n, right, wrong = 300, 140, 160
    chance = [Fraction(comb(right, x) * comb(wrong, k - x), comb(n, k)) for x in range(k + 1)]
    accuracy = sum(p * (1 if 2 * x > k else Fraction(2 * x == k, 2)) for x, p in enumerate(chance))
    share = sum(p * Fraction(max(x, k - x), k) for x, p in enumerate(chance))
    got = majority_at_k([[right, wrong]], [[True, False]], n, k)
    assert got.accuracy_P[0] == pytest.approx(float(accuracy), abs=1e-11)
    assert got.share_P[0] == pytest.approx(float(share), abs=1e-11)


@pytest.mark.parametrize("k", [5, 16, 30])
def test_four_answers_by_their_counts(k):
    votes, right = [14, 11, 9, 6], [False, True, False, True]
    accuracy, share = by_counts(votes, right, k)
    got = majority_at_k([votes], [right], 40, k)
    assert got.accuracy_P[0] == pytest.approx(float(accuracy), abs=1e-12)
    assert got.share_P[0] == pytest.approx(float(share), abs=1e-12)


def test_one_voter_is_pass_at_1_and_all_voters_are_the_plain_majority():
    votes = [[5, 3, 2], [4, 4, 0], [0, 0, 0]]
    right = [[False, True, False], [True, False, False], [True, True, True]]
    one, everyone = majority_at_k(votes, right, 10, 1), majority_at_k(votes, right, 10, 10)
    np.testing.assert_allclose(one.accuracy_P, [0.3, 0.4, 0], atol=1e-13)
    np.testing.assert_allclose(one.share_P, [1, 0.8, 0], atol=1e-13)
    assert everyone.accuracy_P.tolist() == [0, 0.5, 0]
    assert everyone.share_P.tolist() == [0.5, 0.4, 0]


def test_order_of_answers_and_padding_change_nothing():
    rng = np.random.default_rng(3)
    votes = rng.multinomial(64, rng.dirichlet(np.full(9, 0.4)), size=12)
    right = rng.random((12, 9)) < 0.3
    order = rng.permutation(9)
    plain = majority_at_k(votes, right, 64, 16)
    shuffled = majority_at_k(votes[:, order], right[:, order], 64, 16)
    padded = majority_at_k(np.pad(votes, ((0, 0), (0, 4))), np.pad(right, ((0, 0), (0, 4))), 64, 16)
    for other in (shuffled, padded):
        np.testing.assert_allclose(other.accuracy_P, plain.accuracy_P, atol=1e-13)
        np.testing.assert_allclose(other.share_P, plain.share_P, atol=1e-13)


@pytest.mark.parametrize("k", [1, 3, 16, 50, 127])
def test_problems_together_are_as_each_alone(k):
    """Factors are shared by problems, and blocks of them cut where they fit: neither shows."""
    rng = np.random.default_rng(5)
    votes = np.stack([rng.multinomial(128, rng.dirichlet(np.full(30, a))) for a in (0.05, 0.3, 9)])
    votes = np.concatenate([votes, votes[:, ::-1], np.zeros((1, 30), int), votes // 2])
    right = rng.random(votes.shape) < 0.2
    together = majority_at_k(votes, right, 128, k)
    alone = [majority_at_k(v[None], r[None], 128, k) for v, r in zip(votes, right, strict=True)]
    np.testing.assert_allclose(together.accuracy_P, [x.accuracy_P[0] for x in alone], atol=1e-12)
    np.testing.assert_allclose(together.share_P, [x.share_P[0] for x in alone], atol=1e-12)


@pytest.mark.parametrize("k", [2, 64, 500, 999])
def test_a_thousand_samples_keep_their_digits(k):
    n, right, wrong = 1000, 480, 520
    chance = [Fraction(comb(right, x) * comb(wrong, k - x), comb(n, k)) for x in range(k + 1)]
    accuracy = sum(p * (1 if 2 * x > k else Fraction(2 * x == k, 2)) for x, p in enumerate(chance))
    got = majority_at_k([[right, wrong]], [[True, False]], n, k)
    assert got.accuracy_P[0] == pytest.approx(float(accuracy), abs=1e-11)


def test_all_right_wins_always_and_all_wrong_never():
    votes = np.random.default_rng(4).multinomial(128, np.full(20, 0.05), size=6)
    for k in (2, 17, 100):
        everyone_right = majority_at_k(votes, np.ones_like(votes, bool), 128, k)
        everyone_wrong = majority_at_k(votes, np.zeros_like(votes, bool), 128, k)
        np.testing.assert_allclose(everyone_right.accuracy_P, 1, atol=1e-11)
        np.testing.assert_allclose(everyone_wrong.accuracy_P, 0, atol=1e-13)


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"k must be in \[1, 3\].*got 4"):
        majority_at_k([[2, 1]], [[True, False]], 3, 4)
    with pytest.raises(ValueError, match="4 votes of 3 samples"):
        majority_at_k([[2, 2]], [[True, False]], 3, 1)
    with pytest.raises(ValueError, match="same shape"):
        majority_at_k([[2, 1]], [[True]], 3, 1)
