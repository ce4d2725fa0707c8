"""What an adapter is: it saves and loads the state of one kind of environment."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import gymnasium as gym


class NotResettableError(TypeError):
    """An environment cannot be set back; the message says what to implement."""


class Adapter(Protocol):
    """Saves and loads the state of the environment below all wrappers.

    Random generators that are attributes of the environment are not its business: they are saved,
    set back and forked by `ResettableEnv`, in place.
    """

    name: ClassVar[str]

    def __init__(self, env: gym.Env) -> None: ...

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """Is this environment of the kind that the adapter was written for?"""
        ...

    def save(self) -> Any:
        """The state: picklable, holds no environment, not changed by later steps."""
        ...

    def load(self, state: Any) -> None:
        """Put a state back, which another instance may have saved; the state stays as it is."""
        ...


WHAT_TO_IMPLEMENT = (
    "give the environment `snapshot()` → opaque picklable state, and "
    '`restore(snapshot, *, rng="keep" | "fork" | seed)` → (observation, info); '
    "see docs/resettable.md"
)
