r"""Sets of real numbers: intervals, unions, conditions on one letter, \mathbb{R} without points.

    a set is where it is true: at the ends of all intervals of both answers, and between them

So two sets are equal if they hold the same ends and the same gaps between neighbouring ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from setrl_grader.grammar import ORDERS, TURNED
from setrl_grader.trees import Part, Tree, UnreadableError, degree, exact_value, has, letters_of
from setrl_grader.values import DRAWN, alone, value_at

MAX_ENDS = 128
_NO_NUMBERS = DRAWN | {"degrees"}  # unknown functions; an angle, or a number with a unit

_DEFINITE = {"<", ">", r"\le", r"\ge", r"\ne", r"\cup", r"\setminus"}


@dataclass(frozen=True)
class End:
    """An end of an interval: how it is written, its exact value if rational, about its value."""

    part: Part
    about: float
    exact: Fraction | None = None

    def is_same(self, other: End) -> bool | None:
        """Whether two ends are the same; None if they are too near to tell."""
        if self.part.text == other.part.text:
            return True
        if self.exact is not None and other.exact is not None:
            return self.exact == other.exact
        return None if math.isclose(self.about, other.about, rel_tol=1e-9, abs_tol=1e-12) else False


@dataclass(frozen=True)
class _Region:
    """An interval, or regions together ("or"), what they have in common, or the first without the
    others ("minus"); of conditions, "common" must not be empty, or they may mean a union.
    """

    op: str
    parts: tuple[_Region, ...] = ()
    ends: tuple[End, ...] = ()
    closed: tuple[bool, bool] = (False, False)

    def all_ends(self) -> list[End]:
        return [*self.ends, *(end for part in self.parts for end in part.all_ends())]

    def places(self, of: dict[End, int]) -> frozenset[int]:
        """Return the ends (odd numbers) and the gaps between them (even ones) that it holds."""
        if self.op == "interval":
            low, high = (2 * of[end] for end in self.ends)
            return frozenset(range(low + 2 - self.closed[0], high + 1 + self.closed[1]))
        first, *others = (part.places(of) for part in self.parts)
        if self.op in ("or", "minus"):
            return first.union(*others) if self.op == "or" else first.difference(*others)
        common = first.intersection(*others)
        if self.op == "common" and not common:
            raise UnreadableError
        return common


LOWEST, HIGHEST = End(Part("text", "-∞"), -math.inf), End(Part("text", "∞"), math.inf)
_INFINITE = {
    **{rf"{sign}\infty": HIGHEST for sign in ("", "+", "+ ")},
    **{rf"{sign}\infty": LOWEST for sign in ("-", "- ")},
}


def is_definite(part: Part) -> bool:
    r"""Whether a statement can only be a set of reals; (1, 2) may be a pair.

    >>> from setrl_grader.grammar import parse
    >>> [is_definite(parse(text)) for text in ("(1,2]", "(1,2)", r"(1,\infty)", "x>1")]
    [True, False, True, True]
    """
    half_open = part.kind in ("(]", "[)")
    infinite = part.kind == "text" and part.text in {*_INFINITE, r"\mathbb{R}"}
    signs = part.kind in ("relation", "union") and not _DEFINITE.isdisjoint(part.marks.split())
    return half_open or infinite or signs or any(map(is_definite, part.parts))


class Reals(NamedTuple):
    """A gold and an answer as sets of reals.

    Attributes:
        same: Whether they are the same; None if their ends are not known to be equal.
        has_other_ends: Whether the answer has ends that the gold lacks, and so leaves conditions to
            intersect or to unite.
    """

    same: bool | None
    has_other_ends: bool


def compare_reals(
    gold: Part, answer: Part, equal: Callable[[Part, Part], bool | None]
) -> Reals | None:
    r"""Compare two statements as sets of reals; None if they are not sets.

    >>> from setrl_grader.grammar import parse
    >>> one, other = parse("x<0 or x>1"), parse(r"(-\infty,0)\cup(1,\infty)")
    >>> compare_reals(one, other, lambda a, b: a == b)
    Reals(same=True, has_other_ends=False)
    >>> compare_reals(parse("x>6"), parse("x>6, x>2"), lambda a, b: a == b)
    Reals(same=True, has_other_ends=True)
    """
    if not (is_definite(gold) or is_definite(answer)):
        return None
    try:
        (name, one), (other_name, other) = _set(gold), _set(answer)
        ours, theirs = one.all_ends(), other.all_ends()
        places, sure = _places(ours + theirs, equal)
        same = one.places(places) == other.places(places)
    except UnreadableError:
        return None
    same = same and not (name and other_name and name != other_name)
    known = {places[end] for end in (*ours, LOWEST, HIGHEST)}
    return Reals(same and (sure or None), any(places[end] not in known for end in theirs))


def _places(
    ends: list[End], equal: Callable[[Part, Part], bool | None]
) -> tuple[dict[End, int], bool]:
    """Return the number of each end, equal ones alike, and whether all are known to be so."""
    if len(ends) > MAX_ENDS:
        raise UnreadableError
    places, sure, before = {LOWEST: -1}, True, LOWEST
    for end in sorted({*ends} - {LOWEST, HIGHEST}, key=lambda each: (each.about, each.exact or 0)):
        same = before.is_same(end)
        same = equal(before.part, end.part) if same is None else same
        sure &= same is not None
        places[end] = places[before] + (same is False)
        before = end
    return {**places, HIGHEST: places[before] + 1}, sure


def _set(part: Part) -> tuple[str, _Region]:
    """Read a set and the letter that it is about."""
    marks = part.marks.split()
    if part.kind == "builder":
        name, region = _set(part.parts[0])
        if name != part.marks:
            raise UnreadableError
        return "", region
    if part.kind == "relation":
        if marks == [r"\in"] and re.fullmatch("[a-zA-Z]", part.parts[0].text):
            return part.parts[0].text, _set(part.parts[1])[1]
        return _condition(part.parts, marks)
    if part.kind not in ("union", "list"):
        return "", _piece(part)
    found = [_set(each) for each in part.parts]
    names, regions = {name for name, _ in found}, tuple(region for _, region in found)
    if part.kind == "list":
        return _conditions(part, names, regions)
    if names != {""}:
        raise UnreadableError
    region = regions[0]
    for sign, more in zip(marks, regions[1:], strict=True):
        op = {r"\cup": "or", r"\cap": "and"}.get(sign, "minus")
        region = _Region(op, (region, more))
    return "", region


def _conditions(part: Part, names: set[str], regions: tuple[_Region, ...]) -> tuple[str, _Region]:
    """Return what conditions have in common, or with "or" between them all of them."""
    separators, definite = {*part.marks.split()}, [*map(is_definite, part.parts)]
    if separators == {"or"} and any(definite) and len(names - {""}) < 2:
        return "".join(names), _Region("or", regions)
    if not separators <= {",", "and"} or len(names) > 1 or "" in names or not all(definite):
        raise UnreadableError
    return names.pop(), _Region("common", regions)


def _piece(part: Part) -> _Region:
    """Read an interval, a set of points, or all numbers."""
    if part.text == r"\mathbb{R}":
        return _Region("interval", ends=(LOWEST, HIGHEST))
    if part.text != r"\emptyset" and part.kind not in ("{}", "()", "[)", "(]", "[]"):
        raise UnreadableError
    ends = [_end(each) for each in part.parts]
    if part.kind in ("text", "{}"):
        points = tuple(_Region("interval", ends=(end, end), closed=(True, True)) for end in ends)
        return _Region("or", (_Region("interval", ends=(LOWEST, LOWEST)), *points))
    if len(ends) != 2 or not ends[0].about < ends[1].about:
        raise UnreadableError
    return _Region("interval", (), tuple(ends), (part.kind[0] == "[", part.kind[1] == "]"))


def _condition(sides: tuple[Part, ...], signs: list[str]) -> tuple[str, _Region]:
    """Read an inequality about one letter."""
    if len(sides) > 3 or not ORDERS.issuperset(signs):
        raise UnreadableError
    if len(sides) == 2 and sides[0].tree and sides[0].tree.op == "abs":
        return _distance(sides[0].tree.parts[0], signs[0], sides[1])
    found = [_simple(*each) for each in zip(sides, signs, sides[1:], strict=False)]
    turned = {sign in (">", r"\ge") for sign in signs}
    alike = len(turned) == 1 and r"\ne" not in signs
    if len({name for name, _ in found}) > 1 or not (len(found) == 1 or alike):
        raise UnreadableError
    return found[0][0], _Region("and", tuple(region for _, region in found))


def _distance(inner: Tree, sign: str, most: Part) -> tuple[str, _Region]:
    """Read |u| < c as −c < u < c, and |u| > c as u < −c or u > c."""
    may_be_complex = inner.op == "letter" and inner.text in ("z", "w")
    if most.tree is None or sign == r"\ne" or may_be_complex:
        raise UnreadableError
    bare, least = Part("expression", "", tree=inner), Tree("-", (most.tree,))
    if inner.op == "letter":
        bare = bare._replace(text=inner.text)
    turned = Part("expression", f"-({most.text})", tree=least)
    (name, one), (_, other) = _simple(bare, sign, most), _simple(bare, TURNED[sign], turned)
    return name, _Region("and" if sign in ("<", r"\le") else "or", (one, other))


def _simple(left: Part, sign: str, right: Part) -> tuple[str, _Region]:
    """Solve a linear inequality; the letter may be on either side."""
    if re.fullmatch("[a-zA-Z]", right.text) and not re.fullmatch("[a-zA-Z]", left.text):
        left, sign, right = right, TURNED.get(sign, sign), left
    if re.fullmatch("[a-zA-Z]", left.text):
        return left.text, _beyond(sign, _end(right))
    if left.tree is None or right.tree is None:
        raise UnreadableError
    difference = Tree("+", (left.tree, Tree("-", (right.tree,))))
    names = letters_of(difference)
    if len(names) != 1:
        raise UnreadableError
    [name] = names
    zero, first = (exact_value(difference, {name: Fraction(at)}) for at in (0, 1))
    if zero is None or first is None or zero == first or degree(difference) > 1:
        raise UnreadableError
    slope = first - zero
    sign = TURNED.get(sign, sign) if slope < 0 else sign
    return name, _beyond(sign, _end_at(Part("text", str(-zero / slope)), -zero / slope))


def _beyond(sign: str, end: End) -> _Region:
    below = _Region("interval", ends=(LOWEST, end), closed=(False, sign == r"\le"))
    above = _Region("interval", ends=(end, HIGHEST), closed=(sign == r"\ge", False))
    return {"<": below, r"\le": below, r"\ne": _Region("or", (below, above))}.get(sign, above)


def _end(part: Part) -> End:
    if part.text in _INFINITE:
        return _INFINITE[part.text]
    if part.tree is None or letters_of(part.tree) or has(part.tree, _NO_NUMBERS):
        raise UnreadableError
    exact = exact_value(part.tree, {})
    with alone():
        return _end_at(part, value_at(part.tree, {}) if exact is None else exact)


def _end_at(part: Part, value: Any) -> End:
    try:
        about = float(value)
    except (OverflowError, TypeError):  # without a value, or a complex one
        raise UnreadableError from None
    if math.isinf(about):
        raise UnreadableError
    return End(part, about, value if isinstance(value, Fraction) else None)
