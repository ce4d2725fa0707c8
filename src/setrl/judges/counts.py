"""What a judge that asks a server has done so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from setrl.models.served.usage import Usage
from setrl.support.wording import count


@dataclass
class JudgeCounts(Usage):
    """What one judge has done so far, besides what its client has used.

    A reply that cannot be read is a failure, too.

    Attributes:
        groups: Groups that were judged, or given up.
        unknown: … whose labels are not known, by reason.
        cached: Groups that needed no request.
        repaired: Groups whose first reply could not be read, and whose second could.
    """

    groups: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    repaired: int = 0

    def __str__(self) -> str:
        by_reason = ", ".join(f"{n} {reason}" for reason, n in self.unknown.most_common())
        return f"{self.unknown.total()} of {count(self.groups, 'prompt')} unknown ({by_reason})"
