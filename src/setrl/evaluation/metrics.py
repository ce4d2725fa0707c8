"""Every metric of an evaluation, by name: its values on each problem, and how it is shown.

A name is `metric@x` where the metric is a curve, over the samples k, the share τ or the position in
the text, and `metric` alone where it is one number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setrl.evaluation.branching import branches_by_position, mean_shared_prefix
from setrl.evaluation.estimators import (
    Floats,
    count_labels,
    distinct_at_k,
    effective_number,
    max_at_k,
    pass_at_k,
    top_share,
)
from setrl.evaluation.majority import majority_at_k
from setrl.evaluation.reliability import cover_at, g_pass_at_k, mean_g_pass_at_k
from setrl.evaluation.selection import best_of_k
from setrl.logs.records import Evaluation

Axis = Literal["k", "τ", "position", ""]

COVER_TAUS = (0.1, 0.25, 0.5, 0.75, 1.0)
G_PASS_TAUS = {"g_pass_0.5": 0.5, "g_pass_0.75": 0.75, "g_pass_1": 1.0}


@dataclass(frozen=True)
class Metric:
    """How a metric is shown.

    Attributes:
        label: Its name in words.
        axis: What its curve is over; "" for one number.
        share: Whether it is a share of something, shown as per cent.
        digits: After the point, where it is none.
    """

    label: str
    axis: Axis = "k"
    share: bool = False
    digits: int = 1

    @property
    def title(self) -> str:
        """The label with what stands behind the @.

        >>> METRICS["cover"].title, METRICS["top_share"].title
        ('Cover@τ', 'share of the commonest')
        """
        return f"{self.label}@{self.axis}" if self.axis else self.label


METRICS: dict[str, Metric] = {
    "pass": Metric("pass", share=True),
    "max": Metric("max", digits=3),
    "best_of": Metric("best-of", digits=3),
    "majority": Metric("majority", share=True),
    "vote_share": Metric("vote share", share=True),
    "strategies": Metric("strategies"),
    "correct_strategies": Metric("correct strategies"),
    "g_pass_0.5": Metric("G-pass(τ=0.5)", share=True),
    "g_pass_0.75": Metric("G-pass(τ=0.75)", share=True),
    "g_pass_1": Metric("G-pass(τ=1)", share=True),
    "g_pass_mean": Metric("mG-pass", share=True),
    "cover": Metric("Cover", "τ", share=True),
    "branches": Metric("branches", "position"),
    "effective_number": Metric("effective number of strategies", ""),
    "top_share": Metric("share of the commonest", "", share=True),
    "degenerate": Metric("strategy cannot be read", "", share=True),
    "shared_prefix": Metric("characters that two samples share", ""),
}


def powers_of_two(n: int) -> list[int]:
    """1, 2, 4, … up to n.

    >>> powers_of_two(10)
    [1, 2, 4, 8]
    """
    return [2**power for power in range(n.bit_length())]


def metric_values(evaluation: Evaluation) -> dict[str, Floats]:
    """Every metric of the evaluation on each problem, (P,) each."""
    n = evaluation.n
    strategies = count_labels(evaluation.strategies_PN, evaluation.correct_PN)
    values = {
        "effective_number": effective_number(strategies.all_PC),
        "top_share": top_share(strategies.all_PC, n),
        "degenerate": (evaluation.strategies_PN < 0).mean(axis=1),
    }
    for k in powers_of_two(n):
        values |= {f"{name}@{k}": value_P for name, value_P in _at_k(evaluation, k).items()}
    for tau in COVER_TAUS:
        values[f"cover@{tau:g}"] = cover_at(evaluation.correct_count_P, n, tau)
    return values | branch_values(evaluation)


def seed_values(evaluations: Sequence[Evaluation]) -> dict[str, Floats]:
    """The metrics that every seed has, one row a seed, (S, P) each.

    Branches are counted among the texts of each problem: cut them to equally many first.
    """
    by_seed = [metric_values(evaluation) for evaluation in evaluations]
    return {
        name: np.stack([values[name] for values in by_seed])
        for name in by_seed[0]
        if all(name in values for values in by_seed)
    }


def _at_k(evaluation: Evaluation, k: int) -> dict[str, Floats]:
    n, correct_P = evaluation.n, evaluation.correct_count_P
    strategies, answers = (
        count_labels(labels_PN, evaluation.correct_PN)
        for labels_PN in (evaluation.strategies_PN, evaluation.answers_PN)
    )
    right_PA = answers.correct_PC > 0  # an answer is right when a sample that gave it is correct
    majority = majority_at_k(answers.all_PC, right_PA, n, k)
    values = {
        "pass": pass_at_k(correct_P, n, k),
        "majority": majority.accuracy_P,
        "vote_share": majority.share_P,
        "strategies": distinct_at_k(strategies.all_PC, n, k),
        "correct_strategies": distinct_at_k(strategies.correct_PC, n, k),
        **{name: g_pass_at_k(correct_P, n, k, tau) for name, tau in G_PASS_TAUS.items()},
    }
    if k > 1:
        values["g_pass_mean"] = mean_g_pass_at_k(correct_P, n, k)
    if evaluation.rewards_PN is not None:
        values["max"] = max_at_k(evaluation.rewards_PN, k)
    if evaluation.proxy_PN is not None:
        values["best_of"] = best_of_k(evaluation.graded_PN, evaluation.proxy_PN, k)
    return values


def branch_values(evaluation: Evaluation) -> dict[str, Floats]:
    """Where the texts part that the file has kept: characters shared by two, branches by position.

    Branches are expected ones among as many texts as every problem has. None without two texts of
    each problem.
    """
    count = evaluation.texts_kept
    if count < 2:
        return {}
    curves = [branches_by_position(texts, count) for texts in evaluation.texts_P]
    positions = powers_of_two(max(map(len, curves)))
    return {
        "shared_prefix": np.array([mean_shared_prefix(texts) for texts in evaluation.texts_P]),
        **{f"branches@{t}": np.array([_at(curve, t) for curve in curves]) for t in positions},
    }


def _at(curve_T: Floats, position: int) -> float:
    """Branches at a position; behind the longest text no further samples part."""
    return float(curve_T[min(position, len(curve_T)) - 1]) if len(curve_T) else 1.0


def by_metric(names: Sequence[str] | Mapping[str, object]) -> dict[str, list[str]]:
    """metric → its names, metric@x, in their order.

    >>> by_metric(["pass@1", "top_share", "pass@2"])
    {'pass': ['pass@1', 'pass@2'], 'top_share': ['top_share']}
    """
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition("@")[0], []).append(name)
    return found
