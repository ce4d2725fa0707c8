"""Reward shaping: a sample's reward changed by what the prompt's other samples are.

The other samples are constants here, so no set is scored: these are the rivals of set objectives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from setrl.objectives.clusters import find_clusters
from setrl.samples import Samples


class Shaping(Protocol):
    """A change of the rewards of a prompt's samples."""

    reads: ClassVar[tuple[str, ...]]

    def __call__(self, samples: Samples) -> np.ndarray:
        """New rewards, (B, N)."""


@dataclass(frozen=True)
class DiversityBonus:
    """r + λ·d with dᵢ = (N / |cluster of i| − 1) / (N − 1): GRPO+DIV of arXiv:2604.17654.

    d is 1 for a strategy that no other sample uses and 0 for one that all use. A degenerate sample
    has d = 0. The paper's λ is not known.
    """

    weight: float

    reads: ClassVar[tuple[str, ...]] = ("rewards", "clusters")

    def __call__(self, samples: Samples) -> np.ndarray:
        """The rewards with the bonus."""
        n = samples.num_samples
        clusters = find_clusters(samples.clusters)
        rarity_C = (n / np.maximum(clusters.size_C, 1) - 1) / max(n - 1, 1)
        return samples.rewards + self.weight * clusters.of_own(rarity_C)
