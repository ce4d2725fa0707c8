r"""The grader in the form in which others call it: trainers, evaluations, and math-verify's users.

Rewards and scorers call one `MathGrader`, which reads the last box; a gold that cannot be used is
unknown, in the way in which each library says so. docs/grader.md has five lines for each library.

>>> trl_reward([r"\boxed{0.5}", r"\boxed{2}"], solution=[r"\frac{1}{2}", r"\frac{1}{2}"])
[1.0, 0.0]

`parse` and `verify` have math-verify's names and its order of arguments: the gold first. It returns
expressions of SymPy from `parse`; here an answer stays text. An argument of math-verify is accepted
if what it asks for holds here, and refused by name if it does not.

>>> verify(parse(r"$\frac{1}{2}$"), parse(r"So it is \boxed{0.5}."))
True
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Any

from setrl_grader.grades import Grade, Grader, Reason, check_lengths, guarded
from setrl_grader.math_grader import MathGrader, grade, shared
from setrl_grader.normal_form import normal_form
from setrl_grader.plain import NumberGrader
from setrl_grader.problem import FORMULA, text_of
from setrl_grader.stated import (
    HOPE,
    Gold,
    GoldError,
    Stated,
    after_thinking,
    final_boxes,
    gold_answer,
    is_asserted,
    stated_answer,
)
from setrl_grader.units import UNITS

PROBLEMS = ("question", "problem", "prompt")  # where verl's data sets have the problem
GOLD_TYPE = "gold_type"  # where a data set has the declared types of golds
GOLD_COLUMNS = ("answer", "final_answer", "solution", "ground_truth", "gold", "target")


def trl_reward(completions: Sequence[object], **columns: Any) -> list[float | None]:
    """Return the reward of each sample, for TRL's `reward_funcs`; None if the gold is unusable.

    The gold is in a column `answer`, `final_answer`, `solution`, `ground_truth`, `gold` or
    `target`: in the first of them that has one in this row. A worked solution may hold the gold in
    a box.

    Args:
        completions: The samples, as text or as messages; a sample that is neither states nothing.
        columns: The other columns of the data set, a list each. A copy of a formula of its prompt
            (`prompts`, which TRL passes) is no answer. `gold_type` may declare types.

    Raises:
        ValueError: If there is no such column, or not one gold for each sample in it.
    """
    found = [columns[name] for name in GOLD_COLUMNS if columns.get(name) is not None]
    if not found:
        raise ValueError(
            f"the golds must be in one of the columns {', '.join(GOLD_COLUMNS)}, "
            f"but the columns are: {', '.join(columns) or 'none'}"
        )
    for column in found:
        check_lengths(completions, column)
    texts = [_last_text(completion) for completion in completions]
    types = columns.get(GOLD_TYPE) or [None] * len(texts)
    rows = zip(zip(*found, strict=True), types, strict=True)
    golds = [Gold(next(filter(gold_answer, row), None), kind) for row, kind in rows]
    return [each.reward for each in shared().grades(texts, golds, prompts=columns.get("prompts"))]


def compute_score(
    data_source: object, solution_str: str, ground_truth: object, extra_info: Any = None, **_: Any
) -> dict[str, float]:
    """Return the score of a sample, for verl's `custom_reward_function`.

    verl has no unknown reward: if the gold is unusable, the score of every sample of the prompt is
    0, which gives all of them the advantage 0, and `gold_read` is 0.

    Args:
        data_source: With "gsm8k" in it, in any case, the answer is the number after "####", in a
            box, or after "answer is"; else the last box counts.
        solution_str: The sample.
        ground_truth: The gold.
        extra_info: Its "question", "problem" or "prompt", of which a copy is no answer, and the
            "gold_type" that the gold declares.
    """
    grader: Grader = NumberGrader() if "gsm8k" in str(data_source).lower() else shared()
    more = extra_info if isinstance(extra_info, Mapping) else {}
    problem = next((more[name] for name in PROBLEMS if more.get(name)), None)
    gold = Gold(ground_truth, more.get(GOLD_TYPE))
    found = grader.grade(solution_str, gold, prompt=problem)
    score = found.reward or 0.0
    return {"score": score, "acc": score, "gold_read": float(found.correct is not None)}


def _last_text(completion: object) -> str:
    """Return plain text, or the text of the assistant's last message."""
    messages = completion if isinstance(completion, list | tuple) else [completion]
    roles = [each.get("role") if isinstance(each, Mapping) else None for each in messages]
    pairs = zip(roles, messages, strict=True)
    said = [each for role, each in pairs if role in (None, "assistant")]
    return text_of(said[-1]) if said else ""


def verifiers_reward(gold: str = "answer") -> Any:
    """Return a reward for a `Task` of verifiers: `right = setrl_grader.verifiers_reward()`.

    verifiers 0.4 has no rubrics; rewards are methods of a task. A gold that cannot be used is an
    error of the trace, which then leaves its group.

    Args:
        gold: The field of the task's data that holds the gold; its field `gold_type`, if there is
            one, declares the gold's type.
    """
    import verifiers.v1 as vf

    @vf.reward
    async def right(self: Any, trace: Any) -> float:
        said, kind = trace.last_reply, getattr(self.data, GOLD_TYPE, None)
        right_one = Gold(getattr(self.data, gold), kind)
        problem = getattr(self.data, "prompt", None)
        found = await asyncio.to_thread(grade, said, right_one, prompt=problem)
        if found.reward is None:
            raise GoldError(f"gold {getattr(self.data, gold)!r} cannot be used for grading")
        return found.reward

    return right


def inspect_scorer() -> Any:
    """Return a scorer for a `Task` of inspect_ai; a sample without a usable gold is unscored.

    The metadata `gold_type` of a sample may declare the type of its golds.
    """
    return _inspect_scorer()()


@cache
def _inspect_scorer() -> Any:
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr

    @scorer(metrics=[accuracy(), stderr()], name="setrl_math")
    def math_scorer() -> Any:
        async def score(state: Any, target: Any) -> Any:
            said, problem = state.output.completion, getattr(state, "input_text", None)
            more = getattr(state, "metadata", None) or {}
            golds = [Gold(each, more.get(GOLD_TYPE)) for each in target]
            found = await asyncio.to_thread(_best, said, golds, problem)
            if found.correct is None:
                return Score.unscored(reason=str(found.reason))
            value = CORRECT if found.correct else INCORRECT
            return Score(value=value, answer=found.answer, explanation=str(found.reason))

        return score

    return math_scorer


def lighteval_metric() -> Any:
    """Return a metric for a task of lighteval: the share of right samples among the known ones.

    The key `gold_type` of a doc's `specific` may declare the type of its golds.
    """
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric
    from lighteval.tasks.requests import SamplingMethod

    class MathSamples(SampleLevelComputation):
        def compute(self, model_response: Any, doc: Any, **_: Any) -> float:
            kind = (getattr(doc, "specific", None) or {}).get(GOLD_TYPE)
            golds = [Gold(each, kind) for each in doc.get_golds()]
            found = _best("".join(model_response.final_text[:1]), golds, doc.query)
            return math.nan if found.reward is None else found.reward

    return SampleLevelMetric(
        metric_name="setrl_math",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=MathSamples(),
        corpus_level_fn=_mean_of_known,
    )


def _mean_of_known(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _best(text: str, golds: Sequence[object], problem: object) -> Grade:
    """Return the grade with the gold that fits best: right, else wrong, else unknown."""
    found = [Grade(Reason.BAD_GOLD), *(grade(text, gold, prompt=problem) for gold in golds)]
    return max(found, key=lambda each: -1.0 if each.reward is None else each.reward)


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
    golds, targets = (each if isinstance(each, list | tuple) else [each] for each in (gold, target))
    return any(_equal(grader, *pair, raise_on_error) for pair in product(golds, targets))


def _of_boxes(text: str) -> str:
    """Return different boxes as one list, if only punctuation, "and" or "or" is between them."""
    boxes = final_boxes(after_thinking(text) or "")
    return ", ".join(boxes.answers) if boxes.joined else ""


def _of_prose(stated: Stated) -> str:
    """Return what is stated, or the only formula in it if there are words around it."""
    formulas = list(FORMULA.finditer(stated.text))
    words = set(_WORD.findall(FORMULA.sub(" ", stated.text)))
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
