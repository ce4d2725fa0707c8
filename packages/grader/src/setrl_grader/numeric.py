r"""Expressions as numbers at many points: what is not a rational function.

Bounds of the difference refute where they leave out 0, and confirm where they are too near to 0
for anything else. Where only one side has values on an interval, both differ: 2 ln x is not ln(x²).
Single points do not count: (x² − 1)/(x − 1).
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

from setrl_grader.numbers import Number, equal_numbers, literal
from setrl_grader.pieces import has_pieces, without_pieces
from setrl_grader.trees import COUNTS, Tree, exact_value, has, letters_of, walk
from setrl_grader.values import (
    CANCELLED,
    DRAWN,
    Context,
    alone,
    in_digits,
    is_bumpy,
    mp,
    size_of,
    value_at,
)

Point = dict[str, Any]

POINTS, NEEDED = 8, 3
MAX_COUNT = 1_000
_SPREADING = {"*", "/", "^", "root", "abs", "floor", "ceil", "!", "!!", "binom"}
_COUNTERS = frozenset("nkm")
DIGITS = 60
CONFIRMING_DIGITS, MOST_DIGITS = 1_000, 20_000  # √(10⁸⁰ + 1) is 10⁴⁰ in sixty digits
CONFIRMING = 3  # points
MAX_ROUNDED = mp.mpf(10) ** 20_000  # beyond all decimals that are read
SHOWN_DIGITS = 20


def usual_points(one: Tree, other: Tree) -> list[Point]:
    """Points of all signs and of several sizes; positive integers where something is counted.

    They depend on both expressions, so no answer can be made to agree with the gold only there,
    and the answer does not choose their kind: what it counts must be a counter of the gold.
    """
    letters = sorted(letters_of(one) | letters_of(other))
    if not letters:
        return [{}]
    if _are_whole(one, other):
        return whole_points(one, other)
    rng = _random(one, other)
    scales = [Fraction(1)] * POINTS + [Fraction(1, 10**3), Fraction(40), Fraction(10**3)]
    scales += [Fraction(1, 4), Fraction(4)] * NEEDED  # where arcsin has values, and √(x² − 1)
    signs = [[-1 if at < POINTS and at >> place % 3 & 1 else 1 for place in range(len(letters))]
             for at in range(len(scales))]  # fmt: skip
    return [
        {letter: sign * _real(rng) * scale.numerator / scale.denominator
         for letter, sign in zip(letters, row, strict=True)}
        for row, scale in zip(signs, scales, strict=True)
    ]  # fmt: skip


def _are_whole(one: Tree, other: Tree) -> bool:
    """Whether letters are whole because the gold counts; or the answer does, of the gold's n."""
    letters = letters_of(one)
    return has(one, COUNTS) or (
        has(other, COUNTS) and letters_of(other) <= letters and letters <= _COUNTERS
    )


def _random(one: Tree, other: Tree) -> random.Random:
    return random.Random(f"{one} {other}")


def _real(rng: random.Random) -> Any:
    """Return a number between 0.3 and 3 that is no multiple of a number that is easy to write."""
    return mp.mpf(3 * 2**199 + rng.getrandbits(202)) / (2**202 + rng.getrandbits(200))


def whole_points(one: Tree, other: Tree) -> list[Point]:
    """Integers on both sides of where a binomial coefficient begins; none if that is too far."""
    letters = sorted(letters_of(one) | letters_of(other))
    rng = _random(one, other)
    most = max(14, _reach(one), _reach(other))
    if most > MAX_COUNT:
        return []
    ranges = (0, 14), (most, 2 * most + 14), (most, MAX_COUNT)
    points = [
        {letter: mp.mpf(rng.randint(*ranges[2 if at >= 2 * POINTS else at >> place % 3 & 1]))
         for place, letter in enumerate(letters)}
        for at in range(3 * POINTS)
    ]  # fmt: skip
    near = {constant + off for constant in {0, *_constants(one), *_constants(other)}
            for off in range(-2, 5)}  # fmt: skip
    at = [mp.mpf(each) for each in sorted(near) if 0 <= each <= MAX_COUNT]
    return points + [{**points[0], letter: each} for letter in letters for each in at]


def is_whole(point: Point) -> bool:
    """Whether all places of a point are whole numbers."""
    return bool(point) and all(place == int(place) for place in point.values())


def _reach(tree: Tree, counted: bool = False) -> int:
    """Return how far from 0 a constant within a factorial or a binomial coefficient may act."""
    if not counted:
        inside = [_reach(part, tree.op in COUNTS) for part in tree.parts]
        return max([0, *inside])
    if tree.op == "letter":
        return 0
    if not letters_of(tree):
        value = value_at(tree, {})
        return MAX_COUNT + 1 if value in (None, NotImplemented) else _most(abs(value) + 1)
    parts = [max(1, _reach(part, counted=True)) for part in tree.parts]
    if tree.op == "^" and letters_of(tree.parts[1]):
        return _most(mp.mpf(parts[0]) ** parts[1])
    if tree.op in ("+", "-"):
        return _most(sum(parts))
    return _most(math.prod(parts) if tree.op in _SPREADING else mp.inf)


def _most(number: Any) -> int:
    return int(min(number, MAX_COUNT + 1))


def _constants(tree: Tree) -> list[int]:
    return [int(each.text) for each in walk(tree) if each.text.isdecimal() and len(each.text) < 10]


def is_counted(one: Tree, other: Tree, points: list[Point], bare_degrees: bool) -> bool:
    """Whether letters are whole numbers: (−1)ⁿ has no value elsewhere."""
    letters = letters_of(one) | letters_of(other)
    if not letters or has(one, COUNTS) or has(other, COUNTS):
        return False
    counters = letters <= _COUNTERS
    return any(
        all(value_at(tree, point, bare_degrees) is None for point in points)
        for tree in ((one, other) if counters else (one,))
    )


@alone()
def equal_numeric(one: Tree, other: Tree, relative_tolerance: float) -> bool | None:
    r"""Whether two expressions agree at random points; None where too few have values.

    A degree mark outside of functions may be a unit (30° is 30) or an angle (30° is π/6).

    Args:
        one: The gold.
        other: The answer.
        relative_tolerance: How far a decimal that is a whole side may be from the number that it
            rounds, if that is not an integer. All else agrees in 980 digits.
    """
    marked = [tree for tree in (one, other) if tree.op == "degrees"]
    bare = any(not has(tree, {"apply"}) for tree in marked)
    bare &= not any(has(tree.parts[0], {"degrees"}) or letters_of(tree) for tree in marked)
    constants = {each.text for tree in (one, other) for each in walk(tree) if each.op == "constant"}
    bare &= r"\pi" not in constants  # 90° may be written 90, but π/2 are radians
    pair = _Pair(one, other, bare_degrees=False)
    verdict = pair.rounds(relative_tolerance) or pair.agrees()
    return _Pair(one, other, bare_degrees=True).agrees() if bare and not verdict else verdict


@alone()
def separating_point(one: Tree, other: Tree) -> tuple[str, str, str] | None:
    """Return a point at which two expressions differ, and both values; None if none was found."""
    if any(is_bumpy(tree) or has(tree, DRAWN) for tree in (one, other)):
        return None  # values there are drawn
    pair = _Pair(one, other, False)
    for point in usual_points(one, other):
        if pair.same_at(point) is False:
            with in_digits(DIGITS):
                values = [value_at(tree, point) for tree in (one, other)]
            texts = ["undefined" if each is None else _short(each) for each in values]
            at = ", ".join(f"{letter} = {_short(each)}" for letter, each in point.items())
            return at, texts[0], texts[1]
    return None


def _short(number: Any) -> str:
    return str(mp.nstr(number, SHOWN_DIGITS))


class _Pair:
    """Two expressions, and what a degree mark means in them."""

    def __init__(self, one: Tree, other: Tree, bare_degrees: bool):
        self.trees, self.bare_degrees = (one, other), bare_degrees
        self.letters = letters_of(one) | letters_of(other)
        self.operations = max(sum(bool(each.parts) for each in walk(tree)) for tree in self.trees)

    def rounds(self, relative_tolerance: float) -> bool:
        """Whether one side is a decimal, and the other a number that it rounds or cuts."""
        numbers = [literal(tree) for tree in self.trees]
        decimals = [number if number and number.decimal else None for number in numbers]
        number, exact = decimals[0] or decimals[1], self.trees[decimals[0] is not None]
        if self.letters or number is None or None not in decimals:
            return False
        with in_digits(DIGITS):
            about = value_at(exact, {}, self.bare_degrees)
            if about is None or about is NotImplemented or isinstance(about, mp.mpc):
                return False
            if abs(about) > MAX_ROUNDED or abs(about - mp.nint(about)) < mp.mpf(10) ** -30:
                return False
            near = Fraction(int(about * 10**DIGITS), 10**DIGITS)
        return equal_numbers(Number(near), number, relative_tolerance)

    def agrees(self) -> bool | None:
        """Whether they agree at points and in each piece of |u| and √u; None if not known."""
        points = usual_points(*self.trees)
        if is_counted(*self.trees, points, self.bare_degrees):
            points = whole_points(*self.trees)
        near = []
        for point in points:
            if (same := self.same_at(point)) is False:
                return False
            near += [point] if same is True else []
        missing = CONFIRMING if self.letters else 1
        while near and missing:
            if (same := self.same_at(near.pop(), sure=True)) is False:
                return False
            missing -= same is True
        if missing or not any(map(has_pieces, self.trees)):
            return None if missing else True
        return self._is_proved()

    def _is_proved(self) -> bool | None:
        """Whether rewriting makes both sides equal: points in pieces prove nothing."""
        proved = (
            each is None
            or (not any(map(has_pieces, each)) and _Pair(*each, self.bare_degrees).agrees())
            for each in without_pieces(*self.trees)
        )
        return any(proved) or None

    def same_at(self, point: Point, sure: bool = False) -> Any:
        """Whether two values at a point are equal; no, if only one side has a value.

        None if there are none, NotImplemented if it is not known. A point is inside of an interval.
        Whole numbers are not: there one side may just not be defined. More digits are taken until
        the bounds of the difference are so near to 0 that they are sure.
        """
        if is_whole(point) and None not in (exact := self._exactly(point)):
            return exact[0] == exact[1]  # 1000! hides all beside it
        digits, most = DIGITS, 2 * MOST_DIGITS if sure else CONFIRMING_DIGITS
        while digits <= most:
            sides = [Context(tree, point, self.bare_degrees) for tree in self.trees]
            with in_digits(digits):
                values = [side.bounds(tree) for side, tree in zip(sides, self.trees, strict=True)]
                missing = [value is None for value in values]
                if any(missing):
                    return None if all(missing) or not point or is_whole(point) else False
                near = self._needed(sides) if sure else DIGITS - CANCELLED
                if near > MOST_DIGITS or any(value is NotImplemented for value in values):
                    break
                gap, tiny = values[0] - values[1], mp.mpf(10) ** -near
                if 0 not in gap:
                    return False
                if size_of(gap) <= tiny * max(*map(size_of, values), tiny) < math.inf:
                    return True
            digits = max(2 * digits, near + CANCELLED if sure else most)
        return NotImplemented

    def _needed(self, sides: list[Context]) -> int:
        """Return the digits in which a difference shows, beside the largest number that occurs.

        Where u is 10⁻ᵈ, cos u is 1 − 10⁻²ᵈ / 2, and cos u · cosh u is 1 − 10⁻⁴ᵈ / 6: each operation
        may cancel one more order.
        """
        span = max(side.span for side in sides)
        return max(CONFIRMING_DIGITS, 2 * span * (2 + self.operations) + 2 * CANCELLED)

    def _exactly(self, point: Point) -> list[Fraction | None]:
        at = {letter: Fraction(int(place)) for letter, place in point.items()}
        return [exact_value(tree, at) for tree in self.trees]
