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
from setrl_grader.grader import Grader
from setrl_grader.grades import Grade
from setrl_grader.math_grader import MathGrader, grade
from setrl_grader.plain import NumberGrader

Text = str | Sequence[Mapping[str, Any]]  # plain, or the messages of a conversation
GOLD_COLUMNS = ("answer", "final_answer", "solution", "ground_truth", "gold", "target")


def trl_reward(completions: Sequence[Text], **columns: Any) -> list[float | None]:
    """Return the reward of each sample, for TRL's `reward_funcs`; None if the gold is unusable.

    The gold is in the first column of the data set that it has of `answer`, `final_answer`,
    `solution`, `ground_truth`, `gold`, `target`. A worked solution may hold the gold in a box.

    Args:
        completions: The samples, as text or as messages.
        columns: The other columns of the data set, a list each.

    Raises:
        ValueError: If there is no such column.
    """
    column = next((name for name in GOLD_COLUMNS if name in columns), None)
    if column is None:
        raise ValueError(
            f"the golds must be in one of the columns {', '.join(GOLD_COLUMNS)}, "
            f"but the columns are: {', '.join(columns) or 'none'}"
        )
    texts = [_last_text(completion) for completion in completions]
    return [each.reward for each in _math().grades(texts, columns[column])]


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None, **_: Any
) -> dict[str, float]:
    """Return the score of a sample, for verl's `custom_reward_function`.

    verl has no unknown reward: if the gold is unusable, the score of every sample of the prompt is
    0, which gives all of them the advantage 0, and `gold_read` is 0.

    Args:
        data_source: With "gsm8k" in it, the answer is the number after "####", in a box, or after
            "answer is"; else the last box counts.
        solution_str: The sample.
        ground_truth: The gold.
        extra_info: Not read.
    """
    grader: Grader = NumberGrader() if "gsm8k" in data_source else _math()
    found = grader.grade(solution_str, ground_truth)
    score = found.reward or 0.0
    return {"score": score, "acc": score, "gold_read": float(found.correct is not None)}


def _last_text(completion: Text) -> str:
    """Return plain text, or the text of the last message without its other blocks."""
    if isinstance(completion, str) or not completion:
        return completion or ""  # type: ignore[return-value]
    content = completion[-1].get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block.get("type") == "text")


def verifiers_reward(gold: str = "answer") -> Any:
    """Return a reward for a `Task` of verifiers: `right = setrl_grader.verifiers_reward()`.

    verifiers 0.4 has no rubrics; rewards are methods of a task. A gold that cannot be used is an
    error of the trace, which then leaves its group.

    Args:
        gold: The field of the task's data that holds the gold.
    """
    import verifiers.v1 as vf

    @vf.reward
    async def right(self: Any, trace: Any) -> float:
        found = await asyncio.to_thread(grade, trace.last_reply, getattr(self.data, gold))
        if found.reward is None:
            raise GoldError(f"gold {getattr(self.data, gold)!r} cannot be used for grading")
        return found.reward

    return right


def inspect_scorer() -> Any:
    """Return a scorer for a `Task` of inspect_ai; a sample without a usable gold is unscored."""
    return _inspect_scorer()()


@cache
def _inspect_scorer() -> Any:
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr

    @scorer(metrics=[accuracy(), stderr()], name="setrl_math")
    def math_scorer() -> Any:
        async def score(state: Any, target: Any) -> Any:
            found = await asyncio.to_thread(_best, state.output.completion, target)
            if found.correct is None:
                return Score.unscored(reason=str(found.reason))
            value = CORRECT if found.correct else INCORRECT
            return Score(value=value, answer=found.answer, explanation=str(found.reason))

        return score

    return math_scorer


def lighteval_metric() -> Any:
    """Return a metric for a task of lighteval: the share of right samples among the known ones."""
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric
    from lighteval.tasks.requests import SamplingMethod

    class MathSamples(SampleLevelComputation):
        def compute(self, model_response: Any, doc: Any, **_: Any) -> float:
            found = _best(model_response.final_text[0], doc.get_golds())
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


def _best(text: str, golds: Sequence[object]) -> Grade:
    """Return the grade with the gold that fits best: right, else wrong, else unknown."""
    found = [grade(text, gold) for gold in golds]
    return max(found, key=lambda each: -1.0 if each.reward is None else each.reward)


@cache
def _math() -> MathGrader:
    return MathGrader()
