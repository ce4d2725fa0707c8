"""Which samples of a group are correct, and whether their credit goes against it."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.samples.types import Sample
from setrl.samples.values import is_outcome

GRADED_NOTE = (
    "The rewards are neither 0 nor 1, so that the log does not say which samples are correct."
)


def with_outcomes(samples: Sequence[Sample], above: float | None = None) -> tuple[Sample, ...]:
    """Return samples whose rewards say which are correct, unless the log says it itself.

    Samples with a reward above a threshold are correct. Without one, rewards say it only if all
    known ones of the group are 0 and 1.

    >>> graded, plain = [Sample(reward=1.0), Sample(reward=0.4)], [Sample(reward=1.0), Sample()]
    >>> [one.correct for one in (*with_outcomes(graded), *with_outcomes(plain))]
    [None, None, True, None]
    """
    known = [one.reward for one in samples if one.reward is not None]
    is_clear = above is not None or all(map(is_outcome, known))
    if not is_clear or any(one.correct is not None for one in samples):
        return tuple(samples)
    least = 0.5 if above is None else above
    return tuple(
        one if one.reward is None else one._replace(correct=one.reward > least) for one in samples
    )


def against(sample: Sample) -> float:
    """Return |A| where it goes against correctness, else 0.

    It does where A is positive for a wrong sample, or negative for a right one.
    """
    if sample.advantage is None or sample.correct is None:
        return 0.0
    return max(0.0, -sample.advantage if sample.correct else sample.advantage)
