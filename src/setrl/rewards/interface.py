"""TRL's interface of reward functions, and how a text is read from a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Text = str | list[dict[str, Any]]  # plain, or the messages of a conversation


class Reward(Protocol):
    """A reward function as TRL calls it: one reward per sample, None if it is unknown.

    `columns` holds the other columns of the data set, a list each, and TRL's `completion_ids`.
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
    """A text, or the text of the last message of a conversation.

    >>> plain_text([{"role": "assistant", "content": "6"}])
    '6'
    """
    content = text if isinstance(text, str) else text[-1]["content"]
    return content or ""
