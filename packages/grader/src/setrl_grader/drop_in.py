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
from setrl_grader.grader import guarded
from setrl_grader.grades import Reason
from setrl_grader.math_grader import MathGrader
from setrl_grader.normal_form import normal_form
from setrl_grader.stated import HOPE, Stated, after_thinking, is_asserted, stated_answer
from setrl_grader.units import UNITS

_FORMULA = re.compile(
    r"\$\$((?:[^$]|\$(?!\$))+)\$\$|\$([^$]+)\$|\\\(((?:[^\\]|\\(?![()]))+)\\\)"
    r"|\\\[((?:[^\\]|\\(?![\[\]]))+)\\\]"
)
_WORD = re.compile(r"[^\W\d_]+")
_LEADS = re.compile(  # what ends the words before a formula that states the answer
    r"(?:.*(?P<verb>\b(?:is|are|equals|get|have|obtain|find|so|thus|hence|therefore),?|:))?\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
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
    is", or in the last line. In prose it is the only formula (`$…$`, `\(…\)`, `\[…\]`), if the
    words before it lead to it ("so x is", "we get") and only a unit is behind it. Other prose
    states nothing, and so does text that is longer than an answer (`MathGrader.max_length`).

    Args:
        pred: The text of a sample, or a gold.
        extraction_config: Refused: what is read is written above.
        fallback_mode: "first_match": what is not understood stays text, and equals only itself.
        extraction_mode: "any_match" or "first_match": there is at most one answer.
        parsing_timeout: Any value: reading needs no algebra.
        raise_on_error: Any value: no text raises.

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
    form = guarded(pred, None, lambda: _form(pred))
    return [form] if isinstance(form, str) and form else []


def _form(text: str) -> str:
    stated = stated_answer(text)
    answer = stated.text if stated else _of_boxes(text)
    if len(answer) > MathGrader.max_length:
        return ""
    return normal_form(_of_prose(stated) if stated else answer)


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
        float_rounding: The largest relative error of a decimal is 10 to the power of minus this,
            which is 1 or more.
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
    if not float_rounding >= 1:
        raise ValueError(f"float_rounding must be 1 or more, got {float_rounding}")
    grader = _grader(10.0**-float_rounding)
    sides = (each if isinstance(each, list | tuple) else [each] for each in (gold, target))
    golds, targets = sides
    return any(_equal(grader, *pair, raise_on_error) for pair in product(golds, targets))


def _of_boxes(text: str) -> str:
    """Return different boxes as one list, if only punctuation, "and" or "or" is between them."""
    boxes = final_boxes(after_thinking(text) or "")
    return ", ".join(boxes.answers) if boxes.joined else ""


def _of_prose(stated: Stated) -> str:
    """Return what is stated, or the only formula in it if there are words around it."""
    formulas = list(_FORMULA.finditer(stated.text))
    words = set(_WORD.findall(_FORMULA.sub(" ", stated.text)))
    if stated.place == "marked" or not formulas or words <= {"and", "or"}:
        return stated.text
    before = stated.text[: formulas[0].start()]
    behind = set(_WORD.findall(HOPE.sub("", stated.text[formulas[0].end() :])))
    lead = _LEADS.match(before)
    asserted = lead and is_asserted(before[: lead.start("verb")] if lead["verb"] else before)
    if len(formulas) > 1 or not (asserted and behind <= UNITS | {"percent"}):
        return ""
    formula = next(each for each in formulas[0].groups() if each)
    return f"{formula}{'%' * ('percent' in behind)}"


def _equal(grader: MathGrader, gold: object, answer: object, raise_on_error: bool) -> bool:
    box = rf"\boxed{{{answer}}}"
    if final_boxes(box).answers != (str(answer),):  # its braces are not in pairs
        return False
    grade = grader.grade(box, gold)
    if raise_on_error and grade.reason in _UNGRADED:
        raise GoldError(f"answer {str(answer)[:80]!r} to gold {str(gold)[:80]!r}: {grade.reason}")
    return bool(grade.correct)


@lru_cache(maxsize=8)
def _grader(relative_tolerance: float) -> MathGrader:
    return MathGrader(relative_tolerance=relative_tolerance)
