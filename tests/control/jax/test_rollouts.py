"""Trajectories that grow on JAX, their rollout states, and the room with goals."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from setrl.control.jax.networks import ActorCritic
from setrl.control.jax.rollouts import at_times, grow, rollout_times
from setrl.control.tasks.jax_goals import JaxGoals, ring
from setrl.control.tasks.multi_goal import MultiGoalEnv


def test_the_room_is_multi_goal() -> None:
    """The same observations, rewards and ends as MiniGrid's room, along random actions."""
    room, env, rng = JaxGoals().env, MultiGoalEnv(), np.random.default_rng(0)
    step, observe = jax.jit(room.step), jax.jit(room.observe)
    reached = set()
    for _ in range(12):
        seen, _ = env.reset()
        state = room.reset(jax.random.key(0))
        for _ in range(room.max_steps):
            np.testing.assert_array_equal(observe(state), seen)
            action = int(rng.choice([0, 1, 2], p=[0.15, 0.15, 0.7]))
            seen, reward, terminated, truncated, info = env.step(action)
            state, own, done = step(jax.random.key(0), state, jnp.int32(action))
            assert (float(own), bool(done)) == (reward, terminated)
            assert int(state.goal) == (-1 if info["goal"] is None else info["goal"])
            if terminated or truncated:
                break
        reached.add(int(state.goal))
    assert len(reached) > 2


def test_ring_refuses_more_goals_than_cells() -> None:
    assert len(set(ring(17, 56))) == 56
    with pytest.raises(ValueError, match="between 1 and 56, the cells along the walls"):
        ring(17, 57)


@pytest.fixture(scope="module")
def grown() -> SimpleNamespace:
    task, policy = JaxGoals(), ActorCritic(3, (8,))
    limits = jnp.array([60, 5, 0, 60])
    starts = jax.vmap(task.env.reset)(jax.random.split(jax.random.key(1), 4))
    params = policy.init(jax.random.key(2), 22)
    found = grow(
        *(task.env, policy, params, starts, policy.memories(4), jax.random.key(3), limits, 60),
        keeps_states=True,
    )
    return SimpleNamespace(task=task, found=found, limits=limits, policy=policy, params=params)


def test_trajectories_keep_their_limits(grown: SimpleNamespace) -> None:
    lengths = np.asarray(grown.found.lengths)
    assert (lengths <= np.asarray(grown.limits)).all()
    assert lengths[1] == 5
    assert lengths[2] == 0
    assert not grown.found.done[2]
    assert (np.asarray(grown.found.last_values) == 0).tolist() == np.asarray(
        grown.found.done
    ).tolist()


def test_kept_states_replay_the_trajectory(grown: SimpleNamespace) -> None:
    """From any kept state, the same actions lead to the same end: setting back costs nothing."""
    steps, b, time = grown.found.steps, 1, 2
    state = jax.tree.map(lambda one: one[time, b], grown.found.states)
    for action in steps.actions[time:5, b]:
        np.testing.assert_array_equal(grown.task.env.observe(state), steps.observations[time, b])
        state, _, _ = grown.task.env.step(jax.random.key(0), state, action)
        time += 1
    assert jax.tree.map(int, state) == jax.tree.map(lambda one: int(one[b]), grown.found.ends)


def test_states_are_taken_at_times(grown: SimpleNamespace) -> None:
    times = jnp.array([[0, 3], [1, 4], [0, 0], [2, 2]])
    found = at_times(grown.found.states.x, times)
    expected = [int(grown.found.states.x[t, b]) for b, row in enumerate(times) for t in row]
    assert found.tolist() == expected


@pytest.mark.parametrize("where", ["equal", "inner", "uniform"])
def test_vines_leave_the_states_that_are_chosen(where: Any) -> None:
    longest, p = 7, 3
    lengths = np.arange(longest + 1)
    steps = SimpleNamespace(alive=jnp.asarray(np.arange(longest)[:, None] < lengths))
    times, wanted = rollout_times(steps, p, where, jax.random.key(0))  # type: ignore[arg-type]
    for length, row, kept in zip(
        lengths.tolist(), np.asarray(times), np.asarray(wanted), strict=True
    ):
        count = min(p, length)
        equal = [index * length // count for index in range(count)]
        inner = sorted({(index + 1) * length // (count + 1) for index in range(count)})
        if where != "uniform":
            assert row[kept].tolist() == (equal if where == "equal" else inner)
            continue
        assert len(set(row[kept])) == count
        assert all(0 <= time < length for time in row[kept])
