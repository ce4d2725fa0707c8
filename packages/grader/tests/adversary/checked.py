"""What the checker says about the answers that the grader accepts."""

from __future__ import annotations

from dataclasses import dataclass, field

from checker import check
from setrl_grader import Grade


@dataclass
class Checked:
    """Counts of accepted answers, by what the checker says.

    Attributes:
        refuted: (gold, answer) that the grader accepts and the checker refutes.
        unknown: (gold, answer) that the checker cannot read or compute.
    """

    confirmed: int = 0
    refuted: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, gold: str, answer: str, grade: Grade) -> None:
        """Check the certificate of an accepted answer, and count it."""
        if grade.certificate is None:
            return
        verdict = check(gold, answer, grade.certificate)
        if verdict:
            self.confirmed += 1
        else:
            (self.unknown if verdict is None else self.refuted).append((gold, answer))

    def __str__(self) -> str:
        refuted, unknown = len(self.refuted), len(self.unknown)
        return (
            f"{self.confirmed + refuted + unknown} accepted: {self.confirmed} confirmed by the "
            f"checker, {refuted} refuted, {unknown} not checkable"
        )
