"""How precise sampled sets are: the standard error that a number of sets gives, and the inverse."""

from __future__ import annotations

from math import comb

import numpy as np

from setrl.core.credit.designs import all_sets, count_sets, draw_sets, membership
from setrl.core.credit.estimators import score_sets
from setrl.core.objectives.base import Objective
from setrl.samples.samples import Samples


def sampling_stderr(
    objective: Objective,
    samples: Samples,
    set_size: int,
    num_sets: int,
    *,
    pilot: int = 2_000,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Return the standard error of u − v of `Sampled(num_sets)`, before sets are drawn.

        se² = s²₊·(E[1/m] − 1/M₊) + s²₋·(E[1/(S−m)] − 1/M₋)

    s²₊ and s²₋ are the variances of the score over the M₊ sets with and the M₋ sets without a
    sample, m is how many of the S drawn ones hold it: hypergeometric. It is exact given 0 < m < S
    where the objective knows its variance, or all sets can be scored; else `pilot` sets are drawn
    to estimate s².

    Args:
        objective: What a set is worth.
        samples: Dense samples of B prompts.
        set_size: K, below N.
        num_sets: S, from 2 to C(N, K).
        pilot: How many sets to score where the variances have no closed form.
        rng: Needed where a pilot is drawn.

    Returns:
        (B,), the root mean square over a prompt's samples.
    """
    n = samples.num_samples
    total = count_sets(n, set_size)
    if not 2 <= num_sets <= total:
        raise ValueError(f"num_sets must be in [2, {total:,}], got {num_sets}")
    with_B, without_B = _stratum_variances(objective, samples, set_size, pilot, rng)
    chance_m = _holding_chances(num_sets, total, set_size / n)
    held_m = np.arange(1, num_sets)
    inner_m = chance_m[1:-1] / chance_m[1:-1].sum()
    one_over_with = inner_m @ (1 / held_m) - n / (total * set_size)
    one_over_without = inner_m @ (1 / (num_sets - held_m)) - n / (total * (n - set_size))
    return np.sqrt(np.maximum(with_B * one_over_with + without_B * one_over_without, 0.0))


def sets_needed(
    objective: Objective,
    samples: Samples,
    set_size: int,
    stderr: float,
    *,
    pilot: int = 2_000,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """How many sets `Sampled` needs for a standard error of u − v; if it is all, use `Enumerated`.

        S = V / (stderr² + V / C(N, K)),   V = s²₊·N/K + s²₋·N/(N−K)

    The inverse of `sampling_stderr` to first order in 1/S, with the same arguments; (B,) integers
    as floats, from 2 to C(N, K).
    """
    if not 0 < stderr < np.inf:
        raise ValueError(f"stderr must be positive and finite, got {stderr}")
    n = samples.num_samples
    total = count_sets(n, set_size)
    with_B, without_B = _stratum_variances(objective, samples, set_size, pilot, rng)
    spread_B = with_B * n / set_size + without_B * n / (n - set_size)
    return np.clip(np.ceil(spread_B / (stderr**2 + spread_B / total)), 2, total)


def _stratum_variances(
    objective: Objective,
    samples: Samples,
    set_size: int,
    pilot: int,
    rng: np.random.Generator | None,
) -> tuple[np.ndarray, np.ndarray]:
    """s²₊ and s²₋ (with divisor M − 1), averaged over each prompt's samples: (B,) each.

    The variance within, averaged over samples, is the variance of all less that between means.
    """
    n = samples.num_samples
    means = objective.set_means(samples, set_size)
    if means is None or means.variance_B is None:
        return _scored_variances(objective, samples, set_size, pilot, rng)
    holding, lacking = count_sets(n - 1, set_size - 1), count_sets(n - 1, set_size)
    lift_BN = means.contrast_BN * (1 - set_size / n)
    with_B = means.variance_B - (lift_BN**2).mean(axis=-1)
    without_B = means.variance_B - ((means.contrast_BN - lift_BN) ** 2).mean(axis=-1)
    return with_B * _unbiased(holding), without_B * _unbiased(lacking)


def _scored_variances(
    objective: Objective,
    samples: Samples,
    set_size: int,
    pilot: int,
    rng: np.random.Generator | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the variances from all sets, or from a pilot where there are more sets."""
    n = samples.num_samples
    if comb(n, set_size) <= pilot:
        sets_SK = all_sets(n, set_size)
    else:
        sets_SK = draw_sets(n, set_size, pilot, rng)
    scores_BS = score_sets(objective, samples, sets_SK)
    scores_BS = scores_BS - scores_BS.mean(axis=-1, keepdims=True)
    member_SN = membership(sets_SK, n)
    return _variance_within(scores_BS, member_SN), _variance_within(scores_BS, 1 - member_SN)


def _variance_within(scores_BS: np.ndarray, in_SN: np.ndarray) -> np.ndarray:
    """Return the sample variance over each sample's stratum, averaged over samples."""
    count_N = in_SN.sum(axis=0)
    kept_N = count_N > 1
    in_SN, count_N = in_SN[:, kept_N], count_N[kept_N]
    mean_BN = scores_BS @ in_SN / count_N
    squares_BN = scores_BS**2 @ in_SN - count_N * mean_BN**2
    return np.maximum(squares_BN / (count_N - 1), 0.0).mean(axis=-1)


def _holding_chances(num_sets: int, total: float, share: float) -> np.ndarray:
    """P(m of S drawn sets hold a sample), for m from 0 to S: hypergeometric."""
    # The binomials of millions of sets have no float, so the table is built by the ratios of
    # neighbours, in logarithms, and scaled to sum to 1.
    m = np.arange(num_sets)
    holding, lacking = total * share, total * (1 - share)
    if np.isinf(total):  # drawing without replacement is then drawing with it: binomial
        ratio_m = share / (1 - share) * (num_sets - m) / (m + 1)
    else:
        free_m = lacking - num_sets + m + 1
        possible_m = (m < holding) & (free_m > 0)
        up_m = np.where(possible_m, (holding - m) * (num_sets - m), 1.0)
        ratio_m = up_m / np.where(possible_m, free_m * (m + 1), 1.0)
    log_m = np.concatenate([[0.0], np.cumsum(np.log(ratio_m))])
    if not np.isinf(total):
        every_m = np.arange(num_sets + 1)
        log_m = np.where((every_m <= holding) & (num_sets - every_m <= lacking), log_m, -np.inf)
    chance_m = np.exp(log_m - log_m.max())
    return chance_m / chance_m.sum()


def _unbiased(count: float) -> float:
    return 1.0 if np.isinf(count) else count / max(count - 1, 1)
