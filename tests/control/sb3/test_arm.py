"""One run of an arm: what it leaves, and that an interruption changes nothing."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
import torch

from setrl.control import tasks
from setrl.control.config import ControlConfig
from setrl.control.resolved import ResolvedControl, resolve
from setrl.control.run import train_arm
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import RunError
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import mark_complete, usable_checkpoint
from tests.control.goals import GoalsTask

ARMS = {
    "ppo": {"ucb_coef": 0.1},
    "reinforce": {"algorithm": "reinforce", "ent_coef": 0.1},
    "poly": {
        "algorithm": "poly_ppo",
        "set_size": 2,
        "num_vines": 4,
        "kl_coef": 0.1,
        "kl_anchor": "start",
        "credit": "shared",
    },
}


@pytest.fixture(scope="module", autouse=True)
def goals_are_a_task() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tasks.by_name, "goals", GoalsTask)
        yield


def config(**changes: Any) -> ResolvedControl:
    every = {"checkpoint_every": 150, "eval_every": 200}
    values = {"name": "test", "task": "goals", "arms": ARMS, **every, **changes}
    return resolve(ControlConfig(**values))


def train(run: Seed, arm: str, stop_at: int | None = None, **changes: Any) -> bool:
    stop = Stop()

    def on_step(steps: int) -> None:
        if stop_at is not None and steps >= stop_at:
            stop.ask()

    cache = run.path.parent / "cache"
    return train_arm(config(**changes), arm, 3, cache, run, on_step, stop)


Trained = Callable[..., Seed]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Arm → its run that nothing interrupted, trained once for all tests."""

    @cache
    def trained(arm: str) -> Seed:
        run = Seed(tmp_path_factory.mktemp(arm))
        assert train(run, arm)
        return run

    return trained


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Steps → the same run of the arm `poly`, stopped after that many steps."""

    @cache
    def trained(steps: int) -> Seed:
        run = Seed(tmp_path_factory.mktemp("stopped"))
        assert not train(run, "poly", stop_at=steps)
        return run

    return trained


@pytest.fixture
def stopped(stopped_once: Trained, tmp_path: Path) -> Trained:
    """The run of `stopped_once`, in a separate folder for this test."""
    return lambda steps: Seed(shutil.copytree(stopped_once(steps).path, tmp_path / "stopped"))


def weights(run: Seed) -> torch.Tensor:
    model = PolyPPO.load(run.final / "model.zip")
    return torch.cat([p.detach().flatten() for p in model.policy.parameters()])


def logged(run: Seed) -> list[dict[str, float]]:
    lines = files.read_lines(run.metrics_file)
    return [{k: v for k, v in one.items() if not k.startswith("time/")} for one in lines]


@pytest.mark.parametrize("arm", ["ppo", "poly"])
def test_an_interrupted_run_ends_with_the_same_weights(
    arm: str, whole: Trained, tmp_path: Path
) -> None:
    full, cut = whole(arm), Seed(tmp_path / "cut")
    assert not train(cut, arm, stop_at=200)
    assert files.read_json(cut.path / "run.json")["status"] == "interrupted"
    assert not cut.final.exists()
    assert train(cut, arm)
    assert torch.equal(weights(full), weights(cut))
    assert logged(full) == logged(cut)
    assert files.read_json(full.path / "evaluation.json") == files.read_json(
        cut.path / "evaluation.json"
    )


def test_a_longer_run_goes_on_where_a_shorter_one_ended(whole: Trained, tmp_path: Path) -> None:
    full, short = whole("poly"), Seed(tmp_path / "short")
    assert train(short, "poly", total_steps=400)
    assert files.read_json(short.path / "run.json")["step"] < full.last_step
    begun: list[int] = []
    resolved, cache = config(), short.path.parent / "cache"
    assert train_arm(resolved, "poly", 3, cache, short, begun.append, Stop())
    assert begun[0] >= 400
    assert torch.equal(weights(full), weights(short))
    assert logged(full) == logged(short)
    assert full.outcome == Seed(short.path).outcome
    record = files.read_json(short.path / "run.json")
    assert record["ppo"] == dict(resolved.arms["poly"].ppo)
    assert record["ppo"]["vf_coef"] == 0.5  # nobody gave it


def test_a_longer_run_that_is_killed_at_once_is_not_finished(
    whole: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = Seed(tmp_path / "short")
    assert train(short, "poly", total_steps=400)

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("setrl.control.run.truncate", dies)
        with pytest.raises(KeyboardInterrupt):
            train(short, "poly")
    assert files.read_json(short.path / "run.json")["status"] == "running"
    assert train(short, "poly")
    assert torch.equal(weights(whole("poly")), weights(short))


def killed_at_400(run: Seed) -> None:
    tasks.by_name["goals"] = GoalsTask  # this process is new

    def on_step(steps: int) -> None:
        if steps >= 400:
            os.kill(os.getpid(), signal.SIGKILL)

    train_arm(config(), "poly", 3, run.path.parent / "cache", run, on_step, Stop())


def test_a_killed_run_ends_with_the_same_weights(
    whole: Trained, forkserver: ForkServerContext, tmp_path: Path
) -> None:
    full, cut = whole("poly"), Seed(tmp_path / "cut")
    process = forkserver.Process(target=killed_at_400, args=(cut,))
    process.start()
    process.join(300)
    assert process.exitcode == -signal.SIGKILL
    assert usable_checkpoint(cut) is not None
    train(cut, "poly")
    assert torch.equal(weights(full), weights(cut))
    assert logged(full) == logged(cut)


def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(
    whole: Trained, stopped: Trained
) -> None:
    full, cut = whole("poly"), stopped(400)
    last = usable_checkpoint(cut)
    assert last is not None
    (last / "state.pkl").write_bytes(b"")
    before = usable_checkpoint(cut)
    assert before is not None
    assert before.name != last.name
    assert train(cut, "poly")
    assert torch.equal(weights(full), weights(cut))
    assert logged(full) == logged(cut)


@pytest.mark.parametrize("file", ["model.zip", "state.pkl"])
def test_a_checkpoint_whose_classes_have_moved_is_refused(
    file: str, stopped: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(200)

    def moved(*_: Any, **__: Any) -> None:
        raise ModuleNotFoundError("No module named 'setrl.methods'", name="setrl.methods")

    if file == "model.zip":
        monkeypatch.setattr(PolyPPO, "load", moved)
    else:
        monkeypatch.setattr("setrl.control.sb3.arm.pickle.loads", moved)
    with pytest.raises(RunError, match=f"{file} was written by another version of setrl"):
        train(run, "poly")


@pytest.mark.parametrize("what", ["changed", "of another machine", "without a seal"])
def test_a_checkpoint_that_was_not_made_here_is_refused(
    what: str, stopped: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(200)
    folder = usable_checkpoint(run)
    assert folder is not None
    if what == "changed":
        (folder / "state.pkl").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    elif what == "of another machine":
        monkeypatch.setenv("SETRL_CACHE", str(tmp_path / "there"))
    else:
        (folder / "seal").unlink()
    mark_complete(run, int(folder.name.rpartition("-")[2]))  # checksums are not secret
    with pytest.raises(RunError, match=r"holds pickles.*not written on this machine"):
        train(run, "poly")


def test_what_a_run_leaves(whole: Trained) -> None:
    run = whole("poly")
    status = files.read_json(run.path / "run.json")
    assert (status["status"], status["arm"], status["seed"]) == ("finished", "poly", 3)
    found = files.read_json(run.path / "evaluation.json")
    assert found["metrics"]["success"] == 1.0
    assert found["metrics"]["unknown"] is None
    assert found["steps"] >= 600
    last = logged(run)[-1]
    assert {"vines/distinct", "train/kl_penalty", "rollout/ep_rew_mean"} <= set(last)
    assert any("evaluation/success" in one for one in logged(run))
    assert len(list(run.checkpoint_folder.iterdir())) <= 2


def test_a_finished_run_is_not_trained_again(whole: Trained, tmp_path: Path) -> None:
    run = whole("ppo")
    written = (run.final / "model.zip").stat().st_mtime_ns
    steps: list[int] = []
    assert train_arm(config(), "ppo", 3, tmp_path, run, steps.append, Stop())
    assert (run.final / "model.zip").stat().st_mtime_ns == written
    assert steps == [600]


def test_arms_have_equal_environment_steps(whole: Trained) -> None:
    steps = {arm: files.read_json(whole(arm).path / "evaluation.json")["steps"] for arm in ARMS}
    assert all(600 <= number < 600 + 200 for number in steps.values())
