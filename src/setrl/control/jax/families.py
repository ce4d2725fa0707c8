"""Trunks and their vines, as `sb3.families` samples them, with fixed shapes."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from setrl.control.jax.environment import JaxTask
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import Trajectories, at_times, grow, rollout_times
from setrl.control.vines import VineChoices, vine_metrics


class Families(NamedTuple):
    """F trunks, p states of each, and N vines from each of the B = F·p states.

    Attributes:
        trunks: The trunks.
        times: (F, p) the steps at whose states vines leave.
        wanted: (F, p) whether there is such a state.
        vines: The B·N vines, state after state.
        columns: What sets see of them: columns of `Samples`.
        actions_BN: Their first actions.
    """

    trunks: Trajectories
    times: jax.Array
    wanted: jax.Array
    vines: Trajectories
    columns: dict[str, jax.Array]
    actions_BN: jax.Array


def play_episodes(
    task: JaxTask, policy: ActorCritic, params: Params, count: int, key: jax.Array, **keeps: bool
) -> Trajectories:
    """Play `count` whole episodes from resets."""
    env = task.env
    for_reset, for_growth = jax.random.split(key)
    starts = jax.vmap(env.reset)(jax.random.split(for_reset, count))
    limits = jnp.full(count, env.max_steps)
    memories = policy.memories(count)
    return grow(env, policy, params, starts, memories, for_growth, limits, env.max_steps, **keeps)


def sample_families(
    task: JaxTask,
    policy: ActorCritic,
    params: Params,
    vines: VineChoices,
    count: int,
    key: jax.Array,
) -> Families:
    """Sample `count` families."""
    for_trunks, for_times, for_vines = jax.random.split(key, 3)
    trunks = play_episodes(task, policy, params, count, for_trunks, keeps_states=True)
    times, wanted = rollout_times(trunks.steps, vines.num_states, vines.where, for_times)
    steps_left = jnp.where(wanted, task.env.max_steps - times, 0).reshape(-1)
    starts = (at_times(trunks.states, times), at_times(trunks.steps.memories, times), steps_left)
    states, memories, limits = _repeat_rows(starts, vines.num_vines)
    grown = grow(task.env, policy, params, states, memories, for_vines, limits, task.env.max_steps)
    columns = _score_vines(task, vines.num_vines, trunks, times, grown)
    actions_BN = grown.steps.actions[0].reshape(times.size, vines.num_vines)
    return Families(trunks, times, wanted, grown, columns, actions_BN)


def _repeat_rows(tree: Any, count: int) -> Any:
    return jax.tree.map(lambda array: jnp.repeat(array, count, axis=0), tree)


def _score_vines(
    task: JaxTask, num_vines: int, trunks: Trajectories, times: jax.Array, vines: Trajectories
) -> dict[str, jax.Array]:
    """Score and label whole episodes; NaN without steps, or with a reward that is not finite."""
    rewards = jnp.roll(trunks.steps.rewards, 1, axis=0).at[0].set(0.0)
    before = at_times(jnp.cumsum(rewards, axis=0), times)
    scores = vines.returns + _repeat_rows(before, num_vines)
    is_known = (vines.lengths > 0) & jnp.isfinite(scores)
    columns = {"rewards": jnp.where(is_known, scores, jnp.nan)}
    if task.label is not None:
        columns["strategies"] = jax.vmap(task.label)(vines.ends)
    return {name: column.reshape(times.size, num_vines) for name, column in columns.items()}


def metrics_of_families(sampled: Families, advantages_BN: jax.Array | None) -> dict[str, jax.Array]:
    """Return what is logged of an update's vines."""
    vines, shape = sampled.vines, sampled.actions_BN.shape
    return vine_metrics(
        jnp,
        sampled.columns,
        advantages_BN,
        wanted_B=sampled.wanted.reshape(-1),
        lengths_BN=vines.lengths.reshape(shape),
        finite_BN=jnp.isfinite(vines.returns).reshape(shape),
        ended_BN=vines.done.reshape(shape),
        trunk_steps=sampled.trunks.steps.alive.sum(),
        num_trunks=len(sampled.times),
    )
