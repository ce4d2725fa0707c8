"""Trunks and their vines, as `control.credit.families` samples them, with fixed shapes."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from setrl.control.jax.credit import JaxVines
from setrl.control.jax.environment import JaxTask, label_of
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import Grown, Leaves, at_times, grow


class Families(NamedTuple):
    """F trunks, p states of each, and N vines from each of the B = F·p states.

    Attributes:
        trunks: The trunks.
        times: (F, p) the steps at whose states vines leave.
        wanted: (F, p) whether there is such a state.
        vines: The vines that grew, without the trunk where it is one of the N: B·N or B·(N − 1).
        scores_BN: The worth of each vine; NaN leaves the sets.
        labels_BN: The strategy of each vine, −1 for none.
        actions_BN: The first action of each vine.
    """

    trunks: Grown
    times: jax.Array
    wanted: jax.Array
    vines: Grown
    scores_BN: jax.Array
    labels_BN: jax.Array
    actions_BN: jax.Array


def episodes(
    task: JaxTask, policy: ActorCritic, params: Params, count: int, key: jax.Array, **keeps: bool
) -> Grown:
    """Play `count` whole episodes from resets."""
    env = task.env
    for_reset, for_growth = jax.random.split(key)
    starts = jax.vmap(env.reset)(jax.random.split(for_reset, count))
    limits = jnp.full(count, env.max_steps)
    memories = policy.memories(count)
    return grow(env, policy, params, starts, memories, for_growth, limits, env.max_steps, **keeps)


def sample(
    task: JaxTask, policy: ActorCritic, params: Params, vines: JaxVines, count: int, key: jax.Array
) -> Families:
    """Sample `count` families."""
    for_trunks, for_times, for_vines = jax.random.split(key, 3)
    trunks = episodes(task, policy, params, count, for_trunks, keeps_states=True)
    assert vines.num_states is not None
    times, wanted = Leaves(vines.num_states, vines.where).times(trunks.steps, for_times)
    grown = _vines(task, policy, params, vines, trunks, times, wanted, for_vines)
    scores, labels = _judged(task, vines, trunks, times, grown)
    actions = grown.steps.actions[0]
    rows = [one.reshape(times.size, -1) for one in (scores, labels, actions)]
    if vines.trunk_is_vine:
        known = (trunks.lengths > 0) & jnp.isfinite(trunks.returns)
        score = jnp.where(known, trunks.returns, jnp.nan)
        own = (score, jax.vmap(label_of(task.label))(trunks.ends), trunks.steps.actions[0])
        rows = [jnp.concatenate([row, one[:, None]], 1) for row, one in zip(rows, own, strict=True)]
    return Families(trunks, times, wanted, grown, *rows)


def _vines(
    task: JaxTask,
    policy: ActorCritic,
    params: Params,
    vines: JaxVines,
    trunks: Grown,
    times: jax.Array,
    wanted: jax.Array,
    key: jax.Array,
) -> Grown:
    starts = at_times(trunks.states, times)
    if vines.judged == "from_state":
        starts = jax.vmap(task.forget)(starts)
    left = jnp.where(wanted, task.env.max_steps - times, 0).reshape(-1)
    num_steps = task.env.max_steps if vines.cut is None else min(vines.cut, task.env.max_steps)
    each = (starts, at_times(trunks.steps.memories, times), jnp.minimum(left, num_steps))
    starts, memories, limits = _repeated(each, vines.sampled_vines)
    return grow(task.env, policy, params, starts, memories, key, limits, num_steps)


def _repeated(values: Any, count: int) -> Any:
    return jax.tree.map(lambda one: jnp.repeat(one, count, axis=0), values)


def _judged(
    task: JaxTask, vines: JaxVines, trunks: Grown, times: jax.Array, grown: Grown
) -> tuple[jax.Array, jax.Array]:
    """Return scores and labels of vines; NaN without steps, or with a reward that is not finite."""
    scores = grown.returns
    if vines.cut is not None:
        left = _repeated((task.env.max_steps - times).reshape(-1), vines.sampled_vines)
        was_cut = ~grown.done & (grown.lengths == vines.cut) & (left > vines.cut)
        scores = scores + jnp.where(was_cut, grown.last_values, 0.0)
    if vines.judged == "episode":
        rewards = jnp.roll(trunks.steps.rewards, 1, axis=0).at[0].set(0.0)
        before = at_times(jnp.cumsum(rewards, axis=0), times)
        scores = scores + _repeated(before, vines.sampled_vines)
    known = (grown.lengths > 0) & jnp.isfinite(scores)
    return jnp.where(known, scores, jnp.nan), jax.vmap(label_of(task.label))(grown.ends)
