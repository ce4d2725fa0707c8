"""Is leave-two-out more stable with small groups, as the review of MaxPO expects?

On a table, without a network: uniform random rewards and a uniform start; the same number of
samples for every size N of a group. (docs/results/graded, "Small groups on a table")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from setrl import objectives
from setrl.core.method import Method
from setrl.support import files
from setrl.support.wording import markdown_table
from setrl.theory.dynamics import simulate
from setrl.theory.tabular import ActionTable
from studies.summaries import SCHEMA_VERSION

SIZES = (2, 4, 8, 16)  # N
ACTIONS, DRAWS, RUNS, SAMPLES, RATE = 30, 4, 100, 3_200, 2.0
BASELINES = {"s_loo": "others_mean", "EI": "smaller_sets", "leave-two-out": "leave_one_out"}
BEST_OF = 2  # the largest reward of two samples of the last policy is measured


def run(folder: Path) -> str:
    """Write small_groups.json and return the table: mean ± standard deviation over runs."""
    found = {str(num): {name: compare(num, base) for name, base in BASELINES.items()}
             for num in SIZES}  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"actions": ACTIONS, "draws": DRAWS, "runs": RUNS, "samples": SAMPLES,
                "learning_rate": RATE}  # fmt: skip
    files.write_json(
        folder / "small_groups.json",
        {"schema_version": SCHEMA_VERSION, **settings, "by_size": found},
    )
    rows = [[size, *(f"{one['mean']:.3f} ± {one['std']:.3f}" for one in of.values())]
            for size, of in found.items()]  # fmt: skip
    return markdown_table(["N", *BASELINES], rows)


def compare(num_samples: int, baseline: str) -> dict[str, Any]:
    """Return max@2 of the last policies, as a share of the best reward: mean and deviation."""
    set_size = min(2, num_samples - 1)  # a set must leave a sample out
    method = Method(baseline, objectives.max(), set_size, baseline)
    shares = np.concatenate([_shares(method, num_samples, draw) for draw in range(DRAWS)])
    return {"set_size": set_size, "mean": round(float(shares.mean()), 4),
            "std": round(float(shares.std(ddof=1)), 4)}  # fmt: skip


def _shares(method: Method, num_samples: int, draw: int) -> np.ndarray:
    rng = np.random.default_rng(draw)
    rewards_A = np.sort(rng.uniform(size=ACTIONS))
    policy_A, steps = np.full(ACTIONS, 1 / ACTIONS), SAMPLES // num_samples
    path = simulate(method, ActionTable(rewards_A), policy_A, num_samples, steps, RATE, rng, RUNS)
    chance_RA = np.diff(np.cumsum(path.policies_TA[-1], axis=1) ** BEST_OF, prepend=0)
    return chance_RA @ rewards_A / rewards_A[-1]
