"""Trajectories and what is owed to them → the transitions of an update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.preprocessing import maybe_transpose

from setrl.control.credit.trajectories import Trajectory, stack
from setrl.control.sb3.bonuses import CountBonus
from setrl.control.sb3.buffer import Transitions

TAKEN = "taken"  # among a trajectory's extras: actions before they were clipped
How = Literal["replaces", "adds", "rewards"]
CHUNK = 4096  # steps that the policy looks at in one batch


@dataclass(frozen=True)
class Owed:
    """A set advantage of some steps of a trajectory.

    Attributes:
        value: The advantage.
        start: First step that has it.
        stop: The step after the last; None for the end of the trajectory.
        how: It "replaces" the critic's advantage, is added to it ("adds"), or is added to the last
            reward ("rewards"), from where GAE brings it to all steps.
    """

    value: float
    start: int = 0
    stop: int | None = None
    how: How = "replaces"


@dataclass(frozen=True)
class Segment:
    """A trajectory that the policy is trained on, and the set advantages of its steps."""

    trajectory: Trajectory
    owed: tuple[Owed, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether it has steps, all with finite rewards."""
        rewards = self.trajectory.rewards_T
        return len(rewards) > 0 and bool(np.isfinite(rewards).all())


@dataclass(frozen=True)
class Critic:
    """What turns segments into advantages.

    Attributes:
        policy: Gives values, and the log-probabilities of the actions taken.
        gamma: Discount γ.
        gae_lambda: λ of GAE.
        bonus: For rare actions, added to the rewards; None for none.
        scales_sets: Whether set advantages that replace the critic's are divided by the root of
            their mean square over all steps that have one.
    """

    policy: ActorCriticPolicy
    gamma: float
    gae_lambda: float
    bonus: CountBonus | None = None
    scales_sets: bool = True

    def transitions(self, segments: Sequence[Segment]) -> Transitions:
        """All steps of usable segments, with GAE where no set advantage replaces it.

        Return targets of the critic are GAE's everywhere.

        Raises:
            ValueError: If none is usable.
        """
        usable = [segment for segment in segments if segment.is_usable]
        if not usable:
            raise ValueError(
                f"none of {len(segments)} trajectories has steps and finite rewards alone: "
                "nothing can be learnt"
            )
        space = self.policy.observation_space
        observations = _as_seen(
            concatenated([part(one.trajectory.observations, slice(-1)) for one in usable]), space
        )
        actions = np.concatenate([taken(one.trajectory) for one in usable])
        values, log_probs = self._evaluate(usable, observations, actions)
        rewards = self._rewards(usable, observations, actions)
        critics = self._gae(usable, rewards, values)
        advantages, from_sets = _with_sets(usable, critics)
        if self.scales_sets:
            advantages = _scaled(advantages, from_sets)
        return Transitions(
            observations=observations,
            actions=actions.reshape(len(actions), -1),
            values=values,
            log_probs=log_probs,
            advantages=advantages.astype(np.float32),
            returns=(critics + values).astype(np.float32),
            from_sets=from_sets,
        )

    def _evaluate(
        self, segments: Sequence[Segment], observations: Any, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values and log-probabilities of the segments' steps, (steps,) each."""
        values, log_probs = [], []
        device, kind = self.policy.device, torch.float32
        if isinstance(self.policy.action_space, spaces.Discrete):
            kind = torch.int64
        for start in range(0, len(actions), CHUNK):
            span = slice(start, start + CHUNK)
            with torch.no_grad():
                seen, _ = self.policy.obs_to_tensor(part(observations, span))
                taken = torch.as_tensor(actions[span], dtype=kind, device=device)
                value, log_prob, _ = self.policy.evaluate_actions(seen, taken)
            values.append(value.flatten().cpu().numpy())
            log_probs.append(log_prob.cpu().numpy())
        return np.concatenate(values), np.concatenate(log_probs)

    def _rewards(
        self, segments: Sequence[Segment], observations: Any, actions: np.ndarray
    ) -> np.ndarray:
        """Rewards of all steps: the environment's, bonuses, set rewards, values after cuts."""
        rewards = np.concatenate([one.trajectory.rewards_T for one in segments]).astype(np.float64)
        if self.bonus is not None:
            rewards += self.bonus(observations, actions)
        last = np.cumsum([len(one.trajectory.rewards_T) for one in segments]) - 1
        for end, segment in zip(last, segments, strict=True):
            rewards[end] += sum(owed.value for owed in segment.owed if owed.how == "rewards")
        # A cut is no end: what would have come is worth the value of the state that was reached.
        cut = [index for index, one in enumerate(segments) if not one.trajectory.terminated]
        if cut:
            values = self._last_values([segments[index].trajectory for index in cut])
            rewards[last[cut]] += self.gamma * values
        return rewards

    def _last_values(self, trajectories: Sequence[Trajectory]) -> np.ndarray:
        """What the critic thinks of the last state of each."""
        reached = stack([part(one.observations, -1) for one in trajectories])
        with torch.no_grad():
            seen, _ = self.policy.obs_to_tensor(reached)
            return self.policy.predict_values(seen).flatten().cpu().numpy()

    def _gae(
        self, segments: Sequence[Segment], rewards: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Âₜ = δₜ + γλ·Âₜ₊₁, δₜ = rₜ + γ·Vₜ₊₁ − Vₜ, within each segment: arXiv:1506.02438."""
        lengths = [len(one.trajectory.rewards_T) for one in segments]
        ends = set(np.cumsum(lengths) - 1)
        advantages, following, next_value = np.empty(len(rewards)), 0.0, 0.0
        reward_T, value_T = rewards.tolist(), values.tolist()
        for step in range(len(rewards) - 1, -1, -1):
            if step in ends:
                following, next_value = 0.0, 0.0
            delta = reward_T[step] + self.gamma * next_value - value_T[step]
            following = delta + self.gamma * self.gae_lambda * following
            next_value = value_T[step]
            advantages[step] = following
        return advantages


def _with_sets(segments: Sequence[Segment], critics: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Advantages with those of sets in place, and where they replace the critic's."""
    advantages, from_sets = critics.copy(), np.zeros(len(critics), dtype=bool)
    begin = 0
    for segment in segments:
        length = len(segment.trajectory.rewards_T)
        for owed in segment.owed:
            stop = length if owed.stop is None else min(owed.stop, length)
            span = slice(begin + owed.start, begin + stop)
            if owed.how == "replaces":
                advantages[span], from_sets[span] = owed.value, True
            elif owed.how == "adds":
                advantages[span] += owed.value
        begin += length
    return advantages, from_sets


def _scaled(advantages: np.ndarray, from_sets: np.ndarray) -> np.ndarray:
    """Set advantages over the root of their mean square, which is not 0 unless all are."""
    size = np.sqrt(np.mean(advantages[from_sets] ** 2)) if from_sets.any() else 0.0
    return np.where(from_sets, advantages / size, advantages) if size > 0 else advantages


def taken(trajectory: Trajectory) -> np.ndarray:
    """The actions as the policy drew them; the environment may have got them clipped."""
    return trajectory.extras.get(TAKEN, trajectory.actions_T)


def _as_seen(observations: Any, space: spaces.Space) -> Any:
    """Images with their channels first, as the policy's space has them."""
    if isinstance(space, spaces.Dict):
        return {key: maybe_transpose(part, space[key]) for key, part in observations.items()}
    return maybe_transpose(observations, space)


def concatenated(observations: Sequence[Any]) -> Any:
    """Stacked observations one after another; dicts key by key."""
    if isinstance(observations[0], dict):
        return {key: np.concatenate([one[key] for one in observations]) for key in observations[0]}
    return np.concatenate(observations)


def part(observations: Any, where: Any) -> Any:
    """Some of stacked observations; dicts key by key."""
    if isinstance(observations, dict):
        return {key: value[where] for key, value in observations.items()}
    return observations[where]
