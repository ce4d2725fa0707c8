"""Atari: exact without sticky actions; with them refused, and two ways that are exact."""

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")
gym.register_envs(pytest.importorskip("ale_py"))

from setrl.control import check_resettable, make_resettable  # noqa: E402
from setrl.control.envs.adapters import NotResettableError  # noqa: E402

SMALL = {"actions": 12, "trials": 2}


def game(sticky, name="ALE/Pong-v5", **options):
    return gym.make(name, repeat_action_probability=sticky, obs_type="ram", **options)


def test_the_future_is_the_same_to_the_bit():
    env = make_resettable(game(0))
    assert env.adapter.name == "atari"
    check_resettable(env, another=game(0), **SMALL)


def test_random_frame_skips_draw_from_the_environment_s_generator():
    check_resettable(game(0, frameskip=(2, 5)), another=game(0, frameskip=(2, 5)), **SMALL)


def test_sticky_actions_are_refused_with_what_to_do():
    with pytest.raises(NotResettableError, match=r"repeat_action_probability=0.25.*StickyAction"):
        make_resettable(game(0.25))


def test_sticky_actions_in_python_are_exact():
    sticky = lambda: gym.wrappers.StickyAction(game(0), 0.25)  # noqa: E731
    check_resettable(sticky(), another=sticky(), **SMALL)


def test_a_restored_state_is_shown_and_not_what_came_before():
    """The emulator's state holds no picture: it would show that of its last step."""
    env = make_resettable(game(0, "ALE/Breakout-v5", render_mode="rgb_array"))
    env.reset(seed=0)
    for _ in range(20):
        env.step(1)
    state, there = env.snapshot(), env.render()
    for _ in range(20):
        env.step(2)
    elsewhere = env.render()
    assert (there != elsewhere).any()
    env.restore(state)
    np.testing.assert_array_equal(env.render(), there)
    again = env.snapshot()
    env.step(3)
    after = env.render()
    assert (after != there).any()
    env.restore(again)
    np.testing.assert_array_equal(env.render(), there)
    env.reset(seed=0)
    np.testing.assert_array_equal(env.render(), env.unwrapped.render())


def test_preprocessed_frames():
    pytest.importorskip("cv2")
    make = lambda: gym.wrappers.FrameStackObservation(  # noqa: E731
        gym.wrappers.AtariPreprocessing(
            gym.make("ALE/Breakout-v5", repeat_action_probability=0, frameskip=1), noop_max=3
        ),
        4,
    )
    check_resettable(make(), another=make(), actions=15, trials=2)
