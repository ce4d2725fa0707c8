"""Any environment that Gymnasium knows by an id, with functions of the user as its task."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import load_env_creator

from setrl.control import labels, measures
from setrl.control.sb3.families import episode_return
from setrl.control.tasks.base import PPO_FROM_SCRATCH
from setrl.support.files.loading import check_reference, load, load_function

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.trajectories import Trajectory


@dataclass(frozen=True)
class RegisteredTask:
    """An environment by its id, such as CartPole-v1, and what its episodes are worth.

    References have the form `module:name`; a module next to the config comes first.

    Attributes:
        id: The id under which Gymnasium knows the environment; "module:Id-v0" imports the module
            that registers it.
        label_by: Reference to a function of a trajectory that returns its strategy, or None.
        score_by: Reference to a function of a trajectory that returns its worth, in [0, 1] for
            products with diversity; None: the sum of its rewards.
        make: Further arguments of `gymnasium.make`.
        episodes: Episodes of an evaluation.
        folder: Where modules are looked up first: the folder of the config.
    """

    id: str
    label_by: str
    score_by: str | None = None
    make: Mapping[str, Any] = field(default_factory=dict)
    episodes: int = 256
    folder: str = field(default=".", repr=False)

    name: ClassVar[str] = "gymnasium"
    demonstrations: ClassVar[int] = 0
    defaults: ClassVar[Mapping[str, Any]] = PPO_FROM_SCRATCH
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # two layers of 64

    def make_env(self) -> gym.Env:
        """Return a new environment, which renders pictures if it can."""
        entry = self._spec.entry_point
        creator = load_env_creator(entry) if isinstance(entry, str) else entry
        modes = getattr(creator, "metadata", {}).get("render_modes", ())
        render = {"render_mode": "rgb_array"} if "rgb_array" in modes else {}
        return gym.make(self._spec, **{**render, **self.make})

    @cached_property
    def _spec(self) -> gym.envs.registration.EnvSpec:
        module, _, env_id = self.id.rpartition(":")
        if module:
            load(f"{module}:__name__", self.folder)
        try:
            return gym.spec(env_id)
        except gym.error.Error as error:
            raise ValueError(f"id: Gymnasium knows no environment {env_id!r}: {error}") from error

    def _function(self, reference: str) -> Callable[..., Any]:
        return load_function(reference, self.folder).value

    @cached_property
    def _label(self) -> Callable[[Trajectory], Hashable | None]:
        return self._function(self.label_by)

    @cached_property
    def _score(self) -> Callable[[Trajectory], float]:
        return episode_return if self.score_by is None else self._function(self.score_by)

    def label(self, trajectory: Trajectory) -> Hashable:
        """Return what the user's function says."""
        return self._label(trajectory)

    def score(self, trajectory: Trajectory) -> float:
        """Return what the user's function says, or the sum of the rewards."""
        return float(self._score(trajectory))

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Measure the mean score, the strategies of whole episodes, and their length."""
        sampled = measures.sample_episodes(model, self.make_env, self.episodes, rng)
        return measures.strategy_metrics(
            [self.score(episode) for episode in sampled],
            labels.numbers_for_metrics([self.label(episode) for episode in sampled]),
            [len(episode) for episode in sampled],
        )


def registered(
    id: str,
    label: str,
    score: str | None = None,
    make: Mapping[str, Any] | None = None,
    episodes: int = 256,
    folder: str = ".",
) -> RegisteredTask:
    """Make the task of a config: {name: gymnasium, id: CartPole-v1, label: module:name, …}."""
    for reference in filter(None, (label, score)):
        check_reference(reference)
    task = RegisteredTask(id, label, score, dict(make or {}), episodes, folder)
    task.make_env().close()  # a wrong id or argument shows here
    _ = task._label, task._score
    return task
