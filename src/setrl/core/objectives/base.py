"""What a set objective is, what its exact form gives, and how objectives compose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from setrl.core.samples import Samples

if TYPE_CHECKING:
    from setrl.core.objectives.composition import Product, Sum


@dataclass(frozen=True)
class SetMeans:
    """Mean scores of the K-sets of each prompt's samples, sorted by whether they hold sample i.

    Attributes:
        with_BN: u, the mean over the sets that hold sample i.
        contrast_BN: u − v, computed so that it keeps its digits when all sets score alike.
        mean_B: U, the mean over all sets.
        gain: Computes u − w, where w is the mean over the (K−1)-sets that do not hold i; None where
            the objective knows no better way than the difference. Few baselines ask for it.
        variance_B: The variance of the score over all sets; None where it has no exact form.
    """

    with_BN: np.ndarray
    contrast_BN: np.ndarray
    mean_B: np.ndarray
    gain: Callable[[], np.ndarray] | None = None
    variance_B: np.ndarray | None = None

    @cached_property
    def gain_BN(self) -> np.ndarray | None:
        """u − w, computed when it is first asked for."""
        return None if self.gain is None else self.gain()

    @classmethod
    def around(
        cls,
        mean_B: np.ndarray,
        contrast_BN: np.ndarray,
        set_size: int,
        gain: Callable[[], np.ndarray] | None = None,
        variance_B: np.ndarray | None = None,
    ) -> SetMeans:
        """From U and u − v alone: u = U + (1 − K/N)(u − v); u = U at K = N, where v is not."""
        n = contrast_BN.shape[-1]
        if set_size < n:
            with_BN = mean_B[:, None] + (1 - set_size / n) * contrast_BN
        else:
            with_BN = np.repeat(mean_B[:, None], n, axis=1)
            contrast_BN = np.full(contrast_BN.shape, np.nan)
        return cls(with_BN, contrast_BN, mean_B, gain, variance_B)

    @classmethod
    def above(cls, mean_B: np.ndarray, extra_BN: np.ndarray, set_size: int) -> SetMeans:
        """From U and u − U: u − v = N/(N − K)·(u − U), NaN at K = N, where v is not."""
        n = extra_BN.shape[-1]
        outside = float(n - set_size) or np.nan
        return cls(mean_B[:, None] + extra_BN, extra_BN * (n / outside), mean_B)

    @property
    def without_BN(self) -> np.ndarray:
        """v, the mean over the sets that do not hold sample i; NaN at K = N, where none is."""
        return self.with_BN - self.contrast_BN


class Objective:
    """A set objective f: what K samples of a prompt are worth together.

    A subclass is a frozen dataclass. `__call__` is its definition, on one set or on many at once;
    it must be symmetric in the members. `set_means` is its exact form, where it has one; it must
    equal the mean of the definition over every set, and the tests enumerate them to see it.

    Objectives add, and multiply by numbers and by each other; what is made of exact ones is exact
    where a closed form is known.

    >>> from setrl import objectives
    >>> coverage = objectives.any_correct() + 0.1 * objectives.distinct()
    >>> coverage.reads
    ('rewards', 'clusters')
    """

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the fields that it looks at: "rewards", "clusters", "answers", …."""
        return ("rewards",)

    @property
    def set_size(self) -> int | None:
        """The one set size that it is made for; None where any will do."""
        return None

    def resolve_set_size(self, set_size: int | None) -> int:
        """The given set size, or the objective's own; they must not contradict each other."""
        if set_size is None and self.set_size is None:
            raise ValueError(f"set_size is needed: {self!r} scores sets of any size")
        if set_size is not None and self.set_size not in (None, set_size):
            raise ValueError(
                f"set_size must be {self.set_size}, for which {self!r} is made, got {set_size}"
            )
        return set_size if self.set_size is None else self.set_size  # type: ignore[return-value]

    def __call__(self, members: Samples) -> np.ndarray:
        """The scores of sets: fields of shape (…, K) → (…)."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a set is worth")

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Exact means over all sets of fields (B, N), without enumeration; None if unknown."""
        return None

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray | None:
        """U alone for each set size, (sizes, B); None where there is no faster way to it."""
        return None

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans | None:
        """Exact means of f(S) · (1/K) Σ_{i∈S} xᵢ for the values x; None if unknown."""
        return None

    def __add__(self, other: Objective) -> Sum:
        """(f + g)(S) = f(S) + g(S)."""
        from setrl.core.objectives import composition

        return composition.add(self, other)

    def __sub__(self, other: Objective) -> Sum:
        """(f − g)(S) = f(S) − g(S)."""
        return self + (-1.0) * other

    def __mul__(self, other: Objective | float) -> Sum | Product:
        """(f · g)(S) = f(S) · g(S), g an objective or a number."""
        from setrl.core.objectives import composition

        return composition.multiply(self, other)

    def __rmul__(self, other: float) -> Sum | Product:
        """A number times the objective."""
        return self * other

    def __neg__(self) -> Sum | Product:
        """−f."""
        return (-1.0) * self
