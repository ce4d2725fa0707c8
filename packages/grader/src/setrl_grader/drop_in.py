r"""`parse` and `verify` under math-verify's names, with its order of arguments: the gold first.

math-verify returns expressions of SymPy from `parse`; here an answer stays text. An argument of
math-verify is accepted if what it asks for holds here, and refused by name if it does not.

>>> verify(parse(r"$\frac{1}{2}$"), parse(r"So it is \boxed{0.5}."))
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from setrl_grader.boxes import final_boxes
from setrl_grader.errors import GoldError
from setrl_grader.grades import Reason
from setrl_grader.math_grader import MathGrader
from setrl_grader.normal_form import normal_form
from setrl_grader.plain import HEDGE
from setrl_grader.stated import Stated, after_thinking, stated_answer

_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_WORD = re.compile(r"(?!(?:and|or)\b)\b[^\W\d_]+")
_UNGRADED = {Reason.BAD_GOLD, Reason.TOO_LARGE}


def parse(
    pred: str,
    extraction_config: None = None,
    fallback_mode: str = "first_match",
    extraction_mode: str = "any_match",
    parsing_timeout: float | None = 5,
    raise_on_error: bool = False,
) -> list[str]:
    r"""Return the answer that text states, in a list of one; an empty list if it states none.

    The answer is in the last box or list of boxes, in `<answer>` tags, after "####", after "answer
    is", or in the last line. In prose it is the only formula (`$…$`, `\(…\)`, `\[…\]`); prose with
    a hedge or with several formulas states nothing.

    Args:
        pred: The text of a sample, or a gold.
        extraction_config: Refused: what is read is written above.
        fallback_mode: "first_match": what is not understood stays text, and equals only itself.
        extraction_mode: "any_match" or "first_match": there is at most one answer.
        parsing_timeout: Any value: reading needs no algebra.
        raise_on_error: Any value: reading raises nothing.

    Raises:
        ValueError: If an argument asks for what does not hold here.

    >>> parse(r"The answer is \(x = 5\)."), parse("Either $4$ or $5$"), parse("10 cm")
    (['x = 5'], [], ['10 cm'])
    """
    if extraction_config is not None:
        raise ValueError("extraction_config: parse reads boxes, tags, '####', 'answer is' and the "
                         "last line, and takes no configuration: leave it out")  # fmt: skip
    if fallback_mode != "first_match":
        raise ValueError(f"fallback_mode must be 'first_match', got {fallback_mode!r}: an answer "
                         "that is not understood stays text")  # fmt: skip
    if extraction_mode not in ("any_match", "first_match"):
        raise ValueError(
            f"extraction_mode must be 'any_match' or 'first_match', got {extraction_mode!r}"
        )
    stated = stated_answer(pred)
    answer = _of_prose(stated) if stated else _of_boxes(pred)
    return [form] if (form := normal_form(answer)) else []


def verify(
    gold: str | Sequence[str],
    target: str | Sequence[str],
    float_rounding: int = 6,
    numeric_precision: int = 15,
    strict: bool = True,
    allow_set_relation_comp: bool = False,
    timeout_seconds: float | None = 5,
    raise_on_error: bool = False,
) -> bool:
    """Return whether an answer is the gold; of two lists, whether any pair is.

    Args:
        gold: The gold, or what `parse` returns for it.
        target: The answer, or what `parse` returns for it.
        float_rounding: The largest relative error of a decimal is 10 to the power of minus this.
        numeric_precision: Refused if it is not 15: numbers are compared exactly.
        strict: Refused if it is False: names count, and a set is not a tuple.
        allow_set_relation_comp: Any value: 1 < x < 2 and (1, 2) are the same set here.
        timeout_seconds: Any value: a comparison has a budget of steps, which takes about a second.
        raise_on_error: Whether to raise GoldError if the gold cannot be read, or if the comparison
            takes more than its budget; else the answer is wrong.

    Raises:
        ValueError: If an argument asks for what does not hold here.

    >>> verify("1/2", "0.5"), verify("0.5", ["2", "1/2"]), verify("{1,2}", [])
    (True, True, False)
    """
    if numeric_precision != 15:
        raise ValueError("numeric_precision: numbers are compared exactly, and decimals by "
                         "float_rounding: leave it out")  # fmt: skip
    if not strict:
        raise ValueError("strict=False: names of variables count here, and a set is not a tuple; "
                         "leave it out")  # fmt: skip
    grader = _grader(10.0**-float_rounding)
    golds, targets = ([each] if isinstance(each, str) else each for each in (gold, target))
    return any(_equal(grader, *pair, raise_on_error) for pair in product(golds, targets))


def _of_boxes(text: str) -> str:
    """Return different boxes as one list, if only punctuation, "and" or "or" is between them."""
    boxes = final_boxes(after_thinking(text) or "")
    return ", ".join(boxes.answers) if boxes.joined else ""


def _of_prose(stated: Stated) -> str:
    """Return what is stated, or the only formula in it if there are words around it."""
    formulas = list(_FORMULA.finditer(stated.text))
    around = _FORMULA.sub(" ", stated.text)
    if stated.place == "marked" or not formulas or not _WORD.search(around):
        return stated.text
    if len(formulas) > 1 or HEDGE.search(around):
        return ""
    return next(each for each in formulas[0].groups() if each)


def _equal(grader: MathGrader, gold: str, answer: str, raise_on_error: bool) -> bool:
    box = rf"\boxed{{{answer}}}"
    if final_boxes(box).answers != (answer,):  # its braces are not in pairs
        return False
    grade = grader.grade(box, gold)
    if raise_on_error and grade.reason in _UNGRADED:
        raise GoldError(f"answer {answer[:80]!r} to gold {gold[:80]!r}: {grade.reason}")
    return bool(grade.correct)


@lru_cache(maxsize=8)
def _grader(relative_tolerance: float) -> MathGrader:
    return MathGrader(relative_tolerance=relative_tolerance)
