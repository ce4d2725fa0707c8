r"""One way to write an answer: what means nothing is taken away, what means the same made one.

Dollar signs, `\text`, `\left` and `\right`, kinds of fraction, spaces, degree marks, thousands
separators, e-notation, trailing dots. Units stay unless the grader is asked to leave them out.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SYMBOLS = str.maketrans(
    {
        "−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": r"\div ",
        "°": r"^\circ", "π": r"\pi ", "∞": r"\infty ", "∪": r"\cup ", "≤": r"\le ", "≥": r"\ge ",
        "≠": r"\ne ", "≈": r"\approx ", "±": r"\pm ", "∫": r"\int ", "∑": r"\sum ", "∏": r"\prod ",
        "…": r"\ldots ", "∈": r"\in ", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
    }
)  # fmt: skip

_REWRITES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:boxed|fbox)(?![a-zA-Z])|\\\$|\$|\\\(|\\\)|\\\[|\\\]|\\displaystyle\b|\\!|[£€]", ""),
        (r"\\[,;:> ]|~|\\q?quad\b|\\thinspace\b|\\hspace\{[^{}]*\}", " "),
        (r"\\(?:left|right)\s*\.", ""),
        (r"\\(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])", ""),
        (r"\\lbrace\b", r"\\{"),
        (r"\\rbrace\b", r"\\}"),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\frac\s+", r"\\frac "),
        (r"\\sqrt\s*(\d)", r"\\sqrt{\1}"),
        (r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}"),
        (r"\\frac\s*(\{[^{}]*\})\s*(\d)", r"\\frac\1{\2}"),
        (r"\\frac\s*(\d)\s*(\{[^{}]*\})", r"\\frac{\1}\2"),
        (r"\\frac\s*\{\s*([^{}\s]*)\s*\}\s*\{\s*([^{}\s]*)\s*\}", r"\\frac{\1}{\2}"),
        (r"\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\degrees?(?![a-zA-Z])|\\textdegree(?![a-zA-Z])", ""),
        (r"\\(?:text(?:bf|it|rm|sf|tt|up)?|mathrm|mathbf|mathsf|mathit|mbox|operatorname\*?)"
         r"\s*\{([^{}]*)\}", r"\1"),
        (r"\\geq(?:slant)?(?![a-zA-Z])|>=", r"\\ge "),
        (r"\\leq(?:slant)?(?![a-zA-Z])|<=", r"\\le "),
        (r"\\neq(?![a-zA-Z])|!=", r"\\ne "),
        (r"\\%", "%"),
        (r"(?<=\d)\{,\}(?=\d{3}(?!\d))|(?<=\d),\\ ?(?=\d{3}(?!\d))", ""),
        (r"(?<![\w.])(\d+(?:\.\d*)?|\.\d+)[eE]([+-]?\d+)(?!\w)", r"\1\\times 10^{\2}"),
        (r"\s+", " "),
    )
]  # fmt: skip

_THIN_THOUSANDS = re.compile(r"(?<![\d.])(\d{1,3})((?:\\,\d{3})+)(?!\d)")
_THOUSANDS = re.compile(r"([+-]?)\s*(\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+))(\.\d+)?(\D*)\Z")
_UNIT = re.compile(
    r"(?P<number>.*[\d})])\s*"
    r"(?P<unit>[a-zA-Z]+\.?(?:\s*(?:/|\^|\s|per)\s*\{?[a-zA-Z\d]+\}?)*)\Z"
)
_CHOICE_ALONE = re.compile(r"\(\s*([A-Z])\s*\)\Z")


@lru_cache(maxsize=4096)
def normal_form(answer: str) -> str:
    r"""An answer in the form in which answers are compared and parsed; valid LaTeX stays so.

    >>> normal_form(r"$\dfrac12$."), normal_form("1,234.50 "), normal_form(r"90^{\circ}")
    ('\\frac{1}{2}', '1234.50', '90')
    """
    text = answer.translate(_SYMBOLS)
    text = _THIN_THOUSANDS.sub(lambda found: found[0].replace("\\,", ""), text)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    text = _without_end(text)
    if whole := _THOUSANDS.match(text):
        text = whole[1] + re.sub(r"[, ]", "", whole[2]) + (whole[3] or "") + whole[4]
    if choice := _CHOICE_ALONE.match(text):
        text = choice[1]
    return text


def spaceless(text: str) -> str:
    """A normal form as a key: equal keys are equal answers.

    >>> spaceless("x ^ {2} + 1"), spaceless("+3"), spaceless("1 2")
    ('x^2+1', '3', '1 2')
    """
    text = re.sub(r"(?<!\d)\s+|\s+(?!\d)", "", text)
    text = re.sub(r"([\^_])\{(\w)\}", r"\1\2", text)
    return text.removeprefix("+")


def split_unit(text: str) -> tuple[str, str]:
    r"""A normal form and the unit at its end: words after a number.

    >>> split_unit("12.5 cm^2"), split_unit("12"), split_unit("2x")
    (('12.5', 'cm^2'), ('12', ''), ('2x', ''))
    """
    found = _UNIT.match(text)
    if not found or len(found["unit"]) < 2 or _is_word_of_maths(found["number"]):
        return text, ""
    return found["number"].strip(), re.sub(r"[\s{}.]", "", found["unit"])


def _is_word_of_maths(before: str) -> bool:
    return before.rstrip().endswith("\\")


def _without_end(text: str) -> str:
    text = text.strip().rstrip(".,;: ")
    return text.removesuffix("\\").rstrip()
