"""Which objective's gradient an estimator follows: by name and factor, or the nearest one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from setrl.audit.field import Field, of_scores
from setrl.audit.known import Known

LARGEST_DENOMINATOR = 64  # of a factor that is written as a fraction
CLOSE = 1e-5  # a distance below which a match is worth confirming
FLOOR = 1e-4  # what a small number that is added to a divisor may change


@dataclass(frozen=True, eq=False)
class Match:
    """A combination of objectives, and how far an estimator is from its gradient.

    Attributes:
        parts: The objectives.
        factors: What the gradient of each is multiplied by.
        off: ‖F − Σ factor·∇J‖ / ‖F‖, root mean squares over the policies of the grid; 0 if exact.
        is_exact: Whether F = Σ factor·∇J for every policy, up to rounding.
    """

    parts: tuple[Known, ...]
    factors: tuple[float, ...]
    off: float
    is_exact: bool

    @property
    def holds(self) -> bool:
        """Whether F = Σ factor·∇J, but for rounding and floors such as the 1e-6 beside a std."""
        return self.off <= FLOOR

    def __str__(self) -> str:
        terms = zip(self.factors, self.parts, strict=True)
        return " + ".join(f"{factor(number)}·∇{part.label}" for number, part in terms)


def factor(number: float) -> str:
    """Write a factor: as a fraction if it is one, otherwise with three digits.

    >>> factor(2.0), factor(4 / 3), factor(0.8660254)
    ('2', '4/3', '0.866')
    """
    near = Fraction(number).limit_denominator(LARGEST_DENOMINATOR)
    if near and abs(float(near) - number) <= 1e-6 * abs(number):
        return str(near)
    return f"{number:.3g}"


@dataclass(frozen=True, eq=False)
class Library:
    """The gradients of objectives, on the groups and policies of one audit.

    Attributes:
        field: The estimator's expected gradient.
        objectives: The objectives.
        scores_KS: The mean score of every group, for each of them.
    """

    field: Field
    objectives: Sequence[Known]
    scores_KS: np.ndarray

    @classmethod
    def of(cls, field: Field, objectives: Sequence[Known]) -> Library:
        """Score every group; leave out objectives that sets of this size do not have."""
        kept, rows = [], []
        for one in objectives:
            try:
                scores_S = one.scores(field.paid.table, field.paid.groups)
            except ValueError:
                continue
            if np.isfinite(scores_S).all() and np.ptp(scores_S) > 0:
                kept.append(one)
                rows.append(scores_S)
        return cls(field, kept, np.array(rows).reshape(len(rows), -1))

    def gradients(self) -> np.ndarray:
        """Return ∇J of each objective over the grid of policies, one row each."""
        each = [self.field.of_credit(scores_S[:, None]).ravel() for scores_S in self.scores_KS]
        return np.array(each)

    def nearest(self) -> Match | None:
        """Return the objective, or the sum of two, that F is exactly; else the nearest objective.

        None if the expected gradient is 0 for every policy.
        """
        target, gradients = self.field.values_PA.ravel(), self.gradients()
        if np.abs(self.field.contrast_MA).max() <= 4 * self.field.paid.rounding:
            return None
        lengths = np.linalg.norm(gradients, axis=1)
        cosine = gradients @ target / lengths / np.linalg.norm(target)
        best = int(np.argmax(np.round(np.abs(cosine), 9)))
        match = self._match((best,), target, gradients)
        if match.holds:
            return match
        return self._pair(target, gradients) or match

    def match(self, index: int) -> Match:
        """Return how far F is from the gradient of one objective."""
        return self._match((index,), self.field.values_PA.ravel(), self.gradients())

    def _pair(self, target: np.ndarray, gradients: np.ndarray) -> Match | None:
        """Return the first sum of two objectives whose gradient F is, if there is one."""
        unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
        along, cosines = unit @ target / np.linalg.norm(target), unit @ unit.T
        # R² of two regressors, from their correlations; parallel ones are no pair.
        apart = np.maximum(1 - cosines**2, 0)
        explained = along[:, None] ** 2 + along**2 - 2 * cosines * along[:, None] * along
        share = np.where(apart > 1e-6, explained / np.where(apart > 0, apart, 1), 0)
        for left, right in np.argwhere(np.triu(share, 1) > 1 - FLOOR**2):
            match = self._match((int(left), int(right)), target, gradients)
            if match.holds and min(match.factors) > 0:
                return match
        return None

    def _match(self, chosen: tuple[int, ...], target: np.ndarray, gradients: np.ndarray) -> Match:
        rows = gradients[list(chosen)]
        factors, *_ = np.linalg.lstsq(rows.T, target, rcond=None)
        off = float(np.linalg.norm(target - factors @ rows) / np.linalg.norm(target))
        parts = tuple(self.objectives[at] for at in chosen)
        exact = off < CLOSE and self._is_exact(chosen, factors)
        return Match(parts, tuple(factors.tolist()), 0.0 if exact else off, exact)

    def _is_exact(self, chosen: tuple[int, ...], factors: np.ndarray) -> bool:
        """Compare the advantages beside all N − 1 others, which decides it for every policy."""
        paid = self.field.paid
        wanted_MA = of_scores(paid, factors @ self.scores_KS[list(chosen)])
        return bool(
            np.abs(self.field.contrast_MA - wanted_MA).max()
            <= 100 * max(paid.tolerance, 1e-9) * paid.scale
        )
