r"""Is an answer the gold? What can be decided without algebra; a function is asked for the rest.

Every answer is compared item by item, in brackets of the same kind: an interval is not a set, a
pair is not a list. The gold has a kind, and an answer of another kind is wrong: sets of reals,
marks (bases, primes, minutes, times of day, ratios, dates, permutations), numbers, words,
statements of algebra. What has no certain reading is text: it equals only the same text.
docs/rewards.md has the rules.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import NamedTuple

from setrl_grader.asked import NOTHING_SAID, Said
from setrl_grader.budget import spend
from setrl_grader.findings import Finding, every, matching
from setrl_grader.forms import is_undone
from setrl_grader.grammar import CHAINING, ORDERS, parse, parse_with, readings
from setrl_grader.marks import (
    MARKS,
    are_codes,
    are_words,
    choice_of,
    compare_marked,
    is_option,
    is_symbol,
    is_value,
    is_words,
    same_words,
)
from setrl_grader.names import are_points, is_letter, is_name, is_named, value_of
from setrl_grader.normal_form import same_text, spaceless
from setrl_grader.numbers import equal_numbers, read_number
from setrl_grader.reals import compare_reals
from setrl_grader.tokens import GREEK
from setrl_grader.trees import Part
from setrl_grader.units import one_name, split_currency, split_money, split_unit

Algebra = Callable[[Part, Part], Finding]

MAX_ITEMS = 64
MAX_DEPTH = 4
STEPS_OF_PAIR = 100

_FUNCTION = re.compile(r"(\\?[a-zA-Z]+'*)\([a-z](?:,[a-z])*\)\Z")
_LABEL = re.compile(r"(?:[A-Z]|[IVX]+|[ivx]+)\Z")
_COUNTER = re.compile(
    r"(?:\s*[,;(]\s*(?:(?:where|for|with)\s+)?|\s+(?:where|for|with)\s+)"
    r"(?:(?:(?:an|any|all|every)\s+)?integers?\s+(?=([a-zA-Z])\)?\Z)"
    r"|(?=([a-zA-Z])\s*(?:\\in\s*(?:\\mathb[bf]\{Z\}|Z)|(?:is\s+)?(?:(?:an|any)\s+)?integer)\)?\Z))"
)
_COUNTERS = frozenset("klmnt")  # that a gold has for a whole number
_NO_LETTERS = re.compile(r"\\[a-zA-Z]+|\b(?:and|or)\b")
_UNEVALUATED = re.compile(r"\\(?:i{1,3}nt|oint|sum|prod|lim|[lcd]?dots)(?![a-zA-Z])|\.\.\.")
_SETS_LEFT = re.compile(r"[])]\s*\\(?:cap|setminus)\s*[(\[]")
_LETTERS = re.compile(r"\([a-zA-Z](?:\s*,\s*[a-zA-Z])+\)")  # (x, y) before a pair
_NO_BRACKETS = {"expression", "text", "relation", "union", "ratio", "percent", "builder"}
_ONE_LETTER_UNIT = re.compile(r"\d\s+([a-zA-Z])\Z")  # 5 m, which may be a product
_OF_LETTERS = ("number", "expression", "equation")  # types in which letters are no words
_FOREIGN = re.compile(r"[^\x00-\x7f°]|%.")  # Cyrillic letters, a percent sign within


def compare(
    gold: str,
    answer: str,
    *,
    relative_tolerance: float,
    units: bool = False,
    unevaluated: bool = False,
    reading: frozenset[str] | None = None,
    kind: str = "",
    about: Said = NOTHING_SAID,
    algebra: Algebra,
) -> Finding:
    r"""Return whether two normal forms are the same answer, and what decided it.

    Args:
        gold: Normal form of the correct answer.
        answer: Normal form of the given answer.
        relative_tolerance: For decimals, see `numbers.equal_numbers`.
        units: Whether a unit may be missing on one side; two different units still differ.
        unevaluated: Whether an operation may be left to do.
        reading: What has two readings, see `grammar.readings`; None for the first.
        kind: The type that the gold declares.
        about: What the problem says.
        algebra: Compares two single items that are not both numbers or words.

    >>> for answer in (r"\{1,2\}", "(1.0,2)"):
    ...     found = compare("(1,2)", answer, relative_tolerance=1e-6, algebra=None)
    ...     print(found.equal, found.rule)
    False brackets
    True entries
    """
    answer = _with_counter_of(gold, answer, about)
    reading = readings(gold, answer, kind)[0] if reading is None else reading
    one = _Comparison(reading, kind, about, relative_tolerance, units, unevaluated, algebra)
    return one.answers(one.part(gold), one.part(answer), MAX_DEPTH)


def refusal(gold: str, answer: str) -> str | None:
    r"""Why an answer is refused regardless of its value: "chain", "unevaluated", or None.

    An answer may do what the gold itself does: if the gold is a sum, the answer may be a sum.

    >>> refusal("2", "1+1=2"), refusal("9", r"\int_0^3 x^2 dx"), refusal("5", "2+3")
    ('chain', 'unevaluated', None)
    """
    if same_text(gold, answer):
        return None
    if _UNEVALUATED.search(answer) and not _UNEVALUATED.search(gold):
        return "unevaluated"
    if _SETS_LEFT.search(answer.rpartition("=")[2]) and not _SETS_LEFT.search(gold):
        return "unevaluated"
    ours, theirs = parse(gold), parse(answer, gold)
    is_number = read_number(value_of(ours).text) is not None
    both_equations = not is_number and [_equations(each) for each in (ours, theirs)] == [1, 1]
    if _chained(theirs) and not (_chained(ours) or both_equations):
        return "chain"
    return None


def _equations(part: Part) -> int:
    """Return how many equals signs an item has."""
    return part.marks.split().count("=") if part.kind == "relation" else 0


def _chained(part: Part) -> bool:
    r"""Whether an item states more than one thing: a = b = c, or 1 + 1 = 2, or √2 ≈ 1.4."""
    items = _shape(part).items
    if part not in items:
        return any(map(_chained, items))
    most = 1 if is_named(part) or are_points(part) else 0
    chains = not CHAINING.isdisjoint(part.marks.split())
    return part.kind == "relation" and (chains or _equations(part) > most)


_SETS = {
    parse(r"\mathbb{R}"): r"(?:the set of )?all real(?:s| numbers)|(?:all )?real numbers",
    parse(r"\emptyset"): r"(?:(?:there (?:is|are) )?no (?:real )?solutions?|(?:the )?empty set)",
}


def _joined(gold: Part, answer: Part) -> Part:
    r"""Return intervals with a comma or "and" between them as their union, if the gold is one."""
    intervals = all(each.kind in ("()", "(]", "[)", "[]") for each in answer.parts)
    if gold.kind != "union" or answer.kind != "list" or not intervals:
        return answer
    return parse(r"\cup".join(each.text for each in answer.parts))


def _only_pair(part: Part) -> Part:
    """Return the only member of a set, if it is a pair: where points are asked for."""
    only = part.kind == "{}" and len(part.parts) == 1 and part.parts[0].kind == "()"
    return part.parts[0] if only else part


def _said_set(part: Part) -> Part:
    """Return the set that words say, or the statement itself."""
    found = (each for each, said in _SETS.items() if re.fullmatch(said, part.text, re.IGNORECASE))
    return next(found, part) if part.kind == "text" else part


_IN_ANY_ORDER = frozenset([r"\cup", r"\cap"])


_LETTERS_OF_NAMES = [*string.ascii_letters, *(rf"\{name}" for name in GREEK)]
_ALPHABET = {letter: place for place, letter in enumerate(_LETTERS_OF_NAMES)}


class _Shape(NamedTuple):
    r"""An answer split at its outermost level.

    Attributes:
        brackets: "()", "[)", …, as in the answer; "{}" for a set; "2×3" for a matrix of two rows
            and three columns; "\cup" or "\cap" for sets with this sign between them; "" for a list.
        items: The parts between the commas; one item without brackets is the answer itself.
        names: What is named before: "x" of x ∈ (1, 2), "(x,y)" of (x, y) = (1, 2).
        separators: What is between the items: ",", "and", "or".
    """

    brackets: str
    items: tuple[Part, ...]
    names: str = ""
    separators: frozenset[str] = frozenset()

    @property
    def ordered(self) -> bool:
        """Whether the order of the items counts, as in pairs, intervals and matrices."""
        return self.brackets not in {"", "{}"} | _IN_ANY_ORDER


def _shape(part: Part) -> _Shape:
    """Return a list, what brackets hold, or a single item; x ∈ (1, 2) is (1, 2) with a name."""
    marks = frozenset(part.marks.split())
    if part.kind == "builder" and part.marks in part.parts[0].text:  # {x | x > 1}
        return _shape(part.parts[0])
    if part.kind == "relation" and len(part.parts) == 2:
        name, value = part.parts
        shape = _shape(value)
        whole = len(shape.items) > 1 and shape.brackets
        element = marks == {r"\in"} and value.tree is None and is_letter(name.text)
        if element or (
            marks == {"="} and whole and (is_name(name) or _LETTERS.fullmatch(name.text))
        ):
            return shape._replace(names=spaceless(name.text))
    if part.kind == "matrix":
        return _Shape(part.marks, part.parts)
    if part.kind == "union" and marks < _IN_ANY_ORDER:
        return _Shape(min(marks), part.parts)
    if part.kind in _NO_BRACKETS:
        return _Shape("", (part,))
    bare = part.kind == "list" or (part.kind in ("()", "{}") and len(part.parts) == 1)
    return _Shape("" if bare else part.kind, part.parts, separators=marks)


_ROWS = ("()", "⟨⟩")


def _are_vectors(gold: _Shape, answer: _Shape, points: bool) -> bool:
    """Whether both are one vector in other brackets: (1,2), ⟨1,2⟩ or a column; no interval."""
    sides = gold.brackets, answer.brackets
    vectors = all(each in _ROWS or re.fullmatch(r"\d+×1", each) for each in sides)
    interval = "()" in sides and len(gold.items) == 2 and not points
    return vectors and not interval and any(each in _ROWS for each in sides)


class _Comparison:
    def __init__(
        self,
        reading: frozenset[str],
        kind: str,
        about: Said,
        tolerance: float,
        units: bool,
        unevaluated: bool,
        algebra: Algebra,
    ):
        self.reading, self.kind, self.about = reading, kind, about
        self.relative_tolerance = tolerance
        self.units, self.unevaluated = units, unevaluated
        self.algebra = algebra

    def part(self, text: str) -> Part:
        """Read a part of a side; the names have the meaning that they have in all of both."""
        return parse_with(text, self.reading)

    def answers(self, gold: Part, answer: Part, depth: int) -> Finding:
        spend(STEPS_OF_PAIR + len(gold.text) + len(answer.text))
        if same_text(gold.text, answer.text):
            return Finding(True, "same text", gold.text, answer.text)
        if self.kind == "text":
            same = same_words(gold.text, answer.text)
            return Finding(same, "words", gold.text, answer.text)
        one, other = choice_of(gold.text), choice_of(answer.text)
        if one and other:
            return self._choices(gold, answer, one, other, depth)
        gold = self.part(one[1]) if one and one[1] else gold
        apart = one or not re.match(r"\([A-J]\)\S", answer.text)  # (C)e^x is a product
        answer = self.part(other[1]) if other and other[1] and apart else answer
        gold, answer = _said_set(gold), _said_set(answer)
        if self.about.orders:
            answer = _joined(gold, answer)
        if self.about.points:
            gold, answer = _only_pair(gold), _only_pair(answer)
        reals = None
        if self._is_point(gold):
            if answer.kind == "relation" and r"\in" in answer.marks:
                return Finding(False, "brackets", gold.text, answer.text)
        elif not (self.about.complex and "|" in gold.text + answer.text):
            reals = compare_reals(gold, answer, lambda one, other: self.algebra(one, other).equal)
        if reals and reals.same and reals.has_other_ends and not self.unevaluated:
            return Finding(False, "unevaluated", gold.text, answer.text)
        if reals:
            return self._done(Finding(reals.same, "reals", gold.text, answer.text), gold, answer)
        return self._shapes(gold, answer, depth)

    def _is_point(self, gold: Part) -> bool:
        """Whether (1, 2) is a point, by its type or its problem, which asks for no interval."""
        return self.kind == "tuple" or (
            self.kind != "interval" and self.about.points and gold.kind == "()"
        )

    def _choices(
        self, gold: Part, answer: Part, ours: tuple[str, str], theirs: tuple[str, str], depth: int
    ) -> Finding:
        """Compare two choices: the letters must be the same, and so the texts behind them."""
        if ours[0] != theirs[0] or depth == 0:
            return Finding(False, "choice", ours[0], theirs[0])
        if ours[1] and theirs[1]:
            behind = self.answers(self.part(ours[1]), self.part(theirs[1]), depth - 1)
            return every("choice", gold.text, answer.text, [behind])
        doubt = not (is_value(theirs[1]) if theirs[1] else is_option(ours[1]))
        rule = "choice in doubt" if doubt else "choice"
        return Finding(not doubt, rule, gold.text, answer.text)

    def _shapes(self, gold_part: Part, answer_part: Part, depth: int) -> Finding:
        gold, answer = gold_part.text, answer_part.text
        cycles = [MARKS["a permutation"].read(spaceless(one)) for one in (gold, answer)]
        if None not in cycles:  # their brackets are part of the mark
            return Finding(cycles[0] == cycles[1], "mark", gold, answer)
        point = self._is_point(gold_part)
        ours, theirs = self._alike(_shape(gold_part), _shape(answer_part), point)
        nested = depth < MAX_DEPTH or r"\emptyset" in gold + answer
        if nested and gold.startswith("\\{") != answer.startswith("\\{"):
            return Finding(False, "brackets", gold, answer)  # a set is not its only member
        if unlike := _unlike(ours, theirs, self.about):
            return Finding(False, unlike, gold, answer)
        sizes = len(ours.items), len(theirs.items)
        if sizes == (1, 1) and not (ours.brackets or theirs.brackets):
            return self.items(ours.items[0], theirs.items[0])
        if self.about.orders and _are_vectors(ours, theirs, self.about.points):
            theirs = theirs._replace(brackets=ours.brackets)
        if (ours.brackets or "{}") != (theirs.brackets or "{}"):
            return Finding(False, "brackets", gold, answer)
        if sizes[0] != sizes[1]:
            return Finding(False, "how many", gold, answer, detail=tuple(map(str, sizes)))
        if max(sizes) > MAX_ITEMS or depth == 0:
            return Finding(False, "too large", gold, answer)
        dots = any(r"\ldots" in each.text for each in ours.items + theirs.items)
        if dots or self._is_ordered(ours):
            pairs = zip(ours.items, theirs.items, strict=True)
            parts = (self.answers(*pair, depth - 1) for pair in pairs)
            return every("entries", gold, answer, parts)
        rows = [[self.answers(g, a, depth - 1) for a in theirs.items] for g in ours.items]
        return matching(gold, answer, rows)

    def _is_ordered(self, gold: _Shape) -> bool:
        """Whether order counts, also in a list of what the problem asks for: "find b and c"."""
        names, values = self.about.asked, len(gold.items)
        if gold.brackets or not self.about.orders:
            return gold.ordered
        bare = not any(each.kind in ("()", "relation") for each in gold.items)
        asked = values > 1 and len(names) == values == len({*names}) and bare
        return self.about.in_order or asked or self._has_extremes(gold.items)

    def _has_extremes(self, gold: tuple[Part, ...]) -> bool:
        """Whether a gold is the smallest and the largest, in the order in which they are asked."""
        found = [read_number(each.text) for each in gold]
        rises = len(found) == 2 and found[0] and found[1] and found[0].value < found[1].value
        return self.about.rises is not None and rises is self.about.rises

    def items(self, gold: Part, answer: Part) -> Finding:
        """Compare two items: without their names, units and currencies, then by their kind."""
        one, other, differ = _without_names(gold, answer, self.kind == "equation")
        if differ:
            return _of_other_names(gold, answer)
        bare = _without_unit(one.text, other.text, self.units, self.about)
        if bare != (one.text, other.text):
            one, other = self.part(bare[0]), self.part(bare[1])
        keys = spaceless(one.text), spaceless(other.text)
        if same_text(one.text, other.text):
            found = Finding(True, "same text", one.text, other.text)
        elif {key[-1:] for key in keys} == {"%", "°"} or any("%%" in key for key in keys):
            found = Finding(False, "unit", one.text, other.text)
        else:
            found = self._amounts(one, other, keys)
            if found.equal is False and found.rule in ("expression", "unread"):
                found = _of_units(found, gold.text, answer.text)
        if (one.text, other.text) == (gold.text, answer.text):
            return found
        return Finding(found.equal, "without name or unit", gold.text, answer.text, (found,))

    def _amounts(self, gold: Part, answer: Part, keys: tuple[str, str]) -> Finding:
        """Compare two amounts, one of which may lack its currency, or what has none."""
        if not any(split_currency(key)[1] for key in keys):
            return self._done(self._kinds(gold, answer, keys), gold, answer)
        bare = [split_money(key) for key in keys]
        signs = {one_name(sign) for _, sign in bare if sign}
        other_unit = any(amount[-1:] in "%°" or split_unit(amount)[1] for amount, _ in bare)
        if len(signs) > 1 or other_unit:
            return Finding(False, "unit", gold.text, answer.text)
        found = self.items(*(self.part(amount) for amount, _ in bare))
        return every("without name or unit", gold.text, answer.text, [found])

    def _done(self, found: Finding, gold: Part, answer: Part) -> Finding:
        """Return what was found; different if the answer leaves an operation to do."""
        if not found.equal or self.unevaluated or not is_undone(gold, answer, self.about.interval):
            return found
        return Finding(False, "unevaluated", gold.text, answer.text)

    def _kinds(self, gold_part: Part, answer_part: Part, keys: tuple[str, str]) -> Finding:
        gold, answer = gold_part.text, answer_part.text
        marked = compare_marked(
            gold_part, answer_part, lambda one, other: self.items(one, other).equal
        )
        if marked is not NotImplemented:
            ratio = "ratio" in (gold_part.kind, answer_part.kind)
            marked = marked and not (ratio and self.about.orders and not self.about.ratio)
            return Finding(marked, "mark", gold, answer)
        if are_codes(*keys):
            return Finding(False, "mark", gold, answer)
        numbers = read_number(gold), read_number(answer)
        if numbers[0] and numbers[1]:
            same = equal_numbers(numbers[0], numbers[1], self.relative_tolerance)
            return Finding(same, "number", gold, answer)
        if (found := self._words(gold_part, answer_part)) is not None:
            return found
        if unread := next((text for text in (gold, answer) if _FOREIGN.search(text)), None):
            return Finding(False, "unread", gold, answer, detail=(unread,))
        return self.algebra(gold_part, answer_part)

    def _words(self, gold: Part, answer: Part) -> Finding | None:
        """Compare what may be words; letters that may be a product must be equal as both."""
        words = are_words(gold.text, answer.text)
        if self.kind in _OF_LETTERS or not (words or is_symbol(spaceless(gold.text))):
            return None
        same = words and same_words(gold.text, answer.text)
        if not same and gold.tree and answer.tree and self.algebra(gold, answer).equal:
            ways = f"{gold.text} as a word or as a product"
            return Finding(False, "two readings", gold.text, answer.text, detail=(ways,))
        return Finding(same, "words" if words else "symbol", gold.text, answer.text)

    def _alike(self, gold: _Shape, answer: _Shape, is_point: bool) -> tuple[_Shape, _Shape]:
        """Return both as tuples, if the gold may be one and one side is a named tuple."""
        if self.kind in ("set", "interval"):
            return gold, answer
        if self.kind == "tuple":
            gold, answer = (
                each if each.brackets or len(each.items) < 2 else each._replace(brackets="()")
                for each in (gold, answer)
            )
        return _alike(gold, answer, self.about, is_point)


def _of_other_names(gold: Part, answer: Part) -> Finding:
    """Return that two items name different things; AB = CD may be a statement, or name CD."""
    for one, other in ((gold, answer), (answer, gold)):
        sides = [spaceless(each.text) for each in one.parts] if are_points(one) else []
        if spaceless(other.text) in sides:
            ways = f"{one.text} as a statement or as a value with its name"
            return Finding(False, "two readings", gold.text, answer.text, detail=(ways,))
    return Finding(False, "names", gold.text, answer.text)


def _without_names(gold: Part, answer: Part, equation: bool) -> tuple[Part, Part, bool]:
    """Return both without the names before them, where one has none or both have the same.

    Two different names are two different statements, x = 5 and y = 5; x = 3y + 2 does not solve
    for y as y = (x - 2)/3 does. A line may be 2x - y = 1 for y = 2x - 1, but a function f(x) stands
    alone on a side.
    """
    counts = _equations(gold), _equations(answer)
    named = is_named(gold), is_named(answer)
    if max(counts) > 1:
        return gold, answer, False
    if all(named):
        names = [spaceless(each.parts[0].text) for each in (gold, answer)]
        if names[0] == names[1]:
            return value_of(gold), value_of(answer), False
        turned = spaceless(answer.parts[1].text) == names[0]
        return gold, answer, not (turned or _same_function(*names))
    if any(named) and min(counts) == 0 and not equation:
        return value_of(gold), value_of(answer), False
    alone = named[0] and "(" in gold.parts[0].text
    return gold, answer, counts[0] != counts[1] or alone


def _same_function(gold: str, answer: str) -> bool:
    """Whether both sides name one function of letters, f(x) and f(z)."""
    found = [_FUNCTION.match(name) for name in (gold, answer)]
    return bool(found[0] and found[1] and found[0][1] == found[1][1])


def _alike(gold: _Shape, answer: _Shape, about: Said, is_point: bool) -> tuple[_Shape, _Shape]:
    """Return both as tuples where one is a named tuple: x = 1, y = 2 is (x, y) = (1, 2).

    Roots x_1 and x_2 are one only of a point, and no ends of the interval (1, 2).
    """
    gold, answer = (_with_name_for_all(shape) for shape in (gold, answer))
    named = _named_tuple(gold, about.orders), _named_tuple(answer, about.orders)
    if named[0] and named[1] and "()" in (gold.brackets, answer.brackets):
        return named[0], named[1]
    if (named[0] is None) == (named[1] is None):
        return gold, answer
    if named[1] and _is_turned(named[1], about):
        return gold, named[1]
    found, other = (named[0], answer) if named[0] else (named[1], gold)
    assert found is not None
    letters = {name.partition("_")[0] for name in _names_in(found)}
    known = {*_names_in(found)} <= {*about.first} if not gold.brackets else False
    known = known or is_point or not about.orders or (*_names_in(found),) in about.orders
    if named[1] and not (known and (len(letters) > 1 or (gold.brackets and is_point))):
        return gold, answer
    in_set = other.brackets and len(letters) > 1 and not any(map(is_named, other.items))
    bare = len(other.items) > 1 and not (other.brackets or any(map(is_named, other.items)))
    if not (bare or in_set or other.brackets == "()"):  # in a set nothing says which value is x
        return gold, answer
    as_tuple = other._replace(brackets="()") if bare else other
    return (found, as_tuple) if named[0] else (as_tuple, found)


def _with_name_for_all(shape: _Shape) -> _Shape:
    """Return x = 1, 2 as x = 1, x = 2: otherwise, 2 would be the value of any name."""
    first, *others = shape.items
    bare = others and not any(each.kind == "relation" for each in others)
    if shape.brackets or not bare or not is_named(first):
        return shape
    name = first.parts[0]
    items = [Part("relation", f"{name.text}={item.text}", (name, item), "=") for item in others]
    return shape._replace(items=(first, *items))


def _named_tuple(shape: _Shape, orders: tuple[tuple[str, ...], ...]) -> _Shape | None:
    """Return (x, y) = (1, 2), also if it is written x = 1, y = 2 or (x = 1, y = 2), or None.

    A problem that has these names in a tuple gives their order.
    """
    names, values = list[str](), shape.items
    if shape.brackets == "()" and shape.names.startswith("("):
        names = _names_in(shape)
    elif shape.brackets not in ("", "()") or shape.items[0].kind != "relation":
        return None
    else:
        names, values = _names_of(shape), tuple(map(value_of, shape.items))
        different = len(names) > 1 and len(names) == len(set(names))
        whole = len(names) == len(shape.items) and "or" not in shape.separators
        if not (different and whole):
            return None
    alphabet = tuple(sorted(names)) if orders and {*names} <= {*"xyz"} else None
    given = next((each for each in orders if {*each} == {*names}), alphabet)
    if given and len(given) == len(names) == len(values):
        names, values = [*given], tuple(values[names.index(each)] for each in given)
    return _Shape("()", values, f"({','.join(names)})")


def _is_turned(shape: _Shape, about: Said) -> bool:
    """Whether names are in no order that is known: the problem's, or the alphabet's.

    Without a problem only neighbours of the alphabet have one: y = 2, x = 3.
    """
    names = _names_in(shape)
    bases = [_ALPHABET.get(each.partition("_")[0], -1) for each in names]
    ranks = [*zip(bases, names, strict=True)]
    if tuple(names) in about.orders or ranks == sorted(ranks):
        return False
    if about.orders and not {*names} <= {*"xyz"}:
        places = [about.first.index(each) for each in names if each in about.first]
        return len(places) < len(names) or places != sorted(places)
    return bool(about.orders) or max(bases) - min(bases) == len({*bases}) - 1


def _names_in(shape: _Shape) -> list[str]:
    return spaceless(shape.names).strip("()").split(",")


def _names_of(shape: _Shape) -> list[str]:
    return [spaceless(item.parts[0].text) for item in shape.items if is_named(item)]


def _with_counter_of(gold: str, answer: str, about: Said) -> str:
    """Return the answer with the gold's name of a whole number: kπ, k ∈ ℤ is nπ, n ∈ ℤ.

    The answer must say that it is whole, and so must the gold, unless its letter is no letter of
    the problem. It has one name in all of an answer: (kπ, k) is not (nπ, k).
    """
    ours, theirs = _COUNTER.search(gold), _COUNTER.search(answer)
    if not theirs or not (ours or about.orders):
        return answer
    old, family = theirs[1] or theirs[2], answer[: theirs.start()]
    families = gold[: ours.start()] if ours else gold, family
    letters = [re.findall("[a-zA-Z]", _NO_LETTERS.sub(" ", text)) for text in families]
    free = {*letters[0]} & _COUNTERS - {*about.first}
    new = (ours[1] or ours[2]) if ours else min(free, default="") if len(free) == 1 else ""
    if new not in letters[0] or old not in letters[1] or (new != old and new in letters[1]):
        return answer
    renamed = re.sub(
        rf"{_NO_LETTERS.pattern}|{old}", lambda m: new if m[0] == old else m[0], family
    )
    return renamed + gold[len(families[0]) :]


def _unlike(gold: _Shape, answer: _Shape, about: Said) -> str | None:
    """Return the rule if names or joints differ: (x, y) or (y, x); and or or between words."""
    others = gold.names and answer.names and spaceless(gold.names) != spaceless(answer.names)
    in_doubt = not gold.names and "," in answer.names and _is_turned(answer, about)
    if others or in_doubt:
        return "names"
    joints = [shape.separators & {"and", "or"} for shape in (gold, answer)]
    if ("or" in joints[0]) == ("or" in joints[1]):
        return None
    words = any(is_words(item.text) or _LABEL.match(item.text) for item in gold.items)
    pair = any(len(set(_names_of(shape))) > 1 for shape in (gold, answer))  # no x = 2 or y = 3
    both = {*joints} == {frozenset({"and"}), frozenset({"or"})}
    return "joints" if words or pair or (both and any(map(_is_inequality, gold.items))) else None


def _is_inequality(part: Part) -> bool:
    return part.kind == "relation" and not ORDERS.isdisjoint(part.marks.split())


def _of_units(found: Finding, gold: str, answer: str) -> Finding:
    """Return what was found, but named as another unit if both have one: 5 m and 500 cm."""
    known = [one_name(split_unit(text)[1]) for text in (gold, answer)]
    alone = [_ONE_LETTER_UNIT.search(text) for text in (gold, answer)]
    units = [unit or (letter and letter[1]) for unit, letter in zip(known, alone, strict=True)]
    if not any(known) or not all(units) or units[0] == units[1]:
        return found
    return Finding(False, "unit", found.gold, found.answer)


def _with_letter(text: str, unit: str, letters: tuple[str, ...]) -> tuple[str, str]:
    """Split off the one letter that the other side's unit has: m, where that says meters."""
    letter = one_name(unit)
    if (
        len(letter) > 1
        or letter in letters
        or not re.search(rf"[\d}})]\s*{re.escape(letter)}\Z", text)
    ):
        return text, ""
    return text[: -len(letter)].rstrip(), letter


def _without_unit(gold: str, answer: str, lone: bool, about: Said) -> tuple[str, str]:
    """Return both without the unit that both have, or one of them if a unit may be lone.

    What is a letter in the problem is no unit: 3g is not 3 grams there. A unit in which the problem
    asks for the answer may be lone: "how many hours".
    """
    (bare_gold, gold_unit), (bare_answer, answer_unit) = (
        (amount, sign) if sign else split_unit(text)
        for text in (gold, answer)
        for amount, sign in [split_currency(text)]
    )
    if not gold_unit and answer_unit:
        bare_gold, gold_unit = _with_letter(gold, answer_unit, about.first)
    elif not answer_unit and gold_unit:
        bare_answer, answer_unit = _with_letter(answer, gold_unit, about.first)
    both, one = gold_unit and answer_unit, gold_unit or answer_unit
    differ = both and one_name(gold_unit) != one_name(answer_unit)
    marked = one and (gold + answer).rstrip().endswith(("%", "°"))
    kept = differ or marked or not (lone or both or one_name(one) in about.units)
    return (gold, answer) if kept else (bare_gold, bare_answer)
