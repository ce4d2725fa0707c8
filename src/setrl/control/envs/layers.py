"""What a layer of an environment holds (a wrapper, or the environment itself): data and generators.

A layer's state is copied as plain data, several times faster than `copy.deepcopy`; its random
generators are saved, set back and forked in place.
"""

from __future__ import annotations

import random
from collections import deque
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np

Generator = np.random.Generator | np.random.RandomState | random.Random

_CONSTANT = (int, float, bool, str, bytes, complex, type(None), np.generic)

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
    "setrl.control.envs.replay.History": (),
    "stable_baselines3.common.monitor.Monitor": ("rewards", "needs_reset", "current_reset_info"),
}
_FIXED = frozenset({"env", "_metadata", "_cached_spec", "_saved_kwargs", "render_mode"})


def layers_of(env: gym.Env) -> list[gym.Env]:
    """All wrappers, outermost first, and the environment itself last."""
    layers = [env]
    while isinstance(layers[-1], gym.Wrapper):
        layers.append(layers[-1].env)
    return layers


def kind_of(layer: gym.Env) -> str:
    """The full name of a layer's class."""
    return f"{type(layer).__module__}.{type(layer).__qualname__}"


def save_wrapper(wrapper: gym.Env) -> dict[str, Any]:
    """The attributes of a wrapper that belong to the episode; all plain data of an unknown one."""
    values = vars(wrapper)
    names = _EPISODE_STATE.get(kind_of(wrapper))
    if names is None:
        return {k: copied(v) for k, v in values.items() if k not in _FIXED and is_plain(v)}
    return {name: copied(values[name]) for name in names if name in values}


def load_wrapper(wrapper: gym.Env, state: dict[str, Any]) -> None:
    """Put the attributes of a wrapper back."""
    vars(wrapper).update({name: copied(value) for name, value in state.items()})


def is_plain(value: Any) -> bool:
    """Whether this is numbers, text, arrays, or containers of them: state, and not machinery."""
    if isinstance(value, _CONSTANT):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype != object
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    return isinstance(value, list | tuple | set | frozenset | deque) and all(map(is_plain, value))


def copied(value: Any) -> Any:
    """A copy that shares nothing that can change; `copy.deepcopy` of what is not plain data."""
    if isinstance(value, _CONSTANT):
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


def generators_of(layer: gym.Env) -> dict[str, Generator]:
    """The generators among the attributes of a layer."""
    return {name: value for name, value in vars(layer).items() if isinstance(value, Generator)}


def save_generators(layer: gym.Env) -> dict[str, Any]:
    """Attribute → state of the generator there."""
    return {name: _state_of(generator) for name, generator in generators_of(layer).items()}


def load_generators(layer: gym.Env, states: dict[str, Any]) -> None:
    """Set the generators of a layer to saved states.

    In place, because parts of an environment often hold the same generator.
    """
    if "_np_random" in states and layer.unwrapped is layer:
        _ = layer.np_random  # Gymnasium makes it at the first access
    generators = generators_of(layer)
    for name, state in states.items():
        _set_state(generators[name], state)


def reseed_generators(layers: list[gym.Env], noise: np.random.SeedSequence) -> None:
    """Give every generator of every layer a stream of its own."""
    distinct = {id(each): each for layer in layers for each in generators_of(layer).values()}
    for generator, seed in zip(distinct.values(), noise.spawn(len(distinct)), strict=True):
        _set_state(generator, _state_of(_fresh_like(generator, seed)))


def _state_of(generator: Generator) -> Any:
    """The state of a generator, as plain data."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    return generator.getstate()


def _set_state(generator: Generator, state: Any) -> None:
    """Set a generator to what `_state_of` gave."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.setstate(state)


def _fresh_like(generator: Generator, seed: np.random.SeedSequence) -> Generator:
    if isinstance(generator, np.random.Generator):
        return np.random.Generator(type(generator.bit_generator)(seed))
    if isinstance(generator, np.random.RandomState):
        return np.random.RandomState(np.random.MT19937(seed))
    return random.Random(int.from_bytes(seed.generate_state(8).tobytes(), "little"))
