"""Replay: the seed of the reset and the actions since, for anything that is a function of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from setrl.control.envs.base import Adapter
from setrl.control.envs.copying import copied
from setrl.control.envs.generators import load_generators, save_generators


@dataclass(frozen=True)
class _NewNoise:
    """In a history: here the generators were set to these states."""

    states: dict[str, Any]


class Recorder(gym.Wrapper):
    """Keeps what reached the environment since its reset; stands below all other wrappers."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.seed: int | None = None
        self.options: dict[str, Any] | None = None
        self.history: list[Any] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset with a seed always: without one it is drawn from the environment's generator."""
        if seed is None:
            seed = int(self.env.unwrapped.np_random.integers(2**31))
        self.seed, self.options, self.history = seed, copied(options), []
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Write the action down and step."""
        self.history.append(copied(action))
        return self.env.step(action)


class ReplayState(Adapter):
    """Resets and steps again: exact, at the price of the steps that led there.

    Only generators that are attributes of the environment can be forked: noise inside compiled
    code is replayed, and goes on as it would have, whatever `rng` says.
    """

    name: ClassVar[str] = "replay"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self._recorder = Recorder(env)

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """Of none: it is asked for by name, because its cost grows with the episode."""
        return False

    def attach(self, env: gym.Env) -> gym.Env:
        """Put the recorder between the environment and its innermost wrapper."""
        if not isinstance(env, gym.Wrapper):
            return self._recorder
        innermost = env
        while isinstance(innermost.env, gym.Wrapper):
            innermost = innermost.env
        innermost.env = self._recorder
        return env

    def save(self) -> tuple[int | None, Any, tuple[Any, ...]]:
        """Seed, options and history."""
        recorder = self._recorder
        return recorder.seed, copied(recorder.options), tuple(recorder.history)

    def load(self, state: tuple[int | None, Any, tuple[Any, ...]]) -> None:
        """Live the history again."""
        seed, options, history = state
        self._recorder.reset(seed=seed, options=copied(options))
        for event in history:
            if isinstance(event, _NewNoise):
                load_generators(self.env, event.states)
                self._recorder.history.append(event)
            else:
                self._recorder.step(event)

    def reseed(self, noise: np.random.SeedSequence) -> None:
        """Keep the new streams for later replays."""
        self._recorder.history.append(_NewNoise(save_generators(self.env)))
