"""MaxPO review: the identities of its appendix, and pass@K."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

from claims import scores
from claims.claims import Trials, Verdict, claim, remark, stated
from claims.documents import MAXPO
from claims.exact import average
from claims.exact_credit import group_means
from claims.maxpo import SIZES, Rewards, batches, follows, of_rewards


@claim(
    "maxpo-eq-83",
    MAXPO,
    "Appendix, Eq. 83",
    Verdict.HOLDS,
    how="The mean over all K-sets of 1{i∈S} max S, every batch of B ≤ 5.",
)
def equation_83() -> Trials:
    """S(i, K, B) = C(B−1, K−1)/C(B, K) · u_i = (K/B) u_i."""
    for rewards, size in batches():
        num = len(rewards)
        means = group_means(scores.maximum(rewards), tuple(range(num)), size)
        for i in range(num):
            found = share(rewards, size, i)
            yield stated(found == Fraction(size, num) * means.u[i], r=rewards, K=size, i=i, S=found)
        yield remark(Fraction(comb(num - 1, size - 1), comb(num, size)) == Fraction(size, num))


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
    how="Both sides for every batch of B ≤ 5 and every i.",
)
def equation_84() -> Trials:
    """Σ_{j≠i} S(j, K, B∖i) = K v_i."""
    for rewards, size in batches():
        means = group_means(scores.maximum(rewards), tuple(range(len(rewards))), size)
        for i, v in enumerate(means.v):
            found = leave_out_sum(rewards, size, i)
            yield stated(found == size * v, r=rewards, K=size, i=i, sum=found)


@claim(
    "maxpo-bon-mean",
    MAXPO,
    "Appendix, after Eq. 84: 'BoN mean'",
    Verdict.HOLDS,
    how="S(i, K, B) less the mean of S(j, K, B∖i): unbiased (scale 1) over all groups, and its "
    "sum, every batch of B ≤ 5.",
    truth="It is PKPO's s_loo, (K/B)u_i − K/(B−1) v_i. It sums to −K·U/(B−1) and changes when a "
    "constant is added to all rewards.",
)
def best_of_n_mean() -> Trials:
    """The best-of-n estimator with its leave-one-out mean is unbiased."""
    for num, size in SIZES:
        yield stated(follows(of_rewards(_bon, size), num, size, Fraction(1)), B=num, K=size)
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


@claim(
    "maxpo-pass-at-k",
    MAXPO,
    "Abstract: pass@K and max@K",
    Verdict.HOLDS,
    how="U of max for rewards 0/1 with c correct of B ≤ 7 against 1 − C(B−c, K)/C(B, K) "
    "(arXiv:2107.03374), and u − v of a correct and a wrong sample.",
    truth="u − v = C(B−c, K)/C(B−1, K) for a correct sample and −c/(B−c) times it for a wrong one.",
)
def pass_at_k() -> Trials:
    """For rewards 0 and 1 max@K is pass@K."""
    for num in range(2, 8):
        for correct, size in product(range(1, num), range(1, num)):
            rewards = (*[1] * correct, *[0] * (num - correct))
            means = group_means(scores.maximum(rewards), tuple(range(num)), size)
            found = 1 - Fraction(comb(num - correct, size), comb(num, size))
            yield stated(found == means.U, B=num, c=correct, K=size, U=found)
            right = Fraction(comb(num - correct, size), comb(num - 1, size))
            yield remark(means.u[0] - means.v[0] == right)
            wrong = -right * correct / (num - correct)
            yield remark(means.u[-1] - means.v[-1] == wrong)
