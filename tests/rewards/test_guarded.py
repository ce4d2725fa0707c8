import re
import signal
import threading
import time

import numpy as np
import pytest

from setrl.rewards import calling
from setrl.rewards.calling import TimeUp, call_within, timeout_error
from setrl.rewards.guarded import GuardedReward
from setrl.support.errors import ConfigError, RunError

TEXTS = ["1", "2", "x", "4"]


def numbers(completions, **_):
    return [float(text) for text in completions]


pytestmark = pytest.mark.filterwarnings("ignore:.*such samples have no reward")


def call(function, texts=TEXTS, prompts=None, fields=None, **options):
    reward = GuardedReward(function, function.__name__, "own.py", **options)
    prompts = ["?"] * len(texts) if prompts is None else prompts
    return reward, reward(prompts=prompts, completions=texts, **(fields or {}))


def test_values_as_numbers():
    def mixed(completions, **_):
        return (value for value in (True, 2, np.float32(0.5), None, float("nan")))

    _, found = call(mixed, ["a"] * 5)
    assert found == [1.0, 2.0, 0.5, None, None]
    assert [type(value) for value in found[:3]] == [float] * 3


@pytest.mark.parametrize(
    "values",
    [
        ["1", "right", "0", None],
        np.array([[1.0], [1.0], [0.0], [np.nan]]),
        np.array([1, 1, 0, np.nan]),
    ],
    ids=["text", "(n, 1)", "(n,)"],
)
def test_values_are_read_as_the_guide_says(values):
    assert call(lambda completions: values)[1] == [1.0, 1.0, 0.0, None]


def test_a_generator_that_fails_is_a_failed_call():
    _, found = call(lambda completions: (float(text) for text in completions), on_error="unknown")
    assert found == [1.0, 2.0, None, 4.0]


def test_an_array_of_values():
    assert call(lambda completions: np.arange(4))[1] == [0, 1, 2, 3]


def test_a_function_gets_what_it_takes():
    def few(completions, gold, bonus=1):
        return [bonus + (text == one) for text, one in zip(completions, gold, strict=True)]

    assert call(few, fields={"gold": list("12y4"), "other": [0] * 4})[1] == [2, 2, 1, 2]


def test_a_column_that_is_missing_is_named():
    def needs(completions, gold, **_):
        return [1.0]

    with pytest.raises(
        RunError, match=r"'needs' \(own.py\) takes 'gold', which is not a column: it ge"
    ):
        call(needs, fields={"answer": [1] * 4})


def test_the_error_names_function_sample_and_exception():
    with pytest.raises(RunError) as error:
        call(numbers, prompts=["p", "q", "r", "s"])
    assert str(error.value) == (
        "the reward function 'numbers' (own.py) raised ValueError: could not convert string to "
        "float: 'x', on the sample 'x' of the prompt 'r'"
    )
    assert isinstance(error.value.__cause__, ValueError)


def test_samples_on_which_it_fails_are_unknown_and_the_others_are_scored_together():
    def share(completions, **_):
        values = numbers(completions)
        return [value / sum(values) for value in values]

    with pytest.warns(UserWarning, match="'share' .* on the sample 'x' .*: such samples have no r"):
        reward, found = call(share, on_error="unknown")
    assert found == [1 / 7, 2 / 7, None, 4 / 7]
    assert reward.failures == {"ValueError": 1}


def test_what_fails_on_all_samples_together_alone():
    def together(completions, **_):
        if len(completions) > 1:
            raise KeyError("group")
        return [1.0]

    reward, found = call(together, on_error="unknown")
    assert found == [None] * 4
    assert reward.failures == {"KeyError": 4}
    with pytest.raises(
        RunError, match="called with 4 samples; it does not fail on any single one of them"
    ):
        call(together)


def test_what_fails_again_on_the_others():
    def odd(completions, **_):
        if len(completions) == 3:
            raise OSError("three")
        return numbers(completions)

    reward, found = call(odd, on_error="unknown")
    assert found == [None] * 4
    assert reward.failures == {"ValueError": 1, "OSError": 3}


BAD_VALUES = {
    "a text": ("one", "must return a finite number, .* got 'one'"),
    "infinite": (float("inf"), "must return a finite number, .* got inf"),
    "a list": ([1], r"must return a finite number, .* got \[1\]"),
    "complex": (1j, "must return a finite number, .* got 1j"),
}


@pytest.mark.parametrize(("value", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_values_that_are_no_numbers(value, message):
    def own(completions, **_):
        return [value if text == "x" else 1.0 for text in completions]

    with pytest.raises(RunError, match=f"{message}, on the sample 'x'"):
        call(own)
    assert call(own, on_error="unknown")[1] == [1, 1, None, 1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0], "returned 1 value for 4 samples"),
        (0.5, "returned 0.5, not one number for each sample"),
        ("1234", "returned '1234', not one number for each sample"),
        (None, "returned None, not one number for each sample"),
    ],
)
def test_not_one_value_a_sample(value, message):
    with pytest.raises(RunError, match=message):
        call(lambda completions: value)


def test_a_function_that_leaves_the_program():
    def leaves(completions, **_):
        raise SystemExit(3)

    with pytest.raises(RunError, match="raised SystemExit: 3"):
        call(leaves)


def hangs(completions, **_):
    """Sleeps at one sample, and swallows what interrupts it once."""
    for text in completions:
        if text == "x":
            try:
                time.sleep(60)
            except BaseException:
                time.sleep(60)
    return [1.0] * len(completions)


def test_a_function_that_hangs():
    reward, found = call(hangs, ["1", "x", "3"], on_error="unknown", timeout=0.05)
    assert found == [1, None, 1]
    assert reward.failures == {"timeout": 1}
    with pytest.raises(RunError, match=r"took longer than its 0\.05 s, on the sample 'x'"):
        call(hangs, ["x"], timeout=0.05)


def test_the_search_for_slow_samples_ends():
    tried = []

    def slow(completions, **_):
        tried.append(len(completions))
        time.sleep(60)

    reward, found = call(slow, ["x"] * 50, on_error="unknown", timeout=0.01)
    assert found == [None] * 50
    assert tried == [50, 1, 1, 1]
    assert reward.failures == {"timeout": 50}


def test_the_limit_holds_in_other_threads():
    ends = []

    def run():
        try:
            call_within(0.02, lambda: time.sleep(5))
        except TimeUp:
            ends.append("late")
        ends.append(call_within(5, lambda: 7))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(2)
    assert ends == ["late", 7]


def test_the_limit_holds_in_c_code_that_looks_for_signals():
    """It holds the interpreter, so no thread of Python can interrupt it; it would take years."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 1000)  # the timer of somebody else goes on
    with pytest.raises(TimeUp):
        call_within(0.05, lambda: re.match("(a+)+$", "a" * 50 + "b"))
    assert signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0] > 500


def test_an_asynchronous_function():
    import asyncio

    async def later(completions, **_):
        await asyncio.sleep(60 if "x" in completions else 0)
        return [1.0] * len(completions)

    assert call(later, ["1", "2"])[1] == [1, 1]
    _, found = call(later, ["1", "x"], on_error="unknown", timeout=0.05)
    assert found == [1, None]


def test_what_a_failed_call_logs_is_dropped():
    logged = []

    def logs(completions, log_metric, **_):
        log_metric("length", len(completions))
        return numbers(completions)

    def keep(*what):
        logged.append(what)

    call(logs, on_error="unknown", fields={"log_metric": keep})
    assert logged == []
    call(logs, ["1", "2"], fields={"log_metric": keep})
    assert logged == [("length", 2)]


def test_long_samples_are_shortened_in_messages():
    with pytest.raises(RunError) as error:
        call(numbers, [[{"role": "assistant", "content": "y" * 10_000}]])
    assert "yyy … yyy" in str(error.value)
    assert len(str(error.value)) < 400


def no_completions(prompts):
    return []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "on_error must be one of stop, unknown, got 'ignore'"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0, got 0"),
        ({"timeout": float("nan")}, "timeout must be"),
        ({"function": no_completions}, "must take 'completions'.*it takes prompts"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        GuardedReward(**{"function": numbers, "name": "own", **options})


def test_a_function_may_change_what_it_gets_and_the_next_call_does_not_see_it():
    """The second call, with each sample by itself, gets the samples as they were."""

    def shortens(completions, notes, **_):
        if len(completions) > 1:
            completions.reverse()
            notes[0].append("seen")
            raise ValueError("together")
        return [float(text) for text in completions]

    notes = [[] for _ in TEXTS]
    with pytest.raises(RunError, match=r"raised ValueError: could not convert .* the sample 'x'"):
        call(shortens, fields={"notes": notes})
    assert notes == [[]] * 4


def test_a_limit_of_whole_seconds_has_no_digits_after_the_point():
    assert [str(timeout_error(timeout)) for timeout in (5.0, 0.25)] == [
        "took longer than its 5 s",
        "took longer than its 0.25 s",
    ]


def test_an_asynchronous_object_with_bound_arguments_is_awaited():
    from functools import partial

    class Scorer:
        async def __call__(self, completions, bonus, **_):
            return [bonus] * len(completions)

    reward = GuardedReward(partial(Scorer(), bonus=2.0), "scorer")
    assert reward(prompts=["p"] * 2, completions=["a", "b"]) == [2.0, 2.0]


def test_the_time_of_a_call_begins_with_the_call(monkeypatch):
    """On a busy machine, to start the watch may take longer than the call may."""
    timer, before = calling._set_kernel_timer, signal.getsignal(signal.SIGVTALRM)

    def late(seconds, *again):
        if seconds:
            time.sleep(1.0)
        return timer(seconds, *again)

    monkeypatch.setattr(calling, "_set_kernel_timer", late)
    assert call_within(0.5, lambda: 7) == 7
    with pytest.raises(TimeUp):
        call_within(0.05, lambda: time.sleep(60))
    assert signal.getsignal(signal.SIGVTALRM) is before
