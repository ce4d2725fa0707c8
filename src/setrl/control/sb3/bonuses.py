"""A bonus for rare actions: the exploration with which Poly-PPO is compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class CountBonus:
    """weight · N(s, a)^−1/2, where N counts visits: the UCB bonus of arXiv:2509.25424.

    Two states are equal if the bytes of their observations are equal. In continuous spaces nothing
    is seen twice, so every step gets the whole weight. A visit counts itself: the first bonus is
    `weight`.

    >>> bonus = CountBonus(0.5)
    >>> bonus(np.zeros((4, 2)), np.array([[1], [1], [0], [1]])).round(3)
    array([0.5  , 0.354, 0.5  , 0.289])
    """

    weight: float
    visits: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, observations: Any, actions: np.ndarray) -> np.ndarray:
        """Return the bonus of steps in their order, (steps,), and count the steps.

        Args:
            observations: (steps, …), or a dict of such arrays.
            actions: (steps, …).
        """
        parts = observations.values() if isinstance(observations, dict) else (observations,)
        rows = [np.ascontiguousarray(part) for part in (*parts, actions)]
        bonuses = np.empty(len(actions))
        for step in range(len(actions)):
            key = b"|".join(row[step].tobytes() for row in rows)
            self.visits[key] += 1
            bonuses[step] = self.weight * self.visits[key] ** -0.5
        return bonuses
