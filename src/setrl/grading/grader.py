"""What every grader offers, whatever kind of answer it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from setrl.grading.grades import Grade
from setrl.support.errors import DataError


class Grader(ABC):
    """A grader reads the answer that a sample states and compares it with a gold answer."""

    @abstractmethod
    def grades(self, texts: Sequence[str], golds: Sequence[object]) -> list[Grade]:
        """Return the grade of each sample, with one gold for each."""

    @abstractmethod
    def answer(self, text: str) -> str | None:
        """Return what a sample states; equal texts are equal answers; None if nothing is read."""

    @abstractmethod
    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Return why each gold cannot be used for grading; None if it can."""

    def grade(self, text: str, gold: object) -> Grade:
        """Return the grade of one sample."""
        return self.grades([text], [gold])[0]

    def check_golds(self, golds: Sequence[object]) -> None:
        """Refuse golds that cannot be used for grading: call it when the data are loaded.

        Raises:
            DataError: With the first of them, and how many there are.
        """
        problems = self.gold_problems(golds)
        bad = [row for row, problem in enumerate(problems) if problem]
        if bad:
            first = bad[0]
            raise DataError(
                f"{len(bad)} of {len(golds)} golds cannot be used for grading; the first is row "
                f"{first}, {str(golds[first])[:80]!r}: {problems[first]}"
            )


def check_lengths(texts: Sequence[str], golds: Sequence[object]) -> None:
    """Refuse a batch that does not have one gold for each sample.

    Raises:
        ValueError: With both numbers.
    """
    if len(texts) != len(golds):
        raise ValueError(
            f"there must be one gold for each of {len(texts)} samples, got {len(golds)}"
        )
