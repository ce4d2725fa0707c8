"""Credit of vines against enumeration by the definition."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from setrl import methods
from setrl.control.vines import (
    VineChoices,
    credit_by_action,
    credit_by_shared_sets,
    credit_by_trajectory,
    vine_advantages,
)
from setrl.core.credit.estimators import draw_sets
from setrl.samples import Samples

N, K = 6, 3
RNG = np.random.default_rng(5)
SCORES_BN = np.round(RNG.random((4, N)), 2)
LABELS_BN = RNG.integers(-1, 3, (4, N))
ACTIONS_BN = RNG.integers(0, 3, (4, N))
POLY = methods.poly_epo(K)
VINES = Samples(SCORES_BN, LABELS_BN)


def polychromic(row: int, chosen: tuple[int, ...]) -> float:
    """Mean score × share of different strategies, by the definition."""
    different = {int(LABELS_BN[row, i]) for i in chosen} - {-1}
    return SCORES_BN[row, list(chosen)].mean() * len(different) / len(chosen)


def scored_sets(row: int, usable: range | list[int] = range(N)) -> dict[tuple[int, ...], float]:
    return {chosen: polychromic(row, chosen) for chosen in combinations(usable, K)}


def test_a_trajectory_gets_what_its_sets_score_above_all() -> None:
    found = credit_by_trajectory(POLY, VINES)
    for row in range(4):
        sets = scored_sets(row)
        everything = np.mean(list(sets.values()))
        for i in range(N):
            mine = np.mean([score for chosen, score in sets.items() if i in chosen])
            assert found[row, i] == pytest.approx(mine - everything)


def test_an_action_gets_what_sets_with_a_vine_that_begins_so_score_above_all() -> None:
    found = credit_by_action(POLY, VINES, ACTIONS_BN)
    for row in range(4):
        sets = scored_sets(row)
        for i in range(N):
            begins = np.flatnonzero(ACTIONS_BN[row] == ACTIONS_BN[row, i])
            mine = [score for chosen, score in sets.items() if set(chosen) & set(begins)]
            expected = np.mean(mine) - np.mean(list(sets.values()))
            assert found[row, i] == pytest.approx(expected, nan_ok=True)


def test_an_action_that_every_set_holds_gets_zero() -> None:
    actions_BN = np.zeros((4, N), dtype=int)
    actions_BN[:, 0] = 1  # five vines begin with 0: no set of 3 is without
    found = credit_by_action(POLY, VINES, actions_BN)
    assert (found[:, 1:] == 0).all()
    assert (found[:, 0] != 0).any()


def test_members_of_a_drawn_set_share_its_advantage() -> None:
    number = 7
    found = credit_by_shared_sets(POLY, VINES, number, np.random.default_rng(1))
    drawn = draw_sets(N, K, number, np.random.default_rng(1))
    for row in range(4):
        scores = np.array([polychromic(row, tuple(chosen)) for chosen in drawn])
        for i in range(N):
            holds = (drawn == i).any(axis=1)
            expected = scores[holds].mean() - scores.mean() if holds.any() else np.nan
            assert found[row, i] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("credit_of", ["marginal", "action", "shared"])
def test_a_vine_without_a_score_leaves_the_sets(credit_of: Any) -> None:
    lost_BN, kept = SCORES_BN.copy(), [0, 1, 3, 4, 5]
    lost_BN[0, 2] = np.nan
    choices = VineChoices(num_vines=N, credit=credit_of, num_sets=500)

    def of(vines: Samples, actions_BN: np.ndarray) -> np.ndarray:
        return vine_advantages(POLY, choices, vines, actions_BN, np.random.default_rng(0))[0]

    found = of(Samples(lost_BN, LABELS_BN), ACTIONS_BN)
    alone = of(Samples(SCORES_BN[:1, kept], LABELS_BN[:1, kept]), ACTIONS_BN[:1, kept])
    np.testing.assert_allclose(found[kept], alone, atol=1e-12)


def test_too_few_scores_mean_no_credit_at_all() -> None:
    lost = Samples(np.full((1, N), np.nan), LABELS_BN[:1])
    lost.rewards[0, :2] = 1.0
    assert np.isnan(credit_by_trajectory(POLY, lost)).all()
    assert np.isnan(credit_by_action(POLY, lost, ACTIONS_BN[:1])).all()
    assert np.isnan(credit_by_shared_sets(POLY, lost, 4, np.random.default_rng(0))).all()


def test_sums_of_methods_credit_trajectories() -> None:
    both = 0.5 * POLY + 2 * methods.rloo()
    found = credit_by_trajectory(both, VINES)
    poly = credit_by_trajectory(POLY, VINES)
    rloo = credit_by_trajectory(methods.rloo(), VINES)
    np.testing.assert_allclose(found, 0.5 * poly + 2 * rloo, atol=1e-15)
