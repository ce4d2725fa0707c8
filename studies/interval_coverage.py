"""`python -m studies.interval_coverage`: how often intervals of differences contain the truth.

Two arms are trained with R seeds and evaluated on P problems. The difference of one seed on one
problem is

    d_rp = a_p + s_r − s'_r + e_rp

a is what the method does on the problem; s and s' belong to the seed of each arm, and e to both.
The variances of a and e are 1. The share of seeds, (Var(s − s')/R) / (Var(s − s')/R + Var(a)/P),
goes from 0 to 0.95, as in the runs of docs/results. The true difference is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product

import numpy as np
import tyro

from setrl.evaluate.intervals import (
    IntervalConfig,
    paired_difference,
    t_quantile,
)

SEEDS = (3, 5, 10)
SHARES = (0.0, 0.25, 0.5, 0.75, 0.95)
LEVEL, RESAMPLES = 0.95, 500
Ends = tuple[float, float]
Arms = tuple[np.ndarray, np.ndarray]  # both (R, P)


def normal_effects(rng: np.random.Generator, problems: int) -> np.ndarray:
    """Draw effects of problems that are normal."""
    return rng.normal(size=problems)


def few_differ(rng: np.random.Generator, problems: int) -> np.ndarray:
    """Draw effects that are exponential for a fifth of the problems, and equal for the others."""
    chance, found = 0.2, rng.exponential(size=problems)
    drawn = np.where(rng.random(problems) < chance, found, 0.0)
    return (drawn - chance) / np.sqrt(2 * chance - chance**2)


EFFECTS = {"normal": normal_effects, "a fifth differ": few_differ}


def draw_arms(
    rng: np.random.Generator, seeds: int, problems: int, share: float, effects: Callable
) -> Arms:
    """Draw the values of two arms whose true means are equal."""
    of_seeds = np.sqrt(share / (1 - share) * seeds / problems / 2)  # of each arm
    noise = rng.normal(size=(2, seeds, problems)) * np.sqrt(0.5)
    first, second = noise + of_seeds * rng.normal(size=(2, seeds, 1))
    return first + effects(rng, problems), second


def ours(first: np.ndarray, second: np.ndarray) -> Ends:
    """Return the ends of the library's interval."""
    return paired_difference(first, second, IntervalConfig(level=LEVEL)).ends


@lru_cache(maxsize=64)
def resampling_weights(count: int, draws: int, seed: int, stream: int) -> np.ndarray:
    """Weights of `count` items in each draw of a bootstrap, (D, count); each row sums to 1.

    1/count + √(count/(count−1)) · (times drawn / count − 1/count), so that a weighted mean varies
    as much as the mean does (Rao and Wu, JASA 83, 1988).
    """
    rng = np.random.default_rng([seed, stream])
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=draws) / count
    weights = 1 / count + np.sqrt(count / (count - 1)) * (drawn - 1 / count)
    weights.flags.writeable = False  # shared by every caller through the cache
    return weights


def percentiles(first: np.ndarray, second: np.ndarray) -> Ends:
    """Return percentiles of resampled problems and of seeds, resampled for each arm."""
    seeds, problems = first.shape
    of_problems = resampling_weights(problems, RESAMPLES, 0, 0)
    draws = [
        ((of_problems @ arm.T) * resampling_weights(seeds, RESAMPLES, 0, stream)).sum(axis=1)
        for stream, arm in enumerate((first, second), start=1)
    ]
    low, high = np.quantile(draws[0] - draws[1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high


def seeds_only(first: np.ndarray, second: np.ndarray) -> Ends:
    """Return Student's t over the paired means of seeds; problems count as given."""
    gaps = (first - second).mean(axis=1)
    reach = t_quantile(len(gaps) - 1, LEVEL) * float(gaps.std(ddof=1)) / np.sqrt(len(gaps))
    return gaps.mean() - reach, gaps.mean() + reach


METHODS = {"percentiles": percentiles, "t, seeds only": seeds_only, "setrl": ours}


def coverage(trials: list[Arms], method: Callable[..., Ends]) -> tuple[float, float]:
    """Return how often the intervals contain 0, and their mean width."""
    ends = np.array([method(*arms) for arms in trials])
    inside = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
    return float(inside.mean()), float((ends[:, 1] - ends[:, 0]).mean())


def rows(times: int, problems: int) -> Iterator[str]:
    """Yield the lines of a table in Markdown: coverage, and the width in units of the first."""
    yield "| problems differ | seeds | method | " + " | ".join(f"{s:.0%}" for s in SHARES) + " |"
    yield "|---" * (3 + len(SHARES)) + "|"
    for (name, effects), seeds in product(EFFECTS.items(), SEEDS):
        rng = np.random.default_rng(seeds)
        by_share = [
            [draw_arms(rng, seeds, problems, share, effects) for _ in range(times)]
            for share in SHARES
        ]
        before = [coverage(trials, percentiles) for trials in by_share]
        for label, method in METHODS.items():
            found = [coverage(trials, method) for trials in by_share]
            cells = [
                f"{100 * inside:.1f} (× {width / first:.2f})"
                for (inside, width), (_, first) in zip(found, before, strict=True)
            ]
            yield f"| {name} | {seeds} | {label} | " + " | ".join(cells) + " |"


def main(times: int = 2000, problems: int = 100) -> None:
    """Print the table.

    Args:
        times: Comparisons in each cell.
        problems: Problems of a comparison.
    """
    for line in rows(times, problems):
        print(line, flush=True)


if __name__ == "__main__":
    tyro.cli(main)
