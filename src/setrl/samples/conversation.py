"""Prompts and samples as text: what graders, judges and readers of logs see of conversations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

REASONING = ("reasoning_content", "thinking", "reasoning")  # fields and kinds of blocks
Message = Mapping[str, Any]
Text = str | list[dict[str, Any]]  # plain, or the messages of a conversation


def plain_text(text: Text) -> str:
    """Return plain text, or the text of the last message of a conversation.

    >>> plain_text([{"role": "assistant", "content": "6"}])
    '6'
    """
    if isinstance(text, str):
        return text
    return message_text(text[-1]) if text else ""


def message_text(message: Message) -> str:
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
    return "".join(_block_text(block) for block in content)


def is_messages(value: Any) -> bool:
    """Return whether a value is a conversation: a list of objects with a role."""
    return isinstance(value, list) and bool(value) and all(
        isinstance(message, dict) and "role" in message for message in value
    )  # fmt: skip


def sample_text(sample: Text) -> str:
    """Return a sample as text: one answer unchanged, a trajectory with the role of each message.

    >>> sample_text([{"role": "assistant", "content": [{"type": "text", "text": "6"}]}])
    '6'
    >>> call = {"function": {"name": "add", "arguments": {"a": 1}}}
    >>> print(sample_text([
    ...     {"role": "assistant", "content": "I add.", "tool_calls": [call]},
    ...     {"role": "tool", "content": "2"},
    ... ]))
    assistant: I add.
    <BLANKLINE>
    add({"a": 1})
    <BLANKLINE>
    tool: 2

    Raises:
        TypeError: When it is neither text nor messages.
    """
    if isinstance(sample, str):
        return sample
    messages = _checked_messages(sample)
    return _message_with_calls(messages[0]) if len(messages) == 1 else _transcript_text(messages)


def prompt_text(prompt: Text) -> str:
    """Return a prompt as text: one question unchanged, or messages with their roles.

    Two conversations with the same last message are two prompts.

    Raises:
        TypeError: When it is neither text nor messages.
    """
    if isinstance(prompt, str):
        return prompt
    messages = _checked_messages(prompt)
    questions = [message for message in messages if message.get("role") != "system"]
    return _message_with_calls(questions[0]) if len(questions) == 1 else _transcript_text(messages)


class Conversation(str):
    r"""A prompt of several turns: a string for people to read, which keeps its messages.

    It is matched, split and written into files as its text, and models receive its messages.
    Content that is not text, such as pictures, stays in the messages unchanged.

    >>> Conversation([{"role": "user", "content": "2?"}, {"role": "assistant", "content": "4"}])
    'user: 2?\n\nassistant: 4'
    """

    messages: tuple[dict[str, Any], ...]

    def __new__(cls, messages: Iterable[Mapping[str, Any]]) -> Conversation:
        """Make it from messages with a role and content."""
        kept = tuple(dict(message) for message in messages)
        made = super().__new__(cls, prompt_text(list(kept)))
        made.messages = kept
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Conversation, (self.messages,)


def _checked_messages(value: Any) -> Sequence[Message]:
    if isinstance(value, list | tuple) and all(isinstance(message, Mapping) for message in value):
        return value
    raise TypeError(f"neither text nor messages: {str(value)[:80]!r}")


def _transcript_text(messages: Sequence[Message]) -> str:
    return "\n\n".join(
        f"{_speaker_name(message)}: {_message_with_calls(message)}" for message in messages
    )


def _speaker_name(message: Message) -> str:
    role, name = message.get("role", "assistant"), message.get("name")
    return f"{role} {name}" if name else str(role)


def _message_with_calls(message: Message) -> str:
    """Join the reasoning, the text and the tool calls that a message has."""
    reasoning = next((message[key] for key in REASONING if message.get(key)), None)
    thought = f"<think>\n{reasoning}\n</think>" if reasoning else ""
    calls = [_call_text(call) for call in message.get("tool_calls") or []]
    return "\n\n".join(part for part in (thought, message_text(message), *calls) if part)


def _call_text(call: Any) -> str:
    """Write a call of a tool as `name(arguments)`."""
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    arguments = function.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{function.get('name', call)}({arguments})"


def _block_text(block: Any) -> str:
    if not isinstance(block, Mapping):
        return str(block)
    if block.get("type") in REASONING:
        return ""
    return str(block["text"]) if "text" in block else f"[{block.get('type', 'block')}]"
