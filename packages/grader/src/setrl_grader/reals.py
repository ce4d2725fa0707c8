r"""Sets of real numbers: intervals, unions, conditions on one letter, \mathbb{R} without points."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from setrl_grader.expressions import Tree, letters_of, read
from setrl_grader.shapes import cut

MAX_PIECES = 32
MAX_EXPONENT = 1_000
MAX_COUNTED = 5_000  # of factorials and binomial coefficients

_DEFINITE = re.compile(
    r"\\(?:cup|setminus|infty|mathbb\{R\}|le|ge|ne)(?![a-zA-Z])|[<>]|\\mathbb\{R\}"
)
_HALF_OPEN = re.compile(r"\s*(?:\[[^()\[\]]*\)|\([^()\[\]]*\])\s*\Z")
_BUILDER = re.compile(r"\\\{\s*([a-zA-Z])\s*(?:\\in\s*\\mathbb\{R\}\s*)?[|:](.*)\\\}\Z", re.DOTALL)
_ELEMENT = re.compile(r"\s*([a-zA-Z])\s*\\in(?![a-zA-Z])(.*)\Z", re.DOTALL)
_SIGNS = ("<", ">", r"\le", r"\ge", r"\ne")


@dataclass(frozen=True)
class End:
    """An end of an interval: its text, its exact value if it is rational, and about its value."""

    text: str
    about: float
    exact: Fraction | None = None

    def is_same(self, other: End) -> bool | None:
        """Whether two ends are the same; None if they are too near to tell."""
        if self.text == other.text:
            return True
        if self.exact is not None and other.exact is not None:
            return self.exact == other.exact
        if math.isinf(self.about) or math.isinf(other.about):
            return self.about == other.about
        return None if math.isclose(self.about, other.about, rel_tol=1e-9, abs_tol=1e-12) else False


@dataclass(frozen=True)
class Piece:
    """An interval, or a point, which is an interval with equal ends."""

    low: End
    high: End
    closed: tuple[bool, bool]


Pieces = tuple[Piece, ...]


class _NotReadError(Exception):
    """The text is not a set of real numbers, or this reader cannot order its ends."""


LOWEST, HIGHEST = End("-∞", -math.inf), End("∞", math.inf)
ALL = (Piece(LOWEST, HIGHEST, (False, False)),)


def is_definite(text: str) -> bool:
    r"""Whether text can only be a set of reals; (1, 2) may be a pair.

    >>> is_definite("(1,2]"), is_definite("(1,2)"), is_definite(r"(1,\infty)"), is_definite("x>1")
    (True, False, True, True)
    """
    return _DEFINITE.search(text) is not None or _HALF_OPEN.match(text) is not None


@lru_cache(maxsize=4096)
def read_reals(text: str) -> tuple[str, Pieces] | None:
    """Return the letter of a set of reals ("" if it has none) and its pieces in order, or None."""
    try:
        name, pieces = _set(text.strip())
        return name, _ordered(pieces)
    except (_NotReadError, RecursionError):
        return None


def same_reals(gold: str, answer: str, equal: Callable[[str, str], bool | None]) -> bool | None:
    r"""Whether two texts are the same set of reals; NotImplemented if they are not sets.

    >>> same_reals(r"x<0 or x>1", r"(-\infty,0)\cup(1,\infty)", lambda a, b: a == b)
    True
    """
    if not (is_definite(gold) or is_definite(answer)):
        return NotImplemented
    one, other = read_reals(gold), read_reals(answer)
    if one is None or other is None:
        return NotImplemented
    if (one[0] and other[0] and one[0] != other[0]) or len(one[1]) != len(other[1]):
        return False
    verdicts = []
    for ours, theirs in zip(one[1], other[1], strict=True):
        if ours.closed != theirs.closed:
            return False
        verdicts += [
            _same_end(ours.low, theirs.low, equal),
            _same_end(ours.high, theirs.high, equal),
        ]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _same_end(gold: End, answer: End, equal: Callable[[str, str], bool | None]) -> bool | None:
    same = gold.is_same(answer)
    return equal(gold.text, answer.text) if same is None else same


def _set(text: str) -> tuple[str, Pieces]:
    if builder := _BUILDER.match(text):
        name, pieces = _set(builder[2].strip())
        if name != builder[1]:
            raise _NotReadError
        return "", pieces
    if element := _ELEMENT.match(text):
        return element[1], _set(element[2].strip())[1]
    text = re.sub(r"(\\mathbb\{R\})\s*-(?=\s*\\\{)", r"\1\\setminus", text)
    for words in ((r"\cup",), ("or",), (r"\setminus", r"\backslash")):
        parts = cut(text, words)
        if len(parts) > 1 and all(part.strip() for part in parts):
            return _joined(parts, words[0])
    for words in (("and", r"\cap"), (",",)):
        parts = cut(text, words)
        if len(parts) > 1:
            return _common(parts)
    return _one(text)


def _joined(parts: list[str], word: str) -> tuple[str, Pieces]:
    found = [_set(part.strip()) for part in parts]
    names = {name for name, _ in found if name}
    if (
        len(names) > 1
        or len(found) > MAX_PIECES
        or (word == "or" and not any(map(is_definite, parts)))
    ):
        raise _NotReadError
    if word == "or" or word == r"\cup":
        return "".join(names), tuple(piece for _, pieces in found for piece in pieces)
    left, *removed = [pieces for _, pieces in found]
    for pieces in removed:
        left = _intersection(left, _complement(_ordered(pieces)))
    return "".join(names), left


def _common(parts: list[str]) -> tuple[str, Pieces]:
    """Return what conditions have in common; without a common part they may mean a union."""
    found = [_set(part.strip()) for part in parts]
    names = {name for name, _ in found}
    pieces = found[0][1]
    for _, other in found[1:]:
        pieces = _intersection(_ordered(pieces), _ordered(other))
    if len(names) > 1 or not pieces or not all(map(is_definite, parts)):
        raise _NotReadError
    return names.pop(), pieces


def _one(text: str) -> tuple[str, Pieces]:
    if re.fullmatch(r"\\mathbb\{R\}", text):
        return "", ALL
    if text == r"\emptyset":
        return "", ()
    if text.startswith(r"\{") and text.endswith(r"\}"):
        ends = [_end(item) for item in cut(text[2:-2], (",",))]
        return "", tuple(Piece(end, end, (True, True)) for end in ends)
    inner = cut(text[1:-1], (",",))
    if text[:1] in "([" and text[-1:] in ")]" and len(inner) == 2:
        low, high = (_end(item) for item in inner)
        if not low.about < high.about:
            raise _NotReadError
        return "", (Piece(low, high, (text[0] == "[", text[-1] == "]")),)
    return _condition(text)


def _condition(text: str) -> tuple[str, Pieces]:
    """Read an inequality about one letter."""
    sides = [side.strip() for side in cut(text, _SIGNS)]
    signs = re.findall(r"\\(?:le|ge|ne)(?![a-zA-Z])|[<>]", text)
    if len(signs) != len(sides) - 1 or len(sides) not in (2, 3):
        raise _NotReadError
    pairs = list(zip(sides, signs, sides[1:], strict=False))
    found = [_simple(*pair) for pair in pairs]
    if len({name for name, _ in found}) > 1:
        raise _NotReadError
    turned = {sign in (">", r"\ge") for sign in signs}
    if len(found) == 2 and (len(turned) > 1 or r"\ne" in signs):
        raise _NotReadError
    pieces = found[0][1]
    for _, other in found[1:]:
        pieces = _intersection(pieces, other)
    return found[0][0], pieces


def _simple(left: str, sign: str, right: str) -> tuple[str, Pieces]:
    """Solve a linear inequality; the letter may be on either side."""
    if re.fullmatch("[a-zA-Z]", right) and not re.fullmatch("[a-zA-Z]", left):
        turned = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}
        left, sign, right = right, turned.get(sign, sign), left
    if re.fullmatch("[a-zA-Z]", left):
        return left, _beyond(sign, _end(right))
    trees = read(left), read(right)
    if trees[0] is None or trees[1] is None:
        raise _NotReadError
    names = letters_of(trees[0]) | letters_of(trees[1])
    if len(names) != 1:
        raise _NotReadError
    [name] = names
    difference = Tree("+", (trees[0], Tree("-", (trees[1],))))
    zero, first = (exact_value(difference, {name: Fraction(at)}) for at in (0, 1))
    if zero is None or first is None or zero == first or degree(difference) > 1:
        raise _NotReadError
    slope = first - zero
    if slope < 0:
        sign = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}.get(sign, sign)
    root = -zero / slope
    return name, _beyond(sign, _exact_end(str(root), root))


def degree(tree: Tree) -> int:
    """Return a degree that a polynomial does not exceed; 99 if it is not a polynomial."""
    if tree.op == "letter":
        return 1
    if not letters_of(tree):
        return 0
    if tree.op in ("+", "-"):
        return max(map(degree, tree.parts))
    if tree.op == "*":
        return sum(map(degree, tree.parts))
    if tree.op == "/" and not letters_of(tree.parts[1]):
        return degree(tree.parts[0])
    return 99


def _beyond(sign: str, end: End) -> Pieces:
    below = Piece(LOWEST, end, (False, sign == r"\le"))
    above = Piece(end, HIGHEST, (sign == r"\ge", False))
    return {"<": (below,), r"\le": (below,), ">": (above,), r"\ge": (above,)}.get(
        sign, (below, above)
    )


def _end(text: str) -> End:
    plain = re.sub(r"\s", "", text)
    if plain in (r"\infty", r"+\infty"):
        return HIGHEST
    if plain == r"-\infty":
        return LOWEST
    tree = read(text.strip())
    if tree is None or letters_of(tree):
        raise _NotReadError
    exact = exact_value(tree, {})
    if exact is not None:
        return _exact_end(plain, exact)
    try:
        return End(plain, _about(tree))
    except (OverflowError, ValueError, ZeroDivisionError, KeyError):
        raise _NotReadError from None


def _exact_end(text: str, value: Fraction) -> End:
    try:
        return End(text, float(value), value)
    except OverflowError:
        raise _NotReadError from None


def exact_value(tree: Tree, point: dict[str, Fraction]) -> Fraction | None:
    """Return the rational value of an expression; None where it has none."""
    if tree.op == "number":
        return Fraction(tree.text) if len(tree.text) < MAX_EXPONENT else None
    if tree.op == "letter":
        return point.get(tree.text)
    values = [exact_value(part, point) for part in tree.parts]
    if tree.op not in _EXACT or None in values:
        return None
    return _EXACT[tree.op](*values)


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    is_small = exponent.denominator == 1 and abs(exponent) * bits < 10 * MAX_EXPONENT
    return base ** int(exponent) if is_small and base else None


def _counted(function: Callable[..., int], *values: Fraction) -> Fraction | None:
    are_whole = all(value.denominator == 1 and 0 <= value <= MAX_COUNTED for value in values)
    return Fraction(function(*map(int, values))) if are_whole else None


_EXACT: dict[str, Callable[..., Fraction | None]] = {
    "!": lambda value: _counted(math.factorial, value),
    "binom": lambda top, bottom: _counted(math.comb, top, bottom),
    "+": lambda *terms: sum(terms, Fraction(0)),
    "-": lambda value: -value,
    "*": lambda *factors: math.prod(factors, start=Fraction(1)),
    "/": lambda top, bottom: top / bottom if bottom else None,
    "^": _power,
}


def _about(tree: Tree) -> float:
    """Return about the value of a constant.

    Raises:
        KeyError: If it has an operation that floats do not do here.
    """
    if tree.op == "number":
        return float(tree.text)
    if tree.op == "constant":
        return {"e": math.e, r"\pi": math.pi}[tree.text]
    return float(_FLOATS[tree.op](*map(_about, tree.parts)))


_FLOATS: dict[str, Callable[..., float]] = {
    "+": lambda *terms: sum(terms),
    "-": lambda value: -value,
    "*": lambda *factors: math.prod(factors),
    "/": lambda top, bottom: top / bottom,
    "^": math.pow,
    "root": lambda value, degree: math.pow(value, 1 / degree),
    "abs": abs,
    "log": lambda base, value: math.log(value, base),
    r"\ln": math.log,
    r"\sin": math.sin,
    r"\cos": math.cos,
    r"\tan": math.tan,
    r"\arctan": math.atan,
    r"\arcsin": math.asin,
    r"\arccos": math.acos,
}


# ------------------------------------------------------------------ pieces in order


def _ordered(pieces: Pieces) -> Pieces:
    """Return pieces from low to high; those that touch are one."""
    merged: list[Piece] = []
    for piece in sorted(pieces, key=lambda each: (each.low.about, not each.closed[0])):
        before = merged[-1] if merged else None
        if before is None or not _touch(before, piece):
            merged.append(piece)
            continue
        further = piece if _compare(piece.high, before.high) > 0 else before
        closed = further.closed[1]
        if _compare(piece.high, before.high) == 0:
            closed = piece.closed[1] or before.closed[1]
        start = before.closed[0] or (_compare(before.low, piece.low) == 0 and piece.closed[0])
        merged[-1] = Piece(before.low, further.high, (start, closed))
    return tuple(merged)


def _touch(before: Piece, piece: Piece) -> bool:
    order = _compare(piece.low, before.high)
    return order < 0 or (order == 0 and (before.closed[1] or piece.closed[0]))


def _compare(one: End, other: End) -> int:
    same = one.is_same(other)
    if same is None:
        raise _NotReadError
    return 0 if same else (1 if one.about > other.about or _exceeds(one, other) else -1)


def _exceeds(one: End, other: End) -> bool:
    return one.exact is not None and other.exact is not None and one.exact > other.exact


def _complement(pieces: Pieces) -> Pieces:
    found: list[Piece] = []
    low, closed = LOWEST, False
    for piece in pieces:
        if _compare(low, piece.low) < 0 or (closed and not piece.closed[0]):
            found.append(Piece(low, piece.low, (closed, not piece.closed[0])))
        low, closed = piece.high, not piece.closed[1]
    if low is not HIGHEST:
        found.append(Piece(low, HIGHEST, (closed, False)))
    return tuple(found)


def _intersection(one: Pieces, other: Pieces) -> Pieces:
    found = []
    for a in one:
        for b in other:
            low, low_closed = _inner(a.low, a.closed[0], b.low, b.closed[0], 1)
            high, high_closed = _inner(a.high, a.closed[1], b.high, b.closed[1], -1)
            order = _compare(low, high)
            if order < 0 or (order == 0 and low_closed and high_closed):
                found.append(Piece(low, high, (low_closed, high_closed)))
    return tuple(found)


def _inner(a: End, a_closed: bool, b: End, b_closed: bool, side: int) -> tuple[End, bool]:
    order = side * _compare(a, b)
    if order == 0:
        return a, a_closed and b_closed
    return (a, a_closed) if order > 0 else (b, b_closed)
