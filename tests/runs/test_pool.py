import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from setrl.support.errors import RunError
from setrl.train.runs.pool import Job, _Pool, run_jobs
from tests.runs import sleepers

ROOT = Path(__file__).parents[2]


def interrupted(folder, pauses, number=signal.SIGINT, keeps=0.3):
    """Run a job that sleeps; signal the whole group once it has begun and after each pause.

    The job then takes `keeps` seconds to end.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.runs.sleepers", folder, str(keeps)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (folder / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    for pause in [0, *pauses]:
        time.sleep(pause)
        os.killpg(process.pid, number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    return (folder / "kept").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("pauses", [[], [0.0], [0.05, 0.05]])
def test_an_interrupt_lets_jobs_keep_what_they_have_even_if_it_is_doubled(tmp_path, pauses, number):
    """Stop as `timeout` does: it signals the process and then its group."""
    assert interrupted(tmp_path, pauses, number)


def test_a_second_interrupt_stops_at_once(tmp_path):
    assert not interrupted(tmp_path, [1.1], keeps=1.5)


def test_a_job_that_cannot_be_made_in_its_process_says_why():
    jobs = [Job("one", 1.0, sleepers.Vanished("own.jsonl"))]
    with pytest.raises(RunError, match=r"1 of 1 jobs failed:\n  one: own.jsonl has gone\n"):
        run_jobs(jobs, workers=1, show_progress=False, preload=sleepers.__name__)


def test_what_an_earlier_run_did_says_nothing_about_the_time_left():
    job = Job("one", 100.0, sleepers.refuse)
    pool = _Pool([job], workers=1, show_progress=True, preload=sleepers.__name__)
    now = pool._bar.start_t
    for done, second in [(77.0, 0), (78.0, 60), (79.0, 120)]:
        pool._bar._time = lambda second=second: now + second
        pool._show_progress(job, done)
    assert pool._bar.format_dict["rate"] == pytest.approx(1 / 60)
    assert pool._bar.n == 79
    pool.close()
