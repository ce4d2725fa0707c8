"""The votes of a random subset, as the majority vote needs them: their law, answers in groups.

Axes as in `setrl.evaluation.majority`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setrl.evaluation.estimators import Counts, Floats

Complexes = NDArray[np.complex128]
Flags = NDArray[np.bool_]

NEGLIGIBLE = 1e-13  # chance of an answer to reach a count, of a count to win
NEGLIGIBLE_TOTAL = 1e-12  # chance of the totals that are taken for k, over that of k
SMALLEST = 1e-300  # in place of 0 where a logarithm follows


@dataclass(frozen=True)
class Draw:
    """What depends on n, k and the numbers of votes that occur."""

    n: int
    k: int
    votes_U: Counts  # every number of votes that occurs, ascending, from 0
    chance_US: Floats  # probability that s of so many votes are among the k
    at_most_US: Floats  # that s or fewer are
    at_least_US: Floats  # that s or more are
    turn_SW: Complexes  # exp(i·s·angle) for the counts s = 0 … k
    drawn_W: Complexes  # characteristic function of whether one sample is drawn
    read_W: Complexes  # Re Σ_w read · F = probability of the total k, over that of no condition

    @staticmethod
    def make(votes_PA: Counts, n: int, k: int) -> Draw:
        """The law of k of n samples, for all numbers of votes in a table."""
        votes_U = np.flatnonzero(np.bincount(np.append(votes_PA.ravel(), 0)))
        chance_US = _binomial(votes_U, min(int(votes_U[-1]), k), k / n)
        total_S = _binomial(np.array([n]), n, k / n)[0]
        period = _period(total_S, k)
        angle_W = 2 * np.pi * np.arange(period // 2 + 1) / period
        both_signs = np.where(angle_W > 0, 2.0, 1.0)
        turn_SW = np.exp(1j * np.outer(np.arange(k + 1), angle_W))
        read_W = both_signs / turn_SW[k] / (period * total_S[k])
        drawn_W = 1 - k / n + k / n * turn_SW[1]
        at_most_US = chance_US.cumsum(axis=1)
        at_least_US = chance_US[:, ::-1].cumsum(axis=1)[:, ::-1]
        return Draw(n, k, votes_U, chance_US, at_most_US, at_least_US, turn_SW, drawn_W, read_W)

    def restricted(self, kind_V: Counts, counts: range, width: int) -> tuple[Complexes, Complexes]:
        """Characteristic functions (V, W, T) of answers' counts, at the first few frequencies.

        Restricted to counts below the winning one, and to that one.
        """
        start, turn_WS = counts.start, self.turn_SW[:, :width].T
        chance_VS = self.chance_US[kind_V, : counts.stop]
        at_VWT = chance_VS[:, None, start:] * turn_WS[:, start : counts.stop]
        below_VWT = np.empty_like(at_VWT)
        below_VWT[:, :, 0] = chance_VS[:, :start] @ turn_WS[:, :start].T
        for t in range(1, len(counts)):
            np.add(below_VWT[:, :, t - 1], at_VWT[:, :, t - 1], out=below_VWT[:, :, t])
        return below_VWT, at_VWT


def _period(total_S: Floats, k: int) -> int:
    """Odd number M of frequencies: totals that differ from k by M or more are negligible."""
    n = len(total_S) - 1
    off_S = np.bincount(np.abs(np.arange(n + 1) - k), weights=total_S)
    beyond_S = off_S[::-1].cumsum()[::-1]
    possible = beyond_S > NEGLIGIBLE_TOTAL * total_S[k]
    return 2 * (int(np.flatnonzero(possible)[-1]) // 2) + 3


def _binomial(m_U: Counts, largest: int, theta: float) -> Floats:
    """Binomial(m, theta) probabilities of the counts 0 … largest; 0 above m."""
    log_factorial = np.array([math.lgamma(i + 1) for i in range(int(m_U.max()) + 1)])
    m, s = m_U[:, None], np.arange(largest + 1)[None]
    possible = s <= m
    left = np.where(possible, m - s, 0)
    log_ways = log_factorial[m] - log_factorial[np.minimum(s, m)] - log_factorial[left]
    log_chance = log_ways + s * math.log(theta) + left * math.log1p(-theta)
    return np.where(possible, np.exp(log_chance), 0.0)


@dataclass(frozen=True)
class Groups:
    """Answers of one verdict, those of a problem with the same votes taken together."""

    kind_PG: Counts  # place of the votes in `Draw.votes_U`; the most votes first
    repeats_PG: Counts  # how many answers; zeros pad

    @staticmethod
    def make(votes_PA: Counts, draw: Draw) -> Groups:
        """The answers of each problem with the same votes, together."""
        size = len(draw.votes_U)
        problem, answer = np.nonzero(votes_PA)
        kind = np.searchsorted(draw.votes_U, votes_PA[problem, answer])
        key, repeats = np.unique(problem * size + size - 1 - kind, return_counts=True)
        row = key // size
        column = np.arange(len(key)) - np.searchsorted(row, row)
        table = np.zeros((2, len(votes_PA), column.max(initial=-1) + 1), dtype=np.int64)
        table[0, row, column], table[1, row, column] = size - 1 - key % size, repeats
        return Groups(*table)

    def per_kind(self, size: int) -> Floats:
        """How many answers of each problem have each number of votes, (P, U)."""
        count_PU = np.zeros((len(self.kind_PG), size))
        row = np.arange(len(self.kind_PG))[:, None]
        np.add.at(count_PU, (row, self.kind_PG), self.repeats_PG)
        return count_PU

    def reaching(self, problems_P: Counts, may_U: Flags) -> Groups:
        """The groups of some problems that may win; nobody's votes (one of kind 0) pad."""
        kind_PG = self.kind_PG[problems_P]
        may_PG = may_U[kind_PG] & (self.repeats_PG[problems_P] > 0)
        most = int(may_PG.sum(axis=1).max(initial=0))
        kind_PG = np.where(may_PG, kind_PG, 0)[:, :most]
        return Groups(kind_PG, np.where(may_PG, self.repeats_PG[problems_P], 1)[:, :most])


@dataclass(frozen=True)
class Field:
    """All answers of all problems, and the counts with which one may win."""

    draw: Draw
    wrong: Groups
    right: Groups
    count_PU: Floats  # answers with each number of votes
    right_PU: Floats  # right ones
    low_P: Counts  # smallest and largest count that may be the winner's; none: 1 and 0
    high_P: Counts

    @staticmethod
    def make(votes_PA: Counts, right_PA: Flags, n: int, k: int) -> Field:
        """The answers of all problems, for votes of k of n samples."""
        draw = Draw.make(votes_PA, n, k)
        wrong, right = (Groups.make(votes_PA * kept, draw) for kept in (~right_PA, right_PA))
        right_PU = right.per_kind(len(draw.votes_U))
        count_PU = wrong.per_kind(len(draw.votes_U)) + right_PU
        log_at_most_US = np.log(np.maximum(draw.at_most_US, SMALLEST))
        low_P = (count_PU @ log_at_most_US > math.log(NEGLIGIBLE)).argmax(axis=1).clip(1)
        chance_PS = (count_PU @ draw.at_least_US) * (votes_PA.sum(axis=1, keepdims=True) > 0)
        count_S = np.arange(chance_PS.shape[1])
        high_P = np.where(chance_PS > NEGLIGIBLE, count_S, 0).max(axis=1)
        return Field(draw, wrong, right, count_PU, right_PU, low_P, high_P)
