"""How a log is read: what the user names, and what counts as correct."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from setrl.groups.roles import Fields

LOSS = "left out: "  # is in each note about a loss, which --quiet does not hide
Ungraded = Literal["left-out", "wrong"]  # what becomes of samples without a grade
Verify = Callable[[str, Sequence[str]], list[Any]]


@dataclass(frozen=True)
class LogOptions:
    """How a log is read.

    Attributes:
        fields: The fields that the user names; the others are recognised.
        correct_above: Samples of a higher score are correct; without it scores must be 0 and 1.
        degenerate: The strategy that means no cluster, besides −1. A null is unknown, unless
            this is "null".
        verify: Compare each answer, or else the text, with the gold answer, and ignore `correct`.
        allow_damaged: Leave out lines that cannot be read.
        ungraded: Whether samples without a score are left out of figures, or count as wrong.
        steps: First and last training step to read (trl, verl, tinker); only the last step by
            default.
        filter: The filter to read (lm-eval); the first one by default.
    """

    fields: Fields = field(default_factory=Fields)
    correct_above: float | None = None
    degenerate: str | None = None
    verify: bool = False
    allow_damaged: bool = False
    ungraded: Ungraded = "left-out"
    steps: tuple[int, int] | None = None
    filter: str | None = None


def math_verifier() -> Verify:
    """Return the verifier of mathematics, imported only where it is used."""
    from setrl.rewards.verifier import MathVerifier

    return MathVerifier()
