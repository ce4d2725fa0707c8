"""What it costs to set an environment back: ours, deepcopy and pickle, against a step and a reset.

    python benchmarks/reset.py [names of environments]

CPU microseconds, the median of some hundred calls, mid-episode, all in one run. "ours" is the
backend that `make_resettable` chooses; "pickle" is `make_resettable(env, "pickle")`; "deepcopy" is
one `copy.deepcopy` of the bare environment, which keeps a state but does not restore it. To send a
snapshot to another process also costs `pickle.dumps`; the size of the pickle is shown.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np

from setrl.control import make_resettable
from setrl.control.envs.adapters import NotResettableError

NAMES = [
    "CartPole-v1",
    "FrozenLake-v1",
    "MiniGrid-Empty-8x8-v0",
    "MiniGrid-FourRooms-v0",
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-Dynamic-Obstacles-8x8-v0",
    "BabyAI-GoToLocal-v0",
    "BabyAI-GoTo-v0",
    "BabyAI-Pickup-v0",
    "BabyAI-BossLevel-v0",
    "Hopper-v5",
    "HalfCheetah-v5",
    "Ant-v5",
    "ALE/Pong-v5",
    "ALE/Breakout-v5",
]
HEADER = (
    "| environment | backend | step | reset | snapshot | restore | both / step "
    "| deepcopy | pickle: snapshot | restore | kB |"
)

T = TypeVar("T")


def median_us(call: Callable[[], Any], calls: int = 150) -> float:
    """Return the median CPU time of a call, in microseconds."""
    times = []
    for _ in range(calls):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return float(np.median(times)) / 1000


def or_none(call: Callable[[], T]) -> T | None:
    """Return the times, or None if the way does not work with this environment."""
    try:
        return call()
    except (NotResettableError, TypeError):
        return None


def walk(env: gym.Env, steps: int = 5) -> None:
    """Walk into the middle of an episode."""
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(steps):
        if any(env.step(env.action_space.sample())[2:4]):
            env.reset()


def set_back(env: gym.Env, backend: str) -> tuple[float, float]:
    """Time snapshot and restore with one backend."""
    one = make_resettable(env, backend)
    walk(one)
    state = one.snapshot()
    return median_us(one.snapshot), median_us(lambda: one.restore(state, rng="keep"))


def step_us(env: gym.Env, steps: int = 300) -> float:
    """Return the median CPU time of a random step, without resets."""
    walk(env)
    times = []
    for _ in range(steps):
        action, start = env.action_space.sample(), time.process_time_ns()
        ended = any(env.step(action)[2:4])
        times.append(time.process_time_ns() - start)
        if ended:
            env.reset()
    return float(np.median(times)) / 1000


def line(name: str) -> str:
    """Write one line of the table."""
    options = {"repeat_action_probability": 0} if name.startswith("ALE/") else {}
    env = gym.make(name, **options)
    step, reset = step_us(env), median_us(env.reset, 30)
    ours = make_resettable(env)
    snapshot, restore = set_back(env, "auto")
    walk(ours)
    copy = or_none(lambda: median_us(lambda: deepcopy(env.unwrapped), 30))
    pickled = or_none(lambda: set_back(env, "pickle"))
    times = [step, reset, snapshot, restore, copy, *(pickled or (None, None))]
    shown = ["—" if each is None else f"{each:.0f}" for each in times]
    shown.insert(4, f"{(snapshot + restore) / step:.2f}")
    kilobytes = len(pickle.dumps(ours.snapshot())) / 1000
    return f"| {name} | {ours.adapter.name} | {' | '.join(shown)} | {kilobytes:.1f} |"


def main() -> None:
    warnings.simplefilter("ignore")
    with contextlib.suppress(ImportError):
        import minigrid  # noqa: F401
    with contextlib.suppress(ImportError):
        import ale_py

        gym.register_envs(ale_py)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n\n{HEADER}\n|{'---|' * 11}")
    for name in sys.argv[1:] or NAMES:
        with contextlib.redirect_stdout(io.StringIO()):  # BabyAI prints what it rejects
            shown = line(name)
        print(shown, flush=True)


if __name__ == "__main__":
    main()
