"""Baselines: what a sample's sets are compared with.

u, v, U, w are the mean scores of the K-sets with sample i, of those without it, of all K-sets, and
of the (K−1)-sets without it (0 for K = 1: the empty set is worth nothing). Σᵢ ∇log π(yᵢ)·Aᵢ is,
in expectation, N/K times the gradient of E f for every baseline here but `all_sets`, (N−K)/K times
it for `all_sets`, and N/K times the gradient of a sum over set sizes for `shapley`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setrl.core.credit.estimators import Credit
from setrl.support import names


class Baseline(ABC):
    """One way to turn set means into advantages."""

    needs_contrast = True  # u − v enters: a prompt needs more samples than a set holds
    needs_gain = False  # u − w enters: the (K−1)-sets are scored too
    averages_sizes = False  # the mean of u − w over sets of 1 to K enters, not only over K-sets

    @abstractmethod
    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """Return the advantages, (B, N)."""

    def stderr(self, credit: Credit) -> np.ndarray | None:
        """Their standard errors, (B, N); None where every set counted, or none is known.

        None is known of u − w, whose two means come from two samplings.
        """
        return None


@dataclass(frozen=True)
class AllSets(Baseline):
    """A = u − U = (1 − K/N)(u − v): Set RL's Algorithm 1 in mean form, Poly-EPO; sums to 0."""

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """u − U, from u − v so that it keeps its digits."""
        return credit.means.contrast_BN * (1 - credit.share_N)

    def stderr(self, credit: Credit) -> np.ndarray | None:
        """Return the standard error of u − v, scaled in the same way."""
        stderr_BN = credit.stderr_contrast_BN
        return None if stderr_BN is None else stderr_BN * (1 - credit.share_N)


@dataclass(frozen=True)
class LeaveOneOut(Baseline):
    """A = u − v: MaxPO (arXiv:2606.06080), OrderGrad; RLOO for K = 1. Sums to 0."""

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """u − v."""
        return credit.means.contrast_BN

    def stderr(self, credit: Credit) -> np.ndarray | None:
        """Return the standard error of u − v."""
        return credit.stderr_contrast_BN


@dataclass(frozen=True)
class OthersMean(Baseline):
    """A = u − v·N/(N − 1): N/K times PKPO's s_loo (arXiv:2505.15201), not centred.

    The baseline is the mean over the other samples of their own s, computed without this sample.
    """

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """(u − v) − v / (N − 1)."""
        contrast_BN = credit.means.contrast_BN
        without_BN = credit.means.with_BN - contrast_BN
        return contrast_BN - without_BN / (contrast_BN.shape[-1] - 1)


@dataclass(frozen=True)
class SmallerSets(Baseline):
    """A = u − w: expected improvement, N/K times PKPO's s_loo−1 (arXiv:2505.15201, Eq. 33)."""

    needs_contrast = False
    needs_gain = True

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """u − w."""
        assert gain_BN is not None
        return gain_BN


@dataclass(frozen=True)
class NoBaseline(Baseline):
    """A = u: N/K times PKPO's s; of very high variance wherever rewards are not centred at 0."""

    needs_contrast = False

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """u."""
        return credit.means.with_BN

    def stderr(self, credit: Credit) -> np.ndarray | None:
        """Return the standard error of u."""
        return credit.stderr_with_BN


@dataclass(frozen=True)
class Mixture(Baseline):
    """A = u − c·v − (1−c)·w: as unbiased as its ends for every c that is fixed beforehand.

    Attributes:
        c: Weight of the sets of the same size; 1 is `leave_one_out`, 0 is `smaller_sets`.
    """

    c: float = 0.5

    needs_gain = True

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """c(u − v) + (1−c)(u − w)."""
        assert gain_BN is not None
        return self.c * credit.means.contrast_BN + (1 - self.c) * gain_BN


@dataclass(frozen=True)
class Shapley(Baseline):
    """A = (1/K) Σ_{k ≤ K} (u − w of the k-sets): what i adds to sets of every size up to K.

    It is i's Shapley value in a K-set, averaged over the K-sets that hold i; at K = N it is
    the value in the whole group. Σᵢ Aᵢ = (N/K)·U. The objective is another one: the mean update is
    N/K times the gradient of Σ_{k ≤ K} E f_k / k, where f_k scores sets of k.
    """

    needs_contrast = False
    needs_gain = True
    averages_sizes = True

    def __call__(self, credit: Credit, gain_BN: np.ndarray | None) -> np.ndarray:
        """Return the mean of u − w over the sizes."""
        assert gain_BN is not None
        return gain_BN


BY_PROMPT = (AllSets, LeaveOneOut, OthersMean, SmallerSets, NoBaseline, Mixture, Shapley)
"""Baselines that take nothing from the other prompts."""


def resolve(baseline: str | Baseline) -> Baseline:
    """Return the baseline of that name; a value is itself."""
    if isinstance(baseline, Baseline):
        return baseline
    return names.look_up("baseline", baseline, by_name)()


by_name: dict[str, Callable[[], Baseline]] = {
    "all_sets": AllSets,
    "leave_one_out": LeaveOneOut,
    "others_mean": OthersMean,
    "smaller_sets": SmallerSets,
    "shapley": Shapley,
    "none": NoBaseline,
}
