"""How vines are drawn, and whole episodes from their parts."""

from typing import Any

import numpy as np
import pytest

from setrl import methods, objectives
from setrl.control.sb3.families import Vines, episode_return, rollout_times
from setrl.control.trajectories import Trajectory, join_trunk_and_vine
from setrl.control.vines import check_vines
from setrl.core.advantages import Method
from tests.control.goals import Goals, goal


def walk(first: int, steps: int, *, terminated: bool = True) -> Trajectory:
    """A trajectory whose observations, actions and rewards count up from `first`."""
    counts = np.arange(first, first + steps + 1)
    return Trajectory(
        observations={"count": counts[:, None].astype(float)},
        actions_T=counts[:steps] if steps else np.empty(0),
        rewards_T=counts[:steps].astype(float),
        infos=tuple({"count": int(count)} for count in counts),
        terminated=terminated,
        truncated=not terminated,
    )


def test_states_are_equally_spaced_from_the_first_on() -> None:
    rng = np.random.default_rng(0)
    assert rollout_times(10, 2, "equal", rng) == [0, 5]
    assert rollout_times(9, 3, "equal", rng) == [0, 3, 6]
    assert rollout_times(9, 2, "inner", rng) == [3, 6]


@pytest.mark.parametrize("where", ["equal", "inner", "uniform"])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("num_states", [1, 3, 5])
def test_times_are_different_and_have_a_step(where: Any, length: int, num_states: int) -> None:
    times = rollout_times(length, num_states, where, np.random.default_rng(0))
    assert times == sorted(set(times))
    assert all(0 <= time < length for time in times)
    assert len(times) == min(num_states, length)


def test_uniform_states_are_all_reached() -> None:
    rng = np.random.default_rng(0)
    chosen = {time for _ in range(100) for time in rollout_times(5, 2, "uniform", rng)}
    assert chosen == set(range(5))


@pytest.mark.parametrize("time", [0, 2, 4])
@pytest.mark.parametrize("length", [0, 3])
def test_an_episode_is_the_trunk_up_to_the_state_and_then_the_vine(time: int, length: int) -> None:
    trunk, vine = walk(0, 6), walk(100, length, terminated=False)
    episode = join_trunk_and_vine(trunk, time, vine)
    own = list(range(100, 100 + length))
    assert episode.rewards_T.tolist() == [*range(time), *own]
    assert episode.actions_T.tolist() == [*range(time), *own]
    assert episode.observations["count"][:, 0].tolist() == [*range(time), *own, 100 + length]
    assert [info["count"] for info in episode.infos] == [*range(time), *own, 100 + length]
    assert episode.truncated
    assert not episode.terminated
    assert episode_return(episode) == sum(range(time)) + sum(own)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"where": "first"}, "where must be one of"),
        ({"credit": "mean"}, "credit must be one of"),
        ({"trunk": "first"}, "trunk must be one of"),
        ({"credit": 3}, "credit must be one of"),
        ({"make_env": "CartPole-v1"}, "make_env must be a function that makes an environment"),
        ({"num_vines": -1}, "num_vines must be a whole number ≥ 0"),
        ({"window": -1}, "window must be a whole number ≥ 0"),
        ({"max_steps": 0}, "max_steps must be a whole number ≥ 1"),
        ({"num_sets": 1}, "num_sets must be a whole number ≥ 2"),
        ({"num_states": 1.5}, "num_states must be a whole number"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Vines(**{"make_env": Goals, **options})


@pytest.mark.parametrize(
    ("method", "vines", "sentence"),
    [
        (methods.poly_epo(4), None, "give both"),
        (Vines(Goals), methods.poly_epo(4), "method comes before vines: write method=…, vines=…"),
        (Vines(Goals), None, "method comes before vines"),
        ("poly_epo", Vines(Goals), r"a value such as setrl.methods.poly_epo\(4\), got 'poly_epo'"),
        (methods.poly_epo(4), Goals, r"a value such as Vines\(make_env\), got <class"),
        (None, Vines(Goals), "give both"),
        (methods.poly_epo(4), Vines(Goals), "label="),
        (Method("far", objectives.pairwise_distance(), 2), Vines(Goals), "distances="),
        (methods.unlikeliness(), Vines(Goals, label=goal), "reads proxy"),
        (
            methods.poly_epo(8),
            Vines(Goals, label=goal, num_vines=8),
            r"set_size must be an integer in \[1, 7\] with num_vines=8, got 8",
        ),
        (methods.maxpo(4), Vines(Goals, num_vines=3), r"in \[1, 2\] with num_vines=3, got 4"),
    ],
)
def test_what_does_not_fit_is_refused(method: Any, vines: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_vines(method, vines)


def test_a_set_may_hold_all_vines_where_the_baseline_has_smaller_sets() -> None:
    check_vines(methods.pkpo(8), Vines(Goals, num_vines=8))


@pytest.mark.parametrize("credit", ["action", "shared"])
def test_credit_that_compares_sets_needs_two_of_them(credit: Any) -> None:
    vines = Vines(Goals, num_vines=8, credit=credit)
    check_vines(methods.pkpo(7), vines)
    with pytest.raises(ValueError, match="num_vines"):
        check_vines(methods.pkpo(8), vines)


def test_no_vines_or_no_states_are_fine_for_any_set_size() -> None:
    check_vines(methods.poly_epo(8), Vines(Goals, num_vines=0))
    check_vines(methods.poly_epo(99), Vines(Goals, num_states=0))


def test_a_sum_of_methods_credits_trajectories_alone() -> None:
    both = methods.dr_grpo() + 0.5 * methods.maxpo(2)
    vines = Vines(make_env=Goals, num_vines=4)
    check_vines(both, vines)
    with pytest.raises(ValueError, match=r"'shared' compares sets of one objective.*'marginal'"):
        check_vines(both, Vines(make_env=Goals, num_vines=4, credit="shared"))


def test_what_is_right_is_a_function_of_the_episode() -> None:
    method = methods.concave_counts(0)
    vines = Vines(Goals, label=goal, correct=lambda episode: episode.total_reward > 3)
    check_vines(method, vines)
    episodes = [[walk(0, 2), walk(0, 4)], [walk(0, 5), walk(0, 1)]]
    found = vines.fields(episodes, method.reads)
    assert found["correct"].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert "correct" not in Vines(Goals, label=goal).fields(episodes, method.reads)


def test_distances_are_a_function_of_the_episodes_of_a_state() -> None:
    method = Method("far", objectives.pairwise_distance(), 2)

    def apart(row: Any) -> np.ndarray:
        lengths = [len(one) for one in row]
        return np.abs(np.subtract.outer(lengths, lengths))

    vines = Vines(Goals, distances=apart)
    check_vines(method, vines)
    episodes = [[walk(0, 2), walk(0, 5)], [walk(0, 1), walk(0, 1)]]
    found = vines.fields(episodes, method.reads)["pairs"]
    assert found.tolist() == [[[0, 3], [3, 0]], [[0, 0], [0, 0]]]
