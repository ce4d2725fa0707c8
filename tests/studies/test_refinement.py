"""A strategy that is refined by practice: updates against gradients, what is learned."""

import json
from dataclasses import replace

import numpy as np
import pytest

from setrl import methods
from studies import refinement
from studies.refinement import (
    ARMS,
    JUDGED,
    Arm,
    Policies,
    RefinementConfig,
    merges,
    splits,
    train,
    update,
)

CRUDE = (0.6, 0.2)


def some_policies(runs):
    strategy_C, skill_D = np.array([0.3, -0.2, 0.1]), np.array([0.4, -0.5])
    return Policies(np.tile(strategy_C, (runs, 1)), np.tile(skill_D, (runs, 1)))


def value(vector, entropy):
    """P(right) + entropy·H of the policy whose logits these are."""
    one = Policies(vector[None, :3], vector[None, 3:])
    chances_C = one.chances_RC[0]
    return chances_C @ one.right_RC(CRUDE)[0] - entropy * chances_C @ np.log(chances_C)


@pytest.mark.parametrize("entropy", [0.0, 0.5])
def test_the_mean_update_is_the_gradient(entropy):
    runs, arm = 40_000, Arm("", methods.rloo(), ("black", "solid"), entropy)
    found = update(some_policies(runs), arm, CRUDE, 4, np.random.default_rng(0))
    moved = np.hstack([found.strategy_RC, found.skill_RD])
    at = np.hstack([some_policies(1).strategy_RC, some_policies(1).skill_RD])[0]
    steps = 1e-5 * np.eye(len(at))
    truth = np.array([(value(at + e, entropy) - value(at - e, entropy)) / 2e-5 for e in steps])
    error = moved.std(axis=0) / np.sqrt(runs)
    assert (np.abs(moved.mean(axis=0) - truth) < 4 * error + 1e-9).all()
    assert (error < 0.1 * np.abs(truth).max()).all()


def test_untrained_policies_have_the_stated_success():
    found = Policies.untrained(np.array([0.1, 0.001]), strategies=3, steps=3)
    np.testing.assert_allclose(found.right_RC(CRUDE), [[0.6, 0.2, 0.1], [0.6, 0.2, 0.001]])
    np.testing.assert_allclose(found.chances_RC, 1 / 3)


def test_judges_relabel_attempts_by_the_steps_that_are_right():
    rng = np.random.default_rng(0)
    drawn_RN = np.repeat([[0, 2, 2, 2]], 3_000, axis=0)
    passed_RND = np.broadcast_to(
        [[True, True], [False, False], [True, False], [True, True]], (3_000, 4, 2)
    )
    assert (splits(drawn_RN, passed_RND, 2) == [0, 2, 3, 4]).all()
    found_RN = merges(drawn_RN, passed_RND, 2, rng)
    shares = (found_RN == 2).mean(axis=0)
    np.testing.assert_allclose(shares, [0, 0, 0.5, 1], atol=0.04)
    np.testing.assert_allclose((found_RN[:, 1] == 0).mean(), 0.5, atol=0.04)


EASY = RefinementConfig(starts=(0.1,), runs=6, updates=1_000)


def test_poly_epo_refines_what_grpo_drops():
    kept, dropped = train(EASY, ARMS["poly_4"], 3.0), train(EASY, ARMS["grpo"], 3.0)
    assert kept.learned_R.all()
    assert (kept.kinds_RT[:, -1] == 6).all()
    assert dropped.learned_R.sum() <= 1  # noise can carry one over
    assert (dropped.kinds_RT[:, -1] == 1).all()
    unlearned_R = ~dropped.learned_R
    assert (dropped.refined_RT[unlearned_R, -1] < 0.002).all()
    assert (dropped.skill_RT[unlearned_R, -1] < 0.3).all()


def test_the_study_writes_its_numbers_and_they_are_drawn(tmp_path):
    config = replace(EASY, starts=(0.1, 0.01), runs=2, updates=20)
    found = json.loads(refinement.run(config, tmp_path).read_text(encoding="utf-8"))
    assert set(found["arms"]) == set(ARMS | JUDGED)
    assert all(one["learning_rate"] in config.learning_rates for one in found["arms"].values())
    assert set(found["arms"]["grpo"]["starts"]) == {"0.1", "0.01"}
    ends, time = refinement.draw(found).axes
    learned = found["arms"]["grpo"]["starts"].values()
    assert list(ends.lines[0].get_ydata()) == [start["learned"] for start in learned]
    assert len(time.lines) == len(ARMS) + 1  # and the share of a uniform policy
