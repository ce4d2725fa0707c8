"""A reward in a process of its own: it ends no run, and does not go on after its time."""

import os

import pytest

from setrl.rewards import own_process
from setrl.rewards.config import rewards_from_config
from setrl.support.errors import ConfigError, RunError

OWN = """
import os

def one(completions, where, **_):
    found = []
    for text, pid in zip(completions, where):
        if text == "hangs":
            sum(range(10**14))  # C code that looks for no signal
        if text == "leaves":
            os._exit(0)
        if text == "raises":
            raise KeyError("gold")
        found.append(None if text == "?" else float(os.getpid() != pid))
    return found

def traced(completions, trainer_state):
    return [0.0]
"""


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(own_process, "GRACE_S", 0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_process_rewards.py").write_text(OWN)
    return folder


def reward(folder, name="one", **options):
    function = f"own_process_rewards:{name}"
    spec = {"function": function, "own_process": True, **options}
    [made] = rewards_from_config(spec, None, folder).functions
    return made


def call(made, *texts):
    """The place of this process is a column that only another process finds wrong."""
    return made(prompts=["q"] * len(texts), completions=texts, where=[os.getpid()] * len(texts))


def test_what_fails_costs_only_its_own_samples(folder):
    made = reward(folder, timeout=0.1, on_error="unknown")
    with pytest.warns(UserWarning, match=r"took longer than its 0\.1 s.* such samples"):
        found = call(made, "a", "hangs", "leaves", "raises", "?")
    assert found == [1.0, None, None, None, None]
    assert made.failures == {"timeout": 1, "process ended": 1, "KeyError": 1}
    assert call(made, "a", "?") == [1.0, None]


def test_the_error_says_how_the_process_ended(folder):
    with pytest.raises(RunError, match="ended its process with exit code 0, on the sample 'leave"):
        call(reward(folder), "leaves")


def test_what_the_trainer_has_cannot_be_asked_from_another_process(folder):
    with pytest.raises(ConfigError, match="takes 'trainer_state' of the trainer, and cannot have"):
        reward(folder, "traced")
    with pytest.raises(RunError, match="a reward with own_process gets columns that can be sent"):
        reward(folder)(prompts=["q"], completions=["a"], where=[lambda: None])
