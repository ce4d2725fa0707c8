"""How often simultaneous bands and first losses cover the truth, by simulation.

    python benchmarks/bands.py [COMPARISONS]

The success rates of problems are drawn from Beta distributions, so the true curves are known:
pass@k = 1 − E (1−p)^k. docs/results/evaluation has the numbers of 300 comparisons each.
"""

import sys
from math import exp, inf, lgamma

import numpy as np

from setrl.evaluate.bands import first_loss, simultaneous_band
from setrl.evaluate.estimators import pass_at_k
from setrl.evaluate.intervals import IntervalConfig

CASES = [
    (problems, n, arms)
    for problems, n in ((20, 16), (50, 16), (100, 32), (500, 64))
    for arms in (((0.5, 0.5), (1.0, 1.2)), ((2.0, 1.0), (2.0, 1.0)), ((0.15, 1.0), (0.15, 1.0)))
]
ROUNDING = 1e-12
DRAWS = IntervalConfig(resamples=500)


def true_pass(a: float, b: float, ks: range) -> np.ndarray:
    """Return pass@k of problems whose success rates are Beta(a, b)."""
    return 1 - np.array([exp(lgamma(b + k) + lgamma(a + b) - lgamma(b) - lgamma(a + b + k))
                         for k in ks])  # fmt: skip


def coverage(problems: int, n: int, arms: tuple, times: int) -> tuple[float, float, float]:
    """Return how often the band, all intervals together, and the first loss are right."""
    rng, ks = np.random.default_rng(0), range(1, n + 1)
    truth_K = true_pass(*arms[0], ks) - true_pass(*arms[1], ks)
    crossing = next((k for k, gap in zip(ks, truth_K, strict=True) if gap < -ROUNDING), inf)
    right = np.zeros(3)
    for _ in range(times):
        counts = [rng.binomial(n, rng.beta(a, b, problems)) for a, b in arms]
        first, second = (np.array([[pass_at_k(one, n, k)] for k in ks]) for one in counts)
        band = simultaneous_band(ks, first, second, DRAWS)
        off_K = np.abs(truth_K - band.values) - ROUNDING
        reach_K = np.array(band.high) - band.values
        loss = first_loss(band)
        right += (
            not (off_K > reach_K).any(),
            not (off_K > 1.96 * reach_K / band.critical).any(),
            loss.low <= crossing <= (inf if loss.high is None else loss.high),
        )
    return tuple((right / times).tolist())


def main() -> None:
    """Print a line for each case."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print("problems  samples  arms (Beta)              band   intervals  first loss")
    for problems, n, arms in CASES:
        shares = coverage(problems, n, arms, times)
        print(f"{problems:8}  {n:7}  {arms!s:24} ", "  ".join(f"{share:7.1%}" for share in shares))


if __name__ == "__main__":
    main()
