"""What ends a check: something that cannot be read, or that does not hold."""

from __future__ import annotations


class UnreadError(Exception):
    """A text that this reader cannot read or compute, so that nothing is confirmed."""


class RefutedError(Exception):
    """A finding that does not hold."""


def need(holds: bool, why: str) -> None:
    """Refute a finding unless something holds.

    Raises:
        RefutedError: If it does not hold.
    """
    if not holds:
        raise RefutedError(why)
