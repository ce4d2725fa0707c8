"""Whether a judge counts clusters from 0, though it was asked to count them from 1."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.samples.values import DEGENERATE

FEWEST_REPLIES = 5  # of a judge that finds 30% of the samples in no cluster, 1 in 400 starts so


class Numbering:
    """Looks at the first replies of a judge.

    In one reply 0 may mean either. Samples are shown in a random order, so the first one is in no
    cluster as often as any other; but who counts clusters from 0 gives it 0 in every reply.
    """

    def __init__(self) -> None:
        self._replies = 0
        self._always = True

    def seems_to_start_at_zero(self, clusters: Sequence[int]) -> bool:
        """Look at a reply's labels in the order shown; true once at most, after enough replies."""
        if len(clusters) < 2 or self._replies == FEWEST_REPLIES:
            return False
        self._replies += 1
        self._always = self._always and clusters[0] == DEGENERATE
        return self._always and self._replies == FEWEST_REPLIES
