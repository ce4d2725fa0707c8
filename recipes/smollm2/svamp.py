"""SVAMP in one line: an equation and its value; the strategy is the form of the equation.

    prompt  four solved problems, then: Problem: … 11 pounds … 30 pounds … Equation:
    sample  30-11=19                    strategy  b-a: over the numbers of the problem, in order

A sample is right if its value is the answer. The equation need not be true: the model may compute
badly, or guess. Only the first line is read, because a model that was not taught to stop goes on
with problems of its own.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Any

from recipes.smollm2.countdown import normal_form, parse
from setrl import DEGENERATE

LINE = re.compile(r"\s*([^=\n]+)=\s*\$?(-?\d+(?:\.\d+)?)\s*(?:\n|$)")
NUMBER = re.compile(r"\d+")


def value_of(text: str) -> str | None:
    r"""Return the value that the first line states; None if it is no equation.

    >>> value_of(" 30-11=19\nProblem: 2+2=4"), value_of("Nineteen."), value_of("8/2=4.0")
    ('19', None, '4')
    """
    found = LINE.match(text)
    return None if found is None else f"{float(found[2]):g}"


def form_of(problem: str, text: str) -> str | int:
    """Return the normal form of the first line's equation, over the numbers of the problem.

    A number that the problem has not stays as it is. −1: the line is no equation of +, −, *, /.

    >>> problem = "Together they weigh 30 pounds, and one weighs 11. How much does the other?"
    >>> form_of(problem, "30-11=19"), form_of(problem, "30/2=15"), form_of(problem, "19")
    ('a-b', 'a/2', -1)
    """
    found = LINE.match(text)
    if found is None:
        return DEGENERATE
    try:
        form = normal_form(parse(found[1]))
    except (ValueError, ZeroDivisionError):
        return DEGENERATE
    numbers = dict.fromkeys(NUMBER.findall(problem))
    letter = dict(zip(numbers, string.ascii_lowercase, strict=False))
    return NUMBER.sub(lambda number: letter.get(number[0], number[0]), form)


def correct(completions: Sequence[str], answer: Sequence[str], **_: Any) -> list[bool]:
    """Return whether the value of each sample is the answer."""
    pairs = zip(completions, answer, strict=True)
    return [value_of(text) == f"{float(gold):g}" for text, gold in pairs]


def strategy(completions: Sequence[str], problem: Sequence[str], **_: Any) -> list[str | int]:
    """Return the form of each sample's equation; −1 where there is none."""
    return [form_of(one, text) for one, text in zip(problem, completions, strict=True)]


correct.read_answer = value_of  # type: ignore[attr-defined]  # which votes count
