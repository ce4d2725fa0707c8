"""Titles of figures, computed from the data, and the numbers that sentences and tables share.

Nothing here knows which arm is expected to win. A title says "above" or "below" only where the
interval of the paired difference excludes 0. Sentences, titles and tables read pass@k alike: k = 1
was fixed before anyone saw a curve, so pass@1 has an interval of its own; every other k is one of
many, and has the band that holds for all k at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from setrl.evaluate.intervals import Difference
from setrl.evaluate.outcomes import unbeaten
from setrl.evaluate.summary import ArmDifference, SplitSummary
from setrl.evaluate.verdicts import place
from setrl.logs.run import is_base
from setrl.show.report.over_steps import mean_of_known
from setrl.show.report.run import GIVEN, ReportedRun, on_split
from setrl.show.report.style import main_arms
from setrl.support.wording import count, in_a_row, percent

HEADLINE_K = 32
FIRST = "pass@1"  # the k that was fixed beforehand

Verdict = Literal["above", "below", "unclear", "fact"]


def pass_ks(metrics: Collection[str]) -> list[int]:
    """Every k that pass@k was evaluated at, smallest first."""
    return sorted(int(name[5:]) for name in metrics if name.startswith("pass@"))


def headline_k(split: SplitSummary) -> int:
    """32, or the largest k that every arm has."""
    return min(HEADLINE_K, *(2 ** (arm.n.bit_length() - 1) for arm in split.arms.values()))


def read_alike(of: ArmDifference, metric: str) -> Difference:
    """Return a difference with the ends by which sentences, titles and tables read it."""
    return of.metrics[metric] if metric == FIRST else of.at_once(metric)


def pass_at_k_title(run: ReportedRun, split: SplitSummary) -> str:
    """Say which arms are above or below the reference at k = 1, and for all k at once."""
    differences = [
        difference for difference in differences_to_reference(run, split) if difference.band
    ]
    if not differences:
        only = ", ".join(run.looks[arm].label for arm in main_arms(list(split.arms)))
        return f"pass@k{on_split(split.split)}: {only}"
    reference = run.looks[differences[0].against].label
    with_one = {
        "above": f"above {reference}", "below": f"below {reference}",
        "unclear": f"not distinguishable from {reference}",
    }  # fmt: skip
    first = _arms_by_place(
        run,
        [(difference, with_one[difference.metrics[FIRST].shown]) for difference in differences],
    )
    others = _arms_by_place(
        run, [(difference, place(difference.band, reference)) for difference in differences]
    )
    return f"pass@1{on_split(split.split)}: {first}. All k at once: {others}"


def _arms_by_place(run: ReportedRun, placed: Sequence[tuple[ArmDifference, str]]) -> str:
    """Write arms with the same place in one phrase."""
    together: dict[str, list[str]] = {}
    for difference, where in placed:
        together.setdefault(where, []).append(run.looks[difference.arm].label)
    return "; ".join(
        f"{in_a_row(names)} {'is' if len(names) == 1 else 'are'} {where}"
        for where, names in together.items()
    )


def first_and_last(run: ReportedRun, arm: str, key: str) -> tuple[float, float] | None:
    """Means of a metric over the first and the last tenth of the steps, over all seeds."""
    series = run.series(arm, key)
    if series is None:
        return None
    values_RT = series[1]
    tenth = max(1, values_RT.shape[1] // 10)
    return mean_of_known(values_RT[:, :tenth]), mean_of_known(values_RT[:, -tenth:])


def frontier_title(run: ReportedRun, split: SplitSummary, k: int) -> str:
    """Which arms no other arm beats in both pass@1 and correct strategies (by their means).

    Where no strategies are known, pass@k stands in their place.
    """
    by_metric = {
        title: means_of(split, metric)
        for title, metric in (
            (f"correct strategies in {count(k, 'sample')}", f"correct_strategies@{k}"),
            (f"pass@{k}", f"pass@{k}"),
        )
        if is_over_all(split, metric)
    }
    what, means = next((what, means) for what, means in by_metric.items() if means)
    across = means_of(split, "pass@1")
    best = [run.looks[a].label for a in unbeaten({a: (across[a], y) for a, y in means.items()})]
    where = "" if split.split == GIVEN else f" ({split.split} split)"
    return f"On the frontier of pass@1 and {what}{where}: {in_a_row(best)}"


def is_over_all(split: SplitSummary, metric: str) -> bool:
    """Return whether each arm's mean is over all problems: others would not be comparable."""
    estimates = (arm.metrics.get(metric) for arm in split.arms.values())
    return not any(estimate.missing for estimate in estimates if estimate is not None)


def means_of(split: SplitSummary, metric: str) -> dict[str, float]:
    """Arm → its mean of a metric, for the arms that have one."""
    metrics = {arm: summary.metrics for arm, summary in split.arms.items()}
    return {
        arm: arm_metrics[metric].value
        for arm, arm_metrics in metrics.items()
        if metric in arm_metrics
    }


def credit_share(run: ReportedRun, arm: str) -> float:
    """Share of a training step that the credit takes; NaN if times were not logged."""
    credit, step = run.series(arm, "time/credit"), run.series(arm, "time/step")
    if credit is None or step is None:
        return float("nan")
    return float(np.nansum(credit[1]) / np.nansum(step[1]))


def time_title(run: ReportedRun) -> str:
    """How much of a step the credit takes."""
    shares = [credit_share(run, arm) for arm in run.trained]
    logged = [share for share in shares if not np.isnan(share)]
    if not logged:
        return "Seconds per training step"
    return f"Credit takes at most {percent(max(logged), 2)} of a training step"


def differences_to_reference(run: ReportedRun, split: SplitSummary) -> list[ArmDifference]:
    """Return the differences of the main arms to the reference."""
    reference = run.summary.reference
    if reference is None:
        return []
    arms = [a for a in main_arms(list(split.arms)) if a != reference and not is_base(a)]
    return [difference for arm in arms if (difference := split.difference(arm, reference))]
