"""Gold answers of mathematics, held against samples by `setrl.rewards.math_answer`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from setrl.domains import Reading
from setrl.errors import DataError
from setrl.evaluation.tasks import Task, TaskProblem, gold_task
from setrl.rewards import math_answer

SHOWN = 5  # problems named in a message


class MathVerifier:
    """Reads the boxed answer of each sample: right or not, and which answer it is.

    Answers are normal forms, equal as texts: 1/2 and 0.5 are two answers in a vote, although both
    are right where one is.
    """

    def __init__(self) -> None:
        self.grader = math_answer()

    def __call__(self, gold: str, texts: Sequence[str]) -> list[Reading]:
        """One reading a text.

        Raises:
            DataError: When the gold cannot be graded against.
        """
        grades = self.grader.grades(texts, [gold] * len(texts))
        for grade in grades:
            if grade.correct is None:
                raise DataError(f"gold {gold!r} cannot be graded against")
        return [
            Reading(
                correct=bool(grade.correct),
                strategy=None,
                answer=grade.answer,
                reason="" if grade.correct else str(grade.reason),
            )
            for grade in grades
        ]


def math_task(name: str, problems: Sequence[TaskProblem]) -> Task:
    """A task of problems with gold answers; those that cannot be graded are left out, and named.

    A gold is fit when it accepts itself; any figure over a problem where no sample can be right
    would say something of the gold and nothing of the model.

    Raises:
        DataError: When no gold is fit.
    """
    verifier = MathVerifier()
    why = verifier.grader.gold_problems([problem.gold for problem in problems])
    unfit = [f"{p.id} ({reason})" for p, reason in zip(problems, why, strict=True) if reason]
    fit = [problem for problem, reason in zip(problems, why, strict=True) if not reason]
    if not fit:
        raise DataError(f"{name}: no gold answer can be graded against; the first: {unfit[0]}")
    if unfit:
        more = ", …" if len(unfit) > SHOWN else ""
        print(f"{name}: {len(unfit)} of {len(problems)} problems are left out, their gold cannot "
              f"be graded against: {', '.join(unfit[:SHOWN])}{more}", file=sys.stderr)  # fmt: skip
    return gold_task(name, fit, verifier)
