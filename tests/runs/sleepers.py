"""Jobs that sleep, for `run_jobs`; `python -m tests.runs.sleepers FOLDER` runs one and waits."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from setrl.runs.pool import run_jobs

SECONDS_TO_KEEP = 1.5  # that a job needs for what it keeps once it is asked to end


@dataclass(frozen=True)
class Sleeper:
    """Sleeps until it is asked to end, then writes a file."""

    folder: Path
    name: str = "one"
    cost: float = 1.0

    def do(self, on_progress, stop):
        """Sleep and keep."""
        on_progress(0.0)
        (self.folder / "begun").touch()
        while not stop.asked:
            time.sleep(0.01)
        time.sleep(SECONDS_TO_KEEP)
        (self.folder / "kept").touch()


if __name__ == "__main__":
    from tests.runs import sleepers

    job = sleepers.Sleeper(Path(sys.argv[1]))
    run_jobs([job], workers=1, show_progress=False, preload=sleepers.__name__)
