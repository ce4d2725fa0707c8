"""Near misses: one small change to a gold, after which it means something else."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from adversary.expressions import Node, num, sym, write
from adversary.golds import UNITS, WORDS, Answer, equal, latex

Change = Callable[[Answer, random.Random], Answer | str | None]


@dataclass(frozen=True)
class NearMiss:
    """A wrong answer.

    Attributes:
        change: What was changed.
        text: The answer in LaTeX.
    """

    change: str
    text: str


def near_misses(answer: Answer, seed: int) -> Iterator[NearMiss]:
    """Every change that applies to a gold and changes what it means."""
    for name, change in CHANGES.items():
        mutated = change(answer, random.Random(f"{seed}/{name}"))
        if isinstance(mutated, str):
            yield NearMiss(name, mutated)
        elif mutated is not None and not equal(answer, mutated):
            yield NearMiss(name, latex(mutated))


# ------------------------------------------------------------------ changes of expressions


def _leaves(tree: Node, op: str, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The paths of all leaves or operations of a name."""
    if tree.op == op:
        yield path
    if tree.op not in ("num", "sym"):
        for at, part in enumerate(tree.parts):
            yield from _leaves(part, op, (*path, at))


def _at(tree: Node, path: tuple[int, ...]) -> Node:
    return tree if not path else _at(tree.parts[path[0]], path[1:])


def _put(tree: Node, path: tuple[int, ...], part: Node) -> Node:
    if not path:
        return part
    parts = list(tree.parts)
    parts[path[0]] = _put(parts[path[0]], path[1:], part)
    return Node(tree.op, tuple(parts))


def _somewhere(op: str, edit: Callable[[Node, random.Random], Node | None]) -> Change:
    """A change of one random place of an answer's expressions where this operation is."""

    def change(answer: Answer, rng: random.Random) -> Answer | None:
        places = [(at, path) for at, part in enumerate(answer.parts) for path in _leaves(part, op)]
        if not places:
            return None
        at, path = rng.choice(places)
        edited = edit(_at(answer.parts[at], path), rng)
        if edited is None:
            return None
        parts = list(answer.parts)
        parts[at] = _put(parts[at], path, edited)
        return replace(answer, parts=tuple(parts))

    return change


def _other_digit(leaf: Node, rng: random.Random) -> Node:
    number = leaf.parts[0]
    step = rng.choice((1, 10)) if number > 9 else 1
    return num(Fraction(number.numerator + step, number.denominator))


def _other_case(leaf: Node, _: random.Random) -> Node | None:
    name = leaf.parts[0]
    at = 1 if name.startswith("\\") else 0
    swapped = name[:at] + name[at].swapcase() + name[at + 1 :]
    no_letter = name in (r"\pi", "e", "i")
    return None if no_letter else sym(swapped)


def _other_index(leaf: Node, rng: random.Random) -> Node | None:
    name = leaf.parts[0]
    if name in (r"\pi", "e", "i"):
        return None
    return sym(rng.choice((name[0], "x_{3}"))) if "_" in name else sym(f"{name}_{{1}}")


def _with_prime(leaf: Node, _: random.Random) -> Node | None:
    return (
        None
        if leaf.parts[0] in (r"\pi", "e", "i") or "_" in leaf.parts[0]
        else sym(leaf.parts[0] + "'")
    )


def _negated(answer: Answer, rng: random.Random) -> Answer | None:
    if not answer.parts or answer.kind in ("unit", "loose unit", "ratio"):
        return None
    at = rng.randrange(len(answer.parts))
    parts = list(answer.parts)
    parts[at] = parts[at].parts[0] if parts[at].op == "neg" else Node("neg", (parts[at],))
    return replace(answer, parts=tuple(parts))


def _other_function(op: str, other: str) -> Change:
    return _somewhere(op, lambda tree, _: Node(other, tree.parts))


# ------------------------------------------------------------------ changes of structure


def _swapped(answer: Answer, rng: random.Random) -> Answer | None:
    if len(answer.parts) < 2:
        return None
    one, other = rng.sample(range(len(answer.parts)), 2)
    parts = list(answer.parts)
    parts[one], parts[other] = parts[other], parts[one]
    return replace(answer, parts=tuple(parts))


def _transposed(answer: Answer, _: random.Random) -> Answer | None:
    if answer.kind != "matrix":
        return None
    columns = int(answer.marks[0])
    rows = len(answer.parts) // columns
    parts = [answer.parts[r * columns + c] for c in range(columns) for r in range(rows)]
    return replace(answer, parts=tuple(parts), marks=(str(rows),))


def _without_last(answer: Answer, _: random.Random) -> Answer | None:
    step = int(answer.marks[0]) if answer.kind == "matrix" else 1
    if len(answer.parts) <= step or answer.kind == "union":
        return None
    marks = answer.marks[:-1] if answer.kind == "named" else answer.marks
    return replace(answer, parts=answer.parts[:-step], marks=marks)


def _one_more(answer: Answer, rng: random.Random) -> Answer | None:
    if answer.kind not in ("tuple", "set", "list"):
        return None
    return replace(answer, parts=(*answer.parts, num(rng.randint(100, 200))))


_OTHER_BRACKETS = {("[", ")"): ("(", "]"), ("(", "]"): ("[", ")"), ("[", "]"): ("[", ")"),
                   (r"\langle ", r"\rangle "): (r"\{", r"\}"),
                   ("(", ")"): (r"\{", r"\}"), (r"\{", r"\}"): ("(", ")")}  # fmt: skip


def _other_brackets(answer: Answer, _: random.Random) -> str | None:
    marks = _OTHER_BRACKETS.get(answer.marks)
    return None if marks is None else latex(replace(answer, marks=marks))


def _marks(
    kind: str, edit: Callable[[tuple[str, ...], random.Random], tuple[str, ...] | None]
) -> Change:
    """A change of what else has meaning in answers of a kind."""

    def change(answer: Answer, rng: random.Random) -> Answer | None:
        marks = edit(answer.marks, rng) if answer.kind == kind else None
        return None if marks is None else replace(answer, marks=marks)

    return change


def _other(choices: tuple[str, ...], old: str, rng: random.Random) -> str:
    return rng.choice([choice for choice in choices if choice != old])


def _other_names(marks: tuple[str, ...], _: random.Random) -> tuple[str, ...]:
    return tuple({"x": "u", "y": "v", "a": "p", "b": "q"}[name] for name in marks)


def _prime_of_function(marks: tuple[str, ...], _: random.Random) -> tuple[str, ...] | None:
    name = marks[0]
    return (name.replace("'", "") if "'" in name else name[0] + "'" + name[1:],)


# ------------------------------------------------------------------ changes of the text


def _text(kinds: tuple[str, ...], write: Callable[[Answer, str], str]) -> Change:
    """A change of the LaTeX of answers of some kinds; what it makes is wrong by the policy."""

    def change(answer: Answer, _: random.Random) -> str | None:
        return write(answer, latex(answer)) if answer.kind in kinds else None

    return change


def _other_ends(marks: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    at = rng.randrange(len(marks))
    other = {"(": "[", "[": "(", ")": "]", "]": ")"}[marks[at]]
    return (*marks[:at], other, *marks[at + 1 :])


_STRICT = {"<": r"\le", ">": r"\ge", r"\le": "<", r"\ge": ">"}
_TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}
_NUMBERS = ("number", "loose unit")
CHANGES: dict[str, Change] = {
    "digit": _somewhere("num", _other_digit),
    "letter's case": _somewhere("sym", _other_case),
    "index": _somewhere("sym", _other_index),
    "prime": _somewhere("sym", _with_prime),
    "sign": _negated,
    "sine for cosine": _other_function("sin", "cos"),
    "cosine for sine": _other_function("cos", "sin"),
    "degrees dropped": _somewhere("degrees", lambda tree, _: tree.parts[0]),
    "product for quotient": _other_function("div", "mul"),
    "root dropped": _somewhere("sqrt", lambda tree, _: tree.parts[0]),
    "entries swapped": _swapped,
    "transposed": _transposed,
    "component dropped": _without_last,
    "component added": _one_more,
    "brackets": _other_brackets,
    "names of values": _marks("named", _other_names),
    "prime of a function": _marks("equation", _prime_of_function),
    "base": _marks("based", lambda marks, _: (marks[0], str(int(marks[1]) + 1))),
    "digit of a based number": _marks(
        "based", lambda m, _: (m[0][:-1] + str(int(m[0][-1]) - 1), m[1])
    ),
    "unit": _marks("unit", lambda marks, rng: (_other(UNITS, marks[0], rng),)),
    "minute of a time": _marks("time", lambda m, _: (m[0], f"{(int(m[1]) + 1) % 60:02}")),
    "minute of an angle": _marks("angle", lambda m, _: (m[0], str(int(m[1]) + 1))),
    "another prime": _marks("primes", lambda m, _: (m[0], {"'": "''", "''": "'"}[m[1]])),
    "primes dropped": _text(("primes",), lambda answer, _: answer.marks[0]),
    "cycle turned back": _marks("permutation", lambda marks, _: marks[::-1]),
    "cycle of fewer": _marks("permutation", lambda marks, _: marks[:-1]),
    "modulus": _marks("remainder", lambda m, _: (m[0], str(int(m[1]) + 1))),
    "another remainder": _marks("remainder", lambda m, _: (str(int(m[0]) + 1), m[1])),
    "day of a date": _marks("date", lambda m, _: (*m[:2], f"{int(m[2]) + 1:02}")),
    "date as a difference": _text(
        ("date",), lambda answer, _: str(int(answer.marks[0]) - sum(map(int, answer.marks[1:])))
    ),
    "choice": _marks("choice", lambda marks, rng: (_other(tuple("ABCDE"), marks[0], rng),)),
    "word": _marks("word", lambda marks, rng: (_other(WORDS, marks[0], rng),)),
    "base dropped": _text(("based",), lambda answer, _: answer.marks[0]),
    "values without names, swapped": _text(
        ("named",),
        lambda answer, _: ",".join(latex(Answer("number", (p,))) for p in answer.parts[::-1]),
    ),
    "time as a fraction": _text(
        ("time",), lambda a, _: rf"\frac{{{int(a.marks[0])}}}{{{int(a.marks[1]) or 1}}}"
    ),
    "marks of an angle dropped": _text(("angle",), lambda answer, _: "".join(answer.marks)),
    "minutes dropped": _text(("angle",), lambda answer, _: answer.marks[0] + r"^\circ"),
    "not": _text(("word",), lambda answer, _: rf"\text{{not {answer.marks[0]}}}"),
    "unit, where one may be missing": _marks(
        "loose unit", lambda marks, rng: (_other(UNITS, marks[0], rng),)
    ),
    "no unit: million": _text(
        ("loose unit",), lambda answer, _: write(answer.parts[0]) + r"\text{ million}"
    ),
    "no unit: pi": _text(("loose unit",), lambda answer, _: write(answer.parts[0]) + r"\text{ pi}"),
    "no unit: plus six": _text(
        ("loose unit",), lambda answer, _: write(answer.parts[0]) + r"\text{ plus six}"
    ),
    "no unit: is wrong": _text(
        ("loose unit",), lambda answer, _: write(answer.parts[0]) + r"\text{ is wrong}"
    ),
    "unit squared": _text(("unit", "loose unit"), lambda _, text: text + "^2"),
    "ends of a union": _marks("union", _other_ends),
    "cap for cup": _text(("union",), lambda _, text: text.replace(r"\cup", r"\cap")),
    "comma for cup": _text(("union",), lambda _, text: text.replace(r"\cup", ",")),
    "one interval of a union": _text(("union",), lambda _, text: text.split(r"\cup")[0]),
    "strict or not": _marks("inequality", lambda m, _: (m[0], _STRICT[m[1]])),
    "inequality turned": _marks("inequality", lambda m, _: (m[0], _TURNED[m[1]])),
    "variable of an inequality": _marks("inequality", lambda m, _: ("y", m[1])),
    "equation for inequality": _text(
        ("inequality",), lambda a, _: f"{a.marks[0]}={write(a.parts[0])}"
    ),
    "end of an inequality alone": _text(("inequality",), lambda a, _: write(a.parts[0])),
    "bars dropped": _somewhere("abs", lambda tree, _: tree.parts[0]),
    "plural": _text(("word",), lambda answer, _: rf"\text{{{answer.marks[0]}s}}"),
    "it is not": _text(("word",), lambda answer, _: rf"\text{{it is not {answer.marks[0]}}}"),
    "minus before a word": _text(("word",), lambda _, text: "-" + text),
    "or another choice": _text(
        ("choice",), lambda a, _: f"({a.marks[0]}) or ({'B' if a.marks[0] == 'A' else 'A'})"
    ),
    "choice is wrong": _text(("choice",), lambda _, text: text + r"\text{ is wrong}"),
    "million": _text((*_NUMBERS, "unit"), lambda _, text: text + r"\text{ million}"),
    "is wrong": _text(_NUMBERS, lambda _, text: text + r"\text{ is wrong}"),
    "or so": _text(_NUMBERS, lambda _, text: text + r"\text{ or } 12345"),
    "row break lost": _text(("matrix",), lambda _, text: text.replace(r"\\", "&")),
    "equals more": _text(_NUMBERS, lambda _, text: text + "=1"),
    "plus 1": _text(("number", "expression"), lambda _, text: text + "+1"),
}
