"""The rules of certificates and witnesses: what must hold of a gold and an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from checker.reader import NO_ALGEBRA, read, read_tokens
from checker.reals import Reals
from checker.text import (
    OPENING,
    RELATIONS,
    TURNED,
    cut,
    members,
    plain,
    squeezed,
    tokens,
)
from checker.values import DIGITS, Tree, about, agree, exact, letters_of, same_values
from checker.verdicts import RefutedError, UnreadError, need

_NAME_OR_UNIT = re.compile(r"[\\\w(),'|$€£¥₹]*=?|\(?[A-J][).:]?|[a-zA-Z^/23.]*|\\?[$€£¥₹]")
_WHOLE_NUMBER = re.compile(r"(?P<letter>[a-z])\s*\\in\s*\\mathbb\{Z\}\s*\Z|integer|\\in\b")
TOLERANCE = Fraction(1, 10**6)
_NUMERAL = re.compile(
    r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:\\(?:times|cdot)10\^(?:\{-?\d+\}|\d))?"
    r"|[-+]?\d+/\d+|[-+]?\d*\\frac(?:\{-?\d+\}|-?\d){2}|[-+]?\d+\^(?:\{-?\d+\}|\d)|-?\d+ \d+/\d+"
)
_OTHER_KINDS = re.compile(  # a short word, a code; what has values only somewhere
    r"\A[a-z]{2}\Z|\A[-+]?0\d|\\(?:ln|log|cosh|sinh|arcsin|arccos)|\^\{?(?:1/|\\frac1)"
)
_SAID = re.compile(  # sets in words, conditions on a distance, a function or a factor
    r"(?i:solution|real numbers)|\|[^|]+\|\s*(?:[<>]|\\[lg]eq?(?![a-z]))"
    r"|i\s*\^\{?\d"  # i² beside letters may be a current's
    r"|(?<![\\a-zA-Z])[A-Z](?:\\cdot|\\left|\s)*\([^()]*[-+]"
)
_PYTHON = re.compile(r"\*\*|(?<![\\a-zA-Z])(?:pi|oo|sqrt\(|exp\(|log\(|max\()")
_LONG_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{4,}")
_CHOICE = re.compile(r"(?:[oO]ption\s*|[cC]hoice\s*)?\(?([A-J])(?:[).:])?")


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
        if any(_PYTHON.search(text) or _SAID.search(text) for text in (gold, answer)):
            raise UnreadError
        need(_same_reading(gold, record.get("gold", "")), "the gold is not what was compared")
        renamed = _with_counter(gold, answer)
        need(_same_reading(renamed, record.get("answer", "")), "nor is the answer")
        _holds(record)
    except RefutedError:
        return False
    except (UnreadError, RecursionError, LookupError, ValueError, ArithmeticError):
        return None
    return True


def _with_counter(gold: str, answer: str) -> str:
    """Return the answer with the gold's letter for a whole number, kπ, k ∈ ℤ, in all places."""
    found = [_WHOLE_NUMBER.search(text) for text in (gold, answer)]
    if not (found[0] and found[1]):
        return answer
    if not (found[0]["letter"] and found[1]["letter"]):
        raise UnreadError
    new, old = found[0]["letter"], found[1]["letter"]
    return re.sub(rf"(?<![\\a-zA-Z]){old}(?![a-zA-Z])", new, answer)


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
    if record["equal"]:
        _are_parts(rule, record)
    elif rule == "entries":
        _is_entry(record)
    elif rule in _WHOLE:
        _is_whole(record)
    else:
        raise UnreadError
    for part in parts:
        need(part["equal"] is record["equal"], "a part says something else")
        _holds(part)


def _is_entry(record: Mapping[str, Any]) -> None:
    """Check that the part of a finding is one entry, at one place, of its gold and its answer."""
    [part], [at] = record["parts"], record["pairs"]
    for side in ("gold", "answer"):
        _refuse_two_in_one(record[side])
        opening, found = members(record[side])
        need(opening not in ("", r"\{"), "the order does not count")
        need(_same_reading(part[side], found[at]), f"an entry of the {side}")


def _refuse_two_in_one(text: str) -> None:
    if re.search(r"\\(?:pm|mp|cup|cap)(?![a-z])|\^\{?T|[\d}]\s*\\begin", text):
        raise UnreadError  # two members in one, rows as columns, a factor before all entries


def _is_whole(record: Mapping[str, Any]) -> None:
    """Check that a part is all of a finding but a name, a unit or the letter of a choice."""
    for side in ("gold", "answer"):
        bare, whole = squeezed(record["parts"][0][side]), squeezed(record[side])
        need(whole.endswith(bare) or bare in whole, "the part is not in the whole")
        rest = whole.replace(bare, "", 1)
        if not _NAME_OR_UNIT.fullmatch(rest):
            raise UnreadError


def _are_parts(rule: str, record: Mapping[str, Any]) -> None:
    """Check that the parts of a finding are all parts of its gold and of its answer."""
    parts = record["parts"]
    for side in ("gold", "answer"):
        _refuse_two_in_one(record[side])
    if rule in _WHOLE:
        _is_whole(record)
        return
    (opening, ours), (other, theirs) = (members(record[side]) for side in ("gold", "answer"))
    order = record.get("pairs") or range(len(parts))
    need(len(ours) == len(theirs) == len(parts), "the number of parts")
    need(sorted(order) == list(range(len(parts))), "each member has one member")
    ordered = not {opening, other} <= {"", r"\{"}
    need(not (ordered and rule == "members"), "the order counts")
    for at, (part, place) in enumerate(zip(parts, order, strict=True)):
        need(_same_reading(part["gold"], ours[at]), "a part of the gold")
        need(_same_reading(part["answer"], theirs[place]), "a part of the answer")


def _same_text(gold: str, answer: str) -> None:
    need(_same_reading(gold, answer), "the texts differ")


def _same_reading(one: str, other: str) -> bool:
    codes = [bool(re.match(r"0\d+(?![\d.])", squeezed(text))) for text in (one, other)]
    if any(codes) and squeezed(one) != squeezed(other):
        need(not all(codes), "two codes")
        raise UnreadError  # a code, or a number
    words = [re.findall(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}", plain(text)) for text in (one, other)]
    if squeezed(one) == squeezed(other):
        need(words[0] == words[1] or not _LONG_WORD.search(plain(one + other)), "other words")
        return True
    return read(one) == read(other)


def _equal_numbers(gold: str, answer: str) -> None:
    need(_near(gold, answer), "the numbers differ")


def _different_numbers(gold: str, answer: str) -> None:
    need(not _near(gold, answer), "the numbers are equal")


def _near(gold: str, answer: str) -> bool:
    """Whether two numbers are equal, or one is a decimal that rounds the other one."""
    texts = [squeezed(text) for text in (gold, answer)]
    signs = [set(re.findall("[$€£¥₹°%]", text)) for text in texts]
    need(not (signs[0] and signs[1]) or signs[0] == signs[1], "the units differ")
    need(max(map(len, signs)) < 2, "a number with two units")
    percents = ["%" in each for each in signs]
    (one, one_step), (other, other_step) = (_number(text) for text in texts)
    pairs = [(one, other)]
    if percents[0] != percents[1]:
        shares = (one / 100, other) if percents[0] else (one, other / 100)
        bare = other if percents[0] else one
        pairs = [shares, (one, other)] if abs(bare) >= 1 else [shares]
    if any(re.match(r"[-+]?0\d", text) for text in texts):
        raise UnreadError  # a code, or a number
    for left, right in pairs:
        if left == right:
            return True
        if bool(one_step) == bool(other_step):
            continue
        if percents[0] != percents[1]:
            raise UnreadError
        shown, exactly, step = (left, right, one_step) if one_step else (right, left, other_step)
        if exactly.denominator > 1 and _is_rounding(shown, exactly, step):
            return True
    return False


def _is_rounding(shown: Any, exactly: Any, step: Any) -> bool:
    """Whether a decimal is a number rounded or cut to its places, and near enough."""
    off = exactly - shown
    is_cut = abs(off) < step and (off > 0) == (exactly > 0)
    near = abs(off) <= TOLERANCE * max(abs(shown), abs(exactly))
    return bool(near and (is_cut or 2 * abs(off) <= step))


def _number(text: str) -> tuple[Fraction, Fraction]:
    """Return the exact value of a constant, and what one in its last decimal place is worth."""
    text = re.sub(r"\A[a-zA-Z](?:_\w)?=|\\?[$€£¥₹]|°\Z|%\Z", "", text)
    if not _NUMERAL.fullmatch(text):
        raise UnreadError
    tree = read(re.sub(r" (\d+)/(\d+)", r"\\frac{\1}{\2}", text))
    decimals = re.findall(r"\.(\d*)", text)
    scale = re.search(r"10\^\{?(-?\d+)", text)
    power = int(scale[1]) if scale else 0
    step = Fraction(10) ** (power - len(decimals[0])) if decimals else Fraction(0)
    return exact(tree, {}), step


def _any_case(text: str) -> str:
    """Return a text with its words in small letters, but not the letters beside other signs."""
    return " ".join(
        word.lower() if re.fullmatch(r"[A-Za-z'.,-]+", word) else word for word in text.split()
    )


def _equal_words(gold: str, answer: str) -> None:
    one, other = (
        re.findall(r"\d+(?:\.\d+)?|\\?[a-zA-Z]+|[^\s.]|\.(?=\w)", _any_case(plain(text)))
        for text in (gold, answer)
    )
    if any(word.startswith("0") for word in one + other):
        raise UnreadError
    same = [Fraction(a) == Fraction(b) if a[0].isdigit() and b[0].isdigit() else a == b
            for a, b in zip(one, other, strict=False)]  # fmt: skip
    need(len(one) == len(other) and all(same), "the words differ")


def _equal_choice(gold: str, answer: str) -> None:
    letters = [_CHOICE.fullmatch(plain(text)) for text in (gold, answer)]
    if not letters[0] or not letters[1]:
        raise UnreadError
    need(letters[0][1] == letters[1][1], "the choices differ")


def _equal_marks(gold: str, answer: str) -> None:
    """Check ratios and numbers in a base; other marks must be written alike."""
    one, other = squeezed(gold), squeezed(answer)
    if one == other:
        _same_text(gold, answer)
        return
    if one.startswith("0") or other.startswith("0"):
        raise UnreadError
    terms = [
        [exact(read(term), {}) for term in re.split(r"(?<!\\):", text)] for text in (one, other)
    ]
    if min(map(len, terms)) < 2 or len(terms[0]) != len(terms[1]):
        raise UnreadError
    pairs = list(zip(*terms, strict=True))
    crossed = [a * d - b * c for a, b in pairs for c, d in pairs]
    need(not any(crossed), "the ratios differ")


def _equal_expressions(gold: str, answer: str) -> None:
    if any(_OTHER_KINDS.search(squeezed(text)) for text in (gold, answer)):
        raise UnreadError
    one, other = (read(text, gold) for text in (gold, answer))
    if not _rounds(one, other, gold, answer) and not _same_without_mark(gold, answer):
        need(same_values(one, other), "the values differ")


def _same_without_mark(gold: str, answer: str) -> bool:
    """Whether the mark of degrees, which may be missing after an answer, is all that differs."""
    texts = [squeezed(text) for text in (gold, answer)]
    lettered = any(re.search(r"\\pi|(?<![\\a-zA-Z])[a-zA-Z]", text) for text in texts)
    within = any(re.search(r"\\(?:sin|cos|tan|cot|sec|csc)", text) for text in texts)
    if lettered or within or sum("°" in text for text in texts) != 1:
        return False
    one, other = (read(text.removesuffix("°"), gold) for text in texts)
    return same_values(one, other)


def _different_expressions(gold: str, answer: str, at: str = "") -> None:
    """Check that both differ at the point that is given, if there is one."""
    one, other = (read(text, gold) for text in (gold, answer))
    if _rounds(one, other, gold, answer):
        raise RefutedError("one rounds the other")
    if not at:
        need(not same_values(one, other), "the values are equal")
        return
    pairs = [each.split(" = ") for each in at.split(", ")]
    need(agree(one, other, {name: Fraction(value) for name, value in pairs}) is not True, at)


def _rounds(one: Tree, other: Tree, gold: str, answer: str) -> bool:
    """Whether a decimal rounds the constant on the other side, which is not a whole number."""
    decimals = [text for text in (gold, answer) if re.fullmatch(r"-?\d*\.\d+", squeezed(text))]
    if len(decimals) != 1 or letters_of(one) | letters_of(other):
        return False
    import mpmath

    with mpmath.workdps(DIGITS[0]):
        values = [about(tree, {}) for tree in (one, other)]
        step = mpmath.mpf(10) ** -len(decimals[0].partition(".")[2])
        if decimals[0] == answer:
            values.reverse()
        near = abs(values[0] - values[1]) * TOLERANCE.denominator <= max(map(abs, values))
        off = values[1] - values[0]
        is_cut = abs(off) < step and (off > 0) == (values[1] > 0)
        return bool(near and (is_cut or 2 * abs(off) <= step))


def _equal_equations(gold: str, answer: str) -> None:
    """Check that one difference of sides is a constant multiple of the other, as f·g₀ = f₀·g."""
    sides = [_sides(text, gold) for text in (gold, answer)]
    (signs, one), (other_signs, other) = sides
    need(signs == other_signs, "other relations")
    if len(one) == len(other) and all(map(same_values, one, other)):
        return
    if len(one) != 2 or len(other) != 2:
        raise UnreadError
    first, second = (("+", left, ("-", right)) for left, right in (one, other))
    names = sorted(letters_of(first) | letters_of(second))
    need(bool(names), "numbers, of which each is a multiple of the other")
    at = {name: Fraction(number, 7) for number, name in enumerate(names, start=11)}
    values = exact(first, at), exact(second, at)
    need(0 not in values, "a side without a sign")
    if signs != ("=",):
        need(values[0] * values[1] > 0, "the relation is turned")
    scaled = [
        ("*", ("num", value, 0), tree)
        for value, tree in zip(values[::-1], (first, second), strict=True)
    ]
    need(same_values(*scaled), "no factor turns one into the other")


def _sides(text: str, gold: str) -> tuple[tuple[str, ...], list[Tree]]:
    """Return the relations of a statement and its sides; b > a is a < b."""
    parts = cut(tokens(text), RELATIONS)
    if len(parts) < 2 or NO_ALGEBRA.search(text):
        raise UnreadError
    signs = [part[0] for part in parts[1:]]
    trees = [read_tokens(part[1:] if at else part, gold) for at, part in enumerate(parts)]
    if signs and all(sign in TURNED for sign in signs):
        return tuple(TURNED[sign] for sign in reversed(signs)), trees[::-1]
    return tuple(signs), trees


def _equal_reals(gold: str, answer: str) -> None:
    """Check that two sets of reals hold the same of all their ends and of the points between."""
    sets = [Reals(text) for text in (gold, answer)]
    ends = sorted({end for each in sets for end in each.ends})
    between = [(low + high) / 2 for low, high in pairwise(ends)]
    outside = [ends[0] - 1, ends[-1] + 1] if ends else [Fraction(0)]
    for at in (*ends, *between, *outside):
        need(sets[0].holds(at) == sets[1].holds(at), f"{at} is in one set only")


def _missing(gold: str, answer: str) -> None:
    raise UnreadError


def _different_words(gold: str, answer: str, _detail: str = "") -> None:
    """Check that two texts of nothing but words differ."""
    for text in (gold, answer):
        other_kind = re.search(r"(?i)\b(?:and|or|option|choice)\b", plain(text))
        too_short = re.search(r"\b[A-Za-z]\b", plain(text)) or len(text) < 4
        if other_kind or too_short or not re.fullmatch(r"[A-Za-z][A-Za-z' -]*", plain(text)):
            raise UnreadError
    _not(_equal_words)(gold, answer)


def _refuse_what_is_no_list(text: str) -> None:
    _refuse_two_in_one(text)
    if re.search(r"[=<>|:]|\\(?:le|ge|ne|in|infty|cup|cap|setminus|mathbb|R)(?![a-z])", text):
        raise UnreadError


def _other_number(gold: str, answer: str, _detail: str = "") -> None:
    """Check that lists have different lengths."""
    for text in (gold, answer):
        _refuse_what_is_no_list(text)
    need(len(members(gold)[1]) != len(members(answer)[1]), "equally many members")


def _no_such_member(gold: str, answer: str, missing: str = "") -> None:
    """Check that a member of the gold differs from each member of the answer."""
    for text in (gold, answer):
        _refuse_what_is_no_list(text)
    need(any(_same_reading(missing, one) for one in members(gold)[1]), "no member of the gold")
    for one in members(answer)[1]:
        _different_items(missing, one)


def _different_items(gold: str, answer: str) -> None:
    """Check that two numbers or two expressions differ."""
    try:
        need(not _near(gold, answer), "the numbers are equal")
    except UnreadError:
        _different_expressions(gold, answer)


def _other_brackets(gold: str, answer: str, _detail: str = "") -> None:
    """Check that brackets of two kinds are around several members each."""
    found = [tokens(text) for text in (gold, answer)]
    for one in found:
        if len(one) < 3 or one[0] not in OPENING or len(members("".join(one))[1]) < 2:
            raise UnreadError
    need((found[0][0], found[0][-1]) != (found[1][0], found[1][-1]), "the same brackets")


def _not(equal: _Check) -> _Check:
    """Return the check that finds what another check refutes."""

    def check_difference(gold: str, answer: str, _detail: str = "") -> None:
        try:
            equal(gold, answer)
        except RefutedError:
            return
        raise RefutedError("both are equal")

    return check_difference


_WHOLE = ("without name or unit", "choice")
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
    "words": _different_words,
    "choice": _not(_equal_choice),
    "mark": _not(_equal_marks),
    "reals": _not(_equal_reals),
    "expression": _different_expressions,
    "equation": _not(_equal_equations),
    "relation": _not(_equal_equations),
    "brackets": _other_brackets,
    "how many": _other_number,
    "member missing": _no_such_member,
    "entries": _missing,
    "without name or unit": _missing,
}
