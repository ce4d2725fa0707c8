"""Answers in words: choices, names of points, phrases; they are compared letter by letter."""

from __future__ import annotations

import re

from setrl_grader.grammar import parse
from setrl_grader.normal_form import spaceless
from setrl_grader.numbers import read_number
from setrl_grader.units import split_currency, split_unit

_WORDS = re.compile(
    r"[A-Za-z]+(?:(?: |(?<=[a-z])'(?=[a-z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2}))[A-Za-z]+)*\Z"
)
_ANY_CASE = frozenset(
    ["yes", "no", "true", "false", "none", "odd", "even", "all", "one", "two", "six", "ten"]
)
_ONLY_LETTERS = re.compile(  # a word, or names of points; other letters are a product
    r"[A-Z]{2,3}\Z|(?=.?.?[aeiouAEIOU])[A-Za-z]{2,3}\Z"
)
_SYMBOLS = re.compile(r"(?:[A-Z][a-z]?(?:_?\d)*){2,}\Z|[ivx]{2,}\Z")  # CO_2, IV, iv, AB
_LETTERS = re.compile(r"(?<![\\a-zA-Z])(?:[a-zA-Z]{2,}|[A-J](?![a-zA-Z]))")
_CHOICE = re.compile(
    r"((?:[Oo]ption|[Cc]hoice)\s+)?(\(?)([A-J])([).]|:(?=\s)|\Z)\s*(.*)\Z", re.DOTALL
)
_FULL_STOP = re.compile(r"\.(?=\s|\Z)")


def is_words(text: str) -> bool:
    """Whether an answer is words, which are compared letter by letter, not a product of variables.

    >>> is_words("Tuesday"), is_words("No"), is_words("xy"), is_words("10 cm")
    (True, True, False, False)
    """
    if not _WORDS.match(text):
        return False
    long = "-" not in text or max(map(len, re.findall("[A-Za-z]+", text))) >= 4
    return (long and len(spaceless(text)) >= 4) or text.lower() in _ANY_CASE


def are_words(gold: str, answer: str) -> bool:
    """Whether two items are compared as words: one is words, or both are a few letters."""
    if is_words(gold) or is_words(answer):
        return True
    return all(_ONLY_LETTERS.match(text.strip()) for text in (gold, answer))


def is_symbol(key: str) -> bool:
    """Whether a gold is letters and digits that are not a product: CO_2, IV, AB."""
    return _SYMBOLS.match(key) is not None


def choice_of(text: str) -> tuple[str, str] | None:
    """Return the letter of a choice and the words behind it: "(D) x = 0" → ("D", "x = 0")."""
    found = _CHOICE.match(text)
    if not found or (found[2] and found[4] != ")"):
        return None
    is_word = found[5][:1].isalpha() or found[5][:1].isdecimal()
    if found[5] and not (found[1] or found[2] or is_word):
        return None
    return found[3], found[5]


def is_option(text: str) -> bool:
    """Whether what a gold has behind the letter of a choice is one option: a value, or words."""
    if not text or read_number(text):
        return True
    if text[:1] in "+-*/^_!" or choice_of(text) or re.match(r"(?:and|or)\b", text):
        return False
    return _is_read(text) or is_words(text)


def is_value(text: str) -> bool:
    """Whether an answer's text behind the letter of a choice is a value: it has a digit, no words.

    The gold is only a letter, so words may be a verdict: (B) excluded. A known unit is none.

    >>> is_value("12 cm"), is_value("x=3"), is_value("7C"), is_value("12 is wrong"), is_value("x")
    (True, True, False, False, False)
    """
    bare = split_unit(split_currency(text)[0])[0]
    has_digit = any(map(str.isdecimal, bare))
    return has_digit and not _LETTERS.search(bare) and bool(read_number(bare) or _is_read(bare))


def _is_read(text: str) -> bool:
    part = parse(text)
    return all(side.tree for side in (part.parts if part.kind == "relation" else (part,)))


def _stands_alone(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start] in ("", " ") and text[end : end + 1] in ("", " ")


def same_words(gold: str, answer: str) -> bool:
    """Whether two texts are the same words in any case; names of points, ABCD, keep their case."""
    one, other = (" ".join(_FULL_STOP.sub("", text).split()) for text in (gold, answer))
    any_case = (_looks_like_words(gold) and _looks_like_words(answer)) or (one.lower() in _ANY_CASE)
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
