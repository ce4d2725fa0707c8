"""Graders of answers that need no algebra: a number, the letter of a choice, or words."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from typing_extensions import override

from setrl.grading.compare import number_of
from setrl.grading.golds import gold_answer
from setrl.grading.grader import Grader, check_lengths
from setrl.grading.grades import Grade, Reason
from setrl.grading.normal_form import normal_form, split_unit
from setrl.grading.numbers import Number, equal_numbers
from setrl.grading.stated import Stated, normal_text, stated_answer

RELATIVE_TOLERANCE = 1e-6  # of decimals, as in MathGrader
MAX_LENGTH = 2_000  # characters of an answer, as in MathGrader

_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d)(?:/\d+)?%?")
_LETTER = re.compile(
    r"[\s*_\"'$]*(?:(?:option|choice|answer)\b[\s:*]*)?"
    r"(?:\(\s*([A-Z])\s*\)|\[([A-Z])\]|\\text\{\s*\(?([A-Z])\)?\s*\}"
    r"|([A-Z])(?=[\s*_\"'$.]*\Z|[).:,*]))",
    re.IGNORECASE,
)
_SECOND_LETTER = re.compile(r"\(([A-J])\)|(?:\b(?:or|and)\b|[,/&])[\s*(]*([A-J])\b(?! +\w)")


class _PlainGrader(Grader):
    states: ClassVar[str]  # what a gold must state

    @override
    def grades(self, texts: Sequence[str], golds: Sequence[object]) -> list[Grade]:
        check_lengths(texts, golds)
        return [self._grade(text, gold) for text, gold in zip(texts, golds, strict=True)]

    @override
    def answer(self, text: str) -> str | None:
        found = self._answer(text)
        return None if found is None else self._shown(found)

    @override
    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        return [None if self._gold(gold) is not None else f"no {self.states}" for gold in golds]

    def _grade(self, text: str, gold: object) -> Grade:
        key, answer = self._gold(gold), self._answer(text)
        shown = None if answer is None else self._shown(answer)
        if key is None:
            return Grade(Reason.BAD_GOLD, shown)
        if answer is None:
            return Grade(Reason.NO_ANSWER)
        return Grade(Reason.EQUAL if self._equal(key, answer) else Reason.DIFFERENT, shown)

    def _answer(self, text: str) -> Any:
        stated = stated_answer(text)
        if stated is None or len(stated.text) > MAX_LENGTH:
            return None
        return self._of_stated(stated)

    def _gold(self, gold: object) -> Any:
        return None if gold is None else self._of_stated(Stated(gold_answer(gold), "marked"))

    @abstractmethod
    def _of_stated(self, stated: Stated) -> Any:
        """Return what is compared; None if the text states nothing of this kind."""

    def _equal(self, gold: Any, answer: Any) -> bool:
        return bool(gold == answer)

    def _shown(self, answer: Any) -> str:
        return str(answer)


@dataclass(frozen=True)
class NumberGrader(_PlainGrader):
    r"""A grader of numbers, with or without a unit.

    A box, a tag, or the text after "####" must hold one number (equal ones count once); after
    "answer is" the first number counts, and in a last line the last. Integers and fractions must be
    equal, decimals within 10⁻⁶ of the larger one, as in `MathGrader`.

    >>> texts = ["9 eggs at $2 make $18.00", "#### 18 or 19", "The answer is 18 eggs."]
    >>> [grade.correct for grade in NumberGrader().grades(texts, ["#### 18"] * 3)]
    [True, False, True]
    """

    states = "number"

    @override
    def _of_stated(self, stated: Stated) -> Number | None:
        plain = re.sub(r"[$€£]|\\[$ ,]|\*\*", "", stated.text).strip()
        form = normal_form(plain)
        if whole := number_of(split_unit(form)[0]):
            return whole
        found = [number for each in _NUMBER.findall(plain) if (number := _number(each))]
        if not found or (stated.place == "marked" and len({n.value for n in found}) > 1):
            return None
        return found[-1] if stated.place == "end" else found[0]

    @override
    def _equal(self, gold: Number, answer: Number) -> bool:
        return equal_numbers(gold, answer, RELATIVE_TOLERANCE)

    @override
    def _shown(self, answer: Number) -> str:
        return f"{answer.value}{'%' * answer.percent}"


def _number(text: str) -> Number | None:
    return number_of(text.replace(",", "").replace("−", "-"))


@dataclass(frozen=True)
class ChoiceGrader(_PlainGrader):
    r"""A grader of the letter of a choice: B, (B), "B. Paris", "option b".

    The answer must begin with the letter, and name no second one: "(A) or (B)" states nothing.

    >>> texts = ["The answer is (B) Paris.", "(A) or (B)", "A dog.", "So:\nB"]
    >>> [grade.correct for grade in ChoiceGrader().grades(texts, ["B"] * 4)]
    [True, False, False, True]
    """

    states = "letter of a choice"

    @override
    def _of_stated(self, stated: Stated) -> str | None:
        found = _LETTER.match(stated.text)
        if found is None:
            return None
        letter = next(group for group in found.groups() if group).upper()
        others = {a or b for a, b in _SECOND_LETTER.findall(stated.text, found.end())}
        return None if others - {letter} else letter


@dataclass(frozen=True)
class ExactGrader(_PlainGrader):
    r"""A grader of words: the stated answer and the gold must be the same `normal_text`.

    Case, Unicode forms (NFKC), white space, dollar signs around it and a full stop at its end do
    not count; all else does.

    >>> [grade.correct for grade in ExactGrader().grades(["It is\na  B.", "b"], ["A b"] * 2)]
    [True, False]
    """

    states = "text"

    @override
    def _of_stated(self, stated: Stated) -> str | None:
        return normal_text(stated.text.strip("*`\"' "))
