"""A bonus for rare actions, reward + weight · N(s, a)^−½, with counts by bytes.

Checkpoints hold `CountBonus` by the name of this module.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np


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
            bonuses[step] = self.weight * self.visits[key] ** -0.5
        return bonuses
