r"""Is an answer the gold? What can be decided without algebra; a function is asked for the rest.

Every answer is compared item by item, in brackets of the same kind: an interval is no set, a pair
no list. Numbers are compared as rationals, words as words, marks exactly (bases, primes, minutes,
times of day, ratios); the rest is left to `algebra`. docs/rewards.md has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from setrl.rewards.marks import compare_marked
from setrl.rewards.normal_form import spaceless, split_unit
from setrl.rewards.numbers import Number, equal_numbers, read_number
from setrl.rewards.shapes import Shape, is_chain, is_name, read_shape, sides, unnamed

Verdict = bool | None  # None: only algebra can decide
Algebra = Callable[[str, str], Verdict]

MAX_ITEMS = 64
MAX_DEPTH = 4

_WORDS = re.compile(r"[A-Za-z][A-Za-z' -]*\Z")
_SHORT_WORDS = {"yes", "no", "true", "false", "none", "odd", "even"}
_CHOICE = re.compile(r"\(?([A-J])(?:\)|\Z)\s*(.*)\Z", re.DOTALL)
_UNEVALUATED = re.compile(r"\\(?:i{1,3}nt|oint|sum|prod|lim|[lcd]?dots)(?![a-zA-Z])|\.\.\.")
_INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|ne|lt|gt)(?![a-zA-Z])")
_NUMERAL = r"(?:\d+(?:\.\d*)?|\.\d+|\\frac\{\d+\}\{\d+\})"
_OPERATOR = r"(?:[-+*/]|\\times|\\cdot|\\div)"
_ARITHMETIC = re.compile(rf"[(]*-?{_NUMERAL}(?:[)]*{_OPERATOR}[(]*-?{_NUMERAL})+[)]*\Z")


def no_algebra(_gold: str, _answer: str) -> Verdict:
    """Decides nothing: for comparisons without algebra."""
    return None


def compare(
    gold: str,
    answer: str,
    *,
    relative_tolerance: float,
    units: bool = False,
    algebra: Algebra = no_algebra,
) -> Verdict:
    r"""Whether two normal forms are the same answer; None if `algebra` could not decide.

    Args:
        gold: Normal form of the correct answer.
        answer: Normal form of the given answer.
        relative_tolerance: For decimals, see `numbers.equal_numbers`.
        units: Whether a unit may be missing on one side; two different units still differ.
        algebra: Compares two single items that are not both numbers or words.

    >>> compare("(1,2)", r"\{1,2\}", relative_tolerance=1e-6)
    False
    >>> compare(r"0.5,3", r"3,\frac{1}{2}", relative_tolerance=1e-6)
    True
    """
    return _Comparison(relative_tolerance, units, algebra).answers(gold, answer, MAX_DEPTH)


def refusal(gold: str, answer: str) -> str | None:
    r"""Why an answer is refused regardless of its value: "chain", "unevaluated", or None.

    An answer may do what the gold itself does: if the gold is a sum, the answer may be a sum.

    >>> refusal("2", "1+1=2"), refusal("9", r"\int_0^3 x^2 dx"), refusal("5", "2+3")
    ('chain', 'unevaluated', 'unevaluated')
    """
    if spaceless(gold) == spaceless(answer):
        return None
    if _UNEVALUATED.search(answer) and not _UNEVALUATED.search(gold):
        return "unevaluated"
    if _chained(answer) and not _chained(gold):
        return "chain"
    if number_of(gold) and not number_of(answer) and _ARITHMETIC.match(spaceless(answer)):
        return "unevaluated"
    return None


@lru_cache(maxsize=4096)
def number_of(text: str) -> Number | None:
    """The number that a normal form is, without a name before it: x = 5 is 5."""
    return read_number(spaceless(unnamed(text)))


def is_words(text: str) -> bool:
    """Whether an answer is words, which are compared letter by letter, not a product of variables.

    >>> is_words("Tuesday"), is_words("No"), is_words("xy"), is_words("10 cm")
    (True, True, False, False)
    """
    if not _WORDS.match(text):
        return False
    return len(spaceless(text)) >= 4 or text.lower() in _SHORT_WORDS


def is_plain(text: str) -> bool:
    """Whether all items of an answer are numbers, words, or letters of a choice: no algebra."""
    items = read_shape(text).items
    return all(number_of(item) or is_words(item) or choice_of(item) for item in items)


def choice_of(text: str) -> tuple[str, str] | None:
    """The letter of a multiple choice and the text behind it: "(D) x = 0" → ("D", "x = 0")."""
    found = _CHOICE.match(text)
    if not found or (found[2] and not text.startswith("(")):
        return None
    return found[1], found[2]


def _chained(text: str) -> bool:
    return any(is_chain(item) for item in read_shape(text).items)


class _Comparison:
    def __init__(self, relative_tolerance: float, units: bool, algebra: Algebra):
        self.relative_tolerance = relative_tolerance
        self.units = units
        self.algebra = algebra

    def answers(self, gold: str, answer: str, depth: int) -> Verdict:
        if spaceless(gold) == spaceless(answer):
            return True
        choices = choice_of(gold), choice_of(answer)
        if choices[0] and choices[1]:
            return choices[0][0] == choices[1][0]
        gold, answer = (
            text[1] if text and text[1] else whole
            for text, whole in zip(choices, (gold, answer), strict=True)
        )
        gold_shape, answer_shape = read_shape(gold), read_shape(answer)
        sizes = len(gold_shape.items), len(answer_shape.items)
        if sizes == (1, 1) and not (gold_shape.brackets or answer_shape.brackets):
            return self.items(gold_shape.items[0], answer_shape.items[0])
        if _is_condition(gold_shape) != _is_condition(answer_shape):
            return self.algebra(_condition(gold_shape, gold), _condition(answer_shape, answer))
        if _kind(gold_shape.brackets) != _kind(answer_shape.brackets) or sizes[0] != sizes[1]:
            return False
        if max(sizes) > MAX_ITEMS or depth == 0:
            return False
        if gold_shape.ordered or _values_without_names(gold_shape, answer_shape):
            pairs = zip(gold_shape.items, answer_shape.items, strict=True)
            return every([self.answers(*pair, depth - 1) for pair in pairs])
        return _matching(
            [[self.answers(g, a, depth - 1) for a in answer_shape.items] for g in gold_shape.items]
        )

    def items(self, gold: str, answer: str) -> Verdict:
        gold, answer, differ = self._without_names(gold, answer)
        if differ:
            return False
        if self.units:
            gold, answer = _without_lone_unit(gold, answer)
        keys = spaceless(gold), spaceless(answer)
        if keys[0] == keys[1]:
            return True
        marked = compare_marked(keys[0], keys[1], self._terms)
        if marked is not NotImplemented:
            return marked
        numbers = read_number(keys[0]), read_number(keys[1])
        if numbers[0] and numbers[1]:
            return equal_numbers(numbers[0], numbers[1], self.relative_tolerance)
        if is_words(gold) or is_words(answer):
            return _same_words(gold, answer)
        return self.algebra(gold, answer)

    def _terms(self, gold: str, answer: str) -> Verdict:
        """Whether two terms of ratios are equal."""
        return self.items(gold, answer)

    def _without_names(self, gold: str, answer: str) -> tuple[str, str, bool]:
        """Both without the names before them, where one has none or both have the same.

        Two different names are two different statements, x = 5 and y = 5, unless one side mentions
        the other's name: x = 2y and y = x/2 may be the same line, which takes algebra to decide.
        """
        gold_sides, answer_sides = sides(gold), sides(answer)
        if max(len(gold_sides), len(answer_sides)) > 2:
            return gold, answer, False
        named = [len(each) == 2 and is_name(each[0]) for each in (gold_sides, answer_sides)]
        if all(named) and spaceless(gold_sides[0]) == spaceless(answer_sides[0]):
            return gold_sides[1], answer_sides[1], False
        if named[0] and len(answer_sides) == 1:
            return gold_sides[1], answer, False
        if named[1] and len(gold_sides) == 1:
            return gold, answer_sides[1], False
        if all(named) and not _mentions(gold_sides, answer_sides):
            return gold, answer, True
        return gold, answer, len(gold_sides) != len(answer_sides)


def _kind(brackets: str) -> str:
    return brackets or "{}"


def _mentions(gold: list[str], answer: list[str]) -> bool:
    """Whether the right-hand side of one equation has the left-hand side of the other in it."""
    return spaceless(gold[0]) in spaceless(answer[1]) or spaceless(answer[0]) in spaceless(gold[1])


def _values_without_names(gold: Shape, answer: Shape) -> bool:
    """Whether one side names its values, x = 1, y = 2, and the other none: order counts."""
    names = [
        {spaceless(sides(item)[0]) for item in each.items if _is_named(item)}
        for each in (gold, answer)
    ]
    sizes = sorted(len(each) for each in names)
    return len(gold.items) > 1 and sizes == [0, len(gold.items)]


def _is_named(item: str) -> bool:
    parts = sides(item)
    return len(parts) == 2 and is_name(parts[0])


def _same_words(gold: str, answer: str) -> bool:
    """Words are equal in any case; names of points, ABCD, are not words but letters."""
    one, other = (re.sub(r"[\s.'-]", "", text) for text in (gold, answer))
    if re.search("[aeiouyAEIOUY]", one) is None or (one.isupper() and len(one) <= 4):
        is_short_word = one.lower() in _SHORT_WORDS
        return one.lower() == other.lower() if is_short_word else one == other
    return one.lower() == other.lower()


def _without_lone_unit(gold: str, answer: str) -> tuple[str, str]:
    (bare_gold, gold_unit), (bare_answer, answer_unit) = split_unit(gold), split_unit(answer)
    if gold_unit and answer_unit and gold_unit != answer_unit:
        return gold, answer
    return bare_gold, bare_answer


def _is_condition(shape: Shape) -> bool:
    """Whether an answer is one inequality, which may also be written as an interval."""
    return len(shape.items) == 1 and _INEQUALITY.search(shape.items[0]) is not None


def _condition(shape: Shape, text: str) -> str:
    """The inequality of an answer, out of {x | x > 1}; other answers as they are."""
    return shape.items[0] if _is_condition(shape) else text


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """Whether all are true; None if that is not known."""
    verdicts = list(verdicts)
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _matching(rows: Sequence[Sequence[Verdict]]) -> Verdict:
    """Whether every gold item has an answer item of its own; None if a None decides that."""
    free = set(range(len(rows)))
    for row in rows:
        if not any(verdict is not False for verdict in row):
            return False
    for row in rows:
        match = next((column for column in sorted(free) if row[column]), None)
        if match is None:
            return None if any(None in each for each in rows) else False
        free.remove(match)
    return True
