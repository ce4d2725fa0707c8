"""Adjustments: advantages changed by what the prompt's samples are, after the baseline and scale.

Each is Aᵢ ← factorᵢ·Aᵢ + termᵢ, so that standard errors are multiplied by |factor|. Shaping
(`setrl.core.shaping`) changes rewards *before* the baseline; what is here is not centred again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from setrl.samples.samples import Samples


class Adjustment(Protocol):
    """A change of the advantages of a prompt's samples."""

    reads: ClassVar[tuple[str, ...]]

    def __call__(
        self, values_BN: np.ndarray, samples: Samples
    ) -> tuple[np.ndarray | float, np.ndarray | float]:
        """Return what the advantages are multiplied by, and what is added; (B, N) or wider."""


@dataclass(frozen=True)
class Gate:
    """min(A, 0) for wrong samples: nothing wrong is ever pushed up.

    Biased: the update follows no objective of sets any more. What a wrong sample of a new strategy
    would have earned is lost, so that a prompt's advantages sum to less than 0.
    """

    reads: ClassVar[tuple[str, ...]] = ("correct",)

    def __call__(self, values_BN: np.ndarray, samples: Samples) -> tuple[np.ndarray, float]:
        """Factor 0 where a wrong sample has positive credit, else 1."""
        is_paid_wrongly = ~samples.right & (values_BN > 0)
        return np.where(is_paid_wrongly, 0.0, 1.0), 0.0


@dataclass(frozen=True)
class HardPrompts:
    """(1 − p̂)^γ · A with p̂ the share of the prompt's samples that are correct.

    F-GRPO (arXiv:2602.06717): prompts that are nearly solved count less.

    Attributes:
        gamma: How fast the weight falls; 0 changes nothing.
    """

    gamma: float

    reads: ClassVar[tuple[str, ...]] = ("correct",)

    def __call__(self, values_BN: np.ndarray, samples: Samples) -> tuple[np.ndarray, float]:
        """One factor a prompt, (B, 1)."""
        rate_B1 = samples.right.mean(axis=-1, keepdims=True)
        return (1 - rate_B1) ** self.gamma, 0.0


@dataclass(frozen=True)
class InverseStrategySize:
    """A / m with m the number of the prompt's samples that use the same strategy.

    UARL (arXiv:2601.08763). Degenerate samples use no strategy; together they count as one.
    """

    reads: ClassVar[tuple[str, ...]] = ("strategies",)

    def __call__(self, values_BN: np.ndarray, samples: Samples) -> tuple[np.ndarray, float]:
        """One over the size of each sample's strategy."""
        strategies = samples.strategies
        return 1 / (strategies[..., :, None] == strategies[..., None, :]).sum(axis=-1), 0.0


@dataclass(frozen=True)
class Uniformity:
    """Aᵢ + τ·(−log qᵢ − H(q)) for correct samples, q = softmax of the proxy over them.

    UCPO (arXiv:2605.00365), where the proxy is the mean log-probability of a sample's tokens:
    correct samples that are less likely than the others gain. Σᵢ qᵢ·termᵢ = 0.

    Attributes:
        tau: The weight τ.
    """

    tau: float = 0.1

    reads: ClassVar[tuple[str, ...]] = ("correct", "proxy")

    def __call__(self, values_BN: np.ndarray, samples: Samples) -> tuple[float, np.ndarray]:
        """Return the term; 0 for wrong samples."""
        correct_BN = samples.right
        score_BN = np.where(correct_BN, samples.proxy, -np.inf)
        top_B1 = np.max(score_BN, axis=-1, keepdims=True, initial=-np.inf)
        excess_BN = np.where(correct_BN, samples.proxy - np.where(top_B1 > -np.inf, top_B1, 0), 0)
        weight_BN = np.where(correct_BN, np.exp(excess_BN), 0.0)
        total_B1 = np.maximum(weight_BN.sum(axis=-1, keepdims=True), 1.0)
        surprise_BN = np.where(correct_BN, np.log(total_B1) - excess_BN, 0.0)
        entropy_B1 = (weight_BN / total_B1 * surprise_BN).sum(axis=-1, keepdims=True)
        return 1.0, self.tau * np.where(correct_BN, surprise_BN - entropy_B1, 0.0)
