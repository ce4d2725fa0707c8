"""Poly-PPO as one compiled function: weights, optimiser and random numbers in, the same out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control.credit.assign import USES
from setrl.control.credit.vines import check_vines
from setrl.control.jax import families
from setrl.control.jax.advantages import Credited, credited, scaled, spread
from setrl.control.jax.bonuses import count_bonuses, no_visits
from setrl.control.jax.credit import JaxVines, set_credit
from setrl.control.jax.environment import (
    JaxTask,
    State,
    check_env,
    check_label,
    check_task,
    label_of,
)
from setrl.control.jax.families import Families
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import Grown, entropies, grow
from setrl.control.jax.update import Options, learn, pieces_of
from setrl.core.advantages import AnyMethod


class Training(NamedTuple):
    """All that later updates depend on: a pytree, so `jax.vmap` trains several seeds at once.

    Attributes:
        params: Weights of the policy.
        optimizer: State of the optimiser.
        key: Random numbers of all that follows.
        steps: Environment steps so far, of trunks and vines: int32, so fewer than 2³¹.
        resets: Episodes from a reset so far: vines do not count.
        visits: Visits of hashed state-action pairs; empty without a bonus.
        start: Weights at the start, the anchor of a KL penalty; None if not needed.
    """

    params: Params
    optimizer: Any
    key: jax.Array
    steps: jax.Array
    resets: jax.Array
    visits: jax.Array
    start: Params | None


@dataclass(frozen=True)
class JaxPolyPPO:
    """PPO on JAX whose advantage near some states is the worth of a trajectory to sets.

    `PolyPPO`, for environments that are pure functions: Algorithm 2 of the Set RL note,
    arXiv:2509.25424. Without vines it is PPO on whole episodes. `update` is a pure function of
    `Training`; `jax.jit` compiles it, and `jax.vmap` trains seeds side by side. An example of forty
    lines is recipes/jax_poly_ppo.py.

    Args:
        task: An object with `env`, the environment; `label`, from the last state of an episode to
            its strategy, an integer, −1 for none (None: no strategies); and `forget`, from a state
            to the state without its history.
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
    options: Options = field(default_factory=Options)
    method: AnyMethod | None = None
    vines: JaxVines | None = None

    def __post_init__(self) -> None:
        check_task(self.task)
        check_vines(self.method, self.vines, self.task)
        if self.vines is not None and self.vines.sampled_vines < 1:
            raise ValueError(
                "num_vines must be at least 2 if trunk_is_vine, so that a vine is left"
            )
        _ = self._observation_size  # checks the environment
        self._check_vines()
        if self.policy.num_actions != self.task.env.num_actions:
            raise ValueError(
                f"the policy has {self.policy.num_actions} actions, and the environment "
                f"{self.task.env.num_actions}"
            )

    def _check_vines(self) -> None:
        if self.vines is None:
            return
        if self.vines.cut is not None and self.options.ucb_coef:
            raise ValueError(
                "ucb_coef must be 0 with cut: the critic's values, which join the scores of cut "
                "vines, would carry the bonus into sets"
            )
        if self.task.label is not None:
            check_label(self.task.env, self.task.label)
        assert self.vines.num_states is not None
        if self.vines.num_states > self.task.env.max_steps:
            raise ValueError(
                f"num_states must be at most {self.task.env.max_steps}, the steps of an episode, "
                f"got {self.vines.num_states}"
            )

    @cached_property
    def _observation_size(self) -> int:
        return check_env(self.task.env)

    @property
    def num_trunks(self) -> int:
        """Number of trunks of an update: n_envs // (p·N), at least 1; without vines n_envs."""
        if self.vines is None:
            return self.options.n_envs
        assert self.vines.num_states is not None
        return max(1, self.options.n_envs // (self.vines.num_states * self.vines.num_vines))

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
            no_visits(self.options.ucb_coef),
            params if self.options.kl_coef and self.options.kl_anchor == "start" else None,
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
        parts: list[Grown]
        own: list[jax.Array | None]
        advantages_BN = jnp.zeros((0, 0))
        if self.vines is None or self.method is None:
            played = families.episodes(self.task, policy, params, self.num_trunks, for_sample)
            parts, own, found = [played], [None], {}
            sampled: Families | None = None
        else:
            sampled = families.sample(
                self.task, policy, params, self.vines, self.num_trunks, for_sample
            )
            own, advantages_BN = self._set_advantages(sampled, for_credit)
            parts, found = [sampled.trunks, sampled.vines], vine_metrics(sampled, advantages_BN)
        credits, visits = self._credited(parts, own, training.visits)
        length = self.options.sequence_length if policy.gru is not None else 1
        pieces = pieces_of(credits, length)
        learnt = learn(
            policy, self.options, params, training.optimizer, pieces, training.start, for_batches
        )
        params, optimizer, trained = learnt
        steps = training.steps + sum(part.steps.alive.sum() for part in parts)
        resets = training.resets + self.num_trunks
        after = Training(params, optimizer, key, steps, resets, visits, training.start)
        found |= trained | _of_episodes(parts[0], credits)
        found |= {"rollout/steps": steps, "rollout/resets": resets}
        return after, found, (sampled, advantages_BN)

    @cached_property
    def compiled(self) -> Any:
        """`update_and_show`, compiled when it is called first."""
        return jax.jit(self.update_and_show)

    def _set_advantages(
        self, sampled: Families, key: jax.Array
    ) -> tuple[list[jax.Array | None], jax.Array]:
        """Return set advantages of the steps of trunks and vines, and of each vine."""
        assert self.method is not None
        assert self.vines is not None
        vines, shape = self.vines, sampled.scores_BN.shape
        if vines.credit == "gae":
            return [None, None], jnp.full(shape, jnp.nan)
        rows = (sampled.scores_BN, sampled.labels_BN, sampled.actions_BN)
        found_BN = set_credit(self.method, vines, *rows, key)
        length = len(sampled.trunks.steps.alive)
        if vines.credit == "trunk":
            gains_Fp = found_BN[:, 0].reshape(sampled.times.shape)
            return [self._along_trunks(gains_Fp, sampled, length), None], jnp.full(shape, jnp.nan)
        window = None if vines.credit == "reward" else vines.window
        grown = found_BN[:, : vines.sampled_vines].reshape(-1)
        own = [None, spread(grown, 0, window, len(sampled.vines.steps.alive))]
        if vines.trunk_is_vine:
            own[0] = spread(found_BN[:, -1], 0, window, length)
        return own, found_BN

    def _along_trunks(self, gains_Fp: jax.Array, sampled: Families, length: int) -> jax.Array:
        """Give the steps from each state on the gain of its best set; a later state wins."""
        assert self.vines is not None
        own = jnp.full((length, gains_Fp.shape[0]), jnp.nan)
        for index in range(gains_Fp.shape[1]):
            gains = jnp.where(sampled.wanted[:, index], gains_Fp[:, index], jnp.nan)
            one = spread(gains, sampled.times[:, index], self.vines.window, length)
            own = jnp.where(jnp.isfinite(one), one, own)
        return own

    def _credited(
        self, parts: Sequence[Grown], own: Sequence[jax.Array | None], visits: jax.Array
    ) -> tuple[list[Credited], jax.Array]:
        options, credits = self.options, []
        use = USES.get("" if self.vines is None else str(self.vines.credit), "replaces")
        steps = [part.steps for part in parts]
        bonuses, visits = count_bonuses(steps, visits, options.ucb_coef)
        for part, each, bonus in zip(parts, own, bonuses, strict=True):
            credits.append(credited(part, bonus, options.gamma, options.gae_lambda, each, use))
        return scaled(credits) if options.normalize_advantage else credits, visits

    @cached_property
    def _play(self) -> Any:
        return jax.jit(self._grown, static_argnames="keeps_states")

    def _grown(self, params: Params, starts: State, key: jax.Array, keeps_states: bool) -> Grown:
        env, count = self.task.env, len(jax.tree.leaves(starts)[0])
        limits, memories = jnp.full(count, env.max_steps), self.policy.memories(count)
        own = (env, self.policy, params, starts, memories, key, limits, env.max_steps)
        return grow(*own, keeps_states=keeps_states)

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
        found = self.grown(starts, seed)
        returns, lengths = np.asarray(found.returns), np.asarray(found.lengths)
        return Played(returns, lengths, jax.device_get(found.ends))

    def grown(self, starts: State, seed: int, keeps_states: bool = False) -> Grown:
        """Return all steps of the episodes that `play` summarises."""
        return self.model._play(self.params, starts, jax.random.key(seed), keeps_states)

    def play_resets(self, count: int, seed: int) -> Played:
        """Play `count` episodes from resets."""
        starts, for_play = self._resets(count, seed)
        return self.play(starts, for_play)

    def _resets(self, count: int, seed: int) -> tuple[State, int]:
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
        starts, for_play = self._resets(count, seed)
        found = jax.device_get(self.grown(starts, for_play, keeps_states=True))
        lengths_B = np.asarray(found.steps.alive.sum(axis=0))

        def state(time: int, index: int) -> State:
            if time == lengths_B[index]:
                return jax.tree.map(lambda one: one[index], found.ends)
            return jax.tree.map(lambda one: one[time, index], found.states)

        labels_B = np.asarray(jax.vmap(label_of(self.model.task.label))(found.ends))
        return labels_B, state, lengths_B


def vine_metrics(sampled: Families, advantages_BN: jax.Array) -> dict[str, jax.Array]:
    """Return what `assign.metrics` returns, for families with fixed shapes."""
    lengths, alive = sampled.vines.lengths, sampled.vines.steps.alive
    is_vine = lengths > 0
    labels_BN, known_BN = sampled.labels_BN, jnp.isfinite(sampled.scores_BN)
    wanted_B = sampled.wanted.reshape(-1)
    in_cluster = known_BN & (labels_BN >= 0)
    is_first = (labels_BN[:, :, None] == labels_BN[:, None, :]) & in_cluster[:, None, :]
    is_first = in_cluster & (jnp.argmax(is_first, axis=2) == jnp.arange(labels_BN.shape[1]))
    vine_steps, trunk_steps = alive.sum(), sampled.trunks.steps.alive.sum()
    found = {
        "families": jnp.float32(len(sampled.times)),
        "states": sampled.wanted.sum(),
        "score": jnp.nanmean(sampled.scores_BN),
        "length": vine_steps / jnp.maximum(is_vine.sum(), 1),
        "step_share": vine_steps / (vine_steps + trunk_steps),
        "without_reward": (is_vine & ~jnp.isfinite(sampled.vines.returns)).sum(),
        "unfinished": (is_vine & ~sampled.vines.done).sum(),
        "without_credit": (wanted_B[:, None] & ~jnp.isfinite(advantages_BN)).sum(),
        "advantage_size": jnp.sqrt(jnp.nanmean(advantages_BN**2)),
        "all_equal": (jnp.nanmax(sampled.scores_BN, 1) == jnp.nanmin(sampled.scores_BN, 1)).sum()
        / jnp.maximum(sampled.wanted.sum(), 1),
        "distinct": is_first.sum() / jnp.maximum(sampled.wanted.sum(), 1),
        "degenerate": (known_BN & (labels_BN < 0)).sum() / jnp.maximum(known_BN.sum(), 1),
    }
    return {f"vines/{name}": value for name, value in found.items()}


def _of_episodes(trunks: Grown, credits: Sequence[Credited]) -> dict[str, jax.Array]:
    """Return what is known of the episodes from resets, and of the critic."""
    usable = jnp.concatenate([one.usable.reshape(-1) for one in credits])
    returns = jnp.concatenate([one.returns.reshape(-1) for one in credits])
    values = jnp.concatenate([one.grown.steps.values.reshape(-1) for one in credits])
    disorder, alive = entropies(trunks.steps.logits), trunks.steps.alive
    variance = jnp.var(returns, where=usable)
    return {
        "rollout/ep_rew_mean": jnp.nanmean(trunks.returns),
        "rollout/without_reward": (~jnp.isfinite(trunks.returns)).sum(),
        "rollout/ep_len_mean": trunks.lengths.mean(),
        "rollout/entropy": jnp.where(alive, disorder, 0.0).sum() / jnp.maximum(alive.sum(), 1),
        # NaN where all returns are equal, as in Stable-Baselines3.
        "train/explained_variance": 1
        - jnp.var(returns - values, where=usable) / jnp.where(variance > 0, variance, jnp.nan),
    }
