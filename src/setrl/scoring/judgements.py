"""Answers of a judge as clusters and as labels, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from setrl import DEGENERATE
from setrl.judges import Judgement
from setrl.scoring.labels import Label


@dataclass(frozen=True)
class JudgingTimes:
    """What the judge cost in one step.

    Attributes:
        waited_s: Seconds for which this process waited.
        worked_s: Seconds in which at least one question of this process was open.
        unknown: Share of the prompts that could not be judged.
        used: What the judge used of its server since the last step: names of metrics and numbers;
            empty if it asks no server.
    """

    waited_s: float
    worked_s: float
    unknown: float
    used: Mapping[str, float] = field(default_factory=dict)

    @property
    def hidden(self) -> float:
        """The share of the judge's time that passed during other work; NaN if it took none."""
        if self.worked_s <= 0:
            return float("nan")
        return max(0.0, 1 - self.waited_s / self.worked_s)  # waiting takes a little more than work


def unknown_share(judgements: Sequence[Judgement]) -> float:
    """Return the share of the prompts that could not be judged; 0 without prompts."""
    return sum(one.clusters_N is None for one in judgements) / max(len(judgements), 1)


def clusters_array(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """Return the clusters of judgements, (B, N); NaN for a prompt that could not be judged."""
    unknown = (np.nan,) * num_samples
    rows = [unknown if one.clusters_N is None else one.clusters_N for one in judgements]
    return np.array(rows, dtype=np.float64).reshape(-1, num_samples)


def labels_of(judgement: Judgement, num_samples: int) -> list[Label]:
    """Return the names that a judge gave to the samples of a prompt; numbers without names."""
    if judgement.clusters_N is None:
        return [None] * num_samples
    names = judgement.strategies or [None] * num_samples
    pairs = zip(names, judgement.clusters_N, strict=True)
    return [label if label == DEGENERATE else name or label for name, label in pairs]
