"""The transitions of an update, with advantages from a critic and from sets side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer

from setrl.control.sb3.bonuses import CountBonus

Floats = np.ndarray


class Minibatch(NamedTuple):
    """What one step of the optimiser reads; the names are Stable-Baselines3's."""

    observations: Any
    actions: torch.Tensor
    old_values: torch.Tensor
    old_log_prob: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    from_sets: torch.Tensor  # bool: the advantage is a set advantage, not one of the critic


class Transitions(NamedTuple):
    """Steps of trajectories of any lengths, one after another; the first axis is time."""

    observations: Any
    actions: np.ndarray
    values: np.ndarray
    log_probs: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray
    from_sets: np.ndarray


class _WithSets:
    """What a rollout buffer needs beyond Stable-Baselines3's, for arrays and for dicts of them.

    It is filled step by step as that one is (`add`), or with whole trajectories at once (`load`).
    """

    bonus: CountBonus | None
    rewards: np.ndarray

    def __init__(self, *arguments: Any, bonus: CountBonus | None = None, **named: Any):
        self.bonus = bonus
        super().__init__(*arguments, **named)

    def reset(self) -> None:
        """Forget all transitions."""
        super().reset()  # type: ignore[misc]
        self.from_sets = np.zeros(self.rewards.shape, dtype=bool)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: Floats) -> None:
        """GAE, of rewards with the bonus for rare actions if there is one.

        Raises:
            ValueError: If a reward is NaN or infinite: it would make every weight NaN.
        """
        lost = int((~np.isfinite(self.rewards)).sum())
        if lost:
            raise ValueError(
                f"rewards must be finite, got NaN or infinity at {lost} steps: without vines there "
                "is no set that such a trajectory could be left out of"
            )
        if self.bonus is not None:
            flat = _flattened(self.observations, 2)  # type: ignore[attr-defined]
            actions = _flattened(self.actions, 2)  # type: ignore[attr-defined]
            self.rewards = self.rewards + self.bonus(flat, actions).reshape(self.rewards.shape)
        super().compute_returns_and_advantage(last_values, dones)  # type: ignore[misc]

    def load(self, transitions: Transitions) -> None:
        """Replace all that is there by these transitions."""
        for name, value in transitions._asdict().items():
            setattr(self, name, value)
        self.generator_ready = self.full = True

    def get(self, batch_size: int | None = None) -> Iterator[Minibatch]:
        """All transitions in random order; the permutation is Stable-Baselines3's."""
        self._flatten()
        count = len(self.values)  # type: ignore[attr-defined]
        order = np.random.permutation(count)  # noqa: NPY002 - the generator that PPO draws from
        for start in range(0, count, batch_size or count):
            yield self._get_samples(order[start : start + (batch_size or count)])

    def _flatten(self) -> None:
        """From (steps, environments) to one axis, environment by environment."""
        if self.generator_ready:
            return
        for name in Transitions._fields:
            value = getattr(self, name)
            if isinstance(value, dict):
                flat: Any = {key: self.swap_and_flatten(part) for key, part in value.items()}  # type: ignore[attr-defined]
            else:
                flat = self.swap_and_flatten(value)  # type: ignore[attr-defined]
            setattr(self, name, flat)
        self.generator_ready = True

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> Minibatch:
        tensor = self.to_torch  # type: ignore[attr-defined]
        seen = self.observations  # type: ignore[attr-defined]
        return Minibatch(
            {key: tensor(part[batch_inds]) for key, part in seen.items()}
            if isinstance(seen, dict)
            else tensor(seen[batch_inds]),
            tensor(self.actions[batch_inds].astype(np.float32, copy=False)),  # type: ignore[attr-defined]
            *(
                tensor(getattr(self, name)[batch_inds].flatten())
                for name in ("values", "log_probs", "advantages", "returns", "from_sets")
            ),
        )


def _flattened(value: Any, axes: int) -> Any:
    """The first axes as one, for an array or a dict of arrays."""
    if isinstance(value, dict):
        return {key: _flattened(part, axes) for key, part in value.items()}
    return value.reshape(-1, *value.shape[axes:])


class SetBuffer(_WithSets, RolloutBuffer):  # type: ignore[misc]
    """A rollout buffer whose advantages may be set advantages; for observations that are arrays."""


class DictSetBuffer(_WithSets, DictRolloutBuffer):  # type: ignore[misc]
    """The same for observations that are dicts of arrays."""
