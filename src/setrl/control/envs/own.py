"""Environments and wrappers that implement `snapshot` and `restore` themselves."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from setrl.control.envs.base import WHAT_TO_IMPLEMENT, Adapter, NotResettableError


class OwnState(Adapter):
    """The environment's or wrapper's own methods; the wrappers around it are ours to restore."""

    name: ClassVar[str] = "own"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        if not self.is_made_for(env):
            raise NotResettableError(f"{type(env).__name__} has no own state: {WHAT_TO_IMPLEMENT}")
        self._restored: Any = None

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """Has it both methods?"""
        return callable(getattr(env, "snapshot", None)) and callable(getattr(env, "restore", None))

    def save(self) -> Any:
        """What the environment's `snapshot` gives."""
        return self.env.snapshot()  # type: ignore[attr-defined]

    def load(self, state: Any) -> None:
        """The environment's `restore`, with its noise kept."""
        self._restored = state
        self.env.restore(state, rng="keep")  # type: ignore[attr-defined]

    def reseed(self, noise: np.random.SeedSequence) -> None:
        """Noise may sit where only the environment finds it: restore again, with a seed."""
        seed = int(noise.generate_state(1)[0])
        self.env.restore(self._restored, rng=seed)  # type: ignore[attr-defined]
