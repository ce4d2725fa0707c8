"""Environments whose state is plain attributes: Gymnasium's toy text and classic control."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym

from setrl.control.envs.base import Adapter
from setrl.control.envs.copying import copied, is_plain

# What does not change in an episode, or cannot be pickled (Gymnasium's and pygame's names).
CONSTANTS = frozenset(
    {"spec", "_cached_spec", "action_space", "observation_space", "metadata", "reward_range"}
    | {"render_mode", "_ezpickle_args", "_ezpickle_kwargs", "_np_random_seed"}
    | {"window", "screen", "clock", "surf", "window_surface", "viewer", "renderer"}
)
# Gymnasium's toy text: transition tables, maps and sizes.
_TABLES = frozenset({"P", "desc", "initial_state_distrib", "_cliff", "locs", "locs_colors"})


def save_attributes(env: gym.Env, constants: frozenset[str] = CONSTANTS) -> dict[str, Any]:
    """A copy of every attribute that is plain data and no constant."""
    values = vars(env).items()
    return {name: copied(each) for name, each in values if name not in constants and is_plain(each)}


class AttributeState(Adapter):
    """The plain attributes, copied: some ten microseconds."""

    name: ClassVar[str] = "attributes"
    _packages = ("gymnasium.envs.toy_text.", "gymnasium.envs.classic_control.")
    _constants = CONSTANTS | _TABLES

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """Gymnasium's own classes: nothing is known of the attributes of a subclass."""
        return type(env).__module__.startswith(AttributeState._packages)

    def save(self) -> dict[str, Any]:
        """Attribute → copy."""
        return save_attributes(self.env, self._constants)

    def load(self, state: dict[str, Any]) -> None:
        """Set each attribute to a copy."""
        vars(self.env).update(copied(state))
