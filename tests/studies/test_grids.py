"""The rooms: multi-goal, FourRooms, BabyAI."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from setrl.control.tasks.multi_goal import GOALS, MultiGoal
from studies.grids.babyai import LEVELS, bot_steps
from studies.grids.four_rooms import FourRoomsTask, shortest_actions
from studies.grids.paper import HORIZON, UNSEEN


def distances_to_goals():
    """Fewest actions to each goal, by trying all."""
    task = MultiGoal()
    found, queue, seen = {}, deque([()]), set()
    while queue:
        actions = queue.popleft()
        env = task.make_env()
        observation, info = env.reset()
        for action in actions:
            observation, _, terminated, _, info = env.step(action)
        if actions and terminated:
            found.setdefault(info["goal"], len(actions))
        elif observation.tobytes() not in seen:
            seen.add(observation.tobytes())
            queue.extend((*actions, action) for action in range(3))
    return found


def test_one_goal_is_nearest():
    found = distances_to_goals()
    assert sorted(found) == list(range(len(GOALS)))
    assert found[0] == 4
    assert min(found[goal] for goal in found if goal != 0) > 4


@pytest.mark.parametrize("blocked", [(), (0,)])
def test_a_blocked_goal_is_a_wall(blocked):
    env = MultiGoal().make_env(blocked)
    env.reset()
    for action in (2, 1, 2, 2):  # up, turn right, twice forward: to goal 0
        _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["goal"]) == ((0.0, False, None) if blocked else (1.0, True, 0))


def test_observations_tell_every_pose_apart():
    env = MultiGoal().make_env()
    seen = set()
    env.reset()
    for column in range(1, 8):
        for row in range(1, 8):
            for direction in range(4):
                env.agent_pos, env.agent_dir = (column, row), direction
                seen.add(env.gen_obs().tobytes())
    assert len(seen) == 7 * 7 * 4


def test_layouts_are_fixed_and_differ():
    env, again = FourRoomsTask().make_env(), FourRoomsTask().make_env()
    env.reset(seed=1)
    again.reset(seed=2)
    grids = []
    for layout in range(5):
        env.reset(options={"layout": layout})
        again.reset(options={"layout": layout})
        assert (env.grid.encode() == again.grid.encode()).all()
        assert (env.agent_pos, env.agent_dir) == (again.agent_pos, again.agent_dir)
        grids.append(env.grid.encode().tobytes())
    env.reset(options={"layout": 0, "stream": UNSEEN})
    assert len({*grids, env.grid.encode().tobytes()}) == 6


def test_resets_draw_among_the_layouts():
    env = FourRoomsTask(num_layouts=3).make_env()
    env.reset(seed=0)
    assert {env.reset()[1]["layout"] for _ in range(40)} == {0, 1, 2}


def test_the_horizon_ends_an_episode_as_a_failure():
    env = FourRoomsTask().make_env()
    env.reset(seed=0)
    *before, (_, reward, terminated, truncated, info) = [env.step(0) for _ in range(HORIZON)]
    assert not any(done or cut for _, _, done, cut, _ in before)
    assert (terminated, truncated, reward, info["success"]) == (True, False, 0.0, False)


def test_a_perturbed_start_stays_in_its_room():
    env = FourRoomsTask().make_env()
    _, first = env.reset(seed=0, options={"layout": 4})
    grid, poses = env.grid.encode(), set()
    for _ in range(20):
        seen, info = env.reset(options={"layout": 4, "perturb": True})
        poses.add((tuple(map(int, env.agent_pos)), int(env.agent_dir)))
        assert info["room"] == first["room"]
        assert (env.grid.encode() == grid).all()
        np.testing.assert_array_equal(seen, env.gen_obs())
    assert len(poses) > 10


def fewest_actions(env):
    """Bellman's equation, iterated to its fixed point from all poses at once."""
    grid, moves = env.grid.encode()[..., 0], [(1, 0), (0, 1), (-1, 0), (0, -1)]
    free, size = grid != 2, len(grid)
    left = np.full((size, size, 4), np.inf)
    left[grid == 8] = 0.0
    for _ in range(4 * size * size):
        ahead = np.full_like(left, np.inf)
        for direction, (dx, dy) in enumerate(moves):
            ahead[..., direction] = np.roll(left[..., direction], (-dx, -dy), (0, 1))
        turned = np.minimum(np.roll(left, 1, -1), np.roll(left, -1, -1))
        better = np.where(free[..., None], np.minimum(left, 1 + np.minimum(ahead, turned)), np.inf)
        if np.array_equal(better, left):
            break
        left = better
    return left[(*env.agent_pos, env.agent_dir)]


@pytest.mark.parametrize("layout", range(4))
def test_shortest_actions_are_shortest(layout):
    env = FourRoomsTask().make_env()
    for repeat in range(2):
        env.reset(options={"layout": layout})
        fewest = fewest_actions(env)
        actions = shortest_actions(env, np.random.default_rng(repeat))
        assert len(actions) == fewest
        for step, action in enumerate(actions):
            _, reward, terminated, _, info = env.step(action)
            assert terminated == (step == len(actions) - 1)
        assert info["success"]
        assert reward == pytest.approx(1 - 0.5 * len(actions) / 100)


@pytest.mark.parametrize("level", ["goto_local", "pickup"])
def test_the_bot_succeeds(level):
    env = LEVELS[level]()
    lengths = [len(bot_steps(env, layout)) for layout in range(6)]
    assert sum(length > 0 for length in lengths) >= 3
    assert max(lengths) <= 100


def test_the_instruction_is_seen():
    env = LEVELS["goto"]()
    missions, tails = set(), set()
    for layout in range(8):
        seen, _ = env.reset(options={"layout": layout})
        missions.add(env.mission)
        tails.add(seen[7 * 7 * 3 + 4 :].tobytes())
    assert len(missions) == len(tails) > 1
