"""Families → segments → credited steps: GAE, replaced where there are set advantages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.preprocessing import maybe_transpose

from setrl.control.sb3.families import Family
from setrl.control.sb3.ppo import CountBonus
from setrl.control.steps import (
    SIZE_FLOOR,
    CreditedSteps,
    replace_by_sets,
    scale_set_advantages,
    spread_over_window,
)
from setrl.control.trajectories import Trajectory, concatenated, on_arrays, select_steps, stack

CHUNK = 4096  # steps that the policy evaluates in one batch


@dataclass(frozen=True)
class Segment:
    """A trajectory that the policy is trained on.

    Attributes:
        trajectory: The trajectory.
        own_T: The set advantage of each step, or of all, instead of the critic's; NaN for none.
    """

    trajectory: Trajectory
    own_T: np.ndarray | float = np.nan

    @property
    def is_usable(self) -> bool:
        """Whether it has steps, all with finite rewards."""
        return len(self.trajectory) > 0 and self.trajectory.is_finite


def segments_of(
    families: Sequence[Family], advantages_BN: np.ndarray, window: int | None
) -> list[Segment]:
    """Return all trunks, and then all fresh vines with their set advantage in steps 0…W.

    A trunk that is a member of sets has its set advantages in its own steps. Where two windows
    overlap, the later state counts.
    """
    trunks, vine_segments = [], []
    rows_BN = iter(advantages_BN)
    for family in families:
        own_T = np.full(len(family.trunk), np.nan)
        for time, vines in zip(family.times, family.vines_BN, strict=True):
            parts = [
                spread_over_window(np, value, window, len(vine)).ravel()
                for vine, value in zip(vines, next(rows_BN), strict=True)
            ]
            vine_segments += list(map(Segment, vines, parts))[family.has_trunk :]
            if family.has_trunk:
                own_T[time:] = np.where(np.isfinite(parts[0]), parts[0], own_T[time:])
        trunks.append(Segment(family.trunk, own_T if family.has_trunk else np.nan))
    return [*trunks, *vine_segments]


@dataclass(frozen=True)
class Critic:
    """Turns segments into advantages.

    Attributes:
        policy: Gives values, and the log-probabilities of the actions taken.
        gamma: Discount γ.
        gae_lambda: λ of GAE.
        bonus: Bonus for rare actions, added to the rewards; None: no bonus.
        scales_sets: Whether set advantages, which replace the critic's advantages, are divided by
            the root of their mean square, over all steps that have one.
    """

    policy: ActorCriticPolicy
    gamma: float
    gae_lambda: float
    bonus: CountBonus | None = None
    scales_sets: bool = True

    def credit_steps(self, segments: Sequence[Segment]) -> CreditedSteps:
        """Return all steps of usable segments, with GAE where no set advantage replaces it.

        The critic's return targets are GAE's everywhere.

        Raises:
            ValueError: If no segment is usable.
        """
        usable = [segment for segment in segments if segment.is_usable]
        if not usable:
            raise ValueError(
                f"of {len(segments)} trajectories, none has steps with finite rewards only: "
                "nothing can be learnt"
            )
        raw_observations = concatenated([segment.trajectory.seen_T for segment in usable])
        # Images come with their channels last; the policy's space has them first.
        observations = on_arrays(maybe_transpose, raw_observations, self.policy.observation_space)
        actions = np.concatenate([segment.trajectory.taken_T for segment in usable])
        values, log_probs = self._evaluate_steps(observations, actions)
        critics = self._compute_gae(usable, self._add_bonus(usable, observations, actions), values)
        set_advantages = np.concatenate(
            [np.broadcast_to(segment.own_T, len(segment.trajectory)) for segment in usable]
        )
        advantages, from_sets = replace_by_sets(np, critics, set_advantages)
        returns, rows = (critics + values).astype(np.float32), actions.reshape(len(actions), -1)
        columns = (observations, rows, log_probs, values, advantages, returns, from_sets)
        steps = CreditedSteps(*columns)
        if self.scales_sets:
            (steps,) = scale_set_advantages(np, [steps], SIZE_FLOOR)
        return steps._replace(advantages=steps.advantages.astype(np.float32))

    def _evaluate_steps(
        self, observations: Any, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute values and log-probabilities of steps, (steps,) each."""
        values, log_probs = [], []
        is_discrete = isinstance(self.policy.action_space, spaces.Discrete)
        kind = torch.int64 if is_discrete else torch.float32
        for start in range(0, len(actions), CHUNK):
            span = slice(start, start + CHUNK)
            with torch.no_grad():
                batch, _ = self.policy.obs_to_tensor(select_steps(observations, span))
                batch_actions = torch.as_tensor(
                    flat_actions(actions[span]), dtype=kind, device=self.policy.device
                )
                value, log_prob, _ = self.policy.evaluate_actions(batch, batch_actions)
            values.append(value.flatten().cpu().numpy())
            log_probs.append(log_prob.cpu().numpy())
        return np.concatenate(values), np.concatenate(log_probs)

    def _add_bonus(
        self, segments: Sequence[Segment], observations: Any, actions: np.ndarray
    ) -> np.ndarray:
        """Return all steps' rewards: the environment's, bonuses, values after cuts."""
        rewards = np.concatenate([segment.trajectory.rewards_T for segment in segments]).astype(
            float
        )
        if self.bonus is not None:
            rewards += self.bonus(observations, actions)
        last = np.cumsum([len(segment.trajectory) for segment in segments]) - 1
        # A cut is not the end of the episode: the critic's value of the last state stands for the
        # rewards that would have followed.
        cut = [index for index, segment in enumerate(segments) if not segment.trajectory.terminated]
        if cut:
            values = self._predict_last_values([segments[index].trajectory for index in cut])
            rewards[last[cut]] += self.gamma * values
        return rewards

    def _predict_last_values(self, trajectories: Sequence[Trajectory]) -> np.ndarray:
        """Return the critic's value of the last state of each trajectory."""
        reached = stack([select_steps(trajectory.observations, -1) for trajectory in trajectories])
        with torch.no_grad():
            batch, _ = self.policy.obs_to_tensor(reached)
            return self.policy.predict_values(batch).flatten().cpu().numpy()

    def _compute_gae(
        self, segments: Sequence[Segment], rewards: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Stable-Baselines3's GAE, with segments as episodes of one environment.

        Âₜ = δₜ + γλ·Âₜ₊₁, δₜ = rₜ + γ·Vₜ₊₁ − Vₜ, within each segment: arXiv:1506.02438. The last
        reward already holds the value after a cut; after an end the value is 0.
        """
        count, none = len(rewards), spaces.Discrete(1)
        lengths = [len(segment.trajectory) for segment in segments]
        buffer = RolloutBuffer(count, none, none, gamma=self.gamma, gae_lambda=self.gae_lambda)
        # In double precision, unlike the columns that the buffer makes.
        columns = {
            "rewards": rewards,
            "values": values.astype(np.float64),
            "advantages": np.zeros(count),
            "episode_starts": np.isin(np.arange(count), np.cumsum(lengths)).astype(np.float64),
        }
        for name, column in columns.items():
            setattr(buffer, name, column[:, None])
        buffer.compute_returns_and_advantage(torch.zeros(1), np.ones(1))
        return buffer.advantages[:, 0]


def flat_actions(actions: np.ndarray) -> np.ndarray:
    """Return actions as policies have them: an action that is a matrix becomes a row."""
    return actions if actions.ndim < 3 else actions.reshape(len(actions), -1)
