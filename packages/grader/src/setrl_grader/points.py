"""Points at which expressions are compared: of both signs, whole, in each piece of |u| and √u.

Between two zeros of u, |u| is u or −u, and √u has values or none. So two expressions with such
parts are equal only if they are in every piece, also in one that begins at 10³⁰.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any

from setrl_grader.arithmetic import in_digits, mp
from setrl_grader.budget import of_digits, spend
from setrl_grader.exact import exact_value
from setrl_grader.trees import Tree, has, letters_of, walk
from setrl_grader.values import value_at

Point = dict[str, Any]

POINTS, NEEDED = 8, 3
MAX_COUNT = 1_000
MAX_DEGREE = 8  # of polynomials within |u| and √u
MAX_CONSTANT = 50  # digits of the numbers of such a polynomial
ZERO_DIGITS = 1_000
REAL = mp.mpf(10) ** -20  # of the imaginary part of a root that is real
ROUNDED = mp.mpf(10) ** (-ZERO_DIGITS // 2)
ROUNDS = 30, 100  # of a search for zeros; few suffice if no two are equal
_ODD = 0.4837  # so that no point is 1, where (x − 1)/(√x − 1) has no value
_SPREADING = {"*", "/", "^", "root", "abs", "floor", "ceil", "!", "!!", "binom"}
_COUNTS = {"!", "!!", "binom"}
_COUNTERS = frozenset("nkm")
_LOGARITHMS = {r"\ln", "log"}


class UnseenError(Exception):
    """A piece of |u| or √u may begin where no point is."""


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
    return has(one, _COUNTS) or (
        has(other, _COUNTS) and letters_of(other) <= letters and letters <= _COUNTERS
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
    """Whether letters are whole numbers: (−1)ⁿ has no value elsewhere."""
    letters = letters_of(one) | letters_of(other)
    if not letters or has(one, _COUNTS) or has(other, _COUNTS):
        return False
    counters = letters <= _COUNTERS
    return any(
        all(value_at(tree, point, bare_degrees) is None for point in points)
        for tree in ((one, other) if counters else (one,))
    )


def piece_points(one: Tree, other: Tree, whole: bool = False) -> list[Point]:
    """Return points in each piece of |u| and √u: on both sides of all places where u is zero.

    Args:
        one: The gold.
        other: The answer.
        whole: Whether letters are whole numbers.

    Raises:
        UnseenError: If a piece may begin where no point is: if zeros are not known, or if u has
            several letters, so that its pieces are no intervals.
    """
    inner = [each for each in (*_pieces(one), *_pieces(other)) if letters_of(each)]
    domains = [*_domains(one), *_domains(other)]
    found: list[Point] = []
    if not (inner or domains):
        return found
    if inner and len(letters_of(one) | letters_of(other)) > 1:
        raise UnseenError
    shared = {*_domains(one)} & {*_domains(other)}
    base = next(iter((whole_points if whole else usual_points)(one, other)), None)
    if base is None:
        raise UnseenError
    with in_digits(ZERO_DIGITS):
        for letter in sorted(set().union(*map(letters_of, inner + domains))):
            zeros = set(chain.from_iterable(_zeros(each, letter, base) for each in inner))
            for each in domains:
                with suppress(UnseenError) if each in shared else nullcontext():
                    zeros |= {*_zeros(each, letter, base)}
            if zeros:
                found += [{**base, letter: at} for at in _between(sorted(zeros), whole)]
    return found


def _between(places: list[Any], whole: bool) -> list[Any]:
    """Return a place on each side of places and between them: a whole number if it must be."""
    low, high = places[0], places[-1]
    if whole:
        inside = [
            mp.floor(start) + 1 for start, end in pairwise(places) if mp.floor(start) + 1 < end
        ]
        return [mp.ceil(low) - 1, mp.floor(high) + 1, *inside]
    between = [
        low + (high - low) * _ODD
        for low, high in pairwise(places)
        if high - low > ROUNDED * (1 + abs(low))
    ]  # or they are one
    return [low - _ODD * (1 + abs(low)), high + _ODD * (1 + abs(high)), *between]


def _pieces(tree: Tree) -> list[Tree]:
    """Return each u of |u|, √u, powers whose exponent is no integer, and of arctan(1/u)."""
    found = [each.parts[0] for each in walk(tree) if each.op in ("abs", "root") or _is_root(each)]
    arcs = [each.parts[0] for each in walk(tree) if each.op == r"\arctan"]
    return found + [bottom for arc in arcs for bottom in _bottoms(arc)]


def _is_root(tree: Tree) -> bool:
    if tree.op != "^":
        return False
    exponent = exact_value(tree.parts[1], {})  # None where it has a letter: x/(2x) is 1/2
    return exponent is None or exponent.denominator > 1


def _domains(tree: Tree) -> list[Tree]:
    """Return each u of ln u, and u ± 1 of arcsin u: there is the end of where they have values."""
    found = [each.parts[-1] for each in walk(tree) if each.op in _LOGARITHMS]
    arcs = [each.parts for each in walk(tree) if each.op in (r"\arcsin", r"\arccos")]
    return found + [
        Tree("+", (*arc, Tree("number", text=end))) for arc in arcs for end in ("1", "-1")
    ]


def _zeros(tree: Tree, letter: str, base: Mapping[str, Any]) -> list[Any]:
    """Return where an expression is zero along a letter.

    A product is zero where a factor is, a quotient may change its sign where its bottom is zero,
    and |v| is v or −v.
    """
    spend(len(letters_of(tree)) + sum(1 for _ in walk(tree)))
    if letter not in letters_of(tree):
        return []
    if tree.op in ("*", "/", "-", "abs", "root") or (
        tree.op == "^" and not letters_of(tree.parts[1])
    ):
        return [zero for part in tree.parts for zero in _zeros(part, letter, base)]
    if (bars := _first_bars(tree)) is not None:
        signs = (bars.parts[0], Tree("-", bars.parts))
        either = [_replaced(tree, bars, sign) for sign in signs]
        return [zero for each in (*either, bars) for zero in _zeros(each, letter, base)]
    if (squared := _without_root(tree)) is not None:
        return _zeros(squared, letter, base)
    bottoms = [bottom for bottom in _bottoms(tree) if letter in letters_of(bottom)]
    roots = _roots(Tree("*", (tree, *bottoms)), letter, base)
    if roots is None:
        raise UnseenError
    ends = [zero for bottom in bottoms for zero in _zeros(bottom, letter, base)]
    return [*roots, *ends] or [mp.mpf(0)]


def _without_root(tree: Tree) -> Tree | None:
    """Return v − c² for √v + c, which is zero only where it is; None for anything else."""
    lettered = [part for part in tree.parts if letters_of(part)]
    if tree.op != "+" or len(lettered) != 1 or lettered[0].op != "root":
        return None
    inside, degree = lettered[0].parts
    rest = Tree("+", tuple(part for part in tree.parts if part is not lettered[0]))
    return Tree("+", (inside, Tree("-", (Tree("^", (Tree("-", (rest,)), degree)),))))


def _first_bars(tree: Tree) -> Tree | None:
    """Return an absolute value within an expression, of the innermost ones the first."""
    inside = next(filter(None, map(_first_bars, tree.parts)), None)
    return inside or (tree if tree.op == "abs" and letters_of(tree) else None)


def _replaced(tree: Tree, old: Tree, new: Tree) -> Tree:
    if tree == old:
        return new
    return Tree(tree.op, tuple(_replaced(part, old, new) for part in tree.parts), tree.text)


def _bottoms(tree: Tree) -> list[Tree]:
    return [each.parts[1] for each in walk(tree) if each.op == "/"]


def _digits(tree: Tree) -> float:
    """Return the digits of the largest number in an expression, or of the smallest below 1."""
    if letters_of(tree):
        return max(map(_digits, tree.parts), default=0.0)
    found = value_at(tree, {})
    if found is None or found is NotImplemented:
        raise UnseenError
    return abs(float(mp.log10(abs(found)))) if found else 0.0


def _roots(tree: Tree, letter: str, base: Mapping[str, Any]) -> list[Any] | None:
    """Return the real zeros of a polynomial of degree eight or less; None for anything else."""
    at = [mp.mpf(each) + mp.mpf(1) / 7 for each in range(MAX_DEGREE + 2)]
    values = [value_at(tree, {**base, letter: each}) for each in at]
    if None in values or NotImplemented in values or _digits(tree) > MAX_CONSTANT:
        return None
    spend(of_digits(ZERO_DIGITS, len(at) ** 3 / 2))
    powers = mp.matrix([[each**power for power in range(len(at))] for each in at])
    coefficients = [*mp.lu_solve(powers, mp.matrix(values))]
    noise = ROUNDED * max(map(abs, coefficients))
    while coefficients and abs(coefficients[-1]) <= noise:
        coefficients.pop()
    if len(coefficients) < 2 or len(coefficients) > MAX_DEGREE + 1:
        return None if coefficients[1:] else []
    for rounds in ROUNDS:
        spend(rounds * of_digits(ZERO_DIGITS, 4 * len(coefficients) ** 2))
        with suppress(mp.NoConvergence):
            roots = mp.polyroots(coefficients[::-1], maxsteps=rounds, extraprec=200)
            return [mp.re(each) for each in roots if abs(mp.im(each)) <= REAL * (1 + abs(each))]
    return None
