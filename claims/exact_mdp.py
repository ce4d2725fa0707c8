"""Set value functions of small Markov decision processes, in rational arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from claims.exact import Actions, Policy, Score, expected

Vector = list[Fraction]
Matrix = list[list[Fraction]]


@dataclass(frozen=True)
class Process:
    """Deterministic moves, a set score at each state, and one policy.

    Attributes:
        moves: moves[s][a] is the state that action a leads to.
        scores: scores[s] is f(s, ·).
        policies: policies[s] is π(·|s).
        size: n, how many actions are drawn at a state.
        gamma: γ.
    """

    moves: tuple[tuple[int, ...], ...]
    scores: tuple[Score, ...]
    policies: tuple[Policy, ...]
    size: int
    gamma: Fraction

    def with_policies(self, policies: tuple[Policy, ...]) -> Process:
        """The same process under other policies."""
        return Process(self.moves, self.scores, policies, self.size, self.gamma)

    @property
    def states(self) -> range:
        """All states."""
        return range(len(self.moves))

    @cached_property
    def rewards(self) -> Vector:
        """f̄(s) = E f(s, A₁…A_n)."""
        return [expected(f, p, self.size) for f, p in zip(self.scores, self.policies, strict=True)]

    @cached_property
    def steps(self) -> Matrix:
        """P[s][s'] under the policy."""
        rows = []
        for s in self.states:
            row = [Fraction(0)] * len(self.moves)
            for action, chance in enumerate(self.policies[s]):
                row[self.moves[s][action]] += chance
            rows.append(row)
        return rows

    @cached_property
    def values(self) -> Vector:
        """V♯ = (I − γnP)⁻¹ f̄."""
        return solve(_identity_less(self.gamma * self.size, self.steps), self.rewards)

    def advantages(self, values: Vector) -> Vector:
        """E over this policy's sets of A♯(s, ·) under another policy's values."""
        reach = self.gamma * self.size
        return [
            self.rewards[s] + reach * _dot(self.steps[s], values) - values[s] for s in self.states
        ]

    def truncated(self, depth: int) -> Vector:
        """Σ_{t<depth} (γn)^t P^t f̄."""
        values = [Fraction(0)] * len(self.moves)
        for _ in range(depth):
            values = [
                r + self.gamma * self.size * _dot(row, values)
                for r, row in zip(self.rewards, self.steps, strict=True)
            ]
        return values

    def occupancy(self, discount: Fraction, start: int) -> Vector:
        """(1 − discount) Σ_t discount^t P(s_t = ·) from one state."""
        transposed = [list(column) for column in zip(*self.steps, strict=True)]
        begin = [(1 - discount) * (s == start) for s in self.states]
        return solve(_identity_less(discount, transposed), begin)

    def stationary(self) -> Vector | None:
        """The distribution that P keeps, where there is only one."""
        transposed = [list(column) for column in zip(*self.steps, strict=True)]
        balance = _identity_less(Fraction(1), transposed)
        balance[-1] = [Fraction(1)] * len(self.moves)
        try:
            return solve(balance, [Fraction(s == len(self.moves) - 1) for s in self.states])
        except ZeroDivisionError:
            return None

    def trees(self, start: int, depth: int) -> Iterator[tuple[Fraction, Fraction, list[int]]]:
        """Every tree of sampled sets: its probability, its return, its number of states by depth.

        Every node's set is enumerated jointly with every other's, as Eq. 3 defines the value.
        """
        yield from self._grow([start], depth, Fraction(1))

    def _grow(
        self, level: Sequence[int], depth: int, discount: Fraction
    ) -> Iterator[tuple[Fraction, Fraction, list[int]]]:
        if depth == 0:
            yield Fraction(1), Fraction(0), []
            return
        for sets in product(*(self._sets(s) for s in level)):
            chance = prod((c for _, c in sets), start=Fraction(1))
            gain = discount * sum(
                self.scores[s](tuple(sorted(a))) for s, (a, _) in zip(level, sets, strict=True)
            )
            below = [
                self.moves[s][a] for s, (acts, _) in zip(level, sets, strict=True) for a in acts
            ]
            for rest, more, widths in self._grow(below, depth - 1, discount * self.gamma):
                yield chance * rest, gain + more, [len(level), *widths]

    def _sets(self, state: int) -> list[tuple[Actions, Fraction]]:
        chances = self.policies[state]
        return [
            (acts, prod((chances[a] for a in acts), start=Fraction(1)))
            for acts in product(range(len(chances)), repeat=self.size)
        ]


def solve(matrix: Matrix, right: Vector) -> Vector:
    """x with matrix · x = right, by elimination; ZeroDivisionError if it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(len(rows)):
        pivot = next((i for i in range(at, len(rows)) if rows[i][at]), None)
        if pivot is None:
            raise ZeroDivisionError("the matrix is singular")
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for i in range(len(rows)):
            if i != at and rows[i][at]:
                rows[i] = [a - rows[i][at] * b for a, b in zip(rows[i], rows[at], strict=True)]
    return [row[-1] for row in rows]


def _identity_less(scale: Fraction, matrix: Matrix) -> Matrix:
    return [
        [(i == j) - scale * value for j, value in enumerate(row)] for i, row in enumerate(matrix)
    ]


def _dot(left: Vector, right: Vector) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
