"""Which samples of a group are correct, and whether their credit goes against it."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.groups.types import Sample

GRADED_NOTE = (
    "The rewards are neither 0 nor 1, so that the log does not say which samples are correct."
)


def with_outcomes(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return samples whose rewards say which are correct, unless the log says it itself.

    Rewards say it only if all known ones of the group are 0 and 1.

    >>> graded, plain = [Sample(reward=1.0), Sample(reward=0.4)], [Sample(reward=1.0), Sample()]
    >>> [one.correct for one in (*with_outcomes(graded), *with_outcomes(plain))]
    [None, None, True, None]
    """
    says = all(one.correct is None and one.reward in (0, 1, None) for one in samples)
    if not says:
        return tuple(samples)
    return tuple(
        one if one.reward is None else one._replace(correct=one.reward == 1) for one in samples
    )


def against(sample: Sample) -> float:
    """Return |A| where it goes against correctness, else 0.

    It does where A is positive for a wrong sample, or negative for a right one.
    """
    if sample.advantage is None or sample.correct is None:
        return 0.0
    return max(0.0, -sample.advantage if sample.correct else sample.advantage)
