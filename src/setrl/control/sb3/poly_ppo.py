"""Poly-PPO on Stable-Baselines3's PPO: set RL for environments that can be set back.

Only the collection of rollouts and the update (`ppo.py`) are ours; policies, callbacks, schedules,
logging, saving and loading come from PPO.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import check_for_correct_spaces
from stable_baselines3.common.vec_env import (
    VecEnv,
    VecFrameStack,
    VecNormalize,
    is_vecenv_wrapped,
)
from typing_extensions import override

from setrl.control.envs.checks import ResetMismatchError, check_resettable
from setrl.control.labels import first_actions
from setrl.control.sb3.advantages import Critic, Segment, segments_of
from setrl.control.sb3.families import (
    Family,
    FamilySampler,
    Vines,
    metrics_of_families,
    score_vines,
    vines_of,
)
from setrl.control.sb3.ppo import RegularisedPPO
from setrl.control.sb3.rollouts import Stepped, VinePool
from setrl.control.trajectories import TAKEN, Trajectory
from setrl.control.vines import check_vines, note_without_credit, vine_advantages
from setrl.core.advantages import AnyMethod

IN_MAKE_ENV = {
    VecFrameStack: "gymnasium.wrappers.FrameStackObservation",
    VecNormalize: "gymnasium.wrappers.NormalizeObservation with fixed statistics",
}
CHECKED_STATES, CHECKED_ACTIONS = 3, 30  # by the check at the first `learn`


class PolyPPO(RegularisedPPO):
    """PPO whose advantage near some states is the worth of a trajectory to sets of trajectories.

    With `vines`, an update samples trunks, sets the environment back to states of these trunks, and
    samples N trajectories from each state. The first `window` steps of each trajectory take their
    advantage from sets of K trajectories, scored by `method`; all other steps take it from the
    critic (GAE). Algorithm 2 of the Set RL note; "Polychromic Objectives for RL", arXiv:2509.25424.
    docs/poly-ppo.md says what both leave open, and what is done here. Steps of vines are
    environment steps and count in `num_timesteps`.

    Without `vines` it is PPO, to the last bit if none of the options below are used.

    Args:
        policy: The argument of PPO.
        env: The argument of PPO; with `vines` the model uses only its spaces.
        method: The worth of sets, such as `setrl.methods.poly_epo(4)`; needs `vines`.
        vines: How trajectories are sampled from earlier states; None for plain PPO.
        checks_resets: Whether the first `learn` tests on a few states that the environment of the
            vines is really set back, as `check_resettable` does, in its own environments; its
            few hundred steps do not count in `num_timesteps`.
        **options: Arguments of PPO, and `kl_coef`, `kl_anchor`, `ucb_coef` of `RegularisedPPO`. The
            penalty to "behaviour" is the one in the paper. The bonus is in the critic's advantages,
            not in the scores of sets. `n_steps` times the number of environments are the
            environment steps of an update; with vines, at least that many, because episodes stay
            whole.

    Raises:
        ValueError: If method and vines do not fit together, or vines do not fit the environment.
        ResetMismatchError: In `learn`, if the environment of the vines is not set back.
    """

    vines: Vines | None = None  # not saved: it holds functions that make environments
    checks_resets: bool = True
    num_resets: int = 0
    gave_credit: bool = False  # whether any step so far had a set advantage
    _checked: Vines | None = None

    def __init__(
        self,
        policy: str | type[ActorCriticPolicy],
        env: Any,
        method: AnyMethod | None = None,
        vines: Vines | None = None,
        *,
        checks_resets: bool = True,
        **options: Any,
    ):
        check_vines(method, vines)
        self.checks_resets = checks_resets
        self.method, self.vines = method, vines
        self.vine_rng = np.random.default_rng(options.get("seed"))
        self.family_steps: float | None = None
        super().__init__(policy, env, **options)

    @property
    def uses_vines(self) -> bool:
        """Whether trajectories are sampled from states of earlier trajectories."""
        return self.vines is not None and self.vines.are_sampled

    @override
    def _setup_model(self) -> None:
        super()._setup_model()
        self._sampler: FamilySampler | None = None
        if self.uses_vines and self.env is not None:
            self._check_env()

    def _check_env(self) -> None:
        for wrapper, instead in IN_MAKE_ENV.items():
            if is_vecenv_wrapped(self.env, wrapper):  # type: ignore[arg-type]
                raise ValueError(
                    f"vines use separate environments, which {wrapper.__name__} does not reach: "
                    f"wrap the environment in make_env by {instead}, and give the model an "
                    "environment that is made the same way"
                )
        if self.use_sde:
            raise ValueError("vines mix steps of several trajectories: use_sde must be False")

    @override
    def _setup_learn(self, *arguments: Any, **named: Any) -> tuple[int, BaseCallback]:
        if self.method is not None and self.vines is None:
            raise ValueError("a saved model holds no vines: load(path, env=..., vines=...)")
        check_vines(self.method, self.vines)
        if self.checks_resets and self.uses_vines and self._checked is not self.vines:
            self._check_resets()
        return super()._setup_learn(*arguments, **named)

    @override
    def learn(self, *arguments: Any, **named: Any) -> Self:
        super().learn(*arguments, **named)
        is_done = self.num_timesteps >= self._total_timesteps
        sentence = note_without_credit(self.vines, self.gave_credit)
        if sentence is not None and is_done:
            warnings.warn(sentence, stacklevel=2)
        return self

    def _check_resets(self) -> None:
        """Test on a few states that the environment of the vines is set back."""
        assert self.vines is not None
        env, another = self.vines.make_env(), self.vines.make_env()
        try:
            check_resettable(env, actions=CHECKED_ACTIONS, trials=CHECKED_STATES, another=another)
        except ResetMismatchError as error:
            raise ResetMismatchError(
                f"{error}. PolyPPO(…, checks_resets=False) trains without this check"
            ) from error
        finally:
            env.close()
            another.close()
        self._checked = self.vines

    @override
    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "vines", "_sampler", "_checked"]

    @override
    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: Any, n_rollout_steps: int
    ) -> bool:
        """Collect as PPO does, or trunks and vines; return whether training continues."""
        if self.vines is None or not self.uses_vines:
            goes_on = super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps)
            self._count_resets(int(rollout_buffer.episode_starts.sum()))
            return goes_on
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        try:
            families = self._sample_families(self.vines, n_rollout_steps * env.num_envs, callback)
        except _StoppedError:
            return False
        self._update_info_buffer(*_make_infos_and_ends([family.trunk for family in families]))
        segments = self._credit_segments(self.vines, families, callback)
        self.gave_credit |= any(np.isfinite(segment.own_T).any() for segment in segments)
        scales_sets = self.normalize_advantage
        critic = Critic(self.policy, self.gamma, self.gae_lambda, self.bonus, scales_sets)
        rollout_buffer.load(critic.credit_steps(segments))
        callback.on_rollout_end()
        return True

    def _sample_families(
        self, vines: Vines, num_steps: int, callback: BaseCallback
    ) -> list[Family]:
        """Sample families of about so many steps, with the present policy."""
        if self._sampler is None or self._sampler.vines is not vines:
            self._sampler = FamilySampler(vines, self._make_pool(vines), self.vine_rng)
        self._sampler.family_steps = self.family_steps

        def on_step(stepped: Stepped) -> None:
            self.num_timesteps += len(stepped.dones)
            callback.update_locals(stepped._asdict())
            if not callback.on_step():
                raise _StoppedError

        self._sampler.pool.on_step = on_step
        families = self._sampler(num_steps, self._sample_actions)
        self.family_steps = self._sampler.family_steps
        self._count_resets(len(families))
        return families

    def _count_resets(self, count: int) -> None:
        """Count episodes that began with a reset: an environment set back is not reset."""
        self.num_resets += count
        self.logger.record("rollout/resets", self.num_resets)

    def _make_pool(self, vines: Vines) -> VinePool:
        """Make the environments in which vines grow.

        Raises:
            ValueError: If their spaces differ from the spaces of the model.
        """
        pool = VinePool(vines.make_env, max(self.n_envs, vines.num_vines), self.vine_rng)
        as_seen = self._wrap_env(pool.envs[0], monitor_wrapper=False)  # images with channels first
        try:
            check_for_correct_spaces(as_seen, self.observation_space, self.action_space)
        except ValueError as error:
            raise ValueError(f"vines' environments must be like the model's: {error}") from error
        return pool

    def _credit_segments(
        self, vines: Vines, families: list[Family], callback: BaseCallback
    ) -> list[Segment]:
        """Return the segments to train on, with set advantages of the vines; log these."""
        assert self.method is not None, "`check_vines` refused vines without a method"
        samples = score_vines(families, self.method, vines)
        actions_BN = first_actions(vines_of(families))
        advantages_BN = vine_advantages(self.method, vines, samples, actions_BN, self.vine_rng)
        segments = segments_of(families, advantages_BN, vines.window)
        credited = None if vines.credit == "gae" else advantages_BN
        self._record_metrics(metrics_of_families(families, samples, credited))
        logged = {"families": families, "samples": samples, "advantages_BN": advantages_BN}
        callback.update_locals({**logged, "segments": segments})
        return segments

    def _record_metrics(self, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self.logger.record(name, value)

    def _sample_actions(
        self, observations: Any, _vines: np.ndarray
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Sample actions, clipped to their space; keep the unclipped ones if they may differ."""
        with torch.no_grad():
            batch, _ = self.policy.obs_to_tensor(observations)
            actions = self.policy.get_distribution(batch).get_actions().cpu().numpy()
        if not isinstance(self.action_space, spaces.Box):
            return actions, {}
        actions = actions.reshape(-1, *self.action_space.shape)  # policies have them flat
        clipped = np.clip(actions, self.action_space.low, self.action_space.high)
        return clipped, {TAKEN: actions}


def _make_infos_and_ends(trunks: Sequence[Trajectory]) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Return infos and ends of whole episodes, as Monitor and a VecEnv give them."""
    infos = [
        {**trunk.infos[-1], "episode": {"r": trunk.total_reward, "l": len(trunk)}}
        for trunk in trunks
    ]
    return infos, np.ones(len(trunks), dtype=bool)


class _StoppedError(Exception):
    """A callback stopped the training."""
