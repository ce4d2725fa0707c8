"""What judging may cost, and what it has cost: limits, prices and counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """How hard, how long and how often a service is asked.

    Attributes:
        concurrency: Groups that are asked about at the same time; one that waits for its next
            attempt counts, so that a server in trouble is asked less.
        timeout_s: Seconds that one request may take, to the last byte of its reply.
        attempts: Requests for one answer before it is given up.
        backoff_s: Seconds before the second attempt; doubled for each further one, and multiplied
            by a jitter in [0.5, 1].
        longest_pause_s: No pause is longer; a server whose Retry-After asks for more is not asked
            again about that group.
        max_requests: Requests in all, retries and repairs among them; None: no limit.
        max_tokens: Tokens in all, of requests and replies. Requests under way when it is reached
            come to their end, so up to `concurrency` of them go beyond it. None: no limit.
    """

    concurrency: int = 32
    timeout_s: float = 120.0
    attempts: int = 5
    backoff_s: float = 1.0
    longest_pause_s: float = 60.0
    max_requests: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.timeout_s <= 0:
            raise ValueError(f"timeout_s must be above 0, got {self.timeout_s}")


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in your currency."""

    prompt: float = 0.0
    reply: float = 0.0


@dataclass
class Counts:
    """What one judge has done so far.

    Every request ends in one way: requests = read + Σ failures. Every group does, too:
    groups = known + Σ unknown.

    Attributes:
        groups: Groups that were judged, or given up.
        known: … whose clusters are known.
        unknown: … whose clusters are not, by reason.
        cached: Groups that needed no request.
        requests: HTTP requests sent.
        read: … that were answered with clusters.
        failures: … that were not, by kind; "cancelled" ones were under way when the judge closed.
        repaired: Groups whose first reply could not be read, and whose second could.
        prompt_tokens: Tokens sent, as the server counts them.
        reply_tokens: Tokens of replies, thoughts included.
        estimated: Replies whose server told no tokens; theirs are estimated from the characters.
        cache_errors: Times that the cache could not be read or written; judging went on.
    """

    groups: int = 0
    known: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    requests: int = 0
    read: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0
    cache_errors: int = 0

    def allow(self, limits: Limits) -> bool:
        """Whether the budget has room for one more request."""
        tokens = self.prompt_tokens + self.reply_tokens
        return (limits.max_requests is None or self.requests < limits.max_requests) and (
            limits.max_tokens is None or tokens < limits.max_tokens
        )

    def cost(self, prices: Prices) -> float:
        """What the tokens cost; those of requests that failed on the way are not known.

        >>> Counts(prompt_tokens=2_000_000, reply_tokens=100_000).cost(Prices(0.1, 0.4))
        0.24
        """
        return (self.prompt_tokens * prices.prompt + self.reply_tokens * prices.reply) / 1e6

    def metrics(self) -> dict[str, int]:
        """The counts under flat names, as logs have them: `judge/failures/timeout`.

        >>> Counts(requests=2, failures=Counter(timeout=1)).metrics()["judge/failures/timeout"]
        1
        """
        flat: dict[str, int] = {}
        for name, value in vars(self).items():
            if isinstance(value, Counter):
                flat |= {f"judge/{name}/{kind}": number for kind, number in sorted(value.items())}
            else:
                flat[f"judge/{name}"] = value
        return flat
