r"""|u|, roots, logarithms and inverse functions, whose equality no points prove: it is rewritten.

    ln(c·u) = ln c + ln u for c > 0      arccos u = π/2 − arcsin u = 2 arcsin √((1 − u)/2)
    cos(arctan u) = 1/√(1 + u²)          cos(arcsin u) = √(1 − u²)          u^{p/q} = (u^{1/q})^p

Each rule holds wherever its left side has a value. What is left counts as a new letter, and must
occur on both sides, so that both have values at the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from setrl_grader.exact import exact_value
from setrl_grader.modular import equal_rational, factor_of
from setrl_grader.trees import Tree, has, letters_of, quotient, walk

_PIECES = frozenset(["abs", "root", r"\ln", "log", r"\arcsin", r"\arccos"])
_ONE, _TWO = (Tree("number", text=each) for each in "12")
_ROOT_OF = {  # cos(arctan u) and its like → what is divided, and by the root of which sum
    (r"\cos", r"\arctan"): ("/", 1),
    (r"\cos", r"\arcsin"): ("", -1),
    (r"\sin", r"\arccos"): ("", -1),
}


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
    return tree.op in _PIECES or (tree.op == r"\arctan" and has(tree, {"/"}))


def without_pieces(one: Tree, other: Tree) -> Iterator[tuple[Tree, Tree] | None]:
    """Yield both sides with letters for their pieces, in each way to rewrite; None if proved equal.

    Nothing is yielded where a piece of one side is none of the other's.
    """
    for arccos in (_quarter_less, _twice_the_half):
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


def _rewritten(tree: Tree, arccos: Callable[[Tree], Tree]) -> Tree:
    tree = Tree(tree.op, tuple(_rewritten(part, arccos) for part in tree.parts), tree.text)
    if not letters_of(tree):
        return tree
    if tree.op == "^" and (power := exact_value(tree.parts[1], {})) and power.denominator > 2:
        tree = _root(tree.parts[0], power.denominator, power.numerator)
    if tree.op == "root" and exact_value(tree.parts[1], {}) not in (None, 2):
        return _of_power(tree)
    if tree.op == "log" and not letters_of(tree.parts[0]):
        top, bottom = (Tree(r"\ln", (part,)) for part in reversed(tree.parts))
        return Tree("/", (_rewritten(top, arccos), bottom))
    if tree.op == r"\ln" and tree.parts[0].op == "root":
        inside, degree = tree.parts[0].parts
        return Tree("/", (_rewritten(Tree(r"\ln", (inside,)), arccos), degree))
    if tree.op == r"\ln" and (factor := factor_of(tree.parts[0])) != 1:
        number = quotient(factor)
        return Tree(
            "+", (Tree(r"\ln", (number,)), Tree(r"\ln", (Tree("/", (tree.parts[0], number)),)))
        )
    if tree.op == r"\arccos":
        return arccos(tree.parts[0])
    inner = tree.parts[0] if tree.parts else tree
    if (rule := _ROOT_OF.get((tree.op, inner.op))) is None:
        return tree
    square = Tree("^", (inner.parts[0], _TWO))
    root = Tree("root", (Tree("+", (_ONE, square if rule[1] > 0 else Tree("-", (square,)))), _TWO))
    return Tree("/", (_ONE, root)) if rule[0] else root


def _root(base: Tree, degree: int, power: int) -> Tree:
    root = Tree("root", (base, Tree("number", text=str(degree))))
    exponent = Tree("number", text=str(abs(power)))
    found = Tree("^", (root, exponent)) if abs(power) != 1 else root
    return found if power > 0 else Tree("/", (_ONE, found))


def _of_power(root: Tree) -> Tree:
    """Return an odd root of a power as the power of the root."""
    inner, degree = root.parts
    odd = exact_value(degree, {})
    power = exact_value(inner.parts[1], {}) if inner.op == "^" else None
    if not odd or odd.denominator > 1 or odd % 2 == 0 or not power or power.denominator > 1:
        return root
    return _root(inner.parts[0], int(odd), int(power))


def _quarter_less(inner: Tree) -> Tree:
    half = Tree("/", (Tree("constant", text=r"\pi"), _TWO))
    return Tree("+", (half, Tree("-", (Tree(r"\arcsin", (inner,)),))))


def _twice_the_half(inner: Tree) -> Tree:
    half = Tree("/", (Tree("+", (_ONE, Tree("-", (inner,)))), _TWO))
    return Tree("*", (_TWO, Tree(r"\arcsin", (Tree("root", (half, _TWO)),))))
