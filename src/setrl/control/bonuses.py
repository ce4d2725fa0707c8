"""A bonus for rare actions: the exploration with which Poly-PPO is compared.

    λ·N(s, a)^−1/2, where N counts visits: the UCB bonus of arXiv:2509.25424

A visit counts itself: the first bonus is λ. On JAX, `jax.bonuses` counts in a table of hashes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np


def bonus_of(visits: Any, weight: float) -> Any:
    """weight · N^−1/2, with N visits."""
    return weight * visits**-0.5


@dataclass
class CountBonus:
    """The bonus of states and actions, which are equal if their bytes are.

    In continuous spaces nothing is seen twice, so every step gets the whole weight.

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
            bonuses[step] = bonus_of(self.visits[key], self.weight)
        return bonuses
