"""Poly-PPO on Stable-Baselines3's PPO: set RL for environments that can be set back.

Written for stable-baselines3 2.9. Of PPO, only how rollouts are collected and the update are ours;
policies, callbacks, schedules, logging, saving and loading are its own.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv

from setrl.control import update
from setrl.control.assign import judge, measures, segments_of
from setrl.control.bonuses import CountBonus
from setrl.control.buffer import DictSetBuffer, Minibatch, SetBuffer
from setrl.control.draw import Family, FamilyDraw, Memories
from setrl.control.segments import TAKEN, Critic, Segment, part
from setrl.control.trajectories import Trajectory
from setrl.control.vine_pool import Act, VinePool
from setrl.control.vines import Vines, check_vines
from setrl.methods import Method

Anchor = Literal["behaviour", "start"]


class PolyPPO(PPO):
    """PPO whose advantage near some states is what a trajectory is worth to sets of trajectories.

    With `vines`, an update draws seed trajectories, goes back to states of theirs, and draws N
    trajectories from each; the first `window` steps of those take their advantage from sets of K
    of them, scored by `method`, all other steps from the critic (GAE). Algorithm 2 of the Set RL
    note; "Polychromic Objectives for RL", arXiv:2509.25424. docs/poly-ppo.md has what is open in
    either, and what is done here. Steps of vines are environment steps: `num_timesteps` has them.

    Without `vines` it is PPO, to the last bit where none of the options below are used.

    Args:
        policy: As for PPO.
        env: As for PPO; with `vines` only its spaces are used.
        method: What sets are worth, such as `setrl.methods.poly_epo(4)`; needs `vines`.
        vines: How trajectories are drawn from states that are returned to; None for plain PPO.
        kl_coef: Weight of a penalty KL(anchor ‖ π), mean over states, in nats.
        kl_anchor: The policy it is to: "behaviour", which drew the trajectories (the paper's), or
            "start", the policy as it is when `learn` is first called.
        ucb_coef: Weight of a bonus for rare actions in the reward; see `bonuses.CountBonus`. It is
            in the critic's advantages, not in the scores of sets.
        **ppo: Arguments of PPO. `n_steps` times the number of environments are the environment
            steps of an update; with vines as many as that at least, as episodes stay whole.

    Raises:
        ValueError: If method and vines do not fit, or vines the environment.
    """

    policy: ActorCriticPolicy
    rollout_buffer: SetBuffer | DictSetBuffer
    vines: Vines | None = None  # not saved: it holds functions that make environments

    def __init__(
        self,
        policy: str | type[ActorCriticPolicy],
        env: Any,
        method: Method | None = None,
        vines: Vines | None = None,
        kl_coef: float = 0.0,
        kl_anchor: Anchor = "behaviour",
        ucb_coef: float = 0.0,
        *,
        _init_setup_model: bool = True,
        **ppo: Any,
    ):
        if kl_anchor not in ("behaviour", "start"):
            raise ValueError(f"kl_anchor must be 'behaviour' or 'start', got {kl_anchor!r}")
        for name, value in (("kl_coef", kl_coef), ("ucb_coef", ucb_coef)):
            if not 0 <= value < float("inf"):
                raise ValueError(f"{name} must be a number ≥ 0, got {value!r}")
        check_vines(method, vines)
        self.method, self.vines = method, vines
        self.kl_coef, self.kl_anchor = kl_coef, kl_anchor
        self.bonus = CountBonus(ucb_coef) if ucb_coef else None
        self.vine_rng: np.random.Generator | None = None
        self.family_steps: float | None = None
        super().__init__(policy, env, _init_setup_model=False, **ppo)
        if _init_setup_model:
            self._setup_model()

    @property
    def uses_vines(self) -> bool:
        """Whether trajectories are drawn from states that are returned to."""
        return self.vines is not None and self.vines.are_drawn

    def _setup_model(self) -> None:
        self.rollout_buffer_class = self._buffer_class()
        super()._setup_model()
        self.rollout_buffer.bonus = self.bonus
        self.start_policy = copy.deepcopy(self.policy) if self.kl_anchor == "start" else None
        if self.vine_rng is None:
            self.vine_rng = np.random.default_rng(self.seed)
        self._draw: FamilyDraw | None = None
        if self.draws_families and self.env is not None:
            self._check_env()

    def _buffer_class(self) -> type[SetBuffer] | type[DictSetBuffer]:
        return DictSetBuffer if isinstance(self.observation_space, spaces.Dict) else SetBuffer

    def _check_env(self) -> None:
        if self._vec_normalize_env is not None:
            raise ValueError(
                "vines draw from environments of their own, which VecNormalize does not reach: "
                "normalise in make_env, for instance by gymnasium.wrappers.NormalizeObservation"
            )
        if self.use_sde:
            raise ValueError("vines mix steps of several trajectories: use_sde must be False")

    def _setup_learn(self, *arguments: Any, **named: Any) -> tuple[int, BaseCallback]:
        check_vines(self.method, self.vines)  # a model that was loaded may be without
        found = super()._setup_learn(*arguments, **named)
        if self.start_policy is not None and self.num_timesteps == 0:
            self.start_policy.load_state_dict(self.policy.state_dict())
        return found

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "vines", "_draw", "start_policy"]

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        modules, variables = super()._get_torch_save_params()
        return ([*modules, "start_policy"] if self.kl_anchor == "start" else modules), variables

    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: Any, n_rollout_steps: int
    ) -> bool:
        """PPO's, or seed trajectories and vines; says whether training goes on."""
        if not self.draws_families:
            return super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps)
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        try:
            families = self._families(n_rollout_steps * env.num_envs, callback)
        except _StoppedError:
            return False
        segments = self._segments(families, callback)
        rollout_buffer.load(self._critic().transitions(segments))
        callback.on_rollout_end()
        return True

    @property
    def draws_families(self) -> bool:
        """Whether whole episodes are collected here, and not steps by PPO."""
        return self.uses_vines

    def _families(self, num_steps: int, callback: BaseCallback) -> list[Family]:
        """Families of about so many steps, drawn with the policy as it is."""
        assert self.vines is not None
        assert self.vine_rng is not None
        if self._draw is None:
            pool = VinePool(self.vines.make_env, self.pool_size, self.vine_rng)
            self._draw = FamilyDraw(self.vines, pool, self.vine_rng)
        self._draw.family_steps = self.family_steps

        def begin(memories: Memories) -> Act:
            known = list(memories)

            def act(seen: Any, places: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
                self.num_timesteps += len(places)
                callback.update_locals({"observations": seen})
                if not callback.on_step():
                    raise _StoppedError
                return self._sampled(seen, places, known)

            return act

        families = self._draw(num_steps, begin, self._entropies)
        self.family_steps = self._draw.family_steps
        return families

    def _segments(self, families: list[Family], callback: BaseCallback) -> list[Segment]:
        """What is trained on, with set advantages where there are vines; logs them."""
        assert self.ep_info_buffer is not None
        for family in families:
            self.ep_info_buffer.append({"r": family.seed.total_reward, "l": len(family.seed)})
        if not self.uses_vines:
            return [Segment(family.seed) for family in families]
        assert self.method is not None
        assert self.vines is not None
        assert self.vine_rng is not None
        judged = judge(families, self.method, self.vines)
        segments, owed_BN = segments_of(families, judged, self.method, self.vines, self.vine_rng)
        for name, value in measures(families, judged, owed_BN).items():
            self.logger.record(name, value)
        callback.update_locals({"families": families, "judged": judged, "owed_BN": owed_BN})
        return segments

    def _critic(self) -> Critic:
        return Critic(self.policy, self.gamma, self.gae_lambda, self.bonus)

    @property
    def pool_size(self) -> int:
        """Environments that are stepped together."""
        assert self.vines is not None
        return max(self.n_envs, self.vines.num_vines)

    def _sampled(
        self, observations: Any, places: np.ndarray, memories: list[np.ndarray | None]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Actions drawn from the policy, as the environment takes them and as they were drawn.

        Args:
            observations: Of the trajectories that are under way.
            places: Which of the starts each began from.
            memories: What a recurrent policy knows, by start; it brings them up to date.
        """
        with torch.no_grad():
            seen, _ = self.policy.obs_to_tensor(observations)
            actions = self.policy.get_distribution(seen).get_actions().cpu().numpy()
        return self._clipped(actions)

    def _clipped(self, actions: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Actions within the space, and, where that may change them, as they were."""
        if not isinstance(self.action_space, spaces.Box):
            return actions, {}
        clipped = np.clip(actions, self.action_space.low, self.action_space.high)
        return clipped, {TAKEN: actions}

    def _entropies(self, seed: Trajectory) -> np.ndarray:
        """The policy's entropy at each step of a trajectory, in nats."""
        with torch.no_grad():
            seen, _ = self.policy.obs_to_tensor(part(seed.observations, slice(-1)))
            return _known(self.policy.get_distribution(seen).entropy())

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
        """The policy that the KL penalty is to; at the start of an update π is what drew it."""
        if not self.kl_coef:
            return None
        return self.start_policy or copy.deepcopy(self.policy)

    def _train_epoch(
        self,
        clip_range: float,
        clip_range_vf: float | None,
        anchor: ActorCriticPolicy | None,
        measured: dict[str, list[float]],
    ) -> bool:
        """One pass over the buffer; False once the policy has moved beyond `target_kl`."""
        measured["approx_kl"].clear()
        for batch in self.rollout_buffer.get(self.batch_size):
            loss = self._loss(batch, clip_range, clip_range_vf, anchor, measured)
            moved = measured["approx_kl"][-1]
            if self.target_kl is not None and moved > 1.5 * self.target_kl:
                return False
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        return True

    def _loss(
        self,
        batch: Minibatch,
        clip_range: float,
        clip_range_vf: float | None,
        anchor: ActorCriticPolicy | None,
        measured: dict[str, list[float]],
    ) -> torch.Tensor:
        """Clipped surrogate + ent_coef·(−H) + vf_coef·value loss + kl_coef·KL of a minibatch."""
        actions = batch.actions
        if isinstance(self.action_space, spaces.Discrete):
            actions = actions.long().flatten()
        values, log_prob, entropy = self._evaluated(batch, actions)
        advantages = batch.advantages
        if self.normalize_advantage:
            advantages = update.normalised(advantages, batch.from_sets)
        log_ratio = log_prob - batch.old_log_prob
        ratio = torch.exp(log_ratio)
        surrogate = update.clipped_surrogate(advantages, ratio, clip_range)
        error = update.value_loss(values.flatten(), batch.old_values, batch.returns, clip_range_vf)
        disorder = update.entropy_loss(entropy, log_prob)
        loss = surrogate + self.ent_coef * disorder + self.vf_coef * error
        if anchor is not None:
            penalty = self._kl_penalty(anchor, batch)
            loss = loss + self.kl_coef * penalty
            measured["kl_penalty"].append(penalty.item())
        measured["loss"].append(loss.item())
        measured["policy_gradient_loss"].append(surrogate.item())
        measured["value_loss"].append(error.item())
        measured["entropy_loss"].append(disorder.item())
        measured["clip_fraction"].append(update.clip_fraction(ratio, clip_range))
        measured["approx_kl"].append(update.approximate_kl(log_ratio))
        return loss

    def _evaluated(
        self, batch: Minibatch, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Values, log-probabilities and entropies of a minibatch."""
        return self.policy.evaluate_actions(batch.observations, actions)

    def _distribution(self, policy: ActorCriticPolicy, batch: Minibatch) -> Distribution:
        return policy.get_distribution(batch.observations)

    def _kl_penalty(self, anchor: ActorCriticPolicy, batch: Minibatch) -> torch.Tensor:
        with torch.no_grad():
            towards = self._distribution(anchor, batch)
        return update.kl_penalty(towards, self._distribution(self.policy, batch))

    def _log_update(
        self, measured: dict[str, list[float]], clip_range: float, clip_range_vf: float | None
    ) -> None:
        """PPO's own names and values."""
        buffer = self.rollout_buffer
        explained = explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        for name, values in measured.items():
            last = name == "loss"
            self.logger.record(f"train/{name}", values[-1] if last else np.mean(values))
        self.logger.record("train/explained_variance", explained)
        if hasattr(self.policy, "log_std"):
            self.logger.record("train/std", torch.exp(self.policy.log_std).mean().item())
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)
        if clip_range_vf is not None:
            self.logger.record("train/clip_range_vf", clip_range_vf)


def _known(entropies: torch.Tensor | None) -> np.ndarray:
    if entropies is None:
        raise ValueError("where='entropy' needs a policy whose entropy is known")
    return entropies.cpu().numpy()


class _StoppedError(Exception):
    """A callback has asked for the end of training."""
