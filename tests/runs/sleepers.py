"""A job that sleeps, for `run_jobs`; `python -m tests.runs.sleepers FOLDER SECONDS` runs it."""

import sys
import time
from functools import partial
from pathlib import Path

from setrl.support.errors import ConfigError
from setrl.train.runs.pool import Job, run_jobs


def sleep(folder, seconds, on_progress, stop):
    """Sleep until asked to end, then for `seconds`, as for what a job keeps; then write a file."""
    on_progress(0.0)
    (folder / "begun").touch()
    while not stop.asked:
        time.sleep(0.01)
    time.sleep(seconds)
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

    job = Job("one", 1.0, partial(sleepers.sleep, Path(sys.argv[1]), float(sys.argv[2])))
    run_jobs([job], workers=1, show_progress=False, preload=sleepers.__name__)
