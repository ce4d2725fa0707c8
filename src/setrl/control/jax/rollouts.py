"""Trajectories that grow side by side, and the families of trunks and vines among them.

All arrays have fixed shapes: T steps. A trajectory takes only the steps where it is `alive`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from setrl.control.jax.environment import JaxEnv, State
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.vines import Where, even_times


class RolloutSteps(NamedTuple):
    """T steps of B trajectories.

    Attributes:
        observations: (T, B, D).
        memories: (T, B, H) the policy's memory before each step.
        actions: (T, B) int32.
        logits: (T, B, A) of the policy that acted.
        log_probs: (T, B) of the actions.
        values: (T, B) of the critic.
        rewards: (T, B), 0 where the trajectory has ended.
        alive: (T, B) whether the step was taken.
    """

    observations: jax.Array
    memories: jax.Array
    actions: jax.Array
    logits: jax.Array
    log_probs: jax.Array
    values: jax.Array
    rewards: jax.Array
    alive: jax.Array


class Trajectories(NamedTuple):
    """B trajectories.

    Attributes:
        steps: Their steps.
        ends: Their last states.
        done: (B,) whether the environment ended them; the others were cut.
        last_values: (B,) the critic's value of the last state; 0 where `done`.
        states: The state before each step, with leading axes (T, B); None if not kept.
    """

    steps: RolloutSteps
    ends: State
    done: jax.Array
    last_values: jax.Array
    states: State = None

    @property
    def lengths(self) -> jax.Array:
        """Number of steps of each trajectory, (B,)."""
        return self.steps.alive.sum(axis=0)

    @property
    def returns(self) -> jax.Array:
        """Sum of rewards of each trajectory, (B,); NaN if one is missing."""
        return self.steps.rewards.sum(axis=0)


def grow(
    env: JaxEnv,
    policy: ActorCritic,
    params: Params,
    starts: State,
    memories_BH: jax.Array,
    key: jax.Array,
    limits_B: jax.Array,
    num_steps: int,
    keeps_states: bool = False,
) -> Trajectories:
    """Let B trajectories grow from their starts until they end, or to their limits.

    Args:
        env: The environment.
        policy: The policy, with its weights `params`.
        params: Weights of the policy.
        starts: Stacked states.
        memories_BH: Memories of the policy before the starts.
        key: Decides actions and the environment's noise.
        limits_B: Largest number of steps of each; 0 for a trajectory that is not wanted.
        num_steps: T ≥ limits_B.
        keeps_states: Whether to return the states before each step.
    """
    count = len(limits_B)

    def act(carry: tuple[Any, ...], key: jax.Array) -> tuple[tuple[Any, ...], Any]:
        state, memory, live, done = carry
        observations = jax.vmap(env.observe)(state)
        after, logits, values = policy(params, memory, observations)
        for_action, for_step = jax.random.split(key)
        actions = jax.random.categorical(for_action, logits).astype(jnp.int32)
        log_probs = log_prob(logits, actions)
        following, rewards, ends = jax.vmap(env.step)(
            jax.random.split(for_step, count), state, actions
        )
        rewards = jnp.where(live, rewards, 0.0).astype(jnp.float32)
        steps = RolloutSteps(
            observations, memory, actions, logits, log_probs, values, rewards, live
        )
        kept_state = state if keeps_states else None
        state, after = (
            _select_alive(live, following, state),
            jnp.where(live[:, None], after, memory),
        )
        return (state, after, live & ~ends, done | (live & ends)), (steps, kept_state)

    shapes = jax.eval_shape(lambda: act(_first_rows(starts, memories_BH, limits_B), key)[1][0])
    empty = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

    def rest(carry: tuple[Any, ...], key: jax.Array) -> tuple[tuple[Any, ...], Any]:
        return carry, (empty, carry[0] if keeps_states else None)

    def step(carry: tuple[Any, ...], inputs: tuple[jax.Array, jax.Array]) -> tuple[Any, Any]:
        time, step_key = inputs
        state, memory, live, done = carry
        carry = (state, memory, live & (time < limits_B), done)
        # Once all have ended, the rest of T costs nothing.
        return jax.lax.cond(carry[2].any(), act, rest, carry, step_key)

    times_and_keys = jnp.arange(num_steps), jax.random.split(key, num_steps)
    first = _first_rows(starts, memories_BH, limits_B)
    (ends, memory, _, done), (steps, states) = jax.lax.scan(step, first, times_and_keys)
    _, _, last_values = policy(params, memory, jax.vmap(env.observe)(ends))
    return Trajectories(steps, ends, done, jnp.where(done, 0.0, last_values), states)


def _first_rows(starts: State, memories: jax.Array, limits: jax.Array) -> tuple[Any, ...]:
    return starts, memories, limits > 0, jnp.zeros(len(limits), bool)


def _select_alive(condition_B: jax.Array, yes: State, no: State) -> State:
    def choose(left: jax.Array, right: jax.Array) -> jax.Array:
        return jnp.where(condition_B.reshape(-1, *[1] * (left.ndim - 1)), left, right)

    return jax.tree.map(choose, yes, no)


def log_prob(logits: jax.Array, actions: jax.Array) -> jax.Array:
    """Return log π(a) of the actions taken, in nats; logits have one more axis than actions."""
    return jnp.take_along_axis(jax.nn.log_softmax(logits), actions[..., None], axis=-1)[..., 0]


def rollout_times(
    trunks: RolloutSteps, num_states: int, where: Where, key: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Choose the p states of each trunk that vines leave, as `VineChoices.where` says.

    Returns:
        Times (F, p), and whether there is such a state (F, p): a short trunk has fewer.
    """
    times, wanted = even_times(jnp, trunks.alive.sum(axis=0), num_states, where)
    if where != "uniform":
        return times, wanted
    order = jnp.argsort(
        -jnp.where(trunks.alive, jax.random.uniform(key, trunks.alive.shape), -jnp.inf).T
    )
    chosen = jnp.where(wanted, order[:, :num_states], len(trunks.alive))
    return jnp.where(wanted, jnp.sort(chosen), 0), wanted


def entropies(logits: jax.Array) -> jax.Array:
    """−Σₐ π(a)·log π(a) of each state, in nats."""
    log_probs = jax.nn.log_softmax(logits)
    return -(jnp.exp(log_probs) * log_probs).sum(axis=-1)


def at_times(kept: Any, times_Fp: jax.Array) -> Any:
    """Take what was kept with axes (T, F) at times (F, p): leading axis F·p."""
    trunk = jnp.arange(times_Fp.shape[0])[:, None]
    return jax.tree.map(
        lambda array: array[times_Fp, trunk].reshape(times_Fp.size, *array.shape[2:]), kept
    )
