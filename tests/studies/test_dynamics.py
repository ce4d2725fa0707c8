"""The figure shows the policies that it is given, and those are the ones of the methods."""

import numpy as np
import pytest

from setrl import methods
from setrl.theory import TabularMethod
from setrl.theory.dynamics import expected_steps
from studies.dynamics import EQUAL, EQUAL_START, draw_dynamics, equally_good, unequally_good

pytest.importorskip("matplotlib")


def test_panels_are_paths_of_their_methods():
    grpo, _, poly = equally_good(steps=20)
    for panel, method in ((grpo, methods.grpo()), (poly, methods.poly_epo(set_size=4))):
        update = TabularMethod(method, EQUAL, 8).update
        path = expected_steps(update, EQUAL_START, 1.0, 20)
        np.testing.assert_array_equal(panel.policies_TA, path.policies_TA)
        assert len(panel.labels) == len(panel.colours) == 6


def test_the_figure_stacks_every_strategy_up_to_one():
    rows = {"one": equally_good(steps=10), "two": unequally_good(steps=10)}
    figure = draw_dynamics(rows)
    assert len(figure.axes) == 6
    for ax, panel in zip(figure.axes, rows["one"] + rows["two"], strict=True):
        areas = ax.collections
        assert [area.get_label() for area in areas] == list(panel.labels)
        for area, mass_T in zip(areas, panel.policies_TA.cumsum(axis=1).T, strict=True):
            top = area.get_paths()[0].vertices[:, 1].max()
            np.testing.assert_allclose(top, mass_T.max(), atol=1e-12)


def test_one_run_is_the_same_for_the_same_seed():
    first, second = (unequally_good(steps=5, seed=1)[0].policies_TA for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, unequally_good(steps=5, seed=2)[0].policies_TA)
