"""Samples are together when a judge of pairs joins them, directly or through others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement
from setrl.judges.partition import components, spread
from setrl.support.files.sections import refuse_other_choice

TextPair = tuple[str, str]
Same = Callable[[str, list[TextPair]], Sequence[Any]]
"""(prompt, pairs of samples) → for each pair True (same strategy), False, or None (no answer)."""

Pairs = Literal["representatives", "all_pairs"]
UNANSWERED = "unanswered"


@dataclass
class PairCounts:
    """What a `PairwiseJudge` has asked so far, and how many answers contradict each other.

    Attributes:
        questions: Pairs asked about.
        unanswered: Those without an answer.
        triples: Triples of samples whose three pairs were all answered ("all_pairs" only).
        intransitive: Those with exactly two pairs the same: a = b, b = c, a ≠ c.
    """

    questions: int = 0
    unanswered: int = 0
    triples: int = 0
    intransitive: int = 0


@dataclass(frozen=True)
class PairwiseJudge(Judge):
    """Pairs → clusters by union-find, as DARLING does with a classifier (arXiv:2509.02534).

    "all_pairs" asks all N(N−1)/2 questions and joins what any chain of "same" joins: one wrong
    "same" merges two clusters. It counts the triples in which that closure overrules an answer.
    "representatives" compares each sample with the first member of every cluster before it: at
    most N·C questions for C clusters, in C rounds of one call each; one wrong answer misplaces one
    sample, or makes a cluster too many.

    A group is unknown ("unanswered") if a missing answer could change its clusters: in "all_pairs"
    one between two clusters, in "representatives" any. A blank sample is degenerate, and nothing
    is asked about it.

    Attributes:
        same: The judge of pairs: a classifier, another judge (`ByJudge`) or any
            function. It is called with several pairs of one prompt at once.
        ask: Which pairs are asked about.
        counts: What was asked so far. Do not use one judge from several threads.
    """

    same: Same
    ask: Pairs = "representatives"
    counts: PairCounts = field(default_factory=PairCounts, compare=False)

    def __post_init__(self) -> None:
        refuse_other_choice("ask", self.ask, Pairs)

    @override
    def close(self) -> None:
        if isinstance(self.same, ByJudge):
            self.same.of.close()

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        return [self._judge(group) for group in groups]

    def _judge(self, group: Group) -> Judgement:
        kept = [place for place, text in enumerate(group.texts) if text.strip()]
        texts = [group.texts[place] for place in kept]
        find = self._by_representatives if self.ask == "representatives" else self._by_all_pairs
        labels = find(group.prompt, texts)
        if labels is None:
            return Judgement(None, reason=UNANSWERED)
        return Judgement(spread(kept, labels, len(group.texts)))

    def _by_representatives(self, prompt: str, texts: list[str]) -> Sequence[int] | None:
        labels = [0] * len(texts)
        left, label = list(range(len(texts))), 0
        while left:
            first, *others = left
            answers = self._ask(prompt, [(texts[first], texts[other]) for other in others])
            if None in answers:
                return None
            for place in (first, *(o for o, same in zip(others, answers, strict=True) if same)):
                labels[place] = label
            left = [other for other, same in zip(others, answers, strict=True) if not same]
            label += 1
        return labels

    def _by_all_pairs(self, prompt: str, texts: list[str]) -> Sequence[int] | None:
        pairs = list(combinations(range(len(texts)), 2))
        answers = self._ask(prompt, [(texts[i], texts[j]) for i, j in pairs])
        answer_of = dict(zip(pairs, answers, strict=True))
        labels = components(len(texts), [pair for pair in pairs if answer_of[pair]])
        self._count_triples(len(texts), answer_of)
        open_pairs = (pair for pair, same in answer_of.items() if same is None)
        return None if any(labels[i] != labels[j] for i, j in open_pairs) else labels

    def _ask(self, prompt: str, pairs: list[TextPair]) -> list[bool | None]:
        answers = list(self.same(prompt, pairs)) if pairs else []
        if len(answers) != len(pairs):
            raise ValueError(
                f"same must give one answer per pair, {len(pairs)}, got {len(answers)}"
            )
        self.counts.questions += len(pairs)
        self.counts.unanswered += sum(answer is None for answer in answers)
        return [None if answer is None else bool(answer) for answer in answers]

    def _count_triples(self, count: int, answer_of: dict[tuple[int, int], bool | None]) -> None:
        same_NN, different_NN = (np.zeros((count, count), dtype=np.int64) for _ in range(2))
        for pair, same in answer_of.items():
            if same is not None:
                (same_NN if same else different_NN)[pair] = 1
        triples, intransitive = count_triples(same_NN, different_NN)
        self.counts.triples += triples
        self.counts.intransitive += intransitive


def count_triples(same_NN: NDArray[np.int64], different_NN: NDArray[np.int64]) -> tuple[int, int]:
    """Return the triples with three answers, and how many have two "same" and one "different".

    Args:
        same_NN: 1 above the diagonal where a pair is the same.
        different_NN: 1 above the diagonal where it is not.
    """
    same_NN, different_NN = same_NN + same_NN.T, different_NN + different_NN.T
    answered_NN = same_NN + different_NN
    triples = int(np.trace(answered_NN @ answered_NN @ answered_NN)) // 6
    return triples, int((different_NN * (same_NN @ same_NN)).sum()) // 2


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


def of_judge(of: Judge, ask: Pairs = "representatives") -> PairwiseJudge:
    """Return a judge that asks another judge about pairs of samples."""
    return PairwiseJudge(ByJudge(of), ask)
