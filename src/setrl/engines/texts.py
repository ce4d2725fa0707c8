"""What a judge reads: a prompt, and all that a sample says and does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from setrl.grading.conversation import Text, message_text

REASONING = ("reasoning_content", "thinking")  # what TRL's parsers call it


def sample_text(completion: Text) -> str:
    """Return a sample as text: one answer unchanged, a trajectory with the role of each message.

    >>> sample_text([{"role": "assistant", "content": [{"type": "text", "text": "6"}]}])
    '6'
    """
    if isinstance(completion, str):
        return completion
    return _spoken(completion[0]) if len(completion) == 1 else _transcript(completion)


def prompt_text(prompt: Text) -> str:
    """Return a prompt as text: one question unchanged, or messages with their roles."""
    if isinstance(prompt, str):
        return prompt
    questions = [message for message in prompt if message.get("role") != "system"]
    return _spoken(questions[0]) if len(questions) == 1 else _transcript(prompt)


def _transcript(messages: Sequence[dict[str, Any]]) -> str:
    return "\n\n".join(f"{_speaker(message)}: {_spoken(message)}" for message in messages)


def _speaker(message: dict[str, Any]) -> str:
    role, name = message.get("role", "assistant"), message.get("name")
    return f"{role} {name}" if name else str(role)


def _spoken(message: dict[str, Any]) -> str:
    """Join the reasoning, the text and the tool calls that a message has."""
    reasoning = next((message[key] for key in REASONING if message.get(key)), None)
    parts = [f"<think>\n{reasoning}\n</think>"] if reasoning else []
    parts += [message_text(message)] if message_text(message) else []
    parts += [_call(call) for call in message.get("tool_calls") or []]
    return "\n\n".join(parts)


def _call(call: dict[str, Any]) -> str:
    """Write a call of a tool as `name(arguments)`."""
    function = call.get("function", call)
    arguments = function.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{function.get('name')}({arguments})"
