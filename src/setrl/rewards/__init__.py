r"""Sample → reward: whether the answer is correct, and how several rewards become one.

Each grader here is a value that TRL accepts as a reward function:

>>> from setrl import rewards
>>> rewards.MathAnswer()(prompts=["1/2 ="], completions=[r"\boxed{0.5}"], answer=["1/2"])
[1.0]
"""

from setrl.rewards.answers import ChoiceAnswer, ExactAnswer, MathAnswer, NumberAnswer
from setrl.rewards.combine import Combine
from setrl.rewards.interface import Reward
from setrl.rewards.truncation import Truncation

__all__ = [
    "ChoiceAnswer",
    "Combine",
    "ExactAnswer",
    "MathAnswer",
    "NumberAnswer",
    "Reward",
    "Truncation",
]
