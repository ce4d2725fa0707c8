"""Samples are together when a judge of pairs finds them the same as the first of their strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement
from setrl.judges.partition import spread_over_all

TextPair = tuple[str, str]
Same = Callable[[str, list[TextPair]], Sequence[Any]]
"""(prompt, pairs of samples) → for each pair True (same strategy), False, or None (no answer)."""

UNANSWERED = "unanswered"


@dataclass
class PairCounts:
    """What a `PairwiseJudge` has asked so far.

    Attributes:
        questions: Pairs asked about.
        unanswered: Those without an answer.
    """

    questions: int = 0
    unanswered: int = 0


@dataclass(frozen=True)
class PairwiseJudge(Judge):
    """Pairs → labels: each sample is compared with the first of every strategy before it.

    That are at most N·C questions for C strategies, in C rounds of one call each; one wrong answer
    misplaces one sample, or makes a strategy too many. DARLING (arXiv:2509.02534) asks a classifier
    about all pairs and joins what any chain of "same" joins, so that one wrong "same" merges two
    strategies.

    A group without one of the answers is unknown ("unanswered"). A blank sample is degenerate, and
    nothing is asked about it.

    Attributes:
        same: The judge of pairs: a classifier, another judge (`ByJudge`) or any
            function. It is called with several pairs of one prompt at once.
        counts: What was asked so far. Do not use one judge from several threads.
    """

    same: Same
    counts: PairCounts = field(default_factory=PairCounts, compare=False)

    @override
    def close(self) -> None:
        if isinstance(self.same, ByJudge):
            self.same.of.close()

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        return [self._judge_group(group) for group in groups]

    def _judge_group(self, group: Group) -> Judgement:
        places = [place for place, text in enumerate(group.texts) if text.strip()]
        texts = [group.texts[place] for place in places]
        labels = self._find_labels(group.prompt, texts)
        if labels is None:
            return Judgement(None, reason=UNANSWERED)
        return Judgement(spread_over_all(places, labels, len(group.texts)))

    def _find_labels(self, prompt: str, texts: list[str]) -> Sequence[int] | None:
        labels = [0] * len(texts)
        remaining, label = list(range(len(texts))), 0
        while remaining:
            first, *others = remaining
            answers = self._ask_about_pairs(
                prompt, [(texts[first], texts[other]) for other in others]
            )
            if None in answers:
                return None
            for place in (first, *(o for o, same in zip(others, answers, strict=True) if same)):
                labels[place] = label
            remaining = [other for other, same in zip(others, answers, strict=True) if not same]
            label += 1
        return labels

    def _ask_about_pairs(self, prompt: str, pairs: list[TextPair]) -> list[bool | None]:
        answers = list(self.same(prompt, pairs)) if pairs else []
        if len(answers) != len(pairs):
            raise ValueError(
                f"same must give one answer per pair, {len(pairs)}, got {len(answers)}"
            )
        self.counts.questions += len(pairs)
        self.counts.unanswered += sum(answer is None for answer in answers)
        return [None if answer is None else bool(answer) for answer in answers]


@dataclass(frozen=True)
class ByJudge:
    """A judge of groups that is asked about each pair as a group of two.

    To see whether a judge is consistent with itself, compare `PairwiseJudge(ByJudge(judge))` with
    `judge`. A pair with a degenerate sample is "different".
    """

    of: Judge

    def __call__(self, prompt: str, pairs: list[TextPair]) -> list[bool | None]:
        """Return whether the samples of each pair are together; None without an answer."""
        judgements = self.of.judge([Group.of_texts(prompt, pair) for pair in pairs])
        return [
            None if judgement.labels_N is None else judgement.labels_N == (0, 0)
            for judgement in judgements
        ]


def of_judge(of: Judge) -> PairwiseJudge:
    """Return a judge that asks another judge about pairs of samples."""
    return PairwiseJudge(ByJudge(of))
