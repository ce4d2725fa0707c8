"""`setrl grade`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.support.errors import DataError

EXIT_CODES = {"right": 0, "wrong": 10, "unreadable": 11}


@dataclass(frozen=True, kw_only=True)
class GradeAnswer(Said):
    r"""Compare an answer with a gold, and say why it is right, wrong or unreadable.

    The exit code is 0 for a right answer, 10 for a wrong one, and 11 for an answer that cannot be
    read or compared. It is 3 for a gold that cannot be used for grading. Put an answer that begins
    with a minus sign after two dashes: setrl grade -- 5 -5.

    Attributes:
        gold: The correct answer, in LaTeX.
        answer: The given answer, or the text of a sample with its answer in a \boxed{}.
        units: Accept an answer whose unit is missing, or that has a unit where the gold has none.
        prompt: The problem: a formula that only copies it is no answer.
        type: What the gold is, where its spelling has two readings, such as 3e-1 and 0,125.

    Json:
        verdict: Right, wrong or unreadable, in small letters.
        why: The reason, in a sentence.
        answer: The answer that was found.
        certificate: Why a right answer is right, as a program can check it.
        witness: Why a wrong answer is wrong, as a program can check it.
    """

    gold: Positional[str]
    answer: Positional[str]
    units: bool = False
    prompt: str | None = None
    type: Literal["number", "expression", "set", "tuple", "interval", "equation", "text"] | None = (
        None
    )

    def run(self) -> int:
        """Print the verdict and why, and return its exit code."""
        from setrl.rewards.grading import Gold, MathGrader

        grader = MathGrader(units=self.units)
        boxed = self.answer if r"\boxed" in self.answer else rf"\boxed{{{self.answer}}}"
        gold = Gold(self.gold, self.type)
        grade = grader.grade(boxed, gold, prompt=self.prompt)
        if grade.correct is None:
            [problem] = grader.gold_problems([gold])
            raise DataError(f"the gold {self.gold!r} cannot be used for grading: {problem}")
        keys = ("verdict", "why", "answer", "certificate", "witness")
        record = {key: getattr(grade, key) for key in keys}
        self.tell(f"{grade.verdict}: {grade.why}", **record)
        return EXIT_CODES[grade.verdict]
