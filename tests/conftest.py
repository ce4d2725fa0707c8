"""What all tests share."""

import gc
import importlib.metadata
import multiprocessing
import os
import signal
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

# No test asks a hub, and none waits until a hub does not answer.
os.environ["HF_HUB_OFFLINE"] = "1"

# Trainers and checkpoints of others ask for it each time, and nobody installs a package meanwhile.
importlib.metadata.metadata = cache(importlib.metadata.metadata)
importlib.metadata.version = cache(importlib.metadata.version)

# A shell starts `make test &` with SIGINT ignored, and the commands under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and no limits of time: a busy machine makes no test fail.
settings.register_profile(
    "setrl", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("setrl")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without searches for garbage: all that is imported stays, and they take a fifth."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def few_objects_to_search():
    """Freeze all that is imported: garbage collection after a training run then skips it.

    A search through the modules of PyTorch and its friends takes longer than a tiny step.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """The base model of the configs in `tests.tiny`, made once for all tests of a process."""
    from setrl.train.lm.base_model import base_model
    from tests.tiny import tiny

    return base_model(tiny().base, tmp_path_factory.mktemp("cache"), show_progress=False)


@pytest.fixture(scope="session")
def forkserver():
    """Make processes that start with what training imports, which is imported once for them all.

    A fork of this process would inherit threads of JAX.
    """
    from setrl.train.runs import pool

    pool._start_forkserver(["setrl.train.lm.run", "setrl.control.sb3.arm"])
    return multiprocessing.get_context("forkserver")


@pytest.fixture(scope="package")
def grader():
    """A grader for all tests of a folder."""
    from setrl.rewards import MathAnswer

    return MathAnswer()


@pytest.fixture
def unsaved_figures(monkeypatch):
    """Draw figures and save none, which takes longer than all else of a report."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_, **__: None)


@pytest.fixture
def setrl(capsys):
    """Run a command line in this process: exit code, standard output, standard error."""
    from setrl import cli

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return left.value.code, printed.out, printed.err

    return run
