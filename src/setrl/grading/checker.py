r"""Check what the grader found, without the grader: its certificates and its witnesses.

It has its own reader and its own arithmetic, and imports nothing of the grader (`make lint`
enforces it). A certificate is a tree of rules: each part must be a part of the texts above it, and
each rule must hold. Rational expressions are compared exactly, at random points (Schwartz and
Zippel); others with 60 digits, and with 3,000. What this reader cannot read is not confirmed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import comb, factorial, prod
from typing import Any

TOLERANCE = Fraction(1, 10**6)
POINTS = 24
FARTHEST = 300  # whole numbers at which something is counted
DIGITS = (60, 3_000)
MOST_BITS = 60_000

_CHARACTERS = {"−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "π": r"\pi ", "√": r"\sqrt ",
               "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ",
               "∈": r"\in ", "ℝ": r"\mathbb{R}", "′": "'", "²": "^2", "³": "^3"}  # fmt: skip
_SAME = {"dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "leq": "le", "geq": "ge", "neq": "ne",
         "leqslant": "le", "geqslant": "ge", "lt": "<", "gt": ">", "mid": "|", "lvert": "|",
         "rvert": "|", "vert": "|", "div": "/", "ast": "*", "lbrace": r"\{", "rbrace": r"\}",
         "dbinom": "binom", "tbinom": "binom", "prime": "'", "degree": "°",
         "varnothing": "emptyset", "colon": ":"}  # fmt: skip
_DROPPED = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lr]?|displaystyle|textstyle|limits)(?![a-zA-Z])"
    r"|\\[()\[\]!]|(?<!\\)\$"
)
_FONT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|it|sf|normal)|operatorname\*?|mbox|underline|boxed)"
    r"\s*\{([^{}]*)\}"
)
_SPACES = re.compile(r"(?<!\\)\\(?:[,;:> ]|q?quad(?![a-zA-Z]))|~")
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d*)?|\.\d+|\S")
_LETTER = re.compile(r"[a-zA-Z]|\\(?:[aA]lpha|[bB]eta|[gG]amma|[dD]elta|(?:var)?epsilon|zeta|eta"
                     r"|(?:var)?[tT]heta|kappa|[lL]ambda|mu|nu|[xX]i|rho|[sS]igma|tau|(?:var)?[pP]hi"
                     r"|chi|[pP]si|[oO]mega)")  # fmt: skip
_KNOWN = ("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh",
          "tanh", "ln", "exp")  # fmt: skip
_MPMATH = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "ln": "log"}
_OPENING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\langle": r"\rangle"}
_RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne")
_TURNED = {">": "<", r"\ge": r"\le"}

_NUMERAL = re.compile(
    r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:\\(?:times|cdot)10\^(?:\{-?\d+\}|\d))?"
    r"|[-+]?\d+/\d+|[-+]?\d*\\frac(?:\{-?\d+\}|-?\d){2}|[-+]?\d+\^(?:\{-?\d+\}|\d)|-?\d+ \d+/\d+"
)
_NO_ALGEBRA = re.compile(  # words, dates, scores, sizes, cycles, 0xFF, IV, 3 pm
    r"(?<![\\a-zA-Z])(?!(?:sin|cos|tan|log|exp)\b)[a-zA-Z]{3,}|\A-?\d+(?:-\d+)+\Z|\d+/\d+/\d|\b0\d/"
    r"|\A\d+\\times *\d+\Z|\(\d+\)\(\d|\b0[a-zA-Z]|\A\(?[ivx]{2,}\)?\Z|\d\s+[a-zA-Z]{2}|\\text"
)

_CHOICE = re.compile(
    r"(?:[oO]ption\s*|[cC]hoice\s*)?\(?([A-J])(?:[).:]\s*(?:[A-Za-z]{2,}\s*){,3})?"
)

Tree = tuple[Any, ...]  # ("num", value, step), ("letter", name), (operation, part, …)
Point = Mapping[str, Any]


class UnreadError(Exception):
    """A text that this reader cannot read or compute, so that nothing is confirmed."""


class RefutedError(Exception):
    """A finding that does not hold."""


def check(gold: str, answer: str, record: Mapping[str, Any]) -> bool | None:
    """Return whether a certificate or a witness holds: True, False (refuted) or None (unknown).

    Args:
        gold: The gold as the data set writes it, in LaTeX.
        answer: The answer as the sample writes it: what is in its box.
        record: `Grade.certificate` or `Grade.witness`.

    >>> certificate = {"equal": True, "rule": "number", "gold": "0.5", "answer": "2"}
    >>> check("0.5", "2", certificate), check("0.5", "1/2", {**certificate, "answer": "1/2"})
    (False, True)
    """
    try:
        _need(_same_reading(gold, record.get("gold", "")), "the gold is not what was compared")
        compared = record.get("answer", "")
        if squeezed(_with_counter(gold, answer)) != squeezed(compared):
            _need(_same_reading(answer, compared), "the answer is not what was compared")
        _holds(record)
    except RefutedError:
        return False
    except (UnreadError, RecursionError, IndexError, KeyError, ZeroDivisionError, OverflowError):
        return None
    return True


def _with_counter(gold: str, answer: str) -> str:
    """Return the answer with the gold's letter for multiples of π, kπ for nπ, in all places."""
    found = [{token for token in _TOKEN.findall(text) if token in "kmn"} for text in (gold, answer)]
    ours, theirs = found[0] - found[1], found[1] - found[0]
    if len(ours) != 1 or len(theirs) != 1 or r"\pi" not in gold:
        return answer
    [new], [old] = ours, theirs
    return re.sub(rf"(?<![\\a-zA-Z]){old}(?![a-zA-Z])", new, answer)


def _need(holds: bool, why: str) -> None:
    if not holds:
        raise RefutedError(why)


# ------------------------------------------------------------------ rules


def _holds(record: Mapping[str, Any]) -> None:
    """Check a finding and its parts; what does not hold is refuted."""
    rule, parts = record["rule"], record.get("parts", ())
    gold, answer = record["gold"], record["answer"]
    table = _EQUAL if record["equal"] else _DIFFERENT
    if rule not in table:
        raise UnreadError
    if not parts:
        table[rule](gold, answer, *record.get("detail", ())[:1])
        return
    if not record["equal"]:
        raise UnreadError
    _are_parts(rule, record)
    for part in parts:
        _need(part["equal"] is True, "a part differs")
        _holds(part)


def _are_parts(rule: str, record: Mapping[str, Any]) -> None:
    """Check that the parts of a finding are all parts of its gold and of its answer."""
    parts = record["parts"]
    if any(re.search(r"\\(?:pm|mp)(?![a-z])|\^\{?T", record[side]) for side in ("gold", "answer")):
        raise UnreadError  # two members in one, rows as columns
    if rule in ("without name or unit", "choice"):
        for side in ("gold", "answer"):
            bare, whole = squeezed(parts[0][side]), squeezed(record[side])
            _need(whole.endswith(bare) or bare in whole, "the part is not in the whole")
            rest = whole.replace(bare, "", 1)
            if not re.fullmatch(
                r"[\\\w(),'|$€£¥₹]*=?|\(?[A-J][).:]?|[a-zA-Z^/23.]*|\\?[$€£¥₹]", rest
            ):
                raise UnreadError
        return
    (opening, ours), (other, theirs) = (_members(record[side]) for side in ("gold", "answer"))
    order = record.get("pairs") or range(len(parts))
    _need(len(ours) == len(theirs) == len(parts), "the number of parts")
    _need(sorted(order) == list(range(len(parts))), "each member has one member")
    ordered = not {opening, other} <= {"", r"\{"}
    _need(not (ordered and rule == "members"), "the order counts")
    for at, (part, place) in enumerate(zip(parts, order, strict=True)):
        _need(_same_reading(part["gold"], ours[at]), "a part of the gold")
        _need(_same_reading(part["answer"], theirs[place]), "a part of the answer")


def _same_text(gold: str, answer: str) -> None:
    _need(_same_reading(gold, answer), "the texts differ")


def _same_reading(one: str, other: str) -> bool:
    if squeezed(one) == squeezed(other):
        return True
    return _read(one) == _read(other)


def _equal_numbers(gold: str, answer: str) -> None:
    _need(_near(gold, answer), "the numbers differ")


def _different_numbers(gold: str, answer: str) -> None:
    _need(not _near(gold, answer), "the numbers are equal")


def _near(gold: str, answer: str) -> bool:
    """Whether two numbers are equal, or one is a decimal that rounds the other one."""
    texts = [squeezed(text) for text in (gold, answer)]
    signs = [set(re.findall("[$€£¥₹°%]", text)) for text in texts]
    _need(not (signs[0] and signs[1]) or signs[0] == signs[1], "the units differ")
    _need(max(map(len, signs)) < 2, "a number with two units")
    percents = ["%" in each for each in signs]
    (one, one_step), (other, other_step) = (_number(text) for text in texts)
    pairs = [(one, other)]
    if percents[0] != percents[1]:
        shares = (one / 100, other) if percents[0] else (one, other / 100)
        bare = other if percents[0] else one
        pairs = [shares, (one, other)] if abs(bare) >= 1 else [shares]
    steps = [step for step in (one_step, other_step) if step]
    for left, right in pairs:
        whole = any(not step and value.denominator == 1
                    for value, step in ((left, one_step), (right, other_step)))  # fmt: skip
        allowed = min(TOLERANCE * max(abs(left), abs(right)), max(steps, default=Fraction(0)))
        if left == right or (not whole and abs(left - right) <= allowed):
            return True
    return False


def _number(text: str) -> tuple[Fraction, Fraction]:
    """Return the exact value of a constant, and what one in its last decimal place is worth."""
    text = re.sub(r"\A\w+=|\\?[$€£¥₹]|°\Z|%\Z", "", text)
    if not _NUMERAL.fullmatch(text):
        raise UnreadError
    tree = _read(re.sub(r" (\d+)/(\d+)", r"\\frac{\1}{\2}", text))
    decimals = re.findall(r"\.(\d*)", text)
    scale = re.search(r"10\^\{?(-?\d+)", text)
    power = int(scale[1]) if scale else 0
    step = Fraction(10) ** (power - len(decimals[0])) if decimals else Fraction(0)
    return _exact(tree, {}), step


def _equal_words(gold: str, answer: str) -> None:
    one, other = (
        re.findall(r"\d+(?:\.\d+)?|[a-z]+|[^\s.]", re.sub(r"(?<=[a-z])['\s-]+(?=[a-z])", "", text))
        for text in (_plain(gold).lower(), _plain(answer).lower())
    )
    same = [Fraction(a) == Fraction(b) if a[0].isdigit() and b[0].isdigit() else a == b
            for a, b in zip(one, other, strict=False)]  # fmt: skip
    _need(len(one) == len(other) and all(same), "the words differ")


def _equal_choice(gold: str, answer: str) -> None:
    letters = [_CHOICE.fullmatch(_plain(text)) for text in (gold, answer)]
    if not letters[0] or not letters[1]:
        raise UnreadError
    _need(letters[0][1] == letters[1][1], "the choices differ")


def _equal_marks(gold: str, answer: str) -> None:
    """Check ratios and numbers in a base; other marks must be written alike."""
    one, other = squeezed(gold), squeezed(answer)
    if one == other:
        return
    terms = [
        [_exact(_read(term), {}) for term in re.split(r"(?<!\\):", text)] for text in (one, other)
    ]
    if min(map(len, terms)) < 2 or len(terms[0]) != len(terms[1]):
        raise UnreadError
    pairs = [a * terms[1][0] - b * terms[0][0] for a, b in zip(*terms, strict=True)]
    _need(not any(pairs), "the ratios differ")


def _equal_expressions(gold: str, answer: str) -> None:
    one, other = (_read(text, gold) for text in (gold, answer))
    if not _rounds(one, other, gold, answer):
        _need(_same_values(one, other), "the values differ")


def _different_expressions(gold: str, answer: str, at: str = "") -> None:
    """Check that both differ at the point that is given, if there is one."""
    one, other = (_read(text, gold) for text in (gold, answer))
    if _rounds(one, other, gold, answer):
        raise RefutedError("one rounds the other")
    if not at:
        _need(not _same_values(one, other), "the values are equal")
        return
    pairs = [each.split(" = ") for each in at.split(", ")]
    _need(_agree(one, other, {name: Fraction(value) for name, value in pairs}) is not True, at)


def _rounds(one: Tree, other: Tree, gold: str, answer: str) -> bool:
    """Whether a decimal rounds the constant on the other side, which is not a whole number."""
    decimals = [text for text in (gold, answer) if re.fullmatch(r"-?\d*\.\d+", squeezed(text))]
    if len(decimals) != 1 or _letters(one) | _letters(other):
        return False
    import mpmath

    with mpmath.workdps(DIGITS[0]):
        values = [_about(tree, {}) for tree in (one, other)]
        off, size = abs(values[0] - values[1]), max(map(abs, values))
        step = mpmath.mpf(10) ** -len(decimals[0].partition(".")[2])
        return bool(off <= min(step, size * TOLERANCE.numerator / TOLERANCE.denominator))


def _equal_equations(gold: str, answer: str) -> None:
    """Check that one difference of sides is a constant multiple of the other, as f·g₀ = f₀·g."""
    sides = [_sides(text, gold) for text in (gold, answer)]
    (signs, one), (other_signs, other) = sides
    _need(signs == other_signs, "other relations")
    if len(one) == len(other) and all(map(_same_values, one, other)):
        return
    if len(one) != 2 or len(other) != 2:
        raise UnreadError
    first, second = (("+", left, ("-", right)) for left, right in (one, other))
    names = sorted(_letters(first) | _letters(second))
    at = {name: Fraction(number, 7) for number, name in enumerate(names, start=11)}
    values = _exact(first, at), _exact(second, at)
    _need(0 not in values, "a side without a sign")
    if signs != ("=",):
        _need(values[0] * values[1] > 0, "the relation is turned")
    scaled = [
        ("*", ("num", value, 0), tree)
        for value, tree in zip(values[::-1], (first, second), strict=True)
    ]
    _need(_same_values(*scaled), "no factor turns one into the other")


def _sides(text: str, gold: str) -> tuple[tuple[str, ...], list[Tree]]:
    """Return the relations of a statement and its sides; b > a is a < b."""
    parts = _cut(_tokens(text), _RELATIONS)
    if len(parts) < 2 or _NO_ALGEBRA.search(text):
        raise UnreadError
    signs = [part[0] for part in parts[1:]]
    trees = [_Reader(part[1:] if at else part, gold).whole() for at, part in enumerate(parts)]
    if signs and all(sign in _TURNED for sign in signs):
        return tuple(_TURNED[sign] for sign in reversed(signs)), trees[::-1]
    return tuple(signs), trees


def _equal_reals(gold: str, answer: str) -> None:
    """Check that two sets of reals hold the same of all their ends and of the points between."""
    sets = [_Reals(text) for text in (gold, answer)]
    ends = sorted({end for each in sets for end in each.ends})
    between = [(low + high) / 2 for low, high in pairwise(ends)]
    outside = [ends[0] - 1, ends[-1] + 1] if ends else [Fraction(0)]
    for at in (*ends, *between, *outside):
        _need(sets[0].holds(at) == sets[1].holds(at), f"{at} is in one set only")


def _missing(gold: str, answer: str) -> None:
    raise UnreadError


_Check = Callable[..., None]
_EQUAL: dict[str, _Check] = {
    "same text": _same_text,
    "number": _equal_numbers,
    "words": _equal_words,
    "choice": _equal_choice,
    "mark": _equal_marks,
    "reals": _equal_reals,
    "expression": _equal_expressions,
    "equation": _equal_equations,
    "entries": _missing,
    "members": _missing,
    "without name or unit": _missing,
}
_DIFFERENT: dict[str, _Check] = {
    "number": _different_numbers,
    "expression": _different_expressions,
}


# ------------------------------------------------------------------ reading


def _plain(text: str) -> str:
    """Return text with one way to write what has several, and without what has no meaning."""
    text = re.sub(r"√\s*(\d+(?:\.\d+)?|[a-zA-Z])", r"\\sqrt{\1}", text)
    for character, command in _CHARACTERS.items():
        text = text.replace(character, command)
    text = _SPACES.sub(" ", _FONT.sub(r"\1", _FONT.sub(r"\1", _DROPPED.sub("", text))))
    text = _COMMAND.sub(lambda found: _renamed(found[1]), text)
    text = re.sub(r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))(?![^(\[{]*[)\]}])", "", text)
    text = re.sub(r"\^(?:\\circ\s*|\{\\circ\s*\})", "°", text)
    text = re.sub(r"\^\{('+)\}|\\(?=%)", r"\1", text)
    text = re.sub(r"\s*(\\\\|&)\s*", r"\1", text.replace("{bmatrix}", "{pmatrix}"))
    text = text.strip().rstrip(".,;").strip()
    whole = text[:1] == "{" and _closes(_TOKEN.findall(text))
    return _plain(text[1:-1]) if whole else text


def _renamed(name: str) -> str:
    other = _SAME.get(name, name)
    return rf"\{other} " if other.isalpha() else other


def squeezed(text: str) -> str:
    r"""Return text without spaces, and without braces around one character.

    >>> squeezed(r"\left( \dfrac{1}{2},\, x^{2} \right)"), squeezed("2^{34}")
    ('(\\frac12,x^2)', '2^{34}')
    """
    text = re.sub(r"(?<![\d.])\s+|\s+(?![\d.])", "", _plain(text))
    before = ""
    while before != text:
        before, text = text, re.sub(r"(?<!\\)\{(\\?\w)\}(?!\d)", r"\1", text)
    return text


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_plain(text))


def _cut(tokens: list[str], separators: tuple[str, ...]) -> list[list[str]]:
    """Cut tokens before each separator outside of brackets; a part keeps its separator."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in _OPENING or token == r"\begin") - (
            token in _OPENING.values() or token == r"\end"
        )
        if depth == 0 and token in separators:
            parts.append([])
        parts[-1].append(token)
    return parts


def _members(text: str) -> tuple[str, list[str]]:
    """Return the opening bracket of a list, a set, a tuple or a matrix, and its members."""
    tokens = _tokens(text)
    if r"\begin" in tokens and tokens[-1] == "}":
        inner = re.sub(r"\\(?:begin|end)\s*\{\w+\}", "", "".join(_spaced(tokens)))
        return "matrix", [entry for row in inner.split(r"\\") for entry in row.split("&")]
    equals = [at for at, token in enumerate(tokens) if token in ("=", r"\in")]
    value = tokens[equals[0] + 1 :] if len(equals) == 1 else []
    if value and value[0] in _OPENING and _closes(value):
        tokens = value
    brackets = tokens[0] if tokens[0] in _OPENING and _closes(tokens) else ""
    parts = _cut(_with_commas(tokens[1:-1] if brackets else tokens), (",", ";"))
    return brackets, ["".join(_spaced(part[part[0] in ",;" :])) for part in parts if part]


def _spaced(tokens: list[str]) -> list[str]:
    return [token + " " if token[0] == "\\" and token[-1].isalpha() else token for token in tokens]


def _with_commas(tokens: list[str]) -> list[str]:
    """Return the tokens with commas for the words "and" and "or"."""
    text = "\0".join(tokens)
    text = re.sub(r"(?:,\0)?(?<![a-z]\0)(?:a\0n\0d|o\0r)(?!\0[a-z])", ",", text)
    return text.split("\0") if text else []


def _closes(tokens: list[str]) -> bool:
    """Whether the first bracket is closed by the last token."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in _OPENING) - (token in _OPENING.values())
        if depth == 0:
            return at == len(tokens) - 1
    return False


def _read(text: str, gold: str | None = None) -> Tree:
    if _NO_ALGEBRA.search(text) or _NO_ALGEBRA.search(squeezed(text)):
        raise UnreadError
    return _Reader(_tokens(text), text if gold is None else gold).whole()


class _Reader:
    """A reader of expressions by recursive descent."""

    def __init__(self, tokens: list[str], gold: str):
        self.tokens = tokens
        self.at = 0
        self.factors = set(re.findall(r"([a-zA-Z])(?!\s*[\w({_'])", _plain(gold)))
        self.bars = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        if not self.next or (expected and self.next != expected):
            raise UnreadError
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> Tree:
        if not self.tokens:
            raise UnreadError
        tree = self.sum()
        if self.at < len(self.tokens):
            raise UnreadError
        return tree

    def sum(self) -> Tree:
        terms = [self.product()]
        while self.next and self.next in "+-":
            terms.append(self.product())
        return terms[0] if len(terms) == 1 else ("+", *terms)

    def product(self) -> Tree:
        negative = False
        while self.next and self.next in "+-":
            negative ^= self.take() == "-"
        factors = [self.power()]
        while True:
            if self.next in (r"\cdot", r"\times", "*"):
                self.take()
                factors.append(self.signed())
            elif self.next == "/":
                self.take()
                factors = [("/", ("*", *factors), self.signed())]
                if self.starts():
                    raise UnreadError
            elif self.starts():
                factors.append(self.power())
            else:
                break
        tree = factors[0] if len(factors) == 1 else ("*", *factors)
        return ("-", tree) if negative else tree

    def signed(self) -> Tree:
        if self.next == "-":
            self.take()
            return ("-", self.power())
        return self.power()

    def starts(self) -> bool:
        token = self.next
        if not token or token[0].isdigit() or token[0] == ".":
            return False
        if token == "|":
            return not self.bars
        known = token in ("(", "{", "|") or _LETTER.fullmatch(token) is not None
        return known or token[1:] in (
            *_KNOWN,
            "frac",
            "sqrt",
            "pi",
            "binom",
            "log",
            "lfloor",
            "lceil",
        )

    def power(self) -> Tree:
        tree = self.atom()
        while self.next in ("!", "°", "^") and self.next:
            token = self.take()
            tree = ("^", tree, self.argument()) if token == "^" else (token, tree)
            if token == "!" and self.next == "!":
                raise UnreadError
        return tree

    def argument(self) -> Tree:
        """Read a group, or one digit or letter: 2^10 is 2¹⁰ as people write it."""
        if self.next == "-":
            self.take()
            return ("-", self.argument())
        return self.atom()

    def group(self) -> Tree:
        closing = _OPENING[self.take()]
        bars, self.bars = self.bars, 0
        tree = self.sum()
        self.bars = bars
        self.take(closing)
        return tree

    def short(self) -> Tree:
        r"""Read an argument of \frac or \sqrt: a group, or one digit."""
        if self.next[:1].isdigit() and len(self.next) > 1:
            first, rest = self.next[0], self.next[1:]
            if len(rest) > 1:
                raise UnreadError
            self.tokens[self.at : self.at + 1] = [first, rest]
        return self.atom()

    def atom(self) -> Tree:
        token = self.next
        if token in ("(", "{"):
            return self.group()
        self.take()
        if token[0].isdigit() or (token[0] == "." and len(token) > 1):
            return self.number(token)
        if token == "|":
            self.bars += 1
            tree = self.sum()
            self.bars -= 1
            self.take("|")
            return ("abs", tree)
        if _LETTER.fullmatch(token):
            return self.letter(token)
        return self.command(token[1:])

    def number(self, token: str) -> Tree:
        places = len(token.partition(".")[2])
        tree = ("num", Fraction(token.rstrip(".")), Fraction(1, 10**places) if "." in token else 0)
        if self.next == r"\overline" or self.next == "_":
            raise UnreadError
        if self.next == r"\frac" and token.isdigit():
            fraction = self.atom()
            value = _exact(fraction, {})
            if not 0 < value < 1:
                raise UnreadError
            return ("+", tree, fraction)
        return tree

    def letter(self, token: str) -> Tree:
        name = token
        if (
            token == "d"
            and self.next
            and self.next in (*"txyzuvrs", r"\theta", r"\phi", r"\varphi")
        ):
            raise UnreadError  # dx is not a product
        if self.next == "_":
            self.take()
            start = self.at
            self.atom()
            name += "_" + "".join(self.tokens[start : self.at]).strip("{}")
        while self.next == "'":
            name += self.take()
        alone = self.tokens[self.at + 2 : self.at + 3] == [")"]
        if (
            self.next == "("
            and token not in self.factors
            and (alone or name.isupper() or name in "fgh" or "'" in name or token[0] == "\\")
        ):
            return ("call", name, *self.arguments())
        return ("constant", name) if name in ("e", "i") else ("letter", name)

    def arguments(self) -> list[Tree]:
        self.take("(")
        found = [self.sum()]
        while self.next == ",":
            self.take()
            found.append(self.sum())
        self.take(")")
        return found

    def command(self, name: str) -> Tree:
        if name == "pi":
            if self.next == "(" and self.tokens[self.at + 2 : self.at + 3] == [")"]:
                raise UnreadError  # π(10) counts primes
            return ("constant", name)
        if name == "frac" and self.tokens[self.at + 1 : self.at + 2] in (["d"], [r"\partial"]):
            raise UnreadError
        if name in ("frac", "binom"):
            return ("/" if name == "frac" else name, self.short(), self.short())
        if name == "sqrt":
            degree = self.group() if self.next == "[" else ("num", Fraction(2), 0)
            return ("root", self.short(), degree)
        if name in ("lfloor", "lceil"):
            tree = self.sum()
            self.take(r"\rfloor" if name == "lfloor" else r"\rceil")
            return (name, tree)
        if name in ("gcd", "lcm", "max", "min", "det", "Re", "Im"):
            return ("call", name, *self.arguments())
        if name == "log":
            return self.logarithm()
        if name in _KNOWN:
            exponent = self.argument() if self.next == "^" and self.take() else None
            if exponent == ("-", ("num", Fraction(1), 0)):
                raise UnreadError
            tree = (name, self.argument_of())
            return tree if exponent is None else ("^", tree, exponent)
        raise UnreadError

    def logarithm(self) -> Tree:
        if self.next != "_":
            return ("*", ("letter", r"\log"), ("ln", self.argument_of()))
        self.take()
        base = self.argument()
        return ("/", ("ln", self.argument_of()), ("ln", base))

    def argument_of(self) -> Tree:
        """Read a bracket, or the factors up to the next function or sign."""
        if self.next in ("(", "{"):
            return self.group()
        factors = [self.power()]
        while self.starts() and self.next != "(" and self.next[1:] not in (*_KNOWN, "log"):
            factors.append(self.power())
        return factors[0] if len(factors) == 1 else ("*", *factors)


# ------------------------------------------------------------------ values


def _letters(tree: Tree) -> set[str]:
    if tree[0] == "letter":
        return {tree[1]}
    return set().union(*(_letters(part) for part in tree[1:] if isinstance(part, tuple)))


def _same_values(one: Tree, other: Tree) -> bool:
    """Whether two expressions have the same values where both have one; three points are needed."""
    if one == other:
        return True
    names = sorted(_letters(one) | _letters(other))
    capitals = [_capitals(tree) for tree in (one, other)]
    if len(set(capitals[0])) > 1 and capitals[0] != capitals[1]:
        raise UnreadError  # matrices may not commute
    if names and _has(("+", one, other), ("lfloor", "lceil")):
        raise UnreadError  # no few points see all steps
    if any(_bends(tree) for tree in (one, other)):
        raise UnreadError  # no few points see all pieces
    found = [_agree(one, other, point) for point in _points(names, one, other)]
    if _has(one, ("abs", "root")) and not _has(one, ("constant",)):
        for point in _points(names, one, other):
            missing = _is_real(one, point) and _is_real(other, point) is False
            _need(not missing, "one side has no value there")
    if False in found:
        return False
    if found.count(True) < (3 if names else 1):
        raise UnreadError
    return True


def _bends(tree: Tree) -> bool:
    """Whether the absolute value of a power of a letter occurs, which may turn anywhere."""
    if tree[0] == "abs" and _letters(tree) and _has(tree, ("^",)):
        return True
    return any(_bends(part) for part in tree[1:] if isinstance(part, tuple))


def _capitals(tree: Tree) -> list[str]:
    if tree[0] == "letter" and re.match("[A-Z]", tree[1]):
        return [tree[1]]
    return [name for part in tree[1:] if isinstance(part, tuple) for name in _capitals(part)]


def _constants(tree: Tree) -> list[Fraction]:
    if tree[0] == "num":
        return [tree[1]]
    return [each for part in tree[1:] if isinstance(part, tuple) for each in _constants(part)]


def _points(names: list[str], *trees: Tree) -> list[dict[str, Fraction]]:
    if not names:
        return [{}]
    rng = random.Random("/".join(names))
    whole = any(_has(tree, ("!", "binom")) for tree in trees) or set(names) <= set("kmn")
    near = sorted(each for tree in trees for each in _constants(tree))
    most = int(prod(max(Fraction(1), each) for each in near))
    if whole and most > FARTHEST:
        raise UnreadError  # a binomial coefficient may begin beyond all points
    sizes = [3, 9, 40, 10**3, 10**6, 10**9] if not whole else [6, 12, 30, 2 * most + 14]
    close: list[Fraction] = []
    if len(names) == 1 and whole:
        around = [at + off for at in (Fraction(0), *near[:9]) for off in range(-2, 4)]
        close = [at for at in around if at >= 0]
    elif len(names) == 1:  # both sides of where |x − c| turns
        third = Fraction(1, 3)
        close = [
            each for at in near[:9] for each in (at - third, at + third, -at - third, third - at)
        ]
    points = [{names[0]: at} for at in close]
    for at in range(POINTS):
        size = sizes[at % len(sizes)]
        bottom = 1 if whole or at % 2 else 97
        low = 0 if whole else -size * bottom
        points.append({name: Fraction(rng.randint(low, size * bottom), bottom) for name in names})
    return points


def _has(tree: Tree, operations: tuple[str, ...]) -> bool:
    return tree[0] in operations or any(
        _has(part, operations) for part in tree[1:] if isinstance(part, tuple)
    )


def _agree(one: Tree, other: Tree, point: Point) -> bool | None:
    """Whether two values at a point are equal; None if one of them has no value that is known."""
    try:
        return _exact(one, point) == _exact(other, point)
    except UnreadError:
        pass
    except ZeroDivisionError:
        return None
    import mpmath

    verdict: bool | None = None
    for digits in DIGITS:
        with mpmath.workdps(digits):
            try:
                values = [_about(tree, point) for tree in (one, other)]
            except (UnreadError, ZeroDivisionError, ValueError, OverflowError):
                return None
            real = not any(_has(tree, ("constant",)) and "i" in str(tree) for tree in (one, other))
            if real and any(isinstance(value, mpmath.mpc) for value in values):
                return None
            size = max(map(abs, values))
            if size > 10**2_500 or size < mpmath.mpf(10) ** -digits:
                return None if values[0] != values[1] else verdict
            verdict = bool(abs(values[0] - values[1]) <= size * mpmath.mpf(10) ** (30 - digits))
            if not verdict:
                return False
    return verdict


def _is_real(tree: Tree, point: Point) -> bool | None:
    """Whether an expression has a real value at a point; None if it is too large to know."""
    import mpmath

    try:
        return not isinstance(_about(tree, point), mpmath.mpc)
    except (UnreadError, OverflowError):
        return None
    except (ZeroDivisionError, ValueError):
        return False


def _exact(tree: Tree, point: Point) -> Fraction:
    """Return the rational value of an expression.

    Raises:
        UnreadError: If it has none, or one too large.
    """
    operation, *parts = tree
    if operation == "num":
        return parts[0]
    if operation == "letter":
        return Fraction(point[parts[0]]) if parts[0] in point else _unknown()
    if operation not in _RATIONAL:
        raise UnreadError
    return _RATIONAL[operation](*(_exact(part, point) for part in parts))


def _unknown() -> Fraction:
    raise UnreadError


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator > 1 or abs(exponent) * bits > MOST_BITS or not (base or exponent > 0):
        raise UnreadError
    return base ** int(exponent)


def _counted(function: Callable[..., int], *values: Fraction) -> Fraction:
    if any(value.denominator > 1 or value < 0 for value in values):
        raise ZeroDivisionError
    if max(values) > 5_000:
        raise UnreadError
    return Fraction(function(*map(int, values)))


_RATIONAL: dict[str, Callable[..., Fraction]] = {
    "+": lambda *terms: sum(terms, Fraction(0)),
    "-": lambda value: -value,
    "*": lambda *factors: prod(factors, start=Fraction(1)),
    "/": lambda top, bottom: top / bottom,
    "^": _exact_power,
    "abs": abs,
    "!": lambda value: _counted(factorial, value),
    "binom": lambda top, bottom: _counted(comb, top, bottom),
    "lfloor": lambda value: Fraction(value.__floor__()),
    "lceil": lambda value: Fraction(value.__ceil__()),
}


def _about(tree: Tree, point: Point) -> Any:
    """Return the value of an expression in the digits of now."""
    import mpmath

    operation, *parts = tree
    if operation == "call":
        keys = [mpmath.nstr(_about(part, point), 25) for part in parts[1:]]
        return mpmath.mpf(random.Random(f"{parts[0]}{keys}").random()) + 1
    if operation == "constant":
        return {"e": +mpmath.e, "i": mpmath.mpc(0, 1), "pi": +mpmath.pi}[parts[0]]
    if operation in ("num", "letter"):
        value = _exact(tree, point)
        return mpmath.mpf(value.numerator) / value.denominator
    values = [_about(part, point) for part in parts]
    if operation in ("!", "binom", "lfloor", "lceil"):
        value = _exact(tree, point)
        return mpmath.mpf(value.numerator) / value.denominator
    if operation == "abs" and isinstance(values[0], mpmath.mpc) and not _has(tree, ("constant",)):
        raise ValueError("no real value")
    if operation == "/" and values[1] == 0:
        raise ZeroDivisionError
    simple = {"+": mpmath.fsum, "*": mpmath.fprod}
    if operation in simple:
        return simple[operation](values)
    if operation == "root":
        odd = values[1] % 2 == 1 and not mpmath.im(values[0]) and values[0] < 0
        return (
            -mpmath.root(-values[0], int(values[1]))
            if odd
            else mpmath.root(values[0], int(values[1]))
        )
    rest: dict[str, Callable[..., Any]] = {
        "-": lambda value: -value,
        "/": lambda top, bottom: top / bottom,
        "^": mpmath.power,
        "abs": abs,
        "°": lambda value: value * mpmath.pi / 180,
    }
    if operation not in rest and abs(values[0]) > 10**9:
        raise UnreadError
    if operation == "^" and abs(values[1]) > 10**6:
        raise UnreadError
    if operation in ("tanh", "exp", "sinh", "cosh") and abs(values[0]) > DIGITS[1] // 5:
        raise UnreadError
    function = rest.get(operation) or getattr(mpmath, _MPMATH.get(operation) or operation)
    result = function(*values)
    if operation in ("^", "/") and result and abs(mpmath.log10(abs(result))) > DIGITS[1] // 3:
        raise UnreadError  # 10⁻⁹⁰⁰⁰ would be lost in a sum
    return result


class _Reals:
    """A set of real numbers with rational ends: intervals, unions, conditions on one letter."""

    def __init__(self, text: str):
        text = re.sub(r"\s*(?:\bor\b)\s*", r"\\cup ", _plain(text))
        text = re.sub(
            r"\A\s*\\\{\s*(\w)\s*(?:\\in\s*\\mathbb\s*\{R\}\s*)?[|:](.*)\\\}\Z", r"\2", text
        )
        text = re.sub(r"\A\s*\w\s*\\in(?![a-z])", "", text)
        self.pieces = [
            self._piece(part[part[0] == r"\cup" :])
            for part in _cut(_TOKEN.findall(text), (r"\cup",))
        ]
        self.ends = [end for low, high, *_ in self.pieces for end in (low, high) if end is not None]

    def holds(self, at: Fraction) -> bool:
        return any(
            (low is None or low < at or (left and low == at))
            and (high is None or at < high or (right and at == high))
            for low, high, left, right in self.pieces
        )

    def _piece(self, tokens: list[str]) -> tuple[Fraction | None, Fraction | None, bool, bool]:
        if "".join(tokens) == r"\mathbb{R}":
            return None, None, False, False
        inner = _cut(tokens[1:-1], (",",))
        if tokens[0] in "([" and tokens[-1] in ")]" and len(inner) == 2:
            low, high = self._end(inner[0]), self._end(inner[1][1:])
            if low is not None and high is not None and low >= high:
                raise UnreadError
            return low, high, tokens[0] == "[", tokens[-1] == "]"
        parts = _cut(tokens, _RELATIONS)
        signs = [part[0] for part in parts[1:]]
        sides = [part[1:] if at else part for at, part in enumerate(parts)]
        if signs and all(sign in _TURNED for sign in signs):
            signs, sides = [_TURNED[sign] for sign in reversed(signs)], sides[::-1]
        if not signs or not all(sign in ("<", r"\le") for sign in signs):
            raise UnreadError
        names = [len(side) == 1 and side[0].isalpha() for side in sides]
        if sum(names) != 1 or len(sides) > 3 or (len(sides) == 3 and not names[1]):
            raise UnreadError
        at = names.index(True)
        low = self._end(sides[at - 1]) if at else None
        high = self._end(sides[at + 1]) if at + 1 < len(sides) else None
        closed = [sign == r"\le" for sign in signs]
        return low, high, bool(at) and closed[0], at + 1 < len(sides) and closed[-1]

    def _end(self, tokens: list[str]) -> Fraction | None:
        if tokens[-1:] == [r"\infty"] and len(tokens) <= 2:
            return None
        return _exact(_Reader(tokens, "").whole(), {})


__all__ = ["check"]
