"""The final answer of a sample, as the reward of its task reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setrl.core.samples import DEGENERATE
from setrl.grading import Grader
from setrl.grading.conversation import Text, plain_text
from setrl.rewards.config import stated_text
from setrl.rewards.interface import Reward


def final_answers(outcome: Callable[[], Reward]) -> Callable[..., list[str | int]]:
    """Return a function in TRL's interface that reads what samples answer; −1 without an answer.

    Equal answers are equal texts.

    Args:
        outcome: Returns the reward that decides which samples are correct; it says where the answer
            is. For a function of a user it is what the sample states (`setrl.grading.stated`).
    """

    def final_answer(*, completions: Sequence[Text], **_: Any) -> list[str | int]:
        grader = outcome()
        read = grader.answer if isinstance(grader, Grader) else stated_text
        found = [read(plain_text(text)) for text in completions]
        return [DEGENERATE if answer is None else answer for answer in found]

    return final_answer
