"""What scoring takes and what it gives: columns of samples, and samples with their credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from setrl import Advantages
from setrl.judges import Judgement
from setrl.samples.samples import Samples
from setrl.train.scoring.fields import Values

if TYPE_CHECKING:
    from setrl.train.scoring.missing import Missing


@dataclass(frozen=True)
class Columns:
    """What is known about B × N samples before they are credited.

    A column holds one value for each sample; the N samples of a prompt stand together, in the order
    of the prompts.

    Attributes:
        prompts_B: The prompts.
        texts_BN: The samples.
        rewards_R: The column of each reward function; None or NaN is an unknown reward.
        cut: Which samples were cut at the length limit; None if no rule asks for it.
        strategies: A column of labels (names, or integers of at least −1; None is unknown, and so
            is a `Missing`, which says why), or one `Judgement` for each prompt; None if nobody was
            asked.
        fields: Field of the method → its column; None is unknown. `pairs` has one matrix for each
            prompt, (N, N), or None.
        correct: What says which samples are right: a column of True, False and None (unknown), or
            the place of a reward that is 1 or 0. By default the outcome of `combine`, or the only
            reward.
        names_R: What messages call the rewards; empty if they have no names.
        tokens: How many tokens each sample has, which only records show; None if nobody counted.
    """

    prompts_B: list[str]
    texts_BN: list[list[str]]
    rewards_R: Sequence[Values]
    cut: Sequence[bool] | None = None
    strategies: Values | Sequence[Judgement] | None = None
    fields: Mapping[str, Values] = field(default_factory=dict)
    correct: Values | int | None = None
    names_R: Sequence[str] = ()
    tokens: Sequence[int] | None = None


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
    """The samples of one generation over all processes, as they enter the loss.

    Attributes:
        samples: The samples. `rewards` is what the method credits. `correct` says which samples are
            right, and credit, metrics and records read it: nothing compares rewards with a
            threshold. `labels("strategies")` is what the strategy function or the judge said.
        rewards_BNR: What each of the R reward functions gave; NaN unknown.
        advantages: The result of the method; `advantages.values_BN` is what entered the loss.
        missing_B: Why each prompt has no credit; None for a prompt with credit.
        seconds: The time that this process spent on each part: generation, verification, judging,
            credit.
        judging: The cost of the judge; None if no judge was asked.
    """

    samples: Samples
    rewards_BNR: np.ndarray
    advantages: Advantages
    missing_B: tuple[Missing | None, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    judging: JudgingTimes | None = None
