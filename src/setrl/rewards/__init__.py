"""Sample → reward: whether the boxed answer is correct, and how rewards are combined.

Each function here makes a value that TRL accepts as a reward function and that can be combined:

>>> from setrl import rewards
>>> style = rewards.gated(rewards.length_penalty(1000, 2000), gate=rewards.math_answer())
>>> both = rewards.weighted_sum((1.0, rewards.math_answer()), (0.5, style))
>>> both.__name__
'1*math_answer + 0.5*length_penalty if math_answer>=1'
"""

from setrl.rewards.answers import ChoiceAnswer, ExactAnswer, MathAnswer, NumberAnswer
from setrl.rewards.combinators import FormatReward, Gated, LengthPenalty, WeightedSum
from setrl.rewards.combine import Combine
from setrl.rewards.interface import Reward
from setrl.rewards.truncation import Truncation

math_answer = MathAnswer
"""`MathAnswer`, written as a function."""

gated = Gated
"""`Gated`, written as a function."""

length_penalty = LengthPenalty
"""`LengthPenalty`, written as a function."""

format_reward = FormatReward
"""`FormatReward`, written as a function."""


def weighted_sum(*terms: tuple[float, Reward]) -> WeightedSum:
    """Σ weight · reward over the terms (weight, reward)."""
    return WeightedSum(
        rewards=tuple(reward for _, reward in terms), weights=tuple(weight for weight, _ in terms)
    )


__all__ = [
    "ChoiceAnswer",
    "Combine",
    "ExactAnswer",
    "FormatReward",
    "Gated",
    "LengthPenalty",
    "MathAnswer",
    "NumberAnswer",
    "Reward",
    "Truncation",
    "WeightedSum",
    "format_reward",
    "gated",
    "length_penalty",
    "math_answer",
    "weighted_sum",
]
