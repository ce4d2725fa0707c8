"""The rollouts of setrl's own training runs: one group a line, with credit and strategies.

A line is {"schema_version": 1, "step": …, "group": …, "prompt": …, "samples": [{"text": …,
"reward": …, "correct": …, "cluster": …, "strategy": …, "advantage": …, "counterfactual": {…}}, …]}.
`correct` is null if it is unknown, `cluster` is the label that the method compared, and `strategy`
is the name that the task reads from the text.
`setrl.samples.open_log` reads such a file, too; this is the same in a fifth of the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from setrl.samples.field_values import token_count
from setrl.samples.outcomes import with_outcomes
from setrl.samples.strategies import strategy_of
from setrl.samples.types import Group, Sample, Strategy
from setrl.support.errors import DataError


def group_of_rollout(record: Mapping[str, Any], step: int, where: str) -> Group:
    """Return the group of a line.

    Args:
        record: The line.
        step: The training step.
        where: The file and line, for errors.

    Raises:
        DataError: If it is not such a line.
    """
    try:
        samples = with_outcomes([_sample(one) for one in record["samples"]])
        prompt = str(record["prompt"])
        unknown = record.get("judged", {}).get("cluster", {}).get("unknown")
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{where}: is not a group of samples ({error!r})") from None
    if unknown:
        samples = tuple(sample._replace(strategy=None) for sample in samples)
    notes = (f"The strategies are unknown: {unknown}.",) if unknown else ()
    key = f"{step}/{record.get('group', prompt)}"
    return Group(key, prompt, samples, record.get("gold"), step=step, notes=notes)


def _sample(record: Mapping[str, Any]) -> Sample:
    reward = _finite(record.get("reward"))
    name = record.get("strategy")
    return Sample(
        str(record["text"]),
        record.get("correct"),
        reward,
        _strategy(record),
        advantage=_finite(record.get("advantage")),
        tokens=token_count(record.get("tokens")),
        more={"name": None if name is None else str(name),
              "cluster": record.get("cluster"),
              "counterfactual": record.get("counterfactual") or {}},
    )  # fmt: skip


def _strategy(record: Mapping[str, Any]) -> Strategy:
    cluster = record.get("cluster")
    if cluster is not None:
        return strategy_of(int(cluster))
    name = record.get("strategy")
    return None if name is None or "unknown" in record else strategy_of(name)


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def name_of(sample: Sample) -> str | None:
    """Return what people call the strategy of a sample; None in no cluster, or if it is unknown."""
    name = (sample.more or {}).get("name")
    if name is not None or sample.strategy is None or sample.strategy == -1:
        return name
    return f"cluster {sample.strategy}" if isinstance(sample.strategy, int) else sample.strategy
