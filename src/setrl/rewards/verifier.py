"""Read samples by a grader: which are correct, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence

from setrl.rewards.grading import Gold, Grade, Grader, MathGrader
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

    def __call__(
        self,
        gold: str | Gold,
        texts: Sequence[str],
        *,
        unit: str = "",
        error: float = 0.0,
        prompt: object = None,
    ) -> list[Reading]:
        """Return one reading for each text.

        Args:
            gold: The correct answer, which may declare its type.
            texts: The samples.
            unit: The unit of the correct answer. If there is one, samples may give any unit.
            error: The largest absolute error of a number that is accepted, in addition to the
                grader's own tolerance.
            prompt: The problem, as text or messages; a sample that copies a formula of it is wrong.

        Raises:
            DataError: If the gold cannot be used for grading.
        """
        golds, prompts = [gold] * len(texts), [prompt] * len(texts)
        grades = self.grader.grades(
            texts, golds, prompts=prompts, units=bool(unit) or None, error=error
        )
        return readings(self.grader, gold, grades)


def typed_gold(problem: Problem) -> Gold:
    """Return the gold of a problem, with the type that its field `gold_type` declares."""
    return Gold(problem.gold, problem.columns.get("gold_type"))


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
