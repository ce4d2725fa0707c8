"""Shapley values against their definition over all orders, in rational arithmetic."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from claims import exact, scores
from setrl import methods, objectives
from setrl.train import method_config
from tests.core.catalogue import EXACT, cases

ANY_SIZE = [entry for entry in EXACT if entry.smallest == 1 and entry.objective.set_size is None]


def shapley(objective, rewards, **fields):
    """The baseline with K = N: the values of the whole group."""
    return (
        methods.set_rl(objective, rewards.shape[1], "shapley")
        .advantages(rewards, **fields)
        .values_BN
    )


def by_orders(score, members):
    """Member → the mean over all orders of what it adds to those before it."""
    total, orders = dict.fromkeys(members, Fraction(0)), list(permutations(members))
    for order in orders:
        before = Fraction(0)
        for place, i in enumerate(order):
            after = Fraction(score(tuple(sorted(order[: place + 1]))))
            total[i] += after - before
            before = after
    return {i: x / len(orders) for i, x in total.items()}


@pytest.mark.parametrize("entry", ANY_SIZE, ids=lambda entry: entry.name)
def test_equals_the_mean_over_orders(entry):
    for n in (1, 4):
        listed = cases(n)
        fields = {
            name: np.array([getattr(case, name) for case in listed])
            for name in ("correct", "strategies", "answers", "proxy", "pairs", "families", "second")
        }
        rewards = np.array([case.rewards for case in listed])
        found = shapley(entry.objective, rewards, **fields)
        for values, case in zip(found, listed, strict=True):
            want = by_orders(entry.definition(case), range(n))
            np.testing.assert_allclose(values, [float(want[i]) for i in range(n)], atol=1e-11)


SPREAD = objectives.from_function(lambda rewards: np.ptp(rewards, axis=-1))  # no closed form


def highest_less_lowest(k):
    return [0] if k == 1 else [-1, *[0] * (k - 2), 1]


@pytest.mark.parametrize(
    ("objective", "definition"),
    [
        (objectives.any_correct(), lambda case: scores.any_correct(case.correct)),
        (objectives.polychromic(), lambda case: scores.polychromic(case.rewards, case.strategies)),
        (SPREAD, lambda case: scores.l_statistic(case.rewards, highest_less_lowest)),
    ],
    ids=["any_correct", "polychromic", "function"],
)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_baseline_is_the_mean_share_of_a_sample_in_its_sets(objective, definition, k):
    """Each K-set splits its score by Shapley; a sample gets its mean share; K = N: all samples."""
    for case in cases(4)[:6]:
        score = definition(case)
        shares = [by_orders(score, held) for held in combinations(range(4), k)]
        want = [exact.average(one[i] for one in shares if i in one) for i in range(4)]
        found = methods.set_rl(objective, k, "shapley").advantages(
            np.array([case.rewards]),
            correct=np.array([case.correct]),
            strategies=np.array([case.strategies]),
        )
        np.testing.assert_allclose(found.values_BN[0], np.array(want, float), atol=1e-12)
        total = 4 / k * exact.average(score(held) for held in combinations(range(4), k))
        assert found.values_BN.sum() == pytest.approx(float(total), abs=1e-12)


def test_a_config_names_the_baseline_and_one_size_is_refused():
    config = {"method": "set_rl", "objective": "max", "set_size": 4, "baseline": "shapley"}
    assert method_config.from_config(config) == methods.set_rl(objectives.max(), 4, "shapley")
    with pytest.raises(ValueError, match=r"scores sets of 1 to 2, and l_statistic.* of 2 only"):
        methods.set_rl(objectives.l_statistic([0, 1]), baseline="shapley")


@pytest.mark.parametrize("objective", [objectives.max(), objectives.any_correct()])
def test_expected_update_is_the_sum_of_gradients_over_sizes(objective):
    """E Σᵢ ∇log π(yᵢ)·φᵢ = Σ_K ∇J_K / K."""
    n, policy, reward = 4, [0.2, 0.3, 0.5], [1.0, 0.75, 0.0]
    draws = np.array(list(product(range(3), repeat=n)))
    values = shapley(objective, np.array(reward)[draws], correct=np.array(reward)[draws] > 0.5)
    chance_D = np.prod(np.array(policy)[draws], axis=1)
    found = np.einsum("d,dn,dna->a", chance_D, values, np.eye(3)[draws] - policy)
    definition = {
        objectives.max(): scores.maximum,
        objectives.any_correct(): lambda rewards: scores.any_correct([r > 0.5 for r in rewards]),
    }[objective]
    want = np.zeros(3)
    for k in range(1, n + 1):
        gradient = exact.logit_gradient(
            lambda draw, k=k: float(definition([reward[a] for a in draw])(range(k))), policy, k
        )
        want += np.array(gradient, dtype=float) / k
    np.testing.assert_allclose(found, want, atol=1e-12)
