r"""Answers whose marks have a meaning: 204_5, 30°15', 12:30, 3:2:1, 6', (1 3 2), 2024-03-05.

Each kind equals only answers of its kind, with one exception: a ratio of two terms may be written
as the fraction. Where a mark has two meanings (12:30 is a time of day, or a ratio), only the same
answer is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

Terms = Callable[[str, str], bool | None]  # are two terms of a ratio equal?

_BASED = re.compile(r"(-?)\(?([0-9A-F.]+)\)?_(?:\{\(?([a-z0-9]+)\)?\}|(\w))\Z")
_INDEXED_NUMBER = re.compile(r"(?<!\^)(?<![\w.])[\d.]+\)?_")
_ANGLE = re.compile(r"(-?\d+(?:\.\d+)?)°(?:(\d+(?:\.\d+)?)')?(?:(\d+(?:\.\d+)?)'')?\Z")
_TIME = re.compile(r"(\d|[01]\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?((?:[aApP]\.?[mM]\.?)?)\Z")
_PRIMED = re.compile(r"(.*?[\d})])('+)\Z", re.DOTALL)
_CYCLES = re.compile(r"\(\d+(?: \d+)+\)(?:\(\d+(?: \d+)*\))*\Z|(?:\(\d+(?:,\d+)+\)){2,}\Z")
_REMAINDER = re.compile(r"(?:(\w+)\\equiv)?([^=\\]*?)\(?(?:\\pmod|(?<=\()mod)(\{\w+\}|\w+)\)?\Z")
_CODE = re.compile(r"\d+\\times\d+\Z|\d+(?:-\d+)+\Z|\d+(?:/\d+){2,}\Z|0\d/\d+\Z")
_COLON = re.compile(r":(?![^({\[]*[)}\]])")
_ZEROS = re.compile(r"0\d+\Z")
_ZERO = re.compile(r"-?0*\.?0*\Z")
_BASES = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
          "eight": "8", "nine": "9", "ten": "10", "sixteen": "16"}  # fmt: skip


def compare_marked(gold: str, answer: str, terms: Terms) -> bool | None:
    """Whether two keys are the same marked answer; NotImplemented where neither has such a mark.

    Args:
        gold: A normal form without spaces.
        answer: Another one.
        terms: Compares two terms of ratios.

    >>> compare_marked("204_5", "204_{5}", lambda a, b: a == b)
    True
    >>> compare_marked("12:30", "2:5", lambda a, b: a == b)
    False
    """
    for kind in MARKS:
        one, other = kind(gold), kind(answer)
        if one is None and other is None:
            continue
        if kind is _angle:
            one, other = one or _degrees(gold), other or _degrees(answer)
        return one == other
    if _INDEXED_NUMBER.search(gold) or _INDEXED_NUMBER.search(answer):
        return gold == answer  # bases within an expression: no algebra knows them
    if _COLON.search(gold) or _COLON.search(answer):
        return _ratios(_COLON.split(gold), _COLON.split(answer), terms)
    return NotImplemented


def are_codes(gold: str, answer: str) -> bool:
    """Whether two different keys are digits whose zeros in front count: 0011 is not 00011.

    Three digits may be a number: 042 is 42.
    """
    return bool(_ZEROS.match(gold) and (_ZEROS.match(answer) or len(gold) > 3))


def _based(text: str) -> tuple[str, str, str] | None:
    """Read a number in a base: its digits and the base, which both count."""
    found = _BASED.match(text)
    if not found:
        return None
    base = found[3] or found[4]
    return found[1], found[2].lstrip("0"), _BASES.get(base, base)


def _angle(text: str) -> Fraction | None:
    """Degrees with minutes, in degrees; just 30° is a number, whose mark may be missing."""
    found = _ANGLE.match(text)
    if not found or not (found[2] or found[3]):
        return None
    degrees, minutes, seconds = (Fraction(part or 0) for part in found.groups())
    return degrees + minutes / 60 + seconds / 3600


def _degrees(text: str) -> Fraction | None:
    return Fraction(text[:-1]) if re.fullmatch(r"-?\d+(?:\.\d+)?°", text) else None


def read_cycles(text: str) -> frozenset[tuple[str, ...]] | tuple[str, str] | None:
    """Read a permutation, (1 3 2)(4 5); cycles that share a number count as they are written."""
    if not _CYCLES.match(text):
        return None
    cycles = [re.findall(r"\d+", cycle) for cycle in text.split(")")[:-1]]
    moved = [number for cycle in cycles for number in cycle]
    if len(set(moved)) < len(moved):
        return ("cycles", text)
    firsts = [cycle.index(min(cycle)) for cycle in cycles]
    turned = [(*c[at:], *c[:at]) for c, at in zip(cycles, firsts, strict=True)]
    return frozenset(turned)


def _remainder(text: str) -> tuple[str, str | int, str] | None:
    """Read a remainder with its modulus: x ≡ 3 (mod 5)."""
    found = _REMAINDER.match(text)
    if not found:
        return None
    name, value, modulus = found[1] or "", found[2], found[3].strip("{}")
    if re.fullmatch(r"-?\d{1,500}", value) and re.fullmatch("0*[1-9][0-9]{0,500}", modulus):
        return name, int(value) % int(modulus), modulus
    return name, value, modulus


def _code(text: str) -> tuple[str, ...] | None:
    """Read a date, a score or a size, 2024-03-05, 3/5/2024, 2 × 3, which is not arithmetic."""
    if not _CODE.match(text):
        return None
    parts = [part.lstrip("0") for part in re.split(r"[-/]|\\times", text)]
    return (re.sub(r"\d", "", text), *parts)


def _time(text: str) -> tuple[int, int, int, str] | None:
    """Read a time of day; two digits below 60 follow the colon."""
    found = _TIME.match(text)
    if not found:
        return None
    half = found[4].replace(".", "").lower()
    return int(found[1]), int(found[2]), int(found[3] or 0), half


def _primes(text: str) -> tuple[str, str] | None:
    """Read a number of feet, inches or minutes: 6', 30''."""
    found = _PRIMED.match(text)
    return (found[1], found[2]) if found else None


def _ratios(gold: list[str], answer: list[str], terms: Terms) -> bool | None:
    """a:b = c:d if a/b = c/d; so with more terms, all of them; two terms may be a fraction."""
    if len(gold) == 1 or len(answer) == 1:
        ratio, fraction = (gold, answer[0]) if len(answer) == 1 else (answer, gold[0])
        return terms(_fraction(*ratio), fraction) if len(ratio) == 2 else False
    if len(gold) != len(answer):
        return False
    is_zero = [[_ZERO.match(term) is not None for term in each] for each in (gold, answer)]
    if is_zero[0] != is_zero[1]:
        return False
    gold, answer = ([term for term in each if not _ZERO.match(term)] for each in (gold, answer))
    verdicts = [
        terms(_fraction(gold[0], term), _fraction(answer[0], other))
        for term, other in zip(gold[1:], answer[1:], strict=True)
    ]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _fraction(top: str, bottom: str) -> str:
    return rf"\frac{{{top}}}{{{bottom}}}"


MARKS = (_based, _angle, _time, _primes, read_cycles, _remainder, _code)
"""What reads each kind of marked answer; None for another kind."""
