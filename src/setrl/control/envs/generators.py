"""The random generators of a layer: find them all, set them back, and fork them."""

from __future__ import annotations

import functools
import random
import sys
import types
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from setrl.control.envs.layers import IMMUTABLE, is_of_known_state

_NUMPY = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
_KINDS = (*_NUMPY, random.Random)
_LEAVES = (*IMMUTABLE, type, types.ModuleType)
_METHODS = (types.MethodType, types.MethodWrapperType, types.BuiltinMethodType)
_OWN_SPACES = ("action_space", "observation_space", "_action_space", "_observation_space")
# Packages whose environments keep their noise only in attributes: no need to look any deeper.
_SHALLOW = ("gymnasium.envs.", "minigrid.", "ale_py.", "setrl.control.")


class NotResettableError(TypeError):
    """An environment cannot be set back; the message says what to implement."""


def is_generator(value: Any) -> bool:
    """Return whether it is a source of noise: a generator of NumPy, of Python or of torch."""
    if isinstance(value, _KINDS):
        return True
    torch = sys.modules.get("torch")  # if torch is not loaded, it has no generators
    return torch is not None and isinstance(value, torch.Generator)


def attributes_that_are_generators(layer: gym.Env) -> dict[str, Any]:
    """Return the generators among the attributes of a layer."""
    return {name: value for name, value in vars(layer).items() if is_generator(value)}


def generators_of(layer: gym.Env, *, own: bool = False) -> dict[str, Any]:
    """Return path → generator for all that a layer leads to: `game.world.rng`, `places['a'][2]`.

    Attributes, slots, containers, closures, arguments of partial functions, and the objects of
    methods are searched; the layer inside a wrapper and the spaces of the layer are not.

    Args:
        layer: A wrapper, or an environment.
        own: Search also all of a layer that sets its own contents back.
    """
    generators = attributes_that_are_generators(layer)
    if _attributes_are_enough(layer) or (sets_itself_back(layer) and not own):
        return generators
    attributes = vars(layer)
    fixed = [attributes[name] for name in ("env", *_OWN_SPACES) if name in attributes]
    seen_ids = {id(layer), *map(id, fixed), *map(id, generators.values())}
    queue = deque((name, value) for name, value in attributes.items() if id(value) not in seen_ids)
    while queue:
        path, value = queue.popleft()
        if isinstance(value, _LEAVES) or id(value) in seen_ids:
            continue
        seen_ids.add(id(value))
        if is_generator(value):
            generators[path] = value
        else:
            queue.extend((path + step, part) for step, part in _list_parts(value))
    return generators


def _attributes_are_enough(layer: gym.Env) -> bool:
    return is_of_known_state(layer) or type(layer).__module__.startswith(_SHALLOW)


def sets_itself_back(layer: gym.Env) -> bool:
    """Return whether a layer has its own `snapshot` and `restore`."""
    return all(callable(getattr(layer, name, None)) for name in ("snapshot", "restore"))


def _list_parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object leads to, with the step of the path that leads there."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            yield from ((f"[{place}]", item) for place, item in enumerate(value.flat))
        return
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, list | tuple | deque | set | frozenset):
        yield from ((f"[{place}]", item) for place, item in enumerate(value))
    elif isinstance(value, _METHODS):
        yield ".__self__", value.__self__
    elif isinstance(value, functools.partial):
        yield from ((f".{name}", getattr(value, name)) for name in ("func", "args", "keywords"))
    elif isinstance(value, types.FunctionType):
        yield from _list_parts_of_function(value)
    yield from ((f".{name}", item) for name, item in getattr(value, "__dict__", {}).items())
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield f".{name}", getattr(value, name)


def _list_parts_of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield defaults and closure, not the module's globals, which no environment owns."""
    for place, cell in enumerate(function.__closure__ or ()):
        try:
            yield f".__closure__[{place}]", cell.cell_contents
        except ValueError:  # a variable that has no value yet
            continue
    yield ".__defaults__", function.__defaults__
    yield ".__kwdefaults__", function.__kwdefaults__


def save_generators(layer: gym.Env, *, own: bool = False) -> dict[str, Any]:
    """Return path → state of the generator there.

    Raises:
        NotResettableError: If a generator has no state.
    """
    states = {}
    for path, generator in generators_of(layer, own=own).items():
        try:
            states[path] = state_of(generator)
        except NotImplementedError as error:
            raise NotResettableError(
                f"{type(layer).__name__}.{path} is a {type(generator).__name__}, which has no "
                "state that could be set back: use random.Random(seed)"
            ) from error
    return states


def load_generators(layer: gym.Env, states: dict[str, Any]) -> None:
    """Set the generators of a layer to saved states.

    It happens in place, because parts of an environment often hold the same generator.
    """
    if "_np_random" in states and layer.unwrapped is layer:
        _ = layer.np_random  # Gymnasium makes it at the first access
    generators = generators_of(layer)
    for path, state in states.items():
        if path not in generators:
            raise ValueError(
                f"the snapshot has a generator at {path}, but {type(layer).__name__} has none "
                "there: restore it into an environment that was made the same way"
            )
        set_state(generators[path], state)


def reseed_generators(layers: list[gym.Env], noise: np.random.SeedSequence) -> None:
    """Give every generator of every layer a new stream."""
    distinct = {
        id(generator): generator for layer in layers for generator in generators_of(layer).values()
    }
    for generator, seed in zip(distinct.values(), noise.spawn(len(distinct)), strict=True):
        set_state(generator, _make_state(generator, seed))


def state_of(generator: Any) -> Any:
    """Return the state of a generator, as plain data.

    Raises:
        NotImplementedError: If it has no state: it draws from the operating system.
    """
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if isinstance(generator, np.random.BitGenerator):
        return generator.state
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    if isinstance(generator, random.Random):
        return generator.getstate()
    return generator.get_state().numpy().copy()


def set_state(generator: Any, state: Any) -> None:
    """Set a generator to a state that `state_of` returned."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.BitGenerator):
        generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(sys.modules["torch"].from_numpy(state.copy()))


def _make_state(generator: Any, seed: np.random.SeedSequence) -> Any:
    """Return the state of a new generator of the same kind."""
    if isinstance(generator, np.random.Generator):
        return type(generator.bit_generator)(seed).state
    if isinstance(generator, np.random.BitGenerator):
        return type(generator)(seed).state
    if isinstance(generator, np.random.RandomState):
        return np.random.RandomState(np.random.MT19937(seed)).get_state(legacy=False)
    if isinstance(generator, random.Random):
        number = int.from_bytes(seed.generate_state(8).tobytes(), "little")
        return random.Random(number).getstate()
    torch = sys.modules["torch"]
    number = int(seed.generate_state(1, np.uint64)[0]) >> 1  # torch's seeds have 63 bits
    return state_of(torch.Generator(generator.device).manual_seed(number))
