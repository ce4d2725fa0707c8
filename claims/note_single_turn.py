"""Set RL note, §2.2: objectives, when they collapse to standard RL, policy gradients, baselines."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

from claims import scores
from claims.claims import NOTE, Trials, Verdict, claim, kind, remark, rounded, shown, stated
from claims.exact import (
    Actions,
    Credit,
    Policy,
    Score,
    advantages,
    average,
    contrast,
    dot,
    estimate,
    expected,
    logit_gradient,
    mean_estimate,
    ordered_draws,
    policies,
    policy,
    times,
    weighted,
)

Baseline = Callable[[Actions, int], Fraction]  # a set and a member of it → that member's baseline


def collapses(score: Score, num_actions: int, size: int) -> bool:
    """Return whether f(S) = (1/n) Σ g(yᵢ) for some g: E f is then standard RL's objective.

    g can only be f(y, …, y); f is symmetric, and E f is then linear in the policy.
    """
    alone = [score((a,) * size) for a in range(num_actions)]
    return all(
        score(s) == sum((alone[a] for a in s), Fraction(0)) / size
        for s in combinations_with_replacement(range(num_actions), size)
    )


def is_linear(score: Score, num_actions: int, size: int) -> bool:
    """Return whether E f is linear in the policy: on a grid, E f = Σ π(a) E f at policy a."""
    corners = [score((a,) * size) for a in range(num_actions)]
    return all(
        expected(score, p, size) == dot(corners, p) for p in policies(num_actions, num_actions + 3)
    )


@claim(
    "note-requirement",
    NOTE,
    "§2.1 and §2.2, after Eq. 5",
    Verdict.DEFINITION,
    how="E f linear in the policy ⇔ f additive over the set's members, for all ⟦0/1/2-valued⟧"
    " symmetric f on two actions, n = $n, and named objectives on three.",
    truth="For tabular policies: f collapses exactly if it is additive, ⟦f(S) = (1/n)⟧ Σ g(yᵢ).",
    tried="112 remark",
)
def requirement() -> Trials:
    """f is admissible if E f(Y₁…Y_n) is not E g(Y) for one g that is the same for all policies."""
    for size in (2, 3):
        sets = list(combinations_with_replacement(range(2), size))
        for values in product(range(3), repeat=len(sets)):
            table = {s: Fraction(v) for s, v in zip(sets, values, strict=True)}
            same = collapses(table.__getitem__, 2, size) == is_linear(table.__getitem__, 2, size)
            yield remark(same, n=size, f=values)
    named = (
        scores.mean((1, 0, 2)),
        scores.maximum((1, 0, 2)),
        scores.distinct_share(),
        scores.differ(),
    )
    for score in named:
        yield remark(collapses(score, 3, 2) == is_linear(score, 3, 2))


@claim(
    "note-mean-collapses",
    NOTE,
    "§2.1 and §2.2",
    Verdict.HOLDS,
    compares=("∇E f of sets", "=", "∇E r"),
    how="E f = Σ π r, and gradients that are the same for all n, ⟦all 0/1/2⟧ rewards of three"
    " actions, n ≤ $n.most.",
    tried="1026 stated, 1026 remark",
    cases=product(product(range(3), repeat=3), policies(3, 6)),
)
def mean_collapses(rewards: Actions, p: Policy) -> Trials:
    """With f the mean reward, $q."""
    single = logit_gradient(scores.mean(rewards), p, 1)
    for size in (2, 3):
        score = scores.mean(rewards)
        value = expected(score, p, size)
        same = value == dot(p, rewards)
        yield remark(same)
        yield stated(logit_gradient(score, p, size), single, n=size, r=rewards, J=value)


@claim(
    "note-ex-2.3",
    NOTE,
    "§2.2, Example 2.3",
    Verdict.HOLDS,
    compares=("E max r is E g(Y) for one g", "never"),
    how="Not additive for any non-constant reward in ⟦{0, 1, 2}³⟧, n = $of_sets; ⟦E max = 1 −"
    " (1 − p)^n⟧ for n = $n.",
    truth="A constant reward, or ⟦n = 1⟧, collapses.",
    tried="48 stated, 39 remark",
)
def max_is_admissible() -> Trials:
    """max r is an objective of set RL, and is pass@n for ⟦rewards 0 and 1⟧."""
    for size, rewards in product((2, 3), product(range(3), repeat=3)):
        constant = len(set(rewards)) == 1
        collapsed = collapses(scores.maximum(rewards), 3, size)
        yield remark(collapsed) if constant else stated(collapsed, of_sets=size, r=rewards)
    for size, p in product((2, 3, 4), policies(2, 6)):
        value = expected(scores.maximum((1, 0)), p, size)
        yield remark(value == 1 - (1 - p[0]) ** size, n=size, p=p[0], J=value)


@claim(
    "note-ex-2.4",
    NOTE,
    "§2.2, Example 2.4",
    Verdict.READING,
    compares=("E f is E g(Y) for one g", "never"),
    how="Alg = the best by a proxy, the majority with both tie rules, a uniform pick and the "
    "first sample; three actions, all ⟦rewards 0/1⟧ that are not all equal, all ⟦proxies "
    "0/1/2⟧, n = $n.",
    kindly="The text says that one can: best-of-n by a proxy that is not constant is one, and "
    "the majority from ⟦n = 3⟧ on.",
    truth="With ⟦n = 2⟧ and ties broken uniformly the majority is standard RL; a pick that "
    "ignores the set always is.",
    counterexample="Alg=majority, n=2, r=(0, 0, 1)",
    tried="6 of 450 stated, 468 kind, 36 remark",
    cases=product((2, 3, 4), [r for r in product(range(2), repeat=3) if len(set(r)) > 1]),
)
def test_time_compute(size: int, rewards: Actions) -> Trials:
    """r(Alg(y₁…y_n)), the reward of the sample that a test-time algorithm returns, is an
    objective of set RL.
    """
    proxies = [proxy for proxy in product(range(3), repeat=3) if len(set(proxy)) > 1]
    for proxy in proxies:
        by_proxy = scores.best_of(rewards, proxy)
        yield stated(collapses(by_proxy, 3, size), Alg="best by proxy", n=size, r=rewards)
        yield kind(not collapses(by_proxy, 3, size), proxy=proxy)
    uniform_ties = collapses(scores.majority(rewards), 3, size)
    yield stated(uniform_ties, Alg="majority", n=size, r=rewards)
    yield kind(uniform_ties == (size == 2), n=size)
    yield kind(not collapses(scores.majority(rewards, ties="lexicographic"), 3, size))
    for pick in (scores.mean(rewards), _first(rewards)):
        yield remark(collapses(pick, 3, size), n=size)


def _first(rewards: tuple[int, ...]) -> Score:
    """r of the first sample, averaged over the orders in which a set can be drawn."""
    return lambda s: average(Fraction(rewards[order[0]]) for order in permutations(s))


@claim(
    "note-ex-2.4-subset",
    NOTE,
    "§2.2, Example 2.4, subsets",
    Verdict.READING,
    compares=("E f is E g(Y) for one g", "never"),
    how="One of two samples by majority, and two of three, selected uniformly and by reward; "
    "all rewards in ⟦{0, 1, 2}³⟧ that are not all equal.",
    kindly="The text says that one can: two of three by reward is one.",
    truth="Uniformly, or one of two by majority, it is standard RL.",
    counterexample="m=1, n=2, selected=by majority, r=(0, 0, 1)",
    tried="24 of 24 stated, 24 kind, 48 remark",
    cases=product([r for r in product(range(3), repeat=3) if len(set(r)) > 1]),
)
def selected_subset(rewards: Actions) -> Trials:
    """The mean reward of the m < n samples that an algorithm selects is an objective of set RL."""
    voted = collapses(scores.majority(rewards), 3, 2)
    yield stated(voted, m=1, n=2, selected="by majority", r=rewards)
    uniform, best = (collapses(pick(rewards), 3, 3) for pick in (_any_two, _top_two))
    yield kind(not best, r=rewards)
    yield remark(voted, r=rewards)
    yield remark(uniform, r=rewards)


def _any_two(rewards: tuple[int, ...]) -> Score:
    return lambda s: average([Fraction(rewards[a] + rewards[b], 2) for a, b in combinations(s, 2)])


def _top_two(rewards: tuple[int, ...]) -> Score:
    return lambda s: Fraction(sum(sorted(rewards[a] for a in s)[-2:]), 2)


@claim(
    "note-ex-2.5",
    NOTE,
    "§2.2, Example 2.5",
    Verdict.HOLDS,
    compares=("E f is E g(Y) for one g", "never"),
    how="Three actions with ⟦rewards 0/1⟧ in all strategies, the degenerate one included; d ="
    " strategies/n, n = $n.",
    truth="Except where d is the same for every set with a correct member, as where no "
    "action is correct, all share a strategy, or the correct share one and the wrong "
    "are degenerate.",
    tried="768 stated, 256 remark",
    cases=product((2, 3), product((-1, 0, 1, 2), repeat=3), product(range(2), repeat=3)),
)
def polychromic_is_admissible(size: int, strategies: Actions, rewards: Actions) -> Trials:
    """Mean reward times any ⟦diversity d in [0, 1]⟧ is an objective of set RL."""
    d = scores.distinct_share(strategies)
    sets = combinations_with_replacement(range(3), size)
    scoring = {d(s) for s in sets if any(rewards[a] for a in s)}
    collapsed = collapses(scores.polychromic(rewards, strategies), 3, size)
    if len(scoring) > 1:
        yield stated(collapsed, n=size, r=rewards, strategies=strategies)
    else:
        yield remark(collapsed, n=size, r=rewards, strategies=strategies)


def shared_signal(score: Score, p: Policy, size: int, baseline: Baseline) -> list[Fraction]:
    """E Σᵢ (f(S) − bᵢ) ∇ log π(yᵢ) over ordered sets of `size` actions."""

    def credit(s: Actions) -> list[Fraction]:
        value = score(tuple(sorted(s)))
        return [value - baseline(s, i) for i in range(size)]

    return mean_estimate(credit, p, size, ordered_draws)


@claim(
    "note-eq-6",
    NOTE,
    "§2.2, Eq. 6",
    Verdict.HOLDS,
    compares=("∇E f", "=", "E[(f(S) − f̂) Σᵢ ∇ log π(yᵢ)]"),
    how="Against the derivative of the polynomial E f(π), which uses no score function; four "
    "objectives, three actions, n = $n, f̂ = $f_hat.",
    tried="160 stated",
    cases=product((2, 3), scores.OBJECTIVES, list(policies(3, 5))),
)
def shared_gradient(size: int, score: Score, p: Policy) -> Trials:
    """$q with one signal for the whole set."""
    truth = logit_gradient(score, p, size)
    for constant in (Fraction(0), Fraction(1, 3)):
        found = shared_signal(score, p, size, lambda s, i, b=constant: b)  # type: ignore[misc]
        yield stated(found, truth, f=score, n=size, π=p, gradient=truth, f_hat=constant)


@claim(
    "note-eq-7",
    NOTE,
    "§2.2, Eq. 7",
    Verdict.HOLDS,
    compares=("E[∇ log π(y)(r(y) − b)]", "=", "∇E r"),
    how="Against π(y)(r(y) − E r), ⟦all 0/1/2 rewards⟧ of three actions, b = $b.",
    tried="540 stated",
    cases=product(product(range(3), repeat=3), policies(3, 5)),
)
def standard_gradient(rewards: Actions, p: Policy) -> Trials:
    """Standard RL is the case ⟦n = 1⟧: $q."""
    value = dot(p, rewards)
    truth = [q * (r - value) for q, r in zip(p, rewards, strict=True)]
    for constant in (Fraction(0), Fraction(1, 3)):
        found = shared_signal(scores.mean(rewards), p, 1, lambda s, i, b=constant: b)  # type: ignore[misc]
        yield stated(found, truth, r=rewards, π=p, gradient=truth, b=constant)


@claim(
    "note-baseline-rule",
    NOTE,
    "§2.2, after Eq. 7",
    Verdict.READING,
    compares=("a baseline of the other members leaves the mean update as it is", "never"),
    how="bᵢ = f(y₋ᵢ), the score of the other members, and a shared b = f(y₂…y_n), against ∇E f.",
    kindly="One baseline for the whole set must not depend on the members: f(y₂…y_n) takes "
    "away the gradient of its own mean.",
    truth="A baseline bᵢ for each member may depend on every member except yᵢ.",
    counterexample="f=max of (2, 1, 0), n=2, π=(1/3, 1/3, 1/3), baseline=f(y₋ᵢ), gradient=(10/27, "
    "-2/27, -8/27)",
    tried="32 of 32 stated, 32 kind, 32 remark",
)
def baseline_rule() -> Trials:
    """A baseline must be independent of the sampled set and of every subset of it."""
    for size, score, p in product((2, 3), scores.OBJECTIVES, list(policies(3, 4))):
        truth = logit_gradient(score, p, size)
        of_others = shared_signal(score, p, size, lambda s, i: score(_without(s, i)))  # noqa: B023
        of_tail = shared_signal(score, p, size, lambda s, i: score(_without(s, 0)))  # noqa: B023
        unbiased = of_others == truth
        yield stated(unbiased, f=score, n=size, π=p, baseline="f(y₋ᵢ)", gradient=truth)
        yield remark(unbiased, f=score, n=size, π=p)
        own = logit_gradient(score, p, size - 1)
        yield kind(of_tail == [t - g for t, g in zip(truth, own, strict=True)], f=score, n=size)


def _without(s: Actions, i: int) -> Actions:
    return tuple(sorted(s[:i] + s[i + 1 :]))


@claim(
    "note-coupling",
    NOTE,
    "§2.2 and §3",
    Verdict.HOLDS,
    compares=("E[Σᵢ ∇ log π(yᵢ) f(S)]", "=", "n E[∇ log π(y) A(y)]"),
    how="Both sides by enumeration, four objectives, three actions, n = $n.",
    tried="16 stated",
    cases=product((2, 3), scores.OBJECTIVES, [policy(1, 2, 3), policy(3, 1, 1)]),
)
def coupling(size: int, score: Score, p: Policy) -> Trials:
    """The shared signal gives each member, in expectation, its marginal set advantage: $q."""
    left = shared_signal(score, p, size, lambda s, i: Fraction(0))
    right = times(size, weighted(p, advantages(score, p, size)))
    yield stated(left, right, f=score, n=size, π=p, gradient=left)


@claim(
    "note-naive",
    NOTE,
    "§2.2, before §2.3: the naive algorithm",
    Verdict.HOLDS,
    compares=("variance from separate sets / variance from all sets", ">", 1),
    how="N samples split into N/n sets, each scored against the mean of the others, and all "
    "sets of the same samples: trace variances over all ordered groups of N = $N, n = $n,"
    " four objectives, in fractions. The mean over all splits is u − v.",
    truth="u − v is the mean of the naive credit over all splits, so its variance is never "
    "larger: for N = $N, n = $n, π = $policy it is $max, $polychromic, $majority and "
    "$differ times smaller, by objective.",
    tried="4 stated, 4 remark",
    nearest="324/637",
    cases=product(scores.OBJECTIVES),
)
def naive_algorithm(score: scores.Named) -> Trials:
    """An estimate from separate sets needs more samples: $q."""
    num, size, p = 4, 2, policy(1, 2, 3)
    split = [tuple(range(at, at + size)) for at in range(0, num, size)]
    both = (_separate(score, split), contrast(score, size))
    naive, all_of_them = (_ordered_variance(credit, p, num) for credit in both)
    ratio = naive / all_of_them
    yield stated(ratio, N=num, n=size, f=score, ratio=float(ratio))
    yield shown(policy=p, **{score.name: rounded(ratio, 1)})
    group = tuple(i % 3 for i in range(num))
    orders = list(permutations(range(num)))
    mean = [Fraction(0)] * num
    for order in orders:
        credits = both[0](tuple(group[i] for i in order))
        for place, i in enumerate(order):
            mean[i] += credits[place] / len(orders)
    yield remark(mean == both[1](group))


def _separate(score: Score, split: list[Actions]) -> Credit:
    """Subtract the mean score of the other sets from the score of a sample's set."""

    def credit(group: Actions) -> list[Fraction]:
        f = [score(tuple(sorted(group[i] for i in s))) for s in split]
        total = sum(f, Fraction(0))
        against = [mine - (total - mine) / (len(f) - 1) for mine in f]
        return [a for a, s in zip(against, split, strict=True) for _ in s]

    return credit


def _ordered_variance(credit: Credit, p: Policy, num: int) -> Fraction:
    """Return the trace variance of a credit that depends on the order of the samples."""
    second = Fraction(0)
    for group, chance in ordered_draws(p, num):
        update = estimate(credit(group), group, p)
        second += chance * dot(update, update)
    mean = mean_estimate(credit, p, num, ordered_draws)
    return second - dot(mean, mean)
