"""One reader for each value of a sample: every door of setrl calls these, and nothing else.

| value | is | unknown | refused |
|---|---|---|---|
| number | a number, or its digits; "correct" is 1 | None, NaN, blank | infinity, other texts |
| outcome | True or False, 1 or 0, a word such as "wrong" | None, NaN, blank | 0.5, other texts |
| label | a name, or an integer from 0; −1 is degenerate | None, NaN, blank | 1.5, −2, 2⁵³ |
| answer | text; a number is its digits | None, NaN, blank | infinity |
| tokens | a whole number from 0, or a list of tokens | None, NaN, blank | −1, 1.5, infinity, true |
| pairs | a symmetric matrix of numbers | None; NaN on the diagonal | infinity, another shape |
| cut | the last token does not end a sample | | |

A number, its digits and an array or tensor of one element are one value; a time is none. Texts are
compared in Unicode's normal form C, without the spaces around them. docs/values.md shows what odd
values become at each door.
"""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from numbers import Rational, Real
from typing import Any, TypeVar

import numpy as np

DEGENERATE = -1
"""The label of a sample that is of no strategy, as noise is in scikit-learn."""

Label = str | int | None  # a name or a number; DEGENERATE (−1): of no strategy; None: unknown

LARGEST_LABEL = 2**53  # below it, float64, which knows NaN, keeps integers apart
RIGHT = {"correct", "right", "true", "yes", "pass", "passed", "success", "solved", "accepted", "c"}
WRONG = {"incorrect", "wrong", "false", "no", "fail", "failed", "failure", "rejected", "i"}
NOTHING = {"", "nan", "null", "none", "n/a", "<na>"}  # texts that are no value
NUMBERS, TIMES = "fiub", "mM"  # kinds of NumPy's dtypes; the item of a time may be an integer
OF_PANDAS = ("NAType", "NaTType")  # what is unknown there; reading a config must not import it

_NUMBER = re.compile(r"[+\-−]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+\-]?[0-9]+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+\-−]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,15}|[\-−]1)(\.0*)?")
_Read = TypeVar("_Read")


def plain(value: Any) -> Any:
    """Return a number of any library as Python's, also of an array of one element; None for NaN.

    Tensors are recognised by their attributes: reading a config must not import PyTorch.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    if hasattr(value, "shape") and hasattr(value, "item") and math.prod(value.shape) == 1:
        if np.ma.is_masked(value):
            return None
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in TIMES:
            return None if np.isnat(value).all() else np.asarray(value)
        element = value.item()
        if type(element) is not type(value):  # np.longdouble gives itself
            return plain(element)
    if isinstance(value, Real | Decimal):
        number = _as_float(value)
        if isinstance(value, Rational | Decimal) and math.isfinite(number):
            whole = math.floor(value)
            return whole if whole == value else number
        return plain(number)
    return None if type(value).__name__ in OF_PANDAS else value


def read_number(value: Any) -> float:
    """Return a reward, or another number that a sample has; NaN if it is unknown.

    A word such as "correct" or "wrong" is 1 or 0.

    >>> [read_number(one) for one in (True, "0.5", "wrong", None, "")]
    [1.0, 0.5, 0.0, nan, nan]

    Raises:
        ValueError: If it is not a finite number.
    """
    plain_value = plain(value)
    if isinstance(plain_value, str):
        word = plain_value.strip().lower()
        if word in NOTHING:
            return math.nan
        if word in RIGHT or word in WRONG:
            return float(word in RIGHT)
    if plain_value is None:
        return math.nan
    if not math.isnan(number := _number_in_digits(plain_value)):
        return number
    raise ValueError(
        "a finite number, true or false, a word such as correct or wrong, or None (null) where it "
        f"is unknown, got {_quoted(value)}"
    )


def read_score(value: Any) -> float | None:
    """Return `read_number`, with None for what is unknown."""
    number = read_number(value)
    return None if math.isnan(number) else number


def read_count(value: Any) -> int | None:
    """Return a whole number from 0, as of tokens or of a step; None if it is unknown.

    >>> [read_count(one) for one in (3, 3.0, "3", None)]
    [3, 3, 3, None]

    Raises:
        ValueError: If it is something else; true and words such as "correct" count nothing.
    """
    plain_value = plain(value)
    if plain_value is None or (
        isinstance(plain_value, str) and plain_value.strip().lower() in NOTHING
    ):
        return None
    number = math.nan if isinstance(plain_value, bool) else _number_in_digits(plain_value)
    if 0 <= number < LARGEST_LABEL and number.is_integer():
        return int(number)
    raise ValueError(f"a whole number from 0 to 2^53 − 1, or None (unknown), got {_quoted(value)}")


def read_tokens(value: Any) -> int | None:
    """Return a number of tokens, which is the length of a list of tokens; see `read_count`.

    >>> [read_tokens(one) for one in (3, [17, 4, 17], "")]
    [3, 3, None]
    """
    return len(value) if isinstance(value, list | tuple) else read_count(value)


def read_outcome(value: Any) -> bool | None:
    """Return whether a sample is right; None if that is not known.

    >>> [read_outcome(one) for one in (1, "wrong", 0.0, None)]
    [True, False, False, None]

    Raises:
        ValueError: If it is another number, or another text.
    """
    try:
        number = read_number(value)
    except ValueError:
        number = math.inf
    if math.isnan(number):
        return None
    if is_outcome(number):
        return number == 1
    graded = ": compare it with a threshold yourself, as in scores > 0.5"
    raise ValueError(
        f"True or False (1 or 0), a word such as correct, or None (unknown), got {_quoted(value)}"
        + (graded if math.isfinite(number) else "")
    )


def read_label(value: Any) -> Label:
    """Return the label of a strategy: a name, an integer, −1 for degenerate, None for unknown.

    A number and its digits are one label; longer digits than a number may have are a name, as of
    a hash.

    >>> [read_label(one) for one in (" factor", 3.0, "3", True, "-1", None, "")]
    ['factor', 3, 3, 1, -1, None, None]

    Raises:
        ValueError: If it is neither a name nor an integer from −1 to 2⁵³ − 1.
    """
    plain_value = plain(value)
    if isinstance(plain_value, str):
        text = _normal_form(plain_value)
        if text.lower() in NOTHING:
            return None
        digits = text.replace("−", "-").partition(".")[0]
        is_number = _WHOLE.fullmatch(text) and int(digits) < LARGEST_LABEL
        return int(digits) if is_number else sys.intern(text)
    if plain_value is None:
        return None
    if (
        isinstance(plain_value, int | float)
        and DEGENERATE <= plain_value < LARGEST_LABEL
        and plain_value % 1 == 0
    ):
        return int(plain_value)
    raise ValueError(
        "names or integers from 0 to 2^53 − 1, −1 (degenerate) or None (unknown), got "
        f"{_quoted(value)}"
    )


def read_answer(value: Any) -> str | None:
    """Return an answer as text; None if it is unknown.

    >>> [read_answer(one) for one in (" 7/2", 3.0, 0.5, None)]
    ['7/2', '3', '0.5', None]

    Raises:
        ValueError: If it is neither text nor a finite number.
    """
    plain_value = plain(value)
    if plain_value is None or isinstance(plain_value, str):
        return _normal_form(plain_value or "") or None
    if isinstance(plain_value, int):
        return str(int(plain_value))
    if isinstance(plain_value, float) and math.isfinite(plain_value):
        return str(plain_value + 0.0).removesuffix(".0")  # −0.0 is 0
    raise ValueError(f"texts, numbers or None (unknown), got {_quoted(value)}")


def in_order(labels: Iterable[Label]) -> list[Label]:
    """Sort labels: numbers by value, also texts of digits, before other texts.

    >>> in_order(["x", "10", "9", "9.0", 3])
    [3, '9', '9.0', '10', 'x']
    """
    return sorted(labels, key=_sort_key)


def _sort_key(label: Label) -> tuple[bool, float, str]:
    text = str(label)
    is_number = _NUMBER.fullmatch(text) is not None
    return not is_number, float(text.replace("−", "-")) if is_number else 0.0, text


def is_same(answer: str | None, gold: str) -> bool:
    """Return whether two short answers are one number or one text.

    >>> is_same("1,000", "1e3"), is_same("1,0", "10"), is_same("yes", "true")
    (True, False, False)
    >>> is_same("9007199254740993", "9007199254740992"), is_same("1e20", "1" + "0" * 20)
    (False, True)
    """
    if answer is None:
        return False
    return _normal_form(answer) == _normal_form(gold) or _is_same_number(answer, gold)


def _is_same_number(answer: str, gold: str) -> bool:
    """Return whether two texts write one number, also beyond the digits of a float."""
    number = written_number(answer)
    if number != written_number(gold):
        return False  # also where one is no number
    return abs(number) < LARGEST_LABEL or _exact(answer) == _exact(gold)


def _exact(answer: str) -> Decimal:
    return Decimal(_without_thousands(answer).replace("−", "-"))


def written_number(answer: str) -> float:
    """Return the number that an answer writes, also with commas between thousands; else NaN."""
    return _number_in_digits(_without_thousands(answer))


def _without_thousands(answer: str) -> str:
    text = answer.strip()
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def read_pairs(value: Any, num_samples: int) -> np.ndarray:
    """Return a number for each pair of a prompt's samples, (N, N); NaN marks unknown samples.

    Raises:
        ValueError: If it is not a symmetric matrix of finite numbers for so many samples.
    """
    if value is None:
        return np.full((num_samples, num_samples), np.nan)
    expected = f"{num_samples} × {num_samples} numbers for a prompt"
    try:
        is_plain = type(value) is np.ndarray or not hasattr(value, "tolist")
        given = np.asarray(value if is_plain else value.tolist())
    except (TypeError, ValueError):
        raise ValueError(f"{expected}, got {_quoted(value)}") from None
    if given.shape != (num_samples, num_samples):
        raise ValueError(f"{expected}, got the shape {given.shape}")
    if given.dtype.kind not in NUMBERS:
        given = np.reshape(read_all(read_number, given.flat), given.shape)
    matrix = given.astype(np.float64)
    is_known = known_of_pairs(matrix)
    matrix[~is_known] = matrix[:, ~is_known] = np.nan
    return matrix


def known_of_pairs(pairs: np.ndarray) -> np.ndarray:
    """Return which samples have numbers for their pairs, (…, N) bool, of (…, N, N).

    Raises:
        ValueError: If the numbers of these samples are not symmetric and finite.
    """
    is_known = ~np.isnan(np.diagonal(pairs, axis1=-2, axis2=-1))
    both = is_known[..., :, None] & is_known[..., None, :]
    if not np.isfinite(pairs[both]).all():
        raise ValueError(
            "finite numbers between samples that are known; a sample that is not known has NaN on "
            "the diagonal"
        )
    if not np.allclose(np.where(both, pairs, 0), np.where(both, np.swapaxes(pairs, -1, -2), 0)):
        raise ValueError("a symmetric matrix: equal for (i, j) and (j, i)")
    return is_known


def is_outcome(number: float) -> bool:
    """Return whether a number says right (1) or wrong (0)."""
    return number in (0, 1)


def no_outcomes(numbers: np.ndarray) -> np.ndarray:
    """Return the numbers that say neither right (1) nor wrong (0) nor unknown (NaN), flat."""
    return numbers[(numbers != 0) & (numbers != 1) & ~np.isnan(numbers)]


def was_cut(ids: Sequence[int], ends: Collection[int | None]) -> bool:
    """Return whether a sample was cut: it does not end with a token that ends or follows samples.

    A sample without a token never ended: it was cut.

    >>> was_cut([5, 2], {2, 0}), was_cut([5, 2, 0], {2, 0}), was_cut([2, 5], {2, 0})
    (False, False, True)
    """
    return not len(ids) or int(ids[-1]) not in ends


LENGTH = "length"  # a server's word for a text that ended at its limit of tokens
REASONED = "reasoning"  # our word for a text that ended itself, and is all in reasoning_content
# And for a whole text.
WHOLE = (None, "stop", "eos", "eos_token", "end_turn", "stop_sequence", REASONED)


def was_cut_by(finish: str | None) -> bool:
    """Return whether a text was cut, by a server's word for its end; other words than `WHOLE` cut.

    >>> was_cut_by("stop"), was_cut_by("length"), was_cut_by("content_filter")
    (False, True, True)
    """
    return finish not in WHOLE


def read_all(read: Callable[[Any], _Read], values: Iterable[Any]) -> list[_Read]:
    """Read each value, once for each different one."""
    reading_of: dict[Any, _Read] = {}
    readings = []
    for value in values:
        try:
            if (type(value), value) not in reading_of:
                reading_of[type(value), value] = read(value)
            readings.append(reading_of[type(value), value])
        except TypeError:  # not hashable
            readings.append(read(value))
    return readings


def shown_label(label: Label) -> str | None:
    """Write a label for people; None if it is unknown.

    >>> shown_label("factor"), shown_label(3), shown_label(-1)
    ('factor', '3', 'degenerate')
    """
    if label == DEGENERATE:
        return "degenerate"
    return None if label is None else str(label)


def _number_in_digits(value: Any) -> float:
    """Return a finite number, or that of a text of digits; NaN for anything else."""
    if isinstance(value, str):
        text = value.strip()
        value = text.replace("−", "-") if _NUMBER.fullmatch(text) else None
    if isinstance(value, str | int | float) and math.isfinite(number := _as_float(value)):
        return number
    return math.nan


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf
    except ValueError:  # a signalling NaN of decimal
        return math.nan


def _normal_form(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _quoted(value: Any) -> str:
    return f"{value!r:.80}"
