r"""Graders in TRL's interface: 1 for samples whose answer is the gold answer, 0 for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from setrl.rewards.grading import ChoiceGrader, ExactGrader, Gold, Grader, MathGrader, NumberGrader
from setrl.samples.conversation import Text, plain_text


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
    >>> reward(prompts=["3 / 4 ="], completions=[r"It is \boxed{\frac{3}{4}}."], answer=["0.75"])
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
