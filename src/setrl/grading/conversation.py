"""What a sample says: plain text, or the last message of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

REASONING = ("reasoning_content", "thinking", "reasoning")  # fields and kinds of blocks
Text = str | list[dict[str, Any]]  # plain, or the messages of a conversation


class Conversation(str):
    r"""A prompt of several turns: a string for people to read, which keeps its messages.

    It is matched, split and written into files as its text, and models receive its messages.
    Content that is not text, such as pictures, stays in the messages as it is.

    >>> Conversation([{"role": "user", "content": "2?"}, {"role": "assistant", "content": "4"}])
    'user: 2?\n\nassistant: 4'
    """

    messages: tuple[dict[str, Any], ...]

    def __new__(cls, messages: Iterable[Mapping[str, Any]]) -> Conversation:
        """Make it from messages with a role and content."""
        kept = tuple(dict(message) for message in messages)
        text = "\n\n".join(f"{one['role']}: {message_text(one)}" for one in kept)
        made = super().__new__(cls, text)
        made.messages = kept
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Conversation, (self.messages,)


def plain_text(text: Text) -> str:
    """Return plain text, or the text of the last message of a conversation.

    >>> plain_text([{"role": "assistant", "content": "6"}])
    '6'
    """
    if isinstance(text, str):
        return text
    return message_text(text[-1]) if text else ""


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content may be a string, a list of blocks, or missing.

    Blocks of reasoning are left out: they are not what the message says.

    >>> message_text({"content": [{"type": "image"}, {"type": "text", "text": "this?"}]})
    '[image]this?'
    >>> message_text({"role": "assistant", "tool_calls": []})
    ''

    Raises:
        TypeError: When the content is neither text nor a list of blocks.
    """
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise TypeError(f"a message's content must be text, got {str(content)[:80]!r}")
    return "".join(_block(block) for block in content)


def _block(block: Any) -> str:
    if not isinstance(block, Mapping):
        return str(block)
    if block.get("type") in REASONING:
        return ""
    return str(block["text"]) if "text" in block else f"[{block.get('type', 'block')}]"
