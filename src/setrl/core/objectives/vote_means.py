"""Votes of random sets: the mean reward of the majority answer, and the votes that it gets.

Votes are counted in two ways. `Majority.set_means` credits every sample by polynomials: it leaves
nothing out, and a u − v of 0 is exactly 0. Only the mean over all sets is wanted for a metric, and
here it takes 6 ms instead of 0.4 s (4 prompts of 256 samples with 100 answers, K = 64). The two
agree to 1e-12. This way cannot replace the other one, because it leaves out chances below 1e-13:
small credit would be lost, and a credit of 0 would be noise.

Axes: G groups of answers, U different numbers of votes, W frequencies, T winning counts, R pairs
of a winning count t and a node z, V pairs of a number of votes and a number of answers.

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
(and K ± M, …, which M makes negligible). The factors depend on an answer's votes alone, so they
are computed once for all prompts.

What is left out (totals that are off by M or more; answers, winning counts, ties and frequencies
that cannot matter) is below 1e-11 in all, for rewards in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from setrl.core.objectives.labels import find_labels

NEGLIGIBLE = 1e-13  # chance that an answer reaches a count, or that a count wins
NEGLIGIBLE_TOTAL = (
    1e-12  # chance of the other totals that are counted as K, relative to the chance of K
)
SMALLEST = 1e-300  # instead of 0 where a logarithm follows
BLOCK = 20_000  # complex numbers in one array, which then stays in the processor's cache


@dataclass(frozen=True)
class Ballots:
    """The answers of all prompts in one list; answers of a prompt with equal votes are together.

    Such answers are alike but for their rewards, and each is as likely to win: only the sum of
    their rewards matters.

    Attributes:
        num_prompts: B.
        num_samples: N, with those that abstain.
        row_G: The prompt of each group.
        votes_G: The samples that give each of its answers.
        repeats_G: How many answers it has.
        reward_G: The sum of their mean rewards.
    """

    num_prompts: int
    num_samples: int
    row_G: np.ndarray
    votes_G: np.ndarray
    repeats_G: np.ndarray
    reward_G: np.ndarray

    @staticmethod
    def count(answers_BN: np.ndarray, rewards_BN: np.ndarray) -> Ballots:
        """Count the votes; `DEGENERATE` abstains."""
        strategies = find_labels(answers_BN)
        given = strategies.size_CB > 0
        votes_C, reward_C = strategies.size_CB[given], strategies.total(rewards_BN)[given]
        num_prompts, n = answers_BN.shape
        key_G, group_C, repeats_G = np.unique(
            np.nonzero(given)[1] * (n + 1) + votes_C, return_inverse=True, return_counts=True
        )
        reward_G = np.bincount(group_C, reward_C / votes_C, minlength=len(key_G))
        return Ballots(num_prompts, n, key_G // (n + 1), key_G % (n + 1), repeats_G, reward_G)

    def winners(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the winner's mean reward and its votes, (B,) each, where every sample votes."""
        votes_B, reward_B = np.zeros((2, self.num_prompts))
        np.maximum.at(votes_B, self.row_G, self.votes_G)
        wins = self.votes_G == votes_B[self.row_G]
        reward_B[self.row_G[wins]] = self.reward_G[wins] / self.repeats_G[wins]
        return reward_B, votes_B


def mean_reward(ballots: Ballots, set_size: int) -> np.ndarray:
    """Return the mean reward of the majority answer of all K-sets, ties drawn uniformly: (B,)."""
    if set_size == ballots.num_samples:
        return ballots.winners()[0]
    field, total_B = _Field(ballots, set_size), np.zeros(ballots.num_prompts)
    for counts in field.stretches():
        # A prompt counts only where an answer that has a reward may win with one of the counts.
        reach_B = field.rewarded_BU @ field.draw.at_least_US[:, counts.start] > NEGLIGIBLE
        rows_P = np.flatnonzero(field.may_end_in(counts) & reach_B)
        race = _Race(field, counts, rows_P, _tied_points(field, rows_P, counts))
        total_B[rows_P] += race.products(race.rewarded)
    return total_B


def mean_votes(ballots: Ballots, set_size: int) -> np.ndarray:
    """Return the mean number of votes of the majority answer of all K-sets: (B,)."""
    if set_size == ballots.num_samples:
        return ballots.winners()[1]
    field, total_B = _Field(ballots, set_size), np.zeros(ballots.num_prompts)
    for counts in field.stretches():
        total_B[field.low_B >= counts.stop] += len(counts)  # surely reached
        rows_P = np.flatnonzero(field.may_end_in(counts))
        ones, zeros = np.ones(len(counts)), np.zeros(len(counts))
        race = _Race(field, counts, rows_P, _Points(np.array(counts), zeros, ones))
        total_B[rows_P] += len(counts) - race.products(race.everyone_below)
    return total_B


class _Draw:
    """What depends on N, K and the numbers of votes that occur.

    Attributes:
        votes_U: Every number of votes that occurs, ascending, from 0.
        chance_US: The probability that s of so many votes are in the set.
        at_most_US: The probability that s or fewer of them are in the set.
        at_least_US: The probability that s or more of them are in the set.
        turn_SW: exp(i·s·ω) for the counts s = 0 … K.
        drawn_W: The characteristic function of whether one sample is drawn.
        read_W: Re Σ_w read · F is the probability of the total K, over the one without conditions.
    """

    def __init__(self, votes_G: np.ndarray, n: int, k: int):
        self.n, self.k = n, k
        self.votes_U = np.unique(np.append(votes_G, 0))
        self.chance_US = _binomial(self.votes_U, min(int(self.votes_U[-1]), k), k / n)
        self.at_most_US = self.chance_US.cumsum(axis=1)
        self.at_least_US = self.chance_US[:, ::-1].cumsum(axis=1)[:, ::-1]
        # With no condition the total is Binomial(N, θ), and K is its most likely value: dividing by
        # the chance of K loses no digits.
        total_S = _binomial(np.array([n]), n, k / n)[0]
        period = _period(total_S, k)
        # The functions at ω and −ω are conjugates: half of the frequencies, counted twice.
        angle_W = 2 * np.pi * np.arange(period // 2 + 1) / period
        both_signs = np.where(angle_W > 0, 2.0, 1.0)
        self.turn_SW = np.exp(1j * np.outer(np.arange(k + 1), angle_W))
        self.read_W = both_signs / self.turn_SW[k] / (period * total_S[k])
        self.drawn_W = 1 - k / n + k / n * self.turn_SW[1]

    def below_and_at(
        self, kind_V: np.ndarray, counts: range, width: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Characteristic functions (V, W, T) of counts below the winning one, and of that one."""
        start, turn_WS = counts.start, self.turn_SW[:, :width].T
        chance_VS = self.chance_US[kind_V, : counts.stop]
        at_VWT = chance_VS[:, None, start:] * turn_WS[:, start : counts.stop]
        # One matrix product for the first count; each further one adds a single term.
        below_VWT = np.empty_like(at_VWT)
        below_VWT[:, :, 0] = chance_VS[:, :start] @ turn_WS[:, :start].T
        for t in range(1, len(counts)):
            np.add(below_VWT[:, :, t - 1], at_VWT[:, :, t - 1], out=below_VWT[:, :, t])
        return below_VWT, at_VWT


class _Field:
    """All answers of all prompts, and the counts with which one of them may win.

    Attributes:
        kind_G: The place of each group's votes in `votes_U`.
        count_BU: How many answers have each number of votes.
        rewarded_BU: How many of them have a reward.
        low_B, high_B: The smallest and largest count that the winner may have; 1 and 0: no winner.
    """

    def __init__(self, ballots: Ballots, set_size: int):
        self.ballots = ballots
        self.draw = draw = _Draw(ballots.votes_G, ballots.num_samples, set_size)
        self.kind_G = np.searchsorted(draw.votes_U, ballots.votes_G)
        self.count_BU = self._per_kind(ballots.repeats_G)
        self.rewarded_BU = self._per_kind(ballots.repeats_G * (ballots.reward_G != 0))
        # Below `low` some answer surely has more votes: Π P(count ≤ s) is negligible there. Above
        # `high` no answer has as many: Σ P(count ≥ s) is negligible.
        log_at_most_US = np.log(np.maximum(draw.at_most_US, SMALLEST))
        likely_BS = self.count_BU @ log_at_most_US > math.log(NEGLIGIBLE)
        self.low_B = likely_BS.argmax(axis=1).clip(1)
        reached_BS = self.count_BU @ draw.at_least_US > NEGLIGIBLE
        self.high_B = np.where(reached_BS, np.arange(reached_BS.shape[1]), 0).max(axis=1)

    def stretches(self) -> Iterator[range]:
        """Yield the counts 1 … highest, a few at a time: their factors are made together.

        All answers that may reach the first count of a stretch are multiplied for each of its
        counts; so a stretch is short where the counts are small, and many answers reach them.
        """
        start, highest = 1, int(self.high_B.max(initial=0))
        while start <= highest:
            stop = min(start + max(1, start // 5), highest + 1)
            yield range(start, stop)
            start = stop

    def may_end_in(self, counts: range) -> np.ndarray:
        """Return whether the winner may have one of the counts, (B,)."""
        return (self.low_B < counts.stop) & (self.high_B >= counts.start)

    def _per_kind(self, number_G: np.ndarray) -> np.ndarray:
        number_BU = np.zeros((self.ballots.num_prompts, len(self.draw.votes_U)))
        number_BU[self.ballots.row_G, self.kind_G] = number_G  # one group for each pair
        return number_BU


@dataclass(frozen=True)
class _Points:
    """Where the products are taken: pairs of a winning count and a node z in [0, 1]."""

    t_R: np.ndarray
    z_R: np.ndarray
    weight_R: np.ndarray


class _Race:
    """The prompts in which one of a few counts may win, and the answers that may reach them."""

    def __init__(self, field: _Field, counts: range, rows_P: np.ndarray, points: _Points):
        self.field, self.draw, self.counts, self.points = field, field.draw, counts, points
        self.rows_P = rows_P
        may_U = self.draw.at_least_US[:, counts.start] > NEGLIGIBLE
        self._lay_out(may_U[field.kind_G])
        # All other samples, and the total, are one factor for each frequency. Its modulus falls
        # with the frequency, so that most frequencies cannot matter where many samples are left.
        votes_P = field.count_BU[rows_P] @ (self.draw.votes_U * may_U)
        rest_P = self.draw.n - votes_P.astype(np.int64)
        decay_W = np.log(np.maximum(np.abs(self.draw.drawn_W), SMALLEST))
        self.width_P = (rest_P[:, None] * decay_W > math.log(NEGLIGIBLE)).sum(axis=1)
        self.read_PW = self.draw.read_W * self.draw.drawn_W ** rest_P[:, None]

    def _lay_out(self, may_G: np.ndarray) -> None:
        """Set the groups that may win as a table (P, G) of places in `pairs_V`, and their rewards.

        Groups without a reward come first, and the table is padded on the left (by an answer
        without votes, whose factor is 1): so only the last columns have rewards.
        """
        ballots, size = self.field.ballots, int(self.field.ballots.repeats_G.max(initial=1)) + 1
        place_B = np.full(ballots.num_prompts, -1)
        place_B[self.rows_P] = np.arange(len(self.rows_P))
        group = np.flatnonzero(may_G & (place_B[ballots.row_G] >= 0))
        place = place_B[ballots.row_G[group]]
        order = np.lexsort((ballots.reward_G[group] != 0, place))
        group, place = group[order], place[order]
        behind = np.searchsorted(place, place, side="right") - np.arange(len(place))
        shape = len(self.rows_P), int(behind.max(initial=0))
        pair_PG, self.reward_PG = np.ones(shape, dtype=np.int64), np.zeros(shape)
        pair_PG[place, shape[1] - behind] = self.field.kind_G[group] * size
        pair_PG[place, shape[1] - behind] += ballots.repeats_G[group]
        self.reward_PG[place, shape[1] - behind] = ballots.reward_G[group]
        pairs, pair_PG = np.unique(pair_PG, return_inverse=True)
        self.pair_PG, self.pairs_V = pair_PG.reshape(shape), (pairs // size, pairs % size)

    @cached_property
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """What each group multiplies (V, W, R): all of its answers below the winning count or at
        it and tied; and the same with one of them, chosen, as the winner.
        """
        kind_V, repeats_V = self.pairs_V
        width, at_R = int(self.width_P.max(initial=1)), self.points.t_R - self.counts.start
        below_VWT, at_VWT = self.draw.below_and_at(kind_V, self.counts, width)
        at_VWR = at_VWT[:, :, at_R]
        tied_VWR = below_VWT[:, :, at_R] + self.points.z_R * at_VWR
        # An answer without votes (kind 0) pads. It cannot win, because p_0(t) = 0.
        return _power(tied_VWR, repeats_V), at_VWR * _power(tied_VWR, repeats_V - 1)

    def products(self, product: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Σ over points of weight · product, given that the total is K: (P,)."""
        found_P = np.zeros(len(self.rows_P))
        if not len(self.points.t_R):
            return found_P
        for block in self._blocks():
            width = int(self.width_P[block[0]])
            sum_PW = product(block, width) @ self.points.weight_R
            found_P[block] = (sum_PW * self.read_PW[block, :width]).sum(axis=1).real
        return found_P

    def _blocks(self) -> Iterator[np.ndarray]:
        """Prompts of about as many frequencies whose arrays fit into the cache together."""
        order = np.argsort(-self.width_P, kind="stable")
        start = 0
        while start < len(order):
            width = int(self.width_P[order[start]]) * len(self.points.t_R)
            stop = start + max(1, BLOCK // width)
            yield order[start:stop]
            start = stop

    def everyone_below(self, block: np.ndarray, width: int) -> np.ndarray:
        """Return P(no answer wins with more than the point's count): Π over all groups."""
        everyone = np.ones((len(block), width, len(self.points.t_R)), dtype=np.complex128)
        for pair_P in self.pair_PG[block].T:
            everyone *= self.factors[0][pair_P, :width]
        return everyone

    def rewarded(self, block: np.ndarray, width: int) -> np.ndarray:
        """Σ_a reward_a · (a wins, all others are below it or tied), in one pass over the groups.

        Two products are carried: of `everyone` so far, and `won`, in which one of them has won.
        """
        everyone = np.ones((len(block), width, len(self.points.t_R)), dtype=np.complex128)
        won, any_won = np.zeros_like(everyone), False
        factor_VWR, winner_VWR = self.factors
        for pair_P, reward_P in zip(self.pair_PG[block].T, self.reward_PG[block].T, strict=True):
            factor = factor_VWR[pair_P, :width]
            # The groups without a reward come first: nothing has been won until the last columns.
            if any_won := any_won or bool(reward_P.any()):
                won *= factor
                won += everyone * winner_VWR[pair_P, :width] * reward_P[:, None, None]
            everyone *= factor
        return won


def _tied_points(field: _Field, rows_P: np.ndarray, counts: range) -> _Points:
    """Nodes that integrate the ties at each count that an answer with a reward may win with."""
    draw, columns = field.draw, slice(counts.start, counts.stop)
    most_T = np.minimum(_most_tied(field, rows_P, counts), draw.k // np.array(counts))
    reach_PT = field.rewarded_BU[rows_P] @ draw.at_least_US[:, columns]
    # The integrand has degree most − 1, for which (most − 1)//2 + 1 nodes are exact.
    points_T = np.where((reach_PT > NEGLIGIBLE).any(axis=0), (most_T - 1) // 2 + 1, 0)
    nodes = [_gauss_legendre(int(points)) for points in points_T]
    node, weight = (np.concatenate(part) for part in zip(*nodes, strict=True))
    return _Points(np.repeat(np.array(counts), points_T), node, weight)


def _most_tied(field: _Field, rows_P: np.ndarray, counts: range) -> np.ndarray:
    """How many answers may tie at each winning count, (T,).

    Given that none has more than t votes, those that have t are independent. Of `tying` expected
    ones, j or more occur with a probability that Chernoff's bound gives.
    """
    draw, columns, count_PU = field.draw, slice(counts.start, counts.stop), field.count_BU[rows_P]
    at_most_UT = np.maximum(draw.at_most_US[:, columns], SMALLEST)
    log_at_most_PT1 = (count_PU @ np.log(at_most_UT))[:, :, None]
    tying_PT1 = (count_PU @ (draw.chance_US[:, columns] / at_most_UT))[:, :, None]
    most_J = np.arange(1, draw.k // counts.start + 1)
    log_ratio = np.log(np.maximum(tying_PT1, SMALLEST) / most_J)
    log_more_PTJ = log_at_most_PT1 - tying_PT1 + most_J * (1 + log_ratio)
    needed_PTJ = (log_more_PTJ > math.log(NEGLIGIBLE)) | (most_J <= tying_PT1)
    return needed_PTJ.sum(axis=2).max(axis=0, initial=0) + 1


def _period(total_S: np.ndarray, k: int) -> int:
    """Odd number M of frequencies: totals that differ from K by M or more are negligible."""
    n = len(total_S) - 1
    off_S = np.bincount(np.abs(np.arange(n + 1) - k), weights=total_S)
    beyond_S = off_S[::-1].cumsum()[::-1]
    possible = beyond_S > NEGLIGIBLE_TOTAL * total_S[k]
    return 2 * (int(np.flatnonzero(possible)[-1]) // 2) + 3


def _binomial(m_U: np.ndarray, largest: int, theta: float) -> np.ndarray:
    """Binomial(m, θ) probabilities of the counts 0 … largest; 0 above m."""
    log_factorial = np.array([math.lgamma(i + 1) for i in range(int(m_U.max()) + 1)])
    m, s = m_U[:, None], np.arange(largest + 1)[None]
    possible = s <= m
    left = np.where(possible, m - s, 0)
    log_ways = log_factorial[m] - log_factorial[np.minimum(s, m)] - log_factorial[left]
    log_chance = log_ways + s * math.log(theta) + left * math.log1p(-theta)
    return np.where(possible, np.exp(log_chance), 0.0)


@cache
def _gauss_legendre(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1], exact for polynomials up to degree 2·points − 1."""
    if points == 0:
        return np.zeros(0), np.zeros(0)
    node, weight = np.polynomial.legendre.leggauss(points)
    return (node + 1) / 2, weight / 2


def _power(base: np.ndarray, exponent_V: np.ndarray) -> np.ndarray:
    """Integer powers along the first axis by squaring (NumPy's own is ten times slower here)."""
    if (exponent_V == 1).all():
        return base
    result = np.where((exponent_V & 1).astype(bool)[:, None, None], base, 1.0)
    for bit in range(1, int(exponent_V.max(initial=0)).bit_length()):
        base = base * base
        chosen = (exponent_V >> bit & 1).astype(bool)
        result[chosen] *= base[chosen]
    return result
