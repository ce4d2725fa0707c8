r"""Is an answer the gold? What can be decided without algebra; a function is asked for the rest.

Every answer is compared item by item, in brackets of the same kind: an interval is not a set, a
pair is not a list. Numbers are compared as rationals, words as words, marks exactly (bases, primes,
minutes, times of day, ratios); the rest is left to `algebra`. docs/rewards.md has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from setrl.grading.expressions import read
from setrl.grading.marks import compare_marked
from setrl.grading.normal_form import spaceless, split_unit
from setrl.grading.numbers import Number, equal_numbers, read_number
from setrl.grading.shapes import Shape, is_chain, is_name, read_shape, sides, unnamed

Verdict = bool | None  # None: only algebra can decide
Algebra = Callable[[str, str], Verdict]

MAX_ITEMS = 64
MAX_DEPTH = 4

_WORDS = re.compile(
    r"[A-Za-z]+(?:(?: |(?<=[a-z])'(?=[a-z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2}))[A-Za-z]+)*\Z"
)
_SHORT_WORDS = {"yes", "no", "true", "false", "none", "odd", "even"}
_ONLY_LETTERS = re.compile(r"[A-Z]{2,3}\Z|[A-Za-z]{3}\Z")  # of a word or of points, or a product
_POINTS = re.compile(r"\\(?:angle|triangle|overrightarrow)(?![a-z])\s*\{?\s*([A-Z]+)")
_DOUBTS = re.compile(
    r"\b(?:not|no|is|isn't|or|and|but|wrong|false|incorrect|maybe|neither|nor|never|except)\b",
    re.IGNORECASE,
)
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
    if number_of(gold) and not number_of(answer) and _ARITHMETIC.match(spaceless(unnamed(answer))):
        return "unevaluated"
    return None


@lru_cache(maxsize=4096)
def number_of(text: str) -> Number | None:
    """Return the number that a normal form states, without a name before it: x = 5 is 5."""
    return read_number(spaceless(unnamed(text)))


def is_words(text: str) -> bool:
    """Whether an answer is words, which are compared letter by letter, not a product of variables.

    >>> is_words("Tuesday"), is_words("No"), is_words("xy"), is_words("10 cm")
    (True, True, False, False)
    """
    if not _WORDS.match(text):
        return False
    long = "-" not in text or max(map(len, re.findall("[A-Za-z]+", text))) >= 4
    return (long and len(spaceless(text)) >= 4) or text.lower() in _SHORT_WORDS


def is_plain(text: str) -> bool:
    """Whether all items of an answer are numbers, words, or letters of a choice: no algebra."""
    items = read_shape(text).items
    return all(number_of(item) or is_words(item) or choice_of(item) for item in items)


def choice_of(text: str) -> tuple[str, str] | None:
    """Return the letter of a choice and the words behind it: "(D) x = 0" → ("D", "x = 0")."""
    found = _CHOICE.match(text)
    if not found or (found[2] and not text.startswith("(")):
        return None
    return found[1], found[2]


def _may_follow(text: str) -> bool:
    """Whether the words behind the letter of a choice are its answer, not a second thought."""
    if number_of(text):
        return True
    if text[:1] in "+-*/^_!" or choice_of(text) or _DOUBTS.search(text):
        return False
    return read(text) is not None or is_words(text)


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
            return self._choices(choices[0], choices[1], depth)
        gold, answer = (
            text[1] if text and text[1] else whole
            for text, whole in zip(choices, (gold, answer), strict=True)
        )
        gold_shape, answer_shape = read_shape(gold), read_shape(answer)
        nested = depth < MAX_DEPTH or r"\emptyset" in gold + answer
        if nested and gold.startswith("\\{") != answer.startswith("\\{"):
            return False  # a set in a tuple or a set is not its only member
        if _differ(gold_shape, answer_shape):
            return False
        sizes = len(gold_shape.items), len(answer_shape.items)
        if sizes == (1, 1) and not (gold_shape.brackets or answer_shape.brackets):
            return self.items(gold_shape.items[0], answer_shape.items[0])
        if _is_condition(gold_shape) != _is_condition(answer_shape):
            other = answer_shape if _is_condition(gold_shape) else gold_shape
            if _kind(other.brackets) == "{}" and len(other.items) > 1:
                return False
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

    def _choices(self, gold: tuple[str, str], answer: tuple[str, str], depth: int) -> Verdict:
        """Two choices: the letters must be the same, and so the texts behind them."""
        if gold[0] != answer[0] or depth == 0:
            return False
        if gold[1] and answer[1]:
            return self.answers(gold[1], answer[1], depth - 1)
        return _may_follow(gold[1] or answer[1]) or not (gold[1] or answer[1])

    def items(self, gold: str, answer: str) -> Verdict:
        gold, answer, differ = self._without_names(gold, answer)
        if differ:
            return False
        if self.units:
            gold, answer = _without_lone_unit(gold, answer)
        keys = spaceless(gold), spaceless(answer)
        if keys[0] == keys[1]:
            return True
        if {key[-1:] for key in keys} == {"%", "°"} or any("%%" in key for key in keys):
            return False
        marked = compare_marked(keys[0], keys[1], self._terms)
        if marked is not NotImplemented:
            return marked
        numbers = read_number(keys[0]), read_number(keys[1])
        if numbers[0] and numbers[1]:
            return equal_numbers(numbers[0], numbers[1], self.relative_tolerance)
        both_letters = _ONLY_LETTERS.match(keys[0]) and _ONLY_LETTERS.match(keys[1])
        if is_words(gold) or is_words(answer) or both_letters:
            return _same_words(gold, answer)
        if _not_understood(gold) or _not_understood(answer) or _points(gold) != _points(answer):
            return False
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
    one, other = (
        re.sub(r"[\s.]|(?<=[a-z])'(?=[a-z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2})", "", text)
        for text in (gold, answer)
    )
    any_case = (_looks_like_words(gold) and _looks_like_words(answer)) or (
        one.lower() in _SHORT_WORDS
    )
    return one.lower() == other.lower() if any_case else one == other


def _looks_like_words(text: str) -> bool:
    """Whether letters are words by their look: with a vowel; ABCD, aBcd and red may be others."""
    words = re.findall("[A-Za-z]+", text)
    letters = "".join(words)
    cases = all(word.islower() or word[1:].islower() or word.isupper() for word in words)
    names = letters.isupper() and len(letters) <= 5
    return (
        cases and not names and len(letters) > 3 and re.search("[aeiouyAEIOUY]", text) is not None
    )


def _not_understood(text: str) -> bool:
    """Whether there are characters that no rule knows: Cyrillic letters, a percent sign within."""
    return re.search(r"[^\x00-\x7f°]|%.", text) is not None


def _points(text: str) -> list[str]:
    """Return the angles, triangles and rays in an answer, by their points in order."""
    return sorted(_POINTS.findall(text))


def _differ(gold: Shape, answer: Shape) -> bool:
    """Whether names or joints differ: (x, y) or (y, x); and or or between words or conditions."""
    if gold.names and answer.names and spaceless(gold.names) != spaceless(answer.names):
        return True
    joints = {gold.joints, answer.joints}
    if joints != {frozenset({"and"}), frozenset({"or"})}:
        return False
    return any(_INEQUALITY.search(item) or is_words(item) for item in gold.items)


def _without_lone_unit(gold: str, answer: str) -> tuple[str, str]:
    (bare_gold, gold_unit), (bare_answer, answer_unit) = split_unit(gold), split_unit(answer)
    if gold_unit and answer_unit and gold_unit != answer_unit:
        return gold, answer
    return bare_gold, bare_answer


def _is_condition(shape: Shape) -> bool:
    """Whether an answer is one inequality, which may also be written as an interval."""
    return len(shape.items) == 1 and _INEQUALITY.search(shape.items[0]) is not None


def _condition(shape: Shape, text: str) -> str:
    """Return the inequality within {x | x > 1}; return any other answer unchanged."""
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
