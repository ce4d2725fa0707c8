"""TRL's interface of reward functions, and what all of ours share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Text = str | list[dict[str, Any]]  # plain, or the messages of a conversation


class Reward(Protocol):
    """A reward function as TRL calls it: one reward a sample, None where there is none.

    `columns` holds whatever else the data set has, a list each, and TRL's `completion_ids`.
    """

    @property
    def __name__(self) -> str:  # under which TRL logs it
        ...

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """The reward of each sample."""
        ...


def plain_text(text: Text) -> str:
    """A text, or what the last message of a conversation says.

    >>> plain_text([{"role": "assistant", "content": "6"}])
    '6'
    """
    content = text if isinstance(text, str) else text[-1]["content"]
    return content or ""
