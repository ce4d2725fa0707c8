"""Text → tokens and members: one way to write what has several."""

from __future__ import annotations

import re

_CHARACTERS = {"−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "π": r"\pi ", "√": r"\sqrt ",
               "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ",
               "∈": r"\in ", "ℝ": r"\mathbb{R}", "′": "'", "²": "^2", "³": "^3", "－": "-",
               "‑": "-", "⁄": "/", "º": "°", "⅜": r"\frac{3}{8}", "⅘": r"\frac{4}{5}"}  # fmt: skip
_SAME = {"dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "leq": "le", "geq": "ge", "neq": "ne",
         "leqslant": "le", "geqslant": "ge", "lt": "<", "gt": ">", "mid": "|", "lvert": "|",
         "rvert": "|", "vert": "|", "div": "/", "ast": "*", "lbrace": r"\{", "rbrace": r"\}",
         "dbinom": "binom", "tbinom": "binom", "prime": "'", "degree": "°",
         "varnothing": "emptyset", "nicefrac": "frac", "colon": ":"}  # fmt: skip
_DROPPED = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lr]?|displaystyle|textstyle|limits|small|large)(?![a-zA-Z])"
    r"|\\[()\[\]!]|(?<!\\)\$"
)
_FONT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|it|sf|normal)|operatorname\*?|mbox|underline|boxed)"
    r"\s*\{([^{}]*)\}"
)
_SPACES = re.compile(r"(?<!\\)\\(?:[,;:> ]|q?quad(?![a-zA-Z]))|~")
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d*)?|\.\d+|\S")
_JOINTS = re.compile(r"(?:,\s*)?(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])")
OPENING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\langle": r"\rangle"}
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne")
TURNED = {">": "<", r"\ge": r"\le"}


def plain(text: str) -> str:
    """Return text with one way to write what has several, and without what has no meaning."""
    if re.search(r"(?<![\\\w])[EI]\s*\*|\*\s*[EI](?!\w)", text):  # of SymPy
        text = re.sub(r"(?<![\\\w])[EI](?!\w)", lambda found: found[0].lower(), text)
    text = re.sub(r"√\s*(\d+(?:\.\d+)?|[a-zA-Z])", r"\\sqrt{\1}", text)
    for character, command in _CHARACTERS.items():
        text = text.replace(character, command)
    text = _SPACES.sub(" ", _FONT.sub(r"\1", _FONT.sub(r"\1", _DROPPED.sub("", text))))
    text = _COMMAND.sub(lambda found: _renamed(found[1]), text)
    text = re.sub(r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))(?![^(\[{]*[)\]}])", "", text)
    text = re.sub(r"\^(?:\\circ\s*|\{\\circ\s*\})", "°", text)
    text = re.sub(r"(?<=\d)\s*degrees?(?![a-zA-Z])", "°", text)
    text = re.sub(r"\^\{('+)\}|\\(?=%)", r"\1", text)
    text = re.sub(r"\s*(\\\\|&)\s*", r"\1", text.replace("{bmatrix}", "{pmatrix}"))
    text = text.strip().rstrip(".,;").strip()
    whole = text[:1] == "{" and closes(TOKEN.findall(text))
    return plain(text[1:-1]) if whole else text


def _renamed(name: str) -> str:
    other = _SAME.get(name, name)
    return rf"\{other} " if other.isalpha() else other


def squeezed(text: str) -> str:
    r"""Return text without spaces, and without braces around one character.

    >>> squeezed(r"\left( \dfrac{1}{2},\, x^{2} \right)"), squeezed("2^{34}")
    ('(\\frac12,x^2)', '2^{34}')
    """
    text = re.sub(r"(?<![\d.])\s+|\s+(?![\d.])", "", plain(text))
    before = ""
    while before != text:
        before, text = text, re.sub(r"(?<!\\)\{(\\?\w)\}(?!\d)", r"\1", text)
    return text


def tokens(text: str) -> list[str]:
    """Return the tokens of a text that is written in one way."""
    return TOKEN.findall(plain(text))


def cut(tokens: list[str], separators: tuple[str, ...]) -> list[list[str]]:
    """Cut tokens before each separator outside of brackets; a part keeps its separator."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in OPENING or token == r"\begin") - (
            token in OPENING.values() or token == r"\end"
        )
        if depth == 0 and token in separators:
            parts.append([])
        parts[-1].append(token)
    return parts


def members(text: str) -> tuple[str, list[str]]:
    """Return the opening bracket of a list, a set, a tuple or a matrix, and its members."""
    found = TOKEN.findall(_JOINTS.sub(",", plain(text)))
    if r"\begin" in found and found[-1] == "}":
        inner = re.sub(r"\\(?:begin|end)\s*\{\w+\}", "", "".join(_spaced(found)))
        return "matrix", [entry for row in inner.split(r"\\") for entry in row.split("&")]
    equals = [at for at, token in enumerate(found) if token in ("=", r"\in")]
    value = found[equals[0] + 1 :] if len(equals) == 1 else []
    if value and value[0] in OPENING and closes(value):
        found = value
    if found[:2] == ["[", "["] and found[-2:] == ["]", "]"]:  # rows
        rows = [cut(part[part[0] == "," :][1:-1], (",",)) for part in cut(found[1:-1], (",",))]
        return "matrix", ["".join(_spaced(each[each[0] == "," :])) for row in rows for each in row]
    brackets = found[0] if found[0] in OPENING and closes(found) else ""
    parts = cut(found[1:-1] if brackets else found, (",", ";"))
    return brackets, ["".join(_spaced(part[part[0] in ",;" :])) for part in parts if part]


def _spaced(tokens: list[str]) -> list[str]:
    return [token + " " if token[0] == "\\" and token[-1].isalpha() else token for token in tokens]


def closes(tokens: list[str]) -> bool:
    """Whether the first bracket is closed by the last token."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in OPENING) - (token in OPENING.values())
        if depth == 0:
            return at == len(tokens) - 1
    return False
