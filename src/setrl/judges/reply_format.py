"""How a request asks a server for the form that a judge's reply must have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setrl.judges.parsing import STRATEGIES
from setrl.judges.rendering import NO_STRATEGY
from setrl.models.served.client import Body, Choice, Client, RequestError
from setrl.models.served.endpoint import ChatMessage

FORMATS = ("json_schema", "json_object", "plain")  # strictest first; every server accepts the last

# Statuses by which a server may say that it does not know a format, and how surely: the next format
# is tried at 2. One 500 may be an accident, two in a row on a server's first requests are not.
NOT_SUPPORTED = {400: 2, 422: 2, 501: 2, 500: 1}


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
