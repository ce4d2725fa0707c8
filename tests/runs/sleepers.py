"""Jobs that sleep, for `run_jobs`; `python -m tests.runs.sleepers FOLDER` runs one and waits."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from setrl.runs.jobs import ArmJob, do_job
from setrl.runs.pool import run_jobs

SECONDS_TO_KEEP = 1.5  # that a job needs for what it keeps once it is asked to end


@dataclass(frozen=True, kw_only=True)
class Sleeper(ArmJob):
    """Sleeps until it is asked to end, then writes a file."""

    cost: float = 1.0


class Asked:
    """Remembers that the end was asked for."""

    asked = False

    def ask(self):
        """Ask for the end."""
        self.asked = True


def work(job, connection):
    """Sleep and keep."""
    stop = Asked()

    def sleep(on_progress):
        on_progress(0.0)
        (job.run_dir / "begun").touch()
        while not stop.asked:
            time.sleep(0.01)
        time.sleep(SECONDS_TO_KEEP)
        (job.run_dir / "kept").touch()

    do_job(job, connection, stop, sleep)


if __name__ == "__main__":
    from tests.runs import sleepers

    job = sleepers.Sleeper(run_dir=Path(sys.argv[1]), arm="one")
    run_jobs([job], sleepers.work, workers=1, show_progress=False)
