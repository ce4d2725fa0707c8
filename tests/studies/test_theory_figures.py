"""The figures of docs/theory.md show what the library has."""

import numpy as np
import pytest

from setrl import methods
from setrl.theory import ActionTable, entropy, softmax
from setrl.theory.survival import counts_shares, water_filling

pytest.importorskip("matplotlib")

from studies import theory_figures as figures


def test_the_picture_of_sets_has_the_credit_of_the_library():
    """The figure's arrows lead from v to u of the polychromic objective."""
    table: ActionTable = figures.GROUP
    method = methods.poly_epo(set_size=2)
    credit = method.advantages(np.array([table.rewards]), strategies=np.array([table.strategies]))
    _, axes = figures.sets_and_marginals().axes
    without, with_ = (line.get_xdata() for line in axes.lines)
    np.testing.assert_allclose(with_, credit.with_BN[0])
    np.testing.assert_allclose(without, credit.without_BN[0])


def test_values_of_the_tree_are_sums_over_subtrees():
    value = figures.tree_value(1, 1, 3, 0.3)
    places = [(level, node) for level in (1, 2, 3) for node in range(2**level)]
    below = [(level, node) for level, node in places if node >> (level - 1) == 1]
    assert len(below) == 7
    scored = sum(0.3 ** (level - 1) * figures.state_score(level, node) for level, node in below)
    assert value == pytest.approx(scored)


def test_both_objectives_are_within_two_points_of_the_best_front():
    """The shares exp(s/T) have the largest pass@1 of all shares with the same entropy."""
    rates = np.array(figures.RATES)
    best = np.array([softmax(rates / t) for t in np.geomspace(0.005, 50, 2000)])
    found = [water_filling(rates, alpha) for alpha in (0.2, 0.4, 0.7, 1)]
    found += [counts_shares(rates, 16, alpha) for alpha in (0, 0.3, 0.6, 0.9)]
    most = np.interp(entropy(found), entropy(best), best @ rates)
    gap = most - np.array(found) @ rates
    assert 0 < gap.min() < gap.max() < 0.02
