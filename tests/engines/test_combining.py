"""Several rewards, failing reward functions and truncated samples in TRL's trainer."""

import numpy as np
import pytest
from datasets import Dataset
from trl import GRPOTrainer

from setrl.core import methods
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.rewards import Combine, Truncation
from setrl.rewards.guarded import GuardedReward
from setrl.support.errors import RunError
from setrl.train.gathering import functions
from setrl.train.trl import checks
from tests.engines.chat import PROMPTS, REWARDS, arguments, step

OUTCOMES = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]
SHAPING = [0.1, 0.9, 0.4, 0.0, 0.5, 1.0, None, 0.2]


def outcome(completions, **_):
    return OUTCOMES


def shaping(completions, **_):
    return SHAPING


def columns():
    return np.array([OUTCOMES, SHAPING], dtype=float).T.reshape(2, 4, 2)


def test_a_combination_is_what_is_credited(make_chat):
    combine = Combine((1.0, 0.5), (None, "group"), "group", outcome=0)
    trainer = make_chat(rewards=[outcome, shaping], combine=combine)
    batch = step(trainer)
    expected = combine(columns(), columns()[..., 0])
    np.testing.assert_allclose(batch.samples.rewards, expected, rtol=1e-6)
    assert np.isnan(expected).sum() == 1
    assert (batch.advantages.values_BN[0] == 0).all()
    np.testing.assert_array_equal(batch.samples.correct.ravel(), OUTCOMES)
    np.testing.assert_array_equal(batch.samples.components, np.float32(columns()))
    [logged] = [one for one in trainer.state.log_history if "reward/pass@1" in one]
    assert logged["reward/pass@1"] == np.mean(OUTCOMES)
    assert logged["time/reward/shaping"] > 0
    known = expected[~np.isnan(expected)]
    assert logged["reward"] == pytest.approx(known.mean(), abs=1e-4)
    assert logged["reward_std"] == pytest.approx(known.std(ddof=1), abs=1e-4)
    assert logged["frac_reward_zero_std"] == 1 / 2  # all gates of the first group are closed


def test_a_log_has_the_reward_that_was_credited(make_chat):
    """No sum of the columns gives it: a closed gate and an unknown part are in it."""
    combine = Combine((1.0, 0.5), (None, "group"), "group", outcome=0)
    trainer = make_chat(
        rewards=[outcome, shaping],
        combine=combine,
        args={"log_completions": True, "eval_strategy": "steps", "eval_steps": 1},
        eval_dataset=Dataset.from_dict({"prompt": PROMPTS}),
    )
    batch = step(trainer)
    options = LogOptions(FieldNames(correct="outcome"))
    groups = [*open_log(trainer.args.output_dir, options, needs=["reward"])]
    rewards = [[sample.reward for sample in group.samples] for group in groups]
    np.testing.assert_allclose(np.array(rewards, float), batch.samples.rewards, rtol=1e-6)
    assert [sample.correct for sample in groups[1].samples] == [True, False, True, False]


@pytest.mark.parametrize("punish", [-1.0, None])
def test_the_reward_of_a_punished_sample_is_what_is_logged(make_chat, punish):
    trainer = make_chat(rewards=[outcome], truncated=Truncation("punish", punish))
    batch = step(trainer)
    [logged] = [one for one in trainer.state.log_history if "reward/pass@1" in one]
    assert logged["reward"] == pytest.approx(batch.samples.rewards.mean(), abs=1e-4)
    assert logged["reward"] == pytest.approx(logged["reward/mean"], abs=1e-4)


def test_normalised_rewards_are_those_of_gdpo_in_trl(make_chat):
    """TRL then divides by the standard deviation over the batch, which is a step of ours too."""
    spread = [0.1, 0.9, 0.4, 0.0, 0.5, 1.0, 0.3, 0.2]

    def second(completions, **_):
        return spread

    args = {"multi_objective_aggregation": "normalize_then_sum", "reward_weights": [1.0, 0.5]}
    trainer = make_chat(rewards=[outcome, second], kind=GRPOTrainer, args=args)
    trainer.train()
    both = np.array([OUTCOMES, spread]).T.reshape(2, 4, 2)
    combine = Combine((1.0, 0.5), normalize="group")
    sums = combine(both, both[..., 0]).ravel()
    expected = (sums - sums.mean()) / (sums.std(ddof=1) + 1e-4)
    np.testing.assert_allclose(list(trainer._logs["advantages"]), expected, atol=1e-5)
    # TRL's argument does the same as `combine`, but no reward then says which samples are right.
    batch = step(make_chat(methods.dr_grpo(), [outcome, second], args=args))
    np.testing.assert_allclose(
        batch.samples.rewards, combine(both, both[..., 0]), rtol=1e-6, atol=1e-7
    )
    assert np.isnan(batch.samples.correct).all()
    with pytest.raises(ValueError, match="'normalize_then_sum' or combine, not both"):
        make_chat(rewards=[outcome, second], args=args, combine=combine)


@pytest.mark.parametrize(
    ("combine", "args", "message"),
    [
        (Combine((1.0,)), {}, r"one weight for each reward, 2 \(outcome, shaping\), got 1"),
        (Combine((1.0, 1.0)), {"reward_weights": [1.0, 2.0]}, "reward_weights or combine, not b"),
    ],
)
def test_combinations_that_are_refused(tmp_path, combine, args, message):
    with pytest.raises(ValueError, match=message):
        checks.check_combine(combine, ["outcome", "shaping"], arguments(tmp_path, **args))


CUT = np.array([[True, False, False, True], [False, False, True, False]])


def cut_some(trainer):
    """A sampler of four samples per prompt; the samples in `CUT` do not end."""
    end = trainer.processing_class.eos_token_id

    def sampler(model, prompt_ids, count, **_):
        return [[[5, 6, 7, 8] if cut else [5, 6, end] for cut in row] for row in CUT]

    return sampler


def scored(trainer):
    """The batch of one step, and what TRL makes the loss of."""
    outputs = []
    score = trainer._generate_and_score_completions
    trainer._generate_and_score_completions = lambda inputs: (
        outputs.append(score(inputs)) or (outputs[0])
    )
    trainer.sampler = cut_some(trainer)
    return step(trainer), outputs[0]


FIXED = np.reshape(REWARDS, (2, 4))
MASKED = np.where(CUT, np.nan, FIXED)


@pytest.mark.parametrize(
    ("truncated", "args", "expected"),
    [
        (Truncation("mask"), {}, MASKED),
        (None, {"mask_truncated_completions": True}, MASKED),
        (Truncation("punish", -1.0), {}, np.where(CUT, -1.0, FIXED)),
    ],
)
def test_truncated_samples(make_chat, truncated, args, expected):
    trainer = make_chat(truncated=truncated, args=args, sampler=lambda *_, **__: [])
    batch, output = scored(trainer)
    np.testing.assert_array_equal(batch.samples.rewards, expected)
    credit = methods.grpo().advantages(expected)
    np.testing.assert_array_equal(batch.advantages.values_BN, credit.values_BN)
    in_loss = output["completion_mask"].sum(dim=1).numpy().reshape(2, 4) > 0
    np.testing.assert_array_equal(in_loss, ~np.isnan(expected))


def test_what_trl_and_the_trainer_say_of_truncated_samples(tmp_path):
    masked = arguments(tmp_path, mask_truncated_completions=True)
    assert checks.truncation(None, arguments(tmp_path)) == Truncation("count")
    assert checks.truncation(Truncation("mask"), masked) == Truncation("mask")
    with pytest.raises(ValueError, match=r"mask_truncated_completions=True and truncated=.*contra"):
        checks.truncation(Truncation("count"), masked)


def test_failures_are_counted_and_leave_the_sets(make_chat):
    def own(completions, **_):
        if bad[0] in completions:
            raise KeyError("gold")
        return [1.0] * len(completions)

    bad = [None]

    def first(completions, **_):
        bad[0] = completions[1]
        return OUTCOMES

    guarded = GuardedReward(own, "own", on_error="unknown")
    trainer = make_chat(rewards=[first, guarded], combine=Combine((1.0, 0.5)))
    batch = step(trainer)
    expected = np.reshape(OUTCOMES, (2, 4)) + 0.5
    expected[0, 1] = np.nan
    np.testing.assert_array_equal(batch.samples.rewards, expected)
    [logged] = [one for one in trainer.state.log_history if "reward/own/failures" in one]
    assert logged["reward/own/failures"] == 1 / 8
    assert logged["time/reward/own"] > 0
    assert guarded.failures == {"KeyError": 1}


def test_a_guarded_function_that_stops_the_run_is_named_once():
    def own(completions, **_):
        raise KeyError("gold")

    function = functions.checked_rewards(GuardedReward(own, "own", "own.py"))
    with pytest.raises(
        RunError, match=r"^the reward function 'own' \(own.py\) raised KeyError: 'g"
    ):
        function(prompts=["?"], completions=["x"])


def test_a_truncation_is_a_value():
    with pytest.raises(ValueError, match=r"such as rewards.Truncation\('mask'\), got 'mask'"):
        checks.truncation("mask", None)
