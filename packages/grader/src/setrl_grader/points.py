"""Points at which expressions are compared: of both signs and several sizes, or whole numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Set
from fractions import Fraction
from typing import Any

from setrl_grader.arithmetic import mp
from setrl_grader.trees import Tree, letters_of, walk
from setrl_grader.values import value_at

Point = dict[str, Any]

POINTS, NEEDED = 8, 3
MAX_COUNT = 1_000
_SPREADING = {"*", "/", "^", "root", "abs", "floor", "ceil", "!", "!!", "binom"}
_COUNTS = {"!", "!!", "binom"}
_COUNTERS = frozenset("nkm")


def usual_points(one: Tree, other: Tree) -> list[Point]:
    """Points of all signs and of several sizes; positive integers where something is counted.

    They depend on both expressions, so no answer can be made to agree with the gold only there,
    and the answer does not choose their kind: what it counts must be a counter of the gold.
    """
    letters = sorted(letters_of(one) | letters_of(other))
    if not letters:
        return [{}]
    whole = _whole_letters(one, other)
    if whole:
        return whole_points(one, other, whole)
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


def _whole_letters(one: Tree, other: Tree) -> set[str]:
    """Return the letters that the gold counts; or the answer does, of a gold in n, k and m.

    Where only the answer says so, nothing in it may be equal at whole numbers alone: sin πn.
    """
    found = _counted(one) | _signs(one)
    if found or not letters_of(other) <= letters_of(one) <= _COUNTERS:
        return found
    steps = any(each.op.startswith("\\") and letters_of(each) for each in walk(other))
    return set() if steps or _signs(other) else _counted(other)


def _counted(tree: Tree) -> set[str]:
    """Return the letters within factorials and binomial coefficients."""
    return set().union(*(letters_of(each) for each in walk(tree) if each.op in _COUNTS))


def _signs(tree: Tree) -> set[str]:
    """Return the letters in exponents of −1, which have values at whole numbers alone."""
    minus = Tree("-", (Tree("number", text="1"),))
    signs = (each.parts[1] for each in walk(tree) if each.op == "^" and each.parts[0] == minus)
    return set().union(*map(letters_of, signs))


def _random(one: Tree, other: Tree) -> random.Random:
    return random.Random(f"{one} {other}")


def _real(rng: random.Random) -> Any:
    """Return a number between 0.3 and 3 that is no multiple of a number that is easy to write."""
    return mp.mpf(3 * 2**199 + rng.getrandbits(202)) / (2**202 + rng.getrandbits(200))


def whole_points(one: Tree, other: Tree, whole: Set[str] = frozenset()) -> list[Point]:
    """Integers on both sides of where a binomial coefficient begins; none if that is too far.

    If only some letters are `whole`, the others are real.
    """
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
    points += [{**points[0], letter: each} for letter in letters for each in at]
    reals = set(letters) - whole if whole else ()
    return [point | {letter: _real(rng) for letter in reals} for point in points]


def is_whole(point: Point) -> bool:
    """Whether all places of a point are whole numbers."""
    return bool(point) and all(place == int(place) for place in point.values())


def _reach(tree: Tree, counted: bool = False) -> int:
    """Return how far from 0 a constant within a factorial or a binomial coefficient may act."""
    if not counted:
        inside = [_reach(part, tree.op in _COUNTS) for part in tree.parts]
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
    """Whether letters are whole numbers: the gold has no value elsewhere."""
    if not letters_of(one) | letters_of(other) or _whole_letters(one, other):
        return False
    turns = any(each.op in (r"\sin", r"\cos") for each in walk(one)) and _signs(other)
    counters = letters_of(one) | letters_of(other) <= _COUNTERS  # cos πn is (−1)ⁿ
    trees = (one, other) if turns and counters else (one,)
    return any(
        all(value_at(each, point, bare_degrees) is None for point in points) for each in trees
    )
