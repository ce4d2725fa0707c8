r"""What stands in a problem: an answer that copies one of its formulas answers nothing.

A formula stands there if it is written there, up to spaces, the order of terms, factors and sides,
and commas. Few-shot examples before the problem do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from setrl_grader.forms import has_operation
from setrl_grader.grammar import parse
from setrl_grader.names import value_of
from setrl_grader.normal_form import normal_form, spaceless
from setrl_grader.tokens import joined, tokens
from setrl_grader.trees import Part, Tree, walk

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
