"""The bonus for rare actions."""

import numpy as np

from setrl.control.sb3.bonuses import CountBonus


def test_it_falls_with_the_visits_of_the_pair() -> None:
    seen, actions = np.array([[0.0], [0.0], [1.0], [0.0]]), np.array([0, 0, 0, 1])
    bonus = CountBonus(2.0)
    np.testing.assert_allclose(bonus(seen, actions), [2.0, 2.0 / np.sqrt(2), 2.0, 2.0])
    np.testing.assert_allclose(bonus(seen[:1], actions[:1]), [2.0 / np.sqrt(3)])


def test_observations_that_are_dicts_count_as_one_state() -> None:
    seen = {"a": np.array([[1], [1], [1]]), "b": np.array([[2], [2], [3]])}
    np.testing.assert_allclose(CountBonus(1.0)(seen, np.zeros(3)), [1.0, 1.0 / np.sqrt(2), 1.0])
