r"""In which form an answer is given: operations done, conditions solved, nothing copied.

    left(answer) ⊆ left(gold)

An answer leaves no operation to do that the gold does not leave as well: 17·23 is no answer to 391,
but 3·2²⁰¹³ may have 6·2²⁰¹². What a problem asks for, the gold shows: to factor is asked where the
gold is a product.

An answer that copies a formula of the problem answers nothing. A formula stands there if it is
written there, up to spaces, the order of terms, factors and sides, and commas. Few-shot examples
before the problem do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from setrl_grader.grammar import parse
from setrl_grader.names import is_named, value_of
from setrl_grader.normal_form import normal_form, spaceless
from setrl_grader.numbers import literal
from setrl_grader.tokens import joined, tokens
from setrl_grader.trees import COUNTS, Part, Tree, exact_value, has, letters_of, walk, whole

_ROUNDED = {"abs", "floor", "ceil", "log"}
_SOLVE = re.compile(r"\bsolve|\bexpress\b|\bin terms of\b|\bisolate\b|\bsubject\b", re.IGNORECASE)
MAX_LENGTH = 20_000  # characters of a problem: its end is read
_EXAMPLE = re.compile(
    r"^[\s#*]*(?:problem|question|exercise|task|input|q)\b[\s\d]*[*:.]",
    re.IGNORECASE | re.MULTILINE,
)
FORMULA = re.compile(
    r"\$\$((?:[^$]|\\\$)+)\$\$|\$((?:[^$\\]|\\.)+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL
)
_LEXEME = re.compile(r"\\[a-zA-Z]+|[a-zA-Z]{2,}|\d+(?:\.\d+)?|\S")
_WORD = re.compile(r"[a-zA-Z]{2,}\Z")
_ENDS = frozenset(["", "=", "<", ">", ",", ":", ";", "?", ".", "|", r"\le", r"\ge", "&"])
_BEFORE = _ENDS | {"(", "{", "["}
_BEHIND = _ENDS | {")", "}", "]", r"\\"}
_SIDES = re.compile(  # what is between the lines of a display
    r"\\\\|&|\\(?:tag|text|begin|end)\s*\{[^{}]*\}|\\q?quad"
)
_FORMS = [  # what a problem asks for → whether the gold has this form, and an answer lacks it
    (re.compile(r"\bfactor(?:i[sz]e|ed|i[sz]ed|ing|i[sz]ation)?\b", re.IGNORECASE),
     lambda gold, answer: _factors(answer) < _factors(gold) > 1),
    (re.compile(r"\b(?:expand|multiply out|standard form)", re.IGNORECASE),
     lambda gold, answer: _is_product_of_sums(answer) and not _is_product_of_sums(gold)),
    (re.compile(r"\bsimpl(?:if|est)", re.IGNORECASE),
     lambda gold, answer: letters_of(gold) and _size(answer) >= 2 * _size(gold)),
    (re.compile(r"\brationali[sz]|\bradical form|\bsimplif", re.IGNORECASE),
     lambda gold, answer: _is_over_root(answer) and not _is_over_root(gold)),
]  # fmt: skip


def is_undone(gold: Part, answer: Part) -> bool:
    r"""Whether an answer that is equal to a gold leaves something to do that the gold has done.

    >>> from setrl_grader.grammar import parse
    >>> [is_undone(parse("391"), parse(text)) for text in (r"17\cdot23\cdot1^2", r"\frac{782}{2}")]
    [True, False]
    >>> is_undone(parse("x<2"), parse("2x+3<7")), is_undone(parse("y=x"), parse("2y=2x"))
    (True, False)
    """
    ours, theirs = [*_leaves(gold)], [*_leaves(answer)]
    solved = len(_letters(gold)) < 1 + ("relation" in (gold.kind, answer.kind))
    solved = solved and not any(map(_is_mixed, ours))
    if solved and any(map(_is_mixed, theirs)):
        return True
    numbers = [tree for tree in ours if _is_constant(tree)]
    if not numbers:
        return False
    left = set().union(*(_left(tree) for tree in theirs if _is_constant(tree)))
    if all(_is_exact(tree) for tree in numbers):
        left |= {"root" for tree in theirs if _is_constant(tree) and not _is_rational(tree)}
    return not left <= set().union(*map(_left, numbers))


def is_another_form(gold: Part, answer: Part, problem: str) -> bool:
    """Whether a problem asks for the form that the gold has, and the answer does not have it."""
    ours, theirs = value_of(gold).tree, value_of(answer).tree
    unsolved = answer.kind == "relation" and is_named(gold) and not _has_name_of(gold, answer)
    if unsolved and _SOLVE.search(problem):
        return True
    if ours is None or theirs is None:
        return False
    return any(asked.search(problem) and lacks(ours, theirs) for asked, lacks in _FORMS)


def _has_name_of(gold: Part, answer: Part) -> bool:
    names = [each.parts[0].text.split() for each in (gold, answer)]
    return is_named(answer) and names[0] == names[1]


def has_operation(part: Part) -> bool:
    """Whether a statement, without a name before it, is more than a value or a letter."""
    part = value_of(part)
    if part.kind == "relation":
        return True
    tree = part.tree
    if tree is None:
        return any(map(has_operation, part.parts))
    if _is_constant(tree):
        return bool(_left(tree))
    return bool(tree.parts) and not (tree.op == "-" and not tree.parts[0].parts)


def _letters(part: Part) -> set[str]:
    inner = set() if part.tree is None else letters_of(part.tree)
    return inner.union(*map(_letters, part.parts))


def _leaves(part: Part) -> Iterator[Tree]:
    """Yield the expressions of a statement, without names before values."""
    part = value_of(part)
    if part.tree is not None:
        yield part.tree
    for each in part.parts:
        yield from _leaves(each)


def _is_constant(tree: Tree) -> bool:
    return not letters_of(tree) and not has(tree, {"apply", "word"})


def _is_mixed(tree: Tree) -> bool:
    """Whether an operation is done on letters; |x| < 2 is solved."""
    bare = tree.parts[0] if tree.op == "abs" else tree
    return bool(bare.parts) and not _is_constant(tree)


def _is_rational(tree: Tree) -> bool:
    """Whether a number is an integer, a fraction, a decimal, or a power of one of them."""
    if tree.op == "degrees":
        return _is_rational(tree.parts[0])
    power = tree.op == "^" and whole(tree.parts[1]) is not None and _is_rational(tree.parts[0])
    return power or literal(tree) is not None


def _is_exact(tree: Tree) -> bool:
    return _is_rational(tree) and not any("." in each.text for each in walk(tree))


def _left(tree: Tree) -> set[str]:
    """Return the kinds of operations that are left to do in a number."""
    return {kind for each in walk(tree) if (kind := _kind_left(each))}


def _kind_left(tree: Tree) -> str:
    if (tree.op.startswith("\\") and tree.op != r"\exp") or tree.op in _ROUNDED:
        return "function"
    if tree.op in COUNTS:
        return "count"
    if tree.op == "+":
        most = max(Counter(frozenset(_irrationals(term)) for term in tree.parts).values())
        return "sum" * (most > 1)  # of like terms
    if tree.op in ("*", "/"):
        rational = sum(map(_is_rational, tree.parts)) > 1 and literal(tree) is None
        return "product" * rational
    if tree.op == "^":
        return "power" * _is_power_left(*tree.parts)
    return "root" * (tree.op == "root" and _is_root_of_power(tree))


def _irrationals(term: Tree, sign: int = 1) -> Iterator[tuple[Tree, int]]:
    """Yield the factors of a term that are no rational numbers; like terms have the same."""
    if _is_rational(term):
        return
    if term.op not in ("*", "/", "-"):
        yield term, sign
        return
    for at, part in enumerate(term.parts):
        yield from _irrationals(part, -sign if term.op == "/" and at else sign)


def _is_power_left(base: Tree, exponent: Tree) -> bool:
    """Whether a power can be carried out: (1 + √2)², i², 5¹; 3¹⁰, e² and 2^{1/3} are values."""
    if exponent.text in ("0", "1") or base.text in ("0", "1"):
        return True
    bare = base.parts[0] if base.op == "-" else base
    value = (_is_rational(bare) and bare.op != "^") or (bare.op == "constant" and bare.text != "i")
    return whole(exponent) is not None and not (value or _kind_left(bare) in ("count", "function"))


def _is_root_of_power(tree: Tree) -> bool:
    """Whether a root is a rational number, as √16 is."""
    value, degree = exact_value(tree.parts[0], {}), exact_value(tree.parts[1], {})
    if value is None or degree is None or degree.denominator > 1 or not 1 < degree < 64:
        return False
    return all(_is_power(each, int(degree)) for each in abs(Fraction(value)).as_integer_ratio())


def _is_power(number: int, degree: int) -> bool:
    if degree == 2:
        return isqrt(number) ** 2 == number
    about = round(number ** (1 / degree)) if number < 2**1000 else 0
    return number in {near**degree for near in (about - 1, about, about + 1)}


def _factors(tree: Tree) -> int:
    """Return how many factors with letters a product has; a square has two."""
    if not letters_of(tree):
        return 0
    if tree.op in ("*", "-"):
        return sum(map(_factors, tree.parts))
    exponent = whole(tree.parts[1]) if tree.op == "^" else None
    if exponent is not None and 0 <= exponent < 100:
        return exponent * _factors(tree.parts[0])
    return _factors(tree.parts[0]) if tree.op == "/" else 1


def _size(tree: Tree) -> int:
    """Return how many numbers and letters are written."""
    return sum(not each.parts for each in walk(tree))


def _is_product_of_sums(tree: Tree) -> bool:
    """Whether a sum with letters is multiplied somewhere, so that it can be expanded."""
    return any(
        each.op in ("*", "^") and any(part.op == "+" and letters_of(part) for part in each.parts)
        for each in walk(tree)
    )


def _is_over_root(tree: Tree) -> bool:
    return any(each.op == "/" and has(each.parts[1], {"root"}) for each in walk(tree))


def problem_of(prompt: object) -> str:
    r"""Return the text of a problem: of the last message of a user, behind few-shot examples.

    >>> problem_of("Problem: 1+1\nSolution: 2\n\nProblem: 1+2\nSolution:").strip()
    '1+2\nSolution:'
    >>> problem_of([{"role": "user", "content": "1+2"}, {"role": "assistant", "content": "So"}])
    '1+2'
    """
    if isinstance(prompt, str):
        found = list(_EXAMPLE.finditer(prompt))
        text = prompt[found[-1].end() if found else 0 :]
        return text if len(text) <= MAX_LENGTH else text[-MAX_LENGTH:].partition("\n")[2]
    given = prompt if isinstance(prompt, list | tuple) else []
    messages = [each for each in given if isinstance(each, Mapping)]
    users = [each.get("content") for each in messages if each.get("role") == "user"]
    last = users[-1] if users else ""
    blocks = last if isinstance(last, list | tuple) else [last]
    texts = (each.get("text") if isinstance(each, Mapping) else each for each in blocks)
    return problem_of("\n".join(each for each in texts if isinstance(each, str)))


def is_copied(gold: Part, answer: Part, problem: str) -> bool:
    r"""Whether an answer that is more than a value stands in a problem, and the gold does not.

    >>> problem = "Solve $2x+3y=6$ for $y$, where $x>0$."
    >>> gold = parse(r"y=\frac{6-2x}{3}")
    >>> [is_copied(gold, parse(text), problem) for text in ("6=3y+2x", r"\frac{6-2x}{3}", "y")]
    [True, False, False]
    """
    return has_operation(answer) and _stands(answer, problem) and not _stands(gold, problem, True)


def _stands(part: Part, problem: str, whole: bool = False) -> bool:
    """Whether a statement, its value, or each of its members stands in a problem, also within."""
    if part.kind in ("list", "()", "{}") and part.parts:
        return all(_stands(each, problem, whole) for each in part.parts)
    value = value_of(part)
    keys = {_key(part), _key(value)}
    texts = {part.text, value.text}
    written = any(_is_written(text, problem, whole) for text in texts)
    return written or bool(keys & _keys(problem, whole))


@lru_cache(maxsize=1024)
def _keys(problem: str, whole: bool) -> frozenset[object]:
    return frozenset(key for formula in _formulas(problem) for key in _all_keys(formula, whole))


def _formulas(problem: str) -> Iterator[Part]:
    for found in FORMULA.finditer(problem):
        formula = next(filter(None, found.groups()), "")
        for piece in {formula, *_SIDES.split(formula)}:
            yield parse(normal_form(piece))


def _all_keys(part: Part, whole: bool) -> Iterator[object]:
    yield _key(part)
    if part.tree is not None and not whole:
        yield from map(_key_of, walk(part.tree))
    for each in part.parts:
        yield from _all_keys(each, whole)


def _key(part: Part) -> object:
    """Return a key that is the same for statements that are written alike, in any order."""
    if part.tree is not None:
        return _key_of(part.tree)
    if part.kind != "relation":
        return spaceless(part.text)
    turned = part.marks.replace(">", "<").replace(r"\ge", r"\le")
    return turned, frozenset(map(_key, part.parts))


def _key_of(tree: Tree) -> object:
    parts = tuple(map(_key_of, tree.parts))
    ordered = tuple(sorted(parts, key=repr)) if tree.op in ("+", "*") else parts
    return tree.op, tree.text, ordered


@lru_cache(maxsize=1024)
def _lexemes(problem: str) -> tuple[str, ...]:
    return tuple(_LEXEME.findall(joined(tokens(problem))))


def _is_written(text: str, problem: str, whole: bool) -> bool:
    """Whether a formula is in a problem, also without dollar signs, but not within another."""
    wanted, there = tuple(_LEXEME.findall(text)), ("", *_lexemes(problem), "")
    for at in range(1, len(there) - len(wanted)):
        if there[at : at + len(wanted)] == wanted:
            before, behind = there[at - 1], there[at + len(wanted)]
            if (before in (_ENDS if whole else _BEFORE) or _WORD.match(before)) and (
                behind in (_ENDS if whole else _BEHIND) or _WORD.match(behind)
            ):
                return True
    return False
