"""The final answer of a sample, as the reward of its task reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setrl.core.samples import DEGENERATE
from setrl.grading import Grader
from setrl.grading.conversation import Text, plain_text
from setrl.grading.stated import normal_text, stated_answer
from setrl.rewards.interface import Reward

Read = Callable[[str], str | None]


def reader_of(outcome: Reward) -> Read:
    """Return a reader of what samples answer, in a form in which equal answers are equal texts.

    Args:
        outcome: The reward that decides which samples are correct; it says where the answer is.
            For a function of a user it is what the sample states (`setrl.grading.stated`).
    """
    return outcome.answer if isinstance(outcome, Grader) else _stated


def _stated(text: str) -> str | None:
    found = stated_answer(text)
    return None if found is None else normal_text(found.text)


def labels_of(read: Read) -> Callable[..., list[str | int]]:
    """Return a function in TRL's interface; a sample without an answer has the label −1."""

    def final_answer(*, completions: Sequence[Text], **_: Any) -> list[str | int]:
        found = [read(plain_text(text)) for text in completions]
        return [DEGENERATE if answer is None else answer for answer in found]

    return final_answer
