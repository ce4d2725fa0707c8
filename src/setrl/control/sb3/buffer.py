"""The transitions of an update, with advantages from a critic next to advantages from sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer

from setrl.control.sb3.bonuses import CountBonus
from setrl.control.trajectories import on_arrays, part

SCALARS = ("values", "log_probs", "advantages", "returns", "from_sets")  # one number per step


class Minibatch(NamedTuple):
    """The data for one step of the optimiser; the names are Stable-Baselines3's."""

    observations: Any
    actions: torch.Tensor
    old_values: torch.Tensor
    old_log_prob: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    from_sets: torch.Tensor  # bool: a set advantage, not the critic's
    memories: torch.Tensor | None = None  # (pieces, H) before the first step of each piece
    lengths: Sequence[int] = ()  # steps of each piece


class Transitions(NamedTuple):
    """Steps of trajectories of any lengths, one after another; the first axis is time."""

    observations: Any
    actions: np.ndarray
    values: np.ndarray
    log_probs: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray
    from_sets: np.ndarray
    memories: np.ndarray | None = None  # (steps, H) of a recurrent policy before each step
    lengths: np.ndarray | None = None  # steps of each trajectory, where there are memories


def gathered(
    pieces: Sequence[np.ndarray], order: Iterable[int], batch_size: int | None
) -> Iterator[list[np.ndarray]]:
    """Yield pieces in an order, together `batch_size` steps at a time; None yields all at once."""
    chosen: list[np.ndarray] = []
    steps = 0
    for index in order:
        chosen.append(pieces[index])
        steps += len(pieces[index])
        if batch_size is not None and steps >= batch_size:
            yield chosen
            chosen, steps = [], 0
    if chosen:
        yield chosen


class _WithSets:
    """What a rollout buffer needs beyond Stable-Baselines3's, for arrays and for dicts of arrays.

    It is filled step by step, as the original is (`add`), or with whole trajectories at once
    (`load`). Minibatches consist of pieces: single steps, or, if a recurrent policy's memories are
    loaded, at most `sequence_length` steps in a row, through which gradients flow.
    """

    bonus: CountBonus | None = None
    sequence_length: int = 16
    rewards: np.ndarray
    memories: np.ndarray | None
    lengths: np.ndarray | None

    def reset(self) -> None:
        """Remove all transitions."""
        super().reset()  # type: ignore[misc]
        self.from_sets = np.zeros(self.rewards.shape, dtype=bool)
        self.memories = self.lengths = None

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

    def load(self, transitions: Transitions) -> None:
        """Replace all transitions by these."""
        for name, value in transitions._asdict().items():
            setattr(self, name, value)
        self.generator_ready = self.full = True

    def get(self, batch_size: int | None = None) -> Iterator[Minibatch]:
        """Yield all pieces in random order, together `batch_size` steps at a time."""
        self._flatten()
        pieces = self._pieces()
        # Without memories this is the permutation of steps that Stable-Baselines3's buffer draws.
        order = np.random.permutation(len(pieces))  # noqa: NPY002 - the generator that PPO uses
        for chosen in gathered(pieces, order, batch_size):
            yield self._minibatch(chosen)

    def _flatten(self) -> None:
        """Reshape from (steps, environments) to one axis, environment by environment."""
        if self.generator_ready:
            return
        for name in ("observations", "actions", *SCALARS):
            flat = on_arrays(self.swap_and_flatten, getattr(self, name))  # type: ignore[attr-defined]
            setattr(self, name, flat)
        self.generator_ready = True

    def _pieces(self) -> Sequence[np.ndarray]:
        """Return the steps of each piece."""
        if self.lengths is None:
            count = len(self.values)  # type: ignore[attr-defined]
            return np.arange(count)[:, None]  # type: ignore[return-value]
        ends, size = np.cumsum(self.lengths), self.sequence_length
        spans = [np.arange(end - steps, end) for end, steps in zip(ends, self.lengths, strict=True)]
        return [span[at : at + size] for span in spans for at in range(0, len(span), size)]

    def _minibatch(self, pieces: Sequence[np.ndarray]) -> Minibatch:
        tensor, steps = self.to_torch, np.concatenate(pieces)  # type: ignore[attr-defined]
        batch = Minibatch(
            on_arrays(tensor, part(self.observations, steps)),  # type: ignore[attr-defined]
            tensor(self.actions[steps].astype(np.float32, copy=False)),  # type: ignore[attr-defined]
            *(tensor(getattr(self, name)[steps].flatten()) for name in SCALARS),
        )
        if self.memories is None:
            return batch
        first = tensor(self.memories[[piece[0] for piece in pieces]])
        return batch._replace(memories=first, lengths=[len(piece) for piece in pieces])


class SetBuffer(_WithSets, RolloutBuffer):  # type: ignore[misc]
    """A rollout buffer whose advantages may be set advantages; for observations that are arrays."""


class DictSetBuffer(_WithSets, DictRolloutBuffer):  # type: ignore[misc]
    """A rollout buffer like `SetBuffer`, for observations that are dicts of arrays."""
