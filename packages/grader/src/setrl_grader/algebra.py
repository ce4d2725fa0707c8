r"""Are two statements the same: two expressions, two equations, two inequalities?

Equations are the same line or curve if one is a constant multiple of the other: 2x − y + 3 = 0 is
y = 2x + 3. Whatever is read with doubt is different, never equal.
"""

from __future__ import annotations

from collections.abc import Callable

from setrl_grader.expressions import Tree, letters_of, may_be_matrices, read, renamed
from setrl_grader.findings import Finding
from setrl_grader.modular import equal_matrices, equal_rational, same_up_to_factor
from setrl_grader.shapes import cut
from setrl_grader.tokens import APPLIED

Equal = Callable[[Tree, Tree], bool | None]

RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne")
_TURNED = {">": "<", r"\ge": r"\le"}


def quick_algebra(gold: str, answer: str) -> Finding:
    """Compare two normal forms; None if that takes more than rational functions."""
    return same_statement(gold, answer, equal_rational)


def same_statement(gold: str, answer: str, equal: Equal) -> Finding:
    """Return whether two normal forms are the same statement; no, if one of them cannot be read.

    Args:
        gold: The correct answer.
        answer: The given answer.
        equal: Compares two expressions; None if it cannot decide.

    >>> quick_algebra("2x-y+3=0", "y=2x+3").equal, quick_algebra("x=y", "x=-y").equal
    (True, False)
    """
    ours, theirs = _relation(gold), _relation(answer)
    if [sign for _, sign in ours] != [sign for _, sign in theirs]:
        return Finding(False, "relation", gold, answer)
    one = [(side, read(side, gold=gold)) for side, _ in ours]
    other = [(side, read(side, gold=gold + " " + answer)) for side, _ in theirs]
    unread = next((side for side, tree in one + other if tree is None), None)
    if unread is not None:
        return Finding(False, "unread", gold, answer, detail=(unread,))
    sides = (
        [tree for _, tree in one if tree],
        _with_same_letters([tree for _, tree in one if tree], [tree for _, tree in other if tree]),
    )
    if any(map(may_be_matrices, sides[0])):
        equal = equal_matrices
    if len(ours) != 2:
        return Finding(_all_equal(*sides, equal), "expression", gold, answer)
    return Finding(_same_relation(ours[0][1], *sides, equal), "equation", gold, answer)


def _relation(text: str) -> list[tuple[str, str]]:
    """Return the sides of a relation, each with the sign behind it; b > a becomes a < b."""
    sides = cut(text, RELATIONS)
    signs, at = [], 0
    for side in sides[:-1]:
        at += len(side)
        sign = next(
            each for each in sorted(RELATIONS, key=len, reverse=True) if text.startswith(each, at)
        )
        signs.append(sign)
        at += len(sign)
    if signs and all(sign in _TURNED for sign in signs):
        sides.reverse()
        signs = [_TURNED[sign] for sign in reversed(signs)]
    return list(zip(sides, [*signs, ""], strict=True))


def _with_same_letters(ours: list[Tree], theirs: list[Tree]) -> list[Tree]:
    """Return the answer's sides with the gold's name of a variable: f(z) = z is f(x) = x."""
    names = _arguments(ours[0]), _arguments(theirs[0])
    if not (len(ours) == 2 and names[0] and names[1] and ours[0].text == theirs[0].text):
        return theirs
    new = dict(zip(names[1], names[0], strict=len(names[0]) == len(names[1])))
    others = set().union(*map(letters_of, theirs)) - set(new)
    if len(set(new.values())) < len(new) or set(new.values()) & others:
        return theirs
    return [renamed(tree, new) for tree in theirs]


def _arguments(tree: Tree) -> list[str]:
    """Return the letters that a function is applied to on the left of its definition."""
    if (
        tree.op != "apply"
        or tree.text in APPLIED
        or not all(part.op == "letter" for part in tree.parts)
    ):
        return []
    names = [part.text for part in tree.parts if part.text not in (",", "|", ";")]
    return names if len(set(names)) == len(names) else []


def _all_equal(one: list[Tree], other: list[Tree], equal: Equal) -> bool | None:
    verdicts = [equal(*pair) for pair in zip(one, other, strict=True)]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _same_relation(sign: str, one: list[Tree], other: list[Tree], equal: Equal) -> bool | None:
    """Whether two relations of two sides are the same up to a factor, which may need a sign."""
    verdict = _all_equal(one, other, equal)
    if verdict:
        return True
    first, second = (_difference(*sides) for sides in (one, other))
    same = same_up_to_factor(first, second, equal)
    if not same or sign in ("=", r"\ne"):
        return same
    ratio = Tree("/", (first, second))
    return equal(Tree("abs", (ratio,)), ratio)


def _difference(left: Tree, right: Tree) -> Tree:
    return Tree("+", (right, Tree("-", (left,))))
