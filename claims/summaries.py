"""Poly-EPO summaries: the mean form of the advantage, and statements about the objective."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from claims import scores
from claims.claims import SUMMARIES, Trials, Verdict, claim, remark, scaled, shown, stated
from claims.exact import (
    Actions,
    Credit,
    Design,
    advantage,
    all_sets,
    average,
    deviation,
    logit_gradient,
    mean_estimate,
    ordered_draws,
    policies,
    policy,
    times,
)
from claims.formulas import Formula

SCORE = scores.named("polychromic", 1, 0, 1)
POLICIES = (policy(1, 1, 1), policy(1, 2, 3))
SCALE = Formula("(N−n)/n")


@claim(
    "summaries-mean-form",
    SUMMARIES,
    "Method, marginal set advantage",
    Verdict.UP_TO_SCALE,
    compares=("mean update", "=", "∇E f"),
    how="The mean over a sample's sets of f − f̂, all sets: mean update over all groups of N = $N.",
    truth="$scale.",
    counterexample="f=polychromic of (1, 0, 1), N=3, n=2, π=(1/3, 1/3, 1/3), mean=(1/27, -2/27, "
    "1/27), gradient=(2/27, -4/27, 2/27)",
    tried="6 of 8 stated, 8 scaled",
)
def mean_form() -> Trials:
    """With the average advantage of the sets that contain a sample the estimator is unbiased."""
    for (num, size), p in product(((3, 2), (4, 2), (4, 3), (5, 2)), POLICIES):
        found = mean_estimate(deviation(SCORE, size), p, num)
        truth = logit_gradient(SCORE, p, size)
        yield stated(found, truth, f=SCORE, N=num, n=size, π=p, mean=found, gradient=truth)
        yield scaled(found, times(SCALE(N=num, n=size), truth))
    yield shown(scale=SCALE)


def averaged(design: Design) -> Credit:
    """Return the mean of f − f̂ over a sample's sets; 0 for a sample in no set."""

    def credit(group: Actions) -> list[Fraction]:
        scored = [SCORE(tuple(sorted(group[i] for i in s))) for s in design]
        mean = average(scored)
        return [
            average([f - mean for f, s in zip(scored, design, strict=True) if i in s])
            for i in range(len(group))
        ]

    return credit


@claim(
    "summaries-sampled-sets",
    SUMMARIES,
    "Method, K sets without replacement",
    Verdict.UP_TO_SCALE,
    compares=("mean update", "=", "∇E f"),
    how="Every single collection of $num_sets sets, N = $N, n = $n: mean update over all groups.",
    truth="(m − n)/n, where m samples are in a set: known for each collection.",
    counterexample="f=polychromic of (1, 0, 1), N=4, n=2, π=(1/6, 1/3, 1/2), "
    "sets=((0, 1), (0, 2)), mean=(1/27, -7/108, 1/36), gradient=(2/27, -7/54, 1/18)",
    tried="16 of 50 stated, 50 scaled",
    cases=product((2, 3, 4)),
)
def sampled_sets(num_sets: int) -> Trials:
    """With K of the sets the estimator is unbiased too."""
    num, size, p = 4, 2, POLICIES[1]
    truth = logit_gradient(SCORE, p, size)
    yield shown(N=num, n=size)
    for design in combinations(all_sets(num, size), num_sets):
        found = mean_estimate(averaged(design), p, num, ordered_draws)
        covered = len({i for s in design for i in s})
        case = {"f": SCORE, "N": num, "n": size, "π": p, "sets": design}
        yield stated(found, truth, **case, mean=found, gradient=truth)
        yield scaled(found, times(Fraction(covered - size, size), truth))


@claim(
    "summaries-more-samples",
    SUMMARIES,
    "Method, N > n",
    Verdict.HOLDS,
    compares=("⟦number of advantages that are not 0 at N = n⟧", "=", 0),
    how="N = n: there is one set and every advantage ⟦is 0⟧, in all groups of two and three; "
    "with ⟦N = n + 1⟧ some are not.",
    tried="36 stated, 2 remark",
    cases=product((2, 3)),
)
def more_samples_than_members(size: int) -> Trials:
    """More samples than a set holds are needed."""
    for group in product(range(3), repeat=size):
        found = averaged(all_sets(size, size))(group)
        yield stated(sum(map(bool, found)), N=size, n=size, group=group, A=found)
    more = [averaged(all_sets(size + 1, size))(g) for g in product(range(3), repeat=size + 1)]
    yield remark(any(any(a) for a in more))


@claim(
    "summaries-both-low",
    SUMMARIES,
    "Method, polychromic objective",
    Verdict.HOLDS,
    compares=("f", "≤", "min(mean reward, diversity)"),
    how="f ≤ min(mean reward, diversity) for every set of up to four members.",
    tried="1554 stated",
    cases=product((1, 2, 3, 4)),
)
def both_limit(size: int) -> Trials:
    """$q."""
    for rewards, strategies in product(
        product((0, 1), repeat=size), product((-1, 0, 1), repeat=size)
    ):
        members = tuple(range(size))
        parts = scores.mean(rewards)(members), scores.distinct_share(strategies)(members)
        found = scores.polychromic(rewards, strategies)(members)
        yield stated(found, min(parts), r=rewards, strategies=strategies, f=found)


@claim(
    "summaries-diversity",
    SUMMARIES,
    "Method, diversity",
    Verdict.DEFINITION,
    how="Every set of three over four labels and the degenerate one: renaming strategies changes "
    "nothing, a degenerate member adds nothing.",
    truth="A degenerate member still counts in the set size, and its reward counts.",
    tried="64 remark",
    cases=product(product((-1, 0, 1, 2), repeat=3)),
)
def diversity(labels: Actions) -> Trials:
    """The diversity of a set is its number of strategies over its size; degenerate generations are
    left out of it.
    """
    rename = {-1: -1, 0: 7, 1: 3, 2: 0}
    found = scores.distinct_share(labels)((0, 1, 2))
    other = scores.distinct_share([rename[c] for c in labels])((0, 1, 2))
    counted = Fraction(len({c for c in labels if c != -1}), 3)
    yield remark(found == other == counted, strategies=labels, d=found)


@claim(
    "summaries-incorrect-positive",
    SUMMARIES,
    "Method, polychromic objective",
    Verdict.HOLDS,
    compares=("largest A of a wrong generation", ">", 0),
    how="One correct action and one or two wrong ones of other strategies: the largest A of a"
    " wrong one over all policies with ⟦denominator ≤ 12⟧, n = $n.",
    truth="For ⟦n ≥ 3⟧. With ⟦n = 2⟧ and one correct strategy it is never positive.",
    tried="4 stated, 2 remark",
    nearest="25/1296",
    cases=product(((1, 0), (1, 0, 0))),
)
def incorrect_positive(rewards: Actions) -> Trials:
    """A wrong generation can get a positive signal if it adds diversity to sets with a correct
    one.
    """
    for size in (3, 4):
        best = _largest_of_wrong(rewards, size)
        yield stated(best, n=size, actions=len(rewards), largest_A=best)
    yield remark(_largest_of_wrong(rewards, 2) < 0)


def _largest_of_wrong(rewards: tuple[int, ...], size: int) -> Fraction:
    score, actions = scores.polychromic(rewards), range(1, len(rewards))
    return max(advantage(score, p, size, y) for p in policies(len(rewards), 12) for y in actions)
