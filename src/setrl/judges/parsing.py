"""A judge's reply → the labels of the samples that it was shown, strictly parsed.

Servers ignore `response_format` silently, stop in the middle, think aloud and wrap JSON in prose. A
reply that could mean two things is refused: a sample that makes the judge quote it must not choose
its own label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from setrl.judges.rendering import NO_STRATEGY
from setrl.samples.values import DEGENERATE

STRATEGIES, FAMILIES = "clusters", "families"  # keys of the answer
KEY = f'"{STRATEGIES}"'
LONGEST_REPLY = 50_000  # characters without thoughts; what is longer is not read
THOUGHTS = re.compile(r"^.*</think>|<think>.*$", re.DOTALL)
OPENING = re.compile(r'\{\s*"')


class ReplyError(ValueError):
    """A reply from which no labels can be read.

    Attributes:
        reason: "unparsable", "truncated", "wrong_length" or "bad_id".
        reply: The reply itself, once it is known; empty before.
    """

    reply = ""

    def __init__(self, reason: str, why: str):
        super().__init__(why)
        self.reason = reason


def read_reply(text: str, num_samples: int) -> tuple[int, ...]:
    """Return the labels of N samples in the order shown: the judge's number − 1, or `DEGENERATE`.

    Thoughts (`<think>…</think>`) are dropped; the answer is the one JSON object with the key
    "clusters" in what is left, bare, fenced or within prose. The same object twice is one answer.

    Args:
        text: The reply.
        num_samples: N.

    Raises:
        ReplyError: If there is no such object, or several that differ, or its list has not N
            entries, or an entry is not an integer in [0, N].

    >>> read_reply('<think>{"clusters":[1]}</think> Here: {"clusters":[2, 0, 2]}', 3)
    (1, -1, 1)
    """
    (numbers,) = _answer(text, (STRATEGIES,))
    return tuple(_labels(STRATEGIES, numbers, num_samples))


def read_levels(text: str, num_samples: int) -> tuple[int, ...]:
    """Return the labels of N samples, and then their families: 2·N labels.

    The answer also has the key "families": the macro-strategy of each sample. Samples of one
    strategy are of one family, and a sample has no family exactly if it has no strategy.

    Args:
        text: The reply.
        num_samples: N.

    Raises:
        ReplyError: As `read_reply`, and if the two levels contradict each other ("bad_id").

    >>> read_levels('{"clusters":[1, 2, 0, 1], "families":[1, 1, 0, 1]}', 4)
    (0, 1, -1, 0, 0, 0, -1, 0)
    """
    answer = _answer(text, (STRATEGIES, FAMILIES))
    labels, families = (
        list(_labels(key, numbers, num_samples))
        for key, numbers in zip((STRATEGIES, FAMILIES), answer, strict=True)
    )
    pairs = set(zip(labels, families, strict=True))
    if len(pairs) > len(set(labels)):
        raise ReplyError("bad_id", "samples with one number in clusters differ in families")
    if any((label == DEGENERATE) is not (family == DEGENERATE) for label, family in pairs):
        raise ReplyError("bad_id", "a sample has 0 in clusters or in families, and not in both")
    return (*labels, *families)


def _answer(text: str, keys: tuple[str, ...]) -> list[Any]:
    """Return the values of the one object that has the first key."""
    text = THOUGHTS.sub("", text)
    if len(text) > LONGEST_REPLY:
        raise ReplyError("unparsable", "it is far too long")
    answers = [[answer.get(key) for key in keys] for answer in _answers(text)]
    if not answers:
        raise ReplyError("unparsable", f"there is no JSON object with the key {KEY}")
    if any(answer != answers[0] for answer in answers):
        raise ReplyError("unparsable", f"there are several objects with the key {KEY}")
    return answers[0]


def _answers(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(object_pairs_hook=_no_key_twice)
    for opening in OPENING.finditer(text):
        try:
            value, _ = decoder.raw_decode(text, opening.start())
        except ValueError:
            continue
        except RecursionError:
            raise ReplyError("unparsable", "it is nested too deep") from None
        if STRATEGIES in value:
            yield value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("an object holds a key twice")
    return dict(pairs)


def _labels(key: str, numbers: Any, num_samples: int) -> Iterator[int]:
    if not isinstance(numbers, list):
        raise ReplyError("unparsable", f'"{key}" is not a list')
    if len(numbers) != num_samples:
        raise ReplyError("wrong_length", f'"{key}" has {len(numbers)} entries')
    for number in numbers:
        if type(number) is not int or not NO_STRATEGY <= number <= num_samples:
            raise ReplyError("bad_id", f"{str(number)[:20]!r} is not an integer in range")
        yield DEGENERATE if number == NO_STRATEGY else number - 1
