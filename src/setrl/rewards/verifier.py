"""Read samples by a grader: which are correct, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.rewards.grading import Grade, Grader, MathGrader
from setrl.rewards.problem import Problem, Reading
from setrl.support.errors import DataError


class MathVerifier:
    """A reader of boxed answers: what each sample answers, and whether it is correct.

    Answers are normal forms that are compared as texts: 1/2 and 0.5 are two answers in a vote,
    although both are graded the same.

    Args:
        grader: The grader; by default a new one.
    """

    def __init__(self, grader: MathGrader | None = None) -> None:
        self.grader = grader or MathGrader()

    def __call__(self, gold: str, texts: Sequence[str]) -> list[Reading]:
        """Return one reading for each text, of a problem of which only the gold is known."""
        return self.read(Problem("", gold=gold), texts)

    def read(self, problem: Problem, texts: Sequence[str]) -> list[Reading]:
        """Return one reading for each text.

        Args:
            problem: The problem. If its gold has a unit, samples may give any unit; its error is
                accepted in addition to the grader's own tolerance; a sample that copies a formula
                of its prompt is wrong.
            texts: The samples.

        Raises:
            DataError: If the gold cannot be used for grading.
        """
        golds, prompts = [str(problem.gold)] * len(texts), [problem.prompt or None] * len(texts)
        units = bool(problem.unit) or None
        grades = self.grader.grades(texts, golds, prompts=prompts, units=units, error=problem.error)
        return readings(self.grader, str(problem.gold), grades)


def readings(grader: Grader, gold: object, grades: Sequence[Grade]) -> list[Reading]:
    """Return the grades of samples of one problem as readings.

    Raises:
        DataError: If the gold cannot be used for grading, with the reason.
    """
    if any(grade.correct is None for grade in grades):
        [why] = grader.gold_problems([gold])
        raise DataError(f"gold {gold!r} cannot be used for grading: {why}")
    return [
        Reading(bool(grade.correct), None, grade.answer, "" if grade.correct else str(grade.reason))
        for grade in grades
    ]
