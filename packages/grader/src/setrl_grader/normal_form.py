r"""One way to write an answer: marks without meaning go away, marks with a meaning stay.

Dollar signs around maths, `\text`, `\left` and `\right`, kinds of fraction, spaces and a full stop
do not count. Letters keep their case, indices and primes; numbers keep their base, degree marks and
percent signs; units and currencies stay.
"""

from __future__ import annotations

import re
from functools import lru_cache

from setrl_grader.python_syntax import as_latex
from setrl_grader.tokens import depths, joined, tokens

_PERCENT = re.compile(r"(?<=[\d})])\s*(?:percent|per cent|pct)\Z")
_DEGREES = re.compile(r"(?:(?<=[\d})])|(?<=\\pi))\s*deg(?:rees?)?\Z")
_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
_BOLD_ALONE = re.compile(r"\A\s*\\mathbf\{([A-Za-z])\}\s*\Z")
_STARS = re.compile(r"\A\s*\*\*([^*]+)\*\*\s*\Z")  # bold in Markdown
_LOST_SPACE = re.compile(r"(?<!\\)\\(?=\d)")  # \25, which was \ 25
_CHOICE_ALONE = re.compile(r"\(\s*([A-Z])\s*\)\Z")


@lru_cache(maxsize=4096)
def normal_form(answer: str, letters: str = "") -> str:
    r"""Write an answer in the form in which answers are compared; valid LaTeX stays valid.

    In the syntax of Python, I and E are constants unless they are among `letters`.

    >>> normal_form(r"$\dfrac12$."), normal_form("0.50 "), normal_form(r"90^{\circ}")
    ('\\frac{1}{2}', '0.50', '90°')
    >>> normal_form(r"\left[\begin{array}{c} 5 \\ 3 \end{array}\right]")
    '\\begin{pmatrix}5\\\\3\\end{pmatrix}'
    """
    answer = _LOST_SPACE.sub(r"\\ ", _STARS.sub(r"\1", answer))
    answer = as_latex(answer, letters) or answer
    text = _without_end(re.sub(r"\.{3,}", r"\\ldots ", joined(tokens(answer))))
    text = re.sub(r"\\\{\s*\\\}", r"\\emptyset", text)
    text = _BOLD_ALONE.sub(r"\1", text)
    text = re.sub(r"\s*(\\\\|&|\\(?:begin|end)\{[a-zA-Z]+\})\s*", r"\1", text)
    text = _DEGREES.sub("°", _PERCENT.sub("%", text))
    if choice := _CHOICE_ALONE.match(text):
        text = choice[1]
    return text


@lru_cache(maxsize=16384)
def spaceless(text: str) -> str:
    """Return a normal form as a key: equal keys are equal answers.

    >>> spaceless("x ^ {2} + 1"), spaceless("+3"), spaceless("1 2")
    ('x^2+1', '3', '1 2')
    """
    text = re.sub(r"(?<![\d.])\s+|\s+(?![\d.])", "", text)
    text = re.sub(r"([\^_])\{(\w)\}(?![\d.])", r"\1\2", text)
    return text.removeprefix("+")


def same_text(one: str, other: str) -> bool:
    """Whether two normal forms are written alike; spaces within words count.

    >>> same_text("x + 1", "x+1"), same_text("not able", "notable")
    (True, False)
    """
    return spaceless(one) == spaceless(other) and _WORD.findall(one) == _WORD.findall(other)


def _without_end(text: str) -> str:
    """Without the punctuation at its end, and without braces around all of it."""
    text = text.strip().rstrip(".,;: ").removesuffix("\\").rstrip()
    while _is_group(text):
        text = text[1:-1].strip()
    return text


def _is_group(text: str) -> bool:
    """Whether the brace at the beginning is closed at the end."""
    signs = re.findall(r"\\.|.", text, re.DOTALL)
    end = next((at for at, depth in enumerate(depths(signs), 1) if depth == 0), None)
    return text[:1] == "{" and end == len(signs)
