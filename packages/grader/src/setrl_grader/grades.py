"""The grade of an answer with its reason, counts of reasons, and what every grader offers."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Literal, TypeVar

from setrl_grader.budget import ForkedLock
from setrl_grader.findings import Finding, sentence, with_point
from setrl_grader.stated import GoldError


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
    Reason.UNEVALUATED: "the answer leaves an operation to do, or lacks the form that is asked for",
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
        with _COUNTING.lock:
            self.by_reason.update(grade.reason for grade in grades)

    def metrics(self) -> dict[str, int]:
        """Return the counts for a log, by flat names."""
        counted = {"too_large": {Reason.TOO_LARGE}, "faults": {Reason.FAULT}, "unparsable": UNREAD,
                   "bad_golds": {Reason.BAD_GOLD}}  # fmt: skip
        return {
            f"rewards/{name}": sum(self.by_reason[reason] for reason in reasons)
            for name, reasons in counted.items()
        }


T = TypeVar("T")

log = logging.getLogger(__name__)
SHOWN = 200  # letters of a text in a warning


class Grader(ABC):
    """A grader reads the answer that a sample states and compares it with a gold answer."""

    @abstractmethod
    def grades(
        self,
        texts: Sequence[str],
        golds: Sequence[object],
        *,
        prompts: Sequence[object] | None = None,
    ) -> list[Grade]:
        """Return the grade of each sample.

        Args:
            texts: The samples.
            golds: The gold of each sample.
            prompts: The problem of each sample, as text or messages, if copies of it are refused.
        """

    @abstractmethod
    def answer(self, text: str) -> str | None:
        """Return what a sample states; equal texts are equal answers; None if nothing is read."""

    @abstractmethod
    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Return why each gold cannot be used for grading; None if it can."""

    def grade(self, text: str, gold: object, *, prompt: object = None) -> Grade:
        """Return the grade of one sample; `prompt` is its problem, as text or messages."""
        return self.grades([text], [gold], prompts=[prompt])[0]

    def check_golds(self, golds: Sequence[object]) -> None:
        """Refuse golds that cannot be used for grading: call it when the data are loaded.

        Raises:
            GoldError: With the first of them, and how many there are.
        """
        problems = self.gold_problems(golds)
        bad = [row for row, problem in enumerate(problems) if problem]
        if bad:
            first = bad[0]
            raise GoldError(
                f"{len(bad)} of {len(golds)} golds cannot be used for grading; the first is row "
                f"{first}, {str(golds[first])[:80]!r}: {problems[first]}"
            )


def guarded(text: object, gold: object, grade: Callable[[], T]) -> T | Grade:
    """Return what `grade` returns; where it raises, a grade that says so, and a warning.

    No answer ends a training run. The reading has no known fault; this is for those to come. What
    is no text states nothing.
    """
    if not isinstance(text, str):
        return Grade(Reason.NO_ANSWER)
    try:
        return grade()
    except RecursionError:  # brackets too deep for what is left of the caller's stack
        return Grade(Reason.UNPARSABLE)
    except Exception as error:
        _warn(
            f"{type(error).__name__}: {error}"[:SHOWN],
            repr(text)[-SHOWN:],
            ascii(gold)[:SHOWN] if isinstance(gold, str) else type(gold).__name__,
        )
        return Grade(Reason.FAULT)


@lru_cache(maxsize=1024)  # each fault once
def _warn(error: str, text: str, gold: str) -> None:
    log.warning("the grader failed (%s) on the sample %s with the gold %s: it counts as "
                "unreadable, and as wrong; please report it", error, text, gold)  # fmt: skip


def check_lengths(texts: Sequence[object], golds: Sequence[object], what: str = "gold") -> None:
    """Refuse a batch that does not have one gold, or one prompt, for each sample.

    Raises:
        ValueError: With both numbers.
    """
    several = hasattr(golds, "__len__") and not isinstance(golds, str)
    if not several or len(texts) != len(golds):
        raise ValueError(
            f"there must be one {what} for each of {len(texts)} samples, "
            f"got {len(golds) if several else type(golds).__name__}"
        )
