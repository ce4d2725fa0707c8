"""How long the credit of a training step takes: exact, enumerated, and from 500 sampled sets.

    python benchmarks/credit.py

Three rivals for the same advantages, all vectorised NumPy on one core, in one run:
    own sets     every prompt draws its own 500 sets, as the papers describe it
    shared sets  `credit.Sampled(500)`: one draw of 500 sets serves all prompts of the batch
    enumeration  `credit.Enumerated()`, where C(N, K) is at most 20,000,000 scores

Sampling errors at 500 sets are reported beside the times: what the exact credit does not pay.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from setrl import Samples, credit, objectives, set_advantages
from setrl.core.objectives import Objective

SHAPES = [(128, 16, 4), (128, 32, 8), (128, 64, 8), (128, 1024, 32)]
OBJECTIVES = [objectives.any_correct(), objectives.max(), objectives.polychromic()]
NUM_SETS = 500


@dataclass(frozen=True)
class OwnSets:
    """Every prompt draws its own sets: argpartition of random keys, then one scatter-add."""

    num_sets: int

    def advantages(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator
    ) -> np.ndarray:
        """u − U of every sample, (B, N)."""
        num_prompts, n = samples.rewards.shape
        sets_BSK = np.empty((num_prompts, self.num_sets, set_size), dtype=np.intp)
        for prompt in range(num_prompts):
            keys_SN = rng.random((self.num_sets, n))
            sets_BSK[prompt] = np.argpartition(keys_SN, set_size - 1, axis=1)[:, :set_size]
        rows = np.arange(num_prompts)[:, None, None]
        members = Samples(
            samples.rewards[rows, sets_BSK], clusters=samples.clusters[rows, sets_BSK]
        )
        scores_BS = objective(members)
        flat = (sets_BSK + n * rows).ravel()
        weights = np.repeat((scores_BS - scores_BS.mean(1, keepdims=True)).ravel(), set_size)
        total_BN = np.bincount(flat, weights, minlength=num_prompts * n).reshape(-1, n)
        count_BN = np.bincount(flat, minlength=num_prompts * n).reshape(-1, n)
        return total_BN / np.maximum(count_BN, 1)


def prompts(num_prompts: int, num_samples: int, rng: np.random.Generator) -> Samples:
    """Rewards of 0 and 1 and eight strategies of unequal shares, each with a success rate."""
    share_C = 1 / np.arange(1, 9)
    clusters_BN = rng.choice(8, (num_prompts, num_samples), p=share_C / share_C.sum())
    success_C = rng.beta(0.6, 0.9, 8)
    rewards_BN = (rng.random(clusters_BN.shape) < success_C[clusters_BN]).astype(np.float64)
    return Samples(rewards_BN, clusters=clusters_BN)


def best_time(call: Callable[[], object], seconds: float = 1.0) -> float:
    """The shortest of the calls that fit in some seconds (at least three)."""
    times: list[float] = []
    while sum(times) < seconds or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if len(times) >= 3 and times[0] > seconds:
            break
    return min(times)


def compare(objective: Objective, shape: tuple[int, int, int]) -> str:
    """One line of the table."""
    num_prompts, n, k = shape
    samples = prompts(num_prompts, n, np.random.default_rng(0))

    def core(estimator: credit.Estimator) -> np.ndarray:
        return set_advantages(
            samples.rewards,
            objective=objective,
            set_size=k,
            clusters=samples.clusters,
            estimator=estimator,
            rng=np.random.default_rng(1),
        ).values_BN

    rng = np.random.default_rng(2)
    own = OwnSets(NUM_SETS)
    exact = best_time(lambda: core(credit.Exact()))
    own_time = best_time(lambda: own.advantages(objective, samples, k, rng))
    shared = best_time(lambda: core(credit.Sampled(NUM_SETS)))
    few = num_prompts * comb(n, k) <= 20_000_000
    all_time = best_time(lambda: core(credit.Enumerated())) if few else float("nan")
    truth = core(credit.Exact())
    error = own.advantages(objective, samples, k, rng) - truth
    noise = np.sqrt((error**2).mean() / max((truth**2).mean(), 1e-300))
    return (
        f"| {shape} | {type(objective).__name__} | {exact * 1e3:.2f} | "
        f"{own_time * 1e3:.0f} (×{own_time / exact:.0f}) | "
        f"{shared * 1e3:.1f} (×{shared / exact:.0f}) | "
        + (f"{all_time * 1e3:.0f} (×{all_time / exact:,.0f})" if few else f"{comb(n, k):.1e} sets")
        + f" | {noise:.0%} |"
    )


def main() -> None:
    """Print the table."""
    print("| (B, N, K) | objective | exact, ms | own sets, ms | shared sets, ms | ", end="")
    print("enumeration, ms | error of 500 sets |\n|---|---|---|---|---|---|---|")
    for shape in SHAPES:
        for objective in OBJECTIVES:
            print(compare(objective, shape), flush=True)


if __name__ == "__main__":
    main()
