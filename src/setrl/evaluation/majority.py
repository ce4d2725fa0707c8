"""Majority vote over k of n samples: its accuracy and the winner's share, exactly.

Axes: P problems, A answers of a problem, T winning counts, R pairs of a winning count and a
quadrature node, W frequencies, G groups of answers with the same votes and the same verdict.

The votes in a k-subset of n samples are those of independent Binomial(m_a, k/n) counts, given that
they (and the abstentions) add up to k. With p_a(s) the binomial probabilities, the answers that
tie at the winning count t share the win:

    accuracy = Σ_t ∫₀¹ Σ_{a right} p_a(t) Π_{b≠a} (P_b(<t) + z·p_b(t)) dz      given the total k

because ∫ z^j dz = 1/(1+j) is the share of a winner that ties with j others. The integrand is a
polynomial in z, so Gauss–Legendre integrates it exactly. The condition on the total is read off
the characteristic function at M frequencies. What is left out (totals that are off by M or more,
winning counts that are too small or too large to occur) has probability below 1e-18.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setrl.evaluation.estimators import Counts, Floats, check_size, checked_counts

Complexes = NDArray[np.complex128]

NEGLIGIBLE = 1e-18
SMALLEST = 1e-300  # in place of 0 where a logarithm follows


@dataclass(frozen=True)
class Majority:
    """Majority vote over k samples, averaged over all k-subsets.

    Attributes:
        accuracy_P: Probability that the winner is a right answer.
        share_P: Expected votes of the winner, divided by k.
    """

    accuracy_P: Floats
    share_P: Floats


def majority_at_k(votes_PA: ArrayLike, right_PA: ArrayLike, n: int, k: int) -> Majority:
    """Accuracy and vote share of the majority answer of k samples; ties are drawn uniformly.

    Samples without an answer abstain: they are in no column of `votes_PA`, but are among the n. A
    subset in which everybody abstains is a wrong vote with share 0.

    Args:
        votes_PA: Number of samples that give each answer; zeros pad.
        right_PA: Whether the answer is right; several may be.
        n: Samples a problem.
        k: Samples that vote, 1 … n.

    Returns:
        `Majority` with (P,) values in [0, 1].

    >>> result = majority_at_k([[2, 1]], [[True, False]], n=3, k=2)
    >>> result.accuracy_P.round(6), result.share_P.round(6)
    (array([0.666667]), array([0.666667]))
    """
    votes_PA, right_PA = checked_counts(votes_PA, n), np.asarray(right_PA, dtype=bool)
    check_size(n, k)
    if votes_PA.shape != right_PA.shape:
        raise ValueError(
            f"votes and right must have the same shape, got {votes_PA.shape} and {right_PA.shape}"
        )
    if votes_PA.size and votes_PA.sum(axis=1).max() > n:
        raise ValueError(f"a problem has {votes_PA.sum(axis=1).max()} votes of {n} samples")
    draw = _Draw.make(n, k)
    results = [_vote(votes, right, draw) for votes, right in zip(votes_PA, right_PA, strict=True)]
    accuracy_P, share_P = np.array(results, dtype=np.float64).reshape(-1, 2).clip(0, 1).T
    return Majority(accuracy_P, share_P)


@dataclass(frozen=True)
class _Draw:
    """What depends on n and k only."""

    n: int
    k: int
    log_factorial: Floats  # of 0 … n
    turn_SW: Complexes  # exp(i·s·angle) for the counts s = 0 … k
    read_W: Complexes  # Re Σ_w read · F = probability of the total k, over that of no condition

    @staticmethod
    def make(n: int, k: int) -> _Draw:
        log_factorial = np.array([math.lgamma(i + 1) for i in range(n + 1)])
        period = _period(n, k)
        angle_W = 2 * np.pi * np.arange(period // 2 + 1) / period
        both_signs = np.where(angle_W > 0, 2.0, 1.0)
        turn_SW = np.exp(1j * np.outer(np.arange(k + 1), angle_W))
        total = _binomial(np.array([n]), k, k / n, log_factorial)[0, k] if k < n else 1.0
        return _Draw(n, k, log_factorial, turn_SW, both_signs / turn_SW[k] / (period * total))


def _period(n: int, k: int) -> int:
    """Odd number M of frequencies: totals that differ from k by M or more are negligible.

    Bernstein: P(|X−k| ≥ M) ≤ 2·exp(−M²/(2σ² + 2M/3)) for X of Binomial(n, k/n).
    """
    log_odds = math.log(2 / NEGLIGIBLE)
    deviation = log_odds / 3 + math.sqrt(log_odds**2 / 9 + 2 * log_odds * k * (1 - k / n))
    return 2 * (min(max(k, n - k), math.ceil(deviation)) // 2) + 3


def _vote(votes_A: Counts, right_A: NDArray[np.bool_], draw: _Draw) -> tuple[float, float]:
    """Accuracy and share for one problem."""
    top = int(votes_A.max(initial=0))
    if top == 0:
        return 0.0, 0.0
    if draw.k == draw.n:
        return float(right_A[votes_A == top].mean()), top / draw.k
    kind_G, repeats_G = np.unique(2 * votes_A + right_A, return_counts=True)
    groups = _Groups.make(kind_G // 2, kind_G % 2, repeats_G, draw)
    low, high = groups.winning_counts()
    groups = groups.reaching(low)
    theta, rest = draw.k / draw.n, draw.n - int(groups.votes_G @ groups.repeats_G)
    read_W = draw.read_W * (1 - theta + theta * draw.turn_SW[1]) ** rest
    factors = _Factors.make(groups, low, high, draw)
    accuracy = _accuracy(groups, factors, read_W, low, high, draw.k)
    return accuracy, _expected_top(groups, factors, read_W, low) / draw.k


@dataclass(frozen=True)
class _Groups:
    """Answers with the same votes and the same verdict, taken together."""

    votes_G: Counts
    right_G: Counts
    repeats_G: Counts  # how many answers
    chance_GS: Floats  # probability of each count s = 0, 1, … of one of them

    @staticmethod
    def make(votes_G: Counts, right_G: Counts, repeats_G: Counts, draw: _Draw) -> _Groups:
        largest = min(int(votes_G.max()), draw.k)
        chance_GS = _binomial(votes_G, largest, draw.k / draw.n, draw.log_factorial)
        return _Groups(votes_G, right_G, repeats_G, chance_GS)

    def winning_counts(self) -> tuple[int, int]:
        """Smallest and largest count that may be the winner's."""
        at_most_GS = np.maximum(self.chance_GS.cumsum(axis=1), SMALLEST)
        all_at_most_S = np.exp(self.repeats_G @ np.log(at_most_GS))
        some_at_least_S = self.repeats_G @ self._at_least_GS()
        low = int((all_at_most_S > NEGLIGIBLE).argmax())
        return max(low, 1), int(np.nonzero(some_at_least_S > NEGLIGIBLE)[0][-1])

    def reaching(self, low: int) -> _Groups:
        """The groups that may win, with this count or a larger one."""
        may = self._at_least_GS()[:, low] > NEGLIGIBLE
        return _Groups(
            self.votes_G[may], self.right_G[may], self.repeats_G[may], self.chance_GS[may]
        )

    def _at_least_GS(self) -> Floats:
        return self.chance_GS[:, ::-1].cumsum(axis=1)[:, ::-1]


def _binomial(m_G: Counts, largest: int, theta: float, log_factorial: Floats) -> Floats:
    """Binomial(m, theta) probabilities of the counts 0 … largest; 0 above m."""
    m, s = m_G[:, None], np.arange(largest + 1)[None]
    possible = s <= m
    left = np.where(possible, m - s, 0)
    log_ways = log_factorial[m] - log_factorial[np.minimum(s, m)] - log_factorial[left]
    log_chance = log_ways + s * math.log(theta) + left * math.log1p(-theta)
    return np.where(possible, np.exp(log_chance), 0.0)


@dataclass(frozen=True)
class _Factors:
    """Characteristic functions of one answer's count, restricted to a range of counts."""

    below_GTW: Complexes  # to those below the winning count
    at_GTW: Complexes  # to the winning count

    @staticmethod
    def make(groups: _Groups, low: int, high: int, draw: _Draw) -> _Factors:
        chance_GS, turn_SW = groups.chance_GS[:, : high + 1], draw.turn_SW[: high + 1]
        at_GTW = chance_GS[:, low:, None] * turn_SW[low:]
        below_low = (chance_GS[:, :low] @ turn_SW[:low])[:, None]
        below_GTW = np.concatenate([below_low, at_GTW[:, :-1]], axis=1).cumsum(axis=1)
        return _Factors(below_GTW, at_GTW)


def _accuracy(
    groups: _Groups, factors: _Factors, read_W: Complexes, low: int, high: int, k: int
) -> float:
    """The sum over winning counts of the integral over z, given the total.

    One pass over the groups carries two products: `none` of the terms that may tie, and `won`, in
    which one right answer is the winner.
    """
    high = min(high, int(groups.votes_G[groups.right_G == 1].max(initial=0)))
    if high < low:
        return 0.0
    t_R, z_R, weight_R = _quadrature(groups, low, high, k)
    none = np.ones((len(t_R), len(read_W)), dtype=np.complex128)
    won = np.zeros_like(none)
    for below_TW, at_TW, right, repeats in zip(
        factors.below_GTW, factors.at_GTW, groups.right_G, groups.repeats_G, strict=True
    ):
        at_RW = at_TW[t_R - low]
        factor = below_TW[t_R - low] + z_R[:, None] * at_RW
        others = _power(factor, repeats - 1)
        everyone = others * factor
        won = won * everyone
        if right:
            won += repeats * none * others * at_RW
        none = none * everyone
    return float((weight_R @ won @ read_W).real)


def _quadrature(
    groups: _Groups, low: int, high: int, k: int
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Pairs (winning count, node in [0, 1]) with weights that integrate the ties exactly."""
    t_T = np.arange(low, high + 1)
    reaching_T = groups.repeats_G @ (groups.votes_G[:, None] >= t_T)
    points_T = (np.minimum(reaching_T, k // t_T) - 1) // 2 + 1
    nodes, weights = zip(*(_gauss_legendre(int(points)) for points in points_T), strict=True)
    return np.repeat(t_T, points_T), np.concatenate(nodes), np.concatenate(weights)


@cache
def _gauss_legendre(points: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1], exact for polynomials up to degree 2·points − 1."""
    node, weight = np.polynomial.legendre.leggauss(points)
    return (node + 1) / 2, weight / 2


def _expected_top(groups: _Groups, factors: _Factors, read_W: Complexes, low: int) -> float:
    """E[max count] = Σ_t P(max ≥ t) = (low − 1) + Σ_{t ≥ low} (1 − P(all counts < t))."""
    below_TW = np.ones(factors.below_GTW.shape[1:], dtype=np.complex128)
    for factor_TW, repeats in zip(factors.below_GTW, groups.repeats_G, strict=True):
        below_TW = below_TW * _power(factor_TW, repeats)
    return low - 1 + float((1 - (below_TW @ read_W).real).sum())


def _power(base: Complexes, exponent: int) -> Complexes | float:
    """Elementwise integer power by squaring (NumPy's own is ten times slower here)."""
    result: Complexes | float = 1.0
    while exponent:
        if exponent & 1:
            result = result * base
        base, exponent = base * base, exponent >> 1
    return result
