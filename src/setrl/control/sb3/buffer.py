"""The steps of an update, with advantages from a critic next to advantages from sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer

from setrl.control.sb3.bonuses import CountBonus
from setrl.control.steps import CreditedSteps
from setrl.control.trajectories import on_arrays, part

SCALARS = ("log_probs", "values", "advantages", "returns", "from_sets")  # one number per step


class _WithSets:
    """What a rollout buffer needs beyond Stable-Baselines3's, for arrays and for dicts of arrays.

    It is filled step by step, as the original is (`add`), or with whole trajectories at once
    (`load`).
    """

    bonus: CountBonus | None = None
    rewards: np.ndarray

    def reset(self) -> None:
        """Remove all steps."""
        super().reset()  # type: ignore[misc]
        self.from_sets = np.zeros(self.rewards.shape, dtype=bool)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Compute GAE from the rewards, with the bonus for rare actions if there is one.

        Raises:
            ValueError: If a reward is NaN or infinite: it would make every weight NaN.
        """
        lost = int((~np.isfinite(self.rewards)).sum())
        if lost:
            raise ValueError(
                f"rewards must be finite, got NaN or infinity at {lost} steps: only "
                "sets of vines can leave such a trajectory out"
            )
        if self.bonus is not None:
            seen, actions = (
                on_arrays(lambda array: array.reshape(-1, *array.shape[2:]), each)
                for each in (self.observations, self.actions)  # type: ignore[attr-defined]
            )
            self.rewards = self.rewards + self.bonus(seen, actions).reshape(self.rewards.shape)
        super().compute_returns_and_advantage(last_values, dones)  # type: ignore[misc]

    def load(self, steps: CreditedSteps) -> None:
        """Replace all steps by these."""
        for name in ("observations", "actions", *SCALARS):
            setattr(self, name, getattr(steps, name))
        self.generator_ready = self.full = True

    def get(self, batch_size: int | None = None) -> Iterator[CreditedSteps]:
        """Yield all steps in random order, `batch_size` at a time; None yields all at once."""
        self._flatten()
        count = len(self.values)  # type: ignore[attr-defined]
        # The permutation of steps that Stable-Baselines3's buffer draws, from PPO's generator.
        order = np.random.permutation(count)  # noqa: NPY002
        for start in range(0, count, batch_size or count):
            yield self._minibatch(order[start:][:batch_size])

    def _flatten(self) -> None:
        """Reshape from (steps, environments) to one axis, environment by environment."""
        if self.generator_ready:
            return
        for name in ("observations", "actions", *SCALARS):
            flat = on_arrays(self.swap_and_flatten, getattr(self, name))  # type: ignore[attr-defined]
            setattr(self, name, flat)
        self.generator_ready = True

    def _minibatch(self, steps: np.ndarray) -> CreditedSteps:
        tensor = self.to_torch  # type: ignore[attr-defined]
        return CreditedSteps(
            on_arrays(tensor, part(self.observations, steps)),  # type: ignore[attr-defined]
            tensor(self.actions[steps].astype(np.float32, copy=False)),  # type: ignore[attr-defined]
            *(tensor(getattr(self, name)[steps].flatten()) for name in SCALARS),
        )


class SetBuffer(_WithSets, RolloutBuffer):  # type: ignore[misc]
    """A rollout buffer whose advantages may be set advantages; for observations that are arrays."""


class DictSetBuffer(_WithSets, DictRolloutBuffer):  # type: ignore[misc]
    """A rollout buffer like `SetBuffer`, for observations that are dicts of arrays."""
