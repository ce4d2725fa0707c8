r"""Names before values: the only ones that may be missing, x of x = 5."""

from __future__ import annotations

import re

from setrl_grader.grammar import parse
from setrl_grader.tokens import GREEK
from setrl_grader.trees import Part, letters_of

# The only ones: all else on the left of an equals sign makes an equation.
_GREEK = "|".join(GREEK)
_LETTER = rf"(?:[a-zA-Z]|\\(?:{_GREEK}|ell)(?![a-zA-Z]))"
_INDEX = r"(?:_\s*(?:\{(?:[^{}=]|\{[^{}=]*\})*\}|\w))?"
_POINT = rf"[A-Z]\s*{_INDEX}\s*'*"
_FUNCTION = rf"(?:[f-hp-suvyA-Z]|\\(?:phi|varphi|psi|chi|zeta|[A-Z][a-z]+)(?![a-zA-Z]))\s*{_INDEX}"
_NUMERAL = r"-?\d+(?:\.\d+)?"
_EVENT = rf"[A-Z]\s*{_INDEX}\s*(?:(?:=|<|>|\\le|\\ge)\s*(?:{_NUMERAL}|[a-z])\s*)?"
_ORDER = r"(?:\^\{(?:-1|\([a-z]\))\})?"  # of f^{-1}(x)
_QUANTITIES = "area|volume|perimeter|answer|total|sum|product|length|angle|probability|ans"
_OVER = (
    r"(?:\\(?:overline|widehat)\{[A-Z]{1,3}\}"
    r"|\\(?:overrightarrow|vec|bar|hat|mathbf|mathcal)\{[a-zA-Z]+\})"
)
_ONE_NAME = "|".join((
    rf"{_LETTER}\s*{_INDEX}\s*(?:{_ORDER}\s*\(\s*{_LETTER}(?:\s*,\s*{_LETTER})*\s*\))?",
    rf"{_FUNCTION}\s*{_ORDER}\s*\(\s*{_NUMERAL}(?:\s*,\s*{_NUMERAL})*\s*\)",  # f(2)
    rf"(?:P|Pr)\s*\(\s*{_EVENT}(?:\s*(?:[|,]|\\c[au]p)\s*{_EVENT})*\)",  # P(X=1)
    rf"(?!NO|OR|IS|IF)\|?\s*{_POINT}\s*{_POINT}\s*\|?",  # a segment AB
    rf"\\(?:angle|triangle)\s*{_POINT}(?:\s*{_POINT}){{0,2}}",
    rf"\|?\s*{_OVER}\s*{_INDEX}\s*\|?",
    rf"(?i:{_QUANTITIES})",
))  # fmt: skip
_NAME = re.compile(rf"\s*(?:{_ONE_NAME})(?:\s*:\s*(?:{_ONE_NAME}))*\s*\Z")

_POINTS = re.compile(rf"\s*\|?(?:{_POINT}){{1,3}}\|?\s*\Z")


def is_name(part: Part) -> bool:
    r"""Whether a left-hand side only names what is on the right: x, a_{n}, f(x), AB, V_1:V_2.

    >>> names = ("f(x)", "|AB|", "V_1:V_2", "2x", r"\sinh(x)", "f'(x)", "|x|")
    >>> [is_name(parse(text)) for text in names]
    [True, True, True, False, False, False, False]
    """
    return _NAME.match(part.text) is not None


def is_letter(text: str) -> bool:
    """Whether a name is one letter, Greek ones too."""
    return re.fullmatch(_LETTER, text) is not None


def is_named(part: Part) -> bool:
    """Whether a statement is a value with its name before it; AB = CD says that both are equal."""
    signs = part.marks.split() if part.kind == "relation" else []
    if signs[:1] != ["="] or signs.count("=") != 1 or not is_name(part.parts[0]):
        return False
    return not (are_points(part) or _is_about_itself(part))


def _is_about_itself(part: Part) -> bool:
    """Whether a letter stands on both sides: x = 2x names nothing."""
    name, value = part.parts[0].tree, part.parts[1].tree
    return bool(name and value and name.op == "letter" and name.text in letters_of(value))


def are_points(part: Part) -> bool:
    """Whether a statement says that two segments are equal, or names one by the other: AB = CD."""
    sides = part.parts[:2] if part.kind == "relation" and part.marks[:1] == "=" else ()
    return bool(sides) and all(_POINTS.match(side.text) for side in sides)


def value_of(part: Part) -> Part:
    """Return a statement without the name before it.

    >>> value_of(parse("f(x)=2x")).text, value_of(parse("2x=y")).text
    ('2x', '2x=y')
    """
    if not is_named(part) or len(part.parts) == 2:
        return part.parts[1] if is_named(part) else part
    text = part.text[len(part.parts[0].text) :].partition("=")[2].strip()
    return Part("relation", text, part.parts[1:], part.marks.removeprefix("= "))


def turned(text: str, kind: str = "") -> str:
    """Return a statement as the grammar writes it, with its name in front: 7 = x is x = 7.

    >>> turned("7=x"), turned("x=1,234"), turned("x+y=7")
    ('x=7', 'x=1234', 'x+y=7')
    """
    part = parse(text, kind=kind)
    if (part.kind, part.marks) == ("relation", "=") and not (is_named(part) or are_points(part)):
        value, name = part.parts
        return f"{name.text}={value.text}" if is_name(name) else part.text
    return part.text
