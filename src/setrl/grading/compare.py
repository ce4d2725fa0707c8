r"""Is an answer the gold? What can be decided without algebra; a function is asked for the rest.

Every answer is compared item by item, in brackets of the same kind: an interval is not a set, a
pair is not a list. The gold has a kind, and an answer of another kind is wrong: sets of reals,
marks (bases, primes, minutes, times of day, ratios, dates, permutations), numbers, words,
statements of algebra. What has no certain reading is text: it equals only the same text.
docs/rewards.md has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from setrl.grading.expressions import read
from setrl.grading.marks import compare_marked
from setrl.grading.normal_form import spaceless
from setrl.grading.numbers import Number, equal_numbers, read_number
from setrl.grading.reals import same_reals
from setrl.grading.shapes import Shape, is_chain, is_name, read_shape, sides, unnamed
from setrl.grading.units import currency_of, split_currency, split_unit

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
    r"\b(?:not|no|is|isn't|or|and|but|wrong|false|incorrect|maybe|neither|nor|never|except|actually"
    r"|rather|perhaps|wait|sorry|also|instead|probably|either|both|possibly|unless)\b|\b[B-J]\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"((?:[Oo]ption|[Cc]hoice)\s+)?(\(?)([A-J])([).]|:(?=\s)|\Z)\s*(.*)\Z", re.DOTALL
)
_FUNCTION = re.compile(r"(\\?[a-zA-Z]+'*)\([a-z](?:,[a-z])*\)\Z")
_SYMBOLS = re.compile(r"(?:[A-Z][a-z]?(?:_?\d)*){2,}\Z|[ivx]{2,}\Z")  # CO_2, IV, iv, AB
_LABEL = re.compile(r"(?:[A-Z]|[IVX]+|[ivx]+)\Z")
_COUNTER = re.compile(r"[,;]\s*([a-zA-Z])\s*\\in\s*\\mathbb\{Z\}\Z")
_PHRASE = re.compile(r"\d+(?:\.\d+)?|\\?[a-zA-Z]+|\S")
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
    if _chained(answer) and not (_chained(gold) or _may_be_another_form(gold, answer)):
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
    if not found or (found[2] and found[4] != ")"):
        return None
    if found[5] and not (found[1] or found[2] or found[5][:1].isalpha() or found[5][:1].isdigit()):
        return None
    return found[3], found[5]


def _may_follow(text: str) -> bool:
    """Whether the words behind the letter of a choice are its answer, not a second thought."""
    if number_of(text):
        return True
    if text[:1] in "+-*/^_!" or choice_of(text) or _DOUBTS.search(text):
        return False
    return all(read(side) for side in sides(text)) or is_words(text)


def _may_be_another_form(gold: str, answer: str) -> bool:
    """Whether both are equations and the gold gives no number: y = 2x + 3 is 2x − y + 3 = 0."""
    return len(sides(gold)) == len(sides(answer)) == 2 and number_of(gold) is None


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
        answer = _with_counter_of(gold, answer)
        choices = choice_of(gold), choice_of(answer)
        if choices[0] and choices[1]:
            return self._choices(choices[0], choices[1], depth)
        gold, answer = (
            text[1] if text and text[1] else whole
            for text, whole in zip(choices, (gold, answer), strict=True)
        )
        reals = same_reals(gold, answer, self.items)
        if reals is not NotImplemented:
            return reals
        gold_shape, answer_shape = _alike(read_shape(gold), read_shape(answer))
        nested = depth < MAX_DEPTH or r"\emptyset" in gold + answer
        if nested and gold.startswith("\\{") != answer.startswith("\\{"):
            return False  # a set in a tuple or a set is not its only member
        if _differ(gold_shape, answer_shape):
            return False
        sizes = len(gold_shape.items), len(answer_shape.items)
        if sizes == (1, 1) and not (gold_shape.brackets or answer_shape.brackets):
            return self.items(gold_shape.items[0], answer_shape.items[0])
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
        currency = _currencies(*keys)
        if currency is not None:
            return currency and self.items(*currency)
        marked = compare_marked(keys[0], keys[1], self._terms)
        if marked is not NotImplemented:
            return marked
        numbers = read_number(keys[0]), read_number(keys[1])
        if numbers[0] and numbers[1]:
            return equal_numbers(numbers[0], numbers[1], self.relative_tolerance)
        both_letters = _ONLY_LETTERS.match(keys[0]) and _ONLY_LETTERS.match(keys[1])
        if is_words(gold) or is_words(answer) or both_letters:
            return _same_words(gold, answer)
        if _SYMBOLS.match(keys[0]):
            return False
        if _phrase(gold) == _phrase(answer):
            return True
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
        if all(named) and _same_function(gold_sides[0], answer_sides[0]):
            return gold, answer, False
        if all(named) and not _mentions(gold_sides, answer_sides):
            return gold, answer, True
        return gold, answer, len(gold_sides) != len(answer_sides)


def _kind(brackets: str) -> str:
    return brackets or "{}"


def _same_function(gold: str, answer: str) -> bool:
    """Whether both sides name one function of letters, f(x) and f(z)."""
    found = [_FUNCTION.match(spaceless(text)) for text in (gold, answer)]
    return bool(found[0] and found[1] and found[0][1] == found[1][1])


def _mentions(gold: list[str], answer: list[str]) -> bool:
    """Whether the right-hand side of one equation has the left-hand side of the other in it."""
    return spaceless(gold[0]) in spaceless(answer[1]) or spaceless(answer[0]) in spaceless(gold[1])


def _alike(gold: Shape, answer: Shape) -> tuple[Shape, Shape]:
    """Both shapes as tuples where one is a named tuple: x = 1, y = 2 is (x, y) = (1, 2)."""
    named = _named_tuple(gold), _named_tuple(answer)
    if named[0] and named[1] and "()" in (gold.brackets, answer.brackets):
        return named[0], named[1]
    if (named[0] is None) == (named[1] is None):
        return gold, answer
    found, other = (named[0], answer) if named[0] else (named[1], gold)
    assert found is not None
    if other.brackets == "()":
        as_tuple = other
    elif not (other.brackets or any(map(_is_named, other.items))) and len(other.items) > 1:
        as_tuple = replace(other, brackets="()")
    else:
        return gold, answer
    return (found, as_tuple) if named[0] else (as_tuple, found)


def _named_tuple(shape: Shape) -> Shape | None:
    """Return (x, y) = (1, 2), also if it is written x = 1, y = 2; None for any other shape."""
    if shape.brackets == "()" and shape.names.startswith("("):
        return shape
    names = [sides(item)[0].strip() for item in shape.items if _is_named(item)]
    if (
        shape.brackets
        or len(names) != len(shape.items)
        or names != sorted(set(names))
        or len(names) < 2
    ):
        return None
    values = tuple(unnamed(item).strip() for item in shape.items)
    return Shape("()", values, f"({','.join(names)})")


def _with_counter_of(gold: str, answer: str) -> str:
    """Return the answer with the gold's name of a whole number: kπ, k ∈ ℤ is nπ, n ∈ ℤ."""
    ours, theirs = _COUNTER.search(gold), _COUNTER.search(answer)
    if not ours or not theirs or ours[1] == theirs[1]:
        return answer
    letters = re.findall(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", answer)
    if ours[1] in letters:
        return answer
    return re.sub(rf"(?<![\\a-zA-Z]){theirs[1]}(?![a-zA-Z])", ours[1], answer)


def _currencies(gold: str, answer: str) -> tuple[str, str] | Literal[False] | None:
    """Return both amounts without their currency; False if currencies differ, None without any."""
    amounts = [split_currency(key) for key in (gold, answer)]
    if not any(sign for _, sign in amounts):
        return None
    bare = [
        amount
        if amount[1]
        else (split_unit(key) if currency_of(split_unit(key)[1]) in "$€£¥₹" else (key, ""))
        for amount, key in zip(amounts, (gold, answer), strict=True)
    ]
    signs = {currency_of(sign) for _, sign in bare if sign}
    other_unit = any(amount[-1:] in "%°" or split_unit(amount)[1] for amount, _ in bare)
    return False if len(signs) > 1 or other_unit else (bare[0][0], bare[1][0])


def _phrase(text: str) -> list[object]:
    """Return the numbers and the words of a text in their order; 5 feet 6 inches is such a text."""
    found = _PHRASE.findall(text)
    return [
        Fraction(part)
        if part[0].isdigit()
        else part.lower()
        if part.isalpha() and _looks_like_words(part)
        else part
        for part in found
    ]


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
    if ("or" in gold.joints) == ("or" in answer.joints):
        return False
    if any(is_words(item) or _LABEL.match(item) for item in gold.items):
        return True
    joints = {gold.joints, answer.joints} == {frozenset({"and"}), frozenset({"or"})}
    return joints and any(_INEQUALITY.search(item) for item in gold.items)


def _without_lone_unit(gold: str, answer: str) -> tuple[str, str]:
    (bare_gold, gold_unit), (bare_answer, answer_unit) = (
        (amount, sign) if sign else split_unit(text)
        for text in (gold, answer)
        for amount, sign in [split_currency(text)]
    )
    if gold_unit and answer_unit and currency_of(gold_unit) != currency_of(answer_unit):
        return gold, answer
    if (gold_unit or answer_unit) and (gold + answer).rstrip().endswith(("%", "°")):
        return gold, answer
    return bare_gold, bare_answer


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
