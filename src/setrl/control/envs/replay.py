"""Replay: the reset seed and all actions since, for environments that these determine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.envs.adapters import Adapter
from setrl.control.envs.generators import load_generators, save_generators
from setrl.control.envs.layers import copied, given, layers_of


@dataclass(frozen=True)
class _NewNoise:
    """An entry of a history: here the generators were set to these states."""

    states: dict[str, Any]


class History(gym.Wrapper):
    """Keeps every input of the environment since its reset; below all other wrappers."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.seed: int | None = None
        self.options: dict[str, Any] | None = None
        self.events: list[Any] = []

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset, always with a seed: without one, draw it from the environment's generator."""
        if seed is None:
            seed = int(self.env.unwrapped.np_random.integers(2**31))
        self.seed, self.options, self.events = seed, copied(options), []
        return self.env.reset(seed=seed, **given(options))

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.events.append(copied(action))
        return self.env.step(action)


class ReplayState(Adapter):
    """Resets and repeats the actions: exact, at the cost of the steps that led there.

    `auto` never chooses it, because its cost grows with the episode. Noise inside compiled code is
    replayed and cannot be forked: it continues unchanged for every `rng`.
    """

    name: ClassVar[str] = "replay"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self._history = History(env)

    @override
    def attach(self, env: gym.Env) -> gym.Env:
        """Put the history between the environment and its innermost wrapper."""
        *wrappers, _ = layers_of(env)
        if not wrappers:
            return self._history
        wrappers[-1].env = self._history  # type: ignore[attr-defined]
        return env

    @override
    def save(self) -> tuple[int | None, Any, tuple[Any, ...]]:
        """Return seed, options and events."""
        history = self._history
        return history.seed, copied(history.options), tuple(history.events)

    @override
    def load(self, state: tuple[int | None, Any, tuple[Any, ...]]) -> None:
        seed, options, events = state
        self._history.reset(seed=seed, options=copied(options))
        for event in events:
            if isinstance(event, _NewNoise):
                load_generators(self.env, event.states)
                self._history.events.append(event)
            else:
                self._history.step(event)

    @override
    def reseed(self, noise: np.random.SeedSequence) -> None:
        """Keep the new streams for later replays."""
        self._history.events.append(_NewNoise(save_generators(self.env)))
