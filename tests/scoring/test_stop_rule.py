"""When a run stops because it learns nothing, by batches that are made by hand."""

import pytest

from setrl import methods
from setrl.judges import Judgement
from setrl.rewards import Truncation
from setrl.support.errors import RunError
from setrl.train import method_config
from setrl.train.gathering.judging import with_judgements
from setrl.train.scoring import CreditWatch, StopRule, samples_of, score

METHOD = methods.poly_epo(2)
PROSE = Judgement(None, reason="unparsable", detail="I would put the first two together.")
LATE = Judgement(None, reason="timeout")
KNOWN = Judgement((0, 0, 1, 1))


def batch(judgements, rewards=(1.0, 0.0, 1.0, 0.0), cut=None, method=METHOD, **rules):
    """A batch with these judgements, and the same rewards for each prompt."""
    count = len(judgements)
    samples = samples_of([list(rewards) * count], 4, cut=cut)
    samples, unjudged_B = with_judgements(samples, judgements)
    return score(samples, method, unjudged_B=unjudged_B, rng=0, **rules)


def steps_until_stop(watch, make, most=200, last=None):
    """The number of batches that were seen, and the error."""
    for step in range(1, most + 1):
        try:
            watch.see(make(step), is_last=step == last)
        except RunError as error:
            return step, str(error)
    return None, ""


def test_more_than_half_of_the_last_32_prompts():
    watch = CreditWatch()
    step, message = steps_until_stop(watch, lambda step: batch([PROSE, LATE]))
    assert step == 9  # 18 prompts: 16 are half of 32
    assert "missing for 18 of the last 18 prompts (judge: unparsable: 9, judge: timeout: 9)" in (
        message
    )
    assert "'I would put the first two together.'" in message
    assert "stop_rule" in message
    assert "last checkpoint" in message


def test_a_judge_that_dies_in_the_middle():
    watch = CreditWatch()
    step, message = steps_until_stop(
        watch, lambda step: batch([KNOWN] * 4 if step <= 10 else [LATE] * 4)
    )
    assert step == 15
    assert "missing for 20 of the last 32 prompts (judge: timeout: 20)" in message


def test_half_is_not_too_much():
    watch = CreditWatch()
    assert steps_until_stop(watch, lambda step: batch([KNOWN, LATE]), last=200)[0] is None


def test_a_short_run_is_stopped_at_its_last_step():
    assert steps_until_stop(CreditWatch(), lambda step: batch([PROSE]), last=3)[0] == 3
    assert steps_until_stop(CreditWatch(), lambda step: batch([PROSE]), most=3)[0] is None


@pytest.mark.parametrize("rule", [None, StopRule(max_unknown=None, max_without_signal=None)])
def test_a_rule_can_be_switched_off(rule):
    assert steps_until_stop(CreditWatch(rule), lambda step: batch([LATE] * 9))[0] is None


def test_other_limits():
    rule = StopRule(max_unknown=0.25, window=8)
    step, message = steps_until_stop(CreditWatch(rule), lambda step: batch([LATE, KNOWN]))
    assert step == 3
    assert "missing for 3 of the last 6 prompts" in message
    strict = StopRule(max_unknown=0.0)
    assert steps_until_stop(CreditWatch(strict), lambda step: batch([LATE, KNOWN]))[0] == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_unknown": 1.0}, r"max_unknown must be in \[0, 1\), or None for no limit, got 1.0"),
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"window": 2.5}, r"window must be a whole number, got 2\.5"),
        ({"window": True}, "window must be a whole number, got True"),
        ({"max_unknown": "0.5"}, r"max_unknown must be a number, or None for no limit, got '0\.5'"),
        ({"max_without_signal": 9.5}, "max_without_signal must be a whole number, or None for"),
        ({"max_without_signal": 0}, "max_without_signal must be at least 1, or None"),
    ],
)
def test_wrong_limits_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        StopRule(**wrong)


def reasons(found):
    return [one if one is None else one.reason for one in found.missing_B]


def test_a_prompt_says_what_its_samples_lack():
    unknown = [None] * 4
    assert reasons(batch([KNOWN, PROSE])) == [None, "judge: unparsable"]
    assert reasons(batch([KNOWN], rewards=unknown)) == ["no reward"]
    assert reasons(batch([KNOWN], rewards=(1.0, None, None, 0.0))) == ["no reward"]
    assert reasons(batch([KNOWN], rewards=(1.0, None, 1.0, 0.0))) == [None]
    labels = samples_of([[1.0, 0.0] * 2], 4, strategies=unknown)
    assert reasons(score(labels, METHOD)) == ["no strategy"]
    proxy = method_config.from_config({"method": "set_rl", "objective": "best_of", "set_size": 2})
    lacking = samples_of([[1.0, 0.0] * 2], 4, fields={"proxy": unknown})
    assert reasons(score(lacking, proxy)) == ["no proxy"]
    # A method that reads no strategies does not miss them.
    assert reasons(batch([PROSE], method=methods.dr_grpo())) == [None]


def test_a_run_in_which_all_samples_are_cut_stops_with_what_is_wrong():
    """Rewards and problems are not: masked samples have none."""

    def make(_):
        return batch([KNOWN] * 32, cut=[True] * 128, truncated=Truncation("mask"))

    step, message = steps_until_stop(CreditWatch(), make)
    assert step == 8
    assert "256 of them lack samples that were cut at the length limit and masked" in message
    assert "raise the limit of tokens" in message
    assert "look at the rewards" not in message


def test_samples_that_were_cut_are_not_missing():
    def make(step):
        return batch([KNOWN] * 4, cut=[True] * 16, truncated=Truncation("mask"))

    assert reasons(make(1)) == ["cut at the length limit"] * 4
    rule = StopRule(max_without_signal=None)
    assert steps_until_stop(CreditWatch(rule), make, last=200)[0] is None


def test_no_signal_in_256_prompts():
    watch = CreditWatch()
    step, message = steps_until_stop(watch, lambda step: batch([KNOWN] * 16, rewards=[0.0] * 4))
    assert step == 16
    assert "in the last 16 steps with problems to learn from, all advantages of all 256" in message


def test_large_steps_without_signal_are_waited_for():
    step, _ = steps_until_stop(CreditWatch(), lambda step: batch([KNOWN] * 200, [0.0] * 4))
    assert step == 8


def test_one_prompt_with_a_signal_starts_again():
    def make(step):
        return batch([KNOWN] * 16, rewards=(1.0, 0, 0, 0) if step % 15 == 0 else [0.0] * 4)

    assert steps_until_stop(CreditWatch(), make)[0] is None


def test_a_run_without_any_signal_is_stopped_at_its_last_step():
    def make(step):
        return batch([KNOWN], rewards=[0.0] * 4)

    assert steps_until_stop(CreditWatch(), make, last=8)[0] == 8
    assert steps_until_stop(CreditWatch(), make, last=7)[0] is None  # too few to judge by
    learned = CreditWatch()
    learned.see(batch([KNOWN]))
    assert steps_until_stop(learned, make, last=20, most=20)[0] is None


def test_solved_problems_are_no_missing_signal():
    alike = Judgement((0, 0, 0, 0))
    one_kind = methods.maxpo(2)
    assert not batch([alike], rewards=[1.0] * 4, method=one_kind).advantages.values_BN.any()

    def make(step):
        return batch([alike] * 64, rewards=[1.0] * 4, method=one_kind)

    assert steps_until_stop(CreditWatch(), make, last=200)[0] is None


def test_a_run_that_resumes_remembers_its_signal():
    def make(step):
        return batch([KNOWN] * 16, rewards=[0.0] * 4)

    asked = []
    assert steps_until_stop(CreditWatch(had_signal=lambda: asked.append(1) or True), make) == (
        None,
        "",
    )
    assert asked == [1]  # once, not at each step
    assert steps_until_stop(CreditWatch(had_signal=lambda: False), make)[0] == 16
