"""The groups of a log → what every sample is credited with, by the stage that training uses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from setrl.core.advantages import Advantages, AnyMethod
from setrl.samples.log import Log
from setrl.samples.types import Group, Sample
from setrl.support.errors import ConfigError
from setrl.train.gathering.gather import columns_of
from setrl.train.scoring import ScoredBatch, score

FIELDS = {"answers": "answer", "proxy": "proxy", "second": "second", "families": "family"}
"""Field of a method, besides rewards and strategies → its key in a record of a sample."""


def credit_groups(groups: Sequence[Group], method: AnyMethod) -> Advantages:
    """Return the advantages of groups of any sizes: (B, N), with N the size of the largest.

    Unknown rewards and strategies leave the sets. A sample without an answer votes for nobody, as
    in training.
    """
    return scored_groups(groups, method).advantages


def scored_groups(groups: Sequence[Group], method: AnyMethod) -> ScoredBatch:
    """Return the samples of groups of any sizes with their credit.

    N is the size of the largest group, and at least what the method needs: groups that are too
    small are skipped, not refused.
    """
    ends = [*accumulate(map(len, groups))]
    samples = [one for group in groups for one in group.samples]
    reads = [name for name in FIELDS if name in method.reads]
    columns = columns_of(
        [group.prompt for group in groups],
        [range(end - len(group), end) for end, group in zip(ends, groups, strict=True)],
        max(method.fewest_samples, *map(len, groups)),
        [one.reward for one in samples],
        strategies=[one.strategy for one in samples],
        correct=[one.correct for one in samples],
        fields={name: [_value(one, FIELDS[name]) for one in samples] for name in reads},
    )
    return score(columns, method)


def needs_of(method: AnyMethod) -> dict[str, str]:
    """Return what a method reads of a log, and why, for `open_log`."""
    found = {"reward": ""}
    if "correct" in method.reads:
        found["correct"] = ""
    if "strategies" in method.reads:
        found["strategy"] = f"{method.name} compares strategies"
    return found


def refuse_missing(log: Log, method: AnyMethod) -> None:
    """Refuse a method that reads what a log does not hold.

    Raises:
        ConfigError: Saying what is missing, and how it is named.
    """
    known = {"rewards", "correct", "strategies"} | {
        n for n, k in FIELDS.items() if k in log.reader.columns
    }
    if unknown := sorted(set(method.reads) - known):
        keys = " and ".join(repr(FIELDS[name]) for name in unknown if name in FIELDS)
        raise ConfigError(
            f"{method.name} reads {', '.join(unknown)}, which the file does not hold"
            + (f": give its samples the key {keys}" if keys else "")
        )


def _value(sample: Sample, key: str) -> Any:
    return sample.answer if key == "answer" else (sample.more or {}).get(key)
