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
    """What judging cost a step.

    Attributes:
        waited_s: Seconds for which training stood still, on this process.
        worked_s: Seconds for which at least one question of this process was open.
        unknown: Share of the prompts that could not be judged.
        used: What the judge asked of its server since the last step, where it asks one: names of
            metrics and numbers.
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
    """The share of the prompts that could not be judged; 0 of none."""
    return sum(one.clusters_N is None for one in judgements) / max(len(judgements), 1)


def clusters_array(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """The labels of judgements, (B, N); NaN for the samples of a prompt that was not judged."""
    unknown = (np.nan,) * num_samples
    rows = [unknown if one.clusters_N is None else one.clusters_N for one in judgements]
    return np.array(rows, dtype=np.float64).reshape(-1, num_samples)


def labels_of(judgement: Judgement, num_samples: int) -> list[Label]:
    """What a judge called the strategies of a prompt's samples; numbers where it gave no names."""
    if judgement.clusters_N is None:
        return [None] * num_samples
    names = judgement.strategies or [None] * num_samples
    pairs = zip(names, judgement.clusters_N, strict=True)
    return [label if label == DEGENERATE else name or label for name, label in pairs]
