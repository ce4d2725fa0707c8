"""What a comparison found: equal or not, by which rule, and where two differ; as a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from setrl_grader.budget import BudgetError, budget
from setrl_grader.grammar import read
from setrl_grader.numeric import separating_point
from setrl_grader.trees import Tree, exact_value, letters_of

POINTS = 8
STEPS = 300_000  # to find a point
MAX_BITS = 1_000  # of a number in a sentence
_LETTER = re.compile(r"(?<![\\A-Za-z])[A-Za-z]")  # a variable, and not a command such as \sqrt
SENTENCES = {  # rule → the sentences for equal and for different
    "same text": ("{answer} is written like the gold", ""),
    "number": (
        "{answer} is the same number as {gold}, or rounds it",
        "the number {answer} is not {gold}",
    ),
    "within the error": ("{answer} is within the accepted error of {gold}", ""),
    "words": ("{answer} says the same words as {gold}", "the words {answer} are not {gold}"),
    "symbol": ("", "{gold} is a symbol, and {answer} is not written like it"),
    "choice": ("the choice is {gold}", "the choice is {answer}, not {gold}"),
    "choice in doubt": ("", "words after the letter of the choice leave doubt: {answer}"),
    "mark": ("{answer} is {gold} in the same notation", "{answer} is not {gold}"),
    "reals": (
        "{answer} and {gold} are the same set of real numbers",
        "{answer} and {gold} are not the same set of real numbers",
    ),
    "unit": ("", "{answer} has another unit than {gold}, and units are not converted"),
    "around": ("", "it is not known what {0} says there, before or behind the box"),
    "names": ("", "{answer} names something else than {gold}"),
    "brackets": ("", "{answer} has another kind of brackets than {gold}"),
    "joints": ("", '{answer} and {gold} differ in "and" and "or"'),
    "how many": ("", "the number of members is {1}, and {0} in the gold"),
    "too large": ("", "there are too many members to compare, or they are nested too deep"),
    "entries": ("all {n} entries are equal, in their order", "entry {at} differs: {part}"),
    "members": ("each of the {n} members of the gold is in the answer", ""),
    "member missing": ("", "{0} of the gold is not in the answer {answer}"),
    "without name or unit": ("{part}", "{part}"),
    "relation": ("", "{answer} is another relation than {gold}"),
    "unevaluated": ("", "{answer} leaves an operation to do that {gold} has done"),
    "two readings": (
        "",
        "{answer} is {gold} in one of two readings only, with {0}",
    ),
    "budget": ("", "to compare {answer} with {gold} takes more steps than are allowed"),
    "unread": ("", "{0} has no certain reading, so only the same text is equal to it"),
    "undecided": ("", "{answer} is too large to be compared with {gold}, or undefined"),
    "expression": (
        "{answer} and {gold} are equal wherever both have values",
        "{answer} is not {gold}{point}",
    ),
    "equation": (
        "{answer} and {gold} are the same statement",
        "no factor turns {answer} into {gold}",
    ),
}


class Finding(NamedTuple):
    """What one rule found about a gold and an answer, or about a part of each.

    Attributes:
        equal: Whether both are equal; None if this takes more than rational functions.
        rule: The rule that decided it; `SENTENCES` has them all.
        gold: The normal form of the gold's part.
        answer: The normal form of the answer's part.
        parts: What was found in their parts, if the rule has looked there.
        pairs: For members in any order: the place of each of the gold's members in the answer.
        detail: What the rule has seen: the missing member; the point and both values there.
    """

    equal: bool | None
    rule: str
    gold: str = ""
    answer: str = ""
    parts: tuple[Finding, ...] = ()
    pairs: tuple[int, ...] = ()
    detail: tuple[str, ...] = ()

    def decisive(self) -> Finding:
        """Return the innermost finding that made this one different, or the finding itself."""
        return self.parts[0].decisive() if self.parts and self.equal is False else self

    def record(self) -> dict[str, Any]:
        """Return the finding as JSON has it, without what is empty; the checker reads this."""
        found = self._asdict() | {"parts": [part.record() for part in self.parts]}
        return {name: value for name, value in found.items() if value not in ("", (), [])}


def every(rule: str, gold: str, answer: str, parts: Iterable[Finding]) -> Finding:
    """Return equal if all parts are equal, and different with the first part that differs."""
    found = tuple(parts)
    for at, part in enumerate(found):
        if part.equal is False:
            return Finding(False, rule, gold, answer, (part,), (at,))
    unknown = any(part.equal is None for part in found)
    return Finding(None if unknown else True, rule, gold, answer, found)


def matching(gold: str, answer: str, rows: Sequence[Sequence[Finding]]) -> Finding:
    """Return equal if each of the gold's members has a member of the answer for itself.

    Args:
        gold: All members of the gold.
        answer: All members of the answer.
        rows: For each of the gold's members, what was found for each of the answer's members.
    """
    hopeless = (row for row in rows if all(found.equal is False for found in row))
    if row := next(hopeless, None):
        return Finding(False, "member missing", gold, answer, detail=(row[0].gold,))
    free, pairs = list(range(len(rows))), []
    for row in rows:
        match = next((column for column in free if row[column].equal), None)
        if match is None:
            unknown = any(found.equal is None for each in rows for found in each)
            equal = None if unknown else False
            return Finding(equal, "member missing", gold, answer, detail=(row[0].gold,))
        free.remove(match)
        pairs.append(match)
    parts = tuple(row[at] for row, at in zip(rows, pairs, strict=True))
    return Finding(True, "members", gold, answer, parts, tuple(pairs))


def sentence(found: Finding) -> str:
    """Return what was found as a sentence without a full stop."""
    parts = [sentence(part) for part in found.parts]
    point = ""
    if found.rule == "expression" and found.detail:
        at, ours, theirs = found.detail
        where = f" at {at}: the gold is {ours} there" if at else f": the gold is {ours}"
        point = f"{where}, and the answer is {theirs}"
    value = found.rule == "expression" and found.equal and not _LETTER.search(found.gold)
    return SENTENCES["number" if value else found.rule][not found.equal].format(
        *found.detail,
        gold=found.gold,
        answer=found.answer,
        n=len(parts),
        part=parts[0] if parts else "the texts behind the letter differ",
        at=found.pairs[0] + 1 if found.pairs else 0,
        point=point,
    )


def with_point(found: Finding) -> Finding:
    """Return the finding with a point in the part where two expressions differ, if it is known."""
    if found.equal is False and found.rule == "expression" and not found.detail:
        one, other = read(found.gold), read(found.answer, found.gold)
        with suppress(BudgetError), budget(STEPS):
            return found._replace(detail=(one and other and _point(one, other)) or ())
    if not found.parts or found.equal:
        return found
    return found._replace(parts=tuple(with_point(part) for part in found.parts))


def _point(one: Tree, other: Tree) -> tuple[str, str, str] | None:
    """Return a point at which two expressions differ, and both values; at best, whole numbers."""
    letters = sorted(letters_of(one) | letters_of(other))
    for first in range(2, 2 + POINTS):
        point = {letter: Fraction(first + at) for at, letter in enumerate(letters)}
        values = exact_value(one, point), exact_value(other, point)
        if None not in values and values[0] != values[1]:
            texts = [_shown(value) for value in values if value is not None]
            return ", ".join(f"{letter} = {at}" for letter, at in point.items()), texts[0], texts[1]
    return separating_point(one, other)


def _shown(value: Fraction) -> str:
    """Return a number as people write it; Python writes no number of more than 4,300 digits."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if bits <= MAX_BITS else f"a number of {bits:,} bits"
