"""Read samples by a grader: which are correct, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

    def __call__(self, gold: str | Gold, texts: Sequence[str]) -> list[Reading]:
        """Return one reading for each text, of a problem of which only the gold is known."""
        return self._graded(gold, texts)

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
        gold, units = typed_gold(problem), bool(problem.unit) or None
        known = gold if gold.type else str(problem.gold)
        return self._graded(known, texts, problem.prompt or None, units=units, error=problem.error)

    def _graded(
        self, gold: str | Gold, texts: Sequence[str], prompt: object = None, **how: Any
    ) -> list[Reading]:
        golds, prompts = [gold] * len(texts), [prompt] * len(texts)
        return readings(self.grader, gold, self.grader.grades(texts, golds, prompts=prompts, **how))


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
