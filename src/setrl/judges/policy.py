"""What a run does about groups that the judge could not judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

SERVICE = frozenset({"timeout", "rate_limit", "server_error", "connection"})


class Policy(Protocol):
    """What to do when a judgement fails; a variant is a value."""

    def pause_s(self, reason: str) -> float | None:
        """Seconds after which to ask about the group again; None: it stays unknown."""
        ...

    def is_over(self, unknown: int, asked: int) -> bool:
        """Whether the run must stop, with `unknown` of `asked` groups unknown so far."""
        ...


@dataclass(frozen=True)
class Skip:
    """The group is unknown and the run goes on: its prompt teaches nothing in this step."""

    def pause_s(self, reason: str) -> float | None:
        """Never: None."""
        return None

    def is_over(self, unknown: int, asked: int) -> bool:
        """Never."""
        return False


@dataclass(frozen=True)
class Wait:
    """Asked again until the service answers, however long that takes.

    An answer that cannot be read, a request that the server refuses (it would refuse it again) and
    a spent budget are not waited for: such groups are unknown, as with `Skip`.

    Attributes:
        every_s: Seconds between two rounds of attempts.
    """

    every_s: float = 30.0

    def pause_s(self, reason: str) -> float | None:
        """`every_s` where the service did not answer, else None."""
        return self.every_s if reason in SERVICE else None

    def is_over(self, unknown: int, asked: int) -> bool:
        """Never."""
        return False


@dataclass(frozen=True)
class Stop:
    """The run stops with `RunError` when too many groups are unknown.

    Attributes:
        count: It stops when more than this many are unknown; None: no such limit.
        share: … or when more than this share of the groups asked about is; None: no such limit.
        at_least: Groups that must have been asked about before the share counts.
    """

    count: int | None = 20
    share: float | None = None
    at_least: int = 20

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share < 1:
            raise ValueError(f"share must be in [0, 1), got {self.share}")
        if self.count is not None and self.count < 0:
            raise ValueError(f"count must be 0 or more, got {self.count}")

    def pause_s(self, reason: str) -> float | None:
        """Never: None."""
        return None

    def is_over(self, unknown: int, asked: int) -> bool:
        """Whether either limit is passed.

        >>> Stop(count=None, share=0.1).is_over(unknown=3, asked=20)
        True
        """
        by_count = self.count is not None and unknown > self.count
        by_share = (
            self.share is not None and asked >= self.at_least and unknown > self.share * asked
        )
        return by_count or by_share


POLICIES: dict[str, type[Skip] | type[Wait] | type[Stop]] = {
    "skip": Skip,
    "wait": Wait,
    "stop": Stop,
}
