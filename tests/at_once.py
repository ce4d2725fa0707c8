"""The jobs of a run in this process: new ones would first import everything again."""

from contextlib import contextmanager

import pytest

from setrl.train.runs.pool import Stop


def do_at_once(jobs, *_, **__):
    """Do what `run_jobs` does, one job after another; an error of a job is raised."""
    for job in jobs:
        job.do(lambda _: None, Stop())


@contextmanager
def at_once():
    """Inside, runs start no processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setrl.train.runs.run.run_jobs", do_at_once)
        yield
