"""The page of a run that trains: what it says, and when it is written again."""

import fcntl
import json
import shutil

import pytest

from setrl.show.report import live
from setrl.show.report.live import kept_up_to_date
from setrl.show.report.progress import progress_of
from setrl.show.report.run import read_run
from setrl.support import files
from setrl.train.runs.claim import LOCK
from setrl.train.runs.written import REPORT
from tests import fake_run


@pytest.fixture
def run(tmp_path):
    """A run of 10 steps with three arms: done, at step 4, and not begun."""
    folder = fake_run.make(
        tmp_path / "r", ("grpo", "poly_epo", "maxpo"), (0,), steps=10, problems=2, n=2,
        evaluated=False,
    )  # fmt: skip
    shutil.rmtree(folder / "maxpo")
    metrics = folder / "poly_epo/seed_0/metrics.jsonl"
    files.write_lines(metrics, files.read_lines(metrics)[:4])
    set_status(folder, "running")
    return folder


def set_status(folder, status):
    record = files.read_json(folder / "run.json")
    files.write_json(folder / "run.json", {**record, "status": status})


def test_a_run_that_trains_says_how_far_it_is(run):
    with (run / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = progress_of(read_run(run))
        live._write(run)
    assert found.sentence.startswith(
        "Still running: 1 of 3 training runs did all 10 steps; Poly-EPO seed 0 at step 4; "
        "1 not begun; written at "
    )
    assert found.share == (10 + 4) / 30
    page = (run / REPORT).read_text()
    assert 'max="1" value="0.467"' in page
    assert f"follow the run with <code>setrl view {run}</code>" in page
    assert not any((run / "figures").iterdir())


@pytest.mark.parametrize(("status", "starts"), [
    ("running", "Ended before it was finished"),  # killed: nothing holds the folder
    ("interrupted", "Ended before it was finished"),
    ("failed", None),
    ("finished", None),
])  # fmt: skip
def test_a_run_that_has_ended_does_not_say_that_it_trains(run, status, starts):
    set_status(run, status)
    found = progress_of(read_run(run))
    assert (found and found.sentence.startswith(starts)) == (None if starts is None else True)
    assert found is None or not found.is_running


class Turns:
    """An event that ends the loop after some turns; each first does something to the run."""

    def __init__(self, *before_each):
        self.turns, self.pauses = list(before_each), []

    def wait(self, pause):
        self.pauses.append(pause)
        if not self.turns:
            return True
        self.turns.pop(0)()
        return False


def test_the_page_is_written_again_only_after_new_steps(run, monkeypatch):
    written = []
    metrics = run / "grpo/seed_0/metrics.jsonl"
    clock = iter([0.0, 2.0, 10.0, 10.1])
    monkeypatch.setattr(live.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(live, "is_running", lambda _: True)
    monkeypatch.setattr(live, "_write", lambda folder: written.append(folder))

    def step():
        with metrics.open("a") as file:
            file.write(json.dumps({"step": 11 + len(written)}) + "\n")

    turns = Turns(lambda: None, lambda: None, step)
    live._write_until(run, turns)
    assert written == [run, run]
    slow = 2.0 * live.LEAST_PAUSE
    assert turns.pauses == [live.EVERY, slow, slow, live.EVERY]


def test_a_folder_that_nobody_trains_in_is_left_alone(run, monkeypatch):
    monkeypatch.setattr(live, "_write", lambda _: pytest.fail("written"))
    live._write_until(run, Turns(lambda: None))


def test_an_interrupted_run_no_longer_says_that_it_trains(run):
    (run / REPORT).write_text('<meta name="generator" content="setrl"> Still running')
    set_status(run, "interrupted")
    with pytest.raises(KeyboardInterrupt), kept_up_to_date(run):
        raise KeyboardInterrupt
    assert "Ended before it was finished" in (run / REPORT).read_text()


def test_a_fault_of_the_page_is_no_fault_of_the_training(run):
    (run / REPORT).write_text("somebody's page")
    live._write(run)
    assert (run / REPORT).read_text() == "somebody's page"
