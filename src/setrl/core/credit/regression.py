"""Advantages from few sets by regression: set scores on who is in the set."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from setrl.core.credit.estimators import Credit, DrawnSets, membership, score_sets
from setrl.core.credit.rounding import centred
from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.sums import by_member, mean, product, total
from setrl.samples.samples import Samples

RANK = 1e-10  # eigenvalues below this share of the largest one are 0 of rank-deficient designs


@dataclass(frozen=True)
class Regression(DrawnSets):
    """Scores of `num_sets` drawn sets are regressed on membership, by ridge, and rescaled.

    With X (S, N) whether set s holds sample i, its columns centred, and f the set scores,

        u − v = c·M f,   M = (XᵀX + λI)⁻¹Xᵀ,   c = N / tr(MX),   λ = ridge·K(1 − K/N).

    For any M that does not depend on the scores, E[Σᵢ ∇log π(yᵢ)·(Mf)ᵢ] = tr(MX)/K·∇J: each set
    gives each of its members 1/K of the gradient. So c makes it as unbiased as `Sampled`, for every
    ridge, with the same scale; and of all sets, M f is (N−1)/N·(u − v) at ridge 0.

    The difference between two means of `Sampled` contains the effects of the other members of the
    drawn sets as noise; the regression attributes those effects to these members. It pays off where
    single members explain much of the score, and with more sets than samples; for nearly saturated
    scores it gains little.

    Attributes:
        num_sets: S, at least 2.
        ridge: What pairs and larger groups explain of the score, as a ratio to what single members
            do; 0 is least squares.
    """

    ridge: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.ridge < np.inf:
            raise ValueError(f"Regression(ridge=...) must be in [0, ∞), got {self.ridge}")

    def from_sets(self, objective: Objective, samples: Samples, sets_SK: np.ndarray) -> Credit:
        """Return the regression's means, with standard errors."""
        n, set_size = samples.num_samples, sets_SK.shape[1]
        total = comb(n, set_size)
        scores_BS = score_sets(objective, samples, sets_SK)
        above = 1 - set_size / n
        fit = _fit_regression(scores_BS, sets_SK, n, self.ridge * set_size * above)
        missing = 1 - self.num_sets / total
        mean_B, variance_B = mean(scores_BS), mean(centred(scores_BS) ** 2)
        stderr_BN = fit.stderr_BN * np.sqrt(missing)
        mean_variance_B1 = (variance_B * missing / (self.num_sets - 1))[:, None]
        return Credit(
            means=SetMeans(
                with_BN=mean_B[:, None] + above * fit.contrast_BN,
                contrast_BN=fit.contrast_BN,
                mean_B=mean_B,
                variance=lambda: variance_B,
            ),
            num_sets=float(self.num_sets),
            share_N=np.full(n, set_size / n),
            used=f"regression ({self.num_sets:,} of {total:,} sets)",
            stderr_with_BN=np.sqrt((above * stderr_BN) ** 2 + mean_variance_B1),
            stderr_contrast_BN=stderr_BN,
        )


@dataclass(frozen=True)
class _Fit:
    contrast_BN: np.ndarray
    stderr_BN: np.ndarray


def _fit_regression(
    scores_BS: np.ndarray, sets_SK: np.ndarray, num_samples: int, penalty: float
) -> _Fit:
    """Return the rescaled coefficients, with standard errors from leave-one-out residuals.

    se² = c²·Σₛ Mᵢₛ²·(eₛ / (1 − hₛ))², h the leverages: within a tenth above the true error for the
    default ridge, measured for 50 to 500 sets of 8 out of 32 and 64.
    """
    design = _Design(sets_SK, num_samples, penalty)
    centred_BS = centred(scores_BS)
    fitted_BN = product(by_member(centred_BS, sets_SK, num_samples), design.inverse_NN)
    residual_BS = centred_BS - design.predict(fitted_BN)
    # A set's own residual is too small, for the fit follows it: 1 − h tells by how much, with 1/S
    # for the mean that was subtracted. Where nothing is left, the error is not known.
    left_S = 1 - design.leverage_S - 1 / len(sets_SK)
    residual_BS = residual_BS / np.where(left_S > 1e-9, left_S, np.nan)
    # The trace is what the ridge leaves of the N columns; dividing by it undoes the shrinkage.
    scale = num_samples / design.leverage_S.sum()
    return _Fit(
        contrast_BN=scale * fitted_BN,
        stderr_BN=scale * np.sqrt(product(residual_BS**2, design.smoother_NS**2)),
    )


class _Design:
    """What the regression knows of the sets before they are scored.

    Attributes:
        inverse_NN: (XᵀX + λI)⁻¹.
        smoother_NS: M.
        leverage_S: The diagonal of XM.
    """

    def __init__(self, sets_SK: np.ndarray, num_samples: int, penalty: float) -> None:
        self.sets_SK = sets_SK
        member_SN = membership(sets_SK, num_samples)
        self.share_N = member_SN.mean(axis=0)
        # Counts have no rounding errors, in whatever order they are added up.
        gram_NN = member_SN.T @ member_SN - len(sets_SK) * np.outer(self.share_N, self.share_N)
        if penalty:
            self.inverse_NN = np.linalg.inv(gram_NN + penalty * np.eye(num_samples))
        else:
            self.inverse_NN = np.linalg.pinv(gram_NN, rcond=RANK, hermitian=True)
        self.smoother_NS = self.predict(self.inverse_NN)
        of_member_SK = np.take_along_axis(self.smoother_NS.T, sets_SK, axis=1)
        self.leverage_S = total(of_member_SK) - total(self.smoother_NS.T * self.share_N)

    def predict(self, values_BN: np.ndarray) -> np.ndarray:
        """Return Σ over the members of each set, less its mean over the sets: (B, N) → (B, S)."""
        of_member_BKS = np.take(values_BN, np.ascontiguousarray(self.sets_SK.T), axis=1)
        return of_member_BKS.sum(axis=1) - total(values_BN * self.share_N)[:, None]
