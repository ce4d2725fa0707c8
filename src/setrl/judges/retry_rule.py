"""What a run does about groups that the judge could not judge."""

from __future__ import annotations

from dataclasses import dataclass

from setrl.models.served.client import SERVICE


@dataclass(frozen=True)
class RetryRule:
    """What to do when a judgement fails, after all attempts of `Limits`.

    By default the group is unknown and the run continues: its prompt teaches nothing in this step.

    Attributes:
        wait_s: Ask again every so many seconds until the service answers, however long that takes;
            None: do not. The judge does not wait after a reply that cannot be read, after a request
            that the server refuses (it would refuse it again) or when the budget is spent.
        max_share: The run stops with `RunError` when more than this share of the groups asked about
            is unknown; None: no such limit.
        at_least: Groups that must have been asked about before the share counts.

    >>> RetryRule(max_share=0.1).is_over(unknown=3, asked=20)
    True
    """

    wait_s: float | None = None
    max_share: float | None = None
    at_least: int = 20

    def __post_init__(self) -> None:
        if self.max_share is not None and not 0 <= self.max_share < 1:
            raise ValueError(f"max_share must be in [0, 1), got {self.max_share}")

    def pause_s(self, reason: str) -> float | None:
        """Return the seconds until a group is asked about again; None if it stays unknown."""
        return self.wait_s if reason in SERVICE else None

    def is_over(self, unknown: int, asked: int) -> bool:
        """Return whether the run must stop, with `unknown` of `asked` groups unknown so far."""
        if self.max_share is None or asked < self.at_least:
            return False
        return unknown > self.max_share * asked
