"""PPO with the parts that rivals need: a KL penalty, a bonus for rare actions, set advantages.

Written for stable-baselines3 2.9, whose update has no hooks for these parts. Without any of them it
is Stable-Baselines3's PPO to the last bit.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import explained_variance
from typing_extensions import override

from setrl.control.options import Anchor, check_penalties
from setrl.control.sb3 import update
from setrl.control.sb3.bonuses import CountBonus
from setrl.control.sb3.buffer import DictSetBuffer, SetBuffer
from setrl.control.steps import CreditedSteps


class RegularisedPPO(PPO):
    """PPO with a KL penalty and a bonus for rare actions; advantages may come from sets.

    Args:
        policy: The argument of PPO.
        env: The argument of PPO.
        kl_coef: Weight of a penalty KL(anchor ‖ π), mean over states, in nats.
        kl_anchor: The anchor: "behaviour", the policy that sampled the trajectories, or "start",
            the policy at the first call of `learn`.
        ucb_coef: Weight of a bonus for rare actions in the reward; see `bonuses.CountBonus`.
        **ppo: Arguments of PPO.
    """

    policy: ActorCriticPolicy
    rollout_buffer: SetBuffer | DictSetBuffer

    def __init__(
        self,
        policy: str | type[ActorCriticPolicy],
        env: Any,
        kl_coef: float = 0.0,
        kl_anchor: Anchor = "behaviour",
        ucb_coef: float = 0.0,
        *,
        _init_setup_model: bool = True,
        **ppo: Any,
    ):
        check_penalties(kl_coef, kl_anchor, ucb_coef)
        self.kl_coef, self.kl_anchor = kl_coef, kl_anchor
        self.bonus = CountBonus(ucb_coef) if ucb_coef else None
        super().__init__(policy, env, _init_setup_model=False, **ppo)
        if _init_setup_model:
            self._setup_model()

    @override
    def _setup_model(self) -> None:
        has_dicts = isinstance(self.observation_space, spaces.Dict)
        self.rollout_buffer_class = DictSetBuffer if has_dicts else SetBuffer
        super()._setup_model()
        self.rollout_buffer.bonus = self.bonus
        self.start_policy = copy.deepcopy(self.policy) if self.kl_anchor == "start" else None

    @override
    def _setup_learn(self, *arguments: Any, **named: Any) -> tuple[int, BaseCallback]:
        learning = super()._setup_learn(*arguments, **named)
        if self.start_policy is not None and self.num_timesteps == 0:
            self.start_policy.load_state_dict(self.policy.state_dict())
        return learning

    @override
    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "start_policy"]

    @override
    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        modules, variables = super()._get_torch_save_params()
        return ([*modules, "start_policy"] if self.kl_anchor == "start" else modules), variables

    @override
    def train(self) -> None:
        """Update policy and critic from the buffer: PPO's update, with the KL penalty if any."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip_range = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        clip_range_vf = None
        if self.clip_range_vf is not None:
            clip_range_vf = self.clip_range_vf(self._current_progress_remaining)  # type: ignore[operator]
        anchor = self._anchor()
        measured: dict[str, list[float]] = defaultdict(list)
        for _ in range(self.n_epochs):
            goes_on = self._train_epoch(clip_range, clip_range_vf, anchor, measured)
            self._n_updates += 1
            if not goes_on:
                break
        self._log_update(measured, clip_range, clip_range_vf)

    def _anchor(self) -> ActorCriticPolicy | None:
        """Return the policy towards which the KL penalty pulls."""
        if not self.kl_coef:
            return None
        # Before the first step of an update, the policy is the one that sampled the batch.
        return self.start_policy or copy.deepcopy(self.policy)

    def _train_epoch(
        self,
        clip_range: float,
        clip_range_vf: float | None,
        anchor: ActorCriticPolicy | None,
        measured: dict[str, list[float]],
    ) -> bool:
        """Pass once over the buffer; return False once the policy has moved beyond `target_kl`."""
        measured["approx_kl"].clear()  # PPO logs the last epoch's value, and all else over epochs
        for batch in self.rollout_buffer.get(self.batch_size):
            loss = self._loss(batch, clip_range, clip_range_vf, anchor, measured)
            moved = measured["approx_kl"][-1]
            # Checked before the step, as PPO does: the minibatch that moved too far is not used.
            if self.target_kl is not None and moved > 1.5 * self.target_kl:
                return False
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        return True

    def _loss(
        self,
        batch: CreditedSteps,
        clip_range: float,
        clip_range_vf: float | None,
        anchor: ActorCriticPolicy | None,
        measured: dict[str, list[float]],
    ) -> torch.Tensor:
        """Clipped surrogate + ent_coef·(−H) + vf_coef·value loss + kl_coef·KL of a minibatch."""
        actions = batch.actions
        if isinstance(self.action_space, spaces.Discrete):
            actions = actions.long().flatten()
        values, log_prob, entropy = self.policy.evaluate_actions(batch.observations, actions)
        advantages = batch.advantages
        if self.normalize_advantage:
            advantages = update.normalised(advantages, batch.from_sets)
        log_ratio = log_prob - batch.log_probs
        ratio = torch.exp(log_ratio)
        surrogate = update.clipped_surrogate(advantages, ratio, clip_range)
        error = update.value_loss(values.flatten(), batch.values, batch.returns, clip_range_vf)
        disorder = update.entropy_loss(entropy, log_prob)
        loss = surrogate + self.ent_coef * disorder + self.vf_coef * error
        if anchor is not None:
            penalty = self._kl_penalty(anchor, batch)
            loss = loss + self.kl_coef * penalty
            measured["kl_penalty"].append(penalty.item())
        numbers = {
            "loss": loss.item(),
            "policy_gradient_loss": surrogate.item(),
            "value_loss": error.item(),
            "entropy_loss": disorder.item(),
            "clip_fraction": update.clip_fraction(ratio, clip_range),
            "approx_kl": update.approximate_kl(log_ratio),
        }
        for name, value in numbers.items():
            measured[name].append(value)
        return loss

    def _kl_penalty(self, anchor: ActorCriticPolicy, batch: CreditedSteps) -> torch.Tensor:
        with torch.no_grad():
            target = anchor.get_distribution(batch.observations)
        return update.kl_penalty(target, self.policy.get_distribution(batch.observations))

    def _log_update(
        self, measured: dict[str, list[float]], clip_range: float, clip_range_vf: float | None
    ) -> None:
        """Log PPO's values under PPO's names."""
        buffer = self.rollout_buffer
        explained = explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        for name, values in measured.items():
            self.logger.record(f"train/{name}", values[-1] if name == "loss" else np.mean(values))
        self.logger.record("train/explained_variance", explained)
        if hasattr(self.policy, "log_std"):
            self.logger.record("train/std", torch.exp(self.policy.log_std).mean().item())
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)
        if clip_range_vf is not None:
            self.logger.record("train/clip_range_vf", clip_range_vf)
