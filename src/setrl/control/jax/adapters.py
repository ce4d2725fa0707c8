"""Environments of gymnax and XLand-MiniGrid as `JaxEnv`, by their ids.

Only their own steps are used, never a reset that follows an end by itself: vines need the state at
which an episode ended.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from typing_extensions import override

from setrl.control.jax.environment import State
from setrl.support import names
from setrl.support.errors import DataError


class Observed(NamedTuple):
    """A state of an adapted environment.

    Attributes:
        inner: The library's own state.
        observation: (D,) float32, what is seen there: all parts of the observation, flattened.
    """

    inner: State
    observation: jax.Array


class LibraryEnv(ABC):
    """An environment of a library, for one episode.

    Attributes:
        num_actions: Number of actions.
        max_steps: Steps after which an episode is cut.
    """

    def __init__(self, env: Any, num_actions: int, max_steps: int) -> None:
        _refuse_resets(env)
        self.env, self.num_actions, self.max_steps = env, num_actions, max_steps

    @abstractmethod
    def first(self, key: jax.Array) -> tuple[State, Any]:
        """Return the library's state and observation at a reset."""

    @abstractmethod
    def following(
        self, key: jax.Array, inner: State, action: jax.Array
    ) -> tuple[State, Any, jax.Array, jax.Array]:
        """Return the library's next state, its observation, the reward, and whether it ended."""

    def reset(self, key: jax.Array) -> Observed:
        """Return the first state of an episode."""
        inner, seen = self.first(jax.random.key_data(key))
        return Observed(_of_kinds(inner, inner), _flat(seen))

    def step(
        self, key: jax.Array, state: Observed, action: jax.Array
    ) -> tuple[Observed, jax.Array, jax.Array]:
        """Return the next state, the reward, and whether the episode has ended there."""
        keys = jax.random.key_data(key)
        inner, seen, reward, done = self.following(keys, state.inner, action)
        after = Observed(_of_kinds(inner, state.inner), _flat(seen))
        return after, jnp.asarray(reward, jnp.float32), jnp.asarray(done, bool)

    def observe(self, state: Observed) -> jax.Array:
        """Return what the policy sees: (D,) float32."""
        return state.observation

    def render(self, state: Observed) -> Any:
        """Return the library's picture of a state, if it draws any."""
        raise DataError(
            f"{type(self).__name__} draws no pictures: give the task a function of the state as "
            "`render`"
        )


class GymnaxEnv(LibraryEnv):
    """An environment of gymnax with discrete actions.

    Gymnax has one sign for an end and for its time limit. Both are ends here, as in PureJaxRL: the
    critic expects no reward after the time limit.

    Args:
        env: The id, such as "CartPole-v1", or an environment.
        params: Its parameters, or a mapping of those to change; None: its defaults.

    Raises:
        ValueError: If the id is unknown, or actions are not discrete.
    """

    def __init__(self, env: str | Any, params: Any = None) -> None:
        if isinstance(env, str):
            registration = _library("gymnax").registration
            _check_id("gymnax", env, registration.registered_envs)
            env, _ = registration.make(env)
        self.params = _params(env.default_params, params)
        actions = env.action_space(self.params)
        num_actions = _discrete(getattr(actions, "n", None), env.name)
        super().__init__(env, num_actions, int(self.params.max_steps_in_episode))

    @override
    def first(self, key: jax.Array) -> tuple[State, Any]:
        seen, inner = self.env.reset_env(key, self.params)
        return inner, seen

    @override
    def following(
        self, key: jax.Array, inner: State, action: jax.Array
    ) -> tuple[State, Any, jax.Array, jax.Array]:
        seen, inner, reward, done, _ = self.env.step_env(key, inner, action, self.params)
        return inner, seen, reward, done


class XMiniGridEnv(LibraryEnv):
    """An environment of XLand-MiniGrid; time limits cut episodes, and do not end them.

    Args:
        env: The id, such as "MiniGrid-DoorKey-8x8", or an environment.
        params: Its parameters, or a mapping of those to change; None: its defaults.

    Raises:
        ValueError: If the id is unknown.
    """

    def __init__(self, env: str | Any, params: Any = None) -> None:
        if isinstance(env, str):
            library = _library("xminigrid")
            _check_id("XLand-MiniGrid", env, library.registered_environments())
            env, own = library.make(env)
        else:
            own = env.default_params()
        self.params = _params(own, params)
        super().__init__(env, env.num_actions(self.params), int(self.params.max_steps))

    @override
    def first(self, key: jax.Array) -> tuple[State, Any]:
        timestep = self.env.reset(self.params, key)
        return timestep.state, timestep.observation

    @override
    def following(
        self, key: jax.Array, inner: State, action: jax.Array
    ) -> tuple[State, Any, jax.Array, jax.Array]:
        after = self.env.step(self.params, self._timestep(inner), action)
        return after.state, after.observation, after.reward, after.discount == 0

    @override
    def render(self, state: Observed) -> Any:
        return self.env.render(self.params, self._timestep(state.inner))

    @staticmethod
    def _timestep(inner: State) -> Any:
        types = import_module("xminigrid.types")
        return types.TimeStep(inner, types.StepType.MID, 0.0, 1.0, None)


LIBRARIES: dict[str, Callable[..., LibraryEnv]] = {
    "gymnax": GymnaxEnv,
    "xminigrid": XMiniGridEnv,
}


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"environments of {name} need {error.name}: pip install {name}"
        ) from error


def _refuse_resets(env: Any) -> None:
    """Refuse a wrapper that resets an environment where an episode ends."""
    while env is not None:
        if "AutoReset" in type(env).__name__:
            raise ValueError(
                f"{type(env).__name__} replaces the state in which an episode ended, which labels "
                "need: give the environment without it"
            )
        env = getattr(env, "_env", None)


def _check_id(library: str, name: str, known: Iterable[str]) -> None:
    names.look_up(f"environment of {library}", name, dict.fromkeys(known))


def _discrete(number: Any, name: str) -> int:
    if number is None:
        raise ValueError(
            f"{name} does not take one discrete action: Poly-PPO on JAX needs actions "
            "0 … num_actions − 1"
        )
    return int(number)


def _of_kinds(inner: State, like: State) -> State:
    """Return a state as arrays of fixed kinds: some steps return others than their resets."""

    def of_kind(new: Any, old: Any) -> jax.Array:
        own, kind = jnp.asarray(new).dtype, jnp.asarray(old).dtype
        if jnp.issubdtype(own, jnp.inexact) and not jnp.issubdtype(kind, jnp.inexact):
            raise ValueError(
                f"a step returns {own} where the reset returns {kind}, which would lose fractions: "
                f"return {own} at the reset, too"
            )
        return jnp.asarray(new, kind)

    return jax.tree.map(of_kind, inner, like)


def _params(own: Any, asked: Any) -> Any:
    """Return parameters: the environment's own, or with changes, or others."""
    if asked is None:
        return own
    if not isinstance(asked, Mapping):
        return asked
    for name in asked:
        names.look_up("parameter of the environment", name, vars(own))
    return own.replace(**asked)


def _flat(seen: Any) -> jax.Array:
    parts = [jnp.ravel(part).astype(jnp.float32) for part in jax.tree.leaves(seen)]
    return jnp.concatenate(parts)
