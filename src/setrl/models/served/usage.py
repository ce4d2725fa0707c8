"""What the requests to a server have used so far: requests, failures and tokens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from setrl.models.served.endpoint import Limits, Prices

BYTES_PER_TOKEN = 3  # a safe estimate: prose has about 4, formulas and code about 3


def approximate_tokens(text: str) -> int:
    """Estimate how many tokens a string has: its UTF-8 bytes over 3, which is rather too many.

    The estimate is good enough to fit a context window; where the number must be exact, count with
    a tokenizer.

    >>> approximate_tokens("x = 7 or x = -7")
    5
    """
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


@dataclass
class Usage:
    """What one client has used so far.

    Attributes:
        requests: HTTP requests sent.
        failures: Requests without a usable reply, by kind; "cancelled" ones were open when the
            client was closed.
        prompt_tokens: Tokens sent, as the server counts them.
        reply_tokens: Tokens of replies, thoughts included.
        estimated: Replies without token counts from the server; they are estimated from the text.
    """

    requests: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0

    def is_within(self, limits: Limits) -> bool:
        """Return whether one more request is allowed."""
        tokens = self.prompt_tokens + self.reply_tokens
        return (limits.max_requests is None or self.requests < limits.max_requests) and (
            limits.max_tokens is None or tokens < limits.max_tokens
        )

    def cost(self, prices: Prices) -> float:
        """Return what the tokens cost; tokens of failed requests are unknown and not included.

        >>> Usage(prompt_tokens=2_000_000, reply_tokens=100_000).cost(Prices(0.1, 0.4))
        0.24
        """
        return (self.prompt_tokens * prices.prompt + self.reply_tokens * prices.reply) / 1e6
