"""The polychromic objective of Poly-EPO: mean reward × diversity of the strategies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.diversity import DistinctShare
from setrl.core.samples import Samples


@dataclass(frozen=True, repr=False)
class Polychromic(Objective):
    """f(S) = (1/K) Σ_{i∈S} rᵢ · diversity(S).

    Degenerate samples add no strategy; their reward counts. arXiv:2604.17654, Eq. 10 and 11; with
    the default diversity in the form of its code: a set with one strategy is worth mean reward / K
    (`MixedShare`, of the paper's Algorithm 2, makes it 0).

    Attributes:
        diversity: An objective from 0 to 1. Exact for all of `setrl.core.objectives.diversity` in
            O(N + C), and for `pairwise_distance` in O(N²).
    """

    diversity: Objective = field(default_factory=DistinctShare)

    def __post_init__(self) -> None:
        if not isinstance(self.diversity, Objective):
            raise ValueError(
                "diversity must be a value such as objectives.mixed_share(), "
                f"got {self.diversity!r}"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The rewards, and what the diversity reads."""
        return tuple(dict.fromkeys(("rewards", *self.diversity.reads)))

    @property
    def set_size(self) -> int | None:
        """That of the diversity."""
        return self.diversity.set_size

    def __call__(self, members: Samples) -> np.ndarray:
        """The polychromic score of each set."""
        return members.rewards.mean(axis=-1) * self.diversity(members)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """What the diversity knows of itself times a mean."""
        return self.diversity.times_mean(samples.rewards, samples, set_size)
