"""What a set objective is, what its exact form gives, and how objectives add and multiply.

`Sum` and `Product` are in the same file as `Objective`, whose operators make them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from setrl.samples.samples import Samples

LAST_DIGITS = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class SetMeans:
    """Mean scores of the K-sets of each prompt's samples, sorted by whether they hold sample i.

    Attributes:
        with_BN: u, the mean over the sets that hold sample i.
        contrast_BN: u − v, computed so that it keeps its digits when all sets have the same score.
        mean_B: U, the mean over all sets.
        gain: Computes u − w, where w is the mean over the (K−1)-sets that do not hold i; None where
            the objective knows no better way than the difference. Few baselines ask for it.
        variance: Computes the variance of the score over all sets; None where it has no exact form.
        size_B: How large the numbers are that u − v was added up from; None where nothing cancels.
            Rounding errors are a few ε times it, however small u − v itself is.
    """

    with_BN: np.ndarray
    contrast_BN: np.ndarray
    mean_B: np.ndarray
    gain: Callable[[], np.ndarray] | None = None
    variance: Callable[[], np.ndarray] | None = None
    size_B: np.ndarray | None = None

    @cached_property
    def gain_BN(self) -> np.ndarray | None:
        """u − w, computed at its first use."""
        return None if self.gain is None else self.gain()

    @cached_property
    def variance_B(self) -> np.ndarray | None:
        """The variance of the score over all sets, computed at its first use."""
        return None if self.variance is None else self.variance()

    @classmethod
    def around(
        cls,
        mean_B: np.ndarray,
        contrast_BN: np.ndarray,
        set_size: int,
        gain: Callable[[], np.ndarray] | None = None,
        variance: Callable[[], np.ndarray] | None = None,
        size_B: np.ndarray | None = None,
    ) -> SetMeans:
        """From U and u − v alone: u = U + (1 − K/N)(u − v); u = U at K = N, where v is not."""
        n = contrast_BN.shape[-1]
        if set_size < n:
            with_BN = _add_to_mean(mean_B, (1 - set_size / n) * contrast_BN)
        else:
            with_BN = np.repeat(mean_B[:, None], n, axis=1)
            contrast_BN = np.full(contrast_BN.shape, np.nan)
        return cls(with_BN, contrast_BN, mean_B, gain, variance, size_B)

    @classmethod
    def above(cls, mean_B: np.ndarray, extra_BN: np.ndarray, set_size: int) -> SetMeans:
        """From U and u − U: u − v = N/(N − K)·(u − U), NaN at K = N, where v is not."""
        n = extra_BN.shape[-1]
        outside = float(n - set_size) or np.nan
        return cls(_add_to_mean(mean_B, extra_BN), extra_BN * (n / outside), mean_B)

    @property
    def scale_B(self) -> np.ndarray:
        """`size_B`, or the largest |u − v| where nothing cancels."""
        return np.abs(self.contrast_BN).max(axis=-1) if self.size_B is None else self.size_B

    @property
    def without_BN(self) -> np.ndarray:
        """v, the mean over the sets that do not hold sample i; NaN at K = N, where none is."""
        return self.with_BN - self.contrast_BN


def _add_to_mean(mean_B: np.ndarray, extra_BN: np.ndarray) -> np.ndarray:
    """U + (u − U), exactly 0 where what is left is a rounding error of U."""
    with_BN = mean_B[:, None] + extra_BN
    return np.where(np.abs(with_BN) <= LAST_DIGITS * np.abs(mean_B)[:, None], 0.0, with_BN)


class Objective(ABC):
    """A set objective f: what K samples of a prompt are worth together.

    A subclass is a frozen dataclass. `__call__` is its definition, on one set or on many at once;
    it must be symmetric in the members. `set_means` is its exact form, where it has one; it must
    equal the mean of the definition over every set, which the tests check by enumeration.

    Objectives add, and multiply by numbers and by each other; what is made of exact ones is exact
    where a closed form is known.

    >>> from setrl import objectives
    >>> coverage = objectives.any_correct() + 0.1 * objectives.distinct()
    >>> coverage.reads
    ('correct', 'strategies')
    """

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the fields that it reads: "rewards", "strategies", "answers", …."""
        return ("rewards",)

    @property
    def set_size(self) -> int | None:
        """The one set size that it is made for; None where any will do."""
        return None

    @property
    def is_light(self) -> bool:
        """Whether it has a closed form that only passes over a prompt's samples a few times."""
        return False

    def resolve_set_size(self, set_size: int | None) -> int:
        """Return the given set size, or the objective's own; the two must agree."""
        if set_size is None and self.set_size is None:
            raise ValueError(f"set_size is needed: {self!r} scores sets of any size")
        if set_size is not None and self.set_size not in (None, set_size):
            raise ValueError(
                f"set_size must be {self.set_size}, for which {self!r} is made, got {set_size}"
            )
        return set_size if self.set_size is None else self.set_size  # type: ignore[return-value]

    @abstractmethod
    def __call__(self, members: Samples) -> np.ndarray:
        """Return the scores of sets: fields of shape (…, K) → (…)."""

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Exact means over all sets of fields (B, N), without enumeration; None if unknown."""
        return None

    def has_closed_form(self, samples: Samples, set_size: int) -> np.ndarray | bool:
        """Return whether `set_means` may be asked: for each prompt, (B,) bool, or once for all."""
        return True

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray | None:
        """Return only U, for each set size, (sizes, B); None where there is no faster way to it."""
        return None

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans | None:
        """Exact means of f(S) · (1/K) Σ_{i∈S} xᵢ for the values x; None if unknown."""
        return None

    def member_values(self, samples: Samples) -> np.ndarray | None:
        """Return x (B, N), where f(S) = (1/K) Σ_{i∈S} xᵢ; None if f is not such a mean."""
        return None

    def __repr__(self) -> str:
        """Return the code that makes it: `polychromic(diversity=distinct_share())`."""
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"

    def __add__(self, other: Objective) -> Sum:
        """(f + g)(S) = f(S) + g(S), as one flat sum."""
        if not isinstance(other, Objective):
            return NotImplemented
        left, right = _to_sum(self), _to_sum(other)
        return Sum(left.terms + right.terms, left.weights + right.weights)

    def __sub__(self, other: Objective) -> Sum:
        """(f − g)(S) = f(S) − g(S)."""
        return self + (-1.0) * other

    def __mul__(self, other: Objective | float) -> Sum | Product:
        """(f · g)(S) = f(S) · g(S), where g is an objective or a number.

        Numbers and sums are multiplied out, so that products with an exact form are found.
        """
        left = _to_sum(self)
        if isinstance(other, Real):
            return Sum(left.terms, tuple(weight * float(other) for weight in left.weights))
        if not isinstance(other, Objective):
            return NotImplemented
        if not isinstance(self, Sum) and not isinstance(other, Sum):
            return Product(self, other)
        right = _to_sum(other)
        products = tuple(Product(a, b) for a in left.terms for b in right.terms)
        return Sum(products, tuple(a * b for a in left.weights for b in right.weights))

    def __rmul__(self, other: float) -> Sum | Product:
        """Return a number times the objective."""
        return self * other

    def __neg__(self) -> Sum | Product:
        """−f."""
        return (-1.0) * self


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        weighted = zip(self.weights, self.terms, strict=True)
        return " + ".join(f"{w:g} * {term!r}" if w != 1 else repr(term) for w, term in weighted)

    @property
    def reads(self) -> tuple[str, ...]:
        """What any term reads."""
        return all_reads(*self.terms)

    @property
    def set_size(self) -> int | None:
        """The set size of the terms which have one."""
        return common_set_size(self.terms)

    @property
    def is_light(self) -> bool:
        """Whether every term is."""
        return all(term.is_light for term in self.terms)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the weighted sum of the terms' scores."""
        scores = (w * term(members) for w, term in zip(self.weights, self.terms, strict=True))
        return np.asarray(sum(scores))

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the weighted sums of the terms' means."""
        means = [term.set_means(samples, set_size) for term in self.terms]
        return weighted_means(self.weights, means)

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans | None:
        """Each term times the mean of the values."""
        means = [term.times_mean(values_BN, samples, set_size) for term in self.terms]
        return weighted_means(self.weights, means)


def weighted_means(weights: Sequence[float], means: Sequence[SetMeans | None]) -> SetMeans | None:
    """Return the means of Σ_t weight_t · f_t, field by field; None where one is not known.

    The variance of a sum is known of one term only.
    """
    terms = [term for term in means if term is not None]
    if len(terms) < len(means):
        return None

    def total(name: str) -> np.ndarray:
        return sum(w * getattr(term, name) for w, term in zip(weights, terms, strict=True))

    variance = terms[0].variance if len(terms) == 1 else None
    return SetMeans(
        with_BN=total("with_BN"),
        contrast_BN=total("contrast_BN"),
        mean_B=total("mean_B"),
        gain=(lambda: total("gain_BN")) if all(term.gain for term in terms) else None,
        variance=None if variance is None else lambda: weights[0] ** 2 * variance(),
        size_B=sum(
            (abs(w) * term.scale_B for w, term in zip(weights, terms, strict=True)),
            np.zeros(()),
        ),
    )


@dataclass(frozen=True, repr=False)
class Product(Objective):
    """f(S) = left(S) · right(S).

    Exact where one factor is a mean and the other knows its means times another: two means, mean
    reward × distinct strategies, mean reward × mean pairwise distance …
    """

    left: Objective
    right: Objective

    def __post_init__(self) -> None:
        common_set_size((self.left, self.right))

    def __repr__(self) -> str:
        return f"{self.left!r} * {self.right!r}"

    @property
    def reads(self) -> tuple[str, ...]:
        """What either factor reads."""
        return all_reads(self.left, self.right)

    @property
    def set_size(self) -> int | None:
        """The set size of the factor which has one."""
        return common_set_size((self.left, self.right))

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the product of the factors' scores."""
        return self.left(members) * self.right(members)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the exact form that a factor knows for itself times a mean."""
        for mean, other in ((self.left, self.right), (self.right, self.left)):
            values_BN = mean.member_values(samples)
            if values_BN is not None:
                means = other.times_mean(values_BN, samples, set_size)
                if means is not None:
                    return means
        return None


def product(left: Objective, right: Objective) -> Sum | Product:
    """left(S) · right(S), as `left * right`; exact where a closed form is known."""
    return left * right


def _to_sum(objective: Objective) -> Sum:
    return objective if isinstance(objective, Sum) else Sum((objective,), (1.0,))


def finite(objective: Objective, scores: np.ndarray) -> np.ndarray:
    """Return the scores, or refuse them by the objective's name if one is NaN or infinite."""
    if not np.isfinite(scores).all():
        raise ValueError(
            f"an objective must give finite scores, and {1 - np.isfinite(scores).mean():.0%} of "
            f"its scores are NaN or infinite: {objective!r}"
        )
    return scores


def all_reads(*readers: Any) -> tuple[str, ...]:
    """Return the fields that objectives or shapings read, each once."""
    return tuple(dict.fromkeys(name for reader in readers for name in reader.reads))


def common_set_size(objectives: tuple[Objective, ...]) -> int | None:
    """Return the set size of the objectives that have one; they must agree."""
    sizes = sorted({part.set_size for part in objectives if part.set_size is not None})
    if len(sizes) > 1:
        raise ValueError(f"objectives made for sets of {sizes[0]} and of {sizes[1]} do not compose")
    return sizes[0] if sizes else None
