r"""Copies of a problem: its own formula in the box, as it is, in another order, or hardly changed.

Each problem asks to do something with a formula, and the gold is what comes out. A copy is equal to
the gold, and answers nothing. Numbers {a} < {b} are drawn, with {d} = {a}{b}, {s} = {a} + {b},
{q} = {a}² and {r} = {a}² + {b}², and a letter {x}.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from adversary.progress import told


class Copy(NamedTuple):
    """A problem, its gold, and an answer that copies the problem."""

    kind: str
    problem: str
    gold: str
    text: str


PROBLEMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "compute a sum": (
        "Compute ${a}^2+{b}^2$.",
        "{r}",
        ("{a}^2+{b}^2", "{b}^2 + {a}^2", r"{a}\cdot {a}+{b}\cdot {b}", "{a}^2+{b}^2+0"),
    ),
    "compute a product": (
        r"What is ${a}\times {b}$?",
        "{d}",
        (r"{a}\times {b}", r"{b}\cdot {a}", "({a})({b})", r"{a}\cdot {b}\cdot 1^2"),
    ),
    "compute a quotient": (
        r"Compute $\frac{{1}}{{{a}}}\div\frac{{1}}{{{d}}}$.",
        "{b}",
        (r"\frac{{1}}{{{a}}}\div\frac{{1}}{{{d}}}", r"\frac{{1}}{{{a}}}\cdot {d}"),
    ),
    "compute a root": (r"What is $\sqrt{{{q}}}$?", "{a}", (r"\sqrt{{{q}}}", r"{q}^{{1/2}}")),
    "compute a sine": (
        r"Find $\sin 30^\circ+{a}$.",
        r"{a}\frac{{1}}{{2}}",
        (r"\sin 30^\circ+{a}", r"{a}+\sin 30^\circ"),
    ),
    "compute a binomial": (
        r"Find $\binom{{{a}}}{{1}}$.",
        "{a}",
        (r"\binom{{{a}}}{{1}}", r"\frac{{{a}!}}{{({a}-1)!}}"),
    ),
    "factor": (
        "Factor ${x}^2-{q}$.",
        "({x}-{a})({x}+{a})",
        ("{x}^2-{q}", "-{q}+{x}^2", "{x}^2-{q}+0", "1({x}^2-{q})", r"{x}\cdot {x}-{q}"),
    ),
    "expand": (
        r"Expand \(({x}+{a})({x}+{b})\).",
        "{x}^2+{s}{x}+{d}",
        ("({x}+{a})({x}+{b})", "({b}+{x})({x}+{a})", "({x}+{a}){x}+({x}+{a}){b}"),
    ),
    "simplify": (
        r"Simplify $\frac{{{x}^2-{q}}}{{{x}-{a}}}$.",
        "{x}+{a}",
        (
            r"\frac{{{x}^2-{q}}}{{{x}-{a}}}",
            r"\frac{{-{q}+{x}^2}}{{-{a}+{x}}}",
            r"\frac{{{q}-{x}^2}}{{{a}-{x}}}",
        ),
    ),
    "collect": (
        "Simplify {a}{x} + {b}{x}.",
        "{s}{x}",
        ("{a}{x}+{b}{x}", "{b}{x}+{a}{x}", "{a}{x}+{b}{x}+0"),
    ),
    "solve an equation": (
        "Solve ${a}x+{b}y={d}$ for $y$.",
        r"y=\frac{{{d}-{a}x}}{{{b}}}",
        ("{a}x+{b}y={d}", "{d}={b}y+{a}x", "{b}y={d}-{a}x", r"x=\frac{{{d}-{b}y}}{{{a}}}"),
    ),
    "solve an inequality": (
        "Solve ${a}{x}<{d}$.",
        "{x}<{b}",
        ("{a}{x}<{d}", "{d}>{a}{x}", "{a}{x}-{d}<0", "-{x}>-{b}"),
    ),
    "rationalize": (
        r"Rationalize the denominator of $\frac{{{a}}}{{1+\sqrt{{2}}}}$.",
        r"{a}\sqrt{{2}}-{a}",
        (r"\frac{{{a}}}{{1+\sqrt{{2}}}}", r"\frac{{{a}}}{{\sqrt{{2}}+1}}"),
    ),
}


def copies(trials: int, seed: int) -> Iterator[Copy]:
    """Yield all copies with so many draws."""
    rng = random.Random(f"copies/{seed}")
    for _ in range(trials):
        a, b = sorted(rng.sample(range(3, 20), 2))
        sums = {"d": a * b, "s": a + b, "q": a * a, "r": a * a + b * b}
        drawn = {"a": a, "b": b, "x": rng.choice("xyzuv"), **sums}
        for kind, (problem, gold, answers) in PROBLEMS.items():
            for answer in answers:
                yield Copy(kind, *(each.format(**drawn) for each in (problem, gold, answer)))


def accepted(grade: Callable[[Copy], bool], trials: int, seed: int = 0) -> dict[str, list[Copy]]:
    """Return the copies that a grader accepts, by kind."""
    found: dict[str, list[Copy]] = {kind: [] for kind in PROBLEMS}
    for copy in told([*copies(trials, seed)], "copies"):
        if grade(copy):
            found[copy.kind].append(copy)
    return found
