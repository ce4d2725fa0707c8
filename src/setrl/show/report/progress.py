"""Where a run stands that is not finished."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from setrl.evaluate.looks import label
from setrl.show.report.run import ReportedRun
from setrl.support.errors import ConfigError
from setrl.support.wording import count, first_of


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
