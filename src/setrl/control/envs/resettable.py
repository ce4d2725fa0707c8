"""Environments that can be set back: `snapshot` keeps a state, `restore` continues from it.

env = make_resettable(gym.make("CartPole-v1"))
env.reset(seed=1)
state = env.snapshot()
for _ in range(8):
observation, info = env.restore(state)   # eight futures of one state
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.envs.adapters import (
    Adapter,
    AtariState,
    AttributeState,
    MujocoState,
    OwnState,
    PickledState,
)
from setrl.control.envs.generators import load_generators, reseed_generators, save_generators
from setrl.control.envs.layers import (
    copied,
    given,
    kind_of,
    layers_of,
    load_wrapper,
    save_wrapper,
)
from setrl.support import names

Noise = Literal["keep", "fork"] | int

# Backend → its adapter. "auto" takes the first, in this order, that was made for the environment.
by_name: dict[str, type[Adapter]] = {
    "own": OwnState,
    "mujoco": MujocoState,
    "atari": AtariState,
    "attributes": AttributeState,
    "pickle": PickledState,
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state of an environment and of its wrappers: opaque, picklable, holds no environment.

    It may be restored any number of times, in any instance that was made the same way, and in
    another process. `observation` and `info` are what the policy last saw; `ended` says that no
    step follows.
    """

    layers: tuple[str, ...]
    state: Any
    wrappers: tuple[dict[str, Any], ...]
    generators: tuple[dict[str, Any], ...]
    observation: Any
    info: dict[str, Any]
    terminated: bool
    truncated: bool

    @property
    def ended(self) -> bool:
        """Whether the episode is over in this state."""
        return self.terminated or self.truncated


@runtime_checkable
class Resettable(Protocol):
    """A Gymnasium environment that can be set back to an earlier state.

    Write these two methods for an environment that no adapter fits; `check_resettable` tests
    whether they are exact.
    """

    def snapshot(self) -> Any:
        """Return the state now: picklable, no reference to the environment, never changed later."""
        ...

    def restore(self, snapshot: Any, *, rng: Noise = "fork") -> tuple[Any, dict[str, Any]]:
        """Go back to a state; return the observation and info that were seen there.

        `rng` decides the randomness from there on: "keep" continues the saved streams, "fork"
        starts new ones each time, and a seed starts the streams of the seed.
        """
        ...


class ResettableEnv(gym.Wrapper):
    """An environment with `snapshot` and `restore`; what `make_resettable` returns.

    Args:
        env: The environment with its wrappers.
        adapter: Saves and loads what is below the wrappers.
        fork_seed: Seeds the noise of the forks; None takes entropy from the system.
    """

    def __init__(self, env: gym.Env, adapter: Adapter, fork_seed: int | None = None) -> None:
        super().__init__(env)
        self.adapter = adapter
        self._forks = np.random.SeedSequence(fork_seed)
        self._current: tuple[Any, dict[str, Any], bool, bool] | None = None

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, **given(options))
        self.adapter.frame = None
        self._current = (observation, info, False, False)
        return observation, info

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.adapter.frame = None
        self._current = (observation, info, bool(terminated), bool(truncated))
        return observation, reward, terminated, truncated, info

    @override
    def render(self) -> Any:
        frame = self.adapter.frame
        return self.env.render() if frame is None else frame.copy()

    def snapshot(self) -> Snapshot:
        """Return the state of the environment, its wrappers and its generators now."""
        if self._current is None:
            raise RuntimeError("snapshot() was called before the first reset(): call reset() first")
        layers, wrappers = layers_of(self.env), self._wrappers()
        observation, info, terminated, truncated = self._current
        return Snapshot(
            layers=self._list_names(layers),
            state=self.adapter.save(),
            wrappers=tuple(save_wrapper(layer) for layer in wrappers),
            generators=tuple(save_generators(layer) for layer in layers),
            observation=copied(observation),
            info=copied(info),
            terminated=terminated,
            truncated=truncated,
        )

    def restore(self, snapshot: Snapshot, *, rng: Noise = "fork") -> tuple[Any, dict[str, Any]]:
        """Go back to a state of this environment, or of another instance of it.

        Args:
            snapshot: A value that `snapshot` returned; it is not changed.
            rng: "fork": every generator gets a new stream; the n-th fork of this instance gets the
                n-th child of SeedSequence(fork_seed). Without a fork_seed no two forks repeat. A
                seed ≥ 0: the streams of SeedSequence(seed), the same each time. "keep": the saved
                generators, so that the same actions lead to the same future.

        Returns:
            The observation and info that were last seen at the snapshot.
        """
        layers, wrappers = layers_of(self.env), self._wrappers()
        self._check_fit(snapshot, layers, rng)
        if self._current is None:
            self.env.reset()  # some environments make their parts only at the first reset
        self.adapter.load(snapshot.state)
        for layer, state in zip(wrappers, snapshot.wrappers, strict=True):
            load_wrapper(layer, state)
        for layer, states in zip(layers, snapshot.generators, strict=True):
            load_generators(layer, states)
        if rng != "keep":
            noise = self._forks.spawn(1)[0] if rng == "fork" else np.random.SeedSequence(int(rng))
            reseed_generators(layers, noise)
            self.adapter.reseed(noise)
        observation, info = copied(snapshot.observation), copied(snapshot.info)
        self._current = (observation, info, snapshot.terminated, snapshot.truncated)
        return observation, info

    def _wrappers(self) -> list[gym.Env]:
        """List the wrappers around what the adapter saves, outermost first; set back here."""
        layers = layers_of(self.env)
        return layers[: layers.index(self.adapter.env)]

    def _check_fit(self, snapshot: Snapshot, layers: list[gym.Env], rng: Noise) -> None:
        if rng not in ("keep", "fork") and not (isinstance(rng, int | np.integer) and rng >= 0):
            raise ValueError(f'rng must be "keep", "fork" or a seed ≥ 0, got {rng!r}')
        here, there = self._list_names(layers), snapshot.layers
        if here != there:
            raise ValueError(
                f"a snapshot of {there} cannot be restored into {here}: make both the same way"
            )

    def _list_names(self, layers: list[gym.Env]) -> tuple[str, ...]:
        """Return the names that must be equal in two environments that share snapshots."""
        spec = layers[-1].spec
        return (self.adapter.name, spec.id if spec else "", *map(kind_of, layers))


def make_resettable(
    env: gym.Env, backend: str = "auto", *, fork_seed: int | None = None
) -> ResettableEnv:
    """Wrap an environment so that it can be set back.

    Args:
        env: A Gymnasium environment with any wrappers.
        backend: How its state is saved; "auto" decides by its class; its last choice is "pickle".
        fork_seed: Seeds the noise of `restore(rng="fork")`; None takes entropy from the system.
            Instances with the same fork_seed share their noise: give each another fork_seed.

    Raises:
        ValueError: If no backend has this name, or `env` is not one environment of Gymnasium.
        NotResettableError: If the environment cannot be set back; says what to implement.
    """
    _refuse_what_is_no_environment(env)
    below = env.unwrapped
    if backend in ("auto", "own"):  # a wrapper may set back everything below it
        below = next((layer for layer in layers_of(env) if OwnState.is_made_for(layer)), below)
    if backend == "auto":
        backend = next(name for name, kind in by_name.items() if kind.is_made_for(below))
    return ResettableEnv(env, names.look_up("backend", backend, by_name)(below), fork_seed)


def _refuse_what_is_no_environment(env: Any) -> None:
    if isinstance(env, gym.Env):
        return
    is_vector = hasattr(env, "num_envs")
    description = "several environments in one" if is_vector else "no environment of Gymnasium"
    hint = "; vines are stepped side by side anyway" if is_vector else ""
    raise ValueError(
        f"a {type(env).__name__} is {description}: give one, such as gym.make('CartPole-v1'){hint}"
    )
