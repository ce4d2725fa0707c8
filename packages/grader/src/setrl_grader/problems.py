r"""What stands in a problem: an answer that copies one of its formulas answers nothing.

A formula stands there if it is written there, up to spaces, the order of terms, factors and sides,
and commas. Few-shot examples before the problem do not count, nor do the options behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from setrl_grader.forms import is_written_otherwise, key_of
from setrl_grader.grammar import parse
from setrl_grader.names import value_of
from setrl_grader.normal_form import normal_form, spaceless
from setrl_grader.numbers import literal
from setrl_grader.tokens import joined, tokens
from setrl_grader.trees import Part, walk

MAX_LENGTH = 20_000  # characters of a problem: its end is read
MAX_FORMULAS = 400
_EXAMPLE = re.compile(
    r"^[\s#*]*(?:problem|question|exercise|task|input|q)\b[\s\d]*[*:.]",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWERED = re.compile(  # which ends an example
    r"^[\s#*]*(?:(?:final\s+)?answer|solution|output|response|a)\b\s*[*:.]|####|\banswer is\b"
    r"|\\boxed\{.*\d",
    re.IGNORECASE | re.MULTILINE,
)
_OPTIONS = re.compile(
    r"(?<![\w)])\(A\)(?=.*\(B\))|^\s*A[.):]\s(?=.*^\s*B[.):]\s)", re.MULTILINE | re.DOTALL
)
_CHOOSE = re.compile(r"\bwhich of\b(?! the following)", re.IGNORECASE)
_OPERAND = r"(?:[\w.^(){}\[\]]|\\[a-zA-Z]+)+"
_PLAIN = re.compile(  # a formula without dollar signs
    rf"[-+]?{_OPERAND}(?:\s*(?:[-+*/=<>·×÷≤≥])\s*{_OPERAND})*"
)
_NO_FORMULA = re.compile(r"(?<!\\)[a-zA-Z]{4,}|\A[a-zA-Z]+\Z")
_FORMULA = re.compile(
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
        text = _without_examples(prompt)
        return text if len(text) <= MAX_LENGTH else text[-MAX_LENGTH:].partition("\n")[2]
    given = prompt if isinstance(prompt, list | tuple) else []
    asked: list[str] = []
    for each in given:
        if isinstance(each, Mapping):
            text, is_reply = _text_of(each), each.get("role") == "assistant"
            asked = [] if is_reply and _ANSWERED.search(text) else [*asked, text * (not is_reply)]
    return problem_of("\n".join(filter(None, asked)))


def _text_of(message: Mapping[str, object]) -> str:
    content = message.get("content")
    blocks = content if isinstance(content, list | tuple) else [content]
    texts = (each.get("text") if isinstance(each, Mapping) else each for each in blocks)
    return "\n".join(each for each in texts if isinstance(each, str))


def _without_examples(prompt: str) -> str:
    """Return what is behind the last example, which has a heading and an answer."""
    found = list(_EXAMPLE.finditer(prompt))
    for one, other in reversed([*pairwise(found)]):
        if _ANSWERED.search(prompt[one.end() : other.start()]):
            return prompt[other.end() :]
    return prompt


def stem_of(problem: str) -> str:
    """Return what a problem gives: no options, and nothing if it asks "which of A and B"."""
    if _CHOOSE.search(problem):
        return ""
    return problem[: found.start()] if (found := _OPTIONS.search(problem)) else problem


def is_copied(gold: Part, answer: Part, problem: str) -> bool:
    r"""Whether an answer stands in a problem, and the gold, which is written otherwise, does not.

    >>> problem = "Solve $2x+3y=6$ for $y$, where $x>0$."
    >>> gold = parse(r"y=\frac{6-2x}{3}")
    >>> [is_copied(gold, parse(text), problem) for text in ("6=3y+2x", r"\frac{6-2x}{3}", "y")]
    [True, False, False]
    """
    copied = is_written_otherwise(gold, answer) and _stands(answer, problem)
    return copied and not _stands(gold, problem, True)


def _stands(part: Part, problem: str, whole: bool = False) -> bool:
    """Whether a statement, its value, or each of its members stands in a problem, also within."""
    if part.parts and (part.kind == "list" or (part.kind in ("()", "{}") and not whole)):
        return all(_stands(each, problem, whole) for each in part.parts)
    value = value_of(part)
    whole = whole or (value.tree is not None and literal(value.tree) is not None)
    keys = {_key(part), _key(value)}
    texts = {part.text, value.text}
    written = any(_is_written(text, problem, whole) for text in texts)
    return written or bool(keys & _keys(problem, whole))


@lru_cache(maxsize=1024)
def _keys(problem: str, whole: bool) -> frozenset[object]:
    return frozenset(key for formula in formulas_of(problem) for key in _all_keys(formula, whole))


@lru_cache(maxsize=1024)
def formulas_of(problem: str) -> tuple[Part, ...]:
    """Return the formulas of a problem, each also by its lines."""
    found = [next(filter(None, each.groups()), "") for each in _FORMULA.finditer(problem)]
    pieces = {piece for each in found for piece in (each, *_SIDES.split(each))}
    plain = {each.rstrip(".,:;") for each in _PLAIN.findall(_FORMULA.sub(" ; ", problem))}
    pieces |= {each for each in plain if not _NO_FORMULA.search(each)}
    return tuple(parse(normal_form(each)) for each in sorted(pieces)[:MAX_FORMULAS])


def _all_keys(part: Part, whole: bool) -> Iterator[object]:
    yield _key(part)
    if part.tree is not None and not whole:
        yield from map(key_of, walk(part.tree))
    for each in part.parts:
        yield from _all_keys(each, whole)


def _key(part: Part) -> object:
    """Return a key that is the same for statements that are written alike, in any order."""
    if part.tree is not None:
        return key_of(part.tree)
    if part.kind != "relation":
        return spaceless(part.text)
    turned = part.marks.replace(">", "<").replace(r"\ge", r"\le")
    return turned, frozenset(map(_key, part.parts))


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
