r"""One way to write an answer: marks without meaning go away, marks with a meaning stay.

Dollar signs, `\text`, `\left` and `\right`, kinds of fraction, spaces, thousands separators,
e-notation and trailing dots do not count. Letters keep their case, indices and primes; numbers keep
their base, degree marks and percent signs; units stay unless the grader may leave them out.
"""

from __future__ import annotations

import re
from functools import lru_cache

from setrl.grading.tokens import joined, tokens

_THIN_THOUSANDS = re.compile(r"(?<![\d.])(\d{1,3})((?:\\,\d{3})+)(?!\d)")
_THOUSANDS = re.compile(r"([+-]?)\s*(\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+))(\.\d+)?(\D*)\Z")
_COMMA_AND_SPACE = re.compile(r"(?<=\d),\\! ?(?=\d{3}(?!\d))")
_E_NOTATION = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?|\.\d+)[eE]([+-]?\d+)(?!\w)")
_PERCENT = re.compile(r"(?<=[\d})])\s*(?:percent|per cent|pct)\Z")
_CHOICE_ALONE = re.compile(r"\(\s*([A-Z])\s*\)\Z")
_UNIT = re.compile(
    r"(?P<number>.*(?:[\d})]|\\pi(?=\W)))\s*(?P<unit>[a-zA-Z]+\.?"
    r"(?:\^\{?[23]\}?|\s*/\s*[a-zA-Z]+|\s+[a-zA-Z]+\.?)*)\Z"
)

# What may follow a number as its unit; other words are part of the answer.
_UNIT_NAMES = """
    m cm mm km nm dm inch inches in ft foot feet yd yard yards mi mile miles meter meters
    metre metres centimeter centimeters centimetre centimetres millimeter millimeters
    kilometer kilometers kilometre kilometres g kg mg gram grams kilogram kilograms milligram
    milligrams ton tons tonnes lb lbs pound pounds oz ounce ounces s sec secs second seconds
    min mins minute minutes h hr hrs hour hours day days week weeks month months year years l
    L ml mL liter liters litre litres gallon gallons quart quarts pint pints cup cups mph kph
    kmh J kJ N W kW V A Pa kPa Hz mol K C F dollar dollars cent cents euro euros USD EUR
    degree degrees radian radians rad unit units people
    person persons students student ways points point apples books cookies marbles
"""
UNITS = frozenset(_UNIT_NAMES.split())
_BEFORE, _AFTER, _BETWEEN = {"square", "cubic", "sq", "cu"}, {"squared", "cubed"}, {"per"}


@lru_cache(maxsize=4096)
def normal_form(answer: str) -> str:
    r"""Write an answer in the form in which answers are compared; valid LaTeX stays valid.

    >>> normal_form(r"$\dfrac12$."), normal_form("1,234.50 "), normal_form(r"90^{\circ}")
    ('\\frac{1}{2}', '1234.50', '90°')
    >>> normal_form(r"\left[\begin{array}{c} 5 \\ 3 \end{array}\right]")
    '\\begin{pmatrix}5\\\\3\\end{pmatrix}'
    """
    text = _THIN_THOUSANDS.sub(lambda found: found[0].replace("\\,", ""), answer)
    text = _COMMA_AND_SPACE.sub("", text)
    text = _without_end(joined(tokens(text)))
    text = re.sub(r"\\\{\s*\\\}", r"\\emptyset", text)
    text = re.sub(r"\s*(\\\\|&|\\(?:begin|end)\{[a-zA-Z]+\})\s*", r"\1", text)
    text = _E_NOTATION.sub(r"\1\\times 10^{\2}", _PERCENT.sub("%", text))
    if whole := _THOUSANDS.match(text):
        text = whole[1] + re.sub(r"[, ]", "", whole[2]) + (whole[3] or "") + whole[4]
    if choice := _CHOICE_ALONE.match(text):
        text = choice[1]
    return text


def spaceless(text: str) -> str:
    """Return a normal form as a key: equal keys are equal answers.

    >>> spaceless("x ^ {2} + 1"), spaceless("+3"), spaceless("1 2")
    ('x^2+1', '3', '1 2')
    """
    text = re.sub(r"(?<![\d.])\s+|\s+(?![\d.])", "", text)
    text = re.sub(r"([\^_])\{(\w)\}", r"\1\2", text)
    return text.removeprefix("+")


def split_unit(text: str) -> tuple[str, str]:
    r"""Split a normal form from the unit at its end: known units after a number, no other words.

    >>> split_unit("12.5 cm^2"), split_unit("12"), split_unit("5 million")
    (('12.5', 'cm^2'), ('12', ''), ('5 million', ''))
    """
    found = _UNIT.match(text)
    if not found or _is_word_of_maths(found["number"]):
        return text, ""
    if not _is_unit(re.findall(r"[a-zA-Z]+", found["unit"])) or len(found["unit"]) < 2:
        return text, ""
    return found["number"].strip(), re.sub(r"[\s{}.]", "", found["unit"])


def _is_unit(names: list[str]) -> bool:
    """Whether words are units, with "square" before, "squared" after or "per" between them."""
    for before, name, after in zip(["", *names], names, [*names[1:], ""], strict=False):
        fits = (
            (name in UNITS)
            or (name in _BEFORE and after in UNITS)
            or (name in _AFTER and before in UNITS)
            or (name in _BETWEEN and before in UNITS | _AFTER and after in UNITS | _BEFORE)
        )
        if not fits:
            return False
    return True


def _is_word_of_maths(before: str) -> bool:
    return before.rstrip().endswith("\\")


def _without_end(text: str) -> str:
    """Without the punctuation at its end, and without braces around all of it."""
    text = text.strip().rstrip(".,;: ")
    text = text.removesuffix("\\").rstrip()
    while text.startswith("{") and _closes_at(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closes_at(text: str) -> int:
    """Return where the brace at the beginning is closed; −1 if it is not."""
    depth = 0
    for found in re.finditer(r"\\.|[{}]", text):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0:
            return found.start()
    return -1
