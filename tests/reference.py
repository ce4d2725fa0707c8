"""Slow definitions, in exact rational arithmetic: what every fast form must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

Score = Callable[[tuple[int, ...]], Fraction]  # a set of sample indices → its score

DEGENERATE = -1


def mean_over(sets: Sequence[tuple[int, ...]], score: Score) -> Fraction | None:
    """The mean score of sets; None of no sets."""
    return sum((score(s) for s in sets), Fraction(0)) / len(sets) if sets else None


def set_means(score: Score, num_samples: int, set_size: int) -> dict[str, list]:
    """u, v, w and U of every sample, by enumerating all sets."""
    sets = list(combinations(range(num_samples), set_size))
    smaller = list(combinations(range(num_samples), set_size - 1)) if set_size > 1 else []
    samples = range(num_samples)
    return {
        "u": [mean_over([s for s in sets if i in s], score) for i in samples],
        "v": [mean_over([s for s in sets if i not in s], score) for i in samples],
        "w": [mean_over([s for s in smaller if i not in s], score) or Fraction(0) for i in samples],
        "U": [mean_over(sets, score)] * num_samples,
        "variance": [variance(sets, score)] * num_samples,
    }


def variance(sets: Sequence[tuple[int, ...]], score: Score) -> Fraction:
    """The variance of the score over sets."""
    mean = mean_over(sets, score)
    return mean_over(sets, lambda s: (score(s) - mean) ** 2)


def mean(rewards: Sequence) -> Score:
    return lambda s: sum((Fraction(rewards[i]) for i in s), Fraction(0)) / len(s)


def maximum(rewards: Sequence) -> Score:
    return lambda s: max(Fraction(rewards[i]) for i in s)


def any_correct(rewards: Sequence) -> Score:
    return lambda s: Fraction(int(any(rewards[i] > 0.5 for i in s)))


def distinct(clusters: Sequence[int]) -> Score:
    return lambda s: Fraction(len({clusters[i] for i in s} - {DEGENERATE}))


def polychromic(rewards: Sequence, clusters: Sequence[int]) -> Score:
    return lambda s: mean(rewards)(s) * distinct(clusters)(s) / len(s)


def gradient(f: Callable[[tuple[int, ...]], Fraction], policy: Sequence[Fraction], set_size: int):
    """∇_logits E f(a₁…a_K), actions drawn from a softmax policy: Σ_draws P · f · Σᵢ ∇log π(aᵢ)."""
    total = [Fraction(0)] * len(policy)
    for draw in product(range(len(policy)), repeat=set_size):
        chance = probability(draw, policy)
        for logit, score in enumerate(scores(draw, policy)):
            total[logit] += chance * f(draw) * score
    return total


def probability(draw: Sequence[int], policy: Sequence[Fraction]) -> Fraction:
    """P(draw) of independent actions."""
    chance = Fraction(1)
    for action in draw:
        chance *= policy[action]
    return chance


def scores(draw: Sequence[int], policy: Sequence[Fraction]) -> list[Fraction]:
    """Σᵢ ∂ log π(aᵢ) / ∂ logit, for every logit of a softmax policy."""
    return [sum((a == z) - p for a in draw) for z, p in enumerate(policy)]
