"""K for each prompt: what it is unbiased for, by enumeration in fractions, and what biases it."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import exact
from setrl import methods, objectives
from setrl.core.adaptive import AdaptiveK
from setrl.train import method_config

N, LARGEST = 6, 2
POLICY = exact.policy(1, 2, 3)  # of a right, a half right and a wrong action
REWARDS = (Fraction(1), Fraction(3, 4), Fraction(0))  # two actions count as right
HALVES = (0, 2, 4), (1, 3, 5)


def best(actions):
    return max(REWARDS[a] for a in actions)


def wanted_size(actions):
    """K = 1/p̂ − 1, rounded, from 1 to 2: 1 if at least two of three are right, else 2."""
    return 1 if sum(REWARDS[a] > Fraction(1, 2) for a in actions) >= 2 else 2


def cross_fitted(group):
    """The advantages by their definition."""
    credits = [Fraction(0)] * N
    for own, other in (HALVES, HALVES[::-1]):
        size = wanted_size([group[i] for i in other])
        values = exact.contrast(best, size)(tuple(group[i] for i in own))
        for place, value in zip(own, values, strict=True):
            credits[place] = value
    return credits


def half_update(group, size_of):
    """The estimate of the first half, and its K; `size_of` says which half K is from."""
    own = tuple(group[i] for i in HALVES[0])
    size = wanted_size([group[i] for i in HALVES[size_of]])
    return exact.estimate(exact.contrast(best, size)(own), own, POLICY), size


def mean_given_size(size_of):
    """K → P(K), E[estimate · 1{K}] of the first half, over every draw."""
    found = {k: [Fraction(0), [Fraction(0)] * 3] for k in (1, 2)}
    for group, chance in exact.ordered_draws(POLICY, N):
        update, size = half_update(group, size_of)
        found[size][0] += chance
        found[size][1] = [t + chance * g for t, g in zip(found[size][1], update, strict=True)]
    return found


def target(size):
    """(n/K)·∇E max@K, n = 3 samples in a half."""
    return exact.times(Fraction(3, size), exact.logit_gradient(best, POLICY, size))


def test_the_credit_is_that_of_its_definition():
    draws = np.array(list(product(range(3), repeat=N)))
    rewards = np.array(REWARDS, dtype=float)[draws]
    found = methods.adaptive_k(largest=LARGEST).advantages(rewards, correct=rewards > 0.5).values_BN
    want = np.array([cross_fitted(tuple(group)) for group in draws], dtype=float)
    np.testing.assert_allclose(found, want, atol=1e-15)


def test_given_k_from_the_other_half_the_estimate_is_unbiased():
    for size, (chance, total) in mean_given_size(size_of=1).items():
        assert chance > 0
        assert total == exact.times(chance, target(size)), size


def test_k_from_the_same_samples_biases_it():
    """Length and direction change, given K and over all K: the update is 24 to 37 % too long."""
    own, other = mean_given_size(size_of=0), mean_given_size(size_of=1)
    factors = {
        size: [
            t / wanted for t, wanted in zip(total, exact.times(chance, target(size)), strict=True)
        ]
        for size, (chance, total) in own.items()
    }
    assert {size: list(map(str, found)) for size, found in factors.items()} == {
        1: ["8/7", "7/8", "1"],
        2: ["18/13", "27/11", "15/8"],
    }
    whole = [
        [sum(total[action] for _, total in means.values()) for action in range(3)]
        for means in (own, other)
    ]
    ratios = [one / two for one, two in zip(*whole, strict=True)]
    assert list(map(str, ratios)) == ["21/17", "48/35", "30/23"]


def test_it_reads_what_its_objective_reads_and_works_in_configs():
    strategies = np.array([[0, 0, 1, 2, 1, 0, 3, 1]])
    rewards = np.array([[1.0, 0, 1, 0, 0, 1, 0, 0]])
    config = {"method": "adaptive_k", "objective": "polychromic", "largest": 3}
    method = method_config.from_config(config)
    assert method == methods.adaptive_k(objectives.polychromic(), 3)
    found = method.advantages(rewards, strategies=strategies).values_BN
    sizes = method.sizes(rewards[:, 1::2] == 1, 4), method.sizes(rewards[:, ::2] == 1, 4)
    assert [int(one[0]) for one in sizes] == [3, 1]
    for start, size in zip((0, 1), sizes, strict=True):
        poly = methods.set_rl(objectives.polychromic(), int(size[0]), "leave_one_out")
        want = poly.advantages(rewards[:, start::2], strategies=strategies[:, start::2]).values_BN
        np.testing.assert_allclose(found[:, start::2], want, atol=1e-15)


def test_small_prompts_get_the_largest_k_that_fits():
    rewards = np.full((2, 10), np.nan)
    rewards[0], rewards[1, :5] = [1, 0] * 5, [0, 0, 1, 0, 0]
    found = methods.adaptive_k().advantages(rewards)
    assert not found.skipped_B.any()
    pair = methods.rloo().advantages(rewards[1:, [1, 3]]).values_BN  # a half of two: K = 1
    np.testing.assert_allclose(found.values_BN[1, [1, 3]], pair[0], atol=1e-15)
    assert methods.adaptive_k().advantages(rewards[:, :10]).usable_BN[1].sum() == 5


def test_sampled_sets_have_standard_errors():
    from setrl import credit

    rng = np.random.default_rng(0)
    rewards = rng.random((4, 16))
    drawn = methods.adaptive_k(estimator=credit.Sampled(50)).advantages(
        rewards, rng=0, correct=rewards > 0.5
    )
    exactly = methods.adaptive_k().advantages(rewards, correct=rewards > 0.5)
    assert not drawn.is_exact
    assert (drawn.stderr_BN > 0).any()
    assert np.abs(drawn.values_BN - exactly.values_BN).max() < 6 * drawn.stderr_BN.max()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: methods.adaptive_k(largest=0), "set_size must be an integer of at least 1"),
        (lambda: methods.adaptive_k(objectives.l_statistic([0, 1])), "has a K of its own"),
        (
            lambda: methods.adaptive_k(largest=4).check_samples(9, "samples_per_prompt"),
            "adaptive_k with largest=4 needs samples_per_prompt of at least 10, got 9",
        ),
        (
            lambda: method_config.from_config({"method": "adaptive_k", "gate": True}),
            "adaptive_k takes no gate",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_it_is_a_method_like_others():
    method = methods.adaptive_k()
    assert isinstance(method, AdaptiveK)
    assert (method.name, method.set_size, method.fewest_samples) == ("adaptive_k", 3, 4)
    rewards = np.array([[1.0, 0, 0, 1, 0, 0, 0, 0, 1, 0]])
    both = (0.5 * method + methods.dr_grpo()).advantages(rewards).values_BN
    want = 0.5 * method.advantages(rewards).values_BN + rewards - rewards.mean()
    np.testing.assert_allclose(both, want, atol=1e-15)
