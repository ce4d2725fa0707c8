"""The grades of a log against its own right answers: which of them does our grader dispute?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from setrl.evaluate.samples import VERIFY
from setrl.grading import MathGrader
from setrl.grading.grades import Reason
from setrl.groups.records import Record, problem_of, texts_of
from setrl.support.errors import RunError
from setrl.support.wording import are, count

MOST = 1_000  # different answers that are graded: an evaluation shall stay quick
PATIENCE = 5  # answers that take too long
SURE = (Reason.EQUAL, Reason.DIFFERENT)  # what cannot be read shows nothing about a log's grade


class Misgraded:
    """Compares grades with right answers while records pass by.

    Attributes:
        graded: How many different answers were compared.
        disputed: How many of them the log grades otherwise than our grader.
        first: The first of these, in words.
    """

    def __init__(self) -> None:
        self.graded = self.disputed = self._tried = 0
        self.first = ""
        self._grader = MathGrader(workers=1, time_limit_s=0.5)

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the same records, and compare the first answers."""
        try:
            for record in records:
                if record.get("gold") is not None and not self._is_done:
                    self._compare(record)
                yield record
        finally:
            self._grader.close()

    def note(self) -> str:
        """Say how many grades are disputed, with the first; empty if there are none."""
        if not self.disputed:
            return ""
        of = "of the first" if self._is_done else "of"
        return (
            f"{self.disputed:,} {of} {count(self.graded, 'different answer')} {are(self.disputed)} "
            f"graded otherwise than by our grader, the first: {self.first}; pass@k and majority@k "
            f"follow the log; {VERIFY}"
        )

    @property
    def _is_done(self) -> bool:
        return self._tried >= MOST or self._grader.counts.timeouts >= PATIENCE

    def _compare(self, record: Record) -> None:
        gold, grade_of = record["gold"], _graded_texts(record)
        self._tried += len(grade_of)
        try:
            found = self._grader.grades(list(grade_of), [gold] * len(grade_of))
        except RunError:  # a system that cannot fork, and an answer that needs algebra
            return
        for is_right, grade in zip(grade_of.values(), found, strict=True):
            self.graded += grade.reason in SURE
            if grade.reason in SURE and grade.correct != is_right:
                self.disputed += 1
                said = "right" if is_right else "wrong"
                self.first = self.first or (
                    f"{str(grade.answer)[:60]!r} of {problem_of(record)[:60]!r} is marked {said}, "
                    f"and the right answer is {str(gold)[-60:]!r}"
                )


def _graded_texts(record: Record) -> dict[str, bool]:
    """Return what a grader reads of each sample that has a grade → that grade."""
    texts, skipped = texts_of(record), set(record.get("as_wrong", ()))
    found: dict[str, bool] = {}
    for place, (answer, right) in enumerate(zip(record["answers"], record["correct"], strict=True)):
        text = texts[place] if place < len(texts) else None
        read = text if answer is None else f"\\boxed{{{answer}}}"
        if read is not None and place not in skipped and len(found) < MOST:
            found[read] = bool(right)
    return found
