"""One objective over sets of several sizes at once: Example 2.7 of the Set RL note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from setrl.core.inputs import check_set_size
from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import one_if_any_outside
from setrl.samples.samples import Samples


@dataclass(frozen=True, repr=False)
class OverSizes(Objective):
    """f(S) = Σ_c weight_c · (mean of g over the subsets of S with n_c members).

    It is an ordinary objective of sets of K = max n_c, whose expectation is Σ_c weight_c·E g of n_c
    samples, so that everything that holds for one size holds for it. Its advantages are

        u − v = Σ_c weight_c · (n_c/K) · (u − v of g for sets of n_c),

    and u − w in the same way, where each size is compared with sets of one member less.

    The note weighs each size's sum over sets by 1/C(N, n_c), which gives Σ_c (1 − n_c/N) times each
    gradient instead of the sum of the gradients.

    Attributes:
        objective: g.
        weights: {n_c: weight_c}, for sizes of at least 1.

    >>> from setrl import objectives
    >>> pass_at_1_and_8 = objectives.over_sizes(objectives.any_correct(), {1: 0.5, 8: 0.5})
    >>> pass_at_1_and_8.set_size
    8
    """

    objective: Objective
    weights: Mapping[int, float]

    def __post_init__(self) -> None:
        if not self.weights or not isinstance(self.weights, Mapping):
            raise ValueError(
                "over_sizes needs a weight for each size, such as {1: 0.5, 4: 0.5}, got "
                f"{self.weights!r}"
            )
        object.__setattr__(self, "weights", dict(self.weights))
        for size in self.weights:
            check_set_size(size)
        if not np.isfinite(list(self.weights.values())).all():
            raise ValueError(f"the weights of over_sizes must be finite, got {self.weights}")
        only = self.objective.set_size
        if only is not None and set(self.weights) != {only}:
            raise ValueError(f"{self.objective!r} is made for sets of {only}, got {self.weights}")

    def __hash__(self) -> int:
        return hash((self.objective, *self.weights.items()))

    @property
    def reads(self) -> tuple[str, ...]:
        """What the objective reads."""
        return self.objective.reads

    @property
    def set_size(self) -> int:
        """The largest of the sizes."""
        return max(self.weights)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the weighted sum over the subsets of each set."""
        self._check_set_size(members.num_samples)
        scores = [
            weight
            * self.objective(members.sets(_all_subsets(members.num_samples, size))).mean(axis=-1)
            for size, weight in self.weights.items()
        ]
        return np.sum(scores, axis=0)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the weighted sum over the sizes: a subset of n_c members holds i with n_c/K."""
        self._check_set_size(set_size)
        parts, terms = [], []
        for size, weight in self.weights.items():
            means = self.objective.set_means(samples, size)
            if means is None:
                return None
            share, contrast_BN = size / set_size, means.contrast_BN
            lacking_BN = (1 - share) * contrast_BN if size < set_size else 0.0
            part = (means.with_BN - lacking_BN, share * contrast_BN, means.mean_B[:, None])
            parts.append([weight * values for values in part])
            terms.append((size, weight * share, means))
        with_BN, contrast_BN, mean_B1 = (sum(part) for part in zip(*parts, strict=True))
        contrast_BN *= one_if_any_outside(samples.num_samples, set_size)

        def gain() -> np.ndarray:
            parts = (
                w * _gain_of_size(self.objective, samples, size, means) for size, w, means in terms
            )
            return np.sum(list(parts), axis=0)

        size_B = sum((abs(w) * means.scale_B for _, w, means in terms), np.zeros(()))
        return SetMeans(with_BN, contrast_BN, mean_B1[:, 0], gain, size_B=size_B)

    def _check_set_size(self, set_size: int) -> None:
        if set_size < self.set_size:
            raise ValueError(f"{self!r} scores sets of {self.set_size} or more, got {set_size}")


def _gain_of_size(objective: Objective, samples: Samples, size: int, means: SetMeans) -> np.ndarray:
    """u − w of sets of one size; the empty set is worth nothing. NaN where w has no closed form."""
    if size == 1:
        return means.with_BN
    if means.gain_BN is not None:
        return means.gain_BN
    smaller = objective.set_means(samples, size - 1)
    return means.with_BN - (np.nan if smaller is None else smaller.without_BN)


def _all_subsets(num_members: int, size: int) -> np.ndarray:
    return np.array(list(combinations(range(num_members), size)), dtype=np.intp)
