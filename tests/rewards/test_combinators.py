import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl import rewards


@dataclass(frozen=True)
class Given:
    """Rewards that are given, as a reward function."""

    values: tuple[float | None, ...]
    name: str = "given"

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *, prompts, completions, **columns):
        assert len(prompts) == len(completions) == len(self.values)
        return list(self.values)


def call(reward, completions=None, **columns):
    number = len(completions) if completions is not None else len(reward_values(reward))
    completions = completions or ["x"] * number
    return reward(prompts=["?"] * number, completions=completions, **columns)


def reward_values(reward):
    while not isinstance(reward, Given):
        reward = getattr(reward, "gate", None) or reward.rewards[0]
    return reward.values


values = st.floats(-10, 10)
weights = st.floats(-3, 3)


@given(st.lists(st.tuples(values, values), min_size=1, max_size=5), weights, weights)
def test_a_weighted_sum_is_one(pairs, a, b):
    first, second = (Given(tuple(column)) for column in zip(*pairs, strict=True))
    found = call(rewards.weighted_sum((a, first), (b, second)))
    assert found == pytest.approx([a * x + b * y for x, y in pairs])


def test_a_sum_with_a_part_that_is_missing_is_missing():
    assert call(rewards.weighted_sum((1, Given((1.0, None))), (0.0, Given((None, 1.0))))) == [
        None, None
    ]  # fmt: skip


def test_a_gate_lets_through_what_is_at_its_threshold():
    gated = rewards.gated(
        Given((1.0, 2.0, 3.0, 4.0, None)), gate=Given((0.0, 0.5, 1.0, None, 1.0)), threshold=0.5,
        closed=-1.0,
    )  # fmt: skip
    assert call(gated) == [-1.0, 2.0, 3.0, None, None]


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 120))
def test_the_length_penalty_is_minus_the_clipped_share(free, span, length):
    penalty = rewards.length_penalty(free, free + span)
    (found,) = call(penalty, ["text"], completion_ids=[[0] * length])
    assert -1 <= found <= 0
    if length <= free:
        assert found == 0
    elif length >= free + span:
        assert found == -1
    else:
        assert math.isclose(found, (free - length) / span)


def test_lengths_in_characters_are_those_of_the_text():
    penalty = rewards.length_penalty(2, 4, unit="characters")
    chat = [{"role": "assistant", "content": "äöü"}]
    assert call(penalty, ["ab", chat, "abcde"]) == [0, -0.5, -1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rewards.weighted_sum(), "each reward needs one weight"),
        (lambda: rewards.WeightedSum((Given(()),), (1.0, 2.0)), "got 1 rewards and 2 weights"),
        (lambda: rewards.length_penalty(4, 4), "got 4 and 4"),
        (lambda: rewards.length_penalty(-1, 4), "got -1 and 4"),
        (lambda: rewards.length_penalty(1, 4, unit="words"), "got 'words'"),
        (lambda: rewards.format_reward("("), "pattern must be a regular expression"),
        (lambda: call(rewards.length_penalty(1, 4), ["x"]), "'completion_ids', which is missing"),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_form_is_that_of_the_whole_text():
    form = rewards.format_reward(r"<think>.*</think>\s*\S.*")
    texts = [
        "<think>a\nb</think>\nc",
        " <think></think> 1\n",
        "<think>a</think>",
        "so: <think>a</think> b",
    ]
    assert call(form, texts) == [1, 1, 0, 0]


def test_they_compose_and_have_names(grader):
    form = rewards.format_reward(r".*\\boxed\{[^{}]*\}\.?")
    short = rewards.gated(rewards.length_penalty(2, 4), gate=grader)
    total = rewards.weighted_sum((1.0, grader), (0.5, form), (1.0, short))
    assert total.__name__ == (
        "1*math_answer + 0.5*format_reward + 1*length_penalty if math_answer>=1"
    )
    found = call(
        total,
        [r"\boxed{2}", r"\boxed{2} so", r"\boxed{3}", "2", r"\boxed{2}"],
        answer=["2", "2", "2", "2", None],
        completion_ids=[[0] * 3] * 5,
    )
    assert found == [1 + 0.5 - 0.5, 1 - 0.5, 0.5, 0, None]
