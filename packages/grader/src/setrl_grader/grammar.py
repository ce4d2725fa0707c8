r"""The grammar: one reader by recursive descent makes a statement of a normal form.

    members   = item {("," | ";" | "and" | "or") item}
    item      = relation
    relation  = side {("=" | "<" | "\le" | "\in" | …) side}
    side      = union {":" union}
    union     = operand {("\cup" | "\cap" | "\setminus") operand}
    operand   = bracket | system | sum ["%"]
    system    = rows of items with "\\" between them
    bracket   = ("(" | "[") members (")" | "]") | "\{" [letter "|"] members "\}" | matrix
    matrix    = rows of members with "&" and "\\" between them
    sum       = term {("+" | "-") term}
    term      = {"+" | "-"} product
    product   = power {["\cdot" | "\times" | "*" | "/"] power}
    power     = postfix ["^" argument]
    postfix   = atom {"!" | "°"}
    argument  = "{" sum "}" | number | letter
    atom      = number | letter | command | group | "|" sum "|"
    letter    = name ["_" index] {"'"} ["(" arguments ")"]
    command   = fraction | root | binomial | function | rounding
    group     = a bracket that holds one sum

Letters keep their case, index and primes: R is not r, x_1 is not x_2, f' is not f. A letter that
is applied, f(x), is a function that is not known. A side that has two readings, or none that the
grammar knows, is text: letters behind which a number follows, words, 1/2x, integrals, limits,
derivatives as operators, products of matrices, sums over a letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from setrl_grader.tokens import APPLIED, FUNCTIONS, GREEK
from setrl_grader.trees import (
    CAPITALS,
    MAX_DIGITS,
    Part,
    Tree,
    UnreadableError,
    has,
    quotient,
    too_deep,
)
from setrl_grader.units import PREFIXED, SHORT

MAX_DEPTH = 50  # of brackets: each takes ten calls

SEPARATORS = frozenset({",", ";", "and", "or"})
TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}
ORDERS = frozenset({*TURNED, r"\ne"})
CHAINING = frozenset({r"\approx", r"\equiv", r"\simeq", r"\Rightarrow", r"\to", r"\rightarrow"})
RELATIONS = ORDERS | CHAINING | {"=", r"\in"}
SETS = frozenset({r"\cup", r"\cap", r"\setminus"})
_BEGIN, _END = r"\begin{pmatrix}", r"\end{pmatrix}"
BRACKETS = {"(": "(", "[": "[", r"\{": "{", r"\langle": "⟨", ")": ")", "]": "]", r"\}": "}",
            r"\rangle": "⟩"}  # fmt: skip
_OPENING, _CLOSING = frozenset([*BRACKETS][:4]), frozenset([*BRACKETS][4:])
_ROWS = frozenset({"&", r"\\", _END})
_CASES, _CASES_END = r"\begin{cases}", r"\end{cases}"
_ALONE = frozenset([*_OPENING, "{", "|", ",", "=", "+"])  # behind which braces bind nothing
_BINDING = frozenset(["^", "!", "°", "*", "/", r"\cdot", r"\times"])
_STOPS = SEPARATORS | RELATIONS | _CLOSING | _ROWS | {"", _CASES_END}
_LETTERS = {rf"\{name}" for name in GREEK} | set("abcdefghijklmnopqrstuvwxyz") | CAPITALS
_NAMES_OF_FUNCTIONS = (  # before "(" they are applied, unless they occur without brackets too
    CAPITALS
    | {"f", "g", r"\phi", r"\varphi", r"\psi", r"\zeta", r"\chi"}
    | {name for name in _LETTERS if re.match(r"\\[A-Z]", name)}
)
MAX_ENDLESS = 60  # digits in which a period is looked for
_NUMERALS = (  # numbers of several signs
    r"(?<![\w.])(?P<scientific>(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+)(?!\w)"
    r"|(?<![\d.,])(?P<thousands>[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d+)?)(?!,?\d)"
    r"|(?<![\d.,])(?P<comma>0,\d{2,})(?![\d,.])"
    rf"|(?<![\w.])(?P<endless>\d*\.\d{{1,{MAX_ENDLESS}}}\s*\\ldots(?=\s*(?:\Z|[,;)\]])))"
)
_SIGNS = (
    r"\\(?:begin|end)\{[a-zA-Z]+\}|\\\\|\\[a-zA-Z]+|\\.|[0-9]+(?:\.[0-9]+)?|\.[0-9]+|[a-zA-Z]+"
    r"|\s+|."
)
_SIGN, _TOKEN = (re.compile(each, re.DOTALL) for each in (_SIGNS, f"{_NUMERALS}|{_SIGNS}"))
_PERIOD = re.compile(r"(\d*\.\d*?)(?:(\d)\2\2+|(\d{2,}?)\3+)\s*\\ldots")  # 0.1666…
_BEFORE_ALL = re.compile(r"(?:[^=<>]*=)?\s*[+-]?\s*(?:\\?[$€£¥₹])?\s*[+-]?\s*\Z")
_SCIENTIFIC = re.compile(r"(?<![\w.])(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+(?!\w)")
_OPEN_POWER = re.compile(r"(?:[2-9]|\d{2,})[eE][+-](?!0)")  # 3e-05 is Python's
_LISTED = re.compile(
    r"(?<!\d)\d{1,2},\d{3}.*, |, .*(?<!\d)\d{1,2},\d{3}", re.DOTALL
)  # 1,000, 2,000
_NUMBER = re.compile(r"\.?[0-9]")
_DIFFERENTIALS = {"x", "y", "z", "t", "u", "v", "s", "r", r"\theta", r"\phi", r"\varphi"}
_DERIVED = frozenset("fghFGHy")  # f^{(2)} is no power
_ONE_ARGUMENT = FUNCTIONS - APPLIED - {r"\log"}
_INVERSE = {r"\sin": r"\arcsin", r"\cos": r"\arccos", r"\tan": r"\arctan"}
ACCENTS = {
    r"\overline", r"\bar", r"\hat", r"\tilde", r"\vec", r"\dot", r"\ddot", r"\overrightarrow",
    r"\overleftarrow", r"\mathbf", r"\mathcal", r"\mathfrak", r"\mathscr",
}  # fmt: skip
_STARTS = frozenset(  # of a factor without a sign before it
    ["(", "[", r"\{", "{", r"\frac", r"\sqrt", r"\binom", r"\pi", r"\log", r"\lfloor", r"\lceil"]
)  # fmt: skip
_STARTS |= _LETTERS | _ONE_ARGUMENT | ACCENTS | APPLIED
_VECTOR = re.compile(r"\\(?:vec|mathbf|overrightarrow)\{|\\hat\{\\?[ijk]")
_OF_REALS: tuple[list[str], ...] = (
    [],
    [r"\in", r"\mathbb", "{", "R", "}"],
)  # what may follow the letter of a builder
SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9,
           "trillion": 10**12}  # fmt: skip
_GROUPS = {r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "{": "}", "[": "]"}
_BARE = frozenset(
    ["tr", "Tr", "Var", "Cov", "sgn", "erf", "arg", "det", "deg", "sin", "cos", "tan", "log", "ln",
     "exp"]
)  # fmt: skip
_NAME = re.compile(
    r"(?P<base>\\[a-zA-Z]+(?:\{\\?[a-zA-Z]+\})?|[a-zA-Z])\s*(?P<index>_\s*(?:\{[^{}]*\}|\w))?"
    r"\s*(?P<primes>'*)\s*(?P<order>\^\s*\{\([^{}]*\)\})?\s*(?P<power>\^\s*(?:\{-?\w+\}|\w)\s*(?=\())?"
    r"(?P<argument>\((?:\s*(?:-?[\d.]+|-?[a-zA-Z]|-?\\[a-zA-Z]+)\s*\)|[^()]*,)?)?"
)


_D = r"(?:d|\\partial|\\mathrm\{d\})"
_OVER_D = re.compile(rf"(?:{_D}(?:\\[a-zA-Z]+?|[a-zA-Z])(?:\^(?:\w|\{{\w+\}}))?)+\Z")  # dx^2, dx dy


class _Choice(NamedTuple):
    """A spelling that has two meanings, and what settles which one it has.

    Attributes:
        spelling: How it is written.
        ways: Its two meanings.
        letter: The letter that is one where it occurs elsewhere by itself.
        settled: The kind of a gold → whether the first meaning is taken.
    """

    spelling: re.Pattern[str]
    ways: str
    letter: str = ""
    settled: Mapping[str, bool] = MappingProxyType({})


_OF_TYPE = {
    "set": frozenset(["1, 234"]),  # are two members
    "tuple": frozenset(["1, 234"]),
    "expression": frozenset(["Rabc"]),  # is a product, however long
}
CHOICES = {
    "3e-1": _Choice(
        re.compile(rf"(?<![\w.]){_OPEN_POWER.pattern}\d"),
        "as a number in e-notation or as a product with e",
        "e",
        {"number": True, "expression": False},
    ),
    "0,125": _Choice(
        re.compile(r"(?<![\d.,])0,\d{2,}(?![\d,.])"),
        "as a decimal or as two members",
        settled={"number": True, "set": False, "tuple": False, "interval": False},
    ),
    "[u]": _Choice(re.compile(r"\[|\\\{"), "as a rounded value or as a bracket"),
}
"""What a spelling means → its two readings; a name before brackets is another such choice."""
LETTERS_AS = {each: f"{each} as a letter" for each in "ei"}
"""A constant → the reading in which it is a letter: an edge e, the i-th term."""


def parse(text: str, gold: str | None = None, answer: str | None = None, kind: str = "") -> Part:
    r"""Read a normal form.

    Args:
        text: The normal form.
        gold: The gold, whose names have the meaning that they have there; by default the text.
        answer: The answer that the text is a part of; by default the text.
        kind: What the gold has declared to be, which settles what has two readings.

    >>> parse(r"(1,\frac{2}{3}]").kind, [part.text for part in parse("1 or 2").parts]
    ('(]', ['1', '2'])
    >>> [part.text for part in parse(r"2\pm\sqrt{3}").parts], parse("2x+").kind
    (['2+\\sqrt{3}', '2-\\sqrt{3}'], 'text')
    >>> parse(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}").marks
    '2×2'
    """
    whole = text if answer is None else answer
    return parse_with(text, readings(whole if gold is None else gold, whole, kind)[0])


def read(text: str, gold: str | None = None) -> Tree | None:
    r"""Read a normal form as an expression; return None if it may be something else.

    >>> read("x^2+1").op, read(r"\frac{1}{2}").op, read("f(x)").op, read("2x+")
    ('+', '/', 'apply', None)
    """
    return parse(text, gold).tree


@lru_cache(maxsize=4096)
def parse_with(text: str, functions: frozenset[str]) -> Part:
    """Read a normal form in which these names are functions before brackets."""
    reader = _Reader(text, functions)
    try:
        part = reader.members()
    except RecursionError:
        return Part("text", text.strip())
    return part if reader.at == len(reader.tokens) else Part("text", text.strip())


def readings(gold: str, answer: str = "", kind: str = "") -> list[frozenset[str]]:
    r"""Return the names that are functions and the choices of spelling, in each way to take them.

    A name is a function if it looks like one, f or \Phi, or if its brackets hold one letter or
    number, or a list: a(n). It is a factor where it occurs without brackets too, n(n+1): in the
    gold, which decides what it names. A capital before a sum, P(1+r), and the power of a name of
    functions, h^2(x+1), are in doubt, unless the name occurs without brackets on either side: P +
    Pr. So are the spellings of `CHOICES`, unless the gold has declared its kind.

    >>> [sorted(each) for each in readings("P(1+r)+f(x)")], readings("P(1+r)", "P+Pr")
    ([['P', 'f'], ['f']], [frozenset()])
    >>> [sorted(each) for each in readings("3e-1")], readings("3e-1", kind="number")
    ([[], ['3e-1']], [frozenset({'3e-1'})])
    """
    ours, ours_doubt, ours_bare = _names(gold)
    theirs, theirs_doubt, theirs_bare = _names(answer)
    sure = (ours - ours_bare) | (theirs - theirs_bare - ours - ours_bare)
    doubt = (ours_doubt | theirs_doubt) - sure - ours_bare - theirs_bare
    sure |= _OF_TYPE.get(kind, frozenset())
    found = [sure | doubt, sure] if doubt else [sure]
    letters = {*ours_bare, *theirs_bare}
    for name, choice in CHOICES.items():
        if not any(map(choice.spelling.search, (gold, answer))):
            continue
        if kind in choice.settled or choice.letter in letters:
            found = [each | {name} for each in found if choice.settled.get(kind)] or found
        else:
            found = [each | taken for each in found for taken in (set[str](), {name})]
    return found


@lru_cache(maxsize=4096)
def open_readings(gold: str, kind: str = "") -> str:
    """Return in words the spellings of a gold that have two readings, which its type settles.

    >>> open_readings("3e-1"), open_readings("3e-1", "number"), open_readings("[1,2]")
    ('3e-1 as a number in e-notation or as a product with e', '', '')
    """
    first, *others = readings(gold, kind=kind)
    part = parse_with(gold, first)
    unlike = [each for each in others if parse_with(gold, each) != part]
    return told(name for name in CHOICES if any(name in first ^ each for each in unlike))


def told(names: Iterable[str]) -> str:
    """Return what is read in two ways, in words."""
    return ", and ".join(
        f"{name} {CHOICES[name].ways if name in CHOICES else 'as a function or as a factor'}"
        for name in sorted(names)
    )


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the names that are applied, those that may be, and those that occur by themselves."""
    applied, doubt, bare = set(), set(), set()
    for found in _NAME.finditer(_SCIENTIFIC.sub(" ", text)):
        base, argument = found["base"].partition("{")[0], found["argument"]
        if base not in _LETTERS and base not in ACCENTS and base != r"\pi":
            continue
        index = re.sub(r"[\s{}]", "", found["index"] or "")
        name = found["base"] + index + found["primes"]
        if found["order"] and base in _DERIVED:
            name += _order(found["order"].lstrip("^ ")[1:-1])
        may_be = base in CAPITALS or (found["power"] and base in _NAMES_OF_FUNCTIONS | {"h"})
        if argument is None or (found["power"] and not may_be):
            bare.add(name)
        elif (
            base in _NAMES_OF_FUNCTIONS - CAPITALS
            or found["primes"]
            or (len(argument) > 1 and not found["power"])
        ):
            applied.add(name)
        elif may_be:
            doubt.add(name)
    return frozenset(applied), frozenset(doubt), frozenset(bare)


def _pieces(text: str, reading: frozenset[str]) -> list[str]:
    """Return the tokens of a normal form, each with the space behind it."""
    pieces: list[str] = []
    for found in _TOKEN.finditer(text):
        token = found[0]
        if found.lastgroup:
            pieces += _SIGN.findall(_numeral(found, text, reading))
        elif token.isspace():
            pieces[-1:] = [each + token for each in pieces[-1:]]
        elif token.isalpha() and ("Rabc" in reading or not _is_word(token, text, found, pieces)):
            pieces += token
        else:
            pieces.append(token)
    return pieces


def _order(order: str) -> str:
    """Return how a derivative of an order is marked behind a name: (2) by two primes."""
    return "'" * int(order[1:-1]) if re.fullmatch(r"\([1-9]\)", order) else f"_{order}"


def _numeral(found: re.Match[str], text: str, reading: frozenset[str]) -> str:
    r"""Write a number of several signs in the signs that the grammar has for it, if it is one.

    >>> [parse(text).text for text in ("1,234.5", "1.5e-3", r"-0.1666\ldots", "(1,234)")]
    ['1234.5', '1.5\\times10^{-3}', '-0.1\\overline{6}', '(1,234)']
    """
    kind, written = found.lastgroup, found[0]
    if kind == "scientific":
        if _OPEN_POWER.match(written) and "3e-1" not in reading:
            return written
        factor, power = re.split("[eE]", written)
        return rf"{factor}\times10^{{{power}}}"
    if kind == "endless":
        period = _PERIOD.fullmatch(written)
        return rf"{period[1]}\overline{{{period[2] or period[3]}}}" if period else written
    whole = _BEFORE_ALL.match(text[: found.start()]) and not re.search(r"\d", text[found.end() :])
    listed = _is_listed(text)
    if kind == "comma":
        return written.replace(",", ".") if whole and "0,125" in reading else written
    joined = (whole and "1, 234" not in reading) or listed
    return re.sub("[, ]", "", written) if joined else written


@lru_cache(maxsize=64)
def _is_listed(text: str) -> bool:
    """Whether a list has a space behind each comma, and none within its thousands."""
    return bool(_LISTED.search(text)) and not re.search(r",(?! |\d{3}(?!\d))", text)


def _is_word(run: str, text: str, found: re.Match[str], pieces: list[str]) -> bool:
    """Whether letters are one token: a word, a unit behind a number, a function's name."""
    if run in ("and", "or", "mod"):
        return True
    before = pieces[-1] if pieces else ""
    after = text[found.end() : found.end() + 2].lstrip()[:1]
    follows = before.rstrip()[-1:].isdigit() or before.rstrip()[-1:] == "}"
    unit = run in SHORT or (before[-1:].isspace() and PREFIXED.match(run))
    word = len(run) >= 4 and before[-1:] != "{"
    function = run in _BARE and after == "("
    return bool(word or function or (follows and unit and after != "("))


def _has_vector(tree: Tree) -> bool:
    """Whether a value may be a vector: products of vectors are not products of numbers."""
    if tree.op == "letter":
        return _VECTOR.match(tree.text) is not None
    return tree.op != "apply" and any(_has_vector(part) for part in tree.parts)


class _Reader:
    """A reader by recursive descent: a list of statements of sums of products of powers.

    Attributes:
        functions: Names that are applied where a bracket follows.
    """

    def __init__(self, text: str, functions: frozenset[str]):
        self.pieces = _pieces(text, functions)
        self.tokens = [piece.rstrip() or piece for piece in self.pieces]
        self.functions = functions
        self.at = self.depth = self.bars = 0
        self.brackets: dict[int, tuple[Part, int]] = {}

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def ahead(self, *expected: str | None) -> bool:
        """Whether these tokens follow; None is a whole number."""
        found = self.tokens[self.at : self.at + len(expected)]
        return len(found) == len(expected) and all(
            token.isdecimal() if wanted is None else token == wanted
            for token, wanted in zip(found, expected, strict=True)
        )

    def follows(self, *expected: str) -> bool:
        """Take these tokens if they follow."""
        found = self.ahead(*expected)
        self.at += len(expected) if found else 0
        return found

    def take(self, *expected: str) -> str:
        token = self.next
        if not token or (expected and token not in expected):
            raise UnreadableError
        self.at += 1
        return token

    # -------------------------------------------------------------- statements

    def text(self, start: int) -> str:
        return "".join(self.pieces[start : self.at]).strip()

    def end_of(self, start: int, stops: frozenset[str]) -> int:
        """Return where the first of these tokens is that is in no bracket."""
        depth = 0
        for at in range(start, len(self.tokens)):
            token = self.tokens[at]
            if depth == 0 and token in stops:
                return at
            opens = token in _OPENING or token == "{" or token.startswith(r"\begin")
            depth += opens - (token in _CLOSING or token == "}" or token.startswith(r"\end"))
            if depth < 0:
                return at
        return len(self.tokens)

    def members(self) -> Part:
        start, separators = self.at, []
        items = self.item()
        while self.next in SEPARATORS:
            separators.append(self.take())
            if separators[-1] in ",;" and self.next in ("and", "or"):
                separators[-1] = self.take()
            items += self.item()
        if len(items) == 1:
            return items[0]
        return Part("list", self.text(start), tuple(items), " ".join(separators))

    def item(self) -> list[Part]:
        r"""Read one item; a ± b is two, and with a second ±, both may or may not be equal."""
        start, end = self.at, self.end_of(self.at, SEPARATORS)
        inside = self.tokens[start:end]
        if inside.count(r"\pm") != 1 or r"\{" in inside[: inside.index(r"\pm")]:
            return [self.relation()]
        self.at = end
        signs = ({r"\pm": "+", r"\mp": "-"}, {r"\pm": "-", r"\mp": "+"})
        pieces = self.pieces[start:end]
        both = ["".join(sign.get(piece.strip(), piece) for piece in pieces) for sign in signs]
        return [parse_with(text.strip(), self.functions) for text in both]

    def relation(self) -> Part:
        return self.several("relation", self.side, RELATIONS)

    def side(self) -> Part:
        start, state = self.at, (self.depth, self.bars)
        try:
            part = self.several("ratio", self.union, frozenset({":"}))
            if self.next in _STOPS:
                return part
        except UnreadableError:
            self.depth, self.bars = state
        self.at = self.end_of(start, _STOPS)
        return Part("text", self.text(start))

    def several(self, kind: str, read: Callable[[], Part], signs: frozenset[str]) -> Part:
        start, parts, found = self.at, [read()], []
        while self.next in signs or (self.next == "-" and parts[-1].text == r"\mathbb{R}"):
            found.append(self.take())
            parts.append(read())
        return Part(kind, self.text(start), tuple(parts), " ".join(found)) if found else parts[0]

    def union(self) -> Part:
        return self.several("union", self.operand, SETS)

    def operand(self) -> Part:
        start = self.at
        for name in ([r"\mathbb", "{", "R", "}"], [r"\emptyset"]):
            if self.follows(*name):
                return Part("text", self.text(start))
        if self.next == _CASES:
            return self.system()
        if self.next in _OPENING or self.next == _BEGIN:
            part = self.bracket()
            if self.next in _STOPS or self.next in SETS or self.next == ":":
                alone = part.kind == "()" and len(part.parts) == 1 and part.parts[0].tree
                return part.parts[0] if alone else part
            self.at = start
        tree = self.sum()
        if too_deep(tree):
            raise UnreadableError
        if self.next == _BEGIN and tree.op != "+":
            return self.multiple(start, tree)
        found = Part("expression", self.text(start), tree=tree)
        return Part("percent", self.text(start), (found,)) if self.follows("%") else found

    def system(self) -> Part:
        r"""Read the rows of cases, which all hold: x = 1, y = 2."""
        start, rows, sign = self.at, list[Part](), self.take(_CASES)
        while sign != _CASES_END:
            rows += self.item()
            if self.ahead(",", r"\\"):
                self.take()
            sign = self.take(r"\\", _CASES_END)
        if any(row.kind != "relation" for row in rows):
            raise UnreadableError  # the pieces of a function
        return Part("list", self.text(start), tuple(rows), ",")

    def multiple(self, start: int, factor: Tree) -> Part:
        """Read the matrix behind a factor, each of whose entries it multiplies."""
        before, matrix = self.text(start), self.bracket()
        trees = [each.tree and _product(factor, each.tree) for each in matrix.parts]
        texts = [f"{before}({each.text})" for each in matrix.parts]
        if None in trees:
            raise UnreadableError
        pairs = zip(texts, trees, strict=True)
        entries = (Part("expression", text, tree=tree) for text, tree in pairs)
        return Part("matrix", self.text(start), tuple(entries), matrix.marks)

    def bracket(self) -> Part:
        """Read a bracket once, also where a product begins with it."""
        start = self.at
        if start not in self.brackets:
            bars = self.bars
            self.depth, self.bars = self.depth + 1, 0
            if self.depth > MAX_DEPTH:
                raise UnreadableError
            part = self.matrix() if self.next == _BEGIN else self.bracketed()
            self.depth, self.bars = self.depth - 1, bars
            self.brackets[start] = part, self.at
        part, self.at = self.brackets[start]
        return part

    def bracketed(self) -> Part:
        r"""Read (1, 2], \{x | x > 1\}, rows in brackets; (x) is x."""
        start, opening = self.at, self.take()
        letter = self.next
        heads = ([letter, *middle, bar] for middle in _OF_REALS for bar in "|:")
        named = opening == r"\{" and letter in _LETTERS
        head = named and any(self.follows(*each) for each in heads)
        inner = self.members()
        kind = BRACKETS[opening] + BRACKETS[self.take(*_CLOSING)]
        if head:
            return Part("builder", self.text(start), (inner,), letter)
        items, marks = (inner.parts, inner.marks) if inner.kind == "list" else ((inner,), "")
        if opening != r"\{" and len(items) > 1 and r"\pm" in self.tokens[start : self.at]:
            raise UnreadableError  # the pair (±1, ±2) is not of four
        widths = {len(item.parts) if item.kind == "[]" else 0 for item in items}
        if kind == "[]" and len(widths) == 1 and 0 not in widths:  # [[1, 2], [3, 4]]
            entries = tuple(entry for item in items for entry in item.parts)
            return Part("matrix", self.text(start), entries, f"{len(items)}×{widths.pop()}")
        return Part(kind, self.text(start), items, marks)

    def matrix(self) -> Part:
        start = self.at
        rows, sign = list[list[Part]](), self.take(_BEGIN)
        while sign != _END:
            rows += [] if sign == "&" else [[]]
            rows[-1].append(self.members())
            sign = self.take(*_ROWS)
        if len(rows) > 1 and not rows[-1][0].text:  # a row break after the last row
            rows.pop()
        if len({len(row) for row in rows}) > 1:
            raise UnreadableError
        entries = tuple(entry for row in rows for entry in row)
        return Part("matrix", self.text(start), entries, f"{len(rows)}×{len(rows[0])}")

    # -------------------------------------------------------------- expressions

    def sum(self) -> Tree:
        terms = [self.term()]
        while self.next in ("+", "-"):
            terms.append(self.term())
        return terms[0] if len(terms) == 1 else Tree("+", tuple(terms))

    def term(self) -> Tree:
        """Read a product with its sign."""
        signs = 0
        while self.next in ("+", "-"):
            signs += self.take() == "-"
        tree = self.product()
        if signs == 1 and tree.op == "degrees":  # of -3
            return Tree("degrees", (Tree("-", tree.parts),))
        for _ in range(min(signs, 2 + signs % 2)):  # --5 leaves a sign to do
            tree = Tree("-", (tree,))
        return tree

    def product(self) -> Tree:
        tree = self.power()
        while True:
            if self.next in (r"\cdot", r"\times", "*"):
                tree = self.joined(tree, self.take())
            elif self.next in ("/", r"\div"):
                self.take()
                tree = Tree("/", (tree, self.power()))
                if self._starts_factor():  # 1/2x: a half of x, or one by 2x?
                    raise UnreadableError
            elif self._starts_factor():
                tree = self.joined(tree, "")
            else:
                return tree

    def joined(self, tree: Tree, sign: str) -> Tree:
        """Read one more factor; two vectors have a product of their own."""
        if not sign and self.tokens[self.at - 1] == ")" and self.ahead("(", None, ")"):
            raise UnreadableError  # (12)(34) may be a permutation
        factor = self.power()
        if _has_vector(factor) and _has_vector(tree):
            if not sign:
                raise UnreadableError
            return Tree("apply", (tree, factor), sign)
        return _times(tree, factor)

    def _starts_factor(self) -> bool:
        """Whether a factor follows without a sign; a number never does: x2, 6 R 3."""
        token = self.next
        if token == "|":
            return self.bars == 0
        return token in _STARTS

    def power(self) -> Tree:
        tree = self.postfix()
        if self.follows("^"):
            start, exponent = self.at, self.argument()
            if self.next == "(" and tree.op == "letter" and tree.text in self.functions:
                power = "".join(self.tokens[start : self.at]).strip("{}")
                return Tree("apply", self.arguments(), f"{tree.text}^{power}")
            tree = self.postfixed(Tree("^", (tree, exponent)))
        return tree

    def postfix(self) -> Tree:
        return self.postfixed(self.atom())

    def postfixed(self, tree: Tree) -> Tree:
        while self.next in ("!", "°"):
            if self.take() == "°":
                tree = Tree("degrees", (tree,))
                continue
            twice = self.next == "!"  # 5!! is 5·3·1, not (5!)!
            if twice and (self.take() and self.next == "!"):
                raise UnreadableError
            tree = Tree("!!" if twice else "!", (tree,))
        return tree

    def argument(self) -> Tree:
        """Read a braced group, one letter, or a number as people write it: 2^10."""
        if self.next == "{":
            return self.inside("{")
        if self.follows("-"):
            return Tree("-", (self.argument(),))
        if _NUMBER.match(self.next):
            return Tree("number", text=self.take())
        return self.atom()

    def group(self) -> Tree:
        """Read a bracket that holds one sum; [n/2] and {x} may be rounded, or the rest."""
        part = self.bracket()
        whole = part.kind in ("()", "[]", "{}") and len(part.parts) == 1
        tree = part.parts[0].tree if whole else None
        if tree is None:
            raise UnreadableError
        rounded = part.kind != "()" and (tree.op != "+" or has(tree, {"/", "root"}))
        if not rounded or "[u]" not in self.functions:
            return tree
        return Tree("floor", (tree,)) if part.kind == "[]" else Tree("apply", (tree,), "{}")

    def inside(self, opening: str) -> Tree:
        self.take(opening)
        bars, self.bars = self.bars, 0
        tree = self.sum()
        self.bars = bars
        self.take(_GROUPS[opening])
        return tree

    def braces(self) -> Tree:
        """Read braces that are no argument, which are not seen: 2{x+1} shows 2x + 1."""
        start = self.at
        self.take("{")
        tree = self.postfix()
        if self.next == "}":
            self.take()
            return tree
        self.at = start
        tree = self.inside("{")
        alone = start == 0 or self.tokens[start - 1] in _ALONE
        goes_on = self.next in _BINDING or self._starts_factor()
        if self.next in ("^", "!") or (tree.op in ("+", "-") and (goes_on or not alone)):
            raise UnreadableError
        return tree

    def atom(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError
        tree = self.atom_here()
        self.depth -= 1
        return tree

    def atom_here(self) -> Tree:
        token = self.take()
        if _NUMBER.match(token):
            return self.number(token)
        if token == "{" and self.next in _LETTERS and self.ahead(self.next, "}", "_"):  # {g}_k
            letter = self.take()
            self.take("}")
            return self.letter(letter)
        if token in ("(", "[", "{", r"\{"):
            self.at -= 1
            return self.braces() if token == "{" else self.group()
        if token == "|":
            self.bars += 1
            tree = self.sum()
            self.bars -= 1
            self.take("|")
            return Tree("abs", (tree,))
        if token in _LETTERS or token == r"\pi":
            return self.letter(token)
        if token in ACCENTS:
            return self.letter(f"{token}{{{self.raw_group()}}}")
        return self.command(token)

    def number(self, token: str) -> Tree:
        r"""Read 12, 0.1\overline{6}, 0.(36), 2\frac{1}{2} and 2 1/2; 3\frac{4}{2} is unclear."""
        if self.next == "_" or (token == "0" and self.next in _LETTERS):  # in a base; 0xFF
            raise UnreadableError
        if len(max(self.tokens[self.at - 1 : self.at + 7], key=len)) > MAX_DIGITS:
            raise UnreadableError
        if (
            self.next == "."
            and "." not in token
            and self.tokens[self.at + 1 : self.at + 2] != ["."]
        ):
            token += self.take()
        if "." in token and (period := self.period()):
            whole, _, fixed = token.partition(".")
            nines = (10 ** len(period) - 1) * 10 ** len(fixed)
            value = Fraction(int(whole + fixed), 10 ** len(fixed)) + Fraction(int(period), nines)
            tree = quotient(value)
            return tree._replace(text="periodic") if tree.parts else tree
        if token.endswith(".") and self.next != "/":
            raise UnreadableError
        number = Tree("number", text=token.rstrip("."))
        slash = self.ahead(None, "/", None)
        if not token.isdecimal() or not (
            slash or self.ahead(r"\frac", "{", None, "}", "{", None, "}")
        ):
            if _NUMBER.match(self.next):
                raise UnreadableError
            return self.scaled(number)
        end = self.at + (3 if slash else 7)
        top, bottom = (int(each) for each in self.tokens[self.at : end] if each.isdecimal())
        self.at = end
        if not 0 < top < bottom:
            raise UnreadableError
        return quotient(Fraction(int(token) * bottom + top, bottom))._replace(text="mixed")

    def scaled(self, number: Tree) -> Tree:
        r"""Read the scale behind a number: 1.5 million is 1.5\cdot 10^6."""
        if self.next not in SCALES:
            return number
        ten, zeros = (
            Tree("number", text=str(each)) for each in (10, len(str(SCALES[self.take()])) - 1)
        )
        return Tree("*", (number, Tree("^", (ten, zeros))))

    def period(self) -> str:
        """Return the digits that a decimal repeats, if they follow."""
        start = self.at
        group = self.ahead(self.next, "{", None, "}")
        if self.next in (r"\overline", r"\bar", r"\dot") and (group or self.ahead(self.next, None)):
            one = len(self.tokens[self.at + 1 + group]) == 1  # \bar36 marks one, and so does \dot
            self.at += (4 if group else 2) * (one or (group and self.next != r"\dot"))
        elif self.ahead("(", None, ")") and self.tokens[start + 3 : start + 4] in ([], [","]):
            self.at += 3
        return "".join(each for each in self.tokens[start : self.at] if each.isdecimal())

    def letter(self, token: str) -> Tree:
        """Read a letter with its index and primes, a function with its arguments, or dx."""
        index, primes = "", ""
        if token == "d" and self.next in _DIFFERENTIALS:
            return Tree("letter", text=f"d {self.take()}")
        if self.follows("_"):
            index = "_" + self.raw_group()
        while self.next == "'":
            primes += self.take()
        if token in _DERIVED and self.ahead("^", "{", "("):
            self.take()
            primes += _order(self.raw_group())
        name = token + index + primes
        if self.next == "(" and (name in self.functions or primes):
            return Tree("apply", self.arguments(), name)
        constant = name in ("e", "i", r"\pi") and LETTERS_AS.get(name) not in self.functions
        return Tree("constant" if constant else "letter", text=name)

    def arguments(self) -> tuple[Tree, ...]:
        """Read the arguments of a function; what is not an expression counts as written."""
        start, state = self.at, (self.depth, self.bars)
        try:
            self.take("(")
            found = [self.sum()]
            while self.next in (",", "|", ";"):
                found += [Tree("word", text=self.take()), self.sum()]
            self.take(")")
        except UnreadableError:
            self.at = start
            self.depth, self.bars = state
            return (Tree("word", text=self.raw_group("(", ")")),)
        return tuple(found)

    def raw_group(self, opening: str = "{", closing: str = "}") -> str:
        if self.next != opening:
            return self.take()
        start = self.at
        depth = 0
        while True:
            token = self.take()
            depth += (token == opening) - (token == closing)
            if depth == 0:
                return "".join(self.tokens[start + 1 : self.at - 1])

    def command(self, token: str) -> Tree:
        if token == r"\frac":
            return self.fraction()
        if token == r"\binom":
            return Tree("binom", (self.inside("{"), self.inside("{")))
        if token in (r"\lfloor", r"\lceil"):
            self.at -= 1
            return Tree({r"\lfloor": "floor", r"\lceil": "ceil"}[token], (self.inside(token),))
        if token == r"\sqrt":
            degree = self.inside("[") if self.next == "[" else Tree("number", text="2")
            return Tree("root", (self.inside("{"), degree))
        if token == r"\log" and self.follows("_"):
            return Tree("log", (self.argument(), self.function_argument()))
        if token in _ONE_ARGUMENT or token == r"\log":
            return self.function(token)
        if token in APPLIED:
            return Tree("apply", self.arguments() if self.next == "(" else (self.atom(),), token)
        raise UnreadableError

    def fraction(self) -> Tree:
        r"""Read a fraction; \frac{dy}{dx} is one name, not a quotient."""
        start = self.at
        parts = [self.raw_group(), self.raw_group()]
        if re.match(rf"{_D}(?![_'])", parts[0]) and _OVER_D.match(parts[1]):
            if not re.match(r"(?:d|\\partial)(?:\^\w)?[a-zA-Z]", parts[0]):
                raise UnreadableError  # d/dx of what follows
            return Tree("letter", text=r"\frac{{{}}}{{{}}}".format(*parts))
        self.at = start
        return Tree("/", (self.inside("{"), self.inside("{")))

    def function(self, name: str) -> Tree:
        r"""\sin x, \sin^2 x, \sin^{-1} x."""
        exponent = None
        if self.follows("^"):
            exponent = self.argument()
        tree = Tree(name, (self.function_argument(),))
        if name == r"\log":  # of an unknown base: a constant times ln
            tree = Tree("*", (Tree("letter", text=name), Tree(r"\ln", tree.parts)))
        if exponent is None:
            return tree
        if exponent == Tree("-", (Tree("number", text="1"),)):
            if name not in _INVERSE:
                raise UnreadableError
            return Tree(_INVERSE[name], tree.parts)
        return Tree("^", (tree, exponent))

    def function_argument(self) -> Tree:
        r"""Read a bracket, or the product up to the next function: \sin 2x\cos x is two factors."""
        if self.next == "{":
            tree = self.inside("{")
            if self.next == "^" and tree.parts:  # \sin{2x}^2 shows sin 2x²
                raise UnreadableError
            if self.next == "^":
                self.take()
                tree = Tree("^", (tree, self.argument()))
            return self.postfixed(tree)  # \sin{30}^\circ
        if self.next == "(":
            tree = self.group()
            if self.next == "°":  # of the argument, or of the value?
                raise UnreadableError
            return tree
        tree = self.power()
        while self._starts_factor() and self.next not in _ONE_ARGUMENT | {"(", r"\log"}:
            tree = _times(tree, self.power())
        if tree.op == "number" and self.next == "(":  # \sin 2(x+1)
            raise UnreadableError
        return tree


def _times(product: Tree, factor: Tree) -> Tree:
    """Add one more factor; a product of a thousand letters does not become a deep tree."""
    factors = product.parts if product.op == "*" else (product,)
    return Tree("*", (*factors, factor))


def _product(factor: Tree, entry: Tree) -> Tree:
    """Return an entry of a matrix times a factor; a half of 3 is 3/2."""
    is_part = factor.op == "/" and factor.parts[0].text == "1"
    return Tree("/", (entry, factor.parts[1])) if is_part else _times(factor, entry)
