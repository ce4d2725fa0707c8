"""Graders of answers that need no algebra: a number, the letter of a choice, or words."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from setrl_grader.grades import Grade, Grader, Reason, check_lengths, guarded
from setrl_grader.grammar import SCALES, parse
from setrl_grader.marks import is_value
from setrl_grader.names import is_name, turned, value_of
from setrl_grader.normal_form import normal_form
from setrl_grader.numbers import Number, equal_numbers, read_number
from setrl_grader.stated import (
    HOPE,
    MAX_LENGTH,
    Stated,
    gold_answer,
    is_asserted,
    normal_text,
    stated_answer,
)
from setrl_grader.units import UNITS, one_name, split_money, split_unit

RELATIVE_TOLERANCE = 1e-6  # of decimals, as in MathGrader

_SCALED = re.compile(rf"(.*\d)\s*-?({'|'.join(SCALES)})\b(.*)", re.IGNORECASE | re.DOTALL)
_MINUS = re.compile(r"\A(?:minus|negative)\s+(?=[\d.])", re.IGNORECASE)
_DRESS_OF_NUMBERS = re.compile(r"[$€£¥]|\\[$ ,]|(?<!\S)\*\*|\*\*(?=[\s.,:!]|\Z)")
_COMPUTED = re.compile(r"\d.*[-+*/x×÷–]\s*\(?\.?\d")  # 9 eggs * 2, which is what follows "="
_UNIT_NAMES = "|".join(sorted(UNITS, key=len, reverse=True))
_NO_NOUN = (  # which end like the plural of a noun
    rf"(?:{'|'.join(SCALES)}|lakh|crore|quarter|third|time|ten|half|factorial|square|cube)s\b"
    r"|halves\b|grosses\b|\w+ths\b"
    r"|(?:is|was|has|does|plus|minus|perhaps|always)\b"
)
_PLURALS = "children|fish|men|mice|people|sheep|women"
_DENIED = re.compile(  # before a number
    r"\b(?:cannot|doubt|false|never|nobody|not|wrong)\b|n't\b", re.IGNORECASE
)
_CHANGED = re.compile(  # behind a computation
    r"\A\s*not\b|\b(?:although|but|halves|however|incorrect|minus|or|plus|though|too|wrong)\b",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d\s*[kKM]\Z")  # K may be kelvin
_COUNT = re.compile(  # a number, the noun that it counts, and of what
    r"\s*(?:exactly|approximately)?\s*(?P<number>(?:minus |negative )?[-+]?[\d.,/]*\d%?"
    rf"(?:\s*-?(?:{'|'.join(SCALES)})\b)?)"
    r"(?P<unit>(?!\s+in (?:all|total)\b)"
    rf"(?:\s*(?:(?:square|cubic)\s+)?(?:{_UNIT_NAMES})|\s+(?!{_NO_NOUN})(?:[a-z]+(?<!s)s|{_PLURALS}))\b"
    r"(?:\s+(?:a|an|after|at|by|each|every|for|from|in|on|per)\b(?:(?!\b(?:or|is|times)\b)[\w\s,])*)?)?"
    r"(?:\s+(?:in all|in total|altogether|total|left|long|old|tall))?"
    r"(?P<words>(?:\s+[a-zA-Z][a-zA-Z'’/-]*)+)?[\s.*]*\Z"
)
_SAYS = re.compile(  # the words before a number in a last line
    r"(?:.*\b(?:we (?:find|obtain)|is|are|was|were|ha(?:s|ve|d)|makes?|made|gets?|got|needs?|costs?"
    r"|earns?|earned|pays?|paid|spends?|spent|scored|equals?)"
    r"|\s*(?:so|thus|hence|therefore),?|[^\d:]*:|)(?=\s|\d|\Z)",
    re.IGNORECASE,
)
_SO = re.compile(r"\A\s*(?:so|thus|hence|therefore|the)\b,?(?:\s+the\b)?", re.IGNORECASE)
_SIGNS = {ord("Ⓐ") + at: f"({chr(ord('A') + at)})" for at in range(10)} | {ord("’"): "'"}
_DRESS = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|mathbf|mathrm|boxed|bf|rm)(?![a-zA-Z])|[{}$*_`\"]|\\[()\[\]]"
)
_CALLED = r"(?:option|choice|answer|letter|one|ans)"
_LEAD = re.compile(
    rf"[\s:'.]*(?:(?:so|thus|hence|therefore)\b[,\s]*)?"
    rf"(?:(?:(?:I|we)\s+)?(?:choose|pick|select)\s+|it(?:'s|\s+is)\s+)?"
    rf"(?:(?:the|my|our)\s+)?(?:(?:correct|right|best|final)\s+)?"
    rf"(?:{_CALLED}\b\s*(?:(?:is|must\s+be)\b|[:-])?[\s:]*)?(?:(?:the\s+)?{_CALLED}\b[\s:]*)?",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"\(\s*(?P<round>[A-Za-z])\s*\)|\[(?P<square>[A-Za-z])\]|(?P<alone>[A-Za-z])(?![\w'])"
)
_END = re.compile(  # all that may follow a letter but the text of its option
    rf"(?:\s*(?:is|must\s+be)\s+(?:(?:the\s+)?(?:correct|right|best)(?:\s+{_CALLED})?|the\s+{_CALLED})"
    r"|\s*,?\s*not\s+\(?[A-J]\)?)?[\s.,:!')]*\Z",
    re.IGNORECASE,
)
_MARK = re.compile(r"\s*[).:–—]\s*|,?\s+(?=(?:as|because|since)\b)")
_ANOTHER = re.compile(  # letter behind a letter
    r"\([A-Ja-j]\)|(?<!\w)[A-J][.):]|\A\W*(?:and|or|[+&–-]|to|through|[A-Ja-j]\Z|[A-J](?:\s*[?!]|\s+(?:is|was)\b))"
    r"|(?:[,:;&+/\[–-]|(?i:'s|\b(?:actually|and|answer|as|be|because|but|choice|is|not|option|or|pick|say"
    r"|than|to|with)))\s*(?:[B-HJ]|A(?!\s+[a-z]))(?![\w'])",
)
_VERDICT = re.compile(  # what is said of an option, and is none
    r"n't\b|\b(?:absurd|barely|cannot|discarded|dismissed|disproved|doubtful|dunno|eliminated"
    r"|excluded|fails|false|guess|hardly|hmm|impossible|incorrect|invalid|mistaken|nah|never|nope"
    r"|refuted|rejected|ruled|sure|think|unlikely|unsure|untrue|wait|wrong)\b"
    r"|\A\W*(?:is|was|(?:definitely )?not|no(?=\s+(?:chance|clue|idea|way)))\b"
    r"|\A\W*(?:all|both|none|nothing|out)\W*\Z",
    re.IGNORECASE,
)
_TRUTH = r"(?:not )?(?:wrong|incorrect|true|false)"
_TRUTHS = re.compile(rf"\W*(?:true|false|{_TRUTH}\W+{_TRUTH})\W*", re.IGNORECASE)  # options
_LISTED = re.compile(r"^\W*\(?([A-J])[).:]\s*\S", re.MULTILINE)


class _PlainGrader(Grader):
    states: ClassVar[str]  # what a gold must state

    def grades(
        self,
        texts: Sequence[str],
        golds: Sequence[object],
        *,
        prompts: Sequence[object] | None = None,  # nothing here is a formula
    ) -> list[Grade]:
        check_lengths(texts, golds)
        return [
            guarded(text, gold, lambda pair=(text, gold): self._grade(*pair))  # type: ignore[misc]
            for text, gold in zip(texts, golds, strict=True)
        ]

    def answer(self, text: str) -> str | None:
        found = guarded(text, None, lambda: self._answer(text))
        return None if found is None or isinstance(found, Grade) else self._shown(found)

    def gold_problems(self, golds: Sequence[object]) -> list[str | None]:
        return [None if self._is_fit(gold) else f"no {self.states}" for gold in golds]

    def _is_fit(self, gold: object) -> bool:
        found = guarded("", gold, lambda: self._gold(gold))
        return found is not None and not isinstance(found, Grade)

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
        return self._of_stated(stated) if stated and len(stated.text) <= MAX_LENGTH else None

    def _gold(self, gold: object) -> Any:
        stated = gold_answer(gold)
        usable = 0 < len(stated) <= MAX_LENGTH
        return self._of_stated(Stated(stated, "marked")) if usable else None

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

    A box, a tag, or the text after "####" must be a number, with nothing else but a name before it,
    or a scale, a known unit, a currency or the noun that it counts; equal numbers with "=" between
    them are one. In prose the number is behind "answer is", behind the last equals sign, or behind
    a verb such as "has" in the last line, and words may follow a computation ("9 * 2 = 18 every
    day"). Other words make it no number: "5 factorial", "5 or 6", "not 5".

    >>> texts = ["9 eggs at $2: 9 * 2 = $18", "#### 18 or 19", "The answer is 18 eggs."]
    >>> [grade.correct for grade in NumberGrader().grades(texts, ["#### 18"] * 3)]
    [True, False, True]
    """

    states = "number"

    def _of_stated(self, stated: Stated) -> Number | None:
        plain = _DRESS_OF_NUMBERS.sub("", HOPE.sub("", stated.text)).replace("−", "-").strip()
        if _THOUSANDS.search(plain) or stated.is_taken_back:
            return None
        if whole := _whole(plain):
            return whole
        if stated.place != "marked":
            return _in_prose(plain, stated.place)
        found = [_whole(side) or _count(side) for side in plain.split("=")]
        values = {number and number.value for number in found}
        return found[-1] if len(values) == 1 else None

    def _grade(self, text: str, gold: object) -> Grade:
        """Compare the numbers, and the units where both have one."""
        found = super()._grade(text, gold)
        stated = stated_answer(text) if found.correct else None
        if stated is None:
            return found
        units = {_unit(stated.text), _unit(gold_answer(gold))} - {""}
        return replace(found, reason=Reason.DIFFERENT) if len(units) > 1 else found

    def _equal(self, gold: Number, answer: Number) -> bool:
        return equal_numbers(gold, answer, RELATIVE_TOLERANCE)

    def _shown(self, answer: Number) -> str:
        try:
            return f"{answer.value}{'%' * answer.percent}"
        except ValueError:  # more digits than Python writes
            return f"{answer.value.numerator:#x}/{answer.value.denominator:#x}"


def _unit(text: str) -> str:
    """Return the name of the currency or the unit of the last number of a text."""
    form = normal_form(text.rpartition("=")[2])
    letter = re.search(r"\d\s+([a-zA-Z])\Z", form)
    return one_name(split_money(form)[1] or split_unit(form)[1] or (letter[1] if letter else ""))


def _whole(text: str) -> Number | None:
    """Return the number that all of a text states, with a name before, a scale or a unit behind."""
    text = _MINUS.sub("-", text.strip())
    if scaled := _SCALED.fullmatch(text):
        number = _whole(scaled[1] + scaled[3])
        return number and number.times(Fraction(SCALES[scaled[2].lower()]))
    return read_number(value_of(parse(turned(split_unit(normal_form(text))[0], "number"))).text)


def _count(text: str) -> Number | None:
    """Return the number of a text that only counts a noun: 5 eggs, 7 miles per hour."""
    found = _COUNT.match(normal_form(text))
    return _whole(found["number"]) if found and not found["words"] else None


def _is_called(text: str) -> bool:
    """Whether a text names a number: x, or words such as "Total cost"."""
    words = re.fullmatch(r"[A-Za-z ]+", text) and not _DENIED.search(text)
    return bool(words) or is_name(parse(text))


def _in_prose(text: str, place: str) -> Number | None:
    """Return the number that a sentence states, if it has one of the forms that are known."""
    *before, last = text.split("=")
    if not before and place == "end":
        says = _SAYS.match(last)
        if says is None or not is_asserted(re.sub(r"\w+\s*\Z|:\s*\Z", "", says[0])):
            return None
        last = last[says.end() :]
    found = _COUNT.match(last)
    computed = before and _COMPUTED.search(before[-1])
    words = found and found["words"]
    if not found or (words and (not computed or _CHANGED.search(words))):
        return None
    if not computed and any(before[-1:]) and not _is_called(_SO.sub("", before[-1])):
        return None
    return _whole(found["number"])


@dataclass(frozen=True)
class ChoiceGrader(_PlainGrader):
    r"""A grader of the letter of a choice: B, (B), "B. 12", "option b".

    The answer must begin with the letter, also as in "The answer is B", "It is B", "Select B".
    "is correct" or ", not A" may follow, and the option's text behind "(B)", "B." or "B:". It must
    be the gold's text, where the gold has one, must name no other letter, and no verdict: not "(B)
    Hardly".

    >>> texts = ["The answer is (B).", "(A) or (B)", "A dog.", "So:\nB", "B. Paris"]
    >>> [grade.correct for grade in ChoiceGrader().grades(texts, ["B. Paris"] * 5)]
    [True, False, False, True, True]
    """

    states = "letter of a choice"

    def _answer(self, text: str) -> Any:
        lines = [line for line in text.splitlines() if line.strip()]
        stated = stated_answer(text)
        if stated and stated.place == "end" and len(lines) > 1 and _LISTED.match(lines[-2]):
            return None  # the last of the options
        return super()._answer(text)

    def _of_stated(self, stated: Stated) -> tuple[str, str] | None:
        text = _DRESS.sub("", stated.text.translate(_SIGNS))
        lead = _LEAD.match(text)
        start = lead.end() if lead else 0
        found = _LETTER.match(text, start)
        if found is None:
            return None
        letter, rest = found[found.lastgroup or 0], text[found.end() :]
        certain = letter.isupper() or not found["alone"]
        if _END.match(rest):
            return (letter.upper(), "") if certain or start or not rest else None
        mark = _MARK.match(rest)
        if not certain or (found["alone"] and not mark):
            return None
        behind = rest[mark.end() if mark else 0 :]
        if _ANOTHER.search(behind):
            return None
        return letter.upper(), behind.strip()

    def _equal(self, gold: tuple[str, str], answer: tuple[str, str]) -> bool:
        if gold[0] != answer[0]:
            return False
        forms = [normal_form(each[1]) for each in (gold, answer)]
        if any(map(is_value, forms)):
            return _may_be_equal(gold[1], answer[1])
        if gold[1] and answer[1]:
            return normal_text(gold[1]) == normal_text(answer[1])
        return _TRUTHS.fullmatch(answer[1]) is not None or not _VERDICT.search(answer[1])

    def _shown(self, answer: tuple[str, str]) -> str:
        return ". ".join(filter(None, answer))


def _may_be_equal(gold: str, answer: str) -> bool:
    """Whether what is behind two letters is not known to be two numbers."""
    numbers = [_whole(text.rpartition("=")[2]) if text else None for text in (gold, answer)]
    if numbers[0] is None or numbers[1] is None:
        return True
    return equal_numbers(numbers[0], numbers[1], RELATIVE_TOLERANCE)


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
