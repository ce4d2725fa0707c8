"""A grader with errors: their share, that they stay the same, and what cannot have them."""

import subprocess
import sys

import numpy as np
import pytest

from setrl.rewards.guarded import GuardedReward
from setrl.support.errors import ConfigError, RunError
from studies.faulty import Misgraded

TEXTS = [f"text {number}" for number in range(5000)]


class Graded:
    """Gives each sample what its prompt says."""

    __name__ = "graded"

    def __call__(self, *, prompts, completions, **columns):
        return [float(prompt) if prompt else None for prompt in prompts]


def graded(true, texts=TEXTS, **errors):
    reward = Misgraded(Graded(), **errors)
    return reward(prompts=[true] * len(texts), completions=list(texts))


def test_the_shares_are_those_of_different_samples():
    called_right = np.mean(graded("0", false_positives=0.1, false_negatives=0.5))
    called_wrong = 1 - np.mean(graded("1", false_positives=0.5, false_negatives=0.03))
    assert called_right == pytest.approx(0.1, abs=0.013)  # 3 standard deviations
    assert called_wrong == pytest.approx(0.03, abs=0.0073)


@pytest.mark.parametrize("true", ["0", "1"])
def test_shares_of_0_and_1(true):
    assert set(graded(true)) == {float(true)}
    assert set(graded(true, false_positives=1, false_negatives=1)) == {1 - float(true)}
    only = {"0": "false_negatives", "1": "false_positives"}[true]
    assert set(graded(true, **{only: 1.0})) == {float(true)}


def test_the_same_sample_gets_the_same_verdict():
    few = TEXTS[:50]
    first = graded("0", few * 3, false_positives=0.5)
    assert first[:50] == first[50:100] == first[100:]
    backwards = graded("0", few[::-1], false_positives=0.5)
    assert backwards[::-1] == first[:50]


def test_more_errors_hold_all_those_of_fewer():
    few, many = (np.array(graded("0", false_positives=share)) for share in (0.05, 0.2))
    assert (few <= many).all()
    assert few.sum() < many.sum()


def test_the_seed_the_prompt_and_the_text_decide():
    errors = Misgraded(Graded(), false_positives=0.5, seed=1)
    own = [errors.is_misgraded("p", text, False) for text in TEXTS[:200]]
    assert own != [errors.is_misgraded("q", text, False) for text in TEXTS[:200]]
    other = Misgraded(Graded(), false_positives=0.5, seed=2)
    assert own != [other.is_misgraded("p", text, False) for text in TEXTS[:200]]
    assert len(set(own)) == 2


def test_messages_are_graded_as_their_text():
    errors = Misgraded(Graded(), false_positives=0.5)
    for text in TEXTS[:100]:
        prompt = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "p"}]
        completion = [{"role": "assistant", "content": text}]
        found = errors.is_misgraded(prompt, completion, False)
        assert found == errors.is_misgraded("p", text, False)


def test_errors_are_the_same_in_another_process():
    code = (
        "from studies.faulty import Misgraded; errors = Misgraded(print, 0.5, 0.5, 7);"
        "print([errors.is_misgraded('p', str(n), n % 2 == 0) for n in range(60)])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    errors = Misgraded(Graded(), 0.5, 0.5, 7)
    here = [errors.is_misgraded("p", str(n), n % 2 == 0) for n in range(60)]
    assert ran.stdout.strip() == str(here)


def test_unknown_stays_unknown():
    reward = Misgraded(Graded(), 1.0, 1.0)
    assert reward(prompts=["", "nan", "1"], completions=["a"] * 3) == [None, None, 0.0]


def test_other_rewards_than_0_and_1_are_refused():
    reward = Misgraded(Graded(), 0.1)
    message = "needs a reward of 0 or 1, got 0.5 from the reward function 'graded': leave out"
    with pytest.raises(RunError, match=message):
        reward(prompts=["1", "0.5"], completions=["a", "b"])


def test_the_share_of_misgraded_samples_is_logged():
    found = {}
    reward = Misgraded(Graded(), 1.0, 0.0)
    prompts = ["1", "0", "0", ""]
    reward(prompts=prompts, completions=["a"] * 4, log_metric=found.__setitem__)
    assert found == {"reward/misgraded": 0.5}


def test_failures_of_a_function_are_still_counted():
    guarded = GuardedReward(lambda prompts, completions: [1.0] * len(prompts), name="mine")
    reward = Misgraded(guarded, 0.1)
    assert reward.failures is guarded.failures
    assert reward.__name__ == "mine"


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ({"false_positives": 10}, r"false_positives must be a number in \[0, 1\], got 10"),
        ({"false_negatives": True}, r"false_negatives must be a number in \[0, 1\], got True"),
        ({"false_positives": "0.1"}, "false_positives must be a number"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": 0.5}, "seed must be a whole number of at least 0, got 0.5"),
    ],
)
def test_errors_that_are_none_are_refused(errors, message):
    with pytest.raises(ConfigError, match=message):
        Misgraded(Graded(), **errors)
