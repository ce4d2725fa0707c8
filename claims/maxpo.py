"""MaxPO review: advantages for max@K, their baselines, and the identities of the appendix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np

import setrl
from claims import scores
from claims.claims import MAXPO, Trials, Verdict, claim, control, kind, remark, shown, stated
from claims.exact import (
    Actions,
    Credit,
    average,
    deviation,
    gain,
    group_means,
    logit_gradient,
    mean_estimate,
    mixture,
    policy,
    ratios,
    times,
)
from claims.formulas import Formula

Rewards = Sequence[Fraction | int]

REWARDS = (Fraction(1), Fraction(1, 2), Fraction(0))
SCORE = scores.named("max", *REWARDS)
POLICIES = (policy(1, 1, 1), policy(1, 3, 6), policy(7, 2, 1))
SIZES = ((3, 1), (3, 2), (4, 2), (4, 3), (5, 3))  # (B, K)


def batches(largest: int = 5) -> Iterator[tuple[tuple[int, ...], int]]:
    """Rewards 0…3 of B ≤ 5 samples, ties included, and every K < B."""
    for num in range(2, largest + 1):
        for rewards in combinations_with_replacement((0, 1, 3), num):
            for size in range(1, num):
                yield rewards, size


def improvement(rewards: Rewards, size: int) -> list[Fraction]:
    """EI_i: the mean of how far r_i exceeds the maximum of a (K−1)-set of the others.

    For K = 1 the other set is empty and worth 0, as in u − w.
    """
    value = scores.maximum(rewards)
    found = group_means(value, tuple(range(len(rewards))), size)
    return [u - w for u, w in zip(found.u, found.w, strict=True)]


def leave_two_out(rewards: Rewards, size: int) -> list[Fraction]:
    """EI_i minus the mean of the others' EI, each computed in the batch without i."""
    result = []
    for i, own in enumerate(improvement(rewards, size)):
        others = [r for j, r in enumerate(rewards) if j != i]
        result.append(own - average(improvement(others, size)))
    return result


def of_rewards(advantages: Callable[[Rewards, int], list[Fraction]], size: int) -> Credit:
    """Credit a group of actions with the advantages of their rewards."""
    return lambda group: advantages([REWARDS[a] for a in group], size)


def follows(credit: Credit, num: int, size: int, scale: Fraction) -> Trials:
    """Compare the mean update with `scale` times the gradient, for every policy tried."""
    for p in POLICIES:
        wanted = times(scale, logit_gradient(SCORE, p, size))
        yield stated(mean_estimate(credit, p, num), wanted, B=num, K=size, π=p)


@claim(
    "maxpo-ei-unbiased",
    MAXPO,
    "Abstract; PKPO's s_loo−1 (arXiv:2505.15201)",
    Verdict.HOLDS,
    compares=("mean update", "=", "(B/K)·∇E max@K"),
    how="(K/B)(u − w): mean update over all groups of B samples of three actions, B ≤ $B.most.",
    tried="15 stated, 40 remark",
)
def improvement_is_unbiased() -> Trials:
    """Expected improvement is unbiased: $q."""
    for num, size in SIZES:
        yield from follows(gain(SCORE, size), num, size, Fraction(num, size))
    for rewards, size in batches(4):
        if size > 1:
            excess = [
                average(
                    [
                        max(Fraction(rewards[i] - max(rewards[j] for j in s)), Fraction(0))
                        for s in sets
                    ]
                )
                for i, sets in enumerate(_other_sets(len(rewards), size - 1))
            ]
            yield remark(improvement(rewards, size) == excess)


def _other_sets(num: int, size: int) -> list[list[Actions]]:
    return [list(combinations([j for j in range(num) if j != i], size)) for i in range(num)]


@claim(
    "maxpo-ei-not-centred",
    MAXPO,
    "Abstract",
    Verdict.HOLDS,
    compares=("sum of a batch", "=", "⟦B·(U at K − U at K − 1), which is 0 or more⟧"),
    how="Σ EI over every batch of ⟦B ≤ 5⟧ rewards, ⟦K ≥ 2⟧: B times the mean max@K minus the "
    "mean ⟦max@(K−1)⟧, which is never negative.",
    truth="Rewards $example, ⟦K = 2⟧: the sum is $total.",
    tried="103 stated, 103 remark",
)
def improvement_is_not_centred() -> Trials:
    """Expected improvement is not centred: $q."""
    for rewards, size in batches():
        if size > 1:
            num, value = len(rewards), scores.maximum(rewards)
            whole, smaller = (group_means(value, tuple(range(num)), k).U for k in (size, size - 1))
            total = sum(improvement(rewards, size))
            yield stated(total, num * (whole - smaller), r=rewards, K=size, sum=total)
            yield remark(whole >= smaller)
    example = (0, 1, 1, 3)
    yield shown(example=example, total=sum(improvement(example, 2)))


@claim(
    "maxpo-l2o-centred",
    MAXPO,
    "Abstract",
    Verdict.HOLDS,
    compares=("sum of a batch", "=", 0),
    how="Σ_i of EI_i minus the mean of EI_j without i, for every batch of ⟦B ≤ 5⟧, ties included.",
    tried="155 stated",
    cases=batches(),
)
def leave_two_out_is_centred(rewards: Actions, size: int) -> Trials:
    """With the leave-two-out baseline the $q, exactly."""
    found = leave_two_out(rewards, size)
    yield stated(sum(found), r=rewards, K=size, A=found)


@claim(
    "maxpo-l2o-unbiased",
    MAXPO,
    "Abstract",
    Verdict.HOLDS,
    compares=("mean update", "=", "(B/K)·∇E max@K"),
    how="Mean update of EI + leave-two-out over all groups, B ≤ $B.most: B/K times ∇E max, as"
    " for EI.",
    tried="15 stated",
    cases=SIZES,
)
def leave_two_out_is_unbiased(num: int, size: int) -> Trials:
    """Leave-two-out is unbiased: $q."""
    credit = of_rewards(leave_two_out, size)
    yield from follows(credit, num, size, Fraction(num, size))


@claim(
    "maxpo-leave-two",
    MAXPO,
    "Abstract: why two are left out",
    Verdict.HOLDS,
    compares=("number of different ratios of the mean update to the gradient", ">", 1),
    how="EI_i minus the mean of the others' EI in the full batch: mean update against ∇E max@K.",
    truth="Its mean is ⟦(B/K)(1 − (K−1)/(B−1))⟧ ∇E ⟦max@K + B/(B−1)⟧ ∇E ⟦max@(K−1)⟧.",
    tried="12 stated, 12 remark",
    nearest="2",
)
def leaving_one_out_is_biased() -> Trials:
    """Centring EI by the other samples' EI biases it unless the sample is left out of those too."""
    for num, size in ((3, 2), (4, 2), (4, 3), (5, 3)):
        for p in POLICIES:
            found = mean_estimate(of_rewards(_centred_in_batch, size), p, num)
            truth, smaller = (logit_gradient(SCORE, p, k) for k in (size, size - 1))
            yield stated(len(set(ratios(found, truth))), B=num, K=size, π=p)
            weight = Fraction(num, size) * (1 - Fraction(size - 1, num - 1))
            mixed = [
                weight * a + Fraction(num, num - 1) * b for a, b in zip(truth, smaller, strict=True)
            ]
            yield remark(found == mixed)


def _centred_in_batch(rewards: Rewards, size: int) -> list[Fraction]:
    own = improvement(rewards, size)
    return [x - (sum(own) - x) / (len(own) - 1) for x in own]


@claim(
    "maxpo-referee",
    MAXPO,
    "Referee report, second major comment",
    Verdict.READING,
    compares=("bias of an action", "≠", 0),
    how="EI + leave-two-out against u − v in every batch of B ≤ $B.most, and its mean update "
    "over all groups against (B/K)∇E max@K.",
    kindly="The advantage is u_i − v_i, and v_i does not depend on y_i: leaving out two "
    "removes the bias exactly.",
    counterexample="f=max of (1, 1/2, 0), B=3, K=2, π=(1/3, 1/3, 1/3), bias=(0, 0, 0)",
    tried="12 of 12 stated, 170 kind, 24 control",
)
def referee() -> Trials:
    """The dependence that max@K introduces in a group leaves a bias in a finite batch."""
    for rewards, size in batches():
        means = group_means(scores.maximum(rewards), tuple(range(len(rewards))), size)
        right = [u - v for u, v in zip(means.u, means.v, strict=True)]
        yield kind(leave_two_out(rewards, size) == right, r=rewards, K=size)
    for (num, size), p in product(SIZES, POLICIES):
        found = mean_estimate(of_rewards(leave_two_out, size), p, num)
        truth = times(Fraction(num, size), logit_gradient(SCORE, p, size))
        bias = [f - t for f, t in zip(found, truth, strict=True)]
        yield kind(not any(bias), B=num, K=size, π=p)
        if size > 1:
            yield stated(max(bias, key=abs), f=SCORE, B=num, K=size, π=p, bias=bias)
            one_out = mean_estimate(of_rewards(_centred_in_batch, size), p, num)
            other = [f - t for f, t in zip(one_out, truth, strict=True)]
            yield control(min(other), B=num, K=size, π=p)
            yield control(max(other), B=num, K=size, π=p)


@claim(
    "maxpo-any-group-size",
    MAXPO,
    "Simulated rebuttal, second point",
    Verdict.READING,
    compares=("v is defined at B = K", "always"),
    how="The baseline was computed for every K ≤ B ≤ $B.most.",
    kindly="K is the size of a set, and the group has more samples: ⟦B ≥ K + 1⟧.",
    truth="With B = K there is no set without i. ⟦K = 1⟧ is possible too: REINFORCE with "
    "leave-one-out.",
    counterexample="B=2, K=2",
    tried="4 of 4 stated, 14 kind, 2 remark",
)
def any_group_size() -> Trials:
    """The estimator works for any group of ⟦K ≥ 2⟧ samples."""
    for num in range(2, 6):
        for size in range(1, num + 1):
            means = group_means(scores.maximum(tuple(range(num))), tuple(range(num)), size)
            defined = len(means.v) == num
            if num == size >= 2:
                yield stated(defined, B=num, K=size)
            yield kind(defined == (num > size), B=num, K=size)
    for rewards in ((0, 1, 3), (2, 2, 5)):
        others = [Fraction(sum(rewards) - r, 2) for r in rewards]
        plain = [r - o for r, o in zip(rewards, others, strict=True)]
        yield remark(leave_two_out(rewards, 1) == plain)


@claim(
    "maxpo-is-set-rl",
    MAXPO,
    "Abstract: a unified view",
    Verdict.HOLDS,
    compares=("MaxPO's advantage", "=", "B/(B − K) times u − U"),
    how="EI + leave-two-out against Set RL's u − U with f = max, every batch of ⟦B ≤ 5⟧, and "
    "the library's `maxpo` to ⟦1e-12⟧.",
    truth="For ⟦K = 1⟧ it is RLOO's r minus the mean of the others.",
    tried="155 stated, 155 remark",
    cases=batches(),
)
def is_set_rl(rewards: Actions, size: int) -> Trials:
    """$q of max, over all sets."""
    num = len(rewards)
    found = leave_two_out(rewards, size)
    marginal = deviation(scores.maximum(rewards), size)(tuple(range(num)))
    yield stated(found, times(Fraction(num, num - size), marginal), r=rewards, K=size)
    library = setrl.methods.maxpo(size).advantages(np.array([rewards]) * 1.0).values_BN[0]
    yield remark(np.abs(library - [float(a) for a in found]).max() < 1e-12)


@claim(
    "maxpo-mixtures",
    MAXPO,
    "Abstract: a unified view",
    Verdict.HOLDS,
    compares=("mean update", "=", "(B/K)·∇E max@K"),
    how="u − c·v − ⟦(1−c)⟧·w for c = $c, and raw u: mean update over all groups, B ≤ $B.most.",
    truth="All are B/K times the gradient; only ⟦c = 1⟧ is centred.",
    tried="120 stated, 20 remark",
)
def mixtures() -> Trials:
    """Existing estimators are u with different baselines, all unbiased: $q."""
    for (num, size), c in product(SIZES, (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2))):
        scale = Fraction(num, size)
        yield from follows(mixture(SCORE, size, c), num, size, scale)
        raw = lambda group, k=size: group_means(SCORE, group, k).u  # noqa: E731
        yield from follows(raw, num, size, scale)
        centred = all(
            sum(mixture(SCORE, size, c)(g)) == 0 for g in ((0,) * num, (0, *(2,) * (num - 1)))
        )
        yield remark(centred == (c == 1), c=c)


SHARE = Formula("(K/B)·u_i")


@claim(
    "maxpo-eq-83",
    MAXPO,
    "Appendix, Eq. 83",
    Verdict.HOLDS,
    compares=("S(i, K, B)", "=", Formula("C(B−1, K−1)/C(B, K)·u_i")),
    how="The mean over all K-sets of ⟦1{i∈S}⟧ max S, every batch of ⟦B ≤ 5⟧.",
    tried="672 stated, 672 remark",
    cases=batches(),
)
def equation_83(rewards: Actions, size: int) -> Trials:
    """$q, which is $share."""
    num = len(rewards)
    means = group_means(scores.maximum(rewards), tuple(range(num)), size)
    for i in range(num):
        found = share(rewards, size, i)
        yield stated(found, r=rewards, B=num, K=size, i=i, u_i=means.u[i])
        yield remark(found == SHARE(B=num, K=size, u_i=means.u[i]))
    yield shown(share=SHARE)


def share(rewards: Rewards, size: int, i: int) -> Fraction:
    """S(i, K, B): the mean over all K-sets of 1{i∈S} max S."""
    value, num = scores.maximum(rewards), len(rewards)
    return average([value(s) if i in s else Fraction(0) for s in combinations(range(num), size)])


def leave_out_sum(rewards: Rewards, size: int, i: int) -> Fraction:
    """Σ_{j≠i} S(j, K, B∖i)."""
    others = [r for j, r in enumerate(rewards) if j != i]
    return sum((share(others, size, j) for j in range(len(others))), Fraction(0))


@claim(
    "maxpo-eq-84",
    MAXPO,
    "Appendix, Eq. 84",
    Verdict.HOLDS,
    compares=("Σ_{j≠i} S(j, K, B∖i)", "=", Formula("K·v_i")),
    how="Both sides for every batch of ⟦B ≤ 5⟧ and every i.",
    tried="672 stated",
    cases=batches(),
)
def equation_84(rewards: Actions, size: int) -> Trials:
    """$q."""
    means = group_means(scores.maximum(rewards), tuple(range(len(rewards))), size)
    for i, v in enumerate(means.v):
        found = leave_out_sum(rewards, size, i)
        yield stated(found, r=rewards, K=size, i=i, v_i=v)


@claim(
    "maxpo-bon-mean",
    MAXPO,
    "Appendix, after Eq. 84: 'BoN mean'",
    Verdict.HOLDS,
    compares=("mean update", "=", "∇E max@K"),
    how="S(i, K, B) minus the mean of S(j, K, B∖i): unbiased, without a scale, over all "
    "groups, and its sum, every batch of B ≤ $B.most.",
    truth="It is PKPO's s_loo, ⟦(K/B)u_i − K/(B−1)⟧ v_i. It sums to ⟦−K·U/(B−1)⟧ and changes "
    "when a constant is added to all rewards.",
    tried="15 stated, 310 remark",
)
def best_of_n_mean() -> Trials:
    """The best-of-n estimator with its leave-one-out mean is unbiased: $q."""
    for num, size in SIZES:
        yield from follows(of_rewards(_bon, size), num, size, Fraction(1))
    for rewards, size in batches():
        num = len(rewards)
        found = _bon(rewards, size)
        whole = group_means(scores.maximum(rewards), tuple(range(num)), size).U
        yield remark(sum(found) == -size * whole / (num - 1))
        shifted = _bon([r + 1 for r in rewards], size)
        yield remark(shifted != found)


def _bon(rewards: Rewards, size: int) -> list[Fraction]:
    num = len(rewards)
    return [
        share(rewards, size, i) - leave_out_sum(rewards, size, i) / (num - 1) for i in range(num)
    ]


OF_CORRECT = Formula("C(B−c, K)/C(B−1, K)")
OF_WRONG = Formula("−c/(B−c)")


@claim(
    "maxpo-pass-at-k",
    MAXPO,
    "Abstract: pass@K and max@K",
    Verdict.HOLDS,
    compares=(Formula("1 − C(B−c, K)/C(B, K)"), "=", "mean max@K"),
    how="U of max for ⟦rewards 0/1⟧ with c correct of B ≤ $B.most ⟦against 1⟧ − C(B−c, "
    "K)/C(B, K) ⟦(arXiv:2107.03374)⟧, and u − v of a correct and a wrong sample.",
    truth="u − v = $of_correct for a correct sample and $of_wrong times it for a wrong one.",
    tried="91 stated, 182 remark",
    cases=product(range(2, 8)),
)
def pass_at_k(num: int) -> Trials:
    """For ⟦rewards 0 and 1⟧ max@K is pass@K."""
    for correct, size in product(range(1, num), range(1, num)):
        rewards = (*[1] * correct, *[0] * (num - correct))
        means = group_means(scores.maximum(rewards), tuple(range(num)), size)
        yield stated(means.U, B=num, c=correct, K=size)
        right = OF_CORRECT(B=num, c=correct, K=size)
        yield remark(means.u[0] - means.v[0] == right)
        wrong = OF_WRONG(B=num, c=correct) * right
        yield remark(means.u[-1] - means.v[-1] == wrong)
    yield shown(of_correct=OF_CORRECT, of_wrong=OF_WRONG)
