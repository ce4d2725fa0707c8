"""Majority vote over k of n samples: its accuracy and the winner's share, exactly.

Axes: P problems, A answers of a problem, G groups of answers with the same votes and the same
verdict, U different numbers of votes, S counts 0, 1, … in a subset, T winning counts, R pairs of a
winning count and a quadrature node, W frequencies.

The votes in a k-subset of n samples are those of independent Binomial(m_a, k/n) counts, given that
they (and the abstentions) add up to k. With p_a(s) the binomial probabilities, the answers that
tie at the winning count t share the win:

    accuracy = Σ_t ∫₀¹ Σ_{a right} p_a(t) Π_{b≠a} (P_b(<t) + z·p_b(t)) dz      given the total k

because ∫ z^j dz = 1/(1+j) is the share of a winner that ties with j others. The integrand is a
polynomial in z, so Gauss–Legendre integrates it exactly. The condition on the total is read off
the characteristic function at M frequencies. What is left out (totals that are off by M or more;
answers, winning counts, ties and frequencies that cannot matter) is below 1e-11 in all.

The factors depend on an answer's votes alone, so they are made once for all problems, for a few
winning counts at a time: the few answers that may reach those are all that is multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import Counts, Floats, check_size, checked_counts
from setrl.evaluation.votes import NEGLIGIBLE, SMALLEST, Complexes, Draw, Field, Flags, Groups

BLOCK = 20_000  # complex numbers in one array, which then stays in the processor's cache


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
    if k == n:
        return _everyone_votes(votes_PA, right_PA, n)
    accuracy_P, top_P = np.zeros((2, len(votes_PA)))
    if votes_PA.max(initial=0):
        field = Field.make(votes_PA, right_PA, n, k)
        for counts in _stretches(int(field.high_P.max())):
            top_P[field.low_P >= counts.stop] += len(counts)
            race = _Race.make(field, counts)
            for block in race.blocks():
                won_P, above_P = race.run(block)
                accuracy_P[race.problems_P[block]] += won_P
                top_P[race.problems_P[block]] += above_P
    return Majority(accuracy_P.clip(0, 1), (top_P / k).clip(0, 1))


def _everyone_votes(votes_PA: Counts, right_PA: Flags, n: int) -> Majority:
    top_P = votes_PA.max(axis=1, initial=0)
    wins_PA = (votes_PA == top_P[:, None]) & (top_P[:, None] > 0)
    accuracy_P = (wins_PA & right_PA).sum(axis=1) / np.maximum(wins_PA.sum(axis=1), 1)
    return Majority(accuracy_P, top_P / n)


def _stretches(high: int) -> Iterator[range]:
    """The counts 1 … high, a few at a time."""
    start = 1
    while start <= high:
        stop = min(start + max(1, start // 5), high + 1)
        yield range(start, stop)
        start = stop


@dataclass(frozen=True)
class _Race:
    """The problems in which one of a few counts may win, and the answers that may reach them."""

    counts: range  # T winning counts
    problems_P: Counts  # with the most frequencies first
    widths_P: Counts  # how many frequencies matter
    read_PW: Complexes  # reads the total off, all other samples included
    weight_R: Floats  # of each pair of a count and a node
    wrong: _Factors
    right: _Factors

    @staticmethod
    def make(field: Field, counts: range) -> _Race:
        draw = field.draw
        may_U = draw.at_least_US[:, counts.start] > NEGLIGIBLE
        problems_P = np.flatnonzero((field.low_P < counts.stop) & (field.high_P >= counts.start))
        rest_P = draw.n - (field.count_PU[problems_P] @ (draw.votes_U * may_U)).astype(np.int64)
        decay_W = np.log(np.maximum(np.abs(draw.drawn_W), SMALLEST))
        widths_P = (rest_P[:, None] * decay_W > math.log(NEGLIGIBLE)).sum(axis=1)
        order = np.argsort(-widths_P, kind="stable")
        problems_P, rest_P, widths_P = problems_P[order], rest_P[order], widths_P[order]
        read_PW = draw.read_W * draw.drawn_W ** rest_P[:, None]
        ties = _Ties.make(field, problems_P, counts)
        width = int(widths_P.max(initial=1))
        wrong, right = (
            _Factors.make(groups.reaching(problems_P, may_U), right, draw, counts, ties, width)
            for right, groups in ((False, field.wrong), (True, field.right))
        )
        return _Race(counts, problems_P, widths_P, read_PW, ties.weight_R, wrong, right)

    def blocks(self) -> Iterator[slice]:
        """Problems whose arrays fit into the processor's cache together."""
        start = 0
        while start < len(self.problems_P):
            width = int(self.widths_P[start]) * (len(self.counts) + len(self.weight_R))
            stop = start + max(1, BLOCK // width)
            yield slice(start, stop)
            start = stop

    def run(self, block: slice) -> tuple[Floats, Floats]:
        """Chance that a right answer wins with one of the counts; Σ_t P(max count ≥ t).

        One pass over the groups carries two products: of `everyone`, that all counts are below
        the winning one or may tie with it; and `won`, in which one right answer is the winner.
        The expected max count is the sum over all t of P(max ≥ t).
        """
        width, ties = int(self.widths_P[block.start]), slice(len(self.counts), None)
        read_PW = self.read_PW[block, :width]
        everyone = np.ones(
            (*read_PW.shape, len(self.counts) + len(self.weight_R)), dtype=np.complex128
        )
        for pair_P in self.wrong.pair_PG[block].T:
            everyone *= self.wrong.everyone_VWX[pair_P, :width]
        won = np.zeros((*read_PW.shape, len(self.weight_R)), dtype=np.complex128)
        for pair_P in self.right.pair_PG[block].T:
            factor = self.right.everyone_VWX[pair_P, :width]
            won *= factor[:, :, ties]
            won += everyone[:, :, ties] * self.right.winner_VWR[pair_P, :width]
            everyone *= factor
        won_P = ((won @ self.weight_R) * read_PW).sum(axis=1).real
        lost_PW = everyone[:, :, : len(self.counts)].sum(axis=2)
        return won_P, len(self.counts) - (lost_PW * read_PW).sum(axis=1).real


@dataclass(frozen=True)
class _Factors:
    """What each group of answers multiplies; V pairs of a number of votes and of answers."""

    pair_PG: Counts
    everyone_VWX: Complexes  # all below the winning count (T), or below it or at it and tied (R)
    winner_VWR: Complexes  # one of the answers is the winner

    @staticmethod
    def make(
        groups: Groups, right: bool, draw: Draw, counts: range, ties: _Ties, width: int
    ) -> _Factors:
        size = int(groups.repeats_PG.max(initial=0)) + 1
        pairs, pair_PG = np.unique(groups.kind_PG * size + groups.repeats_PG, return_inverse=True)
        repeats_V, at_R = pairs % size, ties.t_R - counts.start
        below_VWT, at_VWT = draw.restricted(pairs // size, counts, width)
        at_VWR = at_VWT[:, :, at_R]
        tied_VWR = below_VWT[:, :, at_R] + ties.z_R * at_VWR
        everyone_VWX = np.concatenate([below_VWT, tied_VWR], axis=2)
        one_VWR = at_VWR * repeats_V[:, None, None]
        winner_VWR = one_VWR * _power(tied_VWR, repeats_V - 1) if right else one_VWR[:0]
        shape = groups.kind_PG.shape
        return _Factors(pair_PG.reshape(shape), _power(everyone_VWX, repeats_V), winner_VWR)


@dataclass(frozen=True)
class _Ties:
    """Pairs of a right winner's count and a node in [0, 1] that integrate the ties."""

    t_R: Counts
    z_R: Floats
    weight_R: Floats

    @staticmethod
    def make(field: Field, problems_P: Counts, counts: range) -> _Ties:
        draw, columns = field.draw, slice(counts.start, counts.stop)
        most_T = np.minimum(_most_tied(field, problems_P, counts), draw.k // np.array(counts))
        right_PT = field.right_PU[problems_P] @ draw.at_least_US[:, columns]
        points_T = np.where((right_PT > NEGLIGIBLE).any(axis=0), (most_T - 1) // 2 + 1, 0)
        nodes = [_gauss_legendre(int(points)) for points in points_T]
        node, weight = (np.concatenate(part) for part in zip(*nodes, strict=True))
        return _Ties(np.repeat(np.array(counts), points_T), node, weight)


def _most_tied(field: Field, problems_P: Counts, counts: range) -> Counts:
    """How many answers may tie at each winning count.

    Given that nobody has more than t votes, those who have t are independent: of `tying` expected
    ones, j or more are there with a probability that Chernoff's bound gives.
    """
    draw, columns, count_PU = field.draw, slice(counts.start, counts.stop), field.count_PU
    at_most_UT = np.maximum(draw.at_most_US[:, columns], SMALLEST)
    log_at_most_PT1 = (count_PU[problems_P] @ np.log(at_most_UT))[:, :, None]
    tying_PT1 = (count_PU[problems_P] @ (draw.chance_US[:, columns] / at_most_UT))[:, :, None]
    most_J = np.arange(1, draw.k // counts.start + 1)
    log_ratio = np.log(np.maximum(tying_PT1, SMALLEST) / most_J)
    log_more_PTJ = log_at_most_PT1 - tying_PT1 + most_J * (1 + log_ratio)
    needed_PTJ = (log_more_PTJ > math.log(NEGLIGIBLE)) | (most_J <= tying_PT1)
    return needed_PTJ.sum(axis=2).max(axis=0, initial=0) + 1


@cache
def _gauss_legendre(points: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1], exact for polynomials up to degree 2·points − 1."""
    if points == 0:
        return np.zeros(0), np.zeros(0)
    node, weight = np.polynomial.legendre.leggauss(points)
    return (node + 1) / 2, weight / 2


def _power(base: Complexes, exponent_P: Counts) -> Complexes:
    """Integer powers along the first axis by squaring (NumPy's own is ten times slower here)."""
    if (exponent_P == 1).all():
        return base
    result = np.where((exponent_P & 1).astype(bool)[:, None, None], base, 1.0)
    for bit in range(1, int(exponent_P.max(initial=0)).bit_length()):
        base = base * base
        chosen = (exponent_P >> bit & 1).astype(bool)
        result[chosen] *= base[chosen]
    return result
