"""How a log is read: what the user names, and what counts as correct."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from setrl.logs.roles import FieldNames
from setrl.logs.verdict_words import VerdictWords

LOSS = "left out: "  # is in each note about a loss
CONTRADICT = "contradict each other"  # is in the note about two fields that say what is correct
LOUD = (LOSS, CONTRADICT)  # what --quiet does not hide
Fate = Literal["left-out", "wrong"]  # what becomes of samples without a grade
Verify = Callable[[str, Sequence[str]], list[Any]]


@dataclass(frozen=True)
class LogOptions:
    """How a log is read.

    Attributes:
        fields: The fields that the user names; the others are recognised.
        correct_above: Samples of a higher score are correct; without it scores must be 0 and 1.
        degenerate: The label that means no strategy, besides −1. A null is unknown, unless
            this is "null".
        verify: Gold and texts → readings, by which each answer, or else the text, is graded;
            `correct` is then ignored. `setrl.rewards.answers.MathVerifier` reads mathematics.
        allow_damaged: Leave out lines that cannot be read.
        ungraded: Whether samples without a score are left out of figures, or count as wrong.
        steps: First and last training step to read (trl, verl, tinker); only the last step by
            default.
        filter: The filter to read (lm-eval); the first one by default.
        words: What further words mean that say whether a sample is correct.
    """

    fields: FieldNames = field(default_factory=FieldNames)
    correct_above: float | None = None
    degenerate: str | None = None
    verify: Verify | None = None
    allow_damaged: bool = False
    ungraded: Fate = "left-out"
    steps: tuple[int, int] | None = None
    filter: str | None = None
    words: VerdictWords = field(default_factory=VerdictWords)
