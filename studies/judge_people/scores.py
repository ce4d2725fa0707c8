"""How alike two texts are by four scores, and how well a score agrees with labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.judges.exact import final_answer
from studies.judge_people.pairs import Pair

Encode = Callable[[Sequence[str]], NDArray[np.float64]]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]

SCORES = {
    "embedding": "cosine of MiniLM",
    "bigrams": "word bigrams in common",
    "answer": "the answer alone",
    "exact": "the exact text",
}
DRAWS, SEED = 2000, 0


def bigrams_in_common(first: str, second: str) -> float:
    """Return |A ∩ B| / |A ∪ B| of the word bigrams of two texts.

    >>> bigrams_in_common("one two three", "One two four")
    0.3333333333333333
    """
    a, b = (_bigrams(text) for text in (first, second))
    return len(a & b) / len(a | b) if a | b else float(first == second)


def _bigrams(text: str) -> set[tuple[str, str]]:
    words = re.findall(r"\w+", text.lower())
    return set(pairwise(words))


def scored(pairs: Sequence[Pair], encode: Encode) -> list[dict[str, Any]]:
    """Return a record for each pair: what it is, and how alike its texts are by each score."""
    vectors = encode([text for pair in pairs for text in (pair.first, pair.second)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit[::2] * unit[1::2]).sum(1)
    return [_record(pair, float(cosine)) for pair, cosine in zip(pairs, cosines, strict=True)]


def _record(pair: Pair, cosine: float) -> dict[str, Any]:
    answers = final_answer(pair.first), final_answer(pair.second)
    return {
        "source": pair.source,
        "id": pair.id,
        "half": pair.half,
        "same": pair.same,
        "embedding": round(cosine, 4),
        "bigrams": round(bigrams_in_common(pair.first, pair.second), 4),
        "answer": int(None not in answers and answers[0] == answers[1]),
        "exact": int(pair.first.strip() == pair.second.strip()),
    }


def auc(scores_P: Floats, same_P: NDArray[np.bool_]) -> float:
    """P(score of a pair that is the same > score of another), ties count half.

    >>> auc(np.array([0.9, 0.4, 0.4]), np.array([True, True, False]))
    0.75
    """
    return auc_of_places(np.unique(scores_P, return_inverse=True)[1], same_P)


def auc_of_places(place_P: Places, same_P: NDArray[np.bool_]) -> float:
    """Return the AUC of scores by the place of each in their order; ties share a place."""
    size = int(place_P.max()) + 1
    yes, no = (np.bincount(place_P[kind_P], minlength=size) for kind_P in (same_P, ~same_P))
    below = np.cumsum(no) - no / 2
    return float(yes @ below / (yes.sum() * no.sum()))


def accuracy(scores_P: Floats, same_P: NDArray[np.bool_], threshold: float) -> float:
    """Return the share of pairs that are right if a score of at least `threshold` is the same."""
    return float(((scores_P >= threshold) == same_P).mean())


def best_threshold(scores_P: Floats, same_P: NDArray[np.bool_]) -> float:
    """Return the threshold with the best accuracy: the middle one of several that are as good."""
    tried = np.append(np.unique(scores_P), np.inf)
    right = np.array([accuracy(scores_P, same_P, one) for one in tried])
    best = tried[right == right.max()]
    return float(best[len(best) // 2])


def interval(statistic: Callable[[Places], float], count: int) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a statistic of the places of `count` pairs."""
    rng = np.random.default_rng(SEED)
    drawn = [statistic(rng.integers(count, size=count)) for _ in range(DRAWS)]
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Figure:
    """A number with its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, statistic: Callable[[Places], float], count: int) -> Figure:
        """Return a statistic of all places, with its interval."""
        return cls(statistic(np.arange(count)), *interval(statistic, count))

    def percent(self) -> str:
        """Say it in percent."""
        return f"{100 * self.value:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"

    def signed(self, digits: int, times: float) -> str:
        """Say a difference, times a factor, with its sign."""
        value, low, high = (
            f"{times * one:.{digits}f}" for one in (self.value, self.low, self.high)
        )
        return f"{'' if value.startswith('-') else '+'}{value} [{low}, {high}]".replace("-", "−")

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"
