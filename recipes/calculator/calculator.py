"""The calculator: sums that several sequences of tool calls solve, and a model that calls tools.

A problem is a·b + a·c, with a of 2 or 3. A sample is a conversation with two tools, `add` and
`multiply`; the model sees what they answer, calls again or states the result. Among the ways are

    multiply, multiply, add     a·b, a·c, their sum
    add, multiply               b + c, a times it
    add, add                    b + c, it plus itself (a = 2)
    add, add, add               b + b, c + c, their sum (a = 2); b + c, plus itself, twice (a = 3)

The strategy of a sample is the sequence of its tools, of calls whose answers are used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerFast

from setrl.models.small.imitation import TextExample
from setrl.models.small.tokenizer import EOS, make_tokenizer

Messages = list[dict[str, Any]]

ASSISTANT, TOOL, CALL, END_OF_CALL = "<assistant>", "<tool>", "<tool_call>", "</tool_call>"
TOOLS = ("add", "multiply")
FACTORS, NUMBERS = (2, 3), tuple(range(2, 30))

# How conversations are tokenized: only these names of roles, and each call as JSON.
CHAT_TEMPLATE = (
    "{% for m in messages %}"
    "{% if m.role == 'assistant' %}" + ASSISTANT + "{{ m.content }}"
    "{% for call in m.tool_calls or [] %}"
    + CALL
    + "{{ call.function | tojson }}"
    + END_OF_CALL
    + "{% endfor %}"
    + EOS
    + "{% elif m.role == 'tool' %}"
    + TOOL
    + "{{ m.content }}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}" + ASSISTANT + "{% endif %}"
)
RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": ASSISTANT,
    "fields": {
        "tool_calls": {
            "open": CALL,
            "close": END_OF_CALL,
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": EOS, "content": "text"},
    },
}


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first one.
        b: The second one.
    """
    return int(a) + int(b)


def multiply(a: int, b: int) -> int:
    """Multiply two numbers.

    Args:
        a: The first one.
        b: The second one.
    """
    return int(a) * int(b)


@dataclass(frozen=True)
class Problem:
    """a·b + a·c."""

    a: int
    b: int
    c: int

    @property
    def prompt(self) -> Messages:
        """Return the question, as a conversation."""
        text = f"{self.a}*{self.b}+{self.a}*{self.c}=?"
        return [{"role": "user", "content": text}]

    @property
    def result(self) -> int:
        """Return what is asked for."""
        return self.a * (self.b + self.c)


def problems(split: str) -> list[Problem]:
    """Return all problems of a split, in one fixed order; every sixth is for the test."""
    every = [Problem(a, b, c) for a in FACTORS for b in NUMBERS for c in NUMBERS]
    random.Random(0).shuffle(every)
    return every[::6] if split == "test" else [one for i, one in enumerate(every) if i % 6]


# ------------------------------------------------------------------ what the model learns first

Calls = list[tuple[str, int, int]]


def ways(problem: Problem) -> list[Calls]:
    """Return the ways to solve a problem, each a list of calls; the last call gives the result."""
    a, b, c = problem.a, problem.b, problem.c
    both = ("add", b, c)
    found: list[Calls] = [
        [("multiply", a, b), ("multiply", a, c), ("add", a * b, a * c)],
        [both, ("multiply", a, b + c)],
    ]
    if a == 2:
        found.append([both, ("add", b + c, b + c)])
        found.append([("add", b, b), ("add", c, c), ("add", 2 * b, 2 * c)])
    else:
        found.append([both, ("add", b + c, b + c), ("add", 2 * (b + c), b + c)])
    return found


def conversation(problem: Problem, calls: Calls) -> Messages:
    """Write the whole conversation of a way."""
    messages = list(problem.prompt)
    for name, a, b in calls:
        function = {"name": name, "arguments": {"a": a, "b": b}}
        call = {"type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        answer = str({"add": add, "multiply": multiply}[name](a, b))
        messages.append({"role": "tool", "name": name, "content": answer})
    return [*messages, {"role": "assistant", "content": str(problem.result)}]


def make_calculator_tokenizer() -> PreTrainedTokenizerFast:
    """Make a tokenizer whose tokens are digits, signs and the fixed parts of a call.

    It writes a call in Qwen's format: `<tool_call>{"name": "add", "arguments": …}</tool_call>`.
    """
    starts = [f'{CALL}{{"name": "{name}", "arguments": {{"a": ' for name in TOOLS]
    between, end = ', "b": ', "}}" + END_OF_CALL
    tokenizer = make_tokenizer([ASSISTANT, TOOL, *starts, between, end, *"0123456789*+=?"])
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.response_template = RESPONSE_TEMPLATE
    return tokenizer


def examples(tokenizer: PreTrainedTokenizerFast, count: int, seed: int) -> Iterator[TextExample]:
    """Yield turns of written conversations: the prompt is what came before, the sample the turn."""
    rng = random.Random(seed)
    pool = problems("train")
    for _ in range(count):
        problem = rng.choice(pool)
        messages = conversation(problem, rng.choice(ways(problem)))
        for turn, message in enumerate(messages):
            if message["role"] == "assistant":
                yield _turn(tokenizer, messages[:turn], message)


def _turn(tokenizer: PreTrainedTokenizerFast, before: Messages, message: dict) -> TextExample:
    def ids(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    start = tokenizer.apply_chat_template(before, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template([*before, message], tokenize=False)
    return TextExample(ids(start), ids(whole.removeprefix(start)))


# ------------------------------------------------------------------ what training reads of a sample


def is_right(completion: Messages, result: int) -> bool:
    """Return whether a sample ends with the result, in a separate message."""
    last = completion[-1]
    said = last.get("content", "").strip()
    return last["role"] == "assistant" and not last.get("tool_calls") and said == str(result)


def strategy_of(completion: Messages) -> str | int:
    """Return the sequence of tools of a sample, or −1 if no answer of a tool is used.

    A call counts if a later call or the last message uses what it answered: calls that do nothing
    make no new strategy.
    """
    calls = [call["function"] for one in completion for call in one.get("tool_calls") or []]
    answers = [message["content"] for message in completion if message["role"] == "tool"]
    used = [
        calls[index]["name"]
        for index, answer in enumerate(answers)
        if answer in _read_after(index, calls, completion)
    ]
    return " → ".join(used) if used else -1


def _read_after(index: int, calls: Sequence[dict], completion: Messages) -> set[str]:
    """Return the numbers that a sample writes after a call: later arguments, the last message."""
    later = {str(value) for call in calls[index + 1 :] for value in call["arguments"].values()}
    return later | {str(completion[-1].get("content", "")).strip()}


def correct(completions: Sequence[Messages], result: Sequence[int], **_: Any) -> list[float]:
    """Return the reward: 1 for the right result."""
    pairs = zip(completions, result, strict=True)
    return [float(is_right(completion, value)) for completion, value in pairs]


def strategy(completions: Sequence[Messages], **_: Any) -> list[str | int]:
    """Return the strategy of each sample."""
    return [strategy_of(completion) for completion in completions]
