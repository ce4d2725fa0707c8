"""PPO with the parts that rivals need: a KL penalty, a bonus for rare actions, set advantages.

Written for stable-baselines3 2.9, whose update has no hooks for these parts. Without any of them it
is Stable-Baselines3's PPO to the last bit. Checkpoints hold `CountBonus` and the buffers by the
name of this module.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.distributions import Distribution, kl_divergence
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.utils import explained_variance
from torch import Tensor
from torch.nn import functional
from typing_extensions import override

from setrl.control.options import Anchor, check_penalties
from setrl.control.steps import CreditedSteps
from setrl.control.trajectories import on_arrays, select_steps

SCALARS = ("log_probs", "values", "advantages", "returns", "from_sets")  # one number per step


def normalised(advantages: Tensor, from_sets: Tensor) -> Tensor:
    """Scale the critic's advantages to mean 0 and standard deviation 1; leave set advantages.

    Set advantages are centred by their baseline and were scaled once for the whole update: a
    minibatch may hold only a few of them, and if both kinds were mixed, the scale of one kind would
    decide the weight of the other.
    """
    critics = advantages[~from_sets]
    if len(critics) < 2:
        return advantages
    centred, size = critics - critics.mean(), critics.std()
    # PPO scales even the rounding error of equal advantages up to 1; next to a few set advantages,
    # the policy would learn only from that.
    rounding = 8 * torch.finfo(critics.dtype).eps * critics.abs().max()
    if from_sets.any() and size <= rounding:
        centred = torch.zeros_like(critics)
    scaled = advantages.clone()
    scaled[~from_sets] = centred / (size + 1e-8)
    return scaled


def clipped_surrogate(advantages: Tensor, ratio: Tensor, clip_range: float) -> Tensor:
    """−mean min{A·ρ, A·clip(ρ, 1 − ε, 1 + ε)}: PPO, arXiv:1707.06347, Eq. 7.

    At ρ = 1 its gradient is the gradient of −mean A·log π, so one epoch over one minibatch is
    REINFORCE with a baseline.
    """
    clipped = torch.clamp(ratio, 1 - clip_range, 1 + clip_range)
    return -torch.min(advantages * ratio, advantages * clipped).mean()


def value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, clip_range: float | None
) -> Tensor:
    """Return the critic's mean squared error; its values may move by `clip_range` at most."""
    if clip_range is not None:
        values = old_values + torch.clamp(values - old_values, -clip_range, clip_range)
    return functional.mse_loss(returns, values)


def entropy_loss(entropy: Tensor | None, log_prob: Tensor) -> Tensor:
    """−H(π), estimated from the actions taken where the distribution has no closed form."""
    return -torch.mean(-log_prob) if entropy is None else -torch.mean(entropy)


def kl_penalty(anchor: Distribution, current: Distribution) -> Tensor:
    """Mean over states of KL(anchor ‖ current), in nats; arXiv:2509.25424 has π_β as the anchor."""
    kl = kl_divergence(anchor, current)
    return (kl.sum(dim=1) if kl.ndim > 1 else kl).mean()  # torch has one term per action dimension


def approximate_kl(log_ratio: Tensor) -> float:
    """mean (ρ − 1 − log ρ), an estimate of KL(old ‖ new) that is never negative."""
    with torch.no_grad():
        return float(torch.mean((torch.exp(log_ratio) - 1) - log_ratio).cpu().numpy())


def clip_fraction(ratio: Tensor, clip_range: float) -> float:
    """Return the share of steps whose probability ratio is beyond the clip range."""
    return torch.mean((torch.abs(ratio - 1) > clip_range).float()).item()


@dataclass
class CountBonus:
    """The bonus of states and actions, which are equal if their bytes are.

    In continuous spaces nothing is seen twice, so every step gets the whole weight.

    >>> bonus = CountBonus(0.5)
    >>> bonus(np.zeros((4, 2)), np.array([[1], [1], [0], [1]])).round(3)
    array([0.5  , 0.354, 0.5  , 0.289])
    """

    weight: float
    visits: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, observations: Any, actions: np.ndarray) -> np.ndarray:
        """Return the bonus of steps in their order, (steps,), and count the steps.

        Args:
            observations: (steps, …), or a dict of such arrays.
            actions: (steps, …).
        """
        parts = observations.values() if isinstance(observations, dict) else (observations,)
        rows = [np.ascontiguousarray(part) for part in (*parts, actions)]
        bonuses = np.empty(len(actions))
        for step in range(len(actions)):
            key = b"|".join(row[step].tobytes() for row in rows)
            self.visits[key] += 1
            bonuses[step] = self.weight * self.visits[key] ** -0.5
        return bonuses


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
            inputs, actions = (
                on_arrays(lambda array: array.reshape(-1, *array.shape[2:]), column)
                for column in (self.observations, self.actions)  # type: ignore[attr-defined]
            )
            self.rewards = self.rewards + self.bonus(inputs, actions).reshape(self.rewards.shape)
        super().compute_returns_and_advantage(last_values, dones)  # type: ignore[misc]

    def load(self, steps: CreditedSteps) -> None:
        """Replace all steps by these."""
        for name in ("observations", "actions", *SCALARS):
            setattr(self, name, getattr(steps, name))
        self.generator_ready = self.full = True

    def get(self, batch_size: int | None = None) -> Iterator[CreditedSteps]:
        """Yield all steps in random order, `batch_size` at a time; None yields all at once."""
        self._flatten_steps()
        count = len(self.values)  # type: ignore[attr-defined]
        # The permutation of steps that Stable-Baselines3's buffer draws, from PPO's generator.
        order = np.random.permutation(count)  # noqa: NPY002
        for start in range(0, count, batch_size or count):
            yield self._make_minibatch(order[start:][:batch_size])

    def _flatten_steps(self) -> None:
        """Reshape from (steps, environments) to one axis, environment by environment."""
        if self.generator_ready:
            return
        for name in ("observations", "actions", *SCALARS):
            flat = on_arrays(self.swap_and_flatten, getattr(self, name))  # type: ignore[attr-defined]
            setattr(self, name, flat)
        self.generator_ready = True

    def _make_minibatch(self, steps: np.ndarray) -> CreditedSteps:
        tensor = self.to_torch  # type: ignore[attr-defined]
        return CreditedSteps(
            on_arrays(tensor, select_steps(self.observations, steps)),  # type: ignore[attr-defined]
            tensor(self.actions[steps].astype(np.float32, copy=False)),  # type: ignore[attr-defined]
            *(tensor(getattr(self, name)[steps].flatten()) for name in SCALARS),
        )


class SetBuffer(_WithSets, RolloutBuffer):  # type: ignore[misc]
    """A rollout buffer whose advantages may be set advantages; for observations that are arrays."""


class DictSetBuffer(_WithSets, DictRolloutBuffer):  # type: ignore[misc]
    """A rollout buffer like `SetBuffer`, for observations that are dicts of arrays."""


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
        anchor = self._kl_anchor_policy()
        measured: dict[str, list[float]] = defaultdict(list)
        for _ in range(self.n_epochs):
            goes_on = self._train_epoch(clip_range, clip_range_vf, anchor, measured)
            self._n_updates += 1
            if not goes_on:
                break
        self._log_update(measured, clip_range, clip_range_vf)

    def _kl_anchor_policy(self) -> ActorCriticPolicy | None:
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
            loss = self._compute_loss(batch, clip_range, clip_range_vf, anchor, measured)
            moved = measured["approx_kl"][-1]
            # Checked before the step, as PPO does: the minibatch that moved too far is not used.
            if self.target_kl is not None and moved > 1.5 * self.target_kl:
                return False
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        return True

    def _compute_loss(
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
            advantages = normalised(advantages, batch.from_sets)
        log_ratio = log_prob - batch.log_probs
        ratio = torch.exp(log_ratio)
        surrogate = clipped_surrogate(advantages, ratio, clip_range)
        error = value_loss(values.flatten(), batch.values, batch.returns, clip_range_vf)
        disorder = entropy_loss(entropy, log_prob)
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
            "clip_fraction": clip_fraction(ratio, clip_range),
            "approx_kl": approximate_kl(log_ratio),
        }
        for name, value in numbers.items():
            measured[name].append(value)
        return loss

    def _kl_penalty(self, anchor: ActorCriticPolicy, batch: CreditedSteps) -> torch.Tensor:
        with torch.no_grad():
            target = anchor.get_distribution(batch.observations)
        return kl_penalty(target, self.policy.get_distribution(batch.observations))

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
