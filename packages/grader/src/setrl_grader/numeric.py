r"""Expressions as numbers of sixty digits at many points: what is not a rational function.

Points refute, and bounds of the difference at other points confirm. Where only one side has values
on an interval, both differ: 2 ln x is not ln(x²). Single points do not count: (x² − 1)/(x − 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from setrl_grader.arithmetic import alone, mp
from setrl_grader.bounds import UnboundedError, difference
from setrl_grader.exact import exact_value
from setrl_grader.numbers import Number, equal_numbers, literal
from setrl_grader.points import (
    NEEDED,
    Point,
    UnseenError,
    is_counted,
    is_whole,
    piece_points,
    usual_points,
    whole_points,
)
from setrl_grader.trees import Tree, has, letters_of
from setrl_grader.values import (
    CANCELLED,
    Context,
    TooLargeError,
    UndefinedError,
    is_bumpy,
    value,
    value_at,
)

DIGITS = 60
CONFIRMING_DIGITS, MOST_DIGITS = 1_000, 20_000  # √(10⁸⁰ + 1) is 10⁴⁰ in sixty digits
CONFIRMING = 3  # points
MAX_ROUNDED = mp.mpf(10) ** 20_000  # beyond all decimals that are read
SHOWN_DIGITS = 20


@alone
def equal_numeric(one: Tree, other: Tree, relative_tolerance: float) -> bool | None:
    r"""Whether two expressions agree at random points; None where too few have values.

    A degree mark outside of functions may be a unit (30° is 30) or an angle (30° is π/6).

    Args:
        one: The gold.
        other: The answer.
        relative_tolerance: How far a decimal that is a whole side may be from the number that it
            rounds, if that is not an integer. All else agrees in 40 digits and in 980.
    """
    verdict: bool | None = None
    bare = any(tree.op == "degrees" and not has(tree, {"apply"}) for tree in (one, other))
    bare &= not any(map(_has_pi, (one, other)))  # 90° may be written 90, but π/2 are radians
    for bare_degrees in (False, True) if bare else (False,):
        rounded = _rounded(one, other, relative_tolerance, bare_degrees)
        verdict = rounded or _agree(one, other, bare_degrees, DIGITS, usual_points(one, other))
        if verdict and not rounded:
            verdict = _confirmed(one, other, bare_degrees)
        if verdict:
            break
    return verdict


def _has_pi(tree: Tree) -> bool:
    return (tree.op, tree.text) == ("constant", r"\pi") or any(map(_has_pi, tree.parts))


@alone
def separating_point(one: Tree, other: Tree) -> tuple[str, str, str] | None:
    """Return a point at which two expressions differ, and both values; None if none was found."""
    if is_bumpy(one) or is_bumpy(other):
        return None  # values there are drawn
    with mp.workdps(DIGITS):
        for point in _all_points(one, other):
            values = [value_at(tree, point, False) for tree in (one, other)]
            if any(value is NotImplemented for value in values) or values == [None, None]:
                continue
            if None in values or _near(*values) is False:
                texts = ["undefined" if each is None else _short(each) for each in values]
                at = ", ".join(f"{letter} = {_short(each)}" for letter, each in point.items())
                return at, texts[0], texts[1]
    return None


def _all_points(one: Tree, other: Tree) -> Iterator[Point]:
    """Yield points, then those in the pieces of |u| and √u, as far as their ends are known."""
    yield from usual_points(one, other)
    with suppress(UnseenError):
        yield from (point for point, _ in piece_points(one, other))


def _short(number: Any) -> str:
    return str(mp.nstr(number, SHOWN_DIGITS))


def _rounded(one: Tree, other: Tree, relative_tolerance: float, bare_degrees: bool) -> bool:
    """Whether one side is a decimal, and the other a number that it rounds or cuts."""
    numbers = as_number(one), as_number(other)
    if letters_of(one) or letters_of(other) or (numbers[0] is None) == (numbers[1] is None):
        return False
    number, exact = (numbers[0], other) if numbers[0] else (numbers[1], one)
    assert number is not None
    with mp.workdps(DIGITS):
        try:
            about = value(exact, Context({}, exact, bare_degrees))
        except (UndefinedError, TooLargeError, ZeroDivisionError, ValueError, OverflowError):
            return False
        if mp.im(about) or abs(about) > MAX_ROUNDED:
            return False
        if abs(about - mp.nint(about)) < mp.mpf(10) ** -30:
            return False
        near = Fraction(int(mp.re(about) * 10**DIGITS), 10**DIGITS)
    return equal_numbers(Number(near), number, relative_tolerance)


def as_number(tree: Tree) -> Number | None:
    """Return the decimal that an expression is: 1.5, −1.5 or 1.5·10⁶; None for any other one."""
    if tree.op == "number" and "." in tree.text:
        return literal(tree)
    parts = [as_number(tree.parts[0])] if tree.op in ("-", "*") else [None]
    if parts[0] is None or parts[0].step is None:
        return None
    factor = Fraction(-1)
    if tree.op == "*":
        scale = tree.parts[1]
        if len(tree.parts) != 2 or scale.op != "^" or scale.parts[0].text != "10":
            return None
        exponent = scale.parts[1].parts[0] if scale.parts[1].op == "-" else scale.parts[1]
        if not exponent.text.isdecimal() or len(exponent.text) > 4:
            return None
        power = int(exponent.text)
        factor = Fraction(10) ** (-power if scale.parts[1].op == "-" else power)
    return Number(parts[0].value * factor, True, step=abs(parts[0].step * factor))


def _confirmed(one: Tree, other: Tree, bare_degrees: bool) -> bool | None:
    """Whether two that agree in sixty digits agree at other points, in many more digits.

    None if that takes too many: √2 + 10⁻²⁰⁰⁰ is √2 in a thousand digits.
    """
    points = usual_points(one, other, "second")
    if _needed(one, other, points[0]) > MOST_DIGITS:
        return None
    needed = NEEDED if letters_of(one) | letters_of(other) else 1
    verdict = None
    if not is_counted(one, other, points, bare_degrees):
        verdict = _all_in_bounds(one, other, points, bare_degrees, needed)
    if verdict is None:
        verdict = _agree(one, other, bare_degrees, _needed(one, other, points[0]), points)
    return _agree_in_pieces(one, other, bare_degrees) if verdict else verdict


def _all_in_bounds(
    one: Tree, other: Tree, points: list[Point], bare_degrees: bool, needed: int
) -> bool | None:
    """Whether two agree at points; None if at fewer than needed."""
    found: list[bool | None] = []
    for point in points:
        found.append(_same_in_bounds(one, other, point, bare_degrees))
        if found[-1] is False:
            return False
        if found.count(True) >= CONFIRMING:
            break
    return True if found.count(True) >= needed else None


def _same_in_bounds(one: Tree, other: Tree, point: Point, bare_degrees: bool) -> bool | None:
    """Whether the bounds of a difference are too near to 0 for anything but 0; None if not known.

    More digits are taken until the bounds are as near as `_needed` says.
    """
    needed = _needed(one, other, point)
    if needed > MOST_DIGITS:
        return None
    digits = needed + CANCELLED
    while digits <= 2 * MOST_DIGITS and not (bare_degrees and has(one, {"degrees"})):
        try:
            gap, size = difference(one, other, point, digits)
        except UnboundedError:
            break
        if 0 not in gap:
            return False
        if abs(gap).b <= mp.mpf(10) ** -needed * max(size, mp.mpf(10) ** -needed):
            return True
        digits *= 2
    with mp.workdps(needed):
        return _near_at(one, other, point, bare_degrees)


def _agree_in_pieces(one: Tree, other: Tree, bare_degrees: bool) -> bool | None:
    """Whether two agree in each piece of |u| and √u; None if that takes too many digits."""
    try:
        points = piece_points(one, other)
    except UnseenError:
        return None
    for point, is_alone in points:
        digits = _needed(one, other, point)
        near = None
        if digits <= MOST_DIGITS:
            with mp.workdps(digits):
                near = _near_at(one, other, point, bare_degrees)
        if near is False or (near is None and is_alone and _have_values(one, other, point)):
            return near
    return True


def _have_values(one: Tree, other: Tree, point: Point) -> bool:
    with mp.workdps(DIGITS):
        return all(value_at(tree, point) is not None for tree in (one, other))


def _needed(one: Tree, other: Tree, point: Point) -> int:
    """Return the digits in which a difference shows, beside the largest number that occurs.

    Where u is 10⁻ᵈ, cos u is 1 − 10⁻²ᵈ / 2, and cos u · cosh u is 1 − 10⁻⁴ᵈ / 6: each operation
    may cancel one more order.
    """
    span = max(_span(one, point), _span(other, point))
    return max(CONFIRMING_DIGITS, 2 * span * (2 + max(_size(one), _size(other))) + 2 * CANCELLED)


def _size(tree: Tree) -> int:
    """Return the number of operations."""
    return bool(tree.parts) + sum(map(_size, tree.parts))


def _span(tree: Tree, point: Mapping[str, Any]) -> int:
    """Return the digits of the largest value within an expression, or of the smallest below 1."""
    values = [tree, *tree.parts] if tree.op == r"\tanh" else [tree]
    sizes = [value_at(each, point, False) for each in values]
    known = [size for size in sizes if size is not None and size is not NotImplemented and size]
    digits = [abs(int(mp.log10(abs(size)))) for size in known]
    digits += [len(tree.text)] if tree.op == "number" else []  # 0.999… is near 1
    if tree.op == r"\tanh" and len(known) == 2:  # 1 − tanh u is about 2·exp(−2u)
        digits.append(int(abs(known[1])))
    return max([0, *digits, *(_span(part, point) for part in tree.parts)])


def _agree(
    one: Tree, other: Tree, bare_degrees: bool, digits: int, points: list[Point]
) -> bool | None:
    with mp.workdps(digits):
        verdict = _agree_at_points(one, other, points, bare_degrees)
        if not verdict and is_counted(one, other, points, bare_degrees):
            verdict = _agree_at_points(one, other, whole_points(one, other), bare_degrees)
        return verdict


def _agree_at_points(
    one: Tree, other: Tree, points: list[Point], bare_degrees: bool
) -> bool | None:
    found = [_near_at(one, other, point, bare_degrees) for point in points]
    found += [_same_exactly(one, other, point) for point in points if is_whole(point)]
    if False in found:
        return False
    letters = letters_of(one) | letters_of(other)
    return True if found.count(True) >= (NEEDED if letters else 1) else None


def _same_exactly(one: Tree, other: Tree, point: Point) -> bool | None:
    """Whether two have one rational value at a whole point: 1000! hides all beside it."""
    at = {letter: Fraction(int(place)) for letter, place in point.items()}
    values = exact_value(one, at), exact_value(other, at)
    return None if None in values else values[0] == values[1]


def _near_at(one: Tree, other: Tree, point: Point, bare_degrees: bool) -> bool | None:
    """Whether two values at a point are equal; no, if only one has a value; None if not known.

    A point is inside of an interval. Whole numbers are not: there one may just not be defined.
    """
    values = [value_at(tree, point, bare_degrees) for tree in (one, other)]
    if any(value is NotImplemented for value in values) or values == [None, None]:
        return None
    if None in values:
        return False if point and not is_whole(point) else None
    near = _near(*values)
    if near is False and _near_in_more_digits(one, other, point, bare_degrees):
        return None
    return near


def _near_in_more_digits(
    one: Tree, other: Tree, point: Mapping[str, Any], bare_degrees: bool
) -> bool:
    """Whether only cancellation keeps two values apart, as in cosh² x − sinh² x."""
    digits = mp.dps
    with mp.workdps(max(CONFIRMING_DIGITS, 2 * digits)):
        values = [value_at(tree, point, bare_degrees) for tree in (one, other)]
        found = all(value is not None and value is not NotImplemented for value in values)
        return found and _near(values[0], values[1], digits) is True


def _near(one: Any, other: Any, digits: int | None = None) -> bool | None:
    """Whether two values are equal except for rounding; None where this is unknown.

    Args:
        one: A value.
        other: Another value.
        digits: How many of the values' digits count; by default those of now.
    """
    scale, digits = max(abs(one), abs(other)), digits or mp.dps
    if digits > DIGITS and scale > mp.mpf(10) ** (digits // 2):  # 2024! + 1 is 2024! here
        return None
    if scale < mp.mpf(10) ** (CANCELLED - digits):  # cancellation hides the value
        return True if one == other else None
    return bool(abs(one - other) <= mp.mpf(10) ** (CANCELLED - digits) * scale)
