"""Normalised observations whose statistics stay as they are, so that all vines see the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import gymnasium as gym
import numpy as np
from typing_extensions import override

EPSILON = 1e-8  # added to the variance, as Gymnasium and Stable-Baselines3 do


@dataclass(frozen=True)
class ObservationStatistics:
    """The mean and the variance of observations, measured once.

    Gymnasium's `NormalizeObservation` changes its statistics with each step, and each environment
    has other ones: a vine would see its first state as the trunk saw it, and all later ones
    otherwise.

    Attributes:
        mean: Of each part of an observation.
        variance: Of each part of an observation.
    """

    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def measured(
        cls,
        make_env: Callable[[], gym.Env],
        steps: int = 10_000,
        act: Callable[[Any], Any] | None = None,
        seed: int = 0,
    ) -> Self:
        """Measure whole episodes until they have so many steps.

        Args:
            make_env: Makes the environment.
            steps: The least number of steps.
            act: The policy, from an observation to an action; None for random actions.
            seed: Of the resets and the random actions.

        Raises:
            ValueError: If observations are not arrays of numbers, or steps < 1.
        """
        if steps < 1:
            raise ValueError(f"steps must be at least 1, got {steps}")
        env = make_env()
        try:
            _refuse_no_box(env)
            env.action_space.seed(seed)
            seen, done = [], 0
            while done < steps:
                observation, _ = env.reset(seed=seed + done)
                seen.append(np.array(observation, np.float64))
                ended = False
                while not ended:
                    action = env.action_space.sample() if act is None else act(observation)
                    observation, _, terminated, truncated, _ = env.step(action)
                    seen.append(np.array(observation, np.float64))
                    done, ended = done + 1, terminated or truncated or done >= 10 * steps
        finally:
            env.close()
        return cls(np.mean(seen, axis=0), np.var(seen, axis=0))


class NormalizedObservation(gym.ObservationWrapper):
    """(observation − mean) / √(variance + 10⁻⁸), within ±clip, by statistics that never change.

    Put it around the environments of vines, of the model and of evaluations, with the same
    statistics.

    Args:
        env: The environment; its observations are arrays of numbers.
        statistics: The mean and the variance.
        clip: The largest absolute value.

    Raises:
        ValueError: If the statistics have another shape than observations.
    """

    def __init__(self, env: gym.Env, statistics: ObservationStatistics, clip: float = 10.0) -> None:
        super().__init__(env)
        space, shape = _refuse_no_box(env), np.shape(statistics.mean)
        if shape != space.shape:
            raise ValueError(
                f"statistics of observations of shape {shape} do not fit observations of shape "
                f"{space.shape}: measure them in this environment"
            )
        self.statistics, self.clip = statistics, clip
        self._scale = np.sqrt(statistics.variance + EPSILON)
        self.observation_space = gym.spaces.Box(-clip, clip, space.shape, np.float32)

    @override
    def observation(self, observation: Any) -> np.ndarray:
        scaled = (np.asarray(observation, np.float64) - self.statistics.mean) / self._scale
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)


def _refuse_no_box(env: gym.Env) -> gym.spaces.Box:
    space = env.observation_space
    if not isinstance(space, gym.spaces.Box):
        raise ValueError(f"observations must be arrays of numbers (Box) to be scaled, got {space}")
    return space
