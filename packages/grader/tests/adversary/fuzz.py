"""A fuzzer that is guided by the lines of the grader: its oracle is the checker.

It changes tokens of golds. An answer that makes the grader run a line which no answer has run
before is kept, and changed further. The checker judges everything that the grader accepts.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import setrl_grader
from adversary.checked import Checked
from adversary.golds import golds, latex
from adversary.progress import told
from attack_cases import RIGHT, WRONG
from setrl_grader import Grade, MathGrader, modular
from setrl_grader.stated import final_boxes

TOKENS = re.findall(
    r"\S+",
    r"""
    0 1 2 3 12 x y n k A B C i e d f ( ) [ ] { } + - * / ^ _ ! ' | , ; : = < > % ° . & and or 0.5
    \frac \sqrt \binom \sin \cos \ln \log \pi \cdot \times \pm \{ \} \infty \cup \cap \le \ge \ne
    \in \mathbb{R} \lfloor \rfloor \overline \vec{a} \mathbf{b} \text{or} \text{~cm} \$ \% ^{\circ}
    \sum_{k=1}^{n} \gcd \pmod{5} \ldots \begin{pmatrix} \end{pmatrix} \\ \left \right \,
    10^{-2000} 0.\overline{3}
    """,
)
_SPLIT = re.compile(r"\\[a-zA-Z]+|\\.|\d+|\s+|.", re.DOTALL)
_FOLDER = str(Path(setrl_grader.__file__).parent)


@dataclass
class Found(Checked):
    """What the fuzzer did: how many answers, and how many lines of the grader they ran."""

    cases: int = 0
    lines: int = 0

    def __str__(self) -> str:
        return f"fuzzer: {self.cases} answers ran {self.lines} lines; {super().__str__()}"


def fuzz(cases: int, seed: int = 0) -> Found:
    """Grade so many changed golds; the same seed and the same grader give the same answers."""
    _forget()
    rng = random.Random(f"fuzz/{seed}")
    corpus = list(_seeds())
    grader, seen, tried = MathGrader(), set[Any](), dict[tuple[str, str], Grade]()
    for _ in told(range(cases), "fuzzer"):
        gold, answer = rng.choice(corpus)
        boxes = final_boxes(rf"\boxed{{{_changed(answer, rng.choice(corpus)[1], rng)}}}").answers
        changed = boxes[-1] if boxes else ""  # a brace too many ends the box
        before = len(seen)
        with _lines(seen):
            tried[gold, changed] = grader._graded(rf"\boxed{{{changed}}}", gold, units=False)
        if len(seen) > before:
            corpus.append((gold, changed))
    found = Found(cases=cases, lines=len(seen))
    for (gold, answer), grade in tried.items():
        found.judge(gold, answer, grade)
    return found


def _forget() -> None:
    """Empty the caches of the grader, which decide what lines an answer runs.

    The primes stay: they are drawn at random, and which roots exist depends on them.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("setrl_grader."):
            for value in vars(module).values():
                if value is not modular._primes:
                    getattr(value, "cache_clear", int)()


def _seeds() -> Iterator[tuple[str, str]]:
    """Golds with themselves, and with the answers of the attack cases."""
    for table in (RIGHT, WRONG):
        for found in table.values():
            yield from found
    for _, answer in golds(2):
        yield latex(answer), latex(answer)


def _changed(text: str, other: str, rng: random.Random) -> str:
    """Return a text after one to three changes of its tokens."""
    tokens, others = _SPLIT.findall(text), _SPLIT.findall(other)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(tokens) + 1)
        end = min(at + rng.choice((0, 0, 1, 1, 2, 5)), len(tokens))
        cut = rng.randrange(len(others) + 1)
        new = rng.choice(
            (
                [],
                [rng.choice(TOKENS)],
                [rng.choice(TOKENS)],
                others[cut : cut + 4],
                tokens[at:end] * 2,
            )
        )
        tokens[at:end] = new
    return "".join(token + " " * (token[0] == "\\") for token in tokens)[:400]


@contextmanager
def _lines(seen: set[Any]) -> Iterator[None]:
    """Add the lines of the grader that run within."""

    def of_call(frame: FrameType, event: str, argument: object) -> Any:
        return of_line if frame.f_code.co_filename.startswith(_FOLDER) else None

    def of_line(frame: FrameType, event: str, argument: object) -> Any:
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return of_line

    before = sys.gettrace()
    sys.settrace(of_call)
    try:
        yield
    finally:
        sys.settrace(before)
