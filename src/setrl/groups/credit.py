"""Groups → what every sample is credited with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setrl.core.advantages import Advantages, AnyMethod
from setrl.groups.log import Log
from setrl.groups.strategies import numbered
from setrl.groups.types import Group, Sample
from setrl.support.errors import ConfigError

FIELDS = {"answers": "answer", "proxy": "proxy", "second": "second", "families": "family"}
"""Field of a method other than rewards and clusters → its key in a record of a sample, in order."""


def credit_groups(groups: Sequence[Group], method: AnyMethod) -> Advantages:
    """Return the advantages of groups of any sizes: (B, N), with N the size of the largest.

    Unknown rewards and strategies leave the sets. A sample without an answer votes for nobody, as
    in training.
    """
    # At least as wide as the method needs: groups that are too small are skipped, not refused.
    width = max(method.fewest_samples, *map(len, groups))
    rewards_BN, clusters_BN = (np.full((len(groups), width), np.nan) for _ in range(2))
    for row, group in enumerate(groups):
        rewards_BN[row, : len(group)] = [
            np.nan if one.reward is None else one.reward for one in group.samples
        ]
        clusters_BN[row, : len(group)] = numbered([one.strategy for one in group.samples])
    fields: dict[str, Any] = {
        name: _field(groups, name, width) for name in method.reads if name in FIELDS
    }
    if "correct" in method.reads:
        fields["correct"] = outcomes_of(groups, width)
    return method.advantages(rewards_BN, clusters=clusters_BN, abstain=True, **fields)


def outcomes_of(groups: Sequence[Group], width: int) -> np.ndarray:
    """Return which samples are correct, 1 or 0, (B, width); NaN where it is unknown."""
    found = np.full((len(groups), width), np.nan)
    for row, group in enumerate(groups):
        known = [np.nan if one.correct is None else one.correct for one in group.samples]
        found[row, : len(group)] = known
    return found


def needs_of(method: AnyMethod) -> dict[str, str]:
    """Return what a method reads of a log, and why, for `open_log`."""
    found = {"reward": ""}
    if "correct" in method.reads:
        found["correct"] = ""
    if "clusters" in method.reads:
        found["strategy"] = f"{method.name} compares strategies"
    return found


def refuse_missing(log: Log, method: AnyMethod) -> None:
    """Refuse a method that reads what a log does not hold.

    Raises:
        ConfigError: Saying what is missing, and how it is named.
    """
    known = {"rewards", "correct", "clusters"} | {
        n for n, k in FIELDS.items() if k in log.reader.columns
    }
    if unknown := sorted(set(method.reads) - known):
        keys = " and ".join(repr(FIELDS[name]) for name in unknown if name in FIELDS)
        raise ConfigError(
            f"{method.name} reads {', '.join(unknown)}, which the file does not hold"
            + (f": give its samples the key {keys}" if keys else "")
        )


def _field(groups: Sequence[Group], name: str, width: int) -> np.ndarray:
    """Return a field of all groups, (B, N); None where it is unknown and behind a group's end."""
    found = np.full((len(groups), width), None, dtype=object)
    for row, group in enumerate(groups):
        found[row, : len(group)] = [_value(sample, FIELDS[name]) for sample in group.samples]
    return found


def _value(sample: Sample, key: str) -> Any:
    return sample.answer if key == "answer" else (sample.more or {}).get(key)
