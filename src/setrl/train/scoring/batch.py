"""What scoring gives: samples with their credit, the judge's cost, why a prompt has no credit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from setrl import Advantages
from setrl.judges import Judgement
from setrl.samples.samples import Samples
from setrl.support.errors import RunError

Values = Sequence[Any] | np.ndarray

STRATEGIES, PAIRS = "strategies", "pairs"

CUT = "cut at the length limit"
NO_REWARD = "no reward"
NO_STRATEGY = "no strategy"
NO_VERDICT = "right or wrong is not known"
TOO_FEW = "too few samples"


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


@dataclass(frozen=True)
class ScoredBatch:
    """One generation over all processes, as it enters the loss.

    Attributes:
        samples: The samples. `rewards` is what the method credits. `correct` says which samples are
            right, and credit, metrics and records read it: nothing compares rewards with a
            threshold. `labels("strategies")` is what the strategy function or the judge said, and
            `components` what each reward function gave.
        advantages: The result of the method; `advantages.values_BN` is what entered the loss.
        missing_B: Why each prompt has no credit; None for a prompt with credit.
        seconds: The time that this process spent on each part: generation, verification, judging,
            credit.
        judging: The cost of the judge; None if no judge was asked.
    """

    samples: Samples
    advantages: Advantages
    missing_B: tuple[Missing | None, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    judging: JudgingTimes | None = None


def read_column(
    place: str, read: Callable[[Any], Any], values: Iterable[Any], verb: str = "hold"
) -> list[Any]:
    """Read each value of a column.

    Raises:
        RunError: Naming the place of the column, what it must hold, and the value.
    """
    try:
        return [read(value) for value in values]
    except ValueError as error:
        raise RunError(f"{place} must {verb} {error}") from None


@dataclass(frozen=True)
class Missing:
    """Why one prompt has no credit.

    Attributes:
        reason: What most of its samples lack, in a few words.
        detail: What the judge or its server answered instead, shortened; None if not known.
    """

    reason: str
    detail: str | None = None

    @classmethod
    def by_judge(cls, judgement: Judgement) -> Missing | None:
        """Return why a judge gave no strategies; None if it gave some, or no reason."""
        if judgement.labels_N is not None or judgement.reason is None:
            return None
        return cls(f"judge: {judgement.reason}", judgement.detail)


def missing_credit(
    samples: Samples,
    reads: Collection[str],
    advantages: Advantages,
    unjudged_B: Sequence[Missing | None] = (),
) -> tuple[Missing | None, ...]:
    """Return why each prompt has no credit; None for a prompt with credit.

    Args:
        samples: The samples.
        reads: What the method reads.
        advantages: What the method made of the samples.
        unjudged_B: Why a judge gave each prompt no strategies, if there is a judge.
    """
    skipped_B = np.asarray(advantages.skipped_B)
    columns = {
        k: v for k, v in samples.columns.items() if k not in ("correct", "mask") or k in reads
    }
    unknown = {name: _find_unknown(column) for name, column in columns.items()}
    is_left_out_BN = ~np.asarray(advantages.usable_BN)
    cut_BN = np.zeros(is_left_out_BN.shape, dtype=bool)
    if samples.cut is not None:  # the others never had a reward
        cut_BN = samples.cut & ~np.isnan(samples.components).any(axis=2)
    lacks = {CUT: cut_BN & unknown["rewards"], NO_REWARD: unknown["rewards"] & ~cut_BN}
    lacks |= {
        _name_reason(name): lacks_BN for name, lacks_BN in unknown.items() if name != "rewards"
    }
    counts = {why: (lacks_BN & is_left_out_BN).sum(axis=1) for why, lacks_BN in lacks.items()}
    return tuple(
        _find_main_reason(Counter({why: int(n_B[b]) for why, n_B in counts.items()}), unjudged)
        if is_skipped
        else None
        for b, (is_skipped, unjudged) in enumerate(zip_longest(skipped_B, unjudged_B))
    )


def _find_unknown(values: np.ndarray) -> np.ndarray:
    """Return which samples lack a value, (B, N)."""
    unknown = np.isnan(values)
    return unknown.diagonal(axis1=1, axis2=2) if values.ndim == 3 else unknown


def _name_reason(field: str) -> str:
    return {"strategies": NO_STRATEGY, "correct": NO_VERDICT}.get(field, f"no {field}")


def _find_main_reason(counts: Counter[str], unjudged: Missing | None) -> Missing:
    """Name what most samples of a prompt lack; a judge says why it gave no strategy."""
    [(why, number)] = counts.most_common(1)
    if not number:
        return Missing(TOO_FEW)
    return (unjudged if why == NO_STRATEGY else None) or Missing(why)
