"""A mixture of baselines whose weight is fitted on the other prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setrl.core.credit.estimators import Credit


@dataclass(frozen=True)
class FittedMixture:
    """A = u − c·v − (1−c)·w, with the c of each prompt that makes the others' ΣA² smallest.

    It stays unbiased, for c does not depend on the prompt's own samples; whether it has the least
    variance depends on the policy: Σ A² stands for the variance of Σ ∇log π(yᵢ)·Aᵢ. c is kept in
    [0, 1]. A prompt alone (with its number of samples) gets `start`.

    Attributes:
        start: The c of a prompt that has no others to learn from.
    """

    start: float = 0.5

    needs_contrast: ClassVar[bool] = True
    needs_gain: ClassVar[bool] = True

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """c(u − v) + (1−c)(u − w)."""
        assert gain_BN is not None
        contrast_BN = credit.means.contrast_BN
        return gain_BN + self.weights(contrast_BN, gain_BN)[:, None] * (contrast_BN - gain_BN)

    def weights(self, contrast_BN: np.ndarray, gain_BN: np.ndarray) -> np.ndarray:
        """c of each prompt: Σ g(g − x) / Σ (g − x)² over the others, x = u − v and g = u − w."""
        gap_BN = np.nan_to_num(gain_BN - contrast_BN)
        slope_B = (np.nan_to_num(gain_BN) * gap_BN).sum(axis=-1)
        curve_B = (gap_BN**2).sum(axis=-1)
        slope_B, curve_B = slope_B.sum() - slope_B, curve_B.sum() - curve_B
        known_B = curve_B > 0
        return np.where(known_B, np.clip(slope_B / np.where(known_B, curve_B, 1), 0, 1), self.start)

    def stderr(self, credit: Credit) -> np.ndarray | None:
        """Not known: u and w come from two draws."""
        return None
