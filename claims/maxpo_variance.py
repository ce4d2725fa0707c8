"""MaxPO review: variance and numerics."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, lgamma

from claims.claims import (
    MAXPO,
    Trials,
    Verdict,
    claim,
    control,
    kind,
    remark,
    rounded,
    scaled,
    shown,
    stated,
)
from claims.exact import Policy, contrast, gain, policies, policy, trace_variance
from claims.maxpo import SCORE

CERTAIN = (Fraction(0), Fraction(0), Fraction(1))  # both variances are 0


@claim(
    "maxpo-variance",
    MAXPO,
    "Abstract: L2O empirically reduces gradient variance",
    Verdict.READING,
    compares=("variance with leave-two-out", "≤", "variance of EI"),
    how="Exact trace variance of EI and of EI + leave-two-out, which have the same mean; "
    "three actions with ⟦rewards 1, 1/2, 0⟧, B = $B, K = $K, every policy with "
    "⟦denominator ≤ 6⟧.",
    kindly="The text says “empirically”: it holds for some policies, and for our bandits with "
    "many arms (docs/experiments.md).",
    truth="With B = $B_large, K = $K it helps at π = $helps, and hurts at $hurts.",
    counterexample="f=max of (1, 1/2, 0), B=4, K=2, π=(1/3, 1/3, 1/3), EI=124/729, L2O=56/243",
    tried="18 of 19 stated, 1 kind, 1 control, 1 remark",
)
def variance_reduction() -> Trials:
    """The leave-two-out baseline lowers the variance of the gradient."""
    num, size = 4, 2
    for p in policies(3, 6):
        with_baseline, without = _both(p, num, size)
        case = {"f": SCORE, "B": num, "K": size, "π": p}
        yield stated(with_baseline, without, **case, EI=without, L2O=with_baseline)
    yield control(*_both(CERTAIN, num, size), π=CERTAIN)
    large = 5
    helps, *hurts = policy(1, 3, 6), policy(1, 1, 1), policy(7, 2, 1)
    pairs = [_both(p, large, size) for p in (helps, *hurts)]
    better = [with_baseline < without for with_baseline, without in pairs]
    yield kind(better[0], π=helps)
    yield remark(not any(better[1:]))
    yield shown(helps=helps, hurts=hurts, B_large=large)


@claim(
    "maxpo-variance-large-k",
    MAXPO,
    "Figure 5: variance against K",
    Verdict.READING,
    compares=("variance of leave-two-out", "≤", "variance of EI"),
    how="Exact trace variances for B = $B, K = $K, three actions, π = $policy, where it helps"
    " at small K.",
    kindly="The figure makes no claim for all K. Leave-two-out has the lower variance up to K = "
    "$small.",
    truth="The ratio rises with K: $ratios. As K nears B, v is the mean of few sets.",
    counterexample="f=max of (1, 1/2, 0), B=5, K=3, π=(1/10, 3/10, 3/5), L2O_over_EI=1.187",
    tried="2 of 4 stated, 1 kind, 4 control, 1 remark",
)
def variance_large_k() -> Trials:
    """Leave-two-out has the lower variance at every K."""
    p, num = policy(1, 3, 6), 5
    ratios = []
    for size in (1, 2, 3, 4):
        with_baseline, without = _both(p, num, size)
        ratios.append(with_baseline / without)
        case = {"f": SCORE, "B": num, "K": size, "π": p}
        yield stated(with_baseline, without, **case, L2O_over_EI=float(ratios[-1]))
        yield control(*_both(CERTAIN, num, size), B=num, K=size)
    small = sum(ratio < 1 for ratio in ratios)
    yield kind(small == 2)
    yield shown(small=small, ratios=[rounded(ratio, 2) for ratio in ratios], policy=p)
    yield remark(ratios == sorted(ratios), ratios=[float(r) for r in ratios])


def _both(p: Policy, num: int, size: int) -> tuple[Fraction, Fraction]:
    """Return the trace variances of leave-two-out and of EI."""
    return (
        trace_variance(contrast(SCORE, size), p, num),
        trace_variance(gain(SCORE, size), p, num),
    )


@claim(
    "maxpo-log-space",
    MAXPO,
    "Appendix, listing: C(n, k) in log space",
    Verdict.HOLDS,
    compares=("relative error", "<", 1e-09),
    how="exp(lgamma…) against integers: ⟦C(B−1−m, K−1)/C(B−1, K−1)⟧ at B = $B, K = $K, "
    "relative error below ⟦1e-9⟧; and the ratio recurrence below ⟦1e-13⟧.",
    truth="A recurrence of ratios, ⟦q[m+1] = q[m]·(B−K−m)/(B−1−m)⟧, keeps three more digits.",
    tried="9 stated, 9 remark",
    nearest="9.927e-10",
    cases=product((8, 32, 256)),
)
def log_space(size: int) -> Trials:
    """Binomial weights can be computed in log space."""
    num = 4096
    recurrent = 1.0
    for m in range(1, 40):
        recurrent *= (num - size - m + 1) / (num - m)
        if m % 13 == 0:
            exact = Fraction(comb(num - 1 - m, size - 1), comb(num - 1, size - 1))
            by_logs = exp(_log_comb(num - 1 - m, size - 1) - _log_comb(num - 1, size - 1))
            error = abs(by_logs / float(exact) - 1)
            yield stated(error, B=num, K=size, m=m)
            yield remark(abs(recurrent / float(exact) - 1) < 1e-13)


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def adam_proxy(gradients: tuple[Fraction, ...], first: Fraction, second: Fraction) -> Fraction:
    """v̂ − m̂² of Adam after a sequence of gradients; moments corrected for the start at 0."""
    m = v = Fraction(0)
    for g in gradients:
        m, v = first * m + (1 - first) * g, second * v + (1 - second) * g * g
    steps = len(gradients)
    return v / (1 - second**steps) - (m / (1 - first**steps)) ** 2


@claim(
    "maxpo-adam-proxy",
    MAXPO,
    "Figure 3: Var(g) ≈ v̂ − m̂² of Adam",
    Verdict.UP_TO_SCALE,
    compares=("E(v̂ − m̂²)", "=", "variance"),
    how="E[v̂ − m̂²] over every sequence of t = $t independent gradients, each one of "
    "$gradients with chances $chances, β₁ = $β_1, β₂ = $β_2, in fractions.",
    truth="⟦1 − (1−β₁)(1+β₁^t)/((1+β₁)(1−β₁^t))⟧ if the policy stands still: zero at the first "
    "step, ⟦2β₁/(1+β₁)⟧ = $limit in the long run. Averages compare; values do not.",
    counterexample="gradients=(-1, 3), chances=(3/4, 1/4), β=(9/10, 99/100), t=2, "
    "proxy=1.496, variance=3",
    tried="6 of 6 stated, 6 scaled, 1 remark",
)
def adam_variance() -> Trials:
    """v̂ − m̂² estimates the variance of the gradient."""
    first, second = Fraction(9, 10), Fraction(99, 100)
    values = {Fraction(-1): Fraction(3, 4), Fraction(3): Fraction(1, 4)}
    variance = sum(g * g * chance for g, chance in values.items())  # the mean is 0
    yield shown(β_1=first, β_2=second, limit=2 * first / (1 + first))
    yield shown(gradients=list(values), chances=list(values.values()))
    for steps in range(1, 8):
        mean = Fraction(0)
        for gradients in product(values, repeat=steps):
            chance = Fraction(1)
            for g in gradients:
                chance *= values[g]
            mean += chance * adam_proxy(gradients, first, second)
        lag = (1 - first) * (1 + first**steps) / ((1 + first) * (1 - first**steps))
        if steps == 1:
            yield remark(mean == 0)
            continue
        case = {"gradients": tuple(values), "chances": tuple(values.values())}
        numbers = {"t": steps, "proxy": float(mean), "variance": float(variance)}
        yield stated(mean, variance, **case, β=(first, second), **numbers)
        yield scaled(mean, (1 - lag) * variance, t=steps, scale=float(1 - lag))
