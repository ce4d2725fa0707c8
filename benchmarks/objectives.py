"""How long the exact credit of each objective takes, beside sampled sets and beside OrderGrad.

    OMP_NUM_THREADS=1 python benchmarks/objectives.py

The first table is of 128 prompts with 64 samples each and sets of 8, on one core: the advantages
of `set_advantages` from closed forms, against those from 500 sets that all prompts share, and the
error that these have. Scoring all 4,426,165,368 sets is out of the question.

The second compares L-statistics with the package of OrderGrad (arXiv:2606.06096), where it is
installed (https://github.com/paavo5/ordergrad): the fastest of its ways, with its tables made
beforehand, against ours. Its functions take one prompt at a time; `torch.vmap` makes them take all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from setrl import Samples, credit, objectives, set_advantages
from setrl.core.check_objective import draw_samples
from setrl.core.objectives import Objective

NUM_PROMPTS, NUM_SAMPLES, SET_SIZE, NUM_SETS = 128, 64, 8, 500

OBJECTIVES = [
    objectives.mean(),
    objectives.any_correct(),
    objectives.mean() * objectives.mean(of="proxy"),
    objectives.distinct(),
    objectives.distinct_correct(),
    objectives.differ(),
    objectives.polychromic(),
    objectives.polychromic(objectives.extra_share()),
    objectives.polychromic(objectives.mixed_share()),
    objectives.max(),
    objectives.top_mean(2),
    objectives.median(),
    objectives.gini_mean_difference(),
    objectives.best_of(),
    objectives.over_sizes(objectives.any_correct(), {1: 0.5, 8: 0.5}),
    objectives.soft_any(),
    objectives.pairwise_distance(),
    objectives.polychromic(objectives.pairwise_distance()),
    objectives.majority(),
    objectives.majority("lexicographic"),
    objectives.rarest_correct(),
    objectives.volume(),
    objectives.smooth_max(4.0),
]

STATISTICS = {
    "ReMax": objectives.max(),
    "ReMin": objectives.minimum(),
    "TopM:2": objectives.top_mean(2),
    "Median": objectives.median(),
    "TrimM:2": objectives.trimmed_mean(2),
    "WinsorizedM:2": objectives.winsorised_mean(2),
    "Quantile:0.3": objectives.quantile(0.3),
    "LowerTailMean:0.25": objectives.cvar(0.25),
    "GiniMeanDifference": objectives.gini_mean_difference(),
}


def best_time(call: Callable[[], object], seconds: float = 0.5) -> float:
    """The shortest of the calls that fit in some seconds (at least three)."""
    times: list[float] = []
    while sum(times) < seconds or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def advantages(
    objective: Objective, samples: Samples, estimator: credit.Estimator | None = None
) -> np.ndarray:
    """u − v of every sample."""
    fields = {name: getattr(samples, name) for name in objective.reads if name != "rewards"}
    return set_advantages(
        samples.rewards,
        objective=objective,
        set_size=SET_SIZE,
        baseline="leave_one_out",
        estimator=estimator,
        rng=np.random.default_rng(0),
        **fields,
    ).values_BN


def objective_rows(samples: Samples) -> Iterator[str]:
    """The lines of the first table."""
    sampled = credit.Sampled(NUM_SETS)
    for objective in OBJECTIVES:
        exact_time = best_time(lambda objective=objective: advantages(objective, samples))
        sampled_time = best_time(
            lambda objective=objective: advantages(objective, samples, sampled)
        )
        exact = advantages(objective, samples)
        error = advantages(objective, samples, sampled) - exact
        share = np.sqrt((error**2).mean() / (exact**2).mean())
        yield (
            f"| {objective!r} | {exact_time * 1e3:.2f} | {sampled_time * 1e3:.1f} | "
            f"×{sampled_time / exact_time:.1f} | {share:.0%} |"
        )


def rivals(preset: str, rewards_BN: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """OrderGrad's ways to have the advantages of a batch: prompt by prompt, and by torch.vmap."""
    from ordergrad import get_backend

    ways: dict[str, Callable[[], np.ndarray]] = {}
    n = rewards_BN.shape[1]
    options = {"compute_dense_matrices": True}
    tables = get_backend("numpy").OrderStatTransform.precompute_lstat(
        n, SET_SIZE, preset, **options
    )
    for method in ("efficient", "matmul"):
        ways[f"numpy, {method}"] = lambda method=method: np.stack(
            [tables.lstat_advantage(row, method=method) for row in rewards_BN]
        )
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        batch = torch.from_numpy(rewards_BN)
        torch_tables = get_backend("torch").OrderStatTransform.precompute_lstat(
            n, SET_SIZE, preset, **options
        )
        for method in ("efficient", "matmul"):
            mapped = torch.vmap(
                lambda row, method=method: torch_tables.lstat_advantage(row, method=method)
            )
            ways[f"torch.vmap, {method}"] = lambda mapped=mapped: mapped(batch).numpy()
    return ways


def statistic_rows(rewards_BN: np.ndarray) -> Iterator[str]:
    """The lines of the second table."""
    samples = Samples(rewards_BN)
    for preset, objective in STATISTICS.items():
        ours = advantages(objective, samples)
        our_time = best_time(lambda objective=objective: advantages(objective, samples))
        ways = rivals(preset, rewards_BN)
        times = {name: best_time(way) for name, way in ways.items()}
        gap = max(np.abs(way() - ours).max() for way in ways.values())
        fastest = min(times, key=lambda name: times[name])
        yield (
            f"| {preset} | {our_time * 1e3:.2f} | {times[fastest] * 1e3:.2f} ({fastest}) | "
            f"×{times[fastest] / our_time:.1f} | {gap:.1e} |"
        )


def main() -> None:
    """Print both tables."""
    rng = np.random.default_rng(0)
    samples = draw_samples(NUM_PROMPTS, NUM_SAMPLES, rng)
    print(f"| objective | exact, ms | {NUM_SETS} sets, ms | ratio | error of the sets |")
    print("|---|---|---|---|---|")
    for row in objective_rows(samples):
        print(row, flush=True)
    if find_spec("ordergrad") is None:
        print("\nOrderGrad is not installed, so that the second table is left out.")
        return
    print("\n| statistic | ours, ms | OrderGrad, ms | ratio | largest difference |")
    print("|---|---|---|---|---|")
    for row in statistic_rows(rng.normal(size=(NUM_PROMPTS, NUM_SAMPLES))):
        print(row, flush=True)


if __name__ == "__main__":
    main()
