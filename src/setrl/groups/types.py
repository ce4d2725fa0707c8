"""One prompt's samples: what judges, credit, evaluation and pages read, and what logs hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

Strategy = str | int | None  # a name or a number; DEGENERATE (−1): in no cluster; None: unknown
Message = Mapping[str, Any]


class Sample(NamedTuple):  # made in a third of a frozen dataclass's time, a million times a log
    """One sample of a prompt; None is unknown.

    Attributes:
        text: What the model wrote; a conversation of several turns as readable text.
        correct: Whether it is correct.
        reward: Its reward; 1 or 0 for a right or a wrong sample where a log has no other.
        strategy: A name or a number, equal for samples of one strategy; `setrl.DEGENERATE` (−1) for
            a sample in no cluster.
        answer: The final answer that was read from it.
        advantage: What entered the loss, where a log holds it.
        turns: The messages of a conversation, tool calls among them; empty for a plain text.
        more: Further fields by name, such as proxy, second and family.
    """

    text: str = ""
    correct: bool | None = None
    reward: float | None = None
    strategy: Strategy = None
    answer: str | None = None
    advantage: float | None = None
    turns: tuple[Message, ...] = ()
    more: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, written: str | Sequence[Message] | None, **known: Any) -> Self:
        """Return a sample whose text is given, or the messages of a conversation."""
        if written is None or isinstance(written, str):
            return cls(written or "", **known)
        return cls(conversation_text(written), turns=tuple(written), **known)

    @property
    def last_text(self) -> str:
        """The text of the last turn, where a final answer is expected."""
        return message_text(self.turns[-1]) if self.turns else self.text


@dataclass(frozen=True)
class Group:
    """The samples of one problem.

    Attributes:
        id: What names the problem. Two problems may share a prompt, but never an id.
        prompt: What the model was given.
        samples: In the order of the log.
        gold: The right answer, where it is known.
        step: The training step that drew the samples, where there is one.
        rows: The numbers of the rows of the file that hold the samples, from 0.
        notes: What a log says about the group, in sentences.
    """

    id: str
    prompt: str
    samples: tuple[Sample, ...]
    gold: str | None = None
    step: int | None = None
    rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of_texts(cls, prompt: str, texts: Sequence[str]) -> Self:
        """Return a group of plain texts, named by its prompt.

        >>> Group.of_texts("1 + 1 = ?", ["2", "two"]).samples[1].text
        'two'
        """
        return cls(prompt, prompt, tuple(map(Sample, texts)))

    def __hash__(self) -> int:
        return hash((self.id, self.prompt, self.texts))

    def __len__(self) -> int:
        return len(self.samples)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the samples."""
        return tuple(sample.text for sample in self.samples)


def conversation_text(messages: Sequence[Message]) -> str:
    """Return a conversation as readable text; a single message without tool calls is its content.

    >>> call = {"function": {"name": "add", "arguments": {"a": 1}}}
    >>> print(conversation_text([
    ...     {"role": "assistant", "content": "I add.", "tool_calls": [call]},
    ...     {"role": "tool", "content": "2"},
    ... ]))
    assistant: I add.
    calls add({'a': 1})
    tool: 2
    """
    if len(messages) == 1 and not messages[0].get("tool_calls"):
        return message_text(messages[0])
    return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: Message) -> list[str]:
    said = message_text(message)
    role = message.get("role", "message")
    calls = [f"calls {_call(call)}" for call in message.get("tool_calls") or ()]
    return [f"{role}: {said}", *calls] if said or not calls else [f"{role} {calls[0]}", *calls[1:]]


def _call(call: Any) -> str:
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    return f"{function.get('name', call)}({function.get('arguments', '')})"


def message_text(message: Message) -> str:
    """Return what a message says, without its tool calls.

    Raises:
        TypeError: If its content is neither text nor a list of parts.
    """
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    try:
        parts = (p["text"] for p in content if p.get("type", "text") == "text")
        return "".join(parts)
    except (LookupError, TypeError, AttributeError):
        raise TypeError(f"a message's content must be text, got {str(content)[:80]!r}") from None
