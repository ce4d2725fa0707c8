"""The rollouts of setrl's own training runs: one group a line, with credit and strategies.

A line is {"schema_version": 1, "step": …, "group": …, "prompt": …, "samples": [{"text": …,
"reward": …, "correct": …, "strategy": …, "read": …, "advantage": …, "counterfactual": {…}}, …]}.
`correct` is null if it is unknown, `strategy` is the label that the method compared, and `read` is
the strategy that the task reads from the text, where it reads one.
`setrl.logs.open_log` reads such a file, too; this is the same in a fifth of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setrl.samples.outcomes import with_outcomes
from setrl.samples.types import Group, Sample
from setrl.samples.values import read_label, read_outcome, read_score, read_tokens
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
        samples = tuple(_sample(one) for one in record["samples"])
        if not any("correct" in one for one in record["samples"]):
            samples = with_outcomes(samples)
        prompt = str(record["prompt"])
        unknown = record.get("judged", {}).get("strategy", {}).get("unknown")
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{where}: is not a group of samples ({error!r})") from None
    if unknown:
        samples = tuple(sample._replace(strategy=None) for sample in samples)
    notes = (f"The strategies are unknown: {unknown}.",) if unknown else ()
    key = f"{step}/{record.get('group', prompt)}"
    return Group(key, prompt, samples, record.get("gold"), step=step, notes=notes)


def _sample(record: Mapping[str, Any]) -> Sample:
    strategy = read_label(record.get("strategy", record.get("read")))
    name = record.get("read", strategy)
    return Sample(
        str(record["text"]),
        read_outcome(record.get("correct")),
        read_score(record.get("reward")),
        strategy,
        advantage=read_score(record.get("advantage")),
        tokens=read_tokens(record.get("tokens")),
        more={
            "name": name if isinstance(name, str) else None,
            "counterfactual": record.get("counterfactual") or {},
        },
    )


def name_of(sample: Sample) -> str | None:
    """Return what people call the strategy of a sample; None without one, or if it is unknown."""
    name = sample.value("name")
    if name is not None or sample.strategy is None or sample.strategy == -1:
        return name
    return f"strategy {sample.strategy}" if isinstance(sample.strategy, int) else sample.strategy
