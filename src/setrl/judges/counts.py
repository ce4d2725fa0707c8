"""What a judge that asks a server has done so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from setrl.judges.serving.usage import Usage
from setrl.support.wording import count


@dataclass
class JudgeCounts(Usage):
    """What one judge has done so far, besides what its client has used.

    Every request ends in one way: requests = read + Σ failures; a reply that cannot be read is a
    failure, too. Every group does: groups = known + Σ unknown.

    Attributes:
        groups: Groups that were judged, or given up.
        known: … whose clusters are known.
        unknown: … whose clusters are not, by reason.
        cached: Groups that needed no request.
        read: Requests that were answered with clusters.
        repaired: Groups whose first reply could not be read, and whose second could.
        cache_errors: Times that the cache could not be read or written; judging continued.
    """

    groups: int = 0
    known: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    read: int = 0
    repaired: int = 0
    cache_errors: int = 0

    def __str__(self) -> str:
        by_reason = ", ".join(f"{n} {reason}" for reason, n in self.unknown.most_common())
        return f"{self.unknown.total()} of {count(self.groups, 'prompt')} unknown ({by_reason})"
