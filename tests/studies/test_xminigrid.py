"""Levels of XLand-MiniGrid: fixed layouts, rewards, rooms, and the expert's shortest paths."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xminigrid
from xminigrid.core.constants import Tiles
from xminigrid.types import StepType, TimeStep

from setrl.control.jax.environment import JaxEnv, JaxTask, check_env
from setrl.control.tasks import from_config
from studies.grids.jax_layouts import LayoutEnv
from studies.grids.paper import HORIZON, PROBES, SHOWN, TRAINED, UNSEEN
from studies.grids.xminigrid import TOGGLE, FourRooms, GoTo, Pickup, XMiniGrid

KEY = jax.random.key(0)


def at(stacked, index):
    return jax.tree.map(lambda rows: rows[index], stacked)


@pytest.fixture(scope="module")
def four_rooms():
    return from_config(
        {
            "name": "studies.grids.xminigrid:XMiniGrid",
            "num_layouts": 3,
            "samples": 7,
            "demonstrations": 6,
        }
    )


@pytest.fixture(scope="module")
def many():
    return LayoutEnv(GoTo(), num_layouts=2)


@pytest.fixture(scope="module")
def step(four_rooms):
    """A step of one state; arrays of NumPy and of JAX are compiled once."""
    own = jax.jit(partial(four_rooms.env.step, KEY))
    return lambda state, action: own(*jax.device_put((state, np.int32(action))))


@pytest.fixture(scope="module")
def steps(four_rooms):
    return jax.jit(jax.vmap(partial(four_rooms.env.step, KEY)))


@pytest.fixture(scope="module")
def objects(many):
    """Each level of objects, with its steps of many states; the layouts of GoTo serve both."""
    levels = {"goto": many.level, "pickup": Pickup()}
    return {
        name: (level, jax.jit(jax.vmap(partial(LayoutEnv(level).step, KEY))))
        for name, level in levels.items()
    }


@pytest.fixture(scope="module")
def starts(many):
    return many.starts(SHOWN, np.arange(60))


def test_it_is_a_task_of_jax(four_rooms, many):
    assert isinstance(four_rooms, JaxTask)
    assert isinstance(four_rooms.env, JaxEnv)
    assert check_env(four_rooms.env) == 98
    assert check_env(many) == 256


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="unknown level 'four_room'; did you mean 'four_rooms'"):
        XMiniGrid(level="four_room")


def test_layouts_are_fixed_and_resets_draw_among_them(four_rooms):
    env = four_rooms.env
    known = {cells.tobytes() for cells in env.starts(TRAINED, np.arange(3)).place.cells}
    keys = jax.random.split(jax.random.key(7), 40)
    reset = jax.jit(lambda key: env.reset(key).place.cells)
    assert {np.asarray(reset(key)).tobytes() for key in keys} == known
    again = env.starts(TRAINED, np.array([2, 0, 2])).place.cells
    assert again[0].tobytes() == again[2].tobytes() != again[1].tobytes()
    others = [env.starts(stream, np.arange(3)).place.cells for stream in (UNSEEN, SHOWN)]
    assert len(known | {cells.tobytes() for cells in np.concatenate(others)}) == 9


def facing_goal(env, time):
    """Return a start of the first layout from which one step forward reaches the goal."""
    start = at(env.starts(TRAINED, np.arange(1)), 0)
    cells = np.array(start.place.cells)
    cells[3:6, 3] = Tiles.FLOOR, 7
    cells[3, 3] = start.place.goal
    agent = start.place.agent.replace(position=np.array([4, 3]), direction=np.array(0))
    place = start.place._replace(cells=cells, agent=agent)
    return start._replace(place=place, time=np.int32(time), rooms=np.int32(1))


@pytest.mark.parametrize("time", [0, 59, HORIZON - 1])
def test_success_is_worth_less_with_every_step(four_rooms, step, time):
    after, reward, done = step(facing_goal(four_rooms.env, time), jnp.int32(2))
    assert reward == pytest.approx(1 - 0.5 * (time + 1) / HORIZON)
    assert (bool(done), bool(after.success)) == (True, True)


@pytest.mark.parametrize(("time", "ends"), [(HORIZON - 2, False), (HORIZON - 1, True)])
def test_the_horizon_ends_an_episode_without_reward(four_rooms, step, time, ends):
    after, reward, done = step(facing_goal(four_rooms.env, time), jnp.int32(0))
    assert (float(reward), bool(done), bool(after.success)) == (0.0, ends, False)


def test_the_view_shows_the_goal_ahead_and_walls(four_rooms):
    env = four_rooms.env
    seen = np.asarray(jax.jit(env.observe)(facing_goal(env, 0))).reshape(7, 7, 2)
    assert np.argwhere(seen[..., 1]).tolist() == [[5, 3]]  # ahead of the middle of the last row
    assert seen[2, 3, 0] == 1.0  # the outer wall
    assert seen[6, 3, 0] == 0.0


def test_every_shown_path_is_a_shortest_one(four_rooms, steps):
    """Distances from all poses, by the environment's own steps, instead of the expert's map."""
    env, rng = four_rooms.env, np.random.default_rng(0)
    for start in (at(env.starts(SHOWN, np.arange(3)), i) for i in range(3)):
        rows, columns, turns = np.indices((19, 19, 4)).reshape(3, -1)
        inside = (rows % 18 > 0) & (columns % 18 > 0)
        count = len(rows)
        tiled = jax.tree.map(lambda one, n=count: np.stack([one] * n), start)
        agent = tiled.place.agent.replace(position=np.stack([rows, columns], 1), direction=turns)
        states = tiled._replace(place=tiled.place._replace(agent=agent))
        distance = np.full(count, np.inf)
        moves = []
        for action in range(3):
            after, _, _ = steps(states, jnp.full(count, action))
            (row, column), facing = np.asarray(after.place.agent.position).T, after.place.agent
            moves.append((row * 19 + column) * 4 + np.asarray(facing.direction))
            distance[np.asarray(after.success)] = 1.0
        for _ in range(80):
            near = np.min([distance[move] for move in moves], axis=0) + 1
            distance = np.where(inside, np.minimum(distance, near), np.inf)
        (row, column), turn = start.place.agent.position, start.place.agent.direction
        path = env.level.expert(start.place, rng)
        assert len(path) == distance[(row * 19 + column) * 4 + turn]


def test_an_expert_that_is_shut_in_gives_up(four_rooms):
    place = facing_goal(four_rooms.env, 0).place
    cells = place.cells.copy()
    cells[3, 3] = cells[5, 3] = cells[4, 2] = cells[4, 4] = Tiles.WALL, 6
    assert (
        four_rooms.env.level.expert(place._replace(cells=cells), np.random.default_rng(0)) is None
    )


def test_no_success_to_imitate_is_refused(monkeypatch, four_rooms):
    monkeypatch.setattr(FourRooms, "expert", lambda *_: None)
    with pytest.raises(ValueError, match="the expert succeeds in none of 6 layouts"):
        four_rooms.demonstrate(np.random.default_rng(0))


def test_demonstrations_succeed_at_their_last_step_and_show_the_rooms(four_rooms, step):
    env, observe = four_rooms.env, jax.jit(four_rooms.env.observe)
    shown = four_rooms.demonstrate(np.random.default_rng(1))
    most, starts = 0, env.starts(SHOWN, np.arange(6))
    for index in range(6):
        own = shown.episodes == index
        seen_TD, actions_T = shown.observations[own], shown.actions[own]
        state, rooms, length = at(starts, index), set(), own.sum()
        for time in range(length):
            rooms.add(tuple(np.asarray(state.place.agent.position) // 9))
            assert (seen_TD[time] == observe(state)).all()
            state, _, _ = step(state, actions_T[time])
            assert bool(state.success) == (time + 1 == length)
        rooms.add(tuple(np.asarray(state.place.agent.position) // 9))
        assert int(four_rooms.label(state)) == sum(1 << 2 * row + column for row, column in rooms)
        most = max(most, len(rooms))
    assert most > 1


def test_moved_agents_stay_in_their_rooms(four_rooms):
    layouts = np.repeat(np.arange(3), 30)
    still = four_rooms.starts(TRAINED, layouts)
    moved = four_rooms.starts(TRAINED, layouts, np.random.default_rng(0))
    places = moved.place.agent.position
    assert (1 << (places // 9 @ [2, 1]) == still.rooms).all()
    kinds = moved.place.cells[np.arange(90), places[:, 0], places[:, 1], 0]
    assert (kinds == Tiles.FLOOR).all()
    assert len(np.unique(places[:30], axis=0)) > 15
    assert set(moved.place.agent.direction) == {0, 1, 2, 3}


class Scripted:
    """Plays without a policy: succeeds in the first layout only, and keeps what it was given."""

    def __init__(self, layouts):
        self.first, self.calls = layouts[0], []

    def play(self, starts, seed):
        self.calls.append((starts, seed))
        count = len(starts.time)
        won = np.array([cells.tobytes() == self.first for cells in starts.place.cells])
        ends = starts._replace(success=won, rooms=np.arange(count) % 2 + 1)
        return type("Played", (), {"returns_B": 0.75 * won, "ends": ends})


def test_an_evaluation_counts_layout_by_layout(four_rooms):
    layouts = [cells.tobytes() for cells in four_rooms.starts(TRAINED, np.arange(3)).place.cells]
    player = Scripted(layouts)
    found = four_rooms.evaluate(player, np.random.default_rng(0))
    third = pytest.approx(1 / 3)
    assert found == {
        "mean_return": pytest.approx(0.25),
        "success": third,
        "pass@1": third,
        "pass@5": third,
        "room_sets": 2.0,
        "successful_room_sets": pytest.approx(2 / 3),
        "perturbed_success": third,
        "unseen_success": 0.0,
    }
    starts, seeds = zip(*player.calls, strict=True)
    assert {len(one.time) for one in starts} == {3 * PROBES}  # one shape, compiled once
    assert len(set(seeds)) == len(seeds) == 4  # 7 episodes in twos of 5, moved, unseen


def test_objects_behave_as_in_xland(objects, starts):
    """The same steps by XLand-MiniGrid's own function, with its rules and all its goals."""
    (level, steps), rng = objects["pickup"], np.random.default_rng(0)
    env, params = xminigrid.make("MiniGrid-Empty-5x5", height=22, width=22)  # GoTo's size
    empty, step = jax.jit(env.reset)(params, KEY).state, jax.jit(env.step)

    def own(state, action):
        goal = np.asarray(level.reach(tile=state.place.goal).encode())
        place = {"grid": state.place.cells, "agent": state.place.agent}
        inner = empty.replace(**place, goal_encoding=goal)
        before = TimeStep(inner, StepType.MID, 0.0, 1.0, None)
        after = step(params, before, np.int32(action))
        return after.state.grid, after.state.agent, after.discount == 0

    seen = {"doors": 0, "carried": 0, "won": 0}
    for index in range(5):
        state = at(starts, slice(index, index + 1))
        path = level.expert(at(state.place, 0), rng) or []
        for action in [*path, *rng.choice(6, 30, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])]:
            cells, agent, won = own(at(state, 0), action)
            state, _, _ = steps(state, np.array([action]))
            assert (state.place.cells[0] == cells).all()
            assert state.success[0] == won
            jax.tree.map(np.testing.assert_array_equal, at(state.place.agent, 0), agent)
            seen["doors"] += int((cells[..., 0] == Tiles.DOOR_OPEN).sum())
            seen["carried"] += int(agent.pocket[0] > 0)
            seen["won"] += int(won)
    assert min(seen.values()) > 0


@pytest.mark.parametrize("name", ["goto", "pickup"])
def test_paths_to_objects_are_shortest(objects, starts, name):
    """Nothing that the environment reaches in fewer steps is a success."""
    level, steps = objects[name]
    rng, with_doors = np.random.default_rng(0), 0
    for index in range(60):
        path = level.expert(at(starts.place, index), rng) or []
        if TOGGLE not in path or len(path) > 9:
            continue
        states = at(starts, slice(index, index + 1))
        for _ in path[1:]:
            states, won = reached(steps, states)
            assert not won
        assert reached(steps, states)[1]
        with_doors += 1
        if with_doors == 2:
            return
    pytest.fail("too few of the paths go through doors")


def reached(steps, states, most=2000):
    """Return the different states after one more step, and whether any of them is a success."""
    actions = np.resize([0, 1, 2, 3, 5], most)  # nothing is put down on a shortest path
    rows = np.resize(np.repeat(np.arange(len(states.time)), 5), most)
    assert len(states.time) * 5 <= most
    after = jax.device_get(steps(at(states, rows), actions)[0])
    names = [
        after.place.cells[i].tobytes()
        + after.place.agent.position[i].tobytes()
        + bytes([after.place.agent.direction[i], *after.place.agent.pocket[i]])
        for i in range(len(rows))
    ]
    _, first = np.unique(names, return_index=True)
    return at(after, first), bool(after.success.any())
