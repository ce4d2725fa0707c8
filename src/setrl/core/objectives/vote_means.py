"""Votes of random sets: the mean reward of the majority answer, and the votes that it gets.

Votes are counted in two ways. `Majority.set_means` credits every sample by polynomials: it leaves
nothing out, and a u − v of 0 is exactly 0. Only the mean over all sets is wanted for a metric, and
here it takes a fraction of the time. The two agree to 1e-11. This way cannot replace the other one,
because it leaves out chances below 1e-13: small credit would be lost, and a credit of 0 would be
noise.

Axes: U different numbers of votes, W frequencies, Z nodes, S numbers of votes in a set.

If every sample joined the set independently with chance θ = K/N, an answer with m votes would get
s of them with the binomial probability p_m(s). The set is uniform given that K samples joined,
those that abstain included. An answer wins with t votes if every other one has fewer, or as many
and loses the draw, so that

    mean reward = Σ_t ∫₀¹ Σ_a reward_a · p_a(t) Π_{b≠a} (P_b(<t) + z·p_b(t)) dz   given the total

because ∫ z^j dz = 1/(1+j) is the share of a winner that ties with j others. The integrand is a
polynomial in z, so Gauss–Legendre integrates it exactly. The expected votes of the winner are
Σ_t P(max ≥ t), the same product at z = 0.

The condition on the total is read off the characteristic function: with p_a(s)·e^{isω} for p_a(s),
the products become functions of a frequency ω, and a mean over M frequencies picks the total K
(and K ± M, …, which M makes negligible). A factor depends on an answer's votes alone: the product
over a prompt's answers is a sum of logarithms, times how many answers have each number of votes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from setrl.core.objectives.labels import find_labels

NEGLIGIBLE = 1e-13  # chance that an answer reaches a count, or that a count wins
NEGLIGIBLE_TOTAL = 1e-12  # chance of other totals that are counted as K, relative to K's chance
SMALLEST = 1e-200  # instead of 0 where a logarithm or a quotient follows
PROMPTS = 256  # whose products are made together


@dataclass(frozen=True)
class Ballots:
    """How many answers of each prompt have each number of votes, and what they earn.

    Answers of a prompt with equal votes differ only in their rewards, and each is as likely to
    win: only the sum of their rewards matters.

    Attributes:
        num_samples: N, with those that abstain.
        votes_U: The numbers of votes that occur, ascending.
        count_BU: How many answers have so many votes.
        reward_BU: The sum of their mean rewards.
    """

    num_samples: int
    votes_U: np.ndarray
    count_BU: np.ndarray
    reward_BU: np.ndarray

    @staticmethod
    def count(answers_BN: np.ndarray, rewards_BN: np.ndarray) -> Ballots:
        """Count the votes; `DEGENERATE` abstains."""
        num_prompts, n = answers_BN.shape
        answers = find_labels(answers_BN)
        given_CB = answers.size_CB > 0
        votes_U, kind_G = np.unique(answers.size_CB[given_CB], return_inverse=True)
        at = np.nonzero(given_CB)[1], kind_G
        count_BU, reward_BU = np.zeros((2, num_prompts, len(votes_U)))
        np.add.at(count_BU, at, 1.0)
        np.add.at(reward_BU, at, answers.total(rewards_BN)[given_CB] / votes_U[kind_G])
        return Ballots(n, votes_U, count_BU, reward_BU)

    @cached_property
    def silent_B(self) -> np.ndarray:
        """The samples that give none of these answers."""
        return self.num_samples - self.count_BU @ self.votes_U

    def winners(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the winner's mean reward and its votes, (B,) each, where every sample votes."""
        votes_BU = self.votes_U * (self.count_BU > 0)
        votes_B = votes_BU.max(axis=1, initial=0)
        wins_BU = (votes_BU == votes_B[:, None]) & (votes_BU > 0)
        number_B = (self.count_BU * wins_BU).sum(axis=1)
        return (self.reward_BU * wins_BU).sum(axis=1) / np.maximum(number_B, 1), votes_B

    def part(self, rows: np.ndarray, kinds: np.ndarray) -> Ballots:
        """Return the ballots of some prompts, for answers with some of the numbers of votes."""
        at = np.ix_(rows, kinds)
        return Ballots(self.num_samples, self.votes_U[kinds], self.count_BU[at], self.reward_BU[at])


def mean_reward(ballots: Ballots, set_size: int) -> np.ndarray:
    """Return the mean reward of the majority answer of all K-sets, ties drawn uniformly: (B,)."""
    if set_size == ballots.num_samples:
        return ballots.winners()[0]
    draw, total_B = _Draw(ballots, set_size), np.zeros(len(ballots.count_BU))
    for race in draw.races(ballots):
        node_Z, weight_Z = _nodes_and_weights(race.most_tied // 2 + 1)
        at_UW1 = race.at_UW[..., None]
        tied_UWZ = _zeros_to_smallest(race.below_UW[..., None] + node_Z * at_UW1)
        won_BWZ = np.tensordot(race.ballots.reward_BU, at_UW1 / tied_UWZ, axes=1)
        won_BWZ *= _product_of_powers(race.ballots.count_BU, tied_UWZ)
        total_B[race.rows] += draw.given_total(race.ballots, won_BWZ @ weight_Z)
    return total_B


def mean_votes(ballots: Ballots, set_size: int) -> np.ndarray:
    """Return the mean number of votes of the majority answer of all K-sets: (B,)."""
    if set_size == ballots.num_samples:
        return ballots.winners()[1]
    draw = _Draw(ballots, set_size)
    total_B = draw.winning_counts(ballots)[0] - 1.0  # surely reached
    for race in draw.races(ballots):
        everyone_BW = _product_of_powers(race.ballots.count_BU, _zeros_to_smallest(race.below_UW))
        total_B[race.rows] += 1 - draw.given_total(race.ballots, everyone_BW)
    return total_B


def _product_of_powers(count_BU: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Π_u factor_u^count_u, for factors (U, …): (B, …)."""
    return np.exp(np.tensordot(count_BU, np.log(factors), axes=1))


def _zeros_to_smallest(factors: np.ndarray) -> np.ndarray:
    return np.where(factors == 0, SMALLEST, factors)


class _Race(NamedTuple):
    """A winning count, a few prompts that may have it, and their answers that may reach it.

    Attributes:
        rows: The prompts.
        ballots: Their answers with enough votes; the samples of others count as silent.
        below_UW: The characteristic function of counts below the winning one.
        at_UW: The characteristic function of the winning count.
        most_tied: How many answers may tie.
    """

    rows: np.ndarray
    ballots: Ballots
    below_UW: np.ndarray
    at_UW: np.ndarray
    most_tied: int


class _Draw:
    """What depends on N, K and the numbers of votes that occur.

    Attributes:
        chance_US: The probability that s of so many votes are in the set.
        at_most_US: The probability that s or fewer of them are in the set.
        at_least_US: The probability that s or more of them are in the set.
        turn_SW: exp(i·s·ω) for the counts s = 0 … K.
    """

    def __init__(self, ballots: Ballots, set_size: int):
        n, k = ballots.num_samples, set_size
        self.set_size, most = k, min(int(ballots.votes_U.max(initial=0)), k)
        self.chance_US = _binomial_chances(ballots.votes_U, most, k / n)
        self.at_most_US = self.chance_US.cumsum(axis=1)
        self.at_least_US = self.chance_US[:, ::-1].cumsum(axis=1)[:, ::-1]
        # With no condition the total is Binomial(N, θ), and K is its most likely value: dividing by
        # the chance of K loses no digits.
        total_S = _binomial_chances(np.array([n]), n, k / n)[0]
        period = _odd_period(total_S, k)
        # The functions at ω and −ω are conjugates: half of the frequencies, counted twice.
        angle_W = 2 * np.pi * np.arange(period // 2 + 1) / period
        both_signs = np.where(angle_W > 0, 2.0, 1.0)
        self.turn_SW = np.exp(1j * np.outer(np.arange(k + 1), angle_W))
        self._read_W = both_signs / self.turn_SW[k] / (period * total_S[k])
        self._drawn_W = 1 - k / n + k / n * self.turn_SW[1]

    def given_total(self, ballots: Ballots, function_BW: np.ndarray) -> np.ndarray:
        """Return what a function of the answers is worth, given that K samples joined: (B,)."""
        at = slice(function_BW.shape[1])
        read_BW = self._read_W[at] * self._drawn_W[at] ** ballots.silent_B[:, None]
        return (read_BW * function_BW).sum(axis=1).real

    def races(self, ballots: Ballots) -> Iterator[_Race]:
        """Yield each winning count with a few of the prompts that may have it."""
        low_B, high_B = self.winning_counts(ballots)
        for t in range(int(low_B.min(initial=1)), int(high_B.max(initial=0)) + 1):
            kinds = np.flatnonzero(self.at_least_US[:, t] > NEGLIGIBLE)
            below_UW = self.chance_US[kinds, :t] @ self.turn_SW[:t]
            at_UW = self.chance_US[kinds, t, None] * self.turn_SW[t]
            tying_U = self.chance_US[kinds, t] / np.maximum(self.at_most_US[kinds, t], SMALLEST)
            rows_P = np.flatnonzero((low_B <= t) & (t <= high_B))
            for start in range(0, len(rows_P), PROMPTS):
                rows = rows_P[start : start + PROMPTS]
                some = ballots.part(rows, kinds)
                at = slice(self._num_frequencies(some))
                ties = _most_tied(float((some.count_BU @ tying_U).max()), self.set_size // t)
                yield _Race(rows, some, below_UW[:, at], at_UW[:, at], ties)

    def _num_frequencies(self, ballots: Ballots) -> int:
        """Return how many frequencies matter: silent samples make the function fall with them."""
        decay_W = np.log(np.maximum(np.abs(self._drawn_W), SMALLEST))
        return int((ballots.silent_B.min() * decay_W > math.log(NEGLIGIBLE)).sum())

    def winning_counts(self, ballots: Ballots) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest count that the winner may have, (B,) each.

        Below them some answer surely has more votes: Π P(count ≤ s) is negligible. Above them no
        answer has as many: Σ P(count ≥ s) is negligible.
        """
        log_BS = ballots.count_BU @ np.log(np.maximum(self.at_most_US, SMALLEST))
        low_B = (log_BS > math.log(NEGLIGIBLE)).argmax(axis=1).clip(1)
        reached_BS = ballots.count_BU @ self.at_least_US > NEGLIGIBLE
        return low_B, np.where(reached_BS, np.arange(reached_BS.shape[1]), 0).max(axis=1)


def _most_tied(tying: float, most: int) -> int:
    """Return how many answers may tie at a winning count.

    Given that none has more votes, those that have as many are independent. Of `tying` expected
    ones, j or more occur with a probability that Chernoff's bound gives.
    """
    most_J = np.arange(1, most + 1)
    log_more_J = most_J * (1 + np.log(max(tying, SMALLEST) / most_J)) - tying
    return int(((log_more_J > math.log(NEGLIGIBLE)) | (most_J <= tying)).sum())


def _odd_period(total_S: np.ndarray, k: int) -> int:
    """Odd number M of frequencies: totals that differ from K by M or more are negligible."""
    n = len(total_S) - 1
    off_S = np.bincount(np.abs(np.arange(n + 1) - k), weights=total_S)
    beyond_S = off_S[::-1].cumsum()[::-1]
    possible = beyond_S > NEGLIGIBLE_TOTAL * total_S[k]
    return 2 * (int(np.flatnonzero(possible)[-1]) // 2) + 3


def _binomial_chances(m_U: np.ndarray, largest: int, theta: float) -> np.ndarray:
    """Binomial(m, θ) probabilities of the counts 0 … largest; 0 above m."""
    log_factorial = np.array([math.lgamma(i + 1) for i in range(int(m_U.max(initial=0)) + 1)])
    m, s = m_U[:, None], np.arange(largest + 1)[None]
    possible = s <= m
    left = np.where(possible, m - s, 0)
    log_ways = log_factorial[m] - log_factorial[np.minimum(s, m)] - log_factorial[left]
    log_chance = log_ways + s * math.log(theta) + left * math.log1p(-theta)
    return np.where(possible, np.exp(log_chance), 0.0)


@cache
def _nodes_and_weights(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1], exact for polynomials up to degree 2·points − 1."""
    node, weight = np.polynomial.legendre.leggauss(points)
    return (node + 1) / 2, weight / 2
