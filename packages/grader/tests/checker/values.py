"""The values of expressions: exact where they are rational, else in sixty and 3,000 digits."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb, factorial, prod
from typing import Any

from checker.verdicts import UnreadError, need

Tree = tuple[Any, ...]  # ("num", value, step), ("letter", name), (operation, part, …)
Point = Mapping[str, Any]

POINTS = 24
FARTHEST = 300  # whole numbers at which something is counted
DIGITS = (60, 3_000)
MOST_BITS = 60_000
_MPMATH = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "ln": "log"}


def letters_of(tree: Tree) -> set[str]:
    """Return the letters of an expression."""
    if tree[0] == "letter":
        return {tree[1]}
    return set().union(*(letters_of(part) for part in tree[1:] if isinstance(part, tuple)))


def same_values(one: Tree, other: Tree) -> bool:
    """Whether two expressions have the same values where both have one; three points are needed."""
    if one == other:
        return True
    names = sorted(letters_of(one) | letters_of(other))
    capitals = [_capitals(tree) for tree in (one, other)]
    if max(len(set(each)) for each in capitals) > 1 and capitals[0] != capitals[1]:
        raise UnreadError  # matrices may not commute
    if names and _has(("+", one, other), ("lfloor", "lceil")):
        raise UnreadError  # no few points see all steps
    counts = [_has(tree, ("!", "binom")) for tree in (one, other)]
    if counts == [False, True] and not letters_of(other) <= letters_of(one) & set("kmn"):
        raise UnreadError  # the gold does not say that its letters are whole
    if any(_bends(tree) or _has_far_pieces(tree) for tree in (one, other)):
        raise UnreadError  # no few points see all pieces
    found = [agree(one, other, point) for point in _points(names, one, other)]
    if _has(one, ("abs", "root")) and not _has(one, ("constant",)):
        for point in _points(names, one, other):
            missing = _is_real(one, point) and _is_real(other, point) is False
            need(not missing, "one side has no value there")
    if False in found:
        return False
    if found.count(True) < (3 if names else 1):
        raise UnreadError
    return True


def _bends(tree: Tree) -> bool:
    """Whether the absolute value of a power of a letter occurs, which may turn anywhere."""
    if tree[0] == "abs" and letters_of(tree) and _has(tree, ("^",)):
        return True
    return any(_bends(part) for part in tree[1:] if isinstance(part, tuple))


def _has_far_pieces(tree: Tree) -> bool:
    """Whether a number could put a piece of |u| or √u beyond the points."""
    if (tree[0] in ("abs", "root") or (tree[0] == "^" and letters_of(tree[2]))) and letters_of(
        tree[1]
    ):
        return _largest(tree) > (20 if _has(tree, ("ln",)) else 1_000)
    if tree[0].startswith("arc") and _has(tree, ("sin", "cos", "tan", "cot", "sec", "csc")):
        return bool(letters_of(tree))
    return any(_has_far_pieces(part) for part in tree[1:] if isinstance(part, tuple))


def _largest(tree: Tree) -> float:
    """Return the largest number in an expression, or the inverse of the smallest one."""
    if letters_of(tree):
        return max(_largest(part) for part in tree[1:] if isinstance(part, tuple))
    try:
        value = abs(exact(tree, {}))
    except (UnreadError, ZeroDivisionError):
        parts = [part for part in tree[1:] if isinstance(part, tuple)]
        return max(map(_largest, parts), default=4.0) if tree[0] != "^" else float("inf")
    return float(min(max(value, 1 / value), Fraction(10**9))) if value else 1.0


def _capitals(tree: Tree) -> list[str]:
    if tree[0] == "letter" and re.match("[A-Z]", tree[1]):
        return [tree[1]]
    return [name for part in tree[1:] if isinstance(part, tuple) for name in _capitals(part)]


def _constants(tree: Tree) -> list[Fraction]:
    if tree[0] == "num":
        return [tree[1]]
    return [each for part in tree[1:] if isinstance(part, tuple) for each in _constants(part)]


def _points(names: list[str], *trees: Tree) -> list[dict[str, Fraction]]:
    if not names:
        return [{}]
    rng = random.Random("/".join(names))
    whole = any(_has(tree, ("!", "binom")) for tree in trees) or set(names) <= set("kmn")
    near = sorted(each for tree in trees for each in _constants(tree))
    most = int(prod(max(Fraction(1), each) for each in near))
    if whole and most > FARTHEST:
        raise UnreadError  # a binomial coefficient may begin beyond all points
    sizes = [3, 9, 40, 10**3, 10**6, 10**9] if not whole else [6, 12, 30, 2 * most + 14]
    close: list[Fraction] = []
    if len(names) == 1 and whole:
        around = [at + off for at in (Fraction(0), *near[:9]) for off in range(-2, 4)]
        close = [at for at in around if at >= 0]
    elif len(names) == 1:  # both sides of where |x − c| turns
        third = Fraction(1, 3)
        close = [
            each for at in near[:9] for each in (at - third, at + third, -at - third, third - at)
        ]
    points = [{names[0]: at} for at in close]
    for at in range(POINTS):
        size = sizes[at % len(sizes)]
        bottom = 1 if whole or at % 2 else 97
        low = 0 if whole else -size * bottom
        points.append({name: Fraction(rng.randint(low, size * bottom), bottom) for name in names})
    return points


def _has(tree: Tree, operations: tuple[str, ...]) -> bool:
    return tree[0] in operations or any(
        _has(part, operations) for part in tree[1:] if isinstance(part, tuple)
    )


def agree(one: Tree, other: Tree, point: Point) -> bool | None:
    """Whether two values at a point are equal; None if one of them has no value that is known."""
    try:
        return exact(one, point) == exact(other, point)
    except UnreadError:
        pass
    except ZeroDivisionError:
        return None
    import mpmath

    verdict: bool | None = None
    for digits in DIGITS:
        with mpmath.workdps(digits):
            try:
                values = [about(tree, point) for tree in (one, other)]
            except (UnreadError, ZeroDivisionError, ValueError, OverflowError):
                return None
            real = not any(_has(tree, ("constant",)) and "i" in str(tree) for tree in (one, other))
            if real and any(isinstance(value, mpmath.mpc) for value in values):
                return None
            size = max(map(abs, values))
            if size > 10**2_500 or size < mpmath.mpf(10) ** -digits:
                return None if values[0] != values[1] else verdict
            verdict = bool(abs(values[0] - values[1]) <= size * mpmath.mpf(10) ** (30 - digits))
            if not verdict:
                return False
    return verdict


def _is_real(tree: Tree, point: Point) -> bool | None:
    """Whether an expression has a real value at a point; None if it is too large to know."""
    import mpmath

    try:
        return not isinstance(about(tree, point), mpmath.mpc)
    except (UnreadError, OverflowError):
        return None
    except (ZeroDivisionError, ValueError):
        return False


def exact(tree: Tree, point: Point) -> Fraction:
    """Return the rational value of an expression.

    Raises:
        UnreadError: If it has none, or one too large.
    """
    operation, *parts = tree
    if operation == "num":
        return parts[0]
    if operation == "letter":
        return Fraction(point[parts[0]]) if parts[0] in point else _unknown()
    if operation not in _RATIONAL:
        raise UnreadError
    return _RATIONAL[operation](*(exact(part, point) for part in parts))


def _unknown() -> Fraction:
    raise UnreadError


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator > 1 or abs(exponent) * bits > MOST_BITS or not (base or exponent > 0):
        raise UnreadError
    return base ** int(exponent)


def _counted(function: Callable[..., int], *values: Fraction) -> Fraction:
    if any(value.denominator > 1 or value < 0 for value in values):
        raise ZeroDivisionError
    if max(values) > 5_000:
        raise UnreadError
    return Fraction(function(*map(int, values)))


_RATIONAL: dict[str, Callable[..., Fraction]] = {
    "+": lambda *terms: sum(terms, Fraction(0)),
    "-": lambda value: -value,
    "*": lambda *factors: prod(factors, start=Fraction(1)),
    "/": lambda top, bottom: top / bottom,
    "^": _exact_power,
    "abs": abs,
    "!": lambda value: _counted(factorial, value),
    "binom": lambda top, bottom: _counted(comb, top, bottom),
    "lfloor": lambda value: Fraction(value.__floor__()),
    "lceil": lambda value: Fraction(value.__ceil__()),
}


def about(tree: Tree, point: Point) -> Any:
    """Return the value of an expression in the digits of now."""
    import mpmath

    operation, *parts = tree
    if operation == "call":
        keys = [mpmath.nstr(about(part, point), 25) for part in parts[1:]]
        return mpmath.mpf(random.Random(f"{parts[0]}{keys}").random()) + 1
    if operation == "constant":
        return {"e": +mpmath.e, "i": mpmath.mpc(0, 1), "pi": +mpmath.pi}[parts[0]]
    if operation in ("num", "letter"):
        value = exact(tree, point)
        return mpmath.mpf(value.numerator) / value.denominator
    values = [about(part, point) for part in parts]
    if operation in ("!", "binom", "lfloor", "lceil"):
        value = exact(tree, point)
        return mpmath.mpf(value.numerator) / value.denominator
    if operation == "abs" and isinstance(values[0], mpmath.mpc) and not _has(tree, ("constant",)):
        raise ValueError("no real value")
    if operation == "/" and values[1] == 0:
        raise ZeroDivisionError
    simple = {"+": mpmath.fsum, "*": mpmath.fprod}
    if operation in simple:
        return simple[operation](values)
    if operation == "root":
        odd = values[1] % 2 == 1 and not mpmath.im(values[0]) and values[0] < 0
        return (
            -mpmath.root(-values[0], int(values[1]))
            if odd
            else mpmath.root(values[0], int(values[1]))
        )
    rest: dict[str, Callable[..., Any]] = {
        "-": lambda value: -value,
        "/": lambda top, bottom: top / bottom,
        "^": mpmath.power,
        "abs": abs,
        "°": lambda value: value * mpmath.pi / 180,
    }
    if operation not in rest and abs(values[0]) > 10**9:
        raise UnreadError
    if operation == "^" and abs(values[1]) > 10**6:
        raise UnreadError
    if operation in ("tanh", "exp", "sinh", "cosh") and abs(values[0]) > DIGITS[1] // 5:
        raise UnreadError
    function = rest.get(operation) or getattr(mpmath, _MPMATH.get(operation) or operation)
    result = function(*values)
    if operation in ("^", "/") and result and abs(mpmath.log10(abs(result))) > DIGITS[1] // 3:
        raise UnreadError  # 10⁻⁹⁰⁰⁰ would be lost in a sum
    return result
