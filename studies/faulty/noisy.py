"""A judge made worse on purpose, to measure how much noise a method tolerates."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl.judges.base import Group, Judge, Judgement
from setrl.samples.labels import by_first_appearance
from setrl.samples.values import DEGENERATE


@dataclass(frozen=True)
class NoisyJudge(Judge, sees_copies=True):
    """A judge with another judge's strategies, in which labels of single samples are random.

    Each sample of a group is moved with probability `flips`, independently of the others. Its new
    place is drawn uniformly from the places that make a difference, by the labels before any move:
    every other strategy of the group, and a new strategy, unless the sample is the only one of its
    strategy already. Degenerate samples are moved in the same way; no sample becomes degenerate.
    The only sample of a group stays.

    The random numbers are a function of `seed`, the prompt and the samples, in their order: a run
    that is resumed sees the same noise, and the same group always gets the same answer, as from a
    cache. Names of strategies are dropped, because they would be wrong; unknown stays unknown.

    `setrl.evaluate.judge_audit.flips` finds at most this share of moved samples in expectation:
    much noise also moves the best matching of strategies.

    Attributes:
        of: The judge whose labels are replaced.
        flips: Probability that a sample is moved, in [0, 1].
        seed: Seed of the random numbers.
    """

    of: Judge
    flips: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.flips <= 1:
            raise ValueError(f"flips must be in [0, 1], got {self.flips}")

    def close(self) -> None:
        """Close the other judge."""
        self.of.close()

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return the other judge's strategies, with noise."""
        answers = zip(groups, self.of.judge(groups), strict=True)
        return [self._disturbed(group, judgement) for group, judgement in answers]

    def _disturbed(self, group: Group, judgement: Judgement) -> Judgement:
        if judgement.labels_N is None:
            return judgement
        rng = np.random.default_rng(entropy(self.seed, group))
        moved_N = rng.random(len(group.texts)) < self.flips
        sizes = Counter(judgement.labels_N)
        labels: list[Any] = list(judgement.labels_N)
        for place in np.flatnonzero(moved_N & np.array([n is not None for n in labels], bool)):
            own = judgement.labels_N[place]
            places = [label for label in sizes if label not in (own, DEGENERATE, None)]
            if own == DEGENERATE or sizes[own] > 1:
                places.append(max(label for label in labels if label is not None) + 1)
            if places:
                labels[place] = places[rng.integers(len(places))]
        return Judgement(by_first_appearance(labels))


def entropy(seed: int, group: Group) -> int:
    """Return a number that depends only on the seed and the texts of a group."""
    text = json.dumps([seed, group.prompt, group.texts])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big")
