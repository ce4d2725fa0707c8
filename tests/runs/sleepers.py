"""A job that sleeps, for `run_jobs`; `python -m tests.runs.sleepers FOLDER` runs it and waits."""

import sys
import time
from functools import partial
from pathlib import Path

from setrl.errors import ConfigError
from setrl.runs.pool import Job, run_jobs

SECONDS_TO_KEEP = 1.5  # that a job needs for what it keeps once it is asked to end


def sleep(folder, on_progress, stop):
    """Sleep until asked to end, then write a file."""
    on_progress(0.0)
    (folder / "begun").touch()
    while not stop.asked:
        time.sleep(0.01)
    time.sleep(SECONDS_TO_KEEP)
    (folder / "kept").touch()


def refuse(path):
    """What a value does whose making fails in the process of a job."""
    raise ConfigError(f"{path} has gone")


class Vanished:
    """A job that is made again when it arrives, which fails."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return refuse, (self.path,)

    def __call__(self, on_progress, stop):
        raise AssertionError("it cannot be made")


if __name__ == "__main__":
    from tests.runs import sleepers

    job = Job("one", 1.0, partial(sleepers.sleep, Path(sys.argv[1])))
    run_jobs([job], workers=1, show_progress=False, preload=sleepers.__name__)
