"""The environment steps that the arms of a control run had, and whether they can be compared."""

from __future__ import annotations

from setrl.show.report.run import ReportedRun
from setrl.support.wording import in_a_row

CLOSE = 1.05  # the most steps of a training run over the fewest, up to which a reader may compare


def in_sentence(run: ReportedRun) -> str:
    """Say how many environment steps the evaluated training runs had, as they were counted."""
    every = [steps for own in _steps(run).values() for steps in own]
    if not every:
        return "Every arm gets the same number of environment steps, including the steps of vines"
    if not _are_close(every):
        return (
            "The arms did not have the same number of environment steps, including the steps of "
            f"vines: {_by_arm(run)}"
        )
    about = "" if min(every) == max(every) else "about "
    return (
        f"Every arm had {about}the same number of environment steps ({_range(every)}), including "
        "the steps of vines"
    )


def unequal(run: ReportedRun) -> list[str]:
    """Warn if the steps of training runs are not within a few percent of each other."""
    every = [steps for own in _steps(run).values() for steps in own]
    return (
        []
        if _are_close(every)
        else [f"{in_sentence(run)}. Differences between arms may come from this."]
    )


def _steps(run: ReportedRun) -> dict[str, list[int]]:
    """Arm → the environment steps of each evaluated training run."""
    by_arm = {
        arm: [seed.last_step for seed in run.seeds(arm) if seed.outcome and seed.metrics]
        for arm in run.arms
    }
    return {arm: steps for arm, steps in by_arm.items() if steps and run.kind == "control"}


def _are_close(every: list[int]) -> bool:
    return not every or max(every) <= CLOSE * min(every)


def _by_arm(run: ReportedRun) -> str:
    steps = _steps(run).items()
    return in_a_row([f"{run.looks[arm].label} had {_range(own)}" for arm, own in steps])


def _range(steps: list[int]) -> str:
    fewest, most = min(steps), max(steps)
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
