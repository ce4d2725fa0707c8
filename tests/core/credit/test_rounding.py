"""Credit that is truly 0 is exactly 0, and credit that is small but real stays."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from setrl import Samples, credit, methods, objectives, set_advantages
from setrl.control import vines as vine_credit
from setrl.core.idea import Sets
from tests.core.catalogue import EXACT, Case, samples_of

N = 6
LABELS = {
    "same": [0] * N,
    "distinct": list(range(N)),
    "degenerate": [-1] * N,
    "pairs": [0, 0, 1, 1, 2, 2],
    "halves": [0, 1, 0, 1, 0, 1],
}
APART = 1 - np.eye(N)
KERNELS = (np.zeros((N, N)), np.ones((N, N)), np.eye(N), APART, 0.3 * APART)


def saturated() -> list[Case]:
    """Prompts whose samples cannot be distinguished but by the names of their labels."""
    return [
        Case([reward] * N, labels, [max(label, 0) for label in labels], [0.3] * N, pairs.tolist())
        for reward in (1.0, 0.0, 0.1, 0.7)
        for labels in LABELS.values()
        for pairs in KERNELS
    ]


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_samples_that_are_all_alike_get_exactly_no_credit(entry):
    samples = samples_of(saturated())
    for k, estimator in product(range(entry.smallest, N), (credit.Exact(), credit.Enumerated())):
        if entry.objective.set_size in (None, k):
            means = estimator(entry.objective, samples, k, None).means
            assert not means.contrast_BN.any(), (estimator, k, means.contrast_BN.max())


@pytest.mark.parametrize("estimator", [credit.Sampled(9), credit.Regression(9)], ids=repr)
def test_drawn_sets_that_all_score_alike_give_exactly_no_credit(estimator):
    rewards, strategies = np.full((2, 7), 0.7), np.array([range(7), [0] * 7])
    poly = methods.poly_epo(3)
    found = set_advantages(
        rewards, objective=poly.objective, set_size=3, strategies=strategies, estimator=estimator,
        rng=0,
    )  # fmt: skip
    assert found.estimator.startswith(("sampled", "regression"))
    assert not found.values_BN.any()


SMALLER = [entry for entry in EXACT if entry.smaller and entry.objective.set_size is None]


@pytest.mark.parametrize("entry", SMALLER, ids=lambda entry: entry.name)
def test_a_gain_over_smaller_sets_is_exactly_zero_where_it_is_in_fractions(entry):
    """u − w, divided by its standard deviation: rounding of 1e-16 would be 1e-12."""
    listed = [case for case in saturated()[:: len(KERNELS)] if case.rewards[0] in (1.0, 0.7)]
    samples = samples_of(listed)
    fields = {name: getattr(samples, name) for name in entry.objective.reads if name != "rewards"}
    for k in range(entry.smallest + 1, N + 1):
        wants = [Sets(entry.definition(case), N, k) for case in listed]
        are_zero = [want.u == want.w for want in wants]
        for estimator in (credit.Exact(), credit.Enumerated()):
            found = set_advantages(
                samples.rewards, objective=entry.objective, set_size=k, baseline="smaller_sets",
                scale="group_std", estimator=estimator, **fields,
            )  # fmt: skip
            for values, is_zero, case in zip(found.values_BN, are_zero, listed, strict=True):
                assert values.any() != is_zero, (estimator, k, case, values)


def test_a_gain_that_is_small_but_real_stays():
    """One of six rewards is larger than the others, by some of the last digits of a float."""
    rewards, estimator = np.full((2, 6), 0.7), credit.Enumerated()
    rewards[0, 0] += 2.0**-45
    both = objectives.max() + 0.5 * objectives.mean()
    for k in (2, 6):  # K = N, where u − v is not defined, keeps u − w
        for objective, how in ((objectives.max(), None), (both, None), (both, estimator)):
            found = set_advantages(
                rewards, objective=objective, set_size=k, baseline="smaller_sets", estimator=how
            ).values_BN
            assert found[0, 0] > 0
            assert not found[1].any()


def test_one_prompt_without_credit_leaves_the_others_as_they_are():
    rewards, strategies = np.array([[1.0] * 7, [0.0] * 6 + [1.0]]), np.tile(np.arange(7), (2, 1))
    both = methods.poly_epo(2).advantages(rewards, strategies=strategies).values_BN
    alone = methods.poly_epo(2).advantages(rewards[1:], strategies=strategies[1:]).values_BN
    assert not both[0].any()
    assert both[1].all()
    assert (both[1] == alone[0]).all()


def test_chances_far_below_any_rounding_error_stay_at_4096_samples():
    """Sets of 1,500 that miss all 500 correct samples: 1e-99, and its sign is right."""
    n, k, c = 4096, 1500, 500
    rewards = np.zeros((1, n))
    rewards[0, :c] = 1.0
    found = methods.maxpo(k).advantages(rewards).values_BN[0]
    right = Fraction(comb(n - c, k), comb(n - 1, k))  # u = 1, v = 1 − P(the others miss)
    wrong = -Fraction(comb(n - 1 - c, k - 1), comb(n - 1, k - 1)) * c / (n - k)
    assert 0 < right < Fraction(1, 10**60)
    np.testing.assert_allclose(found[[0, -1]], [float(right), float(wrong)], rtol=1e-9)


def test_small_chances_between_strategies_stay_at_4096_samples():
    """Sets of 200 in only one of two strategies: about 1e-60, slightly more for the smaller one."""
    n, k, first = 4096, 200, 2040
    strategies = np.repeat([0, 1], [first, n - first])[None]
    differ = objectives.differ()
    found = set_advantages(
        np.ones((1, n)),
        objective=differ,
        set_size=k,
        strategies=strategies,
        baseline="leave_one_out",
    ).values_BN[0]
    sizes = (first, n - first)

    def alone(own: int, other: int) -> Fraction:
        """P(one strategy only): with a sample of `own`, less that without it."""
        without = comb(own - 1, k) + comb(other, k)
        return Fraction(comb(own - 1, k - 1), comb(n - 1, k - 1)) - Fraction(
            without, comb(n - 1, k)
        )

    want = [-float(alone(*sizes)), -float(alone(*sizes[::-1]))]
    assert 0 < abs(want[0]) < 1e-55
    np.testing.assert_allclose(found[[0, -1]], want, rtol=1e-9)


@pytest.mark.parametrize("num_vines", [5, 7, 8])
def test_every_credit_of_vines_is_exactly_zero_where_all_are_worth_the_same(num_vines):
    vines = Samples(np.full((3, num_vines), 0.7), np.tile(range(num_vines), (3, 1)))
    method, rng = methods.poly_epo(2), np.random.default_rng(0)
    actions = np.tile(np.arange(num_vines) % 3, (3, 1))
    assert not vine_credit.credit_by_trajectory(method, vines).any()
    assert not vine_credit.credit_by_action(method, vines, actions).any()
    assert not np.nan_to_num(vine_credit.credit_by_shared_sets(method, vines, 4, rng)).any()
