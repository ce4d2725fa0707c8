"""How the mean scores of a prompt's sets are computed: in closed form, by enumeration, by sampling.

An estimator is a value. Given dense samples (every prompt has all its N samples) it returns a
`Credit`: u, v and U of `setrl.objectives.SetMeans`, how many sets held each sample, and the
standard errors where sets were drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import comb
from typing import Protocol

import numpy as np

from setrl.core.credit.designs import all_sets, count_sets, draw_sets, membership
from setrl.core.credit.rounding import centred, mean_score, without_rounding
from setrl.core.objectives.base import Objective, SetMeans, finite
from setrl.core.samples import Samples

CHUNK = 1 << 21  # members of sets that are scored at once: 16 MB a field


@dataclass(frozen=True)
class Credit:
    """What an estimator found.

    Attributes:
        means: u, u − v, U and, where known, u − w and the variance of the scores.
        num_sets: How many sets were scored (inf where that has no float).
        share_N: The share of them that held each sample; K/N when every set counted.
        used: What was done, in words: it goes into logs.
        stderr_with_BN: Standard error of u; None when every set counted.
        stderr_contrast_BN: Standard error of u − v; None when every set counted.
    """

    means: SetMeans
    num_sets: float
    share_N: np.ndarray
    used: str
    stderr_with_BN: np.ndarray | None = None
    stderr_contrast_BN: np.ndarray | None = None


class Estimator(Protocol):
    """Anything that finds the mean set scores of dense samples."""

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """The credit of every sample, fields (B, N)."""


@dataclass(frozen=True)
class Enumerated:
    """Every set is scored by the objective's definition. C(N, K) scores a prompt.

    Attributes:
        max_sets: Refuse prompts that have more sets than this.
    """

    max_sets: int = 1_000_000

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Means over all C(N, K) sets."""
        num_sets = comb(samples.num_samples, set_size)
        if num_sets > self.max_sets:
            raise ValueError(
                f"{num_sets:,} sets of {set_size} out of {samples.num_samples} are more than "
                f"Enumerated(max_sets={self.max_sets:,}) scores; use Exact() or Sampled(num_sets)"
            )
        sets_SK = all_sets(samples.num_samples, set_size)
        return credit_from_sets(objective, samples, sets_SK, f"enumerated ({num_sets:,} sets)")


@dataclass(frozen=True)
class DrawnSets(ABC):
    """`num_sets` different sets are drawn uniformly and scored; all where there are no more.

    One draw serves all prompts that have equally many samples: given the draw, the credit is
    linear in each prompt's scores, and prompts share nothing else.
    """

    num_sets: int

    def __post_init__(self) -> None:
        if self.num_sets < 2:
            raise ValueError(
                f"{type(self).__name__}(num_sets=...) must be at least 2, got {self.num_sets}"
            )

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """What `from_sets` makes of the drawn sets, or the means over all of them."""
        n = samples.num_samples
        total = comb(n, set_size)
        if self.num_sets >= total:
            return Enumerated(max_sets=total)(objective, samples, set_size, rng)
        sets_SK = draw_sets(n, set_size, self.num_sets, rng)
        return self.from_sets(objective, samples, sets_SK)

    @abstractmethod
    def from_sets(self, objective: Objective, samples: Samples, sets_SK: np.ndarray) -> Credit:
        """Return credit, with standard errors, from fewer sets than there are."""


@dataclass(frozen=True)
class Sampled(DrawnSets):
    """Means over `num_sets` sets, drawn uniformly without replacement; unbiased for any number.

    A sample that no drawn set holds gets advantage 0.
    """

    def from_sets(self, objective: Objective, samples: Samples, sets_SK: np.ndarray) -> Credit:
        """Means over the drawn sets, with their standard errors."""
        total = comb(samples.num_samples, sets_SK.shape[1])
        used = f"sampled ({self.num_sets:,} of {total:,} sets)"
        return credit_from_sets(objective, samples, sets_SK, used)


@dataclass(frozen=True)
class Exact:
    """The objective's closed form; without one, enumeration of few sets, else sampled sets.

    Attributes:
        max_sets: Enumerate up to this many sets a prompt where there is no closed form.
        num_sets: Sample this many where there are more.
    """

    max_sets: int = 20_000
    num_sets: int = 2_000

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Exact means where they can be computed; `Credit.used` names what was done."""
        n = samples.num_samples
        means = objective.set_means(samples, set_size)
        if means is not None:
            share_N = np.full(n, set_size / n)
            return Credit(without_rounding(means), count_sets(n, set_size), share_N, "closed form")
        if comb(n, set_size) <= self.max_sets:
            return Enumerated(self.max_sets)(objective, samples, set_size, rng)
        return Sampled(self.num_sets)(objective, samples, set_size, rng)


def score_sets(objective: Objective, samples: Samples, sets_SK: np.ndarray) -> np.ndarray:
    """The score of every set of every prompt, by the definition: (B, S).

    Raises:
        ValueError: Naming the objective, if one of its scores is NaN or infinite.
    """
    num_prompts, set_size = samples.rewards.shape[0], sets_SK.shape[1]
    step = max(1, CHUNK // (num_prompts * set_size))
    parts = [
        objective(samples.sets(sets_SK[start : start + step]))
        for start in range(0, len(sets_SK), step)
    ]
    return finite(objective, np.concatenate(parts, axis=-1))


def credit_from_sets(
    objective: Objective, samples: Samples, sets_SK: np.ndarray, used: str
) -> Credit:
    """Means over these sets, all of which are scored, and their standard errors."""
    n, set_size = samples.num_samples, sets_SK.shape[1]
    scores_BS = score_sets(objective, samples, sets_SK)
    member_SN = membership(sets_SK, n)
    num_with_N = member_SN.sum(axis=0)
    mean_B = mean_score(scores_BS)
    centred_BS = centred(scores_BS)
    above_BN = _ratio(centred_BS @ member_SN, num_with_N)
    below_BN = _ratio(-(centred_BS @ member_SN), len(sets_SK) - num_with_N)
    means = SetMeans(
        with_BN=mean_B[:, None] + above_BN,
        contrast_BN=above_BN - below_BN,
        mean_B=mean_B,
        variance_B=(centred_BS**2).mean(axis=-1),
        size_B=4 * np.abs(scores_BS).max(axis=-1),
    )
    means = without_rounding(means, every_set=len(sets_SK) == comb(n, set_size))
    credit = Credit(means, float(len(sets_SK)), num_with_N / len(sets_SK), used)
    if len(sets_SK) == comb(n, set_size):
        return credit
    return _with_stderr(credit, centred_BS, member_SN, set_size)


def _with_stderr(
    credit: Credit, centred_BS: np.ndarray, member_SN: np.ndarray, set_size: int
) -> Credit:
    """Standard errors of u and u − v: two strata drawn without replacement, with and without i.

    var(mean of a stratum) = s²/m · (1 − m/M), for m drawn of M sets with sample variance s².
    """
    n = member_SN.shape[1]
    holding = count_sets(n - 1, set_size - 1)
    lacking = count_sets(n - 1, set_size)
    of_with_BN = _stratum_variance(centred_BS, member_SN, holding)
    of_without_BN = _stratum_variance(centred_BS, 1.0 - member_SN, lacking)
    return replace(
        credit,
        stderr_with_BN=np.sqrt(of_with_BN),
        stderr_contrast_BN=np.sqrt(of_with_BN + of_without_BN),
    )


def _stratum_variance(scores_BS: np.ndarray, in_SN: np.ndarray, num_in_all: float) -> np.ndarray:
    """The variance of the mean score over each sample's stratum; NaN below two sets."""
    drawn_N = in_SN.sum(axis=0)
    mean_BN = _ratio(scores_BS @ in_SN, drawn_N)
    square_BN = _ratio((scores_BS**2) @ in_SN, drawn_N)
    spread_BN = np.maximum(square_BN - mean_BN**2, 0.0) * _ratio(drawn_N, drawn_N - 1)
    return _ratio(spread_BN, drawn_N) * (1 - drawn_N / num_in_all)


def _ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """top / bottom, NaN where the bottom is not positive."""
    return np.divide(top, np.where(bottom > 0, bottom, np.nan))
