r"""Is an answer the gold? What can be decided without algebra; a function is asked for the rest.

Every answer is compared item by item, in brackets of the same kind: an interval is not a set, a
pair is not a list. The gold has a kind, and an answer of another kind is wrong: sets of reals,
marks (bases, primes, minutes, times of day, ratios, dates, permutations), numbers, words,
statements of algebra. What has no certain reading is text: it equals only the same text.
docs/rewards.md has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from setrl_grader.findings import Finding, every, matching
from setrl_grader.marks import are_codes, compare_marked, read_cycles
from setrl_grader.normal_form import same_text, spaceless
from setrl_grader.numbers import equal_numbers, number_of, read_number
from setrl_grader.reals import same_reals
from setrl_grader.shapes import Shape, is_chain, is_name, read_shape, sides, unnamed
from setrl_grader.units import currency_of, split_currency, split_unit
from setrl_grader.words import (
    are_words,
    choice_of,
    is_symbol,
    is_words,
    may_follow,
    may_stand_behind,
    phrase,
    same_words,
)

Algebra = Callable[[str, str], Finding]

MAX_ITEMS = 64
MAX_DEPTH = 4

_POINTS = re.compile(r"\\(?:angle|triangle|overrightarrow)(?![a-z])\s*\{?\s*([A-Z]+)")
_FUNCTION = re.compile(r"(\\?[a-zA-Z]+'*)\([a-z](?:,[a-z])*\)\Z")
_LABEL = re.compile(r"(?:[A-Z]|[IVX]+|[ivx]+)\Z")
_COUNTER = re.compile(
    r"\s*[,;(]\s*(?:(?:where|for|with)\s+)?([a-zA-Z])\s*"
    r"(?:\\in\s*(?:\\mathb[bf]\{Z\}|Z)|(?:is\s+)?(?:an?\s+|any\s+)?integer)\)?\Z"
)
_NO_LETTERS = re.compile(r"\\[a-zA-Z]+|\b(?:and|or)\b")
_UNEVALUATED = re.compile(r"\\(?:i{1,3}nt|oint|sum|prod|lim|[lcd]?dots)(?![a-zA-Z])|\.\.\.")
_INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|ne|lt|gt)(?![a-zA-Z])")
_NUMERAL = r"(?:\d+(?:\.\d*)?|\.\d+|\\frac\{\d+\}\{\d+\})"
_OPERATOR = r"(?:[-+*/]|\\times|\\cdot|\\div)"
_ONE_LETTER_UNIT = re.compile(r"\d\s+([a-zA-Z])\Z")  # 5 m, which may be a product
_ARITHMETIC = re.compile(rf"[(]*-?{_NUMERAL}(?:[)]*{_OPERATOR}[(]*-?{_NUMERAL})+[)]*\Z")
_FOREIGN = re.compile(r"[^\x00-\x7f°]|%.")  # Cyrillic letters, a percent sign within


def compare(
    gold: str, answer: str, *, relative_tolerance: float, units: bool = False, algebra: Algebra
) -> Finding:
    r"""Return whether two normal forms are the same answer, and what decided it.

    Args:
        gold: Normal form of the correct answer.
        answer: Normal form of the given answer.
        relative_tolerance: For decimals, see `numbers.equal_numbers`.
        units: Whether a unit may be missing on one side; two different units still differ.
        algebra: Compares two single items that are not both numbers or words.

    >>> from setrl_grader.algebra import quick_algebra
    >>> for answer in (r"\{1,2\}", "(1.0,2)"):
    ...     found = compare("(1,2)", answer, relative_tolerance=1e-6, algebra=quick_algebra)
    ...     print(found.equal, found.rule)
    False brackets
    True entries
    """
    answer = _with_counter_of(gold, answer)
    return _Comparison(relative_tolerance, units, algebra).answers(gold, answer, MAX_DEPTH)


def refusal(gold: str, answer: str) -> str | None:
    r"""Why an answer is refused regardless of its value: "chain", "unevaluated", or None.

    An answer may do what the gold itself does: if the gold is a sum, the answer may be a sum.

    >>> refusal("2", "1+1=2"), refusal("9", r"\int_0^3 x^2 dx"), refusal("5", "2+3")
    ('chain', 'unevaluated', 'unevaluated')
    """
    if same_text(gold, answer):
        return None
    if _UNEVALUATED.search(answer) and not _UNEVALUATED.search(gold):
        return "unevaluated"
    if _chained(answer) and not (_chained(gold) or _may_be_another_form(gold, answer)):
        return "chain"
    if number_of(gold) and not number_of(answer) and _ARITHMETIC.match(spaceless(unnamed(answer))):
        return "unevaluated"
    return None


def _may_be_another_form(gold: str, answer: str) -> bool:
    """Whether both are equations and the gold gives no number: y = 2x + 3 is 2x − y + 3 = 0."""
    return len(sides(gold)) == len(sides(answer)) == 2 and number_of(gold) is None


def _chained(text: str) -> bool:
    return any(is_chain(item) for item in read_shape(text).items)


class _Comparison:
    def __init__(self, relative_tolerance: float, units: bool, algebra: Algebra):
        self.relative_tolerance = relative_tolerance
        self.units = units
        self.algebra = algebra

    def answers(self, gold: str, answer: str, depth: int) -> Finding:
        if same_text(gold, answer):
            return Finding(True, "same text", gold, answer)
        choices = choice_of(gold), choice_of(answer)
        if choices[0] and choices[1]:
            return self._choices(gold, answer, (choices[0], choices[1]), depth)
        gold, answer = (
            text[1] if text and text[1] else whole
            for text, whole in zip(choices, (gold, answer), strict=True)
        )
        reals = same_reals(gold, answer, lambda one, other: self.items(one, other).equal)
        if reals is not NotImplemented:
            return Finding(reals, "reals", gold, answer)
        return self._shapes(gold, answer, depth)

    def _choices(
        self, gold: str, answer: str, read: tuple[tuple[str, str], tuple[str, str]], depth: int
    ) -> Finding:
        """Compare two choices: the letters must be the same, and so the texts behind them."""
        (one, gold_text), (other, answer_text) = read
        if one != other or depth == 0:
            return Finding(False, "choice", one, other)
        if gold_text and answer_text:
            return every("choice", gold, answer, [self.answers(gold_text, answer_text, depth - 1)])
        doubt = not (may_stand_behind(answer_text) if answer_text else may_follow(gold_text))
        return Finding(not doubt, "choice in doubt" if doubt else "choice", gold, answer)

    def _shapes(self, gold: str, answer: str, depth: int) -> Finding:
        cycles = [read_cycles(spaceless(one)) for one in (gold, answer)]
        if None not in cycles:  # their brackets are part of the mark
            return Finding(cycles[0] == cycles[1], "mark", gold, answer)
        ours, theirs = _alike(read_shape(gold), read_shape(answer))
        nested = depth < MAX_DEPTH or r"\emptyset" in gold + answer
        if nested and gold.startswith("\\{") != answer.startswith("\\{"):
            return Finding(False, "brackets", gold, answer)  # a set is not its only member
        if unlike := _unlike(ours, theirs):
            return Finding(False, unlike, gold, answer)
        sizes = len(ours.items), len(theirs.items)
        if sizes == (1, 1) and not (ours.brackets or theirs.brackets):
            return self.items(ours.items[0], theirs.items[0])
        if (ours.brackets or "{}") != (theirs.brackets or "{}"):
            return Finding(False, "brackets", gold, answer)
        if sizes[0] != sizes[1]:
            return Finding(False, "how many", gold, answer, detail=tuple(map(str, sizes)))
        if max(sizes) > MAX_ITEMS or depth == 0:
            return Finding(False, "too large", gold, answer)
        if ours.ordered:
            pairs = zip(ours.items, theirs.items, strict=True)
            parts = (self.answers(*pair, depth - 1) for pair in pairs)
            return every("entries", gold, answer, parts)
        rows = [[self.answers(g, a, depth - 1) for a in theirs.items] for g in ours.items]
        return matching(gold, answer, rows)

    def items(self, gold: str, answer: str) -> Finding:
        """Compare two items: without their names, units and currencies, then by their kind."""
        one, other, differ = _without_names(gold, answer)
        if differ:
            return Finding(False, "names", gold, answer)
        if self.units:
            one, other = _without_lone_unit(one, other)
        keys = spaceless(one), spaceless(other)
        if same_text(one, other):
            found = Finding(True, "same text", one, other)
        elif {key[-1:] for key in keys} == {"%", "°"} or any("%%" in key for key in keys):
            found = Finding(False, "unit", one, other)
        else:
            found = self._amounts(one, other, keys)
            if found.equal is False and found.rule in ("expression", "unread"):
                found = _of_units(found, gold, answer)
        if (one, other) == (gold, answer):
            return found
        return Finding(found.equal, "without name or unit", gold, answer, (found,))

    def _amounts(self, gold: str, answer: str, keys: tuple[str, str]) -> Finding:
        amounts = _currencies(*keys)
        if amounts is None:
            return self._kinds(gold, answer, keys)
        if not amounts:
            return Finding(False, "unit", gold, answer)
        return every("without name or unit", gold, answer, [self.items(*amounts)])

    def _kinds(self, gold: str, answer: str, keys: tuple[str, str]) -> Finding:
        marked = compare_marked(*keys, lambda one, other: self.items(one, other).equal)
        if marked is not NotImplemented:
            return Finding(marked, "mark", gold, answer)
        if are_codes(*keys):
            return Finding(False, "mark", gold, answer)
        numbers = read_number(keys[0]), read_number(keys[1])
        if numbers[0] and numbers[1]:
            same = equal_numbers(numbers[0], numbers[1], self.relative_tolerance)
            return Finding(same, "number", gold, answer)
        if are_words(gold, answer):
            return Finding(same_words(gold, answer), "words", gold, answer)
        if is_symbol(keys[0]):
            return Finding(False, "symbol", gold, answer)
        if phrase(gold) == phrase(answer):
            return Finding(True, "words", gold, answer)
        if unread := next((text for text in (gold, answer) if _FOREIGN.search(text)), None):
            return Finding(False, "unread", gold, answer, detail=(unread,))
        if sorted(_POINTS.findall(gold)) != sorted(_POINTS.findall(answer)):
            return Finding(False, "points", gold, answer)
        return self.algebra(gold, answer)


def _without_names(gold: str, answer: str) -> tuple[str, str, bool]:
    """Return both without the names before them, where one has none or both have the same.

    Two different names are two different statements, x = 5 and y = 5, unless one side mentions
    the other's name: x = 2y and y = x/2 may be the same line, which takes algebra to decide.
    """
    gold_sides, answer_sides = sides(gold), sides(answer)
    if max(len(gold_sides), len(answer_sides)) > 2:
        return gold, answer, False
    named = [len(each) == 2 and is_name(each[0]) for each in (gold_sides, answer_sides)]
    if all(named) and spaceless(gold_sides[0]) == spaceless(answer_sides[0]):
        return gold_sides[1], answer_sides[1], False
    if named[0] and len(answer_sides) == 1:
        return gold_sides[1], answer, False
    if named[1] and len(gold_sides) == 1:
        return gold, answer_sides[1], False
    if all(named):
        statements = _same_function(gold_sides[0], answer_sides[0]) or _mentions(
            gold_sides, answer_sides
        )
        return gold, answer, not statements
    return gold, answer, len(gold_sides) != len(answer_sides)


def _same_function(gold: str, answer: str) -> bool:
    """Whether both sides name one function of letters, f(x) and f(z)."""
    found = [_FUNCTION.match(spaceless(text)) for text in (gold, answer)]
    return bool(found[0] and found[1] and found[0][1] == found[1][1])


def _mentions(gold: list[str], answer: list[str]) -> bool:
    """Whether the right-hand side of one equation has the left-hand side of the other in it."""
    return spaceless(gold[0]) in spaceless(answer[1]) or spaceless(answer[0]) in spaceless(gold[1])


def _alike(gold: Shape, answer: Shape) -> tuple[Shape, Shape]:
    """Return both as tuples where one is a named tuple: x = 1, y = 2 is (x, y) = (1, 2)."""
    gold, answer = (_with_name_for_all(shape) for shape in (gold, answer))
    named = _named_tuple(gold), _named_tuple(answer)
    if named[0] and named[1] and "()" in (gold.brackets, answer.brackets):
        return named[0], named[1]
    if (named[0] is None) == (named[1] is None):
        return gold, answer
    found, other = (named[0], answer) if named[0] else (named[1], gold)
    assert found is not None
    if other.brackets == "()":
        as_tuple = other
    elif not (other.brackets or any(map(_is_named, other.items))) and len(other.items) > 1:
        as_tuple = replace(other, brackets="()")
    else:
        return gold, answer
    return (found, as_tuple) if named[0] else (as_tuple, found)


def _with_name_for_all(shape: Shape) -> Shape:
    """Return x = 1, 2 as x = 1, x = 2: otherwise, 2 would be the value of any name."""
    first, *others = shape.items
    if shape.brackets or not others or not _is_named(first) or any(map(_is_named, others)):
        return shape
    name = sides(first)[0]
    return replace(shape, items=(first, *(f"{name}={item}" for item in others)))


def _named_tuple(shape: Shape) -> Shape | None:
    """Return (x, y) = (1, 2), also if it is written x = 1, y = 2; None for any other shape."""
    if shape.brackets == "()" and shape.names.startswith("("):
        return shape
    names = _names_of(shape)
    different = len(names) > 1 and len(names) == len(set(names))
    if shape.brackets or len(names) != len(shape.items) or not different or "or" in shape.joints:
        return None
    values = tuple(unnamed(item).strip() for item in shape.items)
    return Shape("()", values, f"({','.join(names)})")


def _names_of(shape: Shape) -> list[str]:
    return [sides(item)[0].strip() for item in shape.items if _is_named(item)]


def _with_counter_of(gold: str, answer: str) -> str:
    """Return the answer with the gold's name of a whole number: kπ, k ∈ ℤ is nπ, n ∈ ℤ.

    Both must say that it is whole. It has one name in all of an answer: (kπ, k) is not (nπ, k).
    """
    ours, theirs = _COUNTER.search(gold), _COUNTER.search(answer)
    if not (ours and theirs):
        return answer
    new, old, family = ours[1], theirs[1], answer[: theirs.start()]
    families = gold[: ours.start()], family
    letters = [re.findall("[a-zA-Z]", _NO_LETTERS.sub(" ", text)) for text in families]
    if new not in letters[0] or old not in letters[1] or (new != old and new in letters[1]):
        return answer
    renamed = re.sub(
        rf"{_NO_LETTERS.pattern}|{old}", lambda m: new if m[0] == old else m[0], family
    )
    return renamed + ours[0]


def _currencies(gold: str, answer: str) -> tuple[str, str] | Literal[False] | None:
    """Return both amounts without their currency; False if currencies differ, None without any."""
    amounts = [split_currency(key) for key in (gold, answer)]
    if not any(sign for _, sign in amounts):
        return None
    bare = [
        amount
        if amount[1]
        else (split_unit(key) if currency_of(split_unit(key)[1]) in "$€£¥₹" else (key, ""))
        for amount, key in zip(amounts, (gold, answer), strict=True)
    ]
    signs = {currency_of(sign) for _, sign in bare if sign}
    other_unit = any(amount[-1:] in "%°" or split_unit(amount)[1] for amount, _ in bare)
    return False if len(signs) > 1 or other_unit else (bare[0][0], bare[1][0])


def _is_named(item: str) -> bool:
    parts = sides(item)
    return len(parts) == 2 and is_name(parts[0])


def _unlike(gold: Shape, answer: Shape) -> str | None:
    """Return the rule if names or joints differ: (x, y) or (y, x); and or or between words."""
    if gold.names and answer.names and spaceless(gold.names) != spaceless(answer.names):
        return "names"
    if ("or" in gold.joints) == ("or" in answer.joints):
        return None
    if any(is_words(item) or _LABEL.match(item) for item in gold.items):
        return "joints"
    if any(len(set(_names_of(shape))) > 1 for shape in (gold, answer)):
        return "joints"  # x = 2 or y = 3 is not a pair
    joints = {gold.joints, answer.joints} == {frozenset({"and"}), frozenset({"or"})}
    return "joints" if joints and any(_INEQUALITY.search(item) for item in gold.items) else None


def _of_units(found: Finding, gold: str, answer: str) -> Finding:
    """Return what was found, but named as another unit if both have one: 5 m and 500 cm."""
    known = [currency_of(split_unit(text)[1]) for text in (gold, answer)]
    alone = [_ONE_LETTER_UNIT.search(text) for text in (gold, answer)]
    units = [unit or (letter and letter[1]) for unit, letter in zip(known, alone, strict=True)]
    if not any(known) or not all(units) or units[0] == units[1]:
        return found
    return Finding(False, "unit", found.gold, found.answer)


def _without_lone_unit(gold: str, answer: str) -> tuple[str, str]:
    (bare_gold, gold_unit), (bare_answer, answer_unit) = (
        (amount, sign) if sign else split_unit(text)
        for text in (gold, answer)
        for amount, sign in [split_currency(text)]
    )
    if gold_unit and answer_unit and currency_of(gold_unit) != currency_of(answer_unit):
        return gold, answer
    if (gold_unit or answer_unit) and (gold + answer).rstrip().endswith(("%", "°")):
        return gold, answer
    if r"\pi" in gold + answer and {gold_unit, answer_unit} & {"degree", "degrees"}:
        return gold, answer
    return bare_gold, bare_answer
