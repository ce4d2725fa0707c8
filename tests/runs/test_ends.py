"""A run whose code ends the process in whatever way, wherever it is called, is not finished."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest

from setrl.judges import Judge
from setrl.logs.run import Run, Seed
from setrl.support import files
from setrl.support.errors import RunError
from setrl.train.gathering.gather import Sources, judged
from setrl.train.gathering.judging import JudgeQueue
from setrl.train.method_config import from_config
from setrl.train.runs import pool
from setrl.train.runs.resume import train_on
from setrl.train.runs.run import Arms, run_arms
from setrl.train.scoring.credit import score
from tests.runs.test_claim import Config


def out_of_memory() -> None:
    raise MemoryError


def interrupt() -> None:
    raise KeyboardInterrupt


ENDS = {
    "os._exit": lambda: os._exit(0),
    "sys.exit": lambda: sys.exit(0),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGINT": interrupt,
    "memory": out_of_memory,
}
SAID = {
    "os._exit": "its process ended with exit code 0 before its job was done",
    "sys.exit": "SystemExit: 0",
    "SIGKILL": "its process was ended by SIGKILL, perhaps because memory was used up",
    "SIGINT": "KeyboardInterrupt",
    "memory": "MemoryError",
}


class Leaves(Judge):
    """A judge that ends the process instead of an answer."""

    name = "leaves"

    def __init__(self, end: Callable[[], None]) -> None:
        self.end = end

    def judge(self, groups):
        self.end()


@dataclass(frozen=True)
class Scored(Arms):
    """Arms that score one batch with code of a user, of which one part ends the process."""

    run_dir: Path
    place: str
    end: str
    cache: Path = Path()
    costs: dict[str, float] = field(default_factory=dict)

    def inputs(self):
        return {}

    def prepare(self, show_progress):
        return False

    def cost(self, arm):
        return 1.0

    def train(self, arm: str, seed: int, run: Seed, on_progress, stop):
        train_on(run, run.final, 1, on_progress, lambda _: self._step(run))

    def evaluate_base(self, run, on_progress, stop):
        raise AssertionError("there is no base")

    def _step(self, run: Seed) -> int:
        ends, place = ENDS[self.end], self.place
        own = f"{__name__}:method_of_{self.end.replace('.', '_')}"
        made = from_config({"method": own if place == "method" else "grpo"})

        def values(completions, **_):
            ends()

        rewards = values if place == "reward" else lambda completions, **_: [1, 0, 1, 0]
        strategies = values if place == "strategy" else lambda completions, **_: list("abab")
        sources = Sources.of([rewards], strategies, 0)
        texts = {"prompts": ["q"] * 4, "completions": ["a", "b", "c", "d"]}
        samples = sources.ask(texts, 4).samples()
        if place == "judge":
            samples, _, _ = judged(samples, JudgeQueue(Leaves(ends)))
        score(samples, made)
        run.final.mkdir(parents=True)
        return 1


def _method(end: str) -> Callable[[], object]:
    def make() -> object:
        ENDS[end]()
        return None

    return make


for _end in ENDS:  # a config names a function by its module
    globals()[f"method_of_{_end.replace('.', '_')}"] = _method(_end)


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork jobs from this process: a server for them would import everything once more."""
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: fork)
    monkeypatch.setattr(pool, "_start_forkserver", lambda _: None)


PLACES = ("reward", "strategy", "judge", "method")
EXCEPTIONS = ("sys.exit", "SIGINT", "memory")  # the others end a process in one way, anywhere


@pytest.mark.parametrize(
    ("place", "end"),
    [*product(PLACES, EXCEPTIONS), ("reward", "os._exit"), ("judge", "SIGKILL")],
)
def test_no_end_of_a_process_is_a_finished_run(end, place, tmp_path, forking):
    config = Config(arms={"one": {}, "two": {}})
    with pytest.raises(RunError, match="2 of 2 jobs failed") as failed:
        run_arms(Scored(tmp_path, place, end), config, show_progress=False)
    assert SAID[end] in str(failed.value)
    assert files.read_json(tmp_path / "run.json")["status"] == "failed"
    for arm in ("one", "two"):
        run = Run(tmp_path).seed(arm, 0)
        assert files.read_json(run.path / "run.json")["status"] in ("failed", "running")
        assert not run.final.exists()


def test_the_same_run_without_an_end_is_finished(tmp_path, forking):
    run_arms(Scored(tmp_path, "nowhere", "os._exit"), Config(), show_progress=False)
    assert files.read_json(tmp_path / "run.json")["status"] == "finished"


@pytest.mark.parametrize("error", [SystemExit(0), MemoryError(), GeneratorExit()])
def test_what_ends_before_the_jobs_is_recorded_as_failed(error, tmp_path):
    class Unprepared(Scored):
        def prepare(self, show_progress):
            raise error

    with pytest.raises(type(error)):
        run_arms(Unprepared(tmp_path, "nowhere", "os._exit"), Config(), show_progress=False)
    assert files.read_json(tmp_path / "run.json")["status"] == "failed"
