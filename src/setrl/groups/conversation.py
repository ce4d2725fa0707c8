"""Prompts and samples as text: what judges read and logs show, in training and from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from setrl.grading.conversation import REASONING, Text, message_text

Message = Mapping[str, Any]


def is_messages(value: Any) -> bool:
    """Return whether a value is a conversation: a list of objects with a role."""
    return isinstance(value, list) and bool(value) and all(
        isinstance(one, dict) and "role" in one for one in value
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
    messages = _messages(sample)
    return _spoken(messages[0]) if len(messages) == 1 else _transcript(messages)


def prompt_text(prompt: Text) -> str:
    """Return a prompt as text: one question unchanged, or messages with their roles.

    Two conversations with the same last message are two prompts.

    Raises:
        TypeError: When it is neither text nor messages.
    """
    if isinstance(prompt, str):
        return prompt
    messages = _messages(prompt)
    questions = [message for message in messages if message.get("role") != "system"]
    return _spoken(questions[0]) if len(questions) == 1 else _transcript(messages)


def _messages(value: Any) -> Sequence[Message]:
    if isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value):
        return value
    raise TypeError(f"neither text nor messages: {str(value)[:80]!r}")


def _transcript(messages: Sequence[Message]) -> str:
    return "\n\n".join(f"{_speaker(message)}: {_spoken(message)}" for message in messages)


def _speaker(message: Message) -> str:
    role, name = message.get("role", "assistant"), message.get("name")
    return f"{role} {name}" if name else str(role)


def _spoken(message: Message) -> str:
    """Join the reasoning, the text and the tool calls that a message has."""
    reasoning = next((message[key] for key in REASONING if message.get(key)), None)
    parts = [f"<think>\n{reasoning}\n</think>"] if reasoning else []
    parts += [message_text(message)] if message_text(message) else []
    parts += [_call(call) for call in message.get("tool_calls") or []]
    return "\n\n".join(parts)


def _call(call: Any) -> str:
    """Write a call of a tool as `name(arguments)`."""
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    arguments = function.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{function.get('name', call)}({arguments})"
