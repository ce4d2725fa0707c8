"""The linter: every objective of the library passes, and every kind of slip is found."""

from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from setrl import Samples, check_objective, objectives
from setrl.core.objectives import SetMeans
from tests.core.catalogue import EXACT


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_the_library_s_objectives_pass(entry):
    size = entry.objective.set_size or max(4, entry.smallest)
    report = check_objective(entry.objective, set_size=size, num_samples=8)
    assert report.problems == ()
    assert report.estimator == "closed form"
    assert report.sets_per_prompt == 0
    assert report.lowest < report.highest


def writes(rewards):
    rewards[..., 0] = 0.5
    return rewards.mean(-1)


class Forgetful:
    """Scores that grow with every call."""

    calls = 0

    def __call__(self, rewards):
        self.calls += 1
        return rewards.max(-1) + self.calls


SLIPS = [
    (lambda r: r[..., 0], "the order of its members changes a set's score, by up to 1"),
    (writes, "it writes into rewards: copy what you change"),
    (Forgetful(), "the same sets score differently from call to call, by up to "),
    (lambda r: r.max(-1) - r.max(), "the sets scored together with a set change its score, by "),
    (lambda r: np.zeros(r.shape[:-1]), "all sets of a prompt have the same score: there is noth"),
    (lambda r: np.where(r.max(-1) < 1, np.nan, 1), "% of its scores are NaN or infinite"),
    (lambda r: r.max(), "it raises ValueError: the objective <lambda> must give one score a set"),
    (lambda r: 1 / 0, "it raises ZeroDivisionError: division by zero"),
]


@pytest.mark.parametrize(("function", "problem"), SLIPS, ids=[problem for _, problem in SLIPS])
def test_slips_are_found(function, problem):
    report = check_objective(function, num_samples=7)
    assert any(problem in found for found in report.problems)
    assert problem in str(report)


def test_numbers_of_strategies_mean_nothing():
    report = check_objective(
        lambda rewards, strategies: rewards.mean(-1) * strategies.max(-1),
        reads=("rewards", "strategies"),
    )
    assert report.problems[0].startswith("the numbering of the strategies changes the score")


@dataclass(frozen=True)
class WrongForm(objectives.max):
    """max@K with the means of max@(K − 1)."""

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        return super().set_means(samples, set_size - 1)


def test_a_wrong_closed_form_is_found():
    found = check_objective(WrongForm()).problems
    assert [problem.split(" is off")[0] for problem in found] == [
        f"its closed form of {name}" for name in ("u", "u − v", "U")
    ]


def test_what_collapses_to_standard_rl_is_noted():
    report = check_objective(lambda rewards: rewards.sum(-1))
    assert report.additive_share == pytest.approx(1)
    assert report.notes == ("it only adds up over members: set RL with it is standard RL",)
    assert not check_objective(objectives.max()).notes


def test_a_field_without_effect_is_noted():
    report = check_objective(lambda rewards, strategies: rewards.max(-1))
    assert report.notes == ("strategies make no difference, though it reads them",)


FALLS = "a higher reward of one member can lower the score, from "


@pytest.mark.parametrize(
    ("objective", "high", "low"),
    [
        # A wrong one of (1, 0, 0, 0) becomes right.
        (objectives.max() - objectives.mean(), 0.75, 0.5),
        (objectives.from_function(lambda r: np.ptp(r, axis=-1)), 1.0, 0.0),
        (objectives.polychromic() - objectives.mean(), -0.375, -0.5625),
    ],
    ids=str,
)
def test_a_score_that_falls_with_a_reward_is_noted_and_no_problem(objective, high, low):
    report = check_objective(objective, set_size=4, num_samples=8)
    assert f"{FALLS}{high:.3g} to {low:.3g}: a worse sample" in report.notes[0]
    assert not report.problems
    assert str(report).endswith("no problems found")


@pytest.mark.parametrize(
    "objective",
    [
        objectives.max(),
        objectives.polychromic(),
        objectives.polychromic(diversity=objectives.pairwise_distance()),
        objectives.median(),
        objectives.majority(),
    ],
    ids=str,
)
def test_scores_that_rise_with_rewards_have_no_note(objective):
    assert not check_objective(objective, set_size=4, num_samples=8).notes


def best_less_mean(rewards):
    """Written for one set, as Python suggests."""
    return max(rewards) - sum(rewards) / len(rewards)


def test_a_function_for_a_single_set_says_what_to_do():
    [problem] = check_objective(best_less_mean, num_samples=8).problems
    assert "truth value of an array" in problem
    assert problem.endswith(
        "if it is written for a single set, use objectives.from_function(…, one_set_at_a_time=True)"
    )


def test_a_function_for_a_single_set_is_checked_one_set_at_a_time():
    alone = objectives.from_function(best_less_mean, one_set_at_a_time=True)
    report = check_objective(alone, num_samples=6)
    same = check_objective(objectives.max() - objectives.mean(), num_samples=6)
    assert report.problems == ()
    assert report.highest == pytest.approx(same.highest)
    assert report.additive_share == pytest.approx(same.additive_share)


@pytest.mark.parametrize("error", [TypeError("it takes two fields"), ValueError("no reward")])
def test_other_errors_of_a_function_stay_as_they_are(error):
    def fails(rewards):
        raise error

    [problem] = check_objective(fails, num_samples=6).problems
    assert problem == f"it raises {type(error).__name__}: {error}"


def test_the_additive_share_is_that_of_least_squares():
    """Against numpy's lstsq of the scores of all sets on who is in them, prompt by prompt."""
    rewards = np.random.default_rng(0).random((3, 6))
    samples = Samples(rewards)
    report = check_objective(objectives.max(), set_size=3, num_samples=6, samples=samples)
    from setrl.core.credit.estimators import all_sets

    sets = all_sets(6, 3)
    member = (sets[:, :, None] == np.arange(6)).any(axis=1) * 1.0
    explained = total = 0.0
    for row in rewards:
        scores = row[sets].max(-1)
        fitted = member @ np.linalg.lstsq(member, scores, rcond=None)[0]
        explained += fitted.var()
        total += scores.var()
    assert report.additive_share == pytest.approx(explained / total, rel=1e-9)


@pytest.mark.parametrize(
    ("num_samples", "estimator", "sets"),
    [
        (8, "enumerated (70 sets)", 70),
        (64, "sampled (2,000 of 635,376 sets)", 2000),
    ],
)
def test_it_says_what_an_objective_costs(num_samples, estimator, sets):
    report = check_objective(lambda rewards: np.ptp(rewards, axis=-1), num_samples=num_samples)
    assert (report.estimator, report.sets_per_prompt) == (estimator, sets)
    assert report.seconds_per_prompt > 0
    assert estimator in str(report)
    assert str(report).count("a prompt of 128") == 1


def test_the_cost_is_measured_for_the_prompts_of_a_step():
    asked = []

    def spread(rewards):
        asked.append(len(rewards))
        return np.ptp(rewards, axis=-1)

    report = check_objective(spread, num_samples=8, num_prompts=5)
    assert (report.num_prompts, asked[-1]) == (5, 5)


def test_the_report_is_frozen_and_set_size_is_checked():
    report = check_objective(objectives.max())
    with pytest.raises(FrozenInstanceError):
        report.lowest = 0.0
    assert str(report).endswith("no problems found")
    with pytest.raises(
        ValueError, match=r"set_size must be an integer in \[1, 7\] with num_samples=8, got 8"
    ):
        check_objective(objectives.max(), set_size=8, num_samples=8)
