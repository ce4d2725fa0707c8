"""Golds of every kind, with their meaning: an answer that the adversary can mutate and compare."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from adversary.expressions import PLAIN, Node, Style, node, num, same, sym, write

LETTERS = ("x", "y", "n", "R", "r", "A", "a", r"\omega", r"\Omega", "x_{1}", "x_{2}", "k")
WORDS = ("Tuesday", "increasing", "decreasing", "ellipse", "hyperbola", "Monday", "parabola")
UNITS = ("cm", "m", "km", "kg", "g", "hours", "minutes", "dollars")


@dataclass(frozen=True)
class Answer:
    """An answer and what it means.

    Attributes:
        kind: number, expression, tuple, interval, union, inequality, set, list, matrix, equation,
            named, based, unit, loose unit, ratio, time, angle, primes, permutation, remainder,
            date, choice or word.
        parts: Expressions, in the order in which they are written.
        marks: Whatever else has meaning: brackets, names, base, unit, shape, letter, word.
    """

    kind: str
    parts: tuple[Node, ...] = ()
    marks: tuple[str, ...] = ()


def equal(one: Answer, other: Answer) -> bool:
    """Whether two answers mean the same."""
    if (one.kind, one.marks, len(one.parts)) != (other.kind, other.marks, len(other.parts)):
        return False
    if one.kind in ("set", "list"):
        return _same_members(one.parts, other.parts)
    if one.kind == "ratio":
        return _same_ratio(one.parts, other.parts)
    return all(map(same, one.parts, other.parts))


def _same_members(one: tuple[Node, ...], other: tuple[Node, ...]) -> bool:
    left = list(other)
    for part in one:
        found = next((each for each in left if same(part, each)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _same_ratio(one: tuple[Node, ...], other: tuple[Node, ...]) -> bool:
    return all(
        same(node("mul", a, other[0]), node("mul", b, one[0]))
        for a, b in zip(one, other, strict=True)
    )


def latex(answer: Answer, style: Style = PLAIN) -> str:
    """An answer in LaTeX."""
    parts = [write(part, style) for part in answer.parts]
    return _WRITERS[answer.kind](answer, parts, style)


def _bracketed(answer: Answer, parts: list[str], style: Style) -> str:
    left, right = answer.marks
    joint = "," + (style.space or "")
    if style.brackets != ("(", ")"):
        left, right = r"\left" + left, r"\right" + right
    return left + joint.join(parts) + right


def _matrix(answer: Answer, parts: list[str], style: Style) -> str:
    columns = int(answer.marks[0])
    rows = [parts[at : at + columns] for at in range(0, len(parts), columns)]
    pad = style.space
    body = (pad + r"\\" + pad).join((pad + "&" + pad).join(row) for row in rows)
    return rf"\begin{{pmatrix}}{pad}{body}{pad}\end{{pmatrix}}"


def _named(answer: Answer, parts: list[str], style: Style) -> str:
    pairs = [f"{name}={part}" for name, part in zip(answer.marks, parts, strict=True)]
    return ("," + style.space).join(pairs)


def _with_unit(answer: Answer, parts: list[str], style: Style) -> str:
    return parts[0] + (rf"\text{{ {answer.marks[0]}}}" if answer.marks[0] else "")


def _union(answer: Answer, parts: list[str], style: Style) -> str:
    first, left, right = answer.marks
    pad = style.space
    return rf"(-\infty,{pad}{parts[0]}{first}{pad}\cup{pad}{left}{parts[1]},{pad}{parts[2]}{right}"


_Writer = Callable[[Answer, list[str], Style], str]
_WRITERS: dict[str, _Writer] = {
    "number": lambda answer, parts, style: parts[0],
    "expression": lambda answer, parts, style: parts[0],
    "tuple": _bracketed,
    "interval": _bracketed,
    "set": _bracketed,
    "list": lambda answer, parts, style: ("," + (style.space or " ")).join(parts),
    "matrix": _matrix,
    "equation": _named,
    "named": _named,
    "based": lambda answer, parts, style: (
        f"{answer.marks[0]}_{{{answer.marks[1]}}}"
        if style.braces
        else f"{answer.marks[0]}_{answer.marks[1]}"
    ),
    "unit": _with_unit,
    "loose unit": _with_unit,
    "union": _union,
    "inequality": lambda answer, parts, style: (
        f"{answer.marks[0]}{style.space}{answer.marks[1]} {parts[0]}"
    ),
    "ratio": lambda answer, parts, style: f"{style.space}:{style.space}".join(parts),
    "time": lambda answer, parts, style: ":".join(answer.marks),
    "angle": lambda answer, parts, style: f"{answer.marks[0]}^\\circ {answer.marks[1]}'",
    "primes": lambda answer, parts, style: "".join(answer.marks),
    "permutation": lambda answer, parts, style: f"({' '.join(answer.marks)})",
    "remainder": lambda answer, parts, style: (
        rf"{answer.marks[0]}{style.space}\pmod{{{answer.marks[1]}}}"
    ),
    "date": lambda answer, parts, style: "-".join(answer.marks),
    "choice": lambda answer, parts, style: f"({answer.marks[0]})",
    "word": lambda answer, parts, style: rf"\text{{{answer.marks[0]}}}",
}


# ------------------------------------------------------------------ kinds of golds, at random


def _integer(rng: random.Random, high: int = 40) -> Node:
    number = num(rng.randint(1, high))
    return node("neg", number) if rng.random() < 0.25 else number


def _rational(rng: random.Random) -> Node:
    while True:
        number = Fraction(rng.randint(1, 40), rng.randint(2, 12))
        if number.denominator > 1:
            return num(number)


def _monomial(rng: random.Random, name: str, power: int) -> Node:
    letter = sym(name) if power == 1 else node("pow", sym(name), num(power))
    return node("mul", num(rng.randint(2, 9)), letter)


def polynomial(rng: random.Random) -> Node:
    """A sum of monomials of one or two letters, and a constant."""
    names = rng.sample(LETTERS, rng.choice((1, 2)))
    terms = [_monomial(rng, name, rng.randint(1, 3)) for name in names]
    terms = [node("neg", term) if rng.random() < 0.3 else term for term in terms]
    return node("add", *terms, num(rng.randint(1, 20)))


def _letters(rng: random.Random) -> Node:
    one, other = rng.sample(LETTERS, 2)
    return rng.choice(
        (
            node("div", sym(one), sym(other)),
            node("mul", sym(one), node("add", sym(other), num(rng.randint(1, 9)))),
            node(
                "add", node("pow", sym(one), num(2)), node("neg", node("pow", sym(other), num(2)))
            ),
            node("div", num(rng.randint(1, 9)), node("add", sym(one), num(rng.randint(1, 9)))),
        )
    )


def _surd(rng: random.Random) -> Node:
    root = node("sqrt", num(rng.choice((2, 3, 5, 6, 7, 10, 11, 13))))
    return rng.choice(
        (
            node("mul", num(rng.randint(2, 9)), root),
            node("add", num(rng.randint(1, 9)), root),
            node("div", root, num(rng.randint(2, 9))),
        )
    )


def _transcendental(rng: random.Random) -> Node:
    name = rng.choice(("x", "t"))
    return rng.choice(
        (
            node("mul", num(rng.randint(2, 9)), sym(r"\pi")),
            node("div", sym(r"\pi"), num(rng.randint(2, 12))),
            node("pow", sym("e"), node("mul", num(rng.randint(2, 5)), sym(name))),
            node("ln", num(rng.randint(2, 20))),
            node(rng.choice(("sin", "cos")), node("mul", num(rng.randint(2, 6)), sym(name))),
            node("sin", node("degrees", num(rng.choice((10, 20, 40, 50, 70))))),
        )
    )


def _complex(rng: random.Random) -> Node:
    return node("add", num(rng.randint(1, 9)), node("mul", num(rng.randint(2, 9)), sym("i")))


def _counting(rng: random.Random) -> Node:
    top = rng.randint(5, 9)
    return rng.choice(
        (
            node("choose", num(top), num(rng.randint(2, 3))),
            node("factorial", num(rng.randint(4, 7))),
            node("pow", num(rng.randint(2, 7)), num(rng.randint(3, 12))),
        )
    )


def _single(kind: str, make: Callable[[random.Random], Node], rng: random.Random) -> Answer:
    return Answer(kind, (make(rng),))


def _several(kind: str, marks: tuple[str, ...], rng: random.Random) -> Answer:
    parts: list[Node] = []
    while len(parts) < rng.choice((2, 2, 3)):
        part = rng.choice((_integer, _integer, _rational, _surd))(rng)
        if not any(same(part, each) for each in parts):
            parts.append(part)
    return Answer(kind, tuple(parts), marks)


def _interval(rng: random.Random) -> Answer:
    low = rng.randint(1, 20)
    ends = (num(low), num(low + rng.randint(1, 20)))
    return Answer("interval", ends, rng.choice((("[", ")"), ("(", "]"), ("[", "]"))))


def _matrix_gold(rng: random.Random) -> Answer:
    rows, columns = rng.choice(((2, 1), (3, 1), (2, 2), (2, 3)))
    numbers = rng.sample(range(1, 30), rows * columns)
    return Answer("matrix", tuple(num(each) for each in numbers), (str(columns),))


def _equation(rng: random.Random) -> Answer:
    return Answer("equation", (_in_x(rng),), (rng.choice(("f(x)", "f'(x)", "g(x)", "y")),))


def _in_x(rng: random.Random) -> Node:
    return node("add", _monomial(rng, "x", rng.randint(1, 3)), num(rng.randint(1, 20)))


def _named_gold(rng: random.Random) -> Answer:
    one, other = rng.sample(range(1, 30), 2)
    return Answer("named", (num(one), num(other)), rng.choice((("x", "y"), ("a", "b"))))


def _based(rng: random.Random) -> Answer:
    base = rng.randint(4, 9)
    digits = "".join(str(rng.randint(1, base - 1)) for _ in range(rng.randint(3, 4)))
    return Answer("based", (), (digits, str(base)))


def _unit(kind: str, rng: random.Random) -> Answer:
    return Answer(kind, (num(rng.randint(2, 400)),), (rng.choice(UNITS),))


def _union_gold(rng: random.Random) -> Answer:
    ends = sorted(rng.sample(range(1, 60, 2), 3))
    marks = (rng.choice(")]"), rng.choice("(["), rng.choice(")]"))
    return Answer("union", tuple(num(end) for end in ends), marks)


def _inequality(rng: random.Random) -> Answer:
    relation = rng.choice(("<", ">", r"\le", r"\ge"))
    return Answer("inequality", (_rational(rng),), (rng.choice(("x", "n", "t")), relation))


def _absolute(rng: random.Random) -> Node:
    inner = node("add", sym(rng.choice(("x", "t"))), node("neg", num(rng.randint(3, 20))))
    return node("mul", num(rng.randint(2, 9)), node("abs", inner))


def _ratio(rng: random.Random) -> Answer:
    size = rng.choice((2, 3))
    return Answer("ratio", tuple(num(each) for each in rng.sample((2, 3, 5, 7, 11, 13), size)))


def _time(rng: random.Random) -> Answer:
    return Answer("time", (), (str(rng.randint(1, 12)), f"{rng.randint(0, 59):02}"))


def _angle(rng: random.Random) -> Answer:
    return Answer("angle", (), (str(rng.randint(10, 80)), str(rng.randint(10, 50))))


def _primes(rng: random.Random) -> Answer:
    return Answer("primes", (), (str(rng.randint(2, 90)), rng.choice(("'", "''"))))


def _permutation(rng: random.Random) -> Answer:
    moved = rng.sample("123456789", rng.randint(3, 5))
    return Answer("permutation", (), tuple(moved))


def _remainder(rng: random.Random) -> Answer:
    modulus = rng.randint(3, 40)
    return Answer("remainder", (), (str(rng.randrange(modulus)), str(modulus)))


def _date(rng: random.Random) -> Answer:
    month, day = rng.randint(1, 12), rng.randint(1, 27)
    return Answer("date", (), (str(rng.randint(1900, 2030)), f"{month:02}", f"{day:02}"))


def _mark(kind: str, choices: tuple[str, ...], rng: random.Random) -> Answer:
    return Answer(kind, (), (rng.choice(choices),))


KINDS: dict[str, Callable[[random.Random], Answer]] = {
    "integer": partial(_single, "number", partial(_integer, high=5000)),
    "fraction": partial(_single, "number", _rational),
    "surd": partial(_single, "expression", _surd),
    "polynomial": partial(_single, "expression", polynomial),
    "letters": partial(_single, "expression", _letters),
    "transcendental": partial(_single, "expression", _transcendental),
    "complex": partial(_single, "expression", _complex),
    "counting": partial(_single, "number", _counting),
    "tuple": partial(_several, "tuple", ("(", ")")),
    "set": partial(_several, "set", (r"\{", r"\}")),
    "list": partial(_several, "list", ()),
    "interval": _interval,
    "matrix": _matrix_gold,
    "equation": _equation,
    "named": _named_gold,
    "based": _based,
    "unit": partial(_unit, "unit"),
    "loose unit": partial(_unit, "loose unit"),
    "vector": partial(_several, "tuple", (r"\langle ", r"\rangle ")),
    "union": _union_gold,
    "inequality": _inequality,
    "absolute value": partial(_single, "expression", _absolute),
    "ratio": _ratio,
    "time": _time,
    "angle": _angle,
    "primes": _primes,
    "permutation": _permutation,
    "remainder": _remainder,
    "date": _date,
    "choice": partial(_mark, "choice", tuple("ABCDE")),
    "word": partial(_mark, "word", WORDS),
}


def golds(per_kind: int, seed: int = 0) -> Iterator[tuple[str, Answer]]:
    """So many different golds of each kind where it has them: the kind's name, and the answer."""
    for kind, make in KINDS.items():
        rng, seen = random.Random(f"{kind}/{seed}"), set()
        for _ in range(20 * per_kind):
            answer = make(rng)
            if answer not in seen and len(seen) < per_kind:
                seen.add(answer)
                yield kind, answer
