"""Set objectives by their definition, in rational arithmetic: every fast form must equal them.

Each is a function of the members of a set (actions, or indices of samples), whose rewards,
strategies and so on are looked up by member. Without strategies or answers, each member has a
separate one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

from claims.exact import Actions, Score, average, dot

DEGENERATE = -1

Numbers = Sequence[Fraction | int | float]
Labels = Sequence[int] | None


def mean(rewards: Numbers) -> Score:
    """(1/n) Σ r(yᵢ)."""
    return cache(lambda s: average(Fraction(rewards[i]) for i in s))


def maximum(rewards: Numbers) -> Score:
    """max r(yᵢ): pass@n where rewards are 0 and 1."""
    return cache(lambda s: max(Fraction(rewards[i]) for i in s))


def any_correct(correct: Numbers) -> Score:
    """1 if a member is correct."""
    return lambda s: Fraction(int(any(correct[i] for i in s)))


def distinct(strategies: Labels = None) -> Score:
    """Count the strategies of a set."""
    return cache(lambda s: Fraction(len({_label(strategies, i) for i in s} - {DEGENERATE})))


def _label(labels: Labels, i: int) -> int:
    return i if labels is None else labels[i]


def distinct_share(strategies: Labels = None) -> Score:
    """Strategies / n: the diversity of Poly-EPO."""
    count = distinct(strategies)
    return cache(lambda s: count(s) / len(s))


def family_share(families: Sequence[int], strategies: Sequence[int], weight: Fraction) -> Score:
    """(families + weight · (variants beyond one per family)) / n; a variant is a pair of labels."""

    def score(s: Actions) -> Fraction:
        variants = {
            (families[i], strategies[i])
            for i in s
            if DEGENERATE not in (families[i], strategies[i])
        }
        of_family = Counter(family for family, _ in variants)
        return sum((1 + weight * (v - 1) for v in of_family.values()), Fraction(0)) / len(s)

    return cache(score)


def product(left: Score, right: Score) -> Score:
    """left · right."""
    return cache(lambda s: left(s) * right(s))


def polychromic(rewards: Numbers, strategies: Labels = None) -> Score:
    """Mean reward · strategies/n: Set RL note, Eq. 14."""
    return product(mean(rewards), distinct_share(strategies))


def differ(strategies: Labels = None) -> Score:
    """1 if two members differ: Set RL note, Examples 3.6 and 5.4."""
    count = distinct(strategies)
    return lambda s: Fraction(int(count(s) > 1))


def extra_share(strategies: Labels = None) -> Score:
    """(strategies − 1)/(n − 1): a diversity that is 0 for a set of one strategy."""
    count = distinct(strategies)
    return lambda s: max(count(s) - 1, Fraction(0)) / max(len(s) - 1, 1)


def mixed_share(strategies: Labels = None) -> Score:
    """Strategies / n; 0 for a set of one strategy."""
    return product(distinct_share(strategies), differ(strategies))


def distinct_correct(correct: Numbers, strategies: Sequence[int]) -> Score:
    """Count the strategies of the correct members."""
    count = distinct(strategies)
    return lambda s: count(tuple(i for i in s if correct[i]))


def rarest_correct(correct: Numbers, strategies: Labels = None) -> Score:
    """1 / (members of the strategy) for the correct member whose strategy has the fewest members.

    f_srl of the Set RL note, §5.
    """

    def score(s: Actions) -> Fraction:
        sizes = Counter(_label(strategies, i) for i in s)
        succeed = {_label(strategies, i) for i in s if correct[i]} - {DEGENERATE}
        return max((Fraction(1, sizes[c]) for c in succeed), default=Fraction(0))

    return cache(score)


def rarest_reward(rewards: Numbers, strategies: Labels = None) -> Score:
    """max r(yᵢ) / (members of yᵢ's strategy): f_srl for rewards in [0, 1]."""

    def score(s: Actions) -> Fraction:
        sizes = Counter(_label(strategies, i) for i in s)
        named = [i for i in s if _label(strategies, i) != DEGENERATE]
        paid = (Fraction(rewards[i]) / sizes[_label(strategies, i)] for i in named)
        return max(paid, default=Fraction(0))

    return cache(score)


def majority(rewards: Numbers, answers: Labels = None, ties: str = "uniform") -> Score:
    """Return the mean reward of the members that gave the winning answer.

    Ties are broken uniformly, or go to the lowest answer ("lexicographic").
    """

    def score(s: Actions) -> Fraction:
        by_answer: dict[int, list[Fraction]] = {}
        for i in s:
            by_answer.setdefault(_label(answers, i), []).append(Fraction(rewards[i]))
        most = max(map(len, by_answer.values()))
        winners = sorted(a for a, votes in by_answer.items() if len(votes) == most)
        kept = winners[:1] if ties == "lexicographic" else winners
        return average(average(by_answer[a]) for a in kept)

    return cache(score)


def first_majority(rewards: Numbers, answers: Labels = None) -> Score:
    """Break ties to the answer seen first, averaged over every order of the members."""

    def winner(order: Actions) -> int:
        given = [_label(answers, i) for i in order]
        return max(given, key=given.count)

    def reward(s: Actions, answer: int) -> Fraction:
        return average(Fraction(rewards[i]) for i in s if _label(answers, i) == answer)

    return lambda s: average(reward(s, winner(order)) for order in permutations(s))


def l_statistic(rewards: Numbers, weights: Callable[[int], Numbers]) -> Score:
    """Σⱼ weights(n)[j] · (j-th smallest reward)."""
    return lambda s: dot(
        sorted(Fraction(rewards[i]) for i in s), [Fraction(w) for w in weights(len(s))]
    )


def best_of(rewards: Numbers, proxy: Numbers) -> Score:
    """Return the mean reward of the members with the highest proxy."""

    def score(s: Actions) -> Fraction:
        top = max(proxy[i] for i in s)
        return average(Fraction(rewards[i]) for i in s if proxy[i] == top)

    return score


def top_by_proxy(rewards: Numbers, proxy: Numbers, m: int) -> Score:
    """Return the mean reward of the m members with the highest proxy, over all orders of ties.

    These orders are all ways to choose m members, none with a lower proxy than a member left out.
    """

    def is_best(chosen: Actions, s: Actions) -> bool:
        left = [proxy[i] for i in s if i not in chosen]
        return not left or min(proxy[i] for i in chosen) >= max(left)

    def score(s: Actions) -> Fraction:
        best = [chosen for chosen in combinations(s, m) if is_best(chosen, s)]
        return average(average(Fraction(rewards[i]) for i in chosen) for chosen in best)

    return cache(score)


def mean_difference(rewards: Numbers) -> Score:
    """Return the mean of |rᵢ − rⱼ| over pairs."""
    return pairwise_distance([[abs(Fraction(r) - Fraction(q)) for q in rewards] for r in rewards])


def pairwise_distance(pairs: Sequence[Numbers]) -> Score:
    """Return the mean of a number of each pair; 0 for a single member."""
    return lambda s: average(Fraction(pairs[i][j]) for i, j in combinations(s, 2))


def counted(correct: Numbers, strategies: Sequence[int]) -> Score:
    """(most correct members of a strategy) · (strategies) + (wrong degenerate members)² / 4."""

    def score(s: Actions) -> Fraction:
        right = Counter(strategies[i] for i in s if correct[i] and strategies[i] != DEGENERATE)
        lost = sum(1 for i in s if not correct[i] and strategies[i] == DEGENERATE)
        return max(right.values(), default=0) * distinct(strategies)(s) + Fraction(lost**2, 4)

    return score


def over_sizes(score: Score, weights: dict[int, float]) -> Score:
    """Σ weight · the mean score of all subsets of each size."""
    return lambda s: sum(
        (
            Fraction(weight) * average(score(t) for t in combinations(s, size))
            for size, weight in weights.items()
        ),
        Fraction(0),
    )


KINDS: dict[str, Callable[[Numbers], Score]] = {
    "max": maximum,
    "polychromic": polychromic,
    "majority": majority,
    "f_srl": rarest_correct,
}


@dataclass(frozen=True)
class Named:
    """A score of actions with its name and their rewards, from which a reader can repeat a case."""

    name: str
    score: Score
    rewards: tuple[Fraction | int, ...] = ()

    def __call__(self, s: Actions) -> Fraction:
        """Score a set."""
        return self.score(s)

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.rewards))
        return f"{self.name} of ({listed})" if listed else self.name


def named(name: str, *rewards: Fraction | int) -> Named:
    """Make one of `KINDS` for actions with these rewards, each one a strategy and an answer.

    >>> str(named("max", 2, 1, 0)), named("max", 2, 1, 0)((1, 2))
    ('max of (2, 1, 0)', Fraction(1, 1))
    """
    return Named(name, KINDS[name](rewards), rewards)


DIFFER = Named("differ", differ())

# Four kinds of objectives on three actions, for claims about any objective.
OBJECTIVES = (
    named("max", 2, 1, 0),
    named("polychromic", 1, 0, 1),
    named("majority", 1, 0, 0),
    DIFFER,
)
