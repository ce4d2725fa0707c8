"""The learned outcomes of a set critic: what it sees, learns and credits, without vines."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.env_util import make_vec_env

from setrl import methods, objectives
from setrl.control.sb3.credit import Segment
from setrl.control.sb3.families import Family
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.sb3.vines import Vines
from setrl.control.trajectories import Trajectory
from setrl.core.advantages import Method
from studies.set_critic import SetCritic, SetCriticPPO
from studies.set_critic.learned import CAPACITY, LearnedOutcomes, Steps, steps_of
from studies.set_critic.outcomes import Outcome
from studies.set_critic.trunks import TrunkCredit, members_of
from tests.control.goals import Goals, goal

METHOD, RNG = methods.poly_epo(2), np.random.default_rng(0)


def vines(**changes: Any) -> Vines:
    options = {"num_vines": 0, "num_states": 2, "window": 1}
    return Vines(**{"make_env": Goals, "label": goal, **options, **changes})


def model(**changes: Any) -> SetCriticPPO:
    ppo = {"n_steps": 32, "batch_size": 32, "n_epochs": 1, "seed": 3}
    small = {"policy_kwargs": {"net_arch": [8]}, "vines": vines(**changes)}
    critic = SetCritic(num_draws=16)
    env = make_vec_env(Goals, 2, seed=3)
    return SetCriticPPO("MlpPolicy", env, METHOD, critic=critic, **small, **ppo)


@cache
def untrained() -> SetCriticPPO:
    return model()


def rooms(trajectory: Trajectory) -> Hashable | None:
    """The rooms visited."""
    return frozenset(info["room"] for info in trajectory.infos) - {None} or None


def walk(rooms_seen: str, reward: float) -> Trajectory:
    """An episode whose observations are all equal, in one room after another; "." is no room."""
    steps = len(rooms_seen) - 1
    return Trajectory(
        observations=np.zeros((steps + 1, 25), np.float32),
        actions_T=np.zeros(steps, int),
        rewards_T=np.array([0.0] * (steps - 1) + [reward]),
        infos=tuple({"room": None if room == "." else room} for room in rooms_seen),
        terminated=True,
        truncated=False,
    )


def credited(learner: LearnedOutcomes, families: list[Family], given: Vines) -> list[Segment]:
    """The segments after one update."""
    critic = TrunkCredit(learner.options, untrained().policy, 0)
    critic.learner = learner
    return critic(untrained(), families, given)[0]


def test_no_step_is_spent_on_vines_and_the_first_update_has_no_set_advantages() -> None:
    found = model()
    found.learn(64)
    assert not found.rollout_buffer.from_sets.any()
    done = found.num_timesteps
    found.learn(64, log_interval=None, reset_num_timesteps=False)
    assert found.rollout_buffer.from_sets.any()
    assert len(found.rollout_buffer.values) == found.num_timesteps - done < 64 + 20
    assert not found.uses_vines
    saved = found.logger.name_to_value
    assert 0 < saved["set_critic/cross_entropy"] < 5
    assert saved["set_critic/outcomes"] == len(found.credit.learner.outcomes) > 1


def test_weights_of_the_policy_do_not_depend_on_the_critics_first_weights() -> None:
    plain = PolyPPO("MlpPolicy", Goals(), policy_kwargs={"net_arch": [8]}, seed=3)
    ours = untrained()
    before = torch.get_rng_state()
    LearnedOutcomes(SetCritic(), ours.policy, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    pairs = zip(plain.policy.parameters(), ours.policy.parameters(), strict=True)
    assert all(torch.equal(one, another) for one, another in pairs)


def test_what_was_visited_before_a_state_decides_its_outcomes() -> None:
    # The observations say nothing: only the label so far and the reward do.
    policy, credit = untrained().policy, SetCritic(learning_rate=0.05, epochs=60)
    learner = LearnedOutcomes(credit, policy, seed=0)
    given = vines(label=rooms)
    families = [Family(0, walk(seen, seen[1] == "a"), (0,), ((),)) for seen in (".ax", ".bx") * 4]
    credited(learner, families, given)
    ends = [Outcome(1.0, frozenset("ax")), Outcome(0.0, frozenset("bx"))]
    numbers = [learner.outcomes.number(end) for end in ends]
    for trunk, own in zip((families[0].trunk, families[1].trunk), numbers, strict=True):
        steps = steps_of(trunk.seen_T, trunk, 0, rooms, learner.outcomes)
        first, second = learner.chances(policy, steps)
        assert first[numbers] == pytest.approx([0.5, 0.5], abs=0.1)
        assert second[own] > 0.9


def test_vines_are_members_too_and_remember_their_trunk() -> None:
    trunk, vine = walk("abc", 1.0), walk("bd", 0.0)
    given, learner = vines(label=rooms), LearnedOutcomes(SetCritic(), untrained().policy, seed=0)
    found = members_of([Family(0, trunk, (1,), ((vine,),))], METHOD.reads, given, learner)
    assert [(one.first, one.times, len(one.own)) for one in found] == [(0, (1,), 2), (1, (0,), 1)]
    ends = list(learner.outcomes.seen)
    assert ends == [Outcome(1.0, frozenset("abc")), Outcome(0.0, frozenset("abd"))]
    past = steps_of(vine.seen_T, found[1].episode, 1, rooms, learner.outcomes)
    assert past.labels_n.tolist() == [learner.outcomes.labels[frozenset("ab")]]
    assert past.past_n2 == pytest.approx(np.array([[0.0, np.log(2)]]))


def test_an_episode_without_a_reward_is_neither_credited_nor_learnt() -> None:
    learner = LearnedOutcomes(SetCritic(), untrained().policy, seed=0)
    lost, known = walk("ab", float("nan")), walk("ab", 1.0)
    for _ in range(2):
        families = [Family(0, one, (0,), ((),)) for one in (lost, known)]
        segments = credited(learner, families, vines(label=rooms))
    assert [bool(np.isfinite(one.own_T).any()) for one in segments] == [False, True]
    assert list(learner.outcomes.seen) == [Outcome(1.0, frozenset("ab"))]


def test_a_vine_has_credit_beside_its_trunk() -> None:
    learner, given = LearnedOutcomes(SetCritic(), untrained().policy, seed=0), vines(label=rooms)
    families = [Family(0, walk("abc", 1.0), (1,), ((walk("bd", 1.0), walk("bc", 0.0)),))]
    for _ in range(2):
        segments = credited(learner, families, given)
    trunk, first, second = (one.own_T for one in segments)
    assert np.isfinite(trunk).any()
    assert first[0] > second[0]


def test_windows_begin_at_the_states() -> None:
    learner = LearnedOutcomes(SetCritic(), untrained().policy, seed=0)
    families = [Family(0, walk("abcdefgh", 1.0), (0, 3), ((), ()))]
    for window, times in ((1, [0, 1, 3, 4]), (None, range(7))):
        for _ in range(2):
            given = vines(label=rooms, window=window)
            (own,) = credited(learner, families, given)
        assert np.flatnonzero(np.isfinite(own.own_T)).tolist() == list(times)


def test_the_network_grows_and_keeps_what_it_has_learnt() -> None:
    policy = untrained().policy
    learner = LearnedOutcomes(SetCritic(), policy, seed=0)
    for index in range(3):
        learner.outcomes.number(Outcome(1.0, index))
    steps = Steps(np.eye(3, 25, dtype=np.float32), np.full(3, -1), np.zeros((3, 2), np.float32))
    learner.learn(policy, steps, [1, 1, 1], np.arange(3), RNG)
    before = learner.chances(policy, steps)
    assert learner.net.grow(CAPACITY + 1)
    assert learner.net.capacity == 2 * (CAPACITY + 1)
    assert np.array_equal(learner.chances(policy, steps), before)
    for index in range(3, 400):
        learner.outcomes.number(Outcome(1.0, index))
    assert learner.chances(policy, steps).shape == (3, 400)


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (methods.poly_epo(16), r"in \[1, 15\] with num_draws \+ 1=16, got 16"),
        (Method("far", objectives.pairwise_distance(), 2), "far reads pairs"),
    ],
)
def test_what_a_set_critic_cannot_score_is_refused(method: Method, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        SetCritic(num_draws=15).check(method)
