"""What a report warns of first: failures, changed logs, lacking credit, steps that differ."""

from __future__ import annotations

import numpy as np

from setrl.logs.run import Seed
from setrl.show.report.env_steps import unequal
from setrl.show.report.run import ReportedRun
from setrl.support.wording import count, first_of, percent
from setrl.train.runs.resume import changed_logs

SET_CREDIT = "vines/advantage_size"  # logged where it is asked for
FEWEST_STEPS = 8  # without a signal, from which a reader is warned
MUCH = 0.1  # share of the prompts without credit from which a reader is warned
SKIPPED = "advantage/skipped"  # share of the prompts without credit


def warnings_of(run: ReportedRun) -> list[str]:
    """Write a sentence for each training run that failed, and for arms that lack logs or credit.

    In a control run, also say whether the arms had different numbers of environment steps.
    """
    kinds = (_failures, _changed, _left_out, _without_signal, _without_set_credit)
    sentences = [
        sentence
        for arm in run.arms
        for kind in kinds
        for sentence in kind(run, arm, run.seeds(arm))
    ]
    return [*sentences, *unequal(run)]


def _failures(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    label = run.looks[arm].label
    return [
        f"{label}, seed {seed.number}, failed after {count(seed.last_step, 'step')}, and is not "
        f"comparable with the others: {seed.error}"
        for seed in seeds
        if seed.error is not None
    ]


def _changed(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    found = [f"{arm}/seed_{one.number}/{name}" for one in seeds for name in changed_logs(one)]
    return [f"Missing, or not what the run wrote: {first_of(found)}."] if found else []


def _left_out(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    shares = [share for seed in seeds if (share := share_left_out(seed)) is not None]
    if not shares or max(shares) < MUCH:
        return []
    where = "" if len(seeds) == 1 else " in its worst seed"
    return [
        f"{run.looks[arm].label} had no credit for {percent(max(shares))} of its training "
        f"prompts{where}: they taught nothing. The metric judge/unknown says whether the judge "
        "failed."
    ]


def _without_signal(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    return [
        f"{run.looks[arm].label}, seed {seed.number}, learned nothing: all its advantages are 0."
        for seed in seeds
        if seed.error is None and _is_without_signal(seed)
    ]


def _is_without_signal(seed: Seed) -> bool:
    """Return whether no prompt of any step had a signal, though some samples were not right."""
    dead = seed.metrics.get("advantage/dead_groups", np.zeros(0))
    right = seed.metrics.get("reward/pass@1", np.zeros(0))
    return len(dead) >= FEWEST_STEPS and bool((dead == 1).all()) and not (right == 1).all()


def _without_set_credit(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    return [
        f"{run.looks[arm].label}, seed {seed.number}, learned as PPO does: no step of any update "
        "had a set advantage. The metric vines/without_credit counts the vines without."
        for seed in seeds
        if seed.outcome and _never_had_set_credit(seed)
    ]


def _never_had_set_credit(seed: Seed) -> bool:
    return SET_CREDIT in seed.metrics and bool(np.isnan(seed.metrics[SET_CREDIT]).all())


def share_left_out(seed: Seed) -> float | None:
    """Return the share of the prompts of a run without credit; None if not logged."""
    shares_T = seed.metrics.get(SKIPPED, np.zeros(0))
    known_T = shares_T[~np.isnan(shares_T)]
    return float(known_T.mean()) if known_T.size else None
