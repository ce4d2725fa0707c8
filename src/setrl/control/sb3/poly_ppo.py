"""Poly-PPO on Stable-Baselines3's PPO: set RL for environments that can be set back.

Of PPO, only how rollouts are collected and the update (`ppo.py`) are ours; policies, callbacks,
schedules, logging, saving and loading are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import check_for_correct_spaces
from stable_baselines3.common.vec_env import VecEnv

from setrl.control.credit.assign import judge, measures, segments_of
from setrl.control.credit.draw import Family, FamilyDraw, Memories
from setrl.control.credit.segments import TAKEN, Critic, Segment, part
from setrl.control.credit.trajectories import Trajectory
from setrl.control.credit.vine_pool import Act, Stepped, VinePool
from setrl.control.credit.vines import Vines, check_vines
from setrl.control.sb3.ppo import RegularisedPPO
from setrl.core.advantages import Method


class PolyPPO(RegularisedPPO):
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
        **options: Arguments of PPO, and `kl_coef`, `kl_anchor`, `ucb_coef` of `RegularisedPPO`. The
            penalty to "behaviour" is the paper's. The bonus is in the critic's advantages, not in
            the scores of sets. `n_steps` times the number of environments are the environment steps
            of an update; with vines as many as that at least, as episodes stay whole.

    Raises:
        ValueError: If method and vines do not fit, or vines the environment.
    """

    vines: Vines | None = None  # not saved: it holds functions that make environments

    def __init__(
        self,
        policy: str | type[ActorCriticPolicy],
        env: Any,
        method: Method | None = None,
        vines: Vines | None = None,
        **options: Any,
    ):
        check_vines(method, vines)
        self.method, self.vines = method, vines
        self.vine_rng: np.random.Generator | None = None
        self.family_steps: float | None = None
        super().__init__(policy, env, **options)

    @property
    def uses_vines(self) -> bool:
        """Whether trajectories are drawn from states that are returned to."""
        return self.vines is not None and self.vines.are_drawn

    def _setup_model(self) -> None:
        super()._setup_model()
        if self.vine_rng is None:
            self.vine_rng = np.random.default_rng(self.seed)
        self._draw: FamilyDraw | None = None
        if self.draws_families and self.env is not None:
            self._check_env()

    def _check_env(self) -> None:
        if self._vec_normalize_env is not None:
            raise ValueError(
                "vines draw from environments of their own, which VecNormalize does not reach: "
                "normalise in make_env, for instance by gymnasium.wrappers.NormalizeObservation"
            )
        if self.use_sde:
            raise ValueError("vines mix steps of several trajectories: use_sde must be False")

    def _setup_learn(self, *arguments: Any, **named: Any) -> tuple[int, BaseCallback]:
        if self.method is not None and self.vines is None:
            raise ValueError("a saved model holds no vines: load(path, env=..., vines=...)")
        check_vines(self.method, self.vines)
        return super()._setup_learn(*arguments, **named)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "vines", "_draw"]

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
        if self._draw is None or self._draw.vines is not self.vines:
            self._draw = FamilyDraw(self.vines, self._pool(), self.vine_rng)
        self._draw.family_steps = self.family_steps

        def begin(memories: Memories) -> Act:
            known = list(memories)
            return lambda seen, places: self._sampled(seen, places, known)

        def on_step(stepped: Stepped) -> None:
            self.num_timesteps += len(stepped.dones)
            callback.update_locals(stepped._asdict())
            if not callback.on_step():
                raise _StoppedError

        self._draw.pool.on_step = on_step
        families = self._draw(num_steps, begin, self._entropies)
        self.family_steps = self._draw.family_steps
        return families

    def _pool(self) -> VinePool:
        """The environments that vines grow in.

        Raises:
            ValueError: If their spaces are not those of the model.
        """
        assert self.vines is not None
        assert self.vine_rng is not None
        pool = VinePool(self.vines.make_env, self.pool_size, self.vine_rng)
        as_seen = self._wrap_env(pool.envs[0], monitor_wrapper=False)  # images with channels first
        try:
            check_for_correct_spaces(as_seen, self.observation_space, self.action_space)
        except ValueError as error:
            raise ValueError(f"vines' environments must be like the model's: {error}") from error
        return pool

    def _segments(self, families: list[Family], callback: BaseCallback) -> list[Segment]:
        """What is trained on, with set advantages where there are vines; logs them."""
        self._update_info_buffer(*_outcomes([family.seed for family in families]))
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
        return Critic(
            self.policy, self.gamma, self.gae_lambda, self.bonus, self.normalize_advantage
        )

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


def _outcomes(seeds: Sequence[Trajectory]) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Infos and ends of whole episodes, as Monitor and a VecEnv tell them."""
    infos = [
        {**seed.infos[-1], "episode": {"r": seed.total_reward, "l": len(seed)}} for seed in seeds
    ]
    return infos, np.ones(len(seeds), dtype=bool)


def _known(entropies: torch.Tensor | None) -> np.ndarray:
    if entropies is None:
        raise ValueError("where='entropy' needs a policy whose entropy is known")
    return entropies.cpu().numpy()


class _StoppedError(Exception):
    """A callback has asked for the end of training."""
