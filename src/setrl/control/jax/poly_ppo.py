"""Poly-PPO as one compiled function: weights, optimiser and random numbers in, the same out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control.jax import families
from setrl.control.jax.advantages import credit_steps, rounding_floor, vine_advantages
from setrl.control.jax.environment import (
    JaxTask,
    State,
    check_env,
    check_label,
    check_task,
    labels_of,
)
from setrl.control.jax.families import Families
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import Trajectories, grow
from setrl.control.jax.update import PPOOptions, learn, pieces_of
from setrl.control.steps import CreditedSteps, scale_set_advantages, spread_over_window
from setrl.control.vines import VineChoices, check_vines
from setrl.core.advantages import AnyMethod

RECENT = 100  # episodes whose returns and lengths are logged, as in Stable-Baselines3


class Training(NamedTuple):
    """All that later updates depend on: a pytree, so `jax.vmap` trains several seeds at once.

    Attributes:
        params: Weights of the policy.
        optimizer: State of the optimiser.
        key: Random numbers of all that follows.
        steps: Environment steps so far, of trunks and vines: int32, so fewer than 2³¹.
        resets: Episodes from a reset so far: vines do not count.
        start: Weights at the start, the anchor of a KL penalty; None if not needed.
        recent: (2, 100) returns and lengths of the last episodes from resets; NaN for none.
        gave_credit: Whether any vine so far had a set advantage.
    """

    params: Params
    optimizer: Any
    key: jax.Array
    steps: jax.Array
    resets: jax.Array
    start: Params | None
    recent: jax.Array
    gave_credit: jax.Array


@dataclass(frozen=True)
class JaxPolyPPO:
    """PPO on JAX whose advantage near some states is the worth of a trajectory to sets.

    `PolyPPO`, for environments that are pure functions: Algorithm 2 of the Set RL note,
    arXiv:2509.25424. Without vines it is PPO on whole episodes. `update` is a pure function of
    `Training`; `jax.jit` compiles it, and `jax.vmap` trains seeds side by side. An example of forty
    lines is recipes/jax_poly_ppo.py.

    Args:
        task: An object with `env`, the environment, and `label`, from the last state of an episode
            to its strategy, an integer, −1 for none (None: no strategies).
        policy: Actor and critic.
        options: PPO's arguments.
        method: The worth of sets, such as `setrl.methods.poly_epo(4)`; needs `vines`.
        vines: How vines are sampled and credited; None for PPO.

    Raises:
        ValueError: If they do not fit together, or the environment cannot be compiled: before
            anything is compiled.
    """

    task: JaxTask
    policy: ActorCritic
    options: PPOOptions = field(default_factory=PPOOptions)
    method: AnyMethod | None = None
    vines: VineChoices | None = None

    def __post_init__(self) -> None:
        check_task(self.task)
        check_vines(self.method, self.vines, self.task)
        _ = self._observation_size  # checks the environment
        self._check_vines()
        if self.policy.num_actions != self.task.env.num_actions:
            raise ValueError(
                f"the policy has {self.policy.num_actions} actions, and the environment "
                f"{self.task.env.num_actions}"
            )

    def _check_vines(self) -> None:
        vines, longest = self.vines, self.task.env.max_steps
        if vines is None:
            return
        if self.task.label is not None:
            check_label(self.task.env, self.task.label)
        if not vines.num_vines or not 1 <= vines.num_states <= longest:
            raise ValueError(
                f"num_states must be from 1 to {longest}, the steps of an episode, and num_vines "
                f"at least 1, got {vines.num_states} and {vines.num_vines}; for PPO give no vines"
            )

    @cached_property
    def _observation_size(self) -> int:
        return check_env(self.task.env)

    @property
    def num_trunks(self) -> int:
        """Number of trunks of an update: num_trajectories // (p·N), at least 1."""
        if self.vines is None:
            return self.options.num_trajectories
        vines_per_trunk = self.vines.num_states * self.vines.num_vines
        return max(1, self.options.num_trajectories // vines_per_trunk)

    def init(self, key: jax.Array, params: Params | None = None) -> Training:
        """Return the start of training: first weights of this key, or `params`."""
        for_weights, key = jax.random.split(key)
        if params is None:
            params = self.policy.init(for_weights, self._observation_size)
        return Training(
            params,
            self.options.optimizer.init(params),
            key,
            jnp.int32(0),
            jnp.int32(0),
            params if self.options.kl_coef and self.options.kl_anchor == "start" else None,
            jnp.full((2, RECENT), jnp.nan, jnp.float32),
            jnp.bool_(False),
        )

    def update(self, training: Training) -> tuple[Training, dict[str, jax.Array]]:
        """Sample trunks and vines, and learn from them; return metrics, too.

        A compiled function raises no errors. Trajectories without a finite reward are left out, and
        `rollout/without_reward` counts the trunks among them; check also that `train/loss` is
        finite.
        """
        training, metrics, _ = self.update_and_show(training)
        return training, metrics

    def update_and_show(
        self, training: Training
    ) -> tuple[Training, dict[str, jax.Array], tuple[Families | None, jax.Array]]:
        """Do an update; also return the families, if there are vines, and the set advantages."""
        key, for_sample, for_credit, for_batches = jax.random.split(training.key, 4)
        policy, params = self.policy, training.params
        parts: list[Trajectories]
        set_advantages: list[jax.Array | None]
        advantages_BN = jnp.zeros((0, 0))
        if self.vines is None or self.method is None:
            played = families.play_episodes(self.task, policy, params, self.num_trunks, for_sample)
            parts, set_advantages, metrics = [played], [None], {}
            sampled: Families | None = None
        else:
            sampled = families.sample_families(
                self.task, policy, params, self.vines, self.num_trunks, for_sample
            )
            credit, inputs = self.vines.credit, (sampled.columns, sampled.actions_BN)
            advantages_BN = jnp.full(sampled.actions_BN.shape, jnp.nan)
            if credit != "gae":
                advantages_BN = vine_advantages(self.method, self.vines, *inputs, for_credit)
            parts, set_advantages = (
                [sampled.trunks, sampled.vines],
                [None, self._spread_along_vines(advantages_BN)],
            )
            metrics = families.metrics_of_families(
                sampled, None if credit == "gae" else advantages_BN
            )
        credits = self._credit_parts(parts, set_advantages)
        pieces = pieces_of(credits, self.options.sequence_length if policy.gru is not None else 1)
        learnt = learn(
            policy, self.options, params, training.optimizer, pieces, training.start, for_batches
        )
        params, optimizer, trained = learnt
        steps = training.steps + sum(part.steps.alive.sum() for part in parts)
        resets = training.resets + self.num_trunks
        new = jnp.stack([parts[0].returns, parts[0].lengths])
        recent = jnp.concatenate([new, training.recent], axis=1)[:, :RECENT]
        gave_credit = training.gave_credit | jnp.isfinite(advantages_BN).any()
        counted = (steps, resets, training.start, recent, gave_credit)
        after = Training(params, optimizer, key, *counted)
        metrics |= trained | _explained_variance(credits) | {"rollout/resets": resets}
        metrics["rollout/without_reward"] = (~jnp.isfinite(parts[0].returns)).sum()
        metrics["rollout/ep_rew_mean"], metrics["rollout/ep_len_mean"] = jnp.nanmean(recent, axis=1)
        return after, metrics, (sampled, advantages_BN)

    @cached_property
    def compiled(self) -> Any:
        """`update_and_show`, compiled when it is called first."""
        return jax.jit(self.update_and_show)

    def _spread_along_vines(self, advantages_BN: jax.Array) -> jax.Array:
        """Give the first steps of each vine its set advantage, (T, B·N)."""
        assert self.vines is not None
        return spread_over_window(
            jnp, advantages_BN.reshape(-1), self.vines.window, self.task.env.max_steps
        )

    def _credit_parts(
        self, parts: Sequence[Trajectories], set_advantages: Sequence[jax.Array | None]
    ) -> list[CreditedSteps]:
        options, pairs = self.options, zip(parts, set_advantages, strict=True)
        credits = [
            credit_steps(part, options.gamma, options.gae_lambda, own_TB) for part, own_TB in pairs
        ]
        return (
            scale_set_advantages(jnp, credits, rounding_floor(parts))
            if options.normalize_advantage
            else credits
        )

    @cached_property
    def _compiled_growth(self) -> Any:
        return jax.jit(self._grow_from, static_argnames="keeps_states")

    def _grow_from(
        self, params: Params, starts: State, key: jax.Array, keeps_states: bool
    ) -> Trajectories:
        env, count = self.task.env, len(jax.tree.leaves(starts)[0])
        limits, memories = jnp.full(count, env.max_steps), self.policy.memories(count)
        arguments = (env, self.policy, params, starts, memories, key, limits, env.max_steps)
        return grow(*arguments, keeps_states=keeps_states)

    def player(self, params: Params) -> Player:
        """Return a player of the policy with these weights."""
        return Player(self, params)


class Played(NamedTuple):
    """B episodes that were played: (B,) returns and lengths, and the stacked last states."""

    returns_B: np.ndarray
    lengths_B: np.ndarray
    ends: State


@dataclass(frozen=True)
class Player:
    """Plays the policy of a model with some weights, sampled as in training."""

    model: JaxPolyPPO
    params: Params

    def play(self, starts: State, seed: int) -> Played:
        """Play one episode from each of the stacked states."""
        played = self.grown(starts, seed)
        returns, lengths = np.asarray(played.returns), np.asarray(played.lengths)
        return Played(returns, lengths, jax.device_get(played.ends))

    def grown(self, starts: State, seed: int, keeps_states: bool = False) -> Trajectories:
        """Return all steps of the episodes that `play` summarises."""
        return self.model._compiled_growth(self.params, starts, jax.random.key(seed), keeps_states)

    def play_resets(self, count: int, seed: int) -> Played:
        """Play `count` episodes from resets."""
        starts, for_play = self._draw_resets(count, seed)
        return self.play(starts, for_play)

    def _draw_resets(self, count: int, seed: int) -> tuple[State, int]:
        for_resets, for_play = np.random.default_rng(seed).integers(2**31, size=2).tolist()
        keys = jax.random.split(jax.random.key(for_resets), count)
        return jax.jit(jax.vmap(self.model.task.env.reset))(keys), for_play

    def seen(
        self, count: int, seed: int
    ) -> tuple[np.ndarray, Callable[[int, int], State], np.ndarray]:
        """Play `count` episodes from resets: their labels, all their states, and their lengths.

        Returns:
            (count,) labels; a function of a time and an episode that returns the state, 0 for the
            start and the length for the end; (count,) lengths.
        """
        starts, for_play = self._draw_resets(count, seed)
        played = jax.device_get(self.grown(starts, for_play, keeps_states=True))
        lengths_B = np.asarray(played.steps.alive.sum(axis=0))

        def state(time: int, index: int) -> State:
            if time == lengths_B[index]:
                return jax.tree.map(lambda array: array[index], played.ends)
            return jax.tree.map(lambda array: array[time, index], played.states)

        return labels_of(self.model.task.label, played.ends), state, lengths_B


def _explained_variance(credits: Sequence[CreditedSteps]) -> dict[str, jax.Array]:
    """Return how much of the returns the critic explains; NaN where all returns are equal."""
    columns = zip(*((steps.usable, steps.returns, steps.values) for steps in credits), strict=True)
    usable, returns, values = (
        jnp.concatenate([column.reshape(-1) for column in parts]) for parts in columns
    )
    variance = jnp.var(returns, where=usable)
    explained = jnp.var(returns - values, where=usable) / jnp.where(variance > 0, variance, jnp.nan)
    return {"train/explained_variance": 1 - explained}
