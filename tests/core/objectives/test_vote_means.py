"""Votes of random sets against enumeration, closed forms in fractions, and laws."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from setrl import mean_set_scores, objectives, set_advantages


def winner(counts, rewards):
    """The mean reward of the winners and their votes for one set, by the definition."""
    top = max(counts)
    winners = [Fraction(r) for c, r in zip(counts, rewards, strict=True) if c == top]
    return (sum(winners) / len(winners) if top else Fraction(0)), top


def by_enumeration(votes, rewards, n, k):
    answers = [a for a, count in enumerate(votes) for _ in range(count)]
    answers += [None] * (n - len(answers))
    reward, share = Fraction(0), Fraction(0)
    for subset in combinations(range(n), k):
        drawn = [answers[i] for i in subset]
        one, top = winner([drawn.count(a) for a in range(len(votes))], rewards)
        reward, share = reward + one, share + Fraction(top, k)
    return reward / comb(n, k), share / comb(n, k)


def by_counts(votes, rewards, k):
    """The same as a sum over the count vectors of the sets (multivariate hypergeometric)."""
    total = comb(sum(votes), k)
    reward, share = Fraction(0), Fraction(0)
    for counts in product(*(range(min(m, k) + 1) for m in votes)):
        if sum(counts) == k:
            weight = Fraction(np.prod([comb(m, c) for m, c in zip(votes, counts, strict=True)]))
            one, top = winner(counts, rewards)
            reward, share = reward + weight * one, share + weight * Fraction(top, k)
    return reward / total, share / total


def majority(votes_PA, rewards_PA, n, *sizes):
    """The mean reward and vote share of samples with so many votes; all others abstain."""
    answers_PN, rewards_PN = np.full((len(votes_PA), n), np.nan), np.zeros((len(votes_PA), n))
    for row, (votes, rewards) in enumerate(zip(votes_PA, rewards_PA, strict=True)):
        given = np.repeat(np.arange(len(votes)), votes)
        answers_PN[row, : len(given)] = given
        rewards_PN[row, : len(given)] = np.asarray(rewards, dtype=float)[given]
    return (
        mean_set_scores(rewards_PN, objective, sizes, answers=answers_PN, abstain=True)
        for objective in (objectives.majority(), objectives.vote_share())
    )


@pytest.mark.parametrize("n", range(1, 7))
def test_equals_enumeration_for_every_count_vector(n):
    vectors = [v for v in product(range(n + 1), repeat=3) if sum(v) <= n]
    right = (True, False, False)
    reward, share = majority(vectors, [right] * len(vectors), n, *range(1, n + 1))
    for k in range(1, n + 1):
        expected = np.array([by_enumeration(v, right, n, k) for v in vectors], dtype=float)
        np.testing.assert_allclose(reward[k - 1], expected[:, 0], atol=1e-13)
        np.testing.assert_allclose(share[k - 1], expected[:, 1], atol=1e-13)


@pytest.mark.parametrize("rewards", [(1, 0, 1, 0, 1, 0, 1, 0), (-2, 2, 0.5, 0, 3, -1, 0.25, -4)])
def test_rewards_of_every_kind_and_many_ties(rewards):
    for votes in ([1] * 8, [2, 2, 2, 2], [3, 1, 1, 1], [2, 2, 1, 1, 1], [2, 2]):
        got = majority([votes], [rewards[: len(votes)]], 8, *range(1, 9))
        want = [by_enumeration(votes, rewards[: len(votes)], 8, k) for k in range(1, 9)]
        for found, exact in zip(got, zip(*want, strict=True), strict=True):
            np.testing.assert_allclose(found[:, 0], np.array(exact, dtype=float), atol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 7, 31, 64, 199, 299])
def test_two_answers_in_closed_form(k):
    n, right, wrong = 300, 140, 160
    chance = [Fraction(comb(right, x) * comb(wrong, k - x), comb(n, k)) for x in range(k + 1)]
    accuracy = sum(p * (1 if 2 * x > k else Fraction(2 * x == k, 2)) for x, p in enumerate(chance))
    votes = sum(p * Fraction(max(x, k - x), k) for x, p in enumerate(chance))
    reward, share = majority([[right, wrong]], [[1, 0]], n, k)
    assert reward[0, 0] == pytest.approx(float(accuracy), abs=1e-11)
    assert share[0, 0] == pytest.approx(float(votes), abs=1e-11)


@pytest.mark.parametrize("rewards", [(0, 1, 0, 1), (0.5, -1, 0, 2)])
@pytest.mark.parametrize("k", [5, 16, 30])
def test_four_answers_by_their_counts(k, rewards):
    votes = [14, 11, 9, 6]
    exact, votes_share = by_counts(votes, rewards, k)
    reward, share = majority([votes], [rewards], 40, k)
    assert reward[0, 0] == pytest.approx(float(exact), abs=1e-12)
    assert share[0, 0] == pytest.approx(float(votes_share), abs=1e-12)


def test_one_voter_is_pass_at_1_and_all_voters_are_the_plain_majority():
    votes = [[5, 3, 2], [4, 4, 0], [0, 0, 0]]
    right = [[False, True, False], [True, False, False], [True, True, True]]
    reward, share = majority(votes, right, 10, 1, 10)
    np.testing.assert_allclose(reward[0], [0.3, 0.4, 0], atol=1e-13)
    np.testing.assert_allclose(share[0], [1, 0.8, 0], atol=1e-13)
    assert reward[1].tolist() == [0, 0.5, 0]
    assert share[1].tolist() == [0.5, 0.4, 0]


def test_order_of_answers_changes_nothing():
    rng = np.random.default_rng(3)
    votes = rng.multinomial(64, rng.dirichlet(np.full(9, 0.4)), size=12)
    right = rng.random((12, 9)) < 0.3
    order = rng.permutation(9)
    shuffled = majority(votes[:, order], right[:, order], 64, 16)
    for other, plain in zip(shuffled, majority(votes, right, 64, 16), strict=True):
        np.testing.assert_allclose(other, plain, atol=1e-13)


def test_prompts_together_are_as_each_alone():
    """Factors are shared by prompts, and blocks of them cut where they fit: neither shows."""
    rng, sizes = np.random.default_rng(5), (1, 3, 16, 50, 127)
    votes = np.stack([rng.multinomial(128, rng.dirichlet(np.full(30, a))) for a in (0.05, 0.3, 9)])
    votes = np.concatenate([votes, votes[:, ::-1], np.zeros((1, 30), int), votes // 2])
    right = rng.random(votes.shape) < 0.2
    alone = [
        tuple(majority(v[None], r[None], 128, *sizes)) for v, r in zip(votes, right, strict=True)
    ]
    for part, together in enumerate(majority(votes, right, 128, *sizes)):
        expected = np.concatenate([one[part] for one in alone], axis=1)
        np.testing.assert_allclose(together, expected, atol=1e-12)


@pytest.mark.parametrize("k", [2, 64, 500, 999])
def test_a_thousand_samples_keep_their_digits(k):
    n, right, wrong = 1000, 480, 520
    chance = [Fraction(comb(right, x) * comb(wrong, k - x), comb(n, k)) for x in range(k + 1)]
    accuracy = sum(p * (1 if 2 * x > k else Fraction(2 * x == k, 2)) for x, p in enumerate(chance))
    reward, _ = majority([[right, wrong]], [[True, False]], n, k)
    assert reward[0, 0] == pytest.approx(float(accuracy), abs=1e-11)


def test_all_right_wins_always_and_all_wrong_never():
    votes = np.random.default_rng(4).multinomial(128, np.full(20, 0.05), size=6)
    everyone_right, _ = majority(votes, np.ones_like(votes), 128, 2, 17, 100)
    everyone_wrong, _ = majority(votes, np.zeros_like(votes), 128, 2, 17, 100)
    np.testing.assert_allclose(everyone_right, 1, atol=1e-11)
    np.testing.assert_allclose(everyone_wrong, 0, atol=1e-13)


@pytest.mark.parametrize("k", [1, 9, 40, 63])
def test_equals_the_closed_form_that_credits_every_sample(k):
    rng = np.random.default_rng(k)
    answers, rewards = rng.integers(0, 6, (5, 64)), rng.normal(size=(5, 64))
    rewards[:2] = answers[:2] == 3
    whole = set_advantages(
        rewards, objective=objectives.majority(), set_size=k, answers=answers, baseline="none"
    )
    found = mean_set_scores(rewards, objectives.majority(), [k], answers=answers)
    np.testing.assert_allclose(found[0], whole.mean_B, atol=1e-11)
