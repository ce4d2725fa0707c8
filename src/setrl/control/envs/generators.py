"""The random generators that a layer of an environment holds: saved, set back, forked, in place."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import numpy as np

Generator = np.random.Generator | np.random.RandomState | random.Random


def generators_of(layer: gym.Env) -> dict[str, Generator]:
    """The generators among the attributes of one layer (a wrapper, or the environment itself)."""
    return {name: value for name, value in vars(layer).items() if isinstance(value, Generator)}


def save_generators(layer: gym.Env) -> dict[str, Any]:
    """Attribute → state of the generator there."""
    return {name: state_of(generator) for name, generator in generators_of(layer).items()}


def load_generators(layer: gym.Env, states: dict[str, Any]) -> None:
    """Set the generators of a layer to saved states.

    In place, because parts of an environment often hold the same generator.
    """
    if "_np_random" in states and layer.unwrapped is layer:
        _ = layer.np_random  # Gymnasium makes it when it is first asked for
    generators = generators_of(layer)
    for name, state in states.items():
        set_state(generators[name], state)


def reseed_generators(layers: list[gym.Env], noise: np.random.SeedSequence) -> None:
    """Give every generator of every layer a stream of its own."""
    distinct = {id(each): each for layer in layers for each in generators_of(layer).values()}
    for generator, seed in zip(distinct.values(), noise.spawn(len(distinct)), strict=True):
        set_state(generator, state_of(_fresh_like(generator, seed)))


def state_of(generator: Generator) -> Any:
    """The state of a generator, as plain data."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    return generator.getstate()


def set_state(generator: Generator, state: Any) -> None:
    """Set a generator to what `state_of` gave."""
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
