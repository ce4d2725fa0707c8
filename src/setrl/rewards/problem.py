"""A problem that samples answer, and what a verifier reads from a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
    """The result of the verifier and the strategy reader for one sample.

    Attributes:
        correct: Whether every step that is checked holds and the answer is right.
        strategy: The strategy used; None if no strategy can be read (a degenerate sample).
        answer: The final answer in its normal form; None if there is no answer.
        reason: Why the sample is not correct, in words; empty when it is.
    """

    correct: bool
    strategy: str | None
    answer: str | None = None
    reason: str = ""
