"""Samples compared with gold answers of mathematics by `setrl.rewards.math_answer`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

from setrl.domains import Reading
from setrl.errors import DataError
from setrl.grading.compare import number_of
from setrl.grading.grades import Grade, Reason
from setrl.grading.normal_form import normal_form, split_unit
from setrl.rewards import math_answer
from setrl.rewards.problem_sets import NamedProblem, ProblemSet

SHOWN = 5  # problems listed in a message


class MathVerifier:
    """Reads the boxed answer of each sample, and whether it is correct.

    Answers are normal forms that are compared as texts: 1/2 and 0.5 are two answers in a vote,
    although both are graded the same.
    """

    def __init__(self) -> None:
        self.grader = math_answer()
        self._lenient = math_answer(units=True)

    def __call__(
        self, gold: str, texts: Sequence[str], *, unit: str = "", error: float = 0.0
    ) -> list[Reading]:
        """One reading for each text.

        Args:
            gold: The correct answer.
            texts: The samples.
            unit: The unit of the correct answer. If there is one, samples may give any unit.
            error: The largest absolute error of a number that is accepted, in addition to the
                grader's own tolerance.

        Raises:
            DataError: If the gold cannot be used for grading.
        """
        grader = self._lenient if unit else self.grader
        grades = grader.grades(texts, [gold] * len(texts))
        if any(grade.correct is None for grade in grades):
            raise DataError(f"gold {gold!r} cannot be used for grading")
        return [_reading(grade, _is_near(grade, gold, unit, error)) for grade in grades]


def _is_near(grade: Grade, gold: str, unit: str, error: float) -> bool:
    """Whether a number that differs from the gold is within the accepted error.

    >>> _is_near(Grade(Reason.DIFFERENT, "4.3"), "4.2", unit="", error=0.1)
    True
    """
    if not error or grade.reason != Reason.DIFFERENT or grade.answer is None:
        return False
    forms = [grade.answer, normal_form(gold)]
    answer, right = (number_of(split_unit(form)[0] if unit else form) for form in forms)
    if answer is None or right is None:
        return False
    return abs(answer.value - right.value) <= Fraction(str(error))


def _reading(grade: Grade, is_near: bool) -> Reading:
    correct = bool(grade.correct) or is_near
    reason = "" if correct else str(grade.reason)
    return Reading(correct=correct, strategy=None, answer=grade.answer, reason=reason)


def math_problems(name: str, problems: Sequence[NamedProblem]) -> ProblemSet:
    """The problems with gold answers; those whose gold cannot be used are left out and listed.

    A gold can be used if it accepts itself. A metric over a problem where no sample can be correct
    would measure the gold and not the model.

    Raises:
        DataError: If no gold can be used.
    """
    verifier = MathVerifier()
    why = verifier.grader.gold_problems([problem.gold for problem in problems])
    unfit = [f"{p.id} ({reason})" for p, reason in zip(problems, why, strict=True) if reason]
    fit = [problem for problem, reason in zip(problems, why, strict=True) if not reason]
    if not fit:
        raise DataError(f"{name}: no gold answer can be used for grading; the first: {unfit[0]}")
    if unfit:
        more = ", …" if len(unfit) > SHOWN else ""
        reasons = f"{', '.join(unfit[:SHOWN])}{more}"
        print(f"{name}: {len(unfit)} of {len(problems)} problems are left out, because their gold "
              f"cannot be used for grading: {reasons}", file=sys.stderr)  # fmt: skip

    def read(problem: NamedProblem, texts: Sequence[str]) -> list[Reading]:
        assert problem.gold is not None
        return verifier(problem.gold, texts, unit=problem.unit, error=problem.error)

    return ProblemSet(name=name, split=name, problems=tuple(fit), read=read)
