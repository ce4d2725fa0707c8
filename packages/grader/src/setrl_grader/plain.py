"""Graders of answers that need no algebra: a number, the letter of a choice, or words."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from setrl_grader.golds import gold_answer
from setrl_grader.grader import Grader, check_lengths, guarded
from setrl_grader.grades import Grade, Reason
from setrl_grader.grammar import parse
from setrl_grader.names import turned, value_of
from setrl_grader.normal_form import normal_form
from setrl_grader.numbers import Number, equal_numbers, read_number
from setrl_grader.stated import Stated, normal_text, stated_answer
from setrl_grader.units import split_unit

RELATIVE_TOLERANCE = 1e-6  # of decimals, as in MathGrader
MAX_LENGTH = 2_000  # characters of an answer, as in MathGrader

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d)(?:/\d+)?%?")
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9,
           "trillion": 10**12}  # fmt: skip
_SCALE = re.compile(rf"\s*-?({'|'.join(_SCALES)})\b", re.IGNORECASE)
_MINUS = re.compile(r"\b(?:minus|negative)\s*\Z", re.IGNORECASE)
HEDGE = re.compile(
    r"\b(?:not|\w+n't|cannot|or|either|neither|nor|maybe|perhaps|possibly|wait|actually|instead"
    r"|rather|alternatively|unless|unknown|unsure|sorry|correction|between|hmm|also|though|both|however)\b"
    r"|\bno(?:\s*[,.:;!]|\s+[A-J]\b)|\blet me\b",
    re.IGNORECASE,
)
_NO_VALUE_BEFORE = re.compile(
    r"(?:[-+*/^_<>≤≥≠±√×·÷\\{|]|\d\s*,\s*|\d\s*(?:and|to|&|;|–)\s*"
    r"|\b(?:than|least|most|half|half of|twice|double|triple|times|plus|over|under|above|below"
    r"|up to|root of|square of|and|to))\s*\Z",
    re.IGNORECASE,
)
_NO_VALUE_AFTER = re.compile(
    r"[\w\\√]|\s*[\^!/*+×·÷<>≤≥≠±√|?]|\s*[-–—]\s*\d|\.\d|,\d"
    r"|\s*(?:squared|cubed|times|plus|minus|percent)\b"
    r"|\s+(?:and|to)\s+\$?\d",
    re.IGNORECASE,
)
_ANOTHER_NAME = re.compile(r"\d[^=]*[,;]\s*[a-zA-Z]\s*\Z")  # x = 6, y = 7
_ASIDE = re.compile(r"\b(?:in|per|after|for|within|each|every|by|at|on|from|with)\s+(?:the\s+)?\Z")
_LATEX = re.compile(r"\\(?![()\[\],;! $%])")
_CIRCLED = {ord("Ⓐ") + at: f"({chr(ord('A') + at)})" for at in range(10)}
_DRESS = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|mathbf|mathrm|boxed|bf|rm)(?![a-zA-Z])|[{}$*_`\"]|\\[()\[\]]"
)
_CALLED = r"(?:option|choice|answer|letter)"
_LEAD = re.compile(
    rf"[\s:'.]*(?:(?:so|thus|hence|therefore)\b[,\s]*)?(?:(?:I|we)\s+(?:choose|pick|select)\s+)?"
    rf"(?:(?:the|my|our)\s+)?(?:(?:correct|right|best|final)\s+)?(?:{_CALLED}\s*(?:is\b|:)?[\s:]*)?"
    rf"(?:(?:the\s+)?{_CALLED}\b[\s:]*)?",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"\(\s*(?P<round>[A-Za-z])\s*\)|\[(?P<square>[A-Za-z])\]|(?P<alone>[A-Za-z])(?![\w'])"
)
_RIGHT = re.compile(
    rf"\s*(?:is|must be)\s+(?:the\s+)?(?:correct|right|best)(?:\s+{_CALLED})?[\s.!']*\Z",
    re.IGNORECASE,
)
_OPTION = re.compile(  # an option's text, or a reason
    r"\s*[(\\\d+\-−$|√]|\s*[A-Z]"
    r"|\s*(?:an?|the|as|because|since|which|with|for|so|in|of|to|both|all|it)\b"
)
_VERDICT = re.compile(
    r"\b(?:incorrect|wrong|false|untrue|invalid|excluded|eliminated|rejected|discarded|dismissed"
    r"|impossible|ruled|fails?|contradict\w*|mistaken|crossed|unlikely|doubtful|sure|unsure|guess)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\W*\(?([A-J])[).:]\s*\S", re.MULTILINE)
_OTHER_LETTER = re.compile(
    r"\((?P<bracketed>[A-J])\)|(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+\(?(?P<named>[A-Ja-j])\b"
    r"|(?<![\w'\\])(?P<alone>[B-HJ]|A(?! +[a-z])|I(?! +[a-z]))(?![\w'])"
    r"|(?<![\w'\\])(?P<subject>A)(?= +(?:is|was|seems)\b)"
)
_JOINED = re.compile(r"(?:[,/&|;=?.:…)]|\b(?:or|and)\b|\A)[\s*(]*\Z", re.IGNORECASE)


class _PlainGrader(Grader):
    states: ClassVar[str]  # what a gold must state

    def grades(self, texts: Sequence[str], golds: Sequence[object]) -> list[Grade]:
        check_lengths(texts, golds)
        return [
            guarded(text, gold, lambda pair=(text, gold): self._grade(*pair))  # type: ignore[misc]
            for text, gold in zip(texts, golds, strict=True)
        ]

    def answer(self, text: str) -> str | None:
        found = self._answer(text)
        return None if found is None else self._shown(found)

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

    A box, a tag, or the text after "####" must be one number (equal ones count once); after
    "answer is" the first number counts, and in a last line the last; what stands behind the last
    equals sign counts there. "minus 5" and "5 million" are numbers; "5x", "5 or 6" and "not 5" are
    none. Integers and fractions must be equal, decimals as in `MathGrader`.

    >>> texts = ["9 eggs at $2 make $18.00", "#### 18 or 19", "The answer is 18 eggs."]
    >>> [grade.correct for grade in NumberGrader().grades(texts, ["#### 18"] * 3)]
    [True, False, True]
    """

    states = "number"

    def _of_stated(self, stated: Stated) -> Number | None:
        plain = re.sub(r"[$€£¥]|\\[$ ,]|\*\*", "", stated.text).replace("−", "-").strip()
        if whole := _whole(plain):
            return whole
        *before, last = _name_first(plain.split("="))
        if stated.place == "marked":
            found = [_one_number(part, first=True, only=True) for part in (*before, last)]
            values = {number.value for number in found if number}
            return found[-1] if None not in found and len(values) == 1 else None
        if HEDGE.search(plain) or (before and _ANOTHER_NAME.search(before[-1])):
            return None
        return _whole(last) or _one_number(last, first=stated.place == "prose")

    def _equal(self, gold: Number, answer: Number) -> bool:
        return equal_numbers(gold, answer, RELATIVE_TOLERANCE)

    def _shown(self, answer: Number) -> str:
        try:
            return f"{answer.value}{'%' * answer.percent}"
        except ValueError:  # more digits than Python writes
            return f"{answer.value.numerator:#x}/{answer.value.denominator:#x}"


def _name_first(parts: list[str]) -> list[str]:
    """Return the sides of 7 = x as those of x = 7."""
    turns = len(parts) == 2 and re.fullmatch(r"[\s*]*[a-zA-Z][\s*.]*", parts[1])
    return parts[::-1] if turns else parts


def _whole(text: str) -> Number | None:
    """Return the number that the whole text states, with a name before or a unit behind it."""
    return read_number(value_of(parse(turned(split_unit(normal_form(text))[0]))).text)


def _one_number(text: str, *, first: bool, only: bool = False) -> Number | None:
    """Return the first or last number in text, if the words around it do not change its value.

    Args:
        text: What a sample states.
        first: Whether the first number counts; else the last.
        only: Whether there must be one number and no doubt.
    """
    found = list(_NUMBER.finditer(text))
    if not found or _LATEX.search(text) or (only and (len(found) > 1 or HEDGE.search(text))):
        return None
    if first and any(not _ASIDE.search(text[: other.start()]) for other in found[1:]):
        return None
    at = found[0] if first else found[-1]
    number = read_number(at[0].replace(",", ""))
    before, after = text[: at.start()], text[at.end() :]
    if number is None or _NO_VALUE_BEFORE.search(_MINUS.sub("", before.rstrip(" ("))):
        return None
    factor = -1 if _MINUS.search(before) else 1
    if scale := _SCALE.match(after):
        factor *= _SCALES[scale[1].lower()]
        after = after[scale.end() :]
    if _NO_VALUE_AFTER.match(after) or _SCALE.match(after):
        return None
    return replace(
        number, value=number.value * factor, step=number.step and number.step * abs(factor)
    )


@dataclass(frozen=True)
class ChoiceGrader(_PlainGrader):
    r"""A grader of the letter of a choice: B, (B), "B. Paris", "option b".

    The answer must begin with the letter, and name no second one: "(A) or (B)" states nothing.

    >>> texts = ["The answer is (B) Paris.", "(A) or (B)", "A dog.", "So:\nB"]
    >>> [grade.correct for grade in ChoiceGrader().grades(texts, ["B"] * 4)]
    [True, False, False, True]
    """

    states = "letter of a choice"

    def _answer(self, text: str) -> Any:
        lines = [line for line in text.splitlines() if line.strip()]
        stated = stated_answer(text)
        if stated and stated.place == "end" and len(lines) > 1 and _LISTED.match(lines[-2]):
            return None  # the last of the options
        return super()._answer(text)

    def _of_stated(self, stated: Stated) -> str | None:
        text = _DRESS.sub("", stated.text.translate(_CIRCLED))
        lead = _LEAD.match(text)
        start = lead.end() if lead else 0
        found = _LETTER.match(text, start)
        if found is None:
            return None
        letter, rest = found[found.lastgroup or 0].upper(), text[found.end() :]
        if not rest.strip(" .!'\n") or _RIGHT.match(rest):
            return letter if found["round"] or start or found[0].isupper() or not rest else None
        return letter if _may_follow(letter, found, rest) else None


def _may_follow(letter: str, found: re.Match[str], rest: str) -> bool:
    """Whether what follows a letter is the text of its option, or a reason for it."""
    mark = re.match(r"\s*[).:,;–—]", rest)
    if found["alone"] and not (mark and found[0].isupper()):
        return False
    text = rest[mark.end() :] if mark else rest
    if not text.strip():
        return True
    if not _OPTION.match(text) or _VERDICT.search(text):
        return False
    return not _names_another(letter, rest)


def _names_another(letter: str, rest: str) -> bool:
    """Whether what follows the letter of a choice chooses another one, or may do so."""
    for found in _OTHER_LETTER.finditer(rest):
        other = next(group for group in found.groups() if group).upper()
        before, after = rest[: found.start()], rest[found.end() :]
        in_a_row = _JOINED.search(before) or re.match(r"\s*[.):]\s*\S", after)
        if other != letter and (
            in_a_row or found["bracketed"] or found["named"] or HEDGE.search(rest)
        ):
            return True
    return False


@dataclass(frozen=True)
class ExactGrader(_PlainGrader):
    r"""A grader of words: the stated answer and the gold must be the same `normal_text`.

    Case, Unicode forms (NFKC), white space, dollar signs around it and a full stop at its end do
    not count; all else does.

    >>> [grade.correct for grade in ExactGrader().grades(["It is\na  B.", "b"], ["A b"] * 2)]
    [True, False]
    """

    states = "text"

    def _of_stated(self, stated: Stated) -> str | None:
        return normal_text(stated.text.strip("*`\"' "))
