"""What a sample says: plain text, or the last message of a conversation."""

from __future__ import annotations

from typing import Any

Text = str | list[dict[str, Any]]  # plain, or the messages of a conversation


def plain_text(text: Text) -> str:
    """Return plain text, or the text of the last message of a conversation.

    >>> plain_text([{"role": "assistant", "content": "6"}])
    '6'
    """
    if isinstance(text, str):
        return text
    return message_text(text[-1]) if text else ""


def message_text(message: dict[str, Any]) -> str:
    """Return the text of a message, whose content may be a string, a list of blocks, or missing.

    >>> message_text({"content": [{"type": "image"}, {"type": "text", "text": "this?"}]})
    '[image]this?'
    >>> message_text({"role": "assistant", "tool_calls": []})
    ''
    """
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(_block(block) for block in content)


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return str(block)
    return str(block["text"]) if "text" in block else f"[{block.get('type', 'block')}]"
