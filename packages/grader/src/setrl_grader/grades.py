"""The grade of an answer with its reason, and counts of reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from setrl_grader.findings import Finding
from setrl_grader.forks import ForkedLock
from setrl_grader.why import sentence, with_point


class Reason(StrEnum):
    """Why an answer got its grade."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NO_ANSWER = "no answer"  # of the kind that is asked for
    NO_BOX = "no box"
    CUT_OFF = "box not closed"
    SEVERAL_BOXES = "several boxes"
    TOO_LONG = "too long"
    CHAIN = "chain"  # states more than one equality: a = b = c
    UNEVALUATED = "unevaluated"  # an operation is left to do, or the form is not the one asked for
    COPIED = "copied"  # a formula of the problem, which the gold is not
    UNPARSABLE = "unparsable answer"
    TOO_LARGE = "too large"  # to compare it takes more than the budget
    FAULT = "fault of the grader"  # it raised, which it must not
    BAD_GOLD = "unparsable gold"  # unknown, not wrong


_SENTENCES = {
    Reason.EQUAL: "the answer is the gold",
    Reason.DIFFERENT: "the answer is not the gold",
    Reason.NO_ANSWER: "the sample states no answer of the kind that is asked for",
    Reason.NO_BOX: "the sample has no boxed answer",
    Reason.CUT_OFF: "the sample ends within its thinking or its last box",
    Reason.SEVERAL_BOXES: "the sample has several boxes with different answers",
    Reason.TOO_LONG: "the answer is too long to be compared",
    Reason.CHAIN: "the answer states more than one equality",
    Reason.UNEVALUATED: "the answer leaves an operation to do",
    Reason.COPIED: "the answer is a formula of the problem",
    Reason.UNPARSABLE: "something is missing in the answer, or its brackets are not in pairs",
    Reason.TOO_LARGE: "the comparison takes more steps than are allowed",
    Reason.FAULT: "the grader failed on this answer, which is its fault: please report it",
    Reason.BAD_GOLD: "the gold cannot be used for grading",
}
UNREAD = {Reason.NO_ANSWER, Reason.NO_BOX, Reason.CUT_OFF, Reason.TOO_LONG, Reason.UNPARSABLE}
FAILED = {Reason.TOO_LARGE, Reason.FAULT}
_COUNTING = ForkedLock()


@dataclass(frozen=True)
class Grade:
    """The grade of one sample.

    Attributes:
        reason: Why.
        answer: Normal form of the answer that was read; None if none was.
        finding: What the comparison found; None if there was nothing to compare.
    """

    reason: Reason
    answer: str | None = None
    finding: Finding | None = field(default=None, repr=False, compare=False)

    @property
    def correct(self) -> bool | None:
        """Whether the sample is correct; None (unknown) if its gold cannot be parsed."""
        return None if self.reason == Reason.BAD_GOLD else self.reason == Reason.EQUAL

    @property
    def verdict(self) -> Literal["right", "wrong", "unreadable"]:
        """Right, wrong, or unreadable: then nothing was compared, or not for certain."""
        if self.correct:
            return "right"
        nothing = self.reason in UNREAD | FAILED | {Reason.BAD_GOLD}
        unread = self.finding and self.finding.decisive().rule in ("unread", "undecided")
        return "unreadable" if nothing or unread else "wrong"

    @property
    def why(self) -> str:
        r"""Why the grade is what it is, as a sentence without a full stop.

        >>> from setrl_grader import grade
        >>> grade(r"\boxed{(1,3)}", "(1,2)").why
        'entry 2 differs: the number 3 is not 2'
        """
        found = self._with_witness()
        told = found is None or bool(found.equal) != bool(self.correct)
        return _SENTENCES[self.reason] if found is None or told else sentence(found)

    @property
    def certificate(self) -> dict[str, Any] | None:
        """How a right answer is the gold: the rules and the parts, which `checker.check` checks."""
        return self.finding.record() if self.finding and self.correct else None

    @property
    def witness(self) -> dict[str, Any] | None:
        """Where a wrong answer differs: a point, an entry, a missing member, what is unread."""
        found = self._with_witness()
        return found.record() if found and self.correct is False and not found.equal else None

    def _with_witness(self) -> Finding | None:
        return self.finding and with_point(self.finding)

    @property
    def reward(self) -> float | None:
        """1 for a correct sample, 0 for a wrong one, None if its gold cannot be parsed."""
        return None if self.correct is None else float(self.correct)


@dataclass
class GradeCounts:
    """How many samples a grader graded, by reason; safe across threads."""

    by_reason: Counter[Reason] = field(default_factory=Counter)

    def add(self, grades: Iterable[Grade]) -> None:
        """Count some grades."""
        with _COUNTING.held():
            self.by_reason.update(grade.reason for grade in grades)

    @property
    def too_large(self) -> int:
        """Answers whose comparison takes more than its budget, graded wrong."""
        return self.by_reason[Reason.TOO_LARGE]

    @property
    def faults(self) -> int:
        """Answers on which the grader itself raised an error, graded wrong, with a warning."""
        return self.by_reason[Reason.FAULT]

    @property
    def unparsable(self) -> int:
        """Samples from which no answer could be read, graded wrong."""
        return sum(self.by_reason[reason] for reason in UNREAD)

    @property
    def bad_golds(self) -> int:
        """Samples whose gold cannot be parsed, not graded."""
        return self.by_reason[Reason.BAD_GOLD]

    def metrics(self) -> dict[str, int]:
        """Return the counts for a log, by flat names."""
        names = ("too_large", "faults", "unparsable", "bad_golds")
        return {f"rewards/{name}": getattr(self, name) for name in names}
