"""Poly-EPO tutorial: statements about the polychromic objective and its advantages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

import setrl
from claims import scores
from claims.claims import (
    TUTORIAL,
    Trials,
    Verdict,
    claim,
    control,
    corrected,
    kind,
    percent,
    remark,
    shown,
    stated,
)
from claims.exact import (
    Actions,
    Policy,
    Score,
    advantages,
    all_sets,
    average,
    covariance,
    deviation,
    expected,
    policy,
)
from claims.tutorial_examples import TABLE


def missed(num: int, size: int, avoided: int) -> Fraction:
    """P that a random set of `size` out of `num` has none of `avoided` of them."""
    return Fraction(comb(num - avoided, size), comb(num, size))


def by_inclusion(
    rewards: Actions, strategies: Actions, size: int, i: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Return mean reward, mean diversity and their covariance, without drawing any set with i.

    They follow from how often a set with i also holds another sample, a strategy, or both.
    """
    num, share = len(rewards), Fraction(size - 1, len(rewards) - 1)
    others = Counter(c for c in strategies if c not in (strategies[i], scores.DEGENERATE))
    hits = {c: 1 - missed(num - 1, size - 1, m) for c, m in others.items()}
    reward = (rewards[i] + share * (sum(rewards) - rewards[i])) / size
    diversity = ((strategies[i] != scores.DEGENERATE) + sum(hits.values(), Fraction(0))) / size
    synergy = Fraction(0)
    for j, (c, m) in product([j for j in range(num) if j != i], others.items()):
        miss = 0 if strategies[j] == c else missed(num - 2, size - 2, m)
        synergy += rewards[j] * share * (1 - miss - hits[c]) / size**2
    return reward, diversity, synergy


@claim(
    "tutorial-decomposition",
    TUTORIAL,
    "Decomposition, E[X·Y] = E[X]·E[Y] + Cov",
    Verdict.HOLDS,
    compares=("the decomposition", "=", "u − U"),
    how="Mean reward, mean diversity and covariance of the sets with a sample, each worked "
    "out from how often such a set holds another sample, a strategy or both. Their sum "
    "less the baseline against u − U over all sets of groups of five, in fractions, n = "
    "$n.",
    tried="90 stated",
    cases=product(
        ((1, 1, 0, 0, 1), (1, 0, 0, 0, 0)),
        ((0, 0, 1, 2, 1), (0, 0, 0, 1, -1), (0, 1, 2, 3, 4)),
        (2, 3, 4),
    ),
)
def group_decomposition(rewards: Actions, strategies: Actions, size: int) -> Trials:
    """The marginal set advantage is mean reward × mean diversity + covariance over the sets with
    the sample, less the baseline, exactly.
    """
    terms = [by_inclusion(rewards, strategies, size, i) for i in range(5)]
    u = [reward * diversity + synergy for reward, diversity, synergy in terms]
    exact = deviation(scores.polychromic(rewards, strategies), size)(tuple(range(5)))
    for i, (found, right) in enumerate(zip(u, exact, strict=True)):
        yield stated(found - average(u), right, n=size, i=i, A=right, Cov=terms[i][2])


@claim(
    "tutorial-covariance-credit",
    TUTORIAL,
    "Decomposition, Term 2",
    Verdict.FAILS,
    compares=("covariance of a correct y", ">", "covariance of a wrong y"),
    how="Cov(mean reward, diversity) over sets with y, for y correct and wrong, of a new and "
    "of the common strategy; four other actions, n = $n.",
    truth="Given y its reward is constant, so the covariance is the same whether y is correct "
    "or not. ⟦Term 1⟧ rewards it: a correct y gains E[d given y]/n over a wrong one.",
    counterexample="n=3, π=(4/9, 2/9, 1/9, 1/9, 1/9), others=(1, 0, 1, 0), strategies=(0, 0, 1, 2, "
    "9), correct=-5/1152, wrong=-5/1152",
    tried="4 of 4 stated, 16 corrected, 8 control",
    cases=product((3, 4), (policy(4, 2, 1, 1, 1), policy(1, 1, 2, 3, 1))),
)
def covariance_credit(size: int, p: Policy) -> Trials:
    """The covariance term gives extra credit for being correct in a different way."""
    terms = {
        (correct, strategy): _terms(p, (1, 0, 1, 0, correct), (0, 0, 1, 2, strategy), size)
        for correct, strategy in product((0, 1), (0, 9))
    }
    for strategy in (0, 9):
        wrong, right = terms[0, strategy], terms[1, strategy]
        yield corrected(right[1] == wrong[1])
        yield corrected(right[0] - wrong[0] == right[2] / size)
        yield control(right[0], wrong[0], n=size, π=p)
    of_right, of_wrong = terms[1, 9][1], terms[0, 9][1]
    case = {"n": size, "π": p, "others": (1, 0, 1, 0), "strategies": (0, 0, 1, 2, 9)}
    yield stated(of_right, of_wrong, **case, correct=of_right, wrong=of_wrong)


def _terms(
    p: Policy, rewards: Sequence[int], strategies: Sequence[int], size: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Compute for sets with the last action: means' product, covariance, mean diversity.

    The other members are drawn from the other actions.
    """
    y = len(p) - 1
    rest = tuple(q / (1 - p[y]) for q in p[:y])
    reward: Score = lambda s: scores.mean(rewards)((*s, y))  # noqa: E731
    diversity: Score = lambda s: scores.distinct_share(strategies)((*s, y))  # noqa: E731
    mean_r, mean_d = expected(reward, rest, size - 1), expected(diversity, rest, size - 1)
    return mean_r * mean_d, covariance(reward, diversity, rest, size - 1), mean_d


def covariance_in_sets(
    rewards: Actions, strategies: Actions, sets: Sequence[tuple[int, ...]]
) -> Fraction:
    """Cov(mean reward, diversity) over sets of indices."""
    r = [scores.mean(rewards)(s) for s in sets]
    d = [scores.distinct_share(strategies)(s) for s in sets]
    return average([x * y for x, y in zip(r, d, strict=True)]) - average(r) * average(d)


@claim(
    "tutorial-covariance-sign",
    TUTORIAL,
    "Decomposition, Term 2: when is the covariance positive?",
    Verdict.FAILS,
    compares=("Cov", ">", 0),
    how="A correct or wrong y with its own strategy next to four samples, at least three of "
    "them correct, under all labellings: the covariance over the sets with y, n = $n.",
    truth="Its sign does not depend on y: it is ⟦((n−1)/n)²⟧ times the covariance over the sets"
    " of ⟦n − 1⟧ others, negative where their correct ones share a strategy and a wrong "
    "one has another.",
    counterexample="n=3, r=(0, 1, 1, 1), strategies=(0, 1, 1, 1), Cov=-1/36",
    tried="384 of 960 stated, 1944 corrected",
    nearest="1/256",
    cases=product(
        (3, 4),
        [r for r in product((0, 1), repeat=4) if sum(r) >= 3],
        product((0, 1, 2), repeat=4),
    ),
)
def covariance_sign(size: int, rewards: Actions, strategies: Actions) -> Trials:
    """The covariance is positive for a sample that brings a unique strategy to strong sets."""
    alone = covariance_in_sets(rewards, strategies, all_sets(4, size - 1))
    with_y = [s for s in all_sets(5, size) if 4 in s]
    for own in (0, 1):
        found = covariance_in_sets((*rewards, own), (*strategies, 9), with_y)
        yield corrected(found == Fraction(size - 1, size) ** 2 * alone)
        if found:
            yield stated(found, n=size, r=rewards, strategies=strategies, Cov=found)
    if rewards == (0, 1, 1, 1):
        yield corrected(alone < 0 or strategies != (0, 1, 1, 1))
        yield corrected(alone > 0 or strategies != (0, 0, 1, 2))


@claim(
    "tutorial-correct-first",
    TUTORIAL,
    "Reward shaping, the product is the schedule",
    Verdict.HOLDS,
    compares=("|A of being correct / A of being different|", ">", 100),
    how="Correct action of probability p, a wrong one of a new strategy of probability p, the"
    " rest one wrong strategy; n = $n, p = $ps: size of one advantage over the other.",
    truth="At ⟦p = 0⟧ there is no signal at all.",
    tried="1 stated, 2 remark",
    nearest="707/43",
)
def correct_first() -> Trials:
    """When accuracy is low, $q."""
    ratios = []
    policies = [policy(1, 1, bulk) for bulk in (8, 98, 998)]
    for p in policies:
        found = advantages(scores.polychromic((1, 0, 0)), p, 4)
        ratios.append(abs(found[0] / found[1]))
    yield remark(ratios == sorted(ratios))
    yield stated(ratios[0], n=4)
    yield shown(ps=[p[0] for p in policies])
    silent = advantages(scores.polychromic((0, 0, 0)), policy(1, 1, 2), 4)
    yield remark(not any(silent))


@claim(
    "tutorial-both-factors",
    TUTORIAL,
    "Polychromic objective",
    Verdict.HOLDS,
    word="holds by construction",
    compares=("⟦f > 0⟧", "exactly if", "⟦mean reward > 0 and diversity > 0⟧"),
    how="Every set of up to four members, ⟦rewards 0/1⟧, degenerate members included.",
    truth="A product is positive where both factors are.",
    tried="1554 stated",
    cases=product((1, 2, 3, 4)),
)
def both_factors(size: int) -> Trials:
    """$q."""
    for rewards, strategies in product(
        product((0, 1), repeat=size), product((-1, 0, 1), repeat=size)
    ):
        members = tuple(range(size))
        found = scores.polychromic(rewards, strategies)(members)
        both = scores.mean(rewards)(members) > 0 and scores.distinct_share(strategies)(members) > 0
        yield stated((found > 0), both, r=rewards, strategies=strategies, f=found)


@claim(
    "tutorial-boosts-every-set",
    TUTORIAL,
    "Decomposition, optimistic exploration",
    Verdict.READING,
    compares=("score with it", ">", "score with the member whose place it takes"),
    how="A set of n with k right members of C strategies, in which it takes the place of a "
    "member whose strategy another one shares: of a right one and of a wrong one, all (n,"
    " k, C) to ⟦n = 8⟧.",
    kindly="In the place of a wrong member of a strategy that another has, in every set "
    "with a right member.",
    truth="In the place of a right member exactly if ⟦k > C + 1⟧.",
    counterexample="n=2, k=1, C=1, before=1/4, after=0",
    tried="112 of 168 stated, 168 kind, 169 remark",
)
def boosts_every_set() -> Trials:
    """A wrong sample of a unique strategy boosts the score of every set that it joins."""
    for size in range(2, 9):
        for k, strategies in product(range(size + 1), range(1, size)):
            before = Fraction(k * strategies, size**2)
            for right in (0, 1):
                if right <= k <= size - 1 + right:
                    after = Fraction((k - right) * (strategies + 1), size**2)
                    if right:
                        yield stated(
                            after, before, n=size, k=k, C=strategies, before=before, after=after
                        )
                        yield remark((after > before) == (k > strategies + 1))
                    else:
                        yield kind((after > before) == (k > 0))
    example = scores.polychromic((1, 1, 0, 1), (0, 1, 2, 3))
    yield remark(example((0, 2)) < example((0, 1)))


@claim(
    "tutorial-strong-sets",
    TUTORIAL,
    "Decomposition, optimistic exploration",
    Verdict.FAILS,
    compares=("A", ">", 0),
    how="$right correct samples of C strategies (as even as can be) and a wrong sample of "
    "another, n = $n, all sets: u − U of the wrong one.",
    truth="Positive up to C = $last and negative above: the stronger the sets, the less a wrong"
    " sample adds.",
    counterexample="N=8, n=4, C=3, U=181/280, A=-1/40",
    tried="5 of 7 stated, 7 corrected",
    nearest="3/140",
    cases=product(range(1, 8)),
)
def strong_sets(strategies: int) -> Trials:
    """The marginal advantage of a wrong, unique sample is positive as long as its sets are
    strong.
    """
    labels = (*(i % strategies for i in range(7)), 7)
    score = scores.polychromic((*[1] * 7, 0), labels)
    found = deviation(score, 4)(tuple(range(8)))[7]
    baseline = average([score(s) for s in all_sets(8, 4)])
    yield stated(found, N=8, n=4, C=strategies, U=baseline, A=found)
    last = 2
    yield corrected((found > 0) == (strategies <= last))
    yield shown(last=last, right=7, n=4)


@claim(
    "tutorial-free-lunch",
    TUTORIAL,
    "Results, 'without cost'",
    Verdict.FAILS,
    word="inconsistent",
    compares=("⟦pass@1 at the optimum⟧", "=", "⟦the largest pass@1⟧"),
    how="Two strategies that succeed with chance s₁ ≥ s₂: ⟦pass@1⟧ of the policy with the "
    "largest E f, n = $n, against the largest ⟦pass@1⟧; exact at shares in steps of "
    "$step.",
    truth="⟦pass@1⟧ is lower where strategies differ in success. The tutorial's own table has "
    "$poly against $grpo.",
    counterexample="n=2, success=(3/5, 1/2), share=11/20, pass_at_1=111/200",
    tried="4 of 6 stated, 6 corrected",
)
def free_lunch() -> Trials:
    """Diversity costs nothing in ⟦pass@1⟧."""
    half, fifth = Fraction(1, 2), Fraction(1, 5)
    for size, (first, second) in product(
        (2, 4), ((3 * fifth, half), (half, half), (4 * fifth, fifth))
    ):
        values = {}
        for q in (Fraction(k, 40) for k in range(41)):
            weights = (q * first, q * (1 - first), (1 - q) * second, (1 - q) * (1 - second))
            values[q] = expected(scores.polychromic((1, 0, 1, 0), (0, 0, 1, 1)), weights, size)
        best = max(values, key=values.__getitem__)
        found = best * first + (1 - best) * second
        yield stated(found, first, n=size, success=(first, second), share=best, pass_at_1=found)
        yield corrected((found < first) == (first != second))
    table = {name: percent(Fraction(row[1], 100)) for name, row in TABLE.items()}
    yield shown(step=Fraction(1, 40), poly=table["poly_epo"], grpo=table["grpo"])


@claim(
    "tutorial-score-code",
    TUTORIAL,
    "Algorithm 2 (code), strategy 100",
    Verdict.HOLDS,
    compares=("the listing", "=", "the library's objective"),
    how="The listing in fractions against the library's objective with its label for strategy"
    " ⟦strategy 100⟧, every set of three over ⟦rewards 0/1⟧ and strategies $labels.",
    truth="The judge should label the N samples once: the listing asks it again for every set.",
    tried="216 stated",
    cases=product(product((0, 1), repeat=3), product((1, 2, 100), repeat=3)),
)
def score_code(rewards: Actions, strategies: Actions) -> Trials:
    """The listing polychromic_score: mean reward × (strategies other than ⟦100)/n⟧ ($q)."""
    listing = Fraction(sum(rewards), 3) * Fraction(len(set(strategies) - {100}), 3)
    labels = np.where(np.array(strategies) == 100, setrl.DEGENERATE, strategies)
    found = setrl.objectives.polychromic()(setrl.Samples(np.array(rewards) * 1.0, labels))
    yield stated(float(listing), float(found), r=rewards, strategies=strategies)
    yield shown(labels=[1, 2, 100])
