"""What a report warns of first: runs that failed, arms that lack credit, steps that differ."""

from __future__ import annotations

import numpy as np

from setrl.show.report.env_steps import unequal
from setrl.show.report.run import ArmRun, RunData
from setrl.support.wording import count, percent

SET_CREDIT = "vines/advantage_size"  # logged where it is asked for
FEWEST_STEPS = 8  # without a signal, from which a reader is warned
MUCH = 0.1  # share of the prompts without credit from which a reader is warned
SKIPPED = "advantage/skipped"  # share of the prompts without credit


def warnings_of(data: RunData) -> list[str]:
    """Write a sentence for each training run that failed, and for arms that lack much credit.

    In a control run, also say whether the arms had different numbers of environment steps.
    """
    kinds = (_failures, _left_out, _without_signal, _without_set_credit)
    found = [
        sentence
        for arm, runs in data.arms.items()
        for kind in kinds
        for sentence in kind(data, arm, runs)
    ]
    return [*found, *unequal(data)]


def _failures(data: RunData, arm: str, runs: tuple[ArmRun, ...]) -> list[str]:
    label = data.looks[arm].label
    return [
        f"{label}, seed {run.seed}, failed after {count(_steps(run), 'step')}, and is not "
        f"comparable with the others: {run.error}"
        for run in runs
        if run.error is not None
    ]


def _steps(run: ArmRun) -> int:
    steps = run.metrics.get("step", np.zeros(0))
    return int(steps[-1]) if len(steps) else 0


def _left_out(data: RunData, arm: str, runs: tuple[ArmRun, ...]) -> list[str]:
    shares = [share for run in runs if (share := share_left_out(run)) is not None]
    if not shares or max(shares) < MUCH:
        return []
    where = "" if len(runs) == 1 else " in its worst seed"
    return [
        f"{data.looks[arm].label} had no credit for {percent(max(shares))} of its training "
        f"prompts{where}: they taught nothing. The metric judge/unknown says whether the judge "
        "failed."
    ]


def _without_signal(data: RunData, arm: str, runs: tuple[ArmRun, ...]) -> list[str]:
    seeds = [run.seed for run in runs if run.error is None and _is_without_signal(run)]
    return [
        f"{data.looks[arm].label}, seed {seed}, learned nothing: all its advantages are 0."
        for seed in seeds
    ]


def _is_without_signal(run: ArmRun) -> bool:
    """Return whether no prompt of any step had a signal, though some samples were not right."""
    dead = run.metrics.get("advantage/dead_groups", np.zeros(0))
    right = run.metrics.get("reward/pass@1", np.zeros(0))
    return len(dead) >= FEWEST_STEPS and bool((dead == 1).all()) and not (right == 1).all()


def _without_set_credit(data: RunData, arm: str, runs: tuple[ArmRun, ...]) -> list[str]:
    seeds = [run.seed for run in runs if run.evaluation and _never_had_set_credit(run)]
    return [
        f"{data.looks[arm].label}, seed {seed}, learned as PPO does: no step of any update had a "
        "set advantage. The metric vines/without_credit counts the vines without."
        for seed in seeds
    ]


def _never_had_set_credit(run: ArmRun) -> bool:
    return SET_CREDIT in run.metrics and bool(np.isnan(run.metrics[SET_CREDIT]).all())


def share_left_out(run: ArmRun) -> float | None:
    """Return the share of the prompts of a run without credit; None if not logged."""
    found = run.metrics.get(SKIPPED, np.zeros(0))
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else None
