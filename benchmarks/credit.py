"""How long the credit of a training step takes: exact, from sampled sets, enumerated, OrderGrad's.

    OMP_NUM_THREADS=1 python benchmarks/credit.py

All are vectorised, on one core, in one run, in CPU time; sampling errors are next to the times.
Three tables:

1. Three objectives and four sizes of a batch, against
    own sets     every prompt draws its own 500 sets, as the papers describe it
    shared sets  `credit.Sampled(500)`: one draw of 500 sets serves all prompts of the batch
    enumeration  `credit.Enumerated()`, if there are at most 20,000,000 scores
   A pass is the time of adding 1 to all rewards.
2. Every objective for 128 prompts with 64 samples each and sets of 8, against shared sets. Scoring
   all 4,426,165,368 sets is out of the question.
3. L-statistics of the same size against the package of OrderGrad (arXiv:2606.06096), where it is
   installed (https://github.com/paavo5/ordergrad): the fastest of its ways, with its tables made
   beforehand. Its functions take one prompt at a time; `torch.vmap` makes them take all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from math import comb

import numpy as np

from setrl import Samples, credit, objectives, set_advantages
from setrl.core.check_objective import draw_samples
from setrl.core.objectives import Objective

SHAPES = [(128, 16, 4), (128, 32, 8), (128, 64, 8), (128, 1024, 32)]
IN_EVERY_SHAPE = [objectives.any_correct(), objectives.max(), objectives.polychromic()]
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
    """Return the CPU time of the shortest of the calls in some seconds (at least three)."""
    times: list[float] = []
    while sum(times) < seconds or len(times) < 3:
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def advantages(
    objective: Objective,
    samples: Samples,
    set_size: int = SET_SIZE,
    estimator: credit.Estimator | None = None,
    baseline: str = "leave_one_out",
) -> np.ndarray:
    """Compute the advantage of every sample, exact unless an estimator is given."""
    fields = {name: getattr(samples, name) for name in objective.reads if name != "rewards"}
    return set_advantages(
        samples.rewards,
        objective=objective,
        set_size=set_size,
        baseline=baseline,
        estimator=estimator,
        rng=np.random.default_rng(0),
        **fields,
    ).values_BN


def relative_error(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the root mean squared error, relative to the root mean square of the exact values."""
    return float(np.sqrt(((found - exact) ** 2).mean() / max((exact**2).mean(), 1e-300)))


def prompts(num_prompts: int, num_samples: int, rng: np.random.Generator) -> Samples:
    """Draw rewards of 0 and 1 and eight strategies of unequal shares, each with a success rate."""
    share_C = 1 / np.arange(1, 9)
    clusters_BN = rng.choice(8, (num_prompts, num_samples), p=share_C / share_C.sum())
    success_C = rng.beta(0.6, 0.9, 8)
    rewards_BN = (rng.random(clusters_BN.shape) < success_C[clusters_BN]).astype(np.float64)
    return Samples(rewards_BN, clusters=clusters_BN)


def own_sets(
    objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator
) -> np.ndarray:
    """u − U if every prompt draws its own sets: random keys, then one scatter-add; (B, N)."""
    num_prompts, n = samples.rewards.shape
    sets_BSK = np.empty((num_prompts, NUM_SETS, set_size), dtype=np.intp)
    for prompt in range(num_prompts):
        keys_SN = rng.random((NUM_SETS, n))
        sets_BSK[prompt] = np.argpartition(keys_SN, set_size - 1, axis=1)[:, :set_size]
    rows = np.arange(num_prompts)[:, None, None]
    members = Samples(samples.rewards[rows, sets_BSK], clusters=samples.clusters[rows, sets_BSK])
    scores_BS = objective(members)
    flat = (sets_BSK + n * rows).ravel()
    weights = np.repeat((scores_BS - scores_BS.mean(1, keepdims=True)).ravel(), set_size)
    total_BN = np.bincount(flat, weights, minlength=num_prompts * n).reshape(-1, n)
    count_BN = np.bincount(flat, minlength=num_prompts * n).reshape(-1, n)
    return total_BN / np.maximum(count_BN, 1)


def shape_row(objective: Objective, shape: tuple[int, int, int]) -> str:
    """Write one line of the first table."""
    num_prompts, n, k = shape
    samples, rng = prompts(num_prompts, n, np.random.default_rng(0)), np.random.default_rng(2)

    def core(estimator: credit.Estimator) -> np.ndarray:
        return advantages(objective, samples, k, estimator, baseline="all_sets")

    exact = best_time(lambda: core(credit.Exact()))
    one_pass = best_time(lambda: samples.rewards + 1.0, seconds=0.05)
    own = best_time(lambda: own_sets(objective, samples, k, rng))
    shared = best_time(lambda: core(credit.Sampled(NUM_SETS)))
    every = f"{comb(n, k):.1e} sets"
    if num_prompts * comb(n, k) <= 20_000_000:
        seconds = best_time(lambda: core(credit.Enumerated()))
        every = f"{seconds * 1e3:.0f} (×{seconds / exact:,.0f})"
    error = relative_error(own_sets(objective, samples, k, rng), core(credit.Exact()))
    return (
        f"| {shape} | {type(objective).__name__} | {exact * 1e3:.2f} | "
        f"{exact / one_pass:.0f} | {own * 1e3:.0f} (×{own / exact:.0f}) | "
        f"{shared * 1e3:.1f} (×{shared / exact:.0f}) | "
        f"{every} | {error:.0%} |"
    )


def objective_row(objective: Objective, samples: Samples) -> str:
    """Write one line of the second table."""
    sampled = credit.Sampled(NUM_SETS)
    exact_time = best_time(lambda: advantages(objective, samples))
    sampled_time = best_time(lambda: advantages(objective, samples, estimator=sampled))
    exact = advantages(objective, samples)
    error = relative_error(advantages(objective, samples, estimator=sampled), exact)
    return (
        f"| {objective!r} | {exact_time * 1e3:.2f} | {sampled_time * 1e3:.1f} | "
        f"×{sampled_time / exact_time:.1f} | {error:.0%} |"
    )


def rivals(preset: str, rewards_BN: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """Return OrderGrad's ways to compute a batch: prompt by prompt, and by torch.vmap."""
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


def statistic_row(preset: str, objective: Objective, rewards_BN: np.ndarray) -> str:
    """Write one line of the third table."""
    samples, ways = Samples(rewards_BN), rivals(preset, rewards_BN)
    our_time = best_time(lambda: advantages(objective, samples))
    times = {name: best_time(way) for name, way in ways.items()}
    ours = advantages(objective, samples)
    gap = max(np.abs(way() - ours).max() for way in ways.values())
    fastest = min(times, key=lambda name: times[name])
    return (
        f"| {preset} | {our_time * 1e3:.2f} | {times[fastest] * 1e3:.2f} ({fastest}) | "
        f"×{times[fastest] / our_time:.1f} | {gap:.1e} |"
    )


def print_table(head: str, rows: Iterable[str]) -> None:
    """Print each row of a table as soon as it is measured."""
    print(f"{head}\n{'|---' * (head.count('|') - 1)}|")
    for row in rows:
        print(row, flush=True)
    print()


def main() -> None:
    """Print the tables."""
    print_table(
        "| (B, N, K) | objective | exact, ms | passes | own sets, ms | shared sets, ms "
        "| enumeration, ms | error of 500 sets |",
        (shape_row(objective, shape) for shape in SHAPES for objective in IN_EVERY_SHAPE),
    )
    rng = np.random.default_rng(0)
    samples = draw_samples(NUM_PROMPTS, NUM_SAMPLES, rng)
    print_table(
        f"| objective | exact, ms | {NUM_SETS} sets, ms | ratio | error of the sets |",
        (objective_row(objective, samples) for objective in OBJECTIVES),
    )
    if find_spec("ordergrad") is None:
        print("OrderGrad is not installed, so that the third table is left out.")
        return
    rewards_BN = rng.normal(size=(NUM_PROMPTS, NUM_SAMPLES))
    print_table(
        "| statistic | ours, ms | OrderGrad, ms | ratio | largest difference |",
        (statistic_row(*each, rewards_BN) for each in STATISTICS.items()),
    )


if __name__ == "__main__":
    main()
