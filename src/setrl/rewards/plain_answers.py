"""Rewards for answers that need no algebra: a number, the letter of a choice, or a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from setrl.domains import Reading
from setrl.errors import DataError
from setrl.grading.compare import number_of
from setrl.grading.golds import gold_answer
from setrl.grading.normal_form import normal_form, split_unit
from setrl.grading.numbers import Number, equal_numbers
from setrl.grading.stated import Stated, normal_text, stated_answer
from setrl.rewards.interface import Text, plain_text

RELATIVE_TOLERANCE = 1e-6  # of decimals, as in MathAnswer
NO_ANSWER, DIFFERENT = "no answer", "different"
MAX_LENGTH = 2_000  # characters of an answer, as in MathAnswer

_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d)(?:/\d+)?%?")
_LETTER = re.compile(
    r"[\s*_\"'$]*(?:(?:option|choice|answer)\b[\s:*]*)?"
    r"(?:\(\s*([A-Z])\s*\)|\[([A-Z])\]|\\text\{\s*\(?([A-Z])\)?\s*\}"
    r"|([A-Z])(?=[\s*_\"'$.]*\Z|[).:,*]))",
    re.IGNORECASE,
)
_SECOND_LETTER = re.compile(r"\(([A-J])\)|(?:\b(?:or|and)\b|[,/&])[\s*(]*([A-J])\b(?! +\w)")


@dataclass(frozen=True)
class _PlainAnswer:
    """1 for samples whose stated answer is the gold, 0 for others, None without a usable gold."""

    kind: ClassVar[str]  # its name in configs and logs
    states: ClassVar[str]  # what a gold must state
    gold: str = "answer"

    @property
    def __name__(self) -> str:
        return self.kind

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """The reward of each sample; None if its gold is missing or cannot be used.

        Raises:
            ValueError: If the column of golds is missing.
        """
        if self.gold not in columns:
            raise ValueError(
                f"the golds must be in the column {self.gold!r}, "
                f"but the columns are: {', '.join(columns) or 'none'}"
            )
        pairs = zip(completions, columns[self.gold], strict=True)
        return [self._reward(plain_text(completion), gold) for completion, gold in pairs]

    def answer(self, text: str) -> str | None:
        """What a sample states, in the form in which equal answers are equal texts; or None."""
        found = self._answer(text)
        return None if found is None else self._shown(found)

    def read(self, gold: object, texts: Sequence[str]) -> list[Reading]:
        """The reading of each text.

        Raises:
            DataError: If the gold cannot be used for grading.
        """
        key = self._gold(gold)
        if key is None:
            raise DataError(f"gold {gold!r} cannot be used for grading: it states no {self.states}")
        return [self._reading(self._answer(text), key) for text in texts]

    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        """Why each gold cannot be used for grading; None if it can."""
        return [None if self._gold(gold) is not None else f"no {self.states}" for gold in golds]

    def _reward(self, text: str, gold: object) -> float | None:
        key = self._gold(gold)
        return None if key is None else float(self._reading(self._answer(text), key).correct)

    def _reading(self, answer: Any, gold: Any) -> Reading:
        if answer is None:
            return Reading(False, None, None, NO_ANSWER)
        correct = self._equal(gold, answer)
        return Reading(correct, None, self._shown(answer), "" if correct else DIFFERENT)

    def _answer(self, text: str) -> Any:
        stated = stated_answer(text)
        if stated is None or len(stated.text) > MAX_LENGTH:
            return None
        return self._of_stated(stated)

    def _gold(self, gold: object) -> Any:
        return None if gold is None else self._of_stated(Stated(gold_answer(gold), "marked"))

    def _of_stated(self, stated: Stated) -> Any:
        """What is compared; None if the text states nothing of this kind."""
        raise NotImplementedError

    def _equal(self, gold: Any, answer: Any) -> bool:
        return bool(gold == answer)

    def _shown(self, answer: Any) -> str:
        return str(answer)


@dataclass(frozen=True)
class NumberAnswer(_PlainAnswer):
    r"""1 for samples that state the gold's number, with or without a unit.

    A box, a tag, or the text after "####" must hold one number (equal ones count once); after
    "answer is" the first number counts, and in a last line the last. Integers and fractions must be
    equal, decimals within 10⁻⁶ of the larger one, as in `MathAnswer`.

    >>> reward = NumberAnswer()
    >>> texts = ["9 eggs at $2 make $18.00", "#### 18 or 19", "The answer is 18 eggs."]
    >>> reward(prompts=["?"] * 3, completions=texts, answer=["#### 18"] * 3)
    [1.0, 0.0, 1.0]
    """

    kind = "number"
    states = "number"

    def _of_stated(self, stated: Stated) -> Number | None:
        plain = re.sub(r"[$€£]|\\[$ ,]|\*\*", "", stated.text).strip()
        form = normal_form(plain)
        if whole := number_of(split_unit(form)[0]):
            return whole
        found = [number for each in _NUMBER.findall(plain) if (number := _number(each))]
        if not found or (stated.place == "marked" and len({n.value for n in found}) > 1):
            return None
        return found[-1] if stated.place == "end" else found[0]

    def _equal(self, gold: Number, answer: Number) -> bool:
        return equal_numbers(gold, answer, RELATIVE_TOLERANCE)

    def _shown(self, answer: Number) -> str:
        return f"{answer.value}{'%' * answer.percent}"


def _number(text: str) -> Number | None:
    return number_of(text.replace(",", "").replace("−", "-"))


@dataclass(frozen=True)
class ChoiceAnswer(_PlainAnswer):
    r"""1 for samples that state the gold's letter: B, (B), "B. Paris", "option b".

    The answer must begin with the letter, and name no second one: "(A) or (B)" states nothing.

    >>> reward = ChoiceAnswer()
    >>> texts = ["The answer is (B) Paris.", "(A) or (B)", "A dog.", "So:\nB"]
    >>> reward(prompts=["?"] * 4, completions=texts, answer=["B"] * 4)
    [1.0, 0.0, 0.0, 1.0]
    """

    kind = "choice"
    states = "letter of a choice"

    def _of_stated(self, stated: Stated) -> str | None:
        found = _LETTER.match(stated.text)
        if found is None:
            return None
        letter = next(group for group in found.groups() if group).upper()
        others = {a or b for a, b in _SECOND_LETTER.findall(stated.text, found.end())}
        return None if others - {letter} else letter


@dataclass(frozen=True)
class ExactAnswer(_PlainAnswer):
    r"""1 for samples whose stated answer and the gold are the same `normal_text`.

    Case, Unicode forms (NFKC), white space, dollar signs around it and a full stop at its end do
    not count; all else does.

    >>> reward = ExactAnswer()
    >>> reward(prompts=["?"] * 2, completions=["It is\na  B.", "b"], answer=["A b"] * 2)
    [1.0, 0.0]
    """

    kind = "exact"
    states = "text"

    def _of_stated(self, stated: Stated) -> str | None:
        return normal_text(stated.text.strip("*`\"' "))
