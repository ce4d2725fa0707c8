"""Set RL note, §4: Definition 4.1 and Propositions 4.2 and 4.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

from claims import scores
from claims.claims import (
    NOTE,
    Trials,
    Verdict,
    claim,
    control,
    corrected,
    kind,
    remark,
    rounded,
    shown,
    stated,
)
from claims.exact import Actions, Policy, Score, advantage, advantages, covariance, policies, policy
from claims.formulas import Formula


def count_covariances(score: Score, p: Policy, size: int) -> list[Fraction]:
    """Cov(f(Y), how often y is in Y) for every y."""
    return [
        covariance(score, lambda s, y=y: Fraction(s.count(y)), p, size)  # type: ignore[misc]
        for y in range(len(p))
    ]


@claim(
    "note-def-4.1-reward",
    NOTE,
    "§4, Definition 4.1, condition 1",
    Verdict.HOLDS,
    compares=("Cov(φ_R, Σ r(yᵢ))", ">", 0),
    how="Cov(mean r, Σ r) = Var r for all ⟦non-constant 0/1/2⟧ rewards of three actions, n = $n.",
    truth="It ⟦is 0⟧ where the policy's rewards are constant: no objective is polychromic there.",
    tried="480 stated, 540 remark",
    nearest="4/25",
    cases=product((2, 3), product(range(3), repeat=3), policies(3, 5)),
)
def reward_condition(size: int, rewards: Actions, p: Policy) -> Trials:
    """The mean reward satisfies $q."""
    mean = scores.mean(rewards)
    found = covariance(mean, lambda s, m=mean: m(s) * len(s), p, size)  # type: ignore[misc]
    variance = covariance(mean, mean, p, 1)
    if len(set(rewards)) > 1:
        yield remark(found == variance)
        yield stated(found, n=size, r=rewards, π=p, Cov=found)
    else:
        yield remark(found == 0)


@claim(
    "note-def-4.1-diversity",
    NOTE,
    "§4, Definition 4.1, condition 2",
    Verdict.FAILS,
    compares=("number of such functions", ">", 0),
    how="Every ⟦0/1/2-valued⟧ φ_d on the sets of two and three actions, ⟦n = 2⟧: the "
    "covariances with the counts.",
    truth="No function does: the counts add up to n, so the covariances to ⟦zero⟧. It can be "
    "required of y above a threshold of probability: $likeliest do so for the likeliest y.",
    counterexample="sum_of_covariances=0",
    tried="1 of 1 stated, 756 corrected, 1 control",
)
def diversity_condition() -> Trials:
    """A φ_d can satisfy ⟦Cov(φ_d, how often y is in the set) < 0⟧ for every y."""
    found_one, of_likeliest = 0, 0
    for num_actions, p in ((2, policy(1, 2)), (3, policy(1, 2, 3))):
        sets = list(combinations_with_replacement(range(num_actions), 2))
        for values in product(range(3), repeat=len(sets)):
            table: dict[Actions, Fraction] = dict(zip(sets, map(Fraction, values), strict=True))
            found = count_covariances(table.__getitem__, p, 2)
            found_one += all(c < 0 for c in found)
            of_likeliest += found[-1] < 0
            yield corrected(sum(found) == 0, φ=values, Cov=found)
    yield stated(found_one, sum_of_covariances=0)
    yield control(of_likeliest)
    yield shown(likeliest=of_likeliest)


@claim(
    "note-def-4.1-dominant",
    NOTE,
    "§4, after Definition 4.1",
    Verdict.HOLDS,
    compares=("Cov(d, count of the likeliest y)", "<", 0),
    how="d = strategies/n: ⟦Cov(d, count of y) = π(y)[(1−π(y))^(n−1) − Σ π(1−π)^(n−1)]⟧, "
    "negative for the most probable action of every non-uniform policy over three "
    "actions; n = $n.",
    truth="It is positive for the rarest action.",
    tried="99 stated, 198 remark",
    nearest="2/125",
    cases=product((2, 3, 4), policies(3, 7)),
)
def dominant_action(size: int, p: Policy) -> Trials:
    """The diversity function serves the second requirement: it pushes down what dominates."""
    found = count_covariances(scores.distinct_share(), p, size)
    mean = sum(q * (1 - q) ** (size - 1) for q in p)
    formula = [q * ((1 - q) ** (size - 1) - mean) for q in p]
    if len(set(p)) > 1:
        yield remark(found == formula)
        yield remark(found[p.index(min(p))] > 0)
        yield stated(found[p.index(max(p))], n=size, π=p, Cov=found)


Case = tuple[str, Policy, Score, Score]  # name, policy, f_poly, its diversity


def dominated(p: Fraction) -> Iterator[Case]:
    """Yield policies where action 0 is correct with probability p; the others differ by case."""
    half = (1 - p) / 2
    for name, weights, rewards, strategies in (
        ("one wrong", (p, 1 - p), (1, 0), (0, 1)),
        ("two wrong", (p, half, half), (1, 0, 0), (0, 1, 2)),
        ("one correct", (p, 1 - p), (1, 1), (0, 1)),
        ("one wrong in its strategy", (p, 1 - p), (1, 0), (0, 0)),
        ("one wrong and degenerate", (p, 1 - p), (1, 0), (0, -1)),
    ):
        d = scores.distinct_share(strategies)
        yield name, weights, scores.product(scores.mean(rewards), d), d


@claim(
    "note-prop-4.2-sign",
    NOTE,
    "§4, Proposition 4.2, first half",
    Verdict.READING,
    compares=("⟦Λ(y^n) at π(y) = 0.999⟧", "<", 0),
    how="Λ(y^n) at ⟦π(y) = 999/1000⟧, n = $n, with wrong, correct, same-strategy and "
    "degenerate alternatives; d = strategies/n, and ⟦(strategies − 1)/(n − 1)⟧ for "
    "alternatives of other strategies.",
    kindly="With d = ⟦(strategies − 1)/(n − 1)⟧, where alternatives are in other strategies.",
    truth="With d = strategies/n it also needs ⟦n ≥ 3⟧: for ⟦n = 2⟧ and wrong alternatives ⟦Λ ="
    " p(1−p)²/2 > 0⟧.",
    counterexample="n=2, others=one wrong, p=999/1000, Λ=999/2000000000",
    tried="10 of 20 stated, 12 kind, 32 remark",
    nearest="999/2000000000",
    cases=product((2, 3, 4, 5)),
)
def homogeneous_sign(size: int) -> Trials:
    """A correct y has ⟦Λ(y^n) < 0⟧ once π(y) is large enough."""
    p = Fraction(999, 1000)
    for name, weights, score, _ in dominated(p):
        found = p * advantage(score, weights, size, 0)
        yield stated(found, n=size, others=name, p=p, Λ=found)
        if name in ("one wrong", "two wrong", "one correct"):
            yield remark(found < 0 or size == 2, n=size, others=name)
        slope = sum(
            q * (score((0,) * size) - score((*(0,) * (size - 1), y))) for y, q in enumerate(weights)
        )
        if slope:
            yield remark((found < 0) == (slope < 0), n=size, others=name)
        elif name == "one wrong":
            yield remark(size == 2)
            yield remark(found == p * (1 - p) ** 2 / 2)
    rest = (1 - p) / 2
    for weights, rewards in (
        ((p, 1 - p), (1, 0)),
        ((p, rest, rest), (1, 0, 0)),
        ((p, 1 - p), (1, 1)),
    ):
        score = scores.product(scores.mean(rewards), scores.extra_share())
        yield kind(advantage(score, weights, size, 0) < 0, n=size, r=rewards)


@claim(
    "note-prop-4.2-bound",
    NOTE,
    "§4, Proposition 4.2, second half",
    Verdict.HOLDS,
    compares=("Λ(y^n)", "≤", "√⟦(p(1−p)/n)⟧"),
    how="Λ² against ⟦p(1−p)/n⟧ wherever ⟦Λ > 0⟧: ⟦p = 1/40 … 39/40⟧, n = $n, five kinds of "
    "alternatives.",
    truth="Half of it suffices, ⟦½√(p(1−p)/n)⟧: ⟦scores in [0, 1]⟧ deviate by at most ½. In the"
    " cases tried Λ reaches $closest of the bound.",
    tried="780 stated, 20 control, 780 remark",
)
def homogeneous_bound() -> Trials:
    """$q."""
    closest = Fraction(0)
    for size, step in product((2, 3, 4, 5), range(1, 40)):
        p = Fraction(step, 40)
        for name, weights, score, _ in dominated(p):
            found = p * advantage(score, weights, size, 0)
            bound = p * (1 - p) / size
            yield stated(max(found, Fraction(0)) ** 2, bound, n=size, others=name, p=p, Λ=found)
            yield remark(found <= 0 or 4 * found**2 <= bound)
            closest = max(closest, found**2 / bound if found > 0 else closest)
    for size, (_, weights, score, _) in product((2, 3, 4, 5), dominated(Fraction(1))):
        yield control(advantage(score, weights, size, 0), Fraction(0), n=size)
    yield shown(closest=rounded(closest**0.5, 2))


BOUND = Formula("q·pⁿ(1−p)/n")
OF_TWO = Formula("q·p(1−p)(1−2p)/2")


def mixed_set(size: int, correct: int, p: Fraction, others: int) -> tuple[Policy, Score]:
    """Make n actions of probability p, `correct` ones right; `others` wrong ones share 1 − np."""
    rest = (1 - size * p) / others
    rewards = (1,) * correct + (0,) * (size - correct + others)
    return (p,) * size + (rest,) * others, scores.polychromic(rewards)


def mixed_scaffold(size: int, correct: int, p: Fraction, others: int) -> Fraction:
    """Λ of that set of n different actions, whose largest overlap is n."""
    weights, score = mixed_set(size, correct, p, others)
    return p * sum(advantages(score, weights, size)[:size])


@claim(
    "note-prop-4.3",
    NOTE,
    "§4, Proposition 4.3",
    Verdict.FAILS,
    compares=("Λ", ">", BOUND),
    how="Λ of n different actions of probability p each, q of them correct, and one or two "
    "further wrong actions; n = $n, ⟦p = k/(20n)⟧.",
    truth="For ⟦q ≥ 1⟧, Λ is positive and proportional to q, but goes ⟦to 0⟧ as ⟦p → 1/n⟧, "
    "where every set has the same overlap. For ⟦n = 2⟧, Λ = $of_two exceeds "
    "the bound exactly if ⟦p < 1/3⟧.",
    counterexample="n=2, q=1, p=7/20, Λ=273/8000, bound=637/16000",
    tried="36 of 342 stated, 506 corrected",
    nearest="5181167/13107200000",
    cases=product((2, 3, 4), (1, 2)),
)
def heterogeneous_bound(size: int, others: int) -> Trials:
    """$q for a set of n actions of probability ⟦p < 1/n⟧ each, q of them correct."""
    for step in range(1, 20):
        p = Fraction(step, 20 * size)
        single = mixed_scaffold(size, 1, p, others)
        for correct in range(1, size + 1):
            found = mixed_scaffold(size, correct, p, others)
            bound = BOUND(n=size, q=correct, p=p)
            yield stated(found, n=size, q=correct, p=p, Λ=found, bound=bound)
            yield corrected(found == correct * single > 0)
            if size == 2:
                yield corrected(found == OF_TWO(q=correct, p=p))
                yield corrected((found > bound) == (3 * p < 1))
    yield corrected(mixed_scaffold(size, 0, Fraction(1, 4 * size), others) == 0)
    near = Fraction(999, 1000 * size)
    yield corrected(mixed_scaffold(size, 1, near, others) < BOUND(n=size, q=1, p=near))
    yield shown(of_two=OF_TWO)


def heterogeneous_sets() -> Iterator[tuple[int, int, Fraction]]:
    """Yield n, q and p of Proposition 4.3: n = 2, 3, q = 1…n, p = k/(20n); 95 cases."""
    for size, step in product((2, 3), range(1, 20)):
        for correct in range(1, size + 1):
            yield size, correct, Fraction(step, 20 * size)


@claim(
    "note-heterogeneous-more",
    NOTE,
    "§4, after Proposition 4.3",
    Verdict.READING,
    compares=("Λ of the set", ">", "Λ(y^n)"),
    how="Λ of n different actions of probability p each, q of them correct, against Λ(y^n) of"
    " a correct y among them, and one wrong action; n = $n, ⟦p = k/(20n)⟧.",
    kindly="There are such sets.",
    truth="In $less of $cases cases the homogeneous set has as much or more: all $less_one with"
    " one correct member, and $less_two with two of three.",
    counterexample="n=2, q=1, p=1/40, set=741/64000, y^n=1521/128000",
    tried="43 of 95 stated, 2 kind, 1 remark",
)
def more_than_homogeneous() -> Trials:
    """A heterogeneous set with a correct member attracts more probability mass, that is has a
    larger scaffold value, than homogeneous sets.
    """
    larger: Counter[tuple[int, int]] = Counter()
    cases: Counter[tuple[int, int]] = Counter()
    for size, correct, p in heterogeneous_sets():
        weights, score = mixed_set(size, correct, p, others=1)
        whole = mixed_scaffold(size, correct, p, others=1)
        alone = p * advantage(score, weights, size, 0)
        yield stated(whole, alone, n=size, q=correct, p=p, set=whole, **{"y^n": alone})
        larger[size, correct] += whole > alone
        cases[size, correct] += 1
    smaller = cases - larger
    yield kind(0 < larger.total() < cases.total())
    yield kind(all(smaller[n, n] == 0 for n in (2, 3)))
    yield remark(all(larger[n, 1] == 0 for n in (2, 3)))
    yield shown(less=smaller.total(), cases=cases.total())
    yield shown(less_one=smaller[2, 1] + smaller[3, 1], less_two=smaller[3, 2])


@claim(
    "note-heterogeneous-attracts",
    NOTE,
    "§4, after Proposition 4.3",
    Verdict.HOLDS,
    compares=("Λ with q correct", ">", "⟦Λ with q − 1 correct⟧"),
    how="Λ of the set for ⟦q = 1…n⟧: strictly increasing in q, n = $n, ⟦p = k/(20n)⟧.",
    tried="171 stated",
    cases=product((2, 3, 4), range(1, 20)),
)
def more_success_more_scaffold(size: int, step: int) -> Trials:
    """Of sets of different actions, $q."""
    p = Fraction(step, 20 * size)
    found = [mixed_scaffold(size, correct, p, 1) for correct in range(size + 1)]
    for less, more in pairwise(found):
        yield stated(more, less, n=size, p=p, Λ=more)


@claim(
    "note-larger-sets",
    NOTE,
    "§4, after Proposition 4.2",
    Verdict.HOLDS,
    compares=("⟦largest Λ(y^n) over p at n + 1⟧", "<", "the same at n"),
    how="The largest Λ(y^n) over ⟦p = 1/40 … 39/40⟧, which is the smallest bound that holds "
    "for all of them, ⟦n = 2…6⟧, five kinds of alternatives.",
    truth="Λ at one p need not fall: one wrong alternative, p = $at_p: $at_five for ⟦n = 5⟧, "
    "$at_six for ⟦n = 6⟧.",
    tried="20 stated, 1 remark",
)
def larger_sets() -> Trials:
    """The upper bound on the scaffold value of a homogeneous set falls with n: $q."""
    values: dict[str, list[list[Fraction]]] = {}
    for size in range(2, 7):
        for step in range(1, 40):
            p = Fraction(step, 40)
            for name, weights, score, _ in dominated(p):
                by_size = values.setdefault(name, [])
                if len(by_size) < size - 1:
                    by_size.append([])
                by_size[-1].append(p * advantage(score, weights, size, 0))
    for name, by_size in values.items():
        for size, (smaller, larger) in enumerate(pairwise(by_size), start=3):
            yield stated(max(larger), max(smaller), n=size, others=name, bound=max(larger))
    at_five, at_six = (by_size[31] for by_size in values["one wrong"][3:])
    yield remark(at_five < 0 < at_six)
    yield shown(at_p=Fraction(32, 40), at_five=rounded(at_five, 4), at_six=rounded(at_six, 4))
