"""The groups of a log → what every sample is credited with, by the stage that training uses."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.core.advantages import Advantages, AnyMethod
from setrl.core.inputs import check_given
from setrl.logs.log import Log
from setrl.samples.columns import FURTHER, KEYS
from setrl.samples.samples import Samples
from setrl.samples.types import Group
from setrl.support.errors import usage_errors
from setrl.train.scoring import ScoredBatch
from setrl.train.scoring.fields import STRATEGIES
from setrl.train.scoring.missing import missing_credit

FIELDS = {name: KEYS[name] for name in FURTHER if name in KEYS}
"""Further field of a method → its key in a record of a sample."""


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
    fields = [name for name in FIELDS if name in method.reads]
    width = max(method.fewest_samples, *map(len, groups))
    samples = Samples.of(groups, ["rewards", "correct", "strategies", *fields], width)
    found = method.advantages(samples, abstain=True)
    missing_B = missing_credit(samples, method.reads, found)
    return ScoredBatch(samples, samples.rewards[..., None], found, missing_B)


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
    given = {STRATEGIES, *(name for name, key in FIELDS.items() if key in log.reader.columns)}
    with usage_errors():
        check_given(method.reads, given, method.name, _by_key)


def _by_key(name: str) -> str:
    """Return the key of a log's samples that gives a field, for messages."""
    if name not in FIELDS:
        return "a log has no place for it"
    return f"the file does not hold it; give its samples the key {FIELDS[name]!r}"
