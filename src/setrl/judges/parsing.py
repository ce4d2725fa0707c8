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

KEY = '"clusters"'  # of the answer
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
    text = THOUGHTS.sub("", text)
    if len(text) > LONGEST_REPLY:
        raise ReplyError("unparsable", "it is far too long")
    answers = list(_answers(text))
    if not answers:
        raise ReplyError("unparsable", f"there is no JSON object with the key {KEY}")
    if any(answer != answers[0] for answer in answers):
        raise ReplyError("unparsable", f"there are several objects with the key {KEY}")
    return tuple(_labels(answers[0], num_samples))


def _answers(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(object_pairs_hook=_no_key_twice)
    for opening in OPENING.finditer(text):
        try:
            value, _ = decoder.raw_decode(text, opening.start())
        except ValueError:
            continue
        except RecursionError:
            raise ReplyError("unparsable", "it is nested too deep") from None
        if "clusters" in value:
            yield value["clusters"]


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("an object holds a key twice")
    return dict(pairs)


def _labels(numbers: Any, num_samples: int) -> Iterator[int]:
    if not isinstance(numbers, list):
        raise ReplyError("unparsable", f"{KEY} is not a list")
    if len(numbers) != num_samples:
        raise ReplyError("wrong_length", f"{KEY} has {len(numbers)} entries")
    for number in numbers:
        if type(number) is not int or not NO_STRATEGY <= number <= num_samples:
            raise ReplyError("bad_id", f"{str(number)[:20]!r} is not an integer in range")
        yield DEGENERATE if number == NO_STRATEGY else number - 1
