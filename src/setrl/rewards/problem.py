"""A problem that samples answer, and what a verifier reads from a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from setrl.samples.values import Label


@dataclass(frozen=True)
class Problem:
    """One problem: what a model is asked, and what is known about the right answer.

    Attributes:
        prompt: The question as text, before any chat template.
        kind: The kind of problem; empty if unknown.
        id: The name of the problem in files, whichever other problems are chosen; a domain draws
            problems without one, and a task names them.
        gold: The correct answer as text; None if it is unknown.
        unit: The unit of the correct answer, which a sample may give or leave out.
        error: The largest absolute error of a number that is accepted.
        columns: The other fields of the problem, which reward and strategy functions receive.
        where: The place of the problem in a file, for messages.
        unfit: Why the gold cannot be used for grading; None if it can.
    """

    prompt: str
    kind: str = ""
    id: str = ""
    gold: str | None = None
    unit: str = ""
    error: float = 0.0
    columns: Mapping[str, Any] = field(default_factory=dict, hash=False)
    where: str = ""
    unfit: str | None = None


@dataclass(frozen=True)
class Reading:
    """What is read from the text of one sample: fields of a `Sample`, where None is unknown.

    Attributes:
        correct: Whether every step that is checked holds and the answer is right.
        strategy: The strategy used; `setrl.DEGENERATE` (−1) for a sample of none.
        answer: The final answer in its normal form; None, too, if there is none.
        reason: Why the sample is not correct, in words; empty when it is.
    """

    correct: bool | None
    strategy: Label = None
    answer: str | None = None
    reason: str = ""
