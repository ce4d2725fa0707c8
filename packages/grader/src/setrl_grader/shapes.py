r"""The structure of an answer: (1, 2] is two items in brackets, \{1, 2\} and 1, 2 are sets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from setrl_grader.tokens import GREEK

_CLOSING = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "\\langle": "\\rangle"}
_LONG = ("\\{", "\\langle")
_BRACKETS = {"\\{\\}": "{}", "\\langle\\rangle": "⟨⟩"}
_TOKEN = re.compile(
    r"\\(?:begin|end)\{[a-zA-Z]+\}|\\[{}]|\\[a-zA-Z]+|\\.|[()\[\]{},;:=&<>]|\b(?:and|or)\b",
    re.DOTALL,
)
# Names, the only ones: all else on the left of an equals sign makes an equation.
_GREEK = "|".join(GREEK)
_LETTER = rf"(?:[a-zA-Z]|\\(?:{_GREEK}|ell)(?![a-zA-Z]))"
_INDEX = r"(?:_\s*(?:\{(?:[^{}=]|\{[^{}=]*\})*\}|\w))?"
_POINT = rf"[A-Z]\s*{_INDEX}\s*'*"
_FUNCTION = (
    rf"(?:[a-bf-hp-suvyA-Z]|\\(?:phi|varphi|psi|chi|zeta|[A-Z][a-z]+)(?![a-zA-Z]))\s*{_INDEX}"
)
_NUMERAL = r"-?\d+(?:\.\d+)?"
_EVENT = rf"[A-Z]\s*{_INDEX}\s*(?:(?:=|<|>|\\le|\\ge)\s*(?:{_NUMERAL}|[a-z])\s*)?"
_QUANTITIES = "area|volume|perimeter|answer|total|sum|product|length|angle|probability|ans"
_OVER = (
    r"(?:\\(?:overline|widehat)\{[A-Z]{1,3}\}"
    r"|\\(?:overrightarrow|vec|bar|hat|mathbf|mathcal)\{[a-zA-Z]+\})"
)
_ONE_NAME = "|".join((
    rf"{_LETTER}\s*{_INDEX}\s*(?:\(\s*{_LETTER}(?:\s*,\s*{_LETTER})*\s*\))?",  # x_1, f(x)
    rf"{_FUNCTION}\s*\(\s*{_NUMERAL}(?:\s*,\s*{_NUMERAL})*\s*\)",  # f(2)
    rf"(?:P|Pr)\s*\(\s*{_EVENT}(?:\s*(?:[|,]|\\c[au]p)\s*{_EVENT})*\)",  # P(X=1)
    rf"(?!NO|OR|IS|IF)\|?\s*{_POINT}\s*{_POINT}\s*\|?",  # a segment AB
    _POINT,
    rf"\\(?:angle|triangle)\s*{_POINT}(?:\s*{_POINT}){{0,2}}",
    rf"\|?\s*{_OVER}\s*{_INDEX}\s*\|?",
    rf"(?i:{_QUANTITIES})",
))  # fmt: skip
_NAME = re.compile(rf"\s*(?:{_ONE_NAME})(?:\s*:\s*(?:{_ONE_NAME}))*\s*\Z")
_NAMED = re.compile(
    r"\s*(?:([a-zA-Z])\s*\\in(?![a-zA-Z])|(\([a-zA-Z](?:\s*,\s*[a-zA-Z])+\))\s*=)\s*(.+)\Z",
    re.DOTALL,
)
_SPACED = re.compile(r"[,;]\s*(?=(?:and|or)\b)")
_CONDITION = re.compile(r"\\\{\s*([a-zA-Z])\s*[|:]\s*(.*\1.*)\\\}\Z", re.DOTALL)
_RELATION = re.compile(r"\\(?:approx|equiv|simeq|Rightarrow|implies|to|rightarrow)(?![a-zA-Z])")
_PLUS_MINUS = re.compile(r"\\pm(?![a-zA-Z])\s*")
_TRANSPOSED = re.compile(
    r"(\(.*\)|\[.*\]|\\begin\{pmatrix\}.*\\end\{pmatrix\})\^(?:T|\{T\})\Z", re.DOTALL
)
_MATRIX = re.compile(r"\\begin\{pmatrix\}(.*)\\end\{pmatrix\}\Z", re.DOTALL)


@dataclass(frozen=True)
class Shape:
    """An answer split at its outermost level.

    Attributes:
        brackets: "()", "[)", …, as in the answer; "{}" for a set; "2×3" for a matrix of two rows
            and three columns; "" for a list without them.
        items: The parts between the commas; one item without brackets is the answer itself.
        names: What is named before: "x" of x ∈ (1, 2), "(x,y)" of (x, y) = (1, 2).
        joints: The words between the items: "and", "or".
    """

    brackets: str
    items: tuple[str, ...]
    names: str = ""
    joints: frozenset[str] = frozenset()

    @property
    def ordered(self) -> bool:
        """Whether the order of the items counts, as in pairs, intervals and matrices."""
        return self.brackets not in ("", "{}")


@lru_cache(maxsize=4096)
def read_shape(text: str) -> Shape:
    r"""Split a normal form at its outermost commas, semicolons, "and" and "or".

    >>> read_shape(r"(1,\frac{2}{3}]").brackets, read_shape(r"(1,\frac{2}{3}]").items
    ('(]', ('1', '\\frac{2}{3}'))
    >>> read_shape(r"1 or 2").items, read_shape(r"2\pm\sqrt{3}").items
    (('1', '2'), ('2+\\sqrt{3}', '2-\\sqrt{3}'))
    >>> read_shape(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}").brackets
    '2×2'
    """
    if condition := _CONDITION.match(text):  # {x | x > 1}
        text = condition[2].strip()
    text, names = _named_before(_SPACED.sub(" ", text))
    if transposed := _TRANSPOSED.match(text):
        return replace(_transposed(text, transposed[1]), names=names)
    if matrix := _matrix(text):
        return replace(matrix, names=names)
    brackets, inner = _unwrap(text)
    items = [item.strip() for item in cut(inner)] if brackets or inner.strip() else [inner]
    if brackets in ("", "{}"):
        items = [signed for item in items for signed in _both_signs(item)]
    if len(items) == 1 and brackets in ("()", "{}"):
        brackets = ""
    elif brackets == "()" and any(
        len(_PLUS_MINUS.findall(item)) == 1 for item in items
    ):  # (±1, 0) is two pairs
        items = [f"({each})" for each in _both_signs(inner)]
        brackets = "" if len(items) > 1 else brackets
    return Shape(brackets, tuple(items), names, _joints(inner))


def _transposed(text: str, inner: str) -> Shape:
    r"""Return a matrix or a row, (1, 2)^T, transposed; another text is one item."""
    shape = _matrix(inner)
    brackets, row = _unwrap(inner)
    if shape is None and brackets in ("()", "[]") and len(cut(row)) > 1:
        shape = Shape(f"1×{len(cut(row))}", tuple(item.strip() for item in cut(row)))
    if shape is None:
        return Shape("", (text,))
    rows, columns = map(int, shape.brackets.split("×"))
    items = tuple(shape.items[row * columns + at] for at in range(columns) for row in range(rows))
    return Shape(f"{columns}×{rows}", items)


def _named_before(text: str) -> tuple[str, str]:
    """Split off what names an answer: x ∈ (1, 2), (x, y) = (1, 2), S = {1, 2}, A = a matrix."""
    if named := _NAMED.match(text):
        return named[3].strip(), re.sub(r"\s", "", named[1] or named[2])
    parts = sides(text)
    value = unnamed(text).strip()
    if value == text.strip() or len(parts) != 2:
        return text.strip(), ""
    several = _unwrap(value)[0] and len(cut(_unwrap(value)[1])) > 1
    is_whole = several or _MATRIX.match(value)
    return (value, re.sub(r"\s", "", parts[0])) if is_whole else (text.strip(), "")


def _matrix(text: str) -> Shape | None:
    """Read a matrix by rows; None for anything else, and if rows differ in length."""
    found = _MATRIX.match(text)
    if not found or _end_of_first_bracket(text) != len(text):
        return None
    rows = [cut(row, ("&",)) for row in cut(found[1], ("\\\\",))]
    if not rows[-1][0].strip() and len(rows) > 1:  # a row break after the last row
        rows.pop()
    if len({len(row) for row in rows}) > 1:
        return None
    entries = tuple(entry.strip() for row in rows for entry in row)
    return Shape(f"{len(rows)}×{len(rows[0])}", entries)


def sides(text: str) -> list[str]:
    """Return the parts between the outermost equals signs of an item.

    >>> sides("f(x=1)=2=3")
    ['f(x=1)', '2', '3']
    """
    return cut(text, ("=",))


def is_name(text: str) -> bool:
    r"""Whether a left-hand side only names what is on the right: x, a_{n}, f(x), AB, V_1:V_2.

    >>> [is_name(text) for text in ("f(x)", "|AB|", "V_1:V_2", "2x", r"\sinh(x)", "f'(x)", "|x|")]
    [True, True, True, False, False, False, False]
    """
    return _NAME.match(text) is not None


def unnamed(text: str) -> str:
    """Return an item without the name before it.

    >>> unnamed("f(x)=2x"), unnamed("2x=y")
    ('2x', '2x=y')
    """
    parts = sides(text)
    return parts[1] if len(parts) == 2 and is_name(parts[0]) else text


def turned(text: str) -> str:
    """Return an item with its name in front: 7 = x is x = 7.

    >>> turned("7=x"), turned("x=y"), turned("x+y=7")
    ('x=7', 'x=y', 'x+y=7')
    """
    parts = sides(text) if text.count("=") == 1 else []
    if len(parts) == 2 and is_name(parts[1]) and not is_name(parts[0]):
        return f"{parts[1].strip()}={parts[0].strip()}"
    return text


def is_chain(text: str) -> bool:
    r"""Whether an item states more than one thing: a = b = c, or 1 + 1 = 2, or √2 ≈ 1.4.

    >>> is_chain("x=2"), is_chain("x=1+1=2"), is_chain("1+1=2"), is_chain("2")
    (False, True, True, False)
    """
    parts = sides(text)
    return (
        len(parts) > 2
        or bool(_RELATION.search(text))
        or (len(parts) == 2 and not is_name(parts[0]))
    )


def _unwrap(text: str) -> tuple[str, str]:
    """Split off the brackets around all of the text; "" if no brackets hold all of it."""
    opening = next((each for each in _LONG if text.startswith(each)), text[:1])
    if opening not in _CLOSING:
        return "", text
    end = _end_of_first_bracket(text)
    closing = next((_CLOSING[each] for each in _LONG if text.endswith(_CLOSING[each])), text[-1:])
    if end != len(text) or closing not in _CLOSING.values():
        return "", text
    inner = text[len(opening) : -len(closing)]
    return _BRACKETS.get(opening + closing, opening + closing), inner


def _end_of_first_bracket(text: str) -> int:
    """Return where the first bracket is closed; half-open intervals mix kinds of brackets."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += _step(token.group())
        if depth == 0:
            return token.end()
    return -1


def cut(text: str, separators: tuple[str, ...] = (",", ";", "and", "or")) -> list[str]:
    """Return the parts of text between the outermost separators."""
    parts, begin, depth = [], 0, 0
    for token in _TOKEN.finditer(text):
        what = token.group()
        depth += _step(what)
        if depth == 0 and what in separators:
            parts.append(text[begin : token.start()])
            begin = token.end()
    return [*parts, text[begin:]]


def _step(token: str) -> int:
    if token in _CLOSING or token.startswith("\\begin{"):
        return 1
    return -1 if token in _CLOSING.values() or token.startswith("\\end{") else 0


def _joints(text: str) -> frozenset[str]:
    """Return the words between the items: and, or."""
    return frozenset(what for what in ("and", "or") if len(cut(text, (what,))) > 1)


def _both_signs(item: str) -> list[str]:
    """Write a ± b as two items; with a second ±, the two signs may or may not be equal."""
    if len(_PLUS_MINUS.findall(item)) != 1:
        return [item]
    signs = ("+", "-"), ("-", "+")
    return [re.sub(r"\\mp\s*", below, _PLUS_MINUS.sub(above, item)) for above, below in signs]
