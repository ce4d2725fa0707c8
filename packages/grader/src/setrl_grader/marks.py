r"""Answers that algebra never sees: marks that have a meaning, words, choices.

Marks are those of 204_5, 30°15', 12:30, 3:2:1, 6', (1 3 2), 2024-03-05. Each kind equals only
answers of its kind, with one exception: a ratio of two terms may be written as the fraction. Where
a mark has two meanings (12:30 is a time of day, or a ratio), only the same answer is right. Words
are compared letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from setrl_grader.grammar import parse
from setrl_grader.normal_form import spaceless
from setrl_grader.numbers import read_number
from setrl_grader.trees import Part, Tree
from setrl_grader.units import split_currency, split_unit

Terms = Callable[[Part, Part], bool | None]  # are two terms of a ratio equal?


class Mark(NamedTuple):
    """A kind of marked answer: how it is written, what it means, and an example."""

    pattern: re.Pattern[str]
    meaning: Callable[[re.Match[str]], object]
    example: str

    def read(self, key: str) -> object:
        """Return what an answer of this kind means; None for another kind."""
        found = self.pattern.match(key)
        return None if found is None else self.meaning(found)


def _angle(found: re.Match[str]) -> Fraction:
    degrees, minutes, seconds = (Fraction(part or 0) for part in found.groups())
    sign = -1 if found[0].startswith("-") else 1
    return degrees + sign * (minutes / 60 + seconds / 3600)


def _cycles(found: re.Match[str]) -> frozenset[tuple[str, ...]] | tuple[str, str]:
    """Read a permutation, (1 3 2)(4 5); cycles that share a number count as they are written."""
    cycles = [re.findall(r"\d+", cycle) for cycle in found[0].split(")")[:-1]]
    moved = [number for cycle in cycles for number in cycle]
    if len(set(moved)) < len(moved):
        return ("cycles", found[0])
    firsts = [cycle.index(min(cycle)) for cycle in cycles]
    return frozenset((*c[at:], *c[:at]) for c, at in zip(cycles, firsts, strict=True))


def _remainder(found: re.Match[str]) -> tuple[str, str | int, str]:
    name, value, modulus = found[1] or "", found[2], found[3].strip("{}")
    if re.fullmatch(r"-?\d{1,500}", value) and re.fullmatch("0*[1-9][0-9]{0,500}", modulus):
        return name, int(value) % int(modulus), modulus
    return name, value, modulus


def _code(found: re.Match[str]) -> tuple[str, ...]:
    parts = [part.lstrip("0") for part in re.split(r"[-/]|\\times", found[0])]
    return (re.sub(r"\d", "", found[0]), *parts)


def _time(found: re.Match[str]) -> tuple[int, int, int, str]:
    half = found[4].replace(".", "").lower()
    return int(found[1]), int(found[2]), int(found[3] or 0), half


_WORDS_OF_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety
"""
_ONES, _TENS = (_WORDS_OF_NUMBERS.split()[part] for part in (slice(20), slice(20, None)))
NUMERALS = {word: str(value) for value, word in enumerate(_ONES)} | {
    f"{ten}-{_ONES[one]}" if one else ten: str(10 * tens + one)
    for tens, ten in enumerate(_TENS, 2)
    for one in range(10)
}
MARKS = {
    "a number in a base": Mark(
        re.compile(r"(-?)\(?([0-9A-F.]+)\)?_(?:\{\(?([a-z0-9]+)\)?\}|(\w))\Z"),
        lambda m: (m[1], m[2].lstrip("0"), NUMERALS.get(m[3] or m[4], m[3] or m[4])),
        "204_5",
    ),
    "an angle with minutes": Mark(  # just 30° is a number, whose mark may be missing
        re.compile(r"(-?\d+)°(?=.)(?:([0-5]?\d(?:\.\d+(?='\Z))?)')?(?:([0-5]?\d(?:\.\d+)?)'')?\Z"),
        _angle,
        "30°15'",
    ),
    "a time of day": Mark(
        re.compile(r"(\d|[01]\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?((?:[aApP]\.?[mM]\.?)?)\Z"),
        _time,
        "12:30",
    ),
    "feet, inches or minutes": Mark(
        re.compile(r"(.*?[\d})])('+)\Z", re.DOTALL), re.Match.groups, "6'"
    ),
    "a permutation": Mark(
        re.compile(r"\(\d+(?: \d+)+\)(?:\(\d+(?: \d+)*\))*\Z"),
        _cycles,
        "(1 3 2)(4 5)",
    ),
    "a remainder": Mark(
        re.compile(r"(?:(\w+)\\equiv)?([^=\\]*?)\(?(?:\\pmod|(?<=\()mod)(\{\w+\}|\w+)\)?\Z"),
        _remainder,
        r"x\equiv 3\pmod{5}",
    ),
    "a date, a score or a size": Mark(  # which is not arithmetic
        re.compile(r"\d+\\times\d+\Z|\d+(?:-\d+)+\Z|\d+(?:/\d+){2,}\Z|0\d/\d+\Z"),
        _code,
        "2024-03-05",
    ),
}
_DEGREES = re.compile(r"(-?\d+(?:\.\d+)?)°()()\Z")
_ZEROS = re.compile(r"0\d+\Z")
_ZERO = re.compile(r"-?0*\.?0*\Z")


def compare_marked(gold: Part, answer: Part, terms: Terms) -> bool | None:
    """Whether two are the same marked answer; NotImplemented where neither has such a mark.

    >>> from setrl_grader.grammar import parse
    >>> compare_marked(parse("204_5"), parse("204_{5}"), lambda a, b: a == b)
    True
    >>> compare_marked(parse("12:30"), parse("2:5"), lambda a, b: a == b)
    False
    """
    keys = spaceless(gold.text), spaceless(answer.text)
    for name, mark in MARKS.items():
        found = [mark.read(key) for key in keys]
        if found == [None, None]:
            continue
        if name == "an angle with minutes":
            plain = [_DEGREES.match(key) for key in keys]
            found = [
                each or (bare and _angle(bare)) for each, bare in zip(found, plain, strict=True)
            ]
        return found[0] == found[1]
    if "ratio" in (gold.kind, answer.kind):
        sides = [each.parts if each.kind == "ratio" else (each,) for each in (gold, answer)]
        return _ratios(sides[0], sides[1], terms)
    return NotImplemented


def are_codes(gold: str, answer: str) -> bool:
    """Whether two different keys are digits whose zeros in front count: 0011 is not 00011.

    Three digits may be a number: 042 is 42.
    """
    return bool(_ZEROS.match(gold) and (_ZEROS.match(answer) or len(gold) > 3))


def _ratios(gold: tuple[Part, ...], answer: tuple[Part, ...], terms: Terms) -> bool | None:
    """a:b = c:d if a/b = c/d; so with more terms, all of them; two terms may be a fraction."""
    if len(gold) == 1 or len(answer) == 1:
        if {len(gold), len(answer)} != {1, 2}:
            return False
        return terms(*(each[0] if len(each) == 1 else _fraction(*each) for each in (gold, answer)))
    zeros = [[_ZERO.match(term.text) is not None for term in each] for each in (gold, answer)]
    if zeros[0] != zeros[1]:
        return False
    ours, theirs = ([t for t in each if not _ZERO.match(t.text)] for each in (gold, answer))
    verdicts = [
        terms(_fraction(ours[0], term), _fraction(theirs[0], other))
        for term, other in zip(ours[1:], theirs[1:], strict=True)
    ]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _fraction(top: Part, bottom: Part) -> Part:
    tree = Tree("/", (top.tree, bottom.tree)) if top.tree and bottom.tree else None
    text = rf"\frac{{{top.text}}}{{{bottom.text}}}"
    return Part("expression" if tree else "text", text, tree=tree)


_WORDS = re.compile(
    r"[A-Za-z]+(?:(?: |(?<=[a-z])'(?=[a-z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2}))[A-Za-z]+)*\Z"
)
_ANY_CASE = frozenset(
    ["yes", "no", "true", "false", "none", "odd", "even", "all", "one", "two", "six", "ten"]
)
_ONLY_LETTERS = re.compile(  # a word, or names of points; other letters are a product
    r"[A-Z]{2,3}\Z|(?=.?.?[aeiouAEIOU])[A-Za-z]{2,3}\Z"
)
_SYMBOLS = re.compile(r"(?:[A-Z][a-z]?(?:_?\d)*){2,}\Z|[ivx]{2,}\Z")  # CO_2, IV, iv, AB
_LETTERS = re.compile(r"(?<![\\a-zA-Z])(?:[a-zA-Z]{2,}|[A-J](?![a-zA-Z]))")
_CHOICE = re.compile(
    r"((?:[Oo]ption|[Cc]hoice)\s+)?(\(?)([A-J])([).]|:(?=\s)|\Z)\s*(.*)\Z", re.DOTALL
)
_FULL_STOP = re.compile(r"\.(?=\s|\Z)")


def is_words(text: str) -> bool:
    """Whether an answer is words, which are compared letter by letter, not a product of variables.

    >>> is_words("Tuesday"), is_words("No"), is_words("xy"), is_words("10 cm")
    (True, True, False, False)
    """
    if not _WORDS.match(text):
        return False
    long = "-" not in text or max(map(len, re.findall("[A-Za-z]+", text))) >= 4
    return (long and len(spaceless(text)) >= 4) or text.lower() in _ANY_CASE


def are_words(gold: str, answer: str) -> bool:
    """Whether two items are compared as words: one is words, or both are a few letters."""
    if is_words(gold) or is_words(answer):
        return True
    return all(_ONLY_LETTERS.match(text.strip()) for text in (gold, answer))


def is_symbol(key: str) -> bool:
    """Whether a gold is letters and digits that are not a product: CO_2, IV, AB."""
    return _SYMBOLS.match(key) is not None


def choice_of(text: str) -> tuple[str, str] | None:
    """Return the letter of a choice and the words behind it: "(D) x = 0" → ("D", "x = 0")."""
    found = _CHOICE.match(text)
    if not found or (found[2] and found[4] != ")"):
        return None
    is_word = found[5][:1].isalpha() or found[5][:1].isdecimal()
    if found[5] and not (found[1] or found[2] or is_word):
        return None
    return found[3], found[5]


def is_option(text: str) -> bool:
    """Whether what a gold has behind the letter of a choice is one option: a value, or words."""
    if not text or read_number(text):
        return True
    if text[:1] in "+-*/^_!" or choice_of(text) or re.match(r"(?:and|or)\b", text):
        return False
    return _is_read(text) or is_words(text)


def is_value(text: str) -> bool:
    """Whether an answer's text behind the letter of a choice is a value: it has a digit, no words.

    The gold is only a letter, so words may be a verdict: (B) excluded. A known unit is none.

    >>> is_value("12 cm"), is_value("x=3"), is_value("7C"), is_value("12 is wrong"), is_value("x")
    (True, True, False, False, False)
    """
    bare = split_unit(split_currency(text)[0])[0]
    has_digit = any(map(str.isdecimal, bare))
    return has_digit and not _LETTERS.search(bare) and bool(read_number(bare) or _is_read(bare))


def _is_read(text: str) -> bool:
    part = parse(text)
    return all(side.tree for side in (part.parts if part.kind == "relation" else (part,)))


def same_words(gold: str, answer: str) -> bool:
    """Whether two texts are the same words in any case; names of points, ABCD, keep their case."""
    one, other = (" ".join(_FULL_STOP.sub("", text).split()) for text in (gold, answer))
    any_case = (_looks_like_words(gold) and _looks_like_words(answer)) or (one.lower() in _ANY_CASE)
    return one.lower() == other.lower() if any_case else one == other


def _looks_like_words(text: str) -> bool:
    """Whether letters are words by their look: with a vowel; ABCD, aBcd and red may be others."""
    words = re.findall("[A-Za-z]+", text)
    letters = "".join(words)
    cases = all(word.islower() or word[1:].islower() or word.isupper() for word in words)
    names = letters.isupper() and len(letters) <= 5
    return (
        cases and not names and len(letters) > 3 and re.search("[aeiouyAEIOUY]", text) is not None
    )
