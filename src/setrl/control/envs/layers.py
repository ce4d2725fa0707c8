"""What a layer of an environment (a wrapper, or the environment itself) holds.

A layer's state is copied as plain data, several times faster than `copy.deepcopy`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np

IMMUTABLE = (int, float, bool, str, bytes, complex, type(None), np.generic)

# Wrapper → the attributes that belong to the episode. What it gathers over episodes (running means
# of a normaliser, queues of returns, visit counts) is shared by all vines and not set back.
_EPISODE_STATE = {
    "gymnasium.wrappers.common.TimeLimit": ("_elapsed_steps",),
    "gymnasium.wrappers.common.OrderEnforcing": ("_has_reset",),
    "gymnasium.wrappers.common.PassiveEnvChecker": (
        "checked_reset",
        "checked_step",
        "checked_data_reuse",
        "_previous_data",
    ),
    "gymnasium.wrappers.common.RecordEpisodeStatistics": ("episode_returns", "episode_lengths"),
    "gymnasium.wrappers.stateful_observation.NormalizeObservation": (),
    "gymnasium.wrappers.stateful_reward.NormalizeReward": ("discounted_reward",),
    "gymnasium.wrappers.stateful_observation.FrameStackObservation": (
        "obs_queue",
        "padding_value",
    ),
    "gymnasium.wrappers.rendering.RecordVideo": (),
    "minigrid.wrappers.ActionBonus": (),
    "minigrid.wrappers.PositionBonus": (),
    "stable_baselines3.common.monitor.Monitor": ("rewards", "needs_reset", "current_reset_info"),
}
# Wrapper → the statistics over episodes that its steps update.
_GATHERED = {
    "gymnasium.wrappers.stateful_observation.NormalizeObservation": "obs_rms",
    "gymnasium.wrappers.stateful_reward.NormalizeReward": "return_rms",
    "minigrid.wrappers.ActionBonus": "counts",
    "minigrid.wrappers.PositionBonus": "counts",
}
_FIXED = frozenset({"env", "_metadata", "_cached_spec", "_saved_kwargs", "render_mode"})


def layers_of(env: gym.Env) -> list[gym.Env]:
    """List all wrappers, outermost first, then the environment itself."""
    layers = [env]
    while isinstance(layers[-1], gym.Wrapper):
        layers.append(layers[-1].env)
    return layers


def given(options: dict[str, Any] | None) -> dict[str, Any]:
    """Return `options` as a keyword for reset, if there are any: many environments accept none."""
    return {} if options is None else {"options": options}


def kind_of(layer: gym.Env) -> str:
    """Return the full name of a layer's class."""
    return f"{type(layer).__module__}.{type(layer).__qualname__}"


def is_of_known_state(layer: gym.Env) -> bool:
    """Return whether it is known which attributes of the layer's class belong to the episode."""
    return kind_of(layer) in _EPISODE_STATE


def save_wrapper(wrapper: gym.Env) -> dict[str, Any]:
    """Save a wrapper's attributes of the episode; for an unknown class, all plain data."""
    attributes = vars(wrapper)
    names = _EPISODE_STATE.get(kind_of(wrapper))
    if names is None:
        return {k: copied(v) for k, v in attributes.items() if k not in _FIXED and is_plain(v)}
    return {name: copied(attributes[name]) for name in names if name in attributes}


def load_wrapper(wrapper: gym.Env, state: dict[str, Any]) -> None:
    """Restore the attributes of a wrapper."""
    vars(wrapper).update({name: copied(value) for name, value in state.items()})


def moving_normalisers(env: gym.Env) -> list[str]:
    """Name the layers that scale by statistics that each step changes."""
    return [
        type(layer).__name__
        for layer in layers_of(env)
        if kind_of(layer) in _GATHERED and getattr(layer, "update_running_mean", False)
    ]


@contextmanager
def gathered_kept(env: gym.Env) -> Iterator[bool]:
    """Keep steps inside the block out of wrappers' statistics; yield whether there are any."""
    statistics = [
        vars(layer)[_GATHERED[kind_of(layer)]]
        for layer in layers_of(env)
        if kind_of(layer) in _GATHERED
    ]
    # In place: several environments may share one.
    states = [part if isinstance(part, dict) else vars(part) for part in statistics]
    before = [deepcopy(state) for state in states]
    try:
        yield bool(statistics)
    finally:
        for state, saved in zip(states, before, strict=True):
            state.clear()
            state.update(saved)


def is_plain(value: Any) -> bool:
    """Return whether this is state: numbers, text, arrays, or containers of these."""
    if isinstance(value, IMMUTABLE):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype != object
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    return isinstance(value, list | tuple | set | frozenset | deque) and all(map(is_plain, value))


def copied(value: Any) -> Any:
    """Copy so that nothing that can change is shared; `copy.deepcopy` for all but plain data."""
    if isinstance(value, IMMUTABLE):
        return value
    kind = type(value)
    if kind is np.ndarray and value.dtype != object:
        return value.copy()
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return kind(map(copied, value))
    if kind is deque:
        return deque(map(copied, value), maxlen=value.maxlen)
    return deepcopy(value)
