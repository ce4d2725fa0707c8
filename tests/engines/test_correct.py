"""What "correct" means in trainers: one definition for credit, metrics and records."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from datasets import Dataset
from trl import RLOOConfig, RLOOTrainer

from setrl import methods
from setrl.rewards import Combine
from setrl.support.errors import RunError
from setrl.train.gathering.metrics import batch_metrics, rollout_records
from setrl.train.trl import set_credit
from tests.engines.chat import PROMPTS, arguments, step

RIGHT = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]
FORMAT = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
STRATEGIES = [0, 0, 1, 2, 0, 1, 0, 3]
GRADED = [0.1, 0.9, 0.2, 0.8, 0.7, 0.0, 0.3, 1.0]
BOTH = np.array(RIGHT) + np.array(FORMAT)
COUNTS = methods.concave_counts(0.25)
OF_RIGHT = {"reward/pass@1", "advantage/wrong_positive", "advantage/correct_negative",
            "strategies/correct_per_prompt", "strategies/correct_degenerate"}  # fmt: skip


def correct(completions, **_):
    return RIGHT


def formatted(completions, **_):
    return FORMAT


def graded(completions, **_):
    return GRADED


def strategy(completions, **_):
    return STRATEGIES


def is_right(completions, **_):
    return [one == 1 for one in RIGHT]


async def is_right_later(completions, **_):
    return [None if place == 4 else one == 1 for place, one in enumerate(RIGHT)]


def logged(trainer):
    return next(one for one in trainer.state.log_history if "reward/mean" in one)


WAYS = {"a name": "correct", "the function": correct, "another function": is_right}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:concave_counts reads only which samples are right")
def test_a_format_reward_makes_no_wrong_sample_right(make_chat, way):
    """The README's method with a second reward: with TRL's weights of 1, 0 + 1 is above 1/2."""
    trainer = make_chat(COUNTS, [correct, formatted], strategy_func=strategy, correct=WAYS[way])
    batch = step(trainer)
    values, metrics = batch.advantages.values_BN.ravel(), logged(trainer)
    np.testing.assert_array_equal(values == 0, np.array(RIGHT) == 0)
    np.testing.assert_allclose(values[[4, 6]], 2**-0.75)
    np.testing.assert_array_equal(batch.samples.rewards.ravel(), BOTH)
    assert (metrics["reward/pass@1"], metrics["advantage/wrong_positive"]) == (0.25, 0.0)
    assert metrics["strategies/correct_per_prompt"] == 0.5
    [first, second] = rollout_records(batch, None, 1)
    assert first["correct"] + second["correct"] == RIGHT


def test_credit_against_what_is_right_is_counted_with_a_shaped_reward(make_chat):
    """GRPO of the sum pays wrong samples, and the metric says how many."""
    trainer = make_chat(methods.grpo(), [correct, formatted], correct="correct")
    values = step(trainer).advantages.values_BN.ravel()
    wrong = np.array(RIGHT) == 0
    share = (values[wrong] > 0).mean()
    assert share > 0
    assert logged(trainer)["advantage/wrong_positive"] == pytest.approx(share, abs=1e-4)
    assert logged(trainer)["reward/pass@1"] == 0.25


def test_several_rewards_need_correct_only_for_methods_that_need_it(make_chat):
    sentence = (
        r"concave_counts needs to know which samples are right, and there are 2 reward functions "
        r"\(correct, formatted\): pass correct=\.\.\. \(in a config, "
        r"the key `correct` of the task\): the name of a reward function that returns 1 or 0"
    )
    with pytest.raises(ValueError, match=sentence):
        make_chat(COUNTS, [correct, formatted], strategy_func=strategy)
    trainer = make_chat(methods.poly_epo(2), [correct, formatted], strategy_func=strategy)
    batch = step(trainer)
    assert np.isnan(batch.samples.correct).all()
    assert not OF_RIGHT & logged(trainer).keys()
    assert set(rollout_records(batch, None, 1)[0]["correct"]) == {None}


@pytest.mark.parametrize("values", [GRADED, [2 * one - 1 for one in RIGHT]])
def test_one_reward_that_is_not_0_and_1_stops_before_an_update(make_chat, values):
    def score(completions, **_):
        return values

    trainer = make_chat(COUNTS, [score], strategy_func=strategy)
    before = [one.detach().clone() for one in trainer.model.parameters()]
    sentence = rf"the reward function 'score' gave {values[0]:g}, which is neither right \(1\) nor"
    with pytest.raises(RunError, match=sentence + r".*pass correct=\.\.\."):
        trainer.train()
    after = trainer.model.parameters()
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_a_graded_reward_of_a_method_that_needs_no_outcome(make_chat):
    trainer = make_chat(methods.maxpo(2), [graded], strategy_func=strategy)
    batch = step(trainer)
    np.testing.assert_allclose(batch.samples.rewards.ravel(), np.float32(GRADED))
    assert not OF_RIGHT & logged(trainer).keys()


def test_a_graded_reward_with_the_users_own_threshold(make_chat):
    def enough(completions, **_):
        return [one > 0.75 for one in GRADED]

    trainer = make_chat(COUNTS, [graded], strategy_func=strategy, correct=enough)
    batch = step(trainer)
    np.testing.assert_array_equal(batch.samples.correct.ravel(), enough(None))
    want = COUNTS.advantages(
        batch.samples.rewards, correct=batch.samples.correct, strategies=batch.samples.strategies
    )
    np.testing.assert_array_equal(batch.advantages.values_BN, want.values_BN)
    assert logged(trainer)["reward/pass@1"] == 3 / 8


def test_a_column_says_it_and_an_asynchronous_function_may_not_know(make_chat):
    data = Dataset.from_dict({"prompt": PROMPTS, "solvable": [True, False, True, False]})
    trainer = make_chat(
        methods.pass_k_training(2), [graded], correct="solvable", train_dataset=data
    )
    assert set(step(trainer).samples.correct.ravel()) <= {0.0, 1.0}
    trainer = make_chat(COUNTS, [graded], strategy_func=strategy, correct=is_right_later)
    batch = step(trainer)
    assert np.isnan(batch.samples.correct[1, 0])
    assert not batch.advantages.usable_BN[1, 0]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("nothing", RunError, "correct: the samples have no column 'nothing'; they have none"),
        (graded, RunError, "'graded' says which samples are right, and must return 1 or 0, got"),
        (lambda completions, **_: GRADED, RunError, r"<lambda>.* must return True or False"),
        (0.5, TypeError, "correct must be the name of a reward function or of a column"),
    ],
)
def test_what_does_not_say_it(make_chat, given, error, message):
    with pytest.raises(error, match=message):
        make_chat(COUNTS, [graded], strategy_func=strategy, correct=given).train()


def test_rewards_without_effect_are_named(make_chat):
    with pytest.warns(UserWarning, match=r"formatted has no effect on advantages; add a method"):
        make_chat(COUNTS, [correct, formatted], strategy_func=strategy, correct="correct")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*no effect on advantages")
        both = COUNTS + 0.1 * methods.dr_grpo()
        trainer = make_chat(both, [correct, formatted], strategy_func=strategy, correct="correct")
    batch = step(trainer)
    want = COUNTS.advantages(
        np.reshape(RIGHT, (2, 4)), strategies=batch.samples.strategies
    ).values_BN
    want = want + 0.1 * methods.dr_grpo().advantages(BOTH.reshape(2, 4)).values_BN
    np.testing.assert_allclose(batch.advantages.values_BN, want, atol=1e-12)


def test_with_gates_the_first_reward_is_not_silently_the_right_one(make_chat):
    """Formatted first: before, samples in the right form were taken for right ones."""
    rewards, unnamed = [formatted, correct], Combine((1.0, 1.0), ("sample", None))
    with pytest.raises(ValueError, match="a gate of combine needs to know which samples are right"):
        make_chat(methods.dr_grpo(), rewards, combine=unnamed)
    with pytest.raises(ValueError, match=r"needs to know .* 2 reward functions \(formatted, corr"):
        make_chat(methods.pass_k_training(2), rewards, combine=Combine((1.0, 1.0)))
    trainer = make_chat(methods.dr_grpo(), rewards, combine=replace(unnamed, outcome="correct"))
    np.testing.assert_array_equal(step(trainer).samples.correct.ravel(), RIGHT)
    found = logged(trainer)
    assert found["reward"] == pytest.approx(found["reward/mean"], abs=1e-4)  # TRL's name for it


def test_right_samples_without_a_strategy_are_counted_and_said_once(make_chat):
    def unreadable(completions, **_):
        return [-1] * len(completions)

    trainer = make_chat(COUNTS, [correct], strategy_func=unreadable)
    with pytest.warns(UserWarning, match="2 of 2 right samples of this step have the strategy -1"):
        step(trainer)
    assert logged(trainer)["strategies/correct_degenerate"] == 1


def test_combine_names_the_outcome_and_correct_replaces_it(make_chat):
    rewards, gated = [graded, correct], Combine((0.5, 1.0), ("sample", None), outcome=1)
    batch = step(make_chat(methods.maxpo(2), rewards, combine=gated))
    np.testing.assert_array_equal(batch.samples.correct.ravel(), RIGHT)
    np.testing.assert_allclose(
        batch.samples.rewards.ravel(),
        RIGHT + 0.5 * np.multiply(RIGHT, np.float32(GRADED)),
        rtol=1e-6,
    )
    other = Combine((1.0, 0.5), (None, "sample"), outcome=0)
    with pytest.raises(RunError, match=r"gates need to know .* 'graded' gave 0\.1"):
        make_chat(methods.maxpo(2), [graded, formatted], combine=other).train()
    batch = step(make_chat(methods.maxpo(2), [graded, formatted], combine=other, correct=is_right))
    expected = np.float32(GRADED) + 0.5 * np.multiply(RIGHT, FORMAT)
    np.testing.assert_allclose(batch.samples.rewards.ravel(), expected, rtol=1e-6)


def test_rloo_reads_it_too(chat_model, tmp_path):
    args = arguments(tmp_path, RLOOConfig, beta=0.0)
    trainer = set_credit(RLOOTrainer)(
        str(chat_model),
        [correct, formatted],
        args,
        method=methods.w_reinforce(),
        correct="correct",
        train_dataset=Dataset.from_dict({"prompt": PROMPTS}),
    )
    values = step(trainer).advantages.values_BN.ravel()
    np.testing.assert_allclose(values, np.where(RIGHT, 0.1, -1.0))


def test_the_metrics_of_a_step_without_outcomes_have_no_numbers_for_them(make_chat):
    batch = step(make_chat(methods.grpo(), [graded]))
    assert not OF_RIGHT & batch_metrics(batch).keys()
