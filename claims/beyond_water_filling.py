"""Beyond the sources: which strategies the polychromic objective keeps, and at what price."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from math import exp, log

from claims import scores
from claims.claims import (
    BEYOND,
    Trials,
    Verdict,
    claim,
    corrected,
    percent,
    remark,
    rounded,
    shown,
    stated,
)
from claims.exact import (
    Policy,
    Score,
    dot,
    expected,
    log_likelihood_rates,
    logit_gradient,
    policies,
    policy,
)

Success = Sequence[Fraction]
NOTHING = Fraction(0)
RATES = tuple(Fraction(n, 10) for n in (9, 8, 7, 6, 5, 4))


def outcomes(shares: Policy, success: Success) -> tuple[Fraction, ...]:
    """Return the probabilities of being right by each strategy, then of being wrong by each."""
    right = [q * s for q, s in zip(shares, success, strict=True)]
    return (*right, *[q - r for q, r in zip(shares, right, strict=True)])


def mixture(num: int, alpha: Fraction) -> Score:
    """(1 − α)·mean reward + α·polychromic, for outcomes of `num` strategies."""
    rewards, strategies = [1] * num + [0] * num, list(range(num)) * 2
    mean, poly = scores.mean(rewards), scores.polychromic(rewards, strategies)
    return lambda s: (1 - alpha) * mean(s) + alpha * poly(s)


def water_filling(success: Success, alpha: Fraction = Fraction(1)) -> tuple[Fraction, ...]:
    """(1 − λ/s)₊/α, λ = (m − α)/Σ 1/s over the m strategies with s > λ."""
    best = sorted(success, reverse=True)
    level = Fraction(0)
    for num, s in enumerate(best, start=1):
        if s <= level:
            break
        level = (num - alpha) / sum(1 / kept for kept in best[:num])
    return tuple(max(1 - level / s, Fraction(0)) / alpha for s in success)


@claim(
    "beyond-water-filling",
    BEYOND,
    "Which strategies survive: sets of two",
    Verdict.HOLDS,
    compares=("value at other shares", "<", "value at these shares"),
    how="E f over all pairs of outcomes, in fractions, at these shares against its value at "
    "every policy with ⟦denominator ≤ 10⟧ and after moving $moved from any strategy to "
    "any other; three strategies, α = $α.",
    truth="λ = (m − α)/Σ ⟦1/s⟧ over the m survivors, which are those with success above λ. ⟦α ="
    " 1⟧ is the plain polychromic objective.",
    tried="1354 stated, 12 remark",
    cases=product(
        ((9, 8, 7), (9, 5, 2), (6, 6, 3), (10, 4, 1)), (Fraction(1, a) for a in (1, 2, 5))
    ),
)
def shares_by_water_filling(tenths: tuple[int, ...], alpha: Fraction) -> Trials:
    """For sets of two, ⟦(1 − α)⟧·mean reward + α·polychromic is largest at shares ⟦(1 − λ/s)₊/α⟧ of
    strategies with success s.
    """
    success = [Fraction(n, 10) for n in tenths]
    score, best = mixture(3, alpha), water_filling(success, alpha)
    highest = expected(score, outcomes(best, success), 2)
    yield remark(sum(best) == 1)
    amount = Fraction(1, 50)
    yield shown(moved=amount)
    for shares in (*policies(3, 10), *_moved(best, amount)):
        value = expected(score, outcomes(shares, success), 2)
        if shares == best:
            continue
        yield stated(value, highest, s=tuple(success), α=alpha, best=best, q=shares)


def _moved(shares: Policy, amount: Fraction) -> list[tuple[Fraction, ...]]:
    """Move `amount` from one strategy to another where it has so much; return the shares."""
    moves = permutations(range(len(shares)), 2)
    return [
        tuple(q + amount * ((k == to) - (k == at)) for k, q in enumerate(shares))
        for at, to in moves
        if shares[at] >= amount
    ]


@claim(
    "beyond-price",
    BEYOND,
    "Which strategies survive: the price in pass@1",
    Verdict.HOLDS,
    compares=("shares of m equally good strategies", "=", "⟦1/m each⟧"),
    how="Shares in fractions: equal success for α = $α; success $success for $num_alphas α.",
    truth="Success $success: α = $alphas give ⟦pass@1⟧ of $pass_1 with $kept strategies.",
    tried="9 stated, 5 remark",
)
def price_of_unequal_strategies() -> Trials:
    """With ⟦α > 0⟧ equally good strategies keep equal shares at no cost in ⟦pass@1⟧; unequal ones
    die, the weakest first, as α falls, and ⟦pass@1⟧ rises.
    """
    for num, alpha in product((2, 3, 6), (Fraction(1), Fraction(1, 10), Fraction(1, 1000))):
        found = water_filling([Fraction(3, 4)] * num, alpha)
        yield stated(found, policy(*[1] * num), m=num, α=alpha, q=found)
    alphas = [Fraction(n, 20) for n in (20, 10, 6, 4, 2)]
    falling = [water_filling(RATES, alpha) for alpha in alphas]
    alive = [[q > 0 for q in shares] for shares in falling]
    pass_1 = [dot(shares, RATES) for shares in falling]
    yield remark(alive == sorted(alive, reverse=True), kept=[sum(row) for row in alive])
    yield remark(pass_1 == sorted(pass_1), pass_1=[float(p) for p in pass_1])
    yield remark(pass_1[0] < pass_1[-1])
    yield remark(alive[0] != alive[-1])
    yield remark(all(row == sorted(row, reverse=True) for row in alive))
    yield shown(alphas=alphas, num_alphas=len(alphas), success=[percent(s) for s in RATES])
    yield shown(pass_1=[rounded(p, 3) for p in pass_1], kept=[sum(row) for row in alive])


@claim(
    "beyond-invasion",
    BEYOND,
    "Which strategies survive: sets of any size",
    Verdict.HOLDS,
    compares=("the advantage is positive", "exactly if", "s > s_crit"),
    how="The sign of the new strategy's advantage over all sets of outcomes, in fractions, "
    "against the formula; one to three incumbents with any shares, n = $n, success $new.least "
    "to $new.most in tenths.",
    truth="D and R̄: number of strategies and mean reward of ⟦n − 1⟧ samples of the incumbents,"
    " J their E f. At ⟦n = 2⟧ and their optimum s_crit is λ. For m equally likely, always"
    " right incumbents ⟦s_crit < 0⟧ if and only if ⟦m ≤ n − 2⟧.",
    tried="132 stated, 148 remark",
    cases=product(
        (((1,), (6,)), ((2, 1), (9, 5)), ((1, 3), (9, 5)), ((1, 1, 2), (10, 7, 3))), (2, 3, 4)
    ),
)
def invasion(incumbents: tuple[tuple[int, ...], tuple[int, ...]], size: int) -> Trials:
    """A new strategy has a positive polychromic advantage if and only if its success is above
    ⟦s_crit = (n²J − (n−1)·E[R̄(1 + D)]) / E[1 + D]⟧.
    """
    shares, success = policy(*incumbents[0]), [Fraction(n, 10) for n in incumbents[1]]
    critical = critical_success(shares, success, size)
    for s in (Fraction(n, 10) for n in range(11)):
        found = advantage_of_new(shares, success, s, size)
        yield stated(found > 0, s > critical, q=shares, s=tuple(success), n=size, new=s)
        yield remark((found < 0) == (s < critical), n=size, new=s, critical=critical)
    if size == 2:
        best = water_filling(success)
        level = critical_success(best, success, 2)
        yield remark(all(q == max(1 - level / s, 0) for q, s in zip(best, success, strict=True)))
    equal, num = policy(*[1] * len(shares)), len(shares)
    yield remark((critical_success(equal, [Fraction(1)] * num, size) < 0) == (num <= size - 2))


def critical_success(shares: Policy, success: Success, size: int) -> Fraction:
    """s_crit of incumbents with these shares and success rates."""
    num = len(shares)
    rewards, strategies = [1] * num + [0] * num, list(range(num)) * 2
    mean, count = scores.mean(rewards), scores.distinct(strategies)
    pi = outcomes(shares, success)
    others = expected(lambda s: mean(s) * (1 + count(s)), pi, size - 1)
    whole = expected(mixture(num, Fraction(1)), pi, size)
    return (size**2 * whole - (size - 1) * others) / (1 + expected(count, pi, size - 1))


def advantage_of_new(shares: Policy, success: Success, new: Fraction, size: int) -> Fraction:
    """Subtract E f of the incumbents' sets from E f of sets with a sample of the new strategy."""
    num = len(shares)
    pi = outcomes((*shares, Fraction(0)), (*success, new))
    score = mixture(num + 1, Fraction(1))
    right, wrong = (expected(score, pi, size - 1, (at,)) for at in (num, 2 * num + 1))
    return new * right + (1 - new) * wrong - expected(score, pi, size)


@claim(
    "beyond-growth",
    BEYOND,
    "Which strategies survive: a positive advantage and growth",
    Verdict.FAILS,
    compares=("d log q/dt of the new strategy", ">", 0),
    how="d log q/dt of a new strategy with share $rare under ∇J in the strategies' logits, in"
    " fractions, ⟦n = 2⟧, success in steps of $step; whether it has grown after $steps "
    "steps of gradient ascent from the incumbents' optimum and share $start, wherever |A|"
    " > $least; its rate there.",
    truth="Yes once the incumbents are at their optimum.",
    counterexample="n=2, q=(1/3, 2/3), s=(2/5, 9/10), new=3/10, rate=-0.00247",
    tried="15 of 43 stated, 56 corrected, 3 remark",
    nearest="2993701169943/400000000000000000",
    cases=product((((9, 1), (9, 9)), ((1, 1), (9, 9)), ((1, 2), (4, 9)))),
)
def growth(incumbents: tuple[tuple[int, ...], tuple[int, ...]]) -> Trials:
    """A new strategy with a positive advantage grows."""
    success = [Fraction(n, 10) for n in incumbents[1]]
    shares, best = policy(*incumbents[0]), water_filling(success)
    least, start, steps = Fraction(1, 50), Fraction(1, 100), 1000
    yield shown(least=least, start=start, steps=steps, rare=RARE, step=Fraction(1, 20))
    for s in (Fraction(n, 20) for n in range(1, 21)):
        if advantage_of_new(shares, success, s, 2) > 0:
            rate = growth_of_new(shares, success, s)
            yield stated(rate, n=2, q=shares, s=tuple(success), new=s, rate=float(rate))
        at_best = advantage_of_new(best, success, s, 2)
        if abs(at_best) > least:
            end = share_after(best, (*success, s), float(start), steps)
            yield corrected((end > start) == (at_best > 0), q=best, new=s, end=end)
    new = Fraction(1, 10)
    earlier, later = (share_after(best, (*success, new), 1e-4, steps) for steps in (300, 400))
    expected_rate = 2 * earlier * float(advantage_of_new(best, success, new, 2))
    ratio = log(later / earlier) / 100 / expected_rate
    yield remark(abs(ratio / (1 + 1 / sum(q > 0 for q in best)) - 1) < 0.005, ratio=ratio)


RARE = Fraction(1, 10_000)


def growth_of_new(shares: Policy, success: Success, new: Fraction) -> Fraction:
    """d log q/dt of a new strategy with a small share, for n = 2."""
    mixed = (*[q * (1 - RARE) for q in shares], RARE)
    num = len(mixed)
    pi = outcomes(mixed, (*success, new))
    possible = [at for at, p in enumerate(pi) if p]
    score = mixture(num, Fraction(1))
    gradient = dict(zip(possible, _gradient_on(score, pi, possible), strict=True))
    of_strategies = [gradient.get(c, NOTHING) + gradient.get(c + num, NOTHING) for c in range(num)]
    return log_likelihood_rates(of_strategies, mixed)[-1]


def share_after(incumbents: Policy, success: Success, start: float, steps: int) -> float:
    """Return the last strategy's share after steps of ∇J in the logits, n = 2, in floats.

    J = Σ q·s − ½ Σ q²·s, so ∂J/∂q = s(1 − q).
    """
    rates = [float(s) for s in success]
    shares = [*[float(q) * (1 - start) for q in incumbents], start]
    for _ in range(steps):
        slopes = [s * (1 - q) for s, q in zip(rates, shares, strict=True)]
        mean = sum(q * slope for q, slope in zip(shares, slopes, strict=True))
        weights = [q * exp(q * (a - mean)) for q, a in zip(shares, slopes, strict=True)]
        shares = [weight / sum(weights) for weight in weights]
    return shares[-1]


def _gradient_on(score: Score, pi: Policy, possible: list[int]) -> list[Fraction]:
    """∇_z E f for sets of two, on the outcomes that are possible."""
    return logit_gradient(
        lambda s: score(tuple(possible[a] for a in s)), [pi[a] for a in possible], 2
    )
