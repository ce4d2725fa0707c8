"""The final answer of a sample, as the reward of its task reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setrl.rewards.config import RewardSet
from setrl.samples.conversation import Text, plain_text
from setrl.samples.strategies import DEGENERATE


def final_answers(rewards: Callable[[], RewardSet]) -> Callable[..., list[str | int]]:
    """Return a function in TRL's interface that reads what samples answer; −1 without an answer.

    Equal answers are equal texts.

    Args:
        rewards: Returns the rewards, which say where the answer is (`RewardSet.read_answer`).
    """

    def final_answer(*, completions: Sequence[Text], **_: Any) -> list[str | int]:
        read = rewards().read_answer
        found = [read(plain_text(text)) for text in completions]
        return [DEGENERATE if answer is None else answer for answer in found]

    return final_answer
