"""Slow definitions, in exact rational arithmetic: what every fast form must equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, fsum, log, prod

Score = Callable[[tuple[int, ...]], Fraction]  # a set of sample indices → its score

DEGENERATE = -1


def mean_over(sets: Sequence[tuple[int, ...]], score: Score) -> Fraction | None:
    """The mean score of sets; None of no sets."""
    return sum((score(s) for s in sets), Fraction(0)) / len(sets) if sets else None


def set_means(
    score: Score, num_samples: int, set_size: int, smaller: bool = True
) -> dict[str, list]:
    """u, v, w and U of every sample, and the variance, by enumerating all sets.

    w is 0 for sets of one; None where `smaller` sets are not asked for.
    """
    scored = {s: Fraction(score(s)) for s in combinations(range(num_samples), set_size)}
    smaller_sets = combinations(range(num_samples), set_size - 1) if set_size > 1 else ()
    few = {s: Fraction(score(s)) for s in smaller_sets} if smaller else {}
    whole = average(scored.values())
    samples = range(num_samples)
    return {
        "u": [average(f for s, f in scored.items() if i in s) for i in samples],
        "v": [average(f for s, f in scored.items() if i not in s) for i in samples],
        "w": [average(f for s, f in few.items() if i not in s) or Fraction(0) for i in samples]
        if smaller
        else None,
        "U": [whole] * num_samples,
        "variance": [average((f - whole) ** 2 for f in scored.values())] * num_samples,
    }


def average(values: Iterable[Fraction]) -> Fraction | None:
    """The mean of values; None of none."""
    listed = list(values)
    return sum(listed, Fraction(0)) / len(listed) if listed else None


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


def l_statistic(rewards: Sequence, weights: Callable[[int], Sequence]) -> Score:
    """Σⱼ weights(K)[j] · (j-th smallest reward)."""

    def score(s):
        ordered = sorted(Fraction(rewards[i]) for i in s)
        return sum(
            (Fraction(w) * r for w, r in zip(weights(len(s)), ordered, strict=True)), Fraction(0)
        )

    return score


def mean_difference(rewards: Sequence) -> Score:
    """The mean of |rᵢ − rⱼ| over pairs."""

    def score(s):
        gaps = [abs(Fraction(rewards[i]) - Fraction(rewards[j])) for i, j in combinations(s, 2)]
        return average(gaps) or Fraction(0)

    return score


def best_of(rewards: Sequence, proxy: Sequence) -> Score:
    """The mean reward of the members with the highest proxy."""

    def score(s):
        top = max(proxy[i] for i in s)
        return average(Fraction(rewards[i]) for i in s if proxy[i] == top)

    return score


def majority(rewards: Sequence, answers: Sequence[int], ties: str) -> Score:
    """The mean reward of the members that gave the winning answer."""

    def score(s):
        votes = Counter(answers[i] for i in s)
        winners = sorted(a for a in votes if votes[a] == max(votes.values()))
        if ties == "lexicographic":
            winners = winners[:1]
        return average(average(Fraction(rewards[i]) for i in s if answers[i] == a) for a in winners)

    return score


def first_majority(rewards: Sequence, answers: Sequence[int]) -> Score:
    """Ties to the answer seen first, averaged over every order in which the members can come."""

    def score(s):
        total = []
        for order in permutations(s):
            votes = Counter(answers[i] for i in order)
            winner = next(answers[i] for i in order if votes[answers[i]] == max(votes.values()))
            total.append(average(Fraction(rewards[i]) for i in s if answers[i] == winner))
        return average(total)

    return score


def distinct_correct(rewards: Sequence, clusters: Sequence[int]) -> Score:
    return lambda s: Fraction(
        len({clusters[i] for i in s if rewards[i] > 0.5 and clusters[i] != DEGENERATE})
    )


def differ(clusters: Sequence[int]) -> Score:
    return lambda s: Fraction(int(distinct(clusters)(s) > 1))


def distinct_share(clusters: Sequence[int]) -> Score:
    return lambda s: distinct(clusters)(s) / len(s)


def extra_share(clusters: Sequence[int]) -> Score:
    return lambda s: max(distinct(clusters)(s) - 1, Fraction(0)) / max(len(s) - 1, 1)


def mixed_share(clusters: Sequence[int]) -> Score:
    return lambda s: distinct_share(clusters)(s) * differ(clusters)(s)


def soft_any(rewards: Sequence) -> Score:
    return lambda s: 1 - prod((1 - Fraction(rewards[i]) for i in s), start=Fraction(1))


def smooth_max(rewards: Sequence, beta: float) -> Score:
    """Not rational: the closest float to (1/β) log mean exp βr."""

    def score(s):
        top = max(beta * rewards[i] for i in s)
        mean = fsum(exp(beta * rewards[i] - top) for i in s) / len(s)
        return Fraction((top + log(mean)) / beta)

    return score


def pairwise_distance(pairs: Sequence[Sequence]) -> Score:
    def score(s):
        return average(Fraction(pairs[i][j]) for i, j in combinations(s, 2)) or Fraction(0)

    return score


def volume(pairs: Sequence[Sequence]) -> Score:
    return lambda s: determinant([[Fraction(pairs[i][j]) for j in s] for i in s])


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """By elimination."""
    rows, result = [list(row) for row in rows], Fraction(1)
    for j in range(len(rows)):
        pivot = next((i for i in range(j, len(rows)) if rows[i][j]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != j:
            rows[j], rows[pivot], result = rows[pivot], rows[j], -result
        result *= rows[j][j]
        for i in range(j + 1, len(rows)):
            ratio = rows[i][j] / rows[j][j]
            rows[i] = [x - ratio * y for x, y in zip(rows[i], rows[j], strict=True)]
    return result


def rarest_correct(rewards: Sequence, clusters: Sequence[int]) -> Score:
    """max over correct members that have a cluster of 1 / (members of that cluster)."""

    def score(s):
        sizes = Counter(clusters[i] for i in s)
        correct = {clusters[i] for i in s if rewards[i] > 0.5} - {DEGENERATE}
        return max((Fraction(1, sizes[c]) for c in correct), default=Fraction(0))

    return score


def counted(rewards: Sequence, clusters: Sequence[int]) -> Score:
    """(most correct members of a cluster) · (clusters) + (wrong degenerate members)² / 4."""

    def score(s):
        correct = Counter(clusters[i] for i in s if rewards[i] > 0.5 and clusters[i] != DEGENERATE)
        lost = sum(1 for i in s if rewards[i] <= 0.5 and clusters[i] == DEGENERATE)
        return max(correct.values(), default=0) * distinct(clusters)(s) + Fraction(lost**2, 4)

    return score


def over_sizes(score: Score, weights: dict[int, float]) -> Score:
    """Σ weight · the mean score of all the subsets of each size."""
    return lambda s: sum(
        Fraction(w) * average(score(t) for t in combinations(s, size))
        for size, w in weights.items()
    )


def times(left: Score, right: Score) -> Score:
    return lambda s: left(s) * right(s)
