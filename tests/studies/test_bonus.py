"""The reward-shaping threshold against groups enumerated in rational arithmetic."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import exact
from setrl import methods
from setrl.theory import ActionTable, TabularMethod
from studies.bonus import bonus_needed

REWARDS, LABELS = [1, 0, 0], [0, 0, 1]
TABLE = ActionTable(REWARDS, strategies=LABELS)


def by_hand(policy, action, num_samples):
    """λ at which E[r₁ + λd₁ − mean(r + λd) | y₁ = action] = 0, dᵢ = (N/|strategy| − 1)/(N − 1)."""
    credited, bonus = Fraction(0), Fraction(0)
    for rest in product(range(3), repeat=num_samples - 1):
        group, chance = (action, *rest), exact.probability(rest, policy)
        labels = [LABELS[a] for a in group]
        rarity = [(Fraction(num_samples, labels.count(c)) - 1) / (num_samples - 1) for c in labels]
        credited += chance * (
            REWARDS[action] - Fraction(sum(REWARDS[a] for a in group), num_samples)
        )
        bonus += chance * (rarity[0] - sum(rarity) / num_samples)
    return -credited / bonus


@pytest.mark.parametrize("num_samples", [3, 5])
def test_threshold_is_where_the_shaped_advantage_changes_sign(num_samples):
    policy = [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]
    wanted = float(by_hand(policy, 2, num_samples))
    needed = bonus_needed(TABLE, [0.6, 0.3, 0.1], 2, num_samples)
    np.testing.assert_allclose(needed, wanted, rtol=1e-12)
    for weight, sign in ((0.99 * wanted, -1), (1.01 * wanted, 1)):
        tabular = TabularMethod(methods.grpo_div(weight), TABLE, num_samples)
        assert np.sign(tabular.advantages([0.6, 0.3, 0.1])[2]) == sign


@pytest.mark.parametrize("num_samples", [4, 8, 16])
def test_threshold_is_finite_as_accuracy_goes_to_one(num_samples):
    """(N−1)²/(N(N−2)): 49/48 for N = 8, not "impossible"."""
    rare = 1e-9
    limit = (num_samples - 1) ** 2 / (num_samples * (num_samples - 2))
    for p in (0.1, 0.5, 0.9, 1 - 2 * rare):
        needed = bonus_needed(TABLE, [p, 1 - p - rare, rare], 2, num_samples)
        np.testing.assert_allclose(needed, p * limit, rtol=1e-6)


def test_no_bonus_helps_an_action_of_the_common_strategy_nor_is_needed_by_a_correct_one():
    assert bonus_needed(TABLE, [0.8, 0.1, 0.1], 1, 8) == np.inf
    assert bonus_needed(TABLE, [0.8, 0.1, 0.1], 0, 8) == 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"action must be an integer in \[0, 2\], got 3"):
        bonus_needed(TABLE, [0.8, 0.1, 0.1], 3, 8)
    with pytest.raises(ValueError, match="num_samples must be an integer of at least 3, got 2"):
        bonus_needed(TABLE, [0.8, 0.1, 0.1], 2, 2)
