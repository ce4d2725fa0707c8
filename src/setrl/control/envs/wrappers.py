"""The state of the wrappers of an environment, from the outermost to the innermost."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from setrl.control.envs.copying import copied, is_plain

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
    "setrl.control.envs.replay.Recorder": (),
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
    """The attributes of a wrapper that belong to the episode; for one not known, all plain data."""
    values = vars(wrapper)
    names = _EPISODE_STATE.get(kind_of(wrapper))
    if names is None:
        return {k: copied(v) for k, v in values.items() if k not in _FIXED and is_plain(v)}
    return {name: copied(values[name]) for name in names if name in values}


def load_wrapper(wrapper: gym.Env, state: dict[str, Any]) -> None:
    """Put the attributes of a wrapper back."""
    vars(wrapper).update({name: copied(value) for name, value in state.items()})
