r"""What stands around a box: the sentence that leads to it, its end, and what the text says later.

Where a word stands decides what it may say. A mark, a scale and a unit behind a box, and a currency
before it, are part of the answer, and are judged as in the box.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from setrl_grader.asked import said
from setrl_grader.problem import FORMULA
from setrl_grader.units import NOUNS, UNITS
from setrl_grader.words import (
    DENIES,
    HEDGES,
    LEADS_NOWHERE,
    LEADS_ON,
    NUMBERS,
    RETRACTS,
    ROUGHLY,
    SIGNS,
    SO,
    TOKEN,
    Words,
    words_of,
)

MAX_LEAD = 600  # characters before a box that are read
MAX_BEHIND = 4_000  # and behind it
NEAR = Fraction(1, 20)  # how far from a number its rounded form may be
BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{[^{}]*\}")
_FONTS = re.compile(r"\\(?:text|math|mbox|operatorname)[a-z]*(?![a-zA-Z])")
_DRESS = re.compile(  # what has no meaning
    r"\\(?:text)?color\s*\{\w*\}|\\(?:tag|label|begin|end|[hv]space)\*?\s*\{(?!comment)[^{}]*\}"
    r"|\\(?:bf|it|rm|underline|displaystyle|left|right|[bB]igg?[lr]?|large|Large|huge|Huge|q?quad|par"
    r"|newline|nonumber|(?:small|med|big)skip|[vh]fill|blacksquare|square|Box|qed|checkmark)(?![a-zA-Z])"
    r"|</?(?!s>|del|strike)[a-zA-Z][\w-]*>|\*\*|(?<=\s)[*_](?=[\\\w$])|(?<=[\w.])[*_](?=\s|\Z)"
    r"|[{}&\"“”‘`■□✓]|(?<!~)~(?!~)|\\[,;:! ]|\\(?=\s)"
)
_HARMLESS = re.compile(
    r"(?<=left )over\b"
    r"|\b(?:square|cubic) (?=units?\b|c?m\b|km\b|(?:in|f[oe]+t|yard|mile|\w*met)\w*)"
    r"|\bnot (?:hard|difficult)\b|\bno,"
    r"|,? not -?\d+(?=\W*\Z)|\bI hope (?:it is correct|(?:this|that) helps)\b"
    r"|\blet me know (?:if|whether) you have (?:any )?(?:further |more |other )?questions?\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[^\S\n]*(?:>|[-*+•#]+|\(?\w[.)])[ \t]+", re.MULTILINE)
_OPENING = re.compile(r"(?:\$+|\\[(\[])\s*\Z|[^\S\n]+\Z")
_ENDED = re.compile(  # the sentence before; a line that ends with a word or ":" goes on
    r"(?<!\bi\.e)(?<!\be\.g)[.!?;。](?=\s|\Z)|(?<![A-Za-z:,\s])[^\S\n]*\n|(?<![:,\s])[^\S\n]*\n\s*(?=[A-Z][a-z])|(?<=[A-Za-z])[^\S\n]*\n\s*\n(?=.*\w)"
)
_POINTS = frozenset(",()[].'’—?!;、。，")
_OPERATORS = frozenset("-+*/x×÷–−")
_BETWEEN = re.compile(r"\d(.*)\d", re.DOTALL)  # the first digit and the last one
_CONCLUDES = re.compile(r"\W*(?:so|thus|hence|therefore)\b", re.IGNORECASE)
_CURRENCY = re.compile(r"(\\\$|[€£¥₹])\s*(?:\$|\\\()?\s*\Z")
_CLOSED = r"(?:\s*\$|\s*\\[)\]]|[^\S\n]|\*(?!\s*[\d\\(]))*"  # the end of a formula
_NAMES = "|".join(sorted({*UNITS - NOUNS - {"in"}, "radians", "rad"}, key=len, reverse=True))
_UNIT = (
    rf"(?:(?:square|cubic|sq|cu)\.?\s+)?(?<![^\s/])(?-i:{_NAMES})(?![a-zA-Z(=])"
    r"(?:\^[23]|\s+(?:squared|cubed)(?![a-z]))?"
)
_END = re.compile(
    rf"{_CLOSED}(\\?%|°|\^\s*(?:\\circ|°)|\\degree(?![a-zA-Z])|_\d+)?{_CLOSED}"
    rf"((?<!\S)(?:dozen|hundred|thousand|[a-z]*illion)s?(?![a-z]))?{_CLOSED}"
    rf"({_UNIT}(?:(?:\s*/\s*|\s+(?:per|an?|each|every)\s+){_UNIT})?)?{_CLOSED}(.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
_FOLLOWS = re.compile(  # the end, a mark of punctuation, words
    r"\s*(?:\Z|/\s*[a-zA-Z]{2}|[.,;)\]#—、。，:]|\((?!\d*[a-z]\s*[-+*/^])|!(?=\s*\Z|\s*\n|\s+[A-Z])|[-–]\s+[a-zA-Z]{2}"
    r"|[^\W\d_]{2}|a\s|[-=]>|…|[≈→⇒⟹∴]|\n\s*(?:[-*•>#]|\d+[.)])\s"
    r"|\\(?:because|approx|therefore|implies|Rightarrow|boxed|fbox|\(|\[))"
)
_PHRASE = re.compile(r"(?:[^\S\n]*(?:/|[^\W\d_]+(?:['’-][^\W\d_]+)*))*")
_VERDICT = re.compile(r"\s*(?:yes|no|true|false)\s*", re.IGNORECASE)
_EXPLAINS = re.compile(  # how a sentence begins behind which other numbers may stand
    r"\W*(?:check\w*|verif\w+|we (?:can )?(?:check|verify)|to (?:check|verify)|indeed|explanation"
    r"|alternatively|note|(?:this is |that is )?(?:because|since|as)\b|for \$)"
    r"|\s*-\s\d+ [a-z]|\s*\(\d",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"(?:\banswer(?: is)?\s*(?::|is|must be|should be|equals|=)|\bit (?:is|must be|should be))"
    r"[\s:$*\\({\[]*(-?\d[\d,./]*)",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    rf"\b(?:or|answer\s+is)\W+(?:\w+\W+){{0,2}}?(\d[\d.,/]*|(?:{'|'.join(sorted(NUMBERS))})\b)",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|be|equals)[\s:$*\\({\[]*(-?\d[\d,./]*)", re.IGNORECASE)
_CHANGES = re.compile(  # which makes another number or a question of an answer
    r"[^\w.!\n]*(?:(and|or|percent|k|twice|double|triple|half|(?:over|to|less)(?= \W*\d))\b"
    r"|(?:[a-z]+ )?(plus|minus|squared|cubed|factorial|halved|doubled|tripled|divided|multiplied"
    r"|raised|times(?= (?:\W*\d|that|this|itself)))\b"
    r"|(?:\w+ )*to the (\w+ power)|(?:\w+ )?(?:more|less|fewer) (than) \W*\d)"
    r"|\s*[,;]\s*\W*(\d)|[^.!\n]*(?:(\?)|\bif (any)\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9]{1,99}(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]{1,99})?")


class Around(NamedTuple):
    """What stands around the last box.

    Attributes:
        before: The sign of a currency.
        behind: A mark and a scale.
        unit: A unit, or what is said of a yes or no.
        strange: The first word or sign that may not stand there; "" if there is none.
    """

    before: str = ""
    behind: str = ""
    unit: str = ""
    strange: str = ""


@lru_cache(maxsize=512)
def around(before: str, answer: str, behind: str, problem: str = "") -> Around:
    r"""Return what stands around a box, and the first word or sign that may not stand there.

    >>> texts = (r"So it is \$", " dollars."), ("A third of ", ""), ("It is ", " or 6."), ("-", "")
    >>> [tuple(around(before, "5", behind)) for before, behind in texts]
    [('\\$', '', ' dollars', ''), ('', '', '', 'of'), ('', '', '', 'or'), ('', '', '', '-')]
    """
    words, rounded = words_of(problem), "." in answer or said(problem).rounded
    money = _CURRENCY.search(before)
    mark, unit, rest = _end(behind)
    if _VERDICT.fullmatch(_plain(answer)):  # what is said of it is a part of it
        unit, rest = rest, ""
    phrase = _PHRASE.match("" if unit or mark[-1:].isalpha() else rest)
    strange = (
        _strange_before(before[: money.start()] if money else before, words, rounded)
        or words.noun(TOKEN.findall(phrase[0].lower()) if phrase else [])
        or _strange_value(before, answer)
        or _strange_behind(rest, answer, words)
        or "…" * (len(behind) > MAX_BEHIND)
    )
    return Around(money[1] if money else "", mark, unit, strange)


def is_bound(before: str, behind: str) -> bool:
    r"""Whether a box is a part of an answer, as something binds it: -\boxed5, \sqrt{\boxed9}."""
    tokens = _tokens_before(_CURRENCY.sub("", before))
    return bool(_strange_end(tokens)) or not _FOLLOWS.match(_end(behind)[2])


def _plain(text: str) -> str:
    return _DRESS.sub("", _FONTS.sub(" ", text.replace(r"\\", "\n")))


def _is_word(token: str) -> bool:
    return token[:1].isalpha()


def _end(behind: str) -> tuple[str, str, str]:
    """Split what is behind a box: a mark and a scale, a unit, and the rest."""
    found = _END.match(re.sub(r"\$\s*(?=\^)", "", _plain(behind)))
    if found is None:
        return "", "", behind
    mark, scale, unit, rest = found.groups("")
    apart = bool(unit) and mark not in ("°", r"^\circ")
    return f"{mark}{' ' * bool(scale)}{scale}", " " * apart + unit, rest


def _tokens_before(before: str) -> list[str]:
    """Return the words and signs of the sentence in which a box stands, up to the box."""
    if re.search(r"(?<!\w)\.\Z", before):  # of a decimal
        return [r"\."]
    text = _HARMLESS.sub("", _plain(BOXED.sub("; ", before)))
    sentence = _ENDED.split(_OPENING.sub("", _ITEM.sub("", text)))[-1]
    return TOKEN.findall(re.sub(r"\\[(\[\])]|\$", " ", sentence))


def _strange_before(before: str, known: Words, rounded: bool) -> str:
    """Return what may not lead to a box, in the clause that does."""
    tokens = _tokens_before(before)
    clause = _clause(tokens) or tokens
    computed = clause[-1:] == ["="] and _computes(" ".join([*clause, "0"]))  # 2 + 3 =
    if computed and "," in clause:
        clause = clause[len(clause) - clause[::-1].index(",") :]
    words = [each for each in clause if _is_word(each) or each in ROUGHLY]
    low = [*map(str.lower, words)]
    last = range(len(words) - 2, len(words)) if computed else None
    strange = _strange_end(tokens) or known.denial(words, DENIES, last)
    if strange or computed:
        return strange
    if low[:1] in (["if"], ["let"]) and "," not in clause:
        return low[0]
    roughly = [] if rounded else [each for each in words if each.lower() in ROUGHLY]
    return next(iter(roughly), "") or known.modal(words) or known.function(low)


def _strange_value(before: str, answer: str) -> str:
    """Return another number before "=", or ∈ before an answer that is not a set."""
    *rest, one, sign = ["", "", *_tokens_before(before), ""][-4:-1] if before else ["", "", ""]
    number = (
        sign == "="
        and one[:1].isdigit()
        and (not rest[-1] or (_is_word(rest[-1]) and rest[-1] != "x"))
    )
    other = number and _numbers(one).isdisjoint(_numbers(answer))
    return one if other else sign * (sign == r"\in" and not re.search(r"[\[({\\]", answer))


def _clause(tokens: list[str]) -> list[str]:
    """Return the clause that states the answer, behind "so" and the like."""
    marks = (*_POINTS, "and", "")
    starts = [at + 1 for at, each in enumerate(tokens) if each.lower() in SO]
    starts = [at for at in starts if ["", *tokens][at - 1].lower() in marks]
    tokens = tokens[max(starts, default=0) :]
    return [] if _POINTS.issuperset(tokens) else tokens


def _strange_end(tokens: Sequence[str]) -> str:
    """Return the last word or sign before a box, if it may not stand there."""
    tokens = [each.lower() for each in tokens if each not in _POINTS or each == "!"]
    if not tokens:
        return ""
    *rest, last = ["", *tokens]
    if rest[-1] in LEADS_ON.get(last, ()):
        is_value = last != "of" or rest[-1] == "answer" or {"a", "an", "total"} & {*rest[-3:]}
        return "" if is_value else last
    is_sign = not (_is_word(last) or last in SIGNS or last == "!")
    denied = rest[-1] in ("!", r"\not") and not _is_word(last)
    letter = len(last) == 1 and last.isascii() and last.isalpha() and last != "a"
    return last if is_sign or denied or letter or last in LEADS_NOWHERE else ""


def _strange_behind(text: str, answer: str, known: Words) -> str:
    """Return what may not be said behind an answer: a denial, another number, an operation."""
    if changes := _CHANGES.match(text):
        return next(filter(None, changes.groups()))
    stated, free, explains = _numbers(answer), {*known.numbers}, False
    sentences = [*filter(str.strip, re.split(r"(?<=[.!?])\s+|\n", _HARMLESS.sub("", text)))]
    for at, sentence in enumerate(sentences):
        of_box = at == 0 and text[:1] not in ".\n"  # the end of its sentence
        explains = explains or _EXPLAINS.match(sentence) is not None
        words = [each for each in TOKEN.findall(sentence) if _is_word(each) or each in ROUGHLY]
        near = _near(words) if of_box else None
        if strange := known.denial(words, RETRACTS if explains else HEDGES, near):
            return strange
        if (other := _OFFERS.search(sentence)) and not _numbers(other[1]) & stated:
            return other[1]
        free |= _numbers(sentence) if _computes(sentence) else set()
        found = _numbers(" ".join(_STATES.findall(sentence)))
        others = found if explains else found | _given(sentence, stated, free, of_box)
        others -= stated
        if not ROUGHLY.isdisjoint(map(str.lower, words)):
            others = {each for each in others if _is_far(each, answer, stated)}
        if others:
            return str(min(others))
    return ""


def _given(
    sentence: str, stated: set[Fraction], free: set[Fraction], of_box: bool
) -> set[Fraction]:
    """Return the numbers that a sentence gives as an answer: those that are new.

    Those of the problem, and of computations, are not new, unless a later sentence concludes them.
    """
    if of_box:
        return _numbers(" ".join(_IS.findall(sentence))) - free
    given = _numbers(FORMULA.sub(lambda found: _unless_result(found[0], stated), sentence))
    concludes = _CONCLUDES.match(sentence) and given.isdisjoint(stated)
    return given if concludes and not _computes(sentence) else given - free


def _computes(text: str) -> bool:
    """Whether there is a computation: an operation between numbers, "=" and a number.

    >>> [_computes(text) for text in ("7 cats - 2 cats = 5", "x = 5", "4 - 1")]
    [True, False, False]
    """
    found = ((_BETWEEN.search(one), other) for one, other in pairwise(text.split("=")))
    return any(
        each and not _OPERATORS.isdisjoint(each[1]) and re.match(r"[\s$\\]*\d", other)
        for each, other in found
    )


def _near(words: Sequence[str]) -> set[int]:
    """Return where "not" is said of an answer, in the end of its sentence: 5 is not, 5 cannot."""
    first = words[0].lower() if words else ""
    said = {1} if first in ("is", "are", "was", "were") else set[int]()
    return {len(words) - 1} | said | (set() if first in ("no", "not") else {0})


def _unless_result(formula: str, stated: set[Fraction]) -> str:
    """Return a formula, or nothing if it ends with the answer behind an equals sign."""
    _, sign, value = formula.rpartition("=")
    return "" if sign and stated & _numbers(value) else formula


def _is_far(number: Fraction, answer: str, stated: set[Fraction]) -> bool:
    """Whether a number does not round the answer; False if the answer is not a number."""
    is_number = _NUMBER.fullmatch(answer.strip()) is not None
    return is_number and all(abs(number - each) > NEAR * abs(each) for each in stated)


def _numbers(text: str) -> set[Fraction]:
    """Return the numbers in a text, a fraction also as its value."""
    plain = re.sub(r"\\[dt]?frac\s*\{(\d+)\}\s*\{(\d+)\}", r" \1/\2 ", text.replace("{,}", ""))
    parts = re.findall(r"([0-9]{1,9})\s*/\s*(0*[1-9][0-9]{,8})", plain)
    return {Fraction(each.replace(",", "")) for each in _NUMBER.findall(plain)} | {
        Fraction(int(top), int(bottom)) for top, bottom in parts
    }
