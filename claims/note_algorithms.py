"""Set RL note, §6: Poly-PPO and Poly-EPO."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

import setrl
from claims import scores
from claims.claims import NOTE, Trials, Verdict, claim, corrected, remark, scaled, stated
from claims.exact import (
    Actions,
    Credit,
    Score,
    all_sets,
    average,
    deviation,
    from_sets,
    logit_gradient,
    mean_estimate,
    policy,
    times,
)


def by_first_action(score: Score, size: int) -> Credit:
    """Mean score of the sets with any trajectory that starts with the action, less that of all."""

    def credit(group: Actions) -> list[Fraction]:
        sets = [tuple(sorted(group[i] for i in s)) for s in all_sets(len(group), size)]
        mean = average([score(s) for s in sets])
        return [average([score(s) for s in sets if a in s]) - mean for a in group]

    return credit


@claim(
    "note-alg-2-by-action",
    NOTE,
    "§6.1, Algorithm 2, lines 5–6",
    Verdict.FAILS,
    how="Trajectories of one action, pass@2, N = 4, 6, π = (1/5, 3/10, 1/2): mean update against "
    "∇E f. Trajectories that share their first action share their credit.",
    counterexample="N=4, n=2, π=(1/5, 3/10, 1/2), ratio_to_gradient=(0.9055, 1.056, 0.8155)",
    truth="With the sets that hold this very trajectory, found by index, the mean update is "
    "(N−n)/n ∇E f.",
    cases=product((4, 6)),
)
def sets_by_first_action(num: int) -> Trials:
    """Crediting an action with all sets that hold a trajectory starting with it follows ∇E f."""
    p, score, size = policy(2, 3, 5), scores.maximum((1, 0, 0)), 2
    truth = logit_gradient(score, p, size)
    found = mean_estimate(by_first_action(score, size), p, num)
    ratios = [b / t for b, t in zip(found, truth, strict=True)]
    shown = tuple(float(r) for r in ratios)
    yield stated(len(set(ratios)) == 1, N=num, n=size, π=p, ratio_to_gradient=shown)
    right = mean_estimate(deviation(score, size), p, num)
    yield corrected(right == times(Fraction(num - size, size), truth))


@claim(
    "note-alg-2-mean",
    NOTE,
    "§6.1, Algorithm 2 with §2.3, Algorithm 1",
    Verdict.UP_TO_SCALE,
    how="Sum over a sample's sets against mean over them, less the mean of all: every group of "
    "N = 4, 5 samples of three actions.",
    truth="C(N−1, n−1), the number of sets that hold a sample.",
    cases=((4, 2), (4, 3), (5, 2)),
)
def sums_and_means(num: int, size: int) -> Trials:
    """The mean form of Algorithm 2 gives the advantages of Algorithm 1."""
    score = scores.polychromic((1, 0, 1))
    for group in product(range(3), repeat=num):
        summed = from_sets(score, all_sets(num, size))(group)
        mean = deviation(score, size)(group)
        yield stated(summed == mean, N=num, n=size, group=group, sums=summed, means=mean)
        yield scaled(summed == times(comb(num - 1, size - 1), mean))


@claim(
    "note-diversity-range",
    NOTE,
    "§6.2",
    Verdict.HOLDS,
    how="All sets of up to five members out of four clusters and the degenerate one.",
    truth="It is at least 1/n; 0 only if every member is degenerate.",
    cases=product((1, 2, 3, 4, 5)),
)
def diversity_range(size: int) -> Trials:
    """d = (number of clusters in the set)/n is in [0, 1]."""
    for labels in product((-1, 0, 1, 2, 3), repeat=size):
        found = scores.distinct_share(labels)(tuple(range(size)))
        least = Fraction(0) if set(labels) == {-1} else Fraction(1, size)
        yield stated(0 <= found <= 1, clusters=labels, d=found)
        yield remark(least <= found)


@claim(
    "note-all-sets-feasible",
    NOTE,
    "§6.2",
    Verdict.HOLDS,
    how="The library's closed form against enumeration in fractions, N = 4…7, all n < N; and N = "
    "32, n = 8, where it counts all 10,518,300 sets without scoring any.",
    truth="By enumeration it is feasible for small N only; the closed form costs O(N).",
)
def all_sets_feasible() -> Trials:
    """All C(N, n) sets of a prompt can be used under the polychromic objective."""
    rng = np.random.default_rng(0)
    for num in (4, 5, 6, 7):
        rewards, clusters = rng.integers(0, 2, num), rng.integers(-1, 3, num)
        score = scores.polychromic(rewards.tolist(), clusters.tolist())
        for size in range(1, num):
            exact = deviation(score, size)(tuple(range(num)))
            found = setrl.methods.poly_epo(size).advantages(rewards[None], clusters=clusters[None])
            error = max(abs(a - float(b)) for a, b in zip(found.values_BN[0], exact, strict=True))
            yield stated(error < 1e-14, N=num, n=size)
    clusters = rng.integers(0, 8, (1, 32))
    found = setrl.methods.poly_epo(8).advantages(rng.integers(0, 2, (1, 32)), clusters=clusters)
    yield stated(found.estimator == "closed form" and comb(32, 8) == 10_518_300, sets=comb(32, 8))
