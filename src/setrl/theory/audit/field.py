"""The expected gradient of an estimator, and whether it is the gradient of any objective.

For a softmax policy over A actions, and hᵧ(m) the advantage of action y with the others m:

    F_y(π) = ∂/∂z_y of E Σᵢ Aᵢ·log π(yᵢ) = N·π_y·(g_y − Σ π g),    g_y(π) = E_m hᵧ(m)

docs/theory-proofs.md proves, for advantages that do not depend on the order of the samples:

    F is the same for two estimators for every π  ⇔  hᵧ(m) − h'ᵧ(m) is the same for all y, for all m
    F is ∇J of some objective J                   ⇔  for all N − 2 others k, and actions a, b, c,
        [h_b(k+a) − h_a(k+b)] + [h_c(k+b) − h_b(k+c)] + [h_a(k+c) − h_c(k+a)] = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from setrl.theory.audit.paid import Paid, beside_others, places
from setrl.theory.multisets import multisets

BINARY_GRID = 49  # success rates from 2% to 98%
POLICIES = 256  # evenly spread over the policies, for more than two actions


@dataclass(frozen=True)
class Curl:
    """The smallest group on which an estimator shows that it has no objective.

    Attributes:
        others: The N − 2 other samples, by their actions.
        corners: Three actions a, b, c.
        value: The sum of the differences around them; 0 for every gradient.
    """

    others: tuple[int, ...]
    corners: tuple[int, int, int]
    value: float


@dataclass(frozen=True, eq=False)
class Field:
    """The expected gradient in the logits, for a grid of policies.

    Attributes:
        paid: What the estimator pays.
        policies_PA: The policies.
    """

    paid: Paid
    policies_PA: np.ndarray

    @cached_property
    def values_PA(self) -> np.ndarray:
        """F, shape (P, A)."""
        return self.of_credit(self.paid.credit_SA)

    def of_credit(self, credit_SA: np.ndarray) -> np.ndarray:
        """Return F of a table of advantages, (P, A)."""
        mean_PA = self.paid.groups.mean_given(self.policies_PA, credit_SA)
        centred = mean_PA - (self.policies_PA * mean_PA).sum(axis=1, keepdims=True)
        return self.paid.num_samples * self.policies_PA * centred

    @cached_property
    def contrast_MA(self) -> np.ndarray:
        """hᵧ(m) − the mean over y: equal for two estimators if and only if F is, for all π."""
        return contrast(self.paid.given_others_MA)

    @cached_property
    def curl(self) -> Curl | None:
        """The largest curl, with the fewest kinds of others; None if F is a gradient."""
        num_actions, num = self.paid.table.num_actions, self.paid.num_samples
        if num < 2 or num_actions < 3:
            return None  # a function of one sample, or of one number, is always a gradient
        rest_groups = multisets(num_actions, num - 2) if num > 2 else None
        rest_LA = np.zeros((1, num_actions)) if rest_groups is None else rest_groups.counts_SA
        corners = list(combinations(range(num_actions), 3))
        found_LT = np.stack([self._sum_around(rest_LA, *corner) for corner in corners], axis=1)
        if np.abs(found_LT).max() <= 12 * self.paid.rounding:
            return None
        row, column = np.unravel_index(np.abs(found_LT).argmax(), found_LT.shape)
        chosen = np.repeat(np.arange(num_actions), rest_LA[row].astype(int))
        return Curl(tuple(chosen.tolist()), corners[column], float(found_LT[row, column]))

    def _sum_around(self, rest_LA: np.ndarray, a: int, b: int, c: int) -> np.ndarray:
        unit = np.eye(self.paid.table.num_actions)
        credit_SA = self.paid.credit_SA

        def step(left: int, right: int) -> np.ndarray:
            row_L = places(self.paid.groups, rest_LA + unit[left] + unit[right])
            return credit_SA[row_L, right] - credit_SA[row_L, left]

        return step(a, b) + step(b, c) + step(c, a)


def contrast(given_MA: np.ndarray) -> np.ndarray:
    """Return the numbers minus their mean over the actions."""
    return given_MA - given_MA.mean(axis=1, keepdims=True)


def of_scores(paid: Paid, scores_S: np.ndarray) -> np.ndarray:
    """Return the contrasts of the objective that gives these scores to groups of N samples."""
    spread_SA = np.repeat(scores_S[:, None], paid.table.num_actions, axis=1)
    return contrast(beside_others(paid.groups, spread_SA))


def even_policies(num_actions: int) -> np.ndarray:
    """Return policies (P, A): even steps of two actions, otherwise evenly spread over all policies.

    Normalised exponentials of even points in a cube are even over the policies. The points are
    multiples of powers of 1/φ, φ^(A+1) = φ + 1, modulo 1: the same on every machine and in the lab.
    """
    if num_actions == 2:
        share = np.linspace(0.02, 0.98, BINARY_GRID)
        return np.column_stack([share, 1 - share])
    ratio = 1.0
    for _ in range(100):
        ratio = (1 + ratio) ** (1 / (num_actions + 1))
    powers_A = ratio ** -np.arange(1.0, num_actions + 1)
    weight_PA = -np.log((0.5 + np.arange(1, POLICIES + 1)[:, None] * powers_A) % 1)
    return weight_PA / weight_PA.sum(axis=1, keepdims=True)
