"""Answers against golds: rewards in TRL's interface, readings in evaluation, why one is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from setrl.rewards.grading import (
    ChoiceGrader,
    ExactGrader,
    Gold,
    Grade,
    Grader,
    MathGrader,
    NumberGrader,
    grade,
)
from setrl.rewards.problem import Problem, Reading
from setrl.samples.conversation import Text, plain_text
from setrl.samples.types import Group, Sample
from setrl.support.errors import DataError


class _Answer(Grader):
    kind: ClassVar[str]  # its name in logs
    gold: str

    @property
    def __name__(self) -> str:
        return self.kind

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the reward of each sample; None if its gold is missing or cannot be used.

        An answer that copies a formula of its prompt is wrong. The column `gold_type` may declare
        the types of the golds.

        Raises:
            ValueError: If the column of golds is missing, or there is not one gold for each sample.
        """
        if columns.get(self.gold) is None:
            raise ValueError(
                f"the golds must be in the column {self.gold!r}, "
                f"but the columns are: {', '.join(columns) or 'none'}"
            )
        texts = [plain_text(completion) for completion in completions]
        golds = columns[self.gold]
        if types := columns.get("gold_type"):
            golds = [Gold(*each) for each in zip(golds, types, strict=True)]
        grades = self.grades(texts, golds, prompts=prompts)
        return [grade.reward for grade in grades]


@dataclass(frozen=True)
class MathAnswer(_Answer, MathGrader):
    r"""1 for samples whose last boxed answer is the gold answer, 0 for others.

    A `MathGrader`, whose attributes it has, and a reward function for TRL.

    Attributes:
        gold: The column that holds the gold answers.

    >>> reward = MathAnswer()
    >>> reward(prompts=["6 / 8 ="], completions=[r"It is \boxed{\frac{3}{4}}."], answer=["0.75"])
    [1.0]
    """

    kind = "math_answer"
    gold: str = "answer"


@dataclass(frozen=True)
class NumberAnswer(_Answer, NumberGrader):
    """1 for samples that state the gold's number, 0 for others; see `NumberGrader`.

    >>> texts = ["9 eggs at $2 make $18.00", "The answer is 18 eggs, not 19."]
    >>> NumberAnswer()(prompts=["?"] * 2, completions=texts, answer=["#### 18", "19"])
    [1.0, 0.0]
    """

    kind = "number"
    gold: str = "answer"


@dataclass(frozen=True)
class ChoiceAnswer(_Answer, ChoiceGrader):
    """1 for samples that state the gold's letter, 0 for others; see `ChoiceGrader`."""

    kind = "choice"
    gold: str = "answer"


@dataclass(frozen=True)
class ExactAnswer(_Answer, ExactGrader):
    """1 for samples that state the gold's words, 0 for others; see `ExactGrader`."""

    kind = "exact"
    gold: str = "answer"


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
        return self._readings_of_texts(gold, texts)

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
        gold_or_text = gold if gold.type else str(problem.gold)
        return self._readings_of_texts(
            gold_or_text, texts, problem.prompt or None, units=units, error=problem.error
        )

    def _readings_of_texts(
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


def why_wrong(group: Group, sample: Sample) -> str | None:
    """Return why a wrong sample's answer is not the gold; None if the grader does not find that.

    Other rewards may decide differently: where the grader accepts the answer, or finds none in the
    text, there is nothing to say.
    """
    if sample.correct is not False or not group.gold or not sample.text:
        return None
    verdict = grade(sample.text, group.gold, prompt=group.prompt)
    return None if verdict.correct or verdict.finding is None else verdict.why
