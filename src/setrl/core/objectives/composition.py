"""Objectives made of objectives: weighted sums, and products."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.rewards import Mean
from setrl.core.samples import Samples


@dataclass(frozen=True)
class Sum(Objective):
    """f(S) = Σ_t weight_t · f_t(S). Exact where every term is.

    Attributes:
        terms: The objectives.
        weights: One number for each.
    """

    terms: tuple[Objective, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.terms) != len(self.weights) or not self.terms:
            raise ValueError(
                f"a sum needs a weight for each term, got {len(self.terms)} terms and "
                f"{len(self.weights)} weights"
            )
        if not np.isfinite(self.weights).all():
            raise ValueError(f"the weights of a sum must be finite, got {self.weights}")
        common_set_size(self.terms)

    @property
    def reads(self) -> tuple[str, ...]:
        """What any term reads."""
        return all_reads(self.terms)

    @property
    def set_size(self) -> int | None:
        """That of the terms which have one."""
        return common_set_size(self.terms)

    def __call__(self, members: Samples) -> np.ndarray:
        """The weighted sum of the terms' scores."""
        scores = (w * term(members) for w, term in zip(self.weights, self.terms, strict=True))
        return np.asarray(sum(scores))

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """The weighted sums of the terms' means."""
        return self._sum([term.set_means(samples, set_size) for term in self.terms])

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans | None:
        """Each term times the mean of the values."""
        return self._sum([term.times_mean(values_BN, samples, set_size) for term in self.terms])

    def _sum(self, means: list[SetMeans | None]) -> SetMeans | None:
        """The weighted sum, field by field; the variance of a sum is known of one term only."""
        known = [term for term in means if term is not None]
        if len(known) < len(means):
            return None

        def total(name: str) -> np.ndarray:
            return sum(w * getattr(term, name) for w, term in zip(self.weights, known, strict=True))

        variance_B = known[0].variance_B if len(known) == 1 else None
        return SetMeans(
            with_BN=total("with_BN"),
            contrast_BN=total("contrast_BN"),
            mean_B=total("mean_B"),
            gain=(lambda: total("gain_BN")) if all(term.gain for term in known) else None,
            variance_B=None if variance_B is None else self.weights[0] ** 2 * variance_B,
        )


@dataclass(frozen=True)
class Product(Objective):
    """f(S) = left(S) · right(S).

    Exact where one factor is a mean and the other knows its means times another: two means, mean
    reward × distinct clusters, mean reward × mean pairwise distance …
    """

    left: Objective
    right: Objective

    def __post_init__(self) -> None:
        common_set_size((self.left, self.right))

    @property
    def reads(self) -> tuple[str, ...]:
        """What either factor reads."""
        return all_reads((self.left, self.right))

    @property
    def set_size(self) -> int | None:
        """That of the factor which has one."""
        return common_set_size((self.left, self.right))

    def __call__(self, members: Samples) -> np.ndarray:
        """The product of the factors' scores."""
        return self.left(members) * self.right(members)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """The exact form that a factor knows for itself times a mean."""
        for mean, other in ((self.left, self.right), (self.right, self.left)):
            if isinstance(mean, Mean):
                means = other.times_mean(mean.values(samples), samples, set_size)
                if means is not None:
                    return means
        return None


def add(left: Objective, right: Objective) -> Sum:
    """left + right, as one flat sum."""
    if not isinstance(right, Objective):
        return NotImplemented
    parts = [_as_sum(left), _as_sum(right)]
    terms = tuple(term for part in parts for term in part.terms)
    return Sum(terms, tuple(weight for part in parts for weight in part.weights))


def multiply(left: Objective, right: Objective | float) -> Sum | Product:
    """left · right; numbers and sums are multiplied out, so that exact products are found."""
    if isinstance(right, Real):
        scaled = _as_sum(left)
        return Sum(scaled.terms, tuple(weight * float(right) for weight in scaled.weights))
    if not isinstance(right, Objective):
        return NotImplemented
    if not isinstance(left, Sum) and not isinstance(right, Sum):
        return Product(left, right)
    first, second = _as_sum(left), _as_sum(right)
    pairs = [(a, b) for a in first.terms for b in second.terms]
    weights = tuple(a * b for a in first.weights for b in second.weights)
    return Sum(tuple(Product(a, b) for a, b in pairs), weights)


def _as_sum(objective: Objective) -> Sum:
    return objective if isinstance(objective, Sum) else Sum((objective,), (1.0,))


def all_reads(objectives: tuple[Objective, ...]) -> tuple[str, ...]:
    """The fields that any of the objectives reads, each once."""
    return tuple(dict.fromkeys(name for part in objectives for name in part.reads))


def common_set_size(objectives: tuple[Objective, ...]) -> int | None:
    """The set size of those that have one; they must agree."""
    sizes = sorted({part.set_size for part in objectives if part.set_size is not None})
    if len(sizes) > 1:
        raise ValueError(f"objectives made for sets of {sizes[0]} and of {sizes[1]} do not compose")
    return sizes[0] if sizes else None
