"""A judge's reply: the form that a server is asked for, and the labels, strictly parsed.

Servers ignore `response_format` silently, stop in the middle, think aloud and wrap JSON in prose. A
reply that could mean two things is refused: a sample that makes the judge quote it must not choose
its own label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from setrl.judges.rendering import NO_STRATEGY
from setrl.models.served.client import Body, Choice, Client, RequestError
from setrl.models.served.endpoint import ChatMessage
from setrl.samples.values import DEGENERATE
from setrl.support.files.json_lines import once

STRATEGIES, FAMILIES = "clusters", "families"  # keys of the answer
KEY = f'"{STRATEGIES}"'
LONGEST_REPLY = 50_000  # characters without thoughts; what is longer is not read
THOUGHTS = re.compile(r"^.*</think>|<think>.*$", re.DOTALL)
OPENING = re.compile(r'\{\s*"')

FORMATS = ("json_schema", "json_object", "plain")  # strictest first; every server accepts the last

# Statuses by which a server may say that it does not know a format, and how surely: the next format
# is tried at 2. One 500 may be an accident, two in a row on a server's first requests are not.
NOT_SUPPORTED = {400: 2, 422: 2, 501: 2, 500: 1}


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
    (numbers,) = _find_only_answer(text, (STRATEGIES,))
    return tuple(_read_labels(STRATEGIES, numbers, num_samples))


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
    answer = _find_only_answer(text, (STRATEGIES, FAMILIES))
    labels, families = (
        list(_read_labels(key, numbers, num_samples))
        for key, numbers in zip((STRATEGIES, FAMILIES), answer, strict=True)
    )
    pairs = set(zip(labels, families, strict=True))
    if len(pairs) > len(set(labels)):
        raise ReplyError("bad_id", "samples with one number in clusters differ in families")
    if any((label == DEGENERATE) is not (family == DEGENERATE) for label, family in pairs):
        raise ReplyError("bad_id", "a sample has 0 in clusters or in families, and not in both")
    return (*labels, *families)


def _find_only_answer(text: str, keys: tuple[str, ...]) -> list[Any]:
    """Return the values of the one object that has the first key."""
    text = THOUGHTS.sub("", text)
    if len(text) > LONGEST_REPLY:
        raise ReplyError("unparsable", "it is far too long")
    answers = [[answer.get(key) for key in keys] for answer in _find_json_answers(text)]
    if not answers:
        raise ReplyError("unparsable", f"there is no JSON object with the key {KEY}")
    if any(answer != answers[0] for answer in answers):
        raise ReplyError("unparsable", f"there are several objects with the key {KEY}")
    return answers[0]


def _find_json_answers(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(object_pairs_hook=once)
    for opening in OPENING.finditer(text):
        try:
            value, _ = decoder.raw_decode(text, opening.start())
        except ValueError:
            continue
        except RecursionError:
            raise ReplyError("unparsable", "it is nested too deep") from None
        if STRATEGIES in value:
            yield value


def _read_labels(key: str, numbers: Any, num_samples: int) -> Iterator[int]:
    if not isinstance(numbers, list):
        raise ReplyError("unparsable", f'"{key}" is not a list')
    if len(numbers) != num_samples:
        raise ReplyError("wrong_length", f'"{key}" has {len(numbers)} entries')
    for number in numbers:
        if type(number) is not int or not NO_STRATEGY <= number <= num_samples:
            raise ReplyError("bad_id", f"{str(number)[:20]!r} is not an integer in range")
        yield DEGENERATE if number == NO_STRATEGY else number - 1


class ReplyFormat:
    """Finds the strictest format that an endpoint accepts, from its first replies.

    The first format that the endpoint answers is used from then on: a request that fails later
    fails for another reason. A server may ignore the format and answer in any form; replies are
    parsed strictly anyway.
    """

    def __init__(self, keys: Sequence[str] = (STRATEGIES,)) -> None:
        self.keys = keys
        self._known: int | None = None  # the place in FORMATS, once a request was answered

    async def ask(
        self, client: Client, messages: Sequence[ChatMessage], num_samples: int, key: str
    ) -> Choice:
        """Return the reply.

        Raises:
            RequestError: If no attempt was answered, or the budget is spent.
        """
        # Several questions may look for the format at the same time, each from its own place.
        place, doubt = self._known or 0, 0

        def body() -> Body:
            form = response_format(FORMATS[place], num_samples, self.keys)
            return client.endpoint.body(messages) | form

        def adapt(failure: RequestError) -> Body | None:
            nonlocal place, doubt
            doubt += NOT_SUPPORTED.get(failure.status or 0, 0)
            better = place + (doubt >= 2) if self._known is None else self._known
            if better in (place, len(FORMATS)):
                return None
            place, doubt = better, 0
            return body()

        (choice, *_) = await client.ask(body(), key, adapt)
        self._known = place if self._known is None else self._known
        return choice


def response_format(
    name: str, num_samples: int, keys: Sequence[str] = (STRATEGIES,)
) -> dict[str, Any]:
    """Return the key of the request that makes a server constrain the reply; {} for "plain"."""
    if name == "plain":
        return {}
    if name == "json_object":
        return {"response_format": {"type": "json_object"}}
    number = {"type": "integer", "minimum": NO_STRATEGY, "maximum": num_samples}
    numbers = {"type": "array", "items": number, "minItems": num_samples, "maxItems": num_samples}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(keys, numbers),
        "required": [*keys],
        "additionalProperties": False,
    }
    named = {"name": "clusters", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
