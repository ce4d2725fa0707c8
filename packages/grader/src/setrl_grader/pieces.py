r"""|u|, roots, logarithms and inverse functions, whose equality no points prove: it is rewritten.

    ln(c·u) = ln c + ln u for c > 0      arccos u = π/2 − arcsin u = 2 arcsin √((1 − u)/2)
    u^{p/q} = (u^{1/q})^p                √u²ⁿ = |u|ⁿ, |u|²ⁿ = u²ⁿ           √u³ = u √u
    ln u²ⁿ = 2n ln |u|                   ln u²ⁿ⁺¹ = (2n + 1) ln u           x/|u| = x|u|/u²
    |u| = u if no term of u is below 0

Each rule holds wherever its left side has a value. What is left counts as a new letter, and must
occur on both sides, so that both have values at the same places.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, prod

from setrl_grader.grammar import read
from setrl_grader.modular import equal_rational, factor_of
from setrl_grader.trees import Tree, exact_value, letters_of, quotient, replaced, walk

_PIECES = frozenset(["abs", "root", r"\ln", "log", r"\arcsin", r"\arccos"])
_ONE, _TWO = (Tree("number", text=each) for each in "12")
LARGEST = 10**12  # of a number whose root is taken
_ARCCOS = tuple(map(read, (r"\frac{\pi}{2}-\arcsin u", r"2\arcsin\sqrt{\frac{1-u}{2}}")))


def has_pieces(tree: Tree) -> bool:
    """Whether an expression in letters may be given by different formulas in different pieces."""
    return any(map(_is_piece, walk(tree)))


def _is_piece(tree: Tree) -> bool:
    if not letters_of(tree):
        return False
    if tree.op == "^":
        exponent = exact_value(tree.parts[1], {})  # None where it has a letter
        root = exponent is None or exponent.denominator > 1
        return root and bool(letters_of(tree.parts[0]))
    return tree.op in _PIECES or (tree.op == r"\arctan" and any(map(_divides, walk(tree))))


def _divides(tree: Tree) -> bool:
    exponent = exact_value(tree.parts[1], {}) if tree.op == "^" else 1
    return tree.op == "/" or exponent is None or exponent < 0


def without_pieces(one: Tree, other: Tree) -> Iterator[tuple[Tree, Tree] | None]:
    """Yield both sides with letters for their pieces, in each way to rewrite; None if proved equal.

    Nothing is yielded where a piece of one side is none of the other's.
    """
    for arccos in filter(None, _ARCCOS):
        sides = [_rewritten(tree, arccos) for tree in (one, other)]
        if equal_rational(sides[0], sides[1]):
            yield None
        known: list[tuple[Tree, Tree]] = []
        found = [_lettered(tree, known) for tree in sides]
        names = {letter.text for _, letter in known}
        if all(names <= letters_of(tree) for tree in found):
            yield found[0], found[1]


def _lettered(tree: Tree, known: list[tuple[Tree, Tree]]) -> Tree:
    if _is_piece(tree):
        same = (letter for piece, letter in known if _same(piece, tree))
        letter = next(same, None) or Tree("letter", text=f"\\piece{len(known)}")
        known += [(tree, letter)]
        return letter
    return Tree(tree.op, tuple(_lettered(part, known) for part in tree.parts), tree.text)


def _same(one: Tree, other: Tree) -> bool:
    """Whether two pieces have equal parts, or parts that are such pieces."""
    alike = (one.op, one.text, len(one.parts)) == (other.op, other.text, len(other.parts))
    pairs = zip(one.parts, other.parts, strict=False)
    return alike and all(equal_rational(*pair) or _same(*pair) for pair in pairs)


def _rewritten(tree: Tree, arccos: Tree) -> Tree:
    tree = Tree(tree.op, tuple(_rewritten(part, arccos) for part in tree.parts), tree.text)
    if not letters_of(tree):
        return tree
    if tree.op == "^" and (power := exact_value(tree.parts[1], {})) and power.denominator > 2:
        root = Tree("root", (tree.parts[0], Tree("number", text=str(power.denominator))))
        return _power_of(_root_of_power(root), power.numerator)
    if tree.op == "root":
        return _root_of_power(tree)
    if tree.op == r"\ln":
        return _logarithm(tree.parts[0], arccos)
    tree = _without_sizes(tree)
    if tree.op == "log" and not letters_of(tree.parts[0]):
        top, bottom = (Tree(r"\ln", (part,)) for part in reversed(tree.parts))
        return Tree("/", (_rewritten(top, arccos), bottom))
    return replaced(arccos, {"u": tree.parts[0]}) if tree.op == r"\arccos" else tree


def _logarithm(inner: Tree, arccos: Tree) -> Tree:
    """Return ln of an expression without its factor, its exponent, its root or its 1/."""

    def again(rest: Tree) -> Tree:
        return _rewritten(Tree(r"\ln", (rest,)), arccos)

    factor, rest = _without_factor(inner)
    if factor != 1:
        return Tree("+", (Tree(r"\ln", (quotient(factor),)), again(rest)))
    if power := _whole_power(inner):
        base, exponent = inner.parts
        return Tree("*", (exponent, again(base if power % 2 else _size(base))))
    if inner.op == "/" and inner.parts[0] == _ONE:
        return Tree("-", (again(inner.parts[1]),))
    if inner.op == "root":
        return Tree("/", (again(inner.parts[0]), inner.parts[1]))
    if inner.op == "abs" and inner.parts[0].op == "root":
        base, order = inner.parts[0].parts
        return Tree("/", (again(_size(base)), order))
    return Tree(r"\ln", (inner,))


def _root(base: Tree, order: int, power: int) -> Tree:
    """Return base^{power/order} as a power of the base and a root to a power below the order."""
    whole, rest = divmod(power, order)
    root = Tree("root", (base, Tree("number", text=str(order))))
    if order % 2 and base.op == "abs":
        root = Tree("abs", (Tree("root", (base.parts[0], root.parts[1])),))
    parts = [_without_sizes(_to(base, whole))] if whole else []
    parts += [_without_sizes(_to(root, rest))] if rest else []
    return Tree("*", tuple(parts)) if len(parts) > 1 else parts[0]


def _root_of_power(root: Tree) -> Tree:
    """Return (c·u^p)^{1/q} with c^{1/q} and a root to a power below q before it."""
    order = _whole_power(root, "root")
    if order < 2:
        return root
    inner, degree = root.parts
    if inner.op == "-" and len(inner.parts) == 1 and order % 2:
        return Tree("-", (_root_of_power(Tree("root", (inner.parts[0], degree))),))
    factor, base = _without_factor(inner)
    power = _whole_power(base)
    if power < 1:
        return _times(_number_root(factor, order), _root(base, order, 1))
    shared, base = gcd(power, order), base.parts[0]
    if order % 2 == 0 and power % 2 == 0:
        base = _size(base)  # of an odd power the base is not below 0
    return _times(_number_root(factor, order), _root(base, order // shared, power // shared))


def _without_factor(tree: Tree) -> tuple[Fraction, Tree]:
    """Return the positive rational factor of an expression, and what is left."""
    if tree.op == "*":
        parted = [_without_factor(part) for part in tree.parts]
        rest = [part for _, part in parted if part != _ONE]
        left = Tree("*", tuple(rest)) if len(rest) > 1 else (rest or [_ONE])[0]
        return prod((factor for factor, _ in parted), start=Fraction(1)), left
    factor = factor_of(tree)
    if factor == exact_value(tree, {}):
        return factor, _ONE
    return factor, tree if factor == 1 else Tree("/", (tree, quotient(factor)))


def _number_root(factor: Fraction, order: int) -> Tree:
    if max(factor.as_integer_ratio()) < LARGEST:
        top, bottom = (round(number ** (1 / order)) for number in factor.as_integer_ratio())
        if Fraction(top, bottom) ** order == factor:
            return quotient(Fraction(top, bottom))
    return Tree("root", (quotient(factor), Tree("number", text=str(order))))


def _times(one: Tree, other: Tree) -> Tree:
    return other if one == quotient(Fraction(1)) else Tree("*", (one, other))


def _power_of(tree: Tree, power: int) -> Tree:
    found = _without_sizes(_to(tree, abs(power)))
    return found if power > 0 else Tree("/", (_ONE, found))


def _without_sizes(tree: Tree) -> Tree:
    """Return |u|²ⁿ as u²ⁿ, |u| as u where u is not below 0, and x/|u| as x|u|/u²."""
    if tree.op == "abs":
        return _size(tree.parts[0])
    if tree.op == "^" and tree.parts[0].op == "abs" and _is_even(tree):
        return Tree("^", (tree.parts[0].parts[0], tree.parts[1]))
    if tree.op == "/" and tree.parts[1].op == "abs" and not has_pieces(tree.parts[0]):
        top, size = tree.parts
        return Tree("/", (Tree("*", (top, size)), Tree("^", (size.parts[0], _TWO))))
    return tree


def _size(tree: Tree) -> Tree:
    """Return |u|, without the |·| where u is not below 0, and of its parts where it has some."""
    if tree.op == "-" and len(tree.parts) == 1:
        return _size(tree.parts[0])
    factor, rest = _without_factor(tree)
    if factor != 1:
        return Tree("*", (quotient(factor), _size(rest)))
    if tree.op == "^" and _whole_power(tree) % 2:
        return _without_sizes(Tree("^", (_size(tree.parts[0]), tree.parts[1])))
    return tree if _is_not_negative(tree) else Tree("abs", (tree,))


def _is_not_negative(tree: Tree) -> bool:
    """Whether an expression is nowhere below 0, by its form."""
    if tree.op == "^":
        return _is_even(tree) or _is_not_negative(tree.parts[0])
    if tree.op in ("+", "*", "/"):
        return all(map(_is_not_negative, tree.parts))
    even_root = tree.op == "root" and exact_value(tree.parts[1], {}) == 2
    return even_root or tree.op in ("number", "abs")


def _is_even(tree: Tree) -> bool:
    power = _whole_power(tree)
    return bool(power) and power % 2 == 0


def _whole_power(tree: Tree, op: str = "^") -> int:
    """Return the exponent of a power, or the degree of a root, if it is whole; 0 for all else."""
    exponent = exact_value(tree.parts[1], {}) if tree.op == op else None
    return int(exponent) if exponent is not None and exponent.denominator == 1 else 0


def _to(base: Tree, power: int) -> Tree:
    return base if power == 1 else Tree("^", (base, Tree("number", text=str(power))))
