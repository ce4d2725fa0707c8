"""Where a run stands, and what a report warns of first: failures, lacking credit, other steps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from setrl.evaluate.looks import label
from setrl.logs.run import Seed
from setrl.show.report.over_steps import mean_of_known
from setrl.show.report.run import ReportedRun
from setrl.support.errors import ConfigError
from setrl.support.wording import count, first_of, in_a_row, percent
from setrl.train.runs.resume import changed_logs

CLOSE = 1.05  # the most steps of a training run over the fewest, up to which a reader may compare
SET_CREDIT = "vines/advantage_size"  # logged where it is asked for
FEWEST_STEPS = 8  # without a signal, from which a reader is warned
MUCH = 0.1  # share of the prompts without credit from which a reader is warned
SKIPPED = "advantage/skipped"  # share of the prompts without credit


@dataclass(frozen=True)
class RunProgress:
    """How far a run is.

    Attributes:
        sentence: What is done, and what is not.
        share: The steps that are done, as a share of all, in [0, 1].
        is_running: Whether a process trains it.
    """

    sentence: str
    share: float
    is_running: bool


def progress_of(run: ReportedRun) -> RunProgress | None:
    """Say where a run stands; None if it has ended by itself."""
    status = run.record.get("status")
    if status not in ("running", "interrupted"):
        return None
    if goes_on := status == "running" and is_running(run.path):
        start, end = "Still running", f"written at {datetime.now(UTC):%H:%M:%S} UTC"
    else:
        start, end = "Ended before it was finished", "the same command goes on from there"
    steps = int(run.config.get("steps") or run.config.get("total_steps") or 0)
    done = _steps_done(run)
    begun = [f"{name} at step {at:,}" for name, at in done.items() if 0 < at < steps]
    whole, none = (sum(at >= steps for at in done.values()), sum(not at for at in done.values()))
    parts = [
        f"{whole} of {count(len(done), 'training run')} did all {count(steps, 'step')}",
        *([first_of(begun)] if begun else []),
        *([f"{none} not begun"] if none else []),
        end,
    ]
    share = sum(min(at, steps) for at in done.values()) / max(1, steps * len(done))
    return RunProgress(f"{start}: {'; '.join(parts)}.", share, goes_on)


def _steps_done(run: ReportedRun) -> dict[str, int]:
    """Arm and seed → last step in the metrics, of all training runs that the config names."""
    done = {}
    for arm in run.config.get("arms") or ():
        last = {seed.number: seed.last_step for seed in run.seeds(arm)}
        for seed in run.config.get("seeds") or ():
            done[f"{label(arm)} seed {seed}"] = last.get(seed, 0)
    return done


def is_running(folder: Path) -> bool:
    """Return whether a process trains the run in a folder."""
    try:
        from setrl.train.runs.claim import is_claimed
    except ConfigError:  # a system without locks of files trains no run
        return False
    return is_claimed(folder)


def warnings_of(run: ReportedRun) -> list[str]:
    """Write a sentence for each training run that failed, and for arms that lack logs or credit.

    In a control run, also say whether the arms had different numbers of environment steps.
    """
    kinds = (
        _failure_warnings,
        _changed_log_warnings,
        _left_out_warnings,
        _no_signal_warnings,
        _no_set_credit_warnings,
    )
    sentences = [
        sentence
        for arm in run.arms
        for kind in kinds
        for sentence in kind(run, arm, run.seeds(arm))
    ]
    return [*sentences, *unequal(run)]


def _failure_warnings(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    label = run.looks[arm].label
    return [
        f"{label}, seed {seed.number}, failed after {count(seed.last_step, 'step')}, and is not "
        f"comparable with the others: {seed.error}"
        for seed in seeds
        if seed.error is not None
    ]


def _changed_log_warnings(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    paths = [f"{arm}/seed_{seed.number}/{name}" for seed in seeds for name in changed_logs(seed)]
    return [f"Missing, or not what the run wrote: {first_of(paths)}."] if paths else []


def _left_out_warnings(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    shares = [mean_of_known(seed.metrics.get(SKIPPED, np.zeros(0))) for seed in seeds]
    much = [share for share in shares if share >= MUCH]
    if not much:
        return []
    where = "" if len(seeds) == 1 else " in its worst seed"
    return [
        f"{run.looks[arm].label} had no credit for {percent(max(much))} of its training "
        f"prompts{where}: they taught nothing. The metric judge/unknown says whether the judge "
        "failed."
    ]


def _no_signal_warnings(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
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


def _no_set_credit_warnings(run: ReportedRun, arm: str, seeds: list[Seed]) -> list[str]:
    return [
        f"{run.looks[arm].label}, seed {seed.number}, learned as PPO does: no step of any update "
        "had a set advantage. The metric vines/without_credit counts the vines without."
        for seed in seeds
        if seed.outcome and _never_had_set_credit(seed)
    ]


def _never_had_set_credit(seed: Seed) -> bool:
    return SET_CREDIT in seed.metrics and bool(np.isnan(seed.metrics[SET_CREDIT]).all())


def env_steps_in_words(run: ReportedRun) -> str:
    """Say how many environment steps the evaluated training runs had, as they were counted."""
    every = [steps for arm_steps in _steps_of_arms(run).values() for steps in arm_steps]
    if not every:
        return "Every arm gets the same number of environment steps, including the steps of vines"
    if not _are_close(every):
        return (
            "The arms did not have the same number of environment steps, including the steps of "
            f"vines: {_steps_by_arm_text(run)}"
        )
    about = "" if min(every) == max(every) else "about "
    return (
        f"Every arm had {about}the same number of environment steps ({_range_text(every)}), "
        "including the steps of vines"
    )


def unequal(run: ReportedRun) -> list[str]:
    """Warn if the steps of training runs are not within a few percent of each other."""
    every = [steps for arm_steps in _steps_of_arms(run).values() for steps in arm_steps]
    return (
        []
        if _are_close(every)
        else [f"{env_steps_in_words(run)}. Differences between arms may come from this."]
    )


def _steps_of_arms(run: ReportedRun) -> dict[str, list[int]]:
    """Arm → the environment steps of each evaluated training run."""
    by_arm = {
        arm: [seed.last_step for seed in run.seeds(arm) if seed.outcome and seed.metrics]
        for arm in run.arms
    }
    return {arm: steps for arm, steps in by_arm.items() if steps and run.kind == "control"}


def _are_close(every: list[int]) -> bool:
    return not every or max(every) <= CLOSE * min(every)


def _steps_by_arm_text(run: ReportedRun) -> str:
    steps = _steps_of_arms(run).items()
    return in_a_row(
        [f"{run.looks[arm].label} had {_range_text(arm_steps)}" for arm, arm_steps in steps]
    )


def _range_text(steps: list[int]) -> str:
    fewest, most = min(steps), max(steps)
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
