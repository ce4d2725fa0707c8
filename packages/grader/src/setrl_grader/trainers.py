r"""Reward functions and scorers in the form in which trainers and evaluations of others want them.

All call one `MathGrader`, which reads the last box; a gold that cannot be used is unknown, in the
way in which each library says so. docs/grader.md has five lines for each library.

>>> trl_reward([r"\boxed{0.5}", r"\boxed{2}"], solution=[r"\frac{1}{2}", r"\frac{1}{2}"])
[1.0, 0.0]
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from setrl_grader.errors import GoldError
from setrl_grader.golds import Gold, gold_answer
from setrl_grader.grader import Grader, check_lengths
from setrl_grader.grades import Grade, Reason
from setrl_grader.math_grader import MathGrader, grade
from setrl_grader.plain import NumberGrader

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
    return [each.reward for each in _math().grades(texts, golds, prompts=columns.get("prompts"))]


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
    grader: Grader = NumberGrader() if "gsm8k" in str(data_source).lower() else _math()
    more = extra_info if isinstance(extra_info, Mapping) else {}
    problem = next((more[name] for name in PROBLEMS if more.get(name)), None)
    gold = Gold(ground_truth, more.get(GOLD_TYPE))
    found = grader.grade(solution_str, gold, prompt=problem)
    score = found.reward or 0.0
    return {"score": score, "acc": score, "gold_read": float(found.correct is not None)}


def _last_text(completion: object) -> str:
    """Return plain text, or the text of the assistant's last message without its other blocks."""
    messages = completion if isinstance(completion, list | tuple) else [completion]
    said = [each for each in messages if _role(each) in (None, "assistant")]
    last = said[-1] if said else None
    content = last.get("content") if isinstance(last, Mapping) else last
    blocks = content if isinstance(content, list | tuple) else [content]
    return "".join(map(_of_block, blocks))


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else None


def _of_block(block: object) -> str:
    is_text = isinstance(block, Mapping) and block.get("type") == "text"
    text = block.get("text") if is_text else block  # type: ignore[attr-defined]
    return text if isinstance(text, str) else ""


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


@cache
def _math() -> MathGrader:
    return MathGrader()
