"""What an adapter is: it saves and loads the state of one kind of environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

WHAT_TO_IMPLEMENT = (
    "give the environment `snapshot()` → opaque picklable state, and "
    '`restore(snapshot, *, rng="keep" | "fork" | seed)` → (observation, info); '
    "see docs/resettable.md"
)


class NotResettableError(TypeError):
    """An environment cannot be set back; the message says what to implement."""


class Adapter(ABC):
    """Saves and loads the state of the environment below all wrappers.

    Random generators that are attributes of the environment are not its business: they are saved,
    set back and forked by `ResettableEnv`, in place.
    """

    name: ClassVar[str]

    def __init__(self, env: gym.Env) -> None:
        self.env = env

    @staticmethod
    @abstractmethod
    def is_made_for(env: gym.Env) -> bool:
        """Is this environment of the kind that the adapter was written for?"""

    @abstractmethod
    def save(self) -> Any:
        """The state: picklable, holds no environment, not changed by later steps."""

    @abstractmethod
    def load(self, state: Any) -> None:
        """Put a state back, which another instance may have saved; the state stays as it is."""

    def attach(self, env: gym.Env) -> gym.Env:
        """The environment with its wrappers, and among them whatever the adapter must see."""
        return env

    def reseed(self, noise: np.random.SeedSequence) -> None:
        """The generators that are attributes have been given new streams from `noise`."""
        return
