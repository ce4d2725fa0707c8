"""Answers in words: choices, names of points, phrases; they are compared letter by letter."""

from __future__ import annotations

import re
from fractions import Fraction

from setrl_grader.grammar import parse
from setrl_grader.normal_form import spaceless
from setrl_grader.numbers import read_number

_WORDS = re.compile(
    r"[A-Za-z]+(?:(?: |(?<=[a-z])'(?=[a-z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2}))[A-Za-z]+)*\Z"
)
_SHORT = """
    yes no true false none odd even all one two six ten
    am an as at be by do go he if in is it me my of oh on or so to up us we
"""
_SHORT_WORDS = frozenset(_SHORT.split())
_ONLY_LETTERS = re.compile(r"[A-Z]{2,3}\Z|[A-Za-z]{3}\Z")  # of a word or of points, or a product
_SYMBOLS = re.compile(r"(?:[A-Z][a-z]?(?:_?\d)*){2,}\Z|[ivx]{2,}\Z")  # CO_2, IV, iv, AB
_DOUBTS = re.compile(
    r"\b(?:not|no|is|isn't|or|and|but|wrong|false|incorrect|maybe|neither|nor|never|except|actually"
    r"|rather|perhaps|wait|sorry|also|instead|probably|either|both|possibly|unless|then|again|answer"
    r"|option|choice|correct|right|guess|unsure|if|think|could|may|might|would|should|else|other"
    r"|another|definitely|than|excluded|eliminated|rejected|discarded|dismissed|ruled|impossible"
    r"|invalid|contradict\w*|fail\w*|untrue|mistaken|removed|crossed|out|false|cannot|\w+n't)\b|\b[B-J]\b|\bA\b(?!\s+[a-z])",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"[A-Z][a-z]{2,}(?![a-z])")
_CHOICE = re.compile(
    r"((?:[Oo]ption|[Cc]hoice)\s+)?(\(?)([A-J])([).]|:(?=\s)|\Z)\s*(.*)\Z", re.DOTALL
)
_PHRASE = re.compile(r"\d+(?:\.\d+)?|\\?[a-zA-Z]+|\S")


def is_words(text: str) -> bool:
    """Whether an answer is words, which are compared letter by letter, not a product of variables.

    >>> is_words("Tuesday"), is_words("No"), is_words("xy"), is_words("10 cm")
    (True, True, False, False)
    """
    if not _WORDS.match(text):
        return False
    long = "-" not in text or max(map(len, re.findall("[A-Za-z]+", text))) >= 4
    return (long and len(spaceless(text)) >= 4) or text.lower() in _SHORT_WORDS


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


def may_follow(text: str) -> bool:
    """Whether what a gold has behind the letter of a choice is its answer, not a second thought."""
    if not text or read_number(text):
        return True
    if text[:1] in "+-*/^_!" or choice_of(text) or _DOUBTS.search(text):
        return False
    part = parse(text)
    sides = part.parts if part.kind == "relation" else (part,)
    return all(side.tree for side in sides) or is_words(text)


def may_stand_behind(text: str) -> bool:
    """Whether an answer's text behind the letter of a choice is certain to be the option's value.

    The gold is only a letter, so words may be a verdict: (B) excluded. A value has a digit, or is
    a name with a capital.
    """
    has_digit = any(map(str.isdecimal, text)) and not is_words(text)
    return may_follow(text) and (has_digit or _CAPITALISED.match(text) is not None)


def phrase(text: str) -> list[object]:
    """Return numbers and words in their order, as of 5 feet 6 inches."""
    found = _PHRASE.findall(text)
    return [
        Fraction(part)
        if part[0].isdecimal()
        else part.lower()
        if part.isalpha() and _looks_like_words(part)
        else part
        for part in found
    ]


def same_words(gold: str, answer: str) -> bool:
    """Whether two texts are the same words in any case; names of points, ABCD, keep their case."""
    one, other = (" ".join(text.replace(".", "").split()) for text in (gold, answer))
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
