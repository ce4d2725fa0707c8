"""Samples are together when their final answers, or any other normal form, are equal."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement
from setrl.rewards.grading import final_boxes, normal_text
from setrl.samples.labels import by_first_appearance
from setrl.samples.values import DEGENERATE
from setrl.support.files.loading import load_function

Key = Callable[[str], Hashable | None]
"""A sample's text → what decides its label; None is degenerate."""


def final_answer(text: str) -> str | None:
    r"""Return the last boxed answer, or else the last line that is not empty, as `normal_text`.

    Boxes that belong together (`setrl_grader.stated`) are one answer. None if nothing is left,
    or the last box was never closed: a sample that was cut off there gives no answer.

    >>> final_answer(r"So $x = 2$, hence \(\boxed{\frac{1}{2}}\).")
    '\\frac{1}{2}'
    >>> final_answer("first 3 + 4\nthen  The Answer is 7.\n")
    'then the answer is 7'
    """
    boxes = final_boxes(text)
    if boxes.answers or boxes.cut_off:
        return normal_text(", ".join(boxes.answers))
    lines = [line for line in text.splitlines() if line.strip()]
    return normal_text(lines[-1]) if lines else None


@dataclass(frozen=True)
class ExactJudge(Judge):
    r"""Same label if and only if same key.

    Exact in what it compares, and blind to everything else: two solutions by different strategies
    with one answer are together. To compare strategies, pass a key that reads the strategy.

    Attributes:
        key: A sample's text → its key, any hashable value; None is degenerate.

    >>> ExactJudge().judge([Group.of_texts("1+1", (r"\boxed{2}", "2", "two", ""))])[0].labels_N
    (0, 0, 1, -1)
    """

    key: Key = final_answer

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        return [self._judge_by_key(group.texts) for group in groups]

    def _judge_by_key(self, texts: Sequence[str]) -> Judgement:
        keys = [DEGENERATE if (key := self.key(text)) is None else key for text in texts]
        names = tuple(None if key == DEGENERATE else str(key) for key in keys)
        return Judgement(by_first_appearance(keys), names)


def of_key(key: str | None = None) -> ExactJudge:
    """Compare final answers, or what the function `module:name` reads from a sample's text."""
    return ExactJudge(final_answer if key is None else load_function(key, ".").value)
