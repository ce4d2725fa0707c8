"""What the tasks of fifty fixed layouts share: settings of "Polychromic Objectives", and metrics.

Episodes have at most H = 100 steps, with the reward 1 − ½·t/H on success (arXiv:2509.25424).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from setrl import mean_set_scores, objectives
from setrl.evaluate import estimators

HORIZON = 100
TRAINED, UNSEEN, SHOWN = range(3)  # streams of layouts: fine-tuning, evaluation, demonstrations
PROBES = 5  # episodes per layout from moved starts, and on unseen layouts
# Table 3 of the paper, as its replications quote it, with a learning rate for a small network and
# few steps.
PAPER_PPO: Mapping[str, Any] = {
    "n_envs": 8,
    "n_steps": 256,
    "learning_rate": 3e-4,
    "n_epochs": 2,
    "batch_size": 64,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "clip_range": 0.2,
    "max_grad_norm": 0.5,
    "vf_coef": 0.5,
    "ent_coef": 0.0,
}
PASS_AT = (1, 5, 20, 50, 64)


def layout_metrics(
    returns_PN: ArrayLike, correct_PN: ArrayLike, rooms_PN: ArrayLike
) -> dict[str, float]:
    """Measure N episodes in each of P layouts; each layout is a problem.

    pass@k, for the k ≤ N of `PASS_AT`, and the numbers of different sets of visited rooms, in all
    episodes and in the successful ones, are unbiased for each layout.

    Args:
        returns_PN: Sum of rewards of each episode.
        correct_PN: Whether it succeeded.
        rooms_PN: The set of rooms that it visited, as an integer ≥ 0.
    """
    correct_PN = np.asarray(correct_PN, dtype=bool)
    correct_P, n = correct_PN.sum(axis=-1), correct_PN.shape[-1]
    of_all, of_correct = (
        float(mean_set_scores(correct_PN, objective, [n], strategies=rooms_PN).mean())
        for objective in (objectives.distinct(), objectives.distinct_correct())
    )
    return {
        "mean_return": float(np.asarray(returns_PN).mean()),
        "success": float(correct_PN.mean()),
        **{
            f"pass@{k}": float(estimators.pass_at_k(correct_P, n, k).mean())
            for k in PASS_AT
            if k <= n
        },
        "room_sets": of_all,
        "successful_room_sets": of_correct,
    }
