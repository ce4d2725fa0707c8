"""How the state of an environment below its wrappers is taken out and put back, a kind each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym

from setrl.control.envs.base import Adapter, NotResettableError
from setrl.names import look_up

# Backend → its class. The order is that of `auto`: the first whose environments these are.
_BACKENDS = {
    "own": "own:OwnState",
    "minigrid": "minigrid:MiniGridState",
    "mujoco": "mujoco:MujocoState",
    "atari": "atari:AtariState",
    "attributes": "attributes:AttributeState",
    "replay": "replay:ReplayState",
    "pickle": "pickled:PickledState",
}


def adapter_for(env: gym.Env, backend: str) -> Adapter:
    """The adapter of an environment, by name, or with "auto" the first that is made for its kind.

    Raises:
        ValueError: no backend has this name.
        NotResettableError: the backend cannot set this environment back; says what to implement.
    """
    if backend == "auto":
        backend = next(name for name, home in _BACKENDS.items() if _load(home).is_made_for(env))
    return _load(look_up("backend", backend, _BACKENDS))(env)


def _load(home: str) -> Any:
    module, name = home.split(":")
    return getattr(import_module(f"{__name__}.{module}"), name)


__all__ = ["Adapter", "NotResettableError", "adapter_for"]
