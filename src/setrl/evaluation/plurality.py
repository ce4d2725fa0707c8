"""The majority answer of all samples: one answer, as leaderboards print it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def majority_answer(answers: Sequence[str | None]) -> str | None:
    """The commonest answer; of answers that tie, the one that was given first.

    Samples without an answer (None) abstain. That the first one wins a tie is common practice and
    depends on the order of the samples: `majority_at_k` draws ties uniformly, and does not.

    Args:
        answers: The samples' final answers, in their order.

    Returns:
        The answer; None when everybody abstains.

    >>> majority_answer(["5", "1", None, "1", "5"]), majority_answer([None])
    ('5', None)
    """
    votes = Counter(answer for answer in answers if answer is not None)
    return max(votes, key=votes.__getitem__, default=None)
