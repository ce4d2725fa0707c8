r"""Are two statements the same: two expressions, two equations, two inequalities?

Equations are the same line or curve if one is a constant multiple of the other: 2x − y + 3 = 0 is
y = 2x + 3. Whatever is read with doubt is different, never equal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from setrl_grader.findings import Finding
from setrl_grader.grammar import ORDERS, TURNED
from setrl_grader.modular import equal_rational, same_up_to_factor
from setrl_grader.tokens import APPLIED
from setrl_grader.trees import (
    CAPITALS,
    Part,
    Tree,
    has_numbers,
    letters_of,
    may_be_matrices,
    replaced,
)

Equal = Callable[[Tree, Tree], bool | None]

TRIES = 5  # points at which a ratio may have a value


def same_statement(gold: Part, answer: Part, equal: Equal, ordered: str = "") -> Finding:
    """Return whether two are the same statement; no, if one of them cannot be read.

    Args:
        gold: The correct answer.
        answer: The given answer.
        equal: Compares two expressions; None if it cannot decide.
        ordered: Which letters do not commute: "capitals", "all"; "" if the capitals say so.

    >>> from setrl_grader.grammar import parse
    >>> same_statement(parse("2x-y+3=0"), parse("y=2x+3"), equal_rational).equal
    True
    """
    (ours, signs), (theirs, other_signs) = _relation(gold), _relation(answer)
    if signs != other_signs:
        return Finding(False, "relation", gold.text, answer.text)
    unread = next((side.text for side in ours + theirs if side.tree is None), None)
    if not (ORDERS | {"="}).issuperset(signs):
        unread = gold.text
    if unread is not None:
        return Finding(False, "unread", gold.text, answer.text, detail=(unread,))
    one = [side.tree for side in ours if side.tree]
    other = _with_same_letters(one, [side.tree for side in theirs if side.tree])
    matrices = any(map(may_be_matrices, [*one, *other])) and not any(map(has_numbers, one))
    if ordered or matrices:
        letters = set[str]().union(*map(letters_of, [*one, *other]))
        equal = partial(equal_rational, ordered=letters if ordered == "all" else CAPITALS)
    rule, same = "expression", _all_equal(one, other, equal)
    if len(signs) == 1 and any(map(letters_of, one)):  # 0 < 1 says what any true one says
        rule, same = "equation", same or _same_up_to_sign(signs[0], one, other, equal)
    return Finding(same, rule, gold.text, answer.text)


def _relation(part: Part) -> tuple[tuple[Part, ...], list[str]]:
    """Return the sides of a relation and the signs between them; b > a becomes a < b."""
    if part.kind != "relation":
        return (part,), []
    sides, signs = part.parts, part.marks.split()
    if {*signs} <= {">", r"\ge"}:
        return sides[::-1], [TURNED[sign] for sign in reversed(signs)]
    return sides, signs


def _with_same_letters(ours: list[Tree], theirs: list[Tree]) -> list[Tree]:
    """Return the answer's sides with the gold's name of a variable: f(z) = z is f(x) = x."""
    names = _arguments(ours[0]), _arguments(theirs[0])
    if not (len(ours) == 2 and names[0] and names[1] and ours[0].text == theirs[0].text):
        return theirs
    new = dict(zip(names[1], names[0], strict=len(names[0]) == len(names[1])))
    others = set().union(*map(letters_of, theirs)) - set(new)
    if len(set(new.values())) < len(new) or set(new.values()) & others:
        return theirs
    letters = {name: Tree("letter", text=letter) for name, letter in new.items()}
    return [replaced(tree, letters) for tree in theirs]


def _arguments(tree: Tree) -> list[str]:
    """Return the letters that a function is applied to on the left of its definition."""
    if (
        tree.op != "apply"
        or tree.text in APPLIED
        or not all(part.op in ("letter", "word") for part in tree.parts)
    ):
        return []
    names = [part.text for part in tree.parts if part.op == "letter"]
    return names if len(set(names)) == len(names) else []


def _all_equal(one: list[Tree], other: list[Tree], equal: Equal) -> bool | None:
    verdicts = [equal(*pair) for pair in zip(one, other, strict=True)]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _same_up_to_sign(sign: str, one: list[Tree], other: list[Tree], equal: Equal) -> bool | None:
    """Whether two relations of two sides are the same up to a factor, which may need a sign."""
    first, second = (_difference(*sides) for sides in (one, other))
    same = same_up_to_factor(first, second, equal)
    if not same or sign in ("=", r"\ne"):
        return same
    return _is_positive(Tree("/", (first, second)), equal)


def _is_positive(ratio: Tree, equal: Equal) -> bool | None:
    """Whether a ratio that is constant is above 0: its value at one point decides."""
    letters = sorted(letters_of(ratio))
    for start in range(2, 2 + TRIES):
        places = (Tree("number", text=str(start + 3 * at)) for at in range(len(letters)))
        value = replaced(ratio, dict(zip(letters, places, strict=True)))
        verdict = equal(Tree("abs", (value,)), value)
        if verdict is not None:
            return verdict
    return None


def _difference(left: Tree, right: Tree) -> Tree:
    return Tree("+", (right, Tree("-", (left,))))
