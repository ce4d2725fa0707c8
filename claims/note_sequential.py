"""Set RL note, §2.1: rollout trees, set values and the performance-difference lemma."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from claims import scores
from claims.claims import NOTE, Trials, Verdict, claim, kind, remark, shown, stated
from claims.exact import Actions, Policy, Score, dot, expected, ordered_draws, policy

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
            self.rewards[s] + reach * dot(self.steps[s], values) - values[s] for s in self.states
        ]

    def truncated(self, depth: int) -> Vector:
        """Σ_{t<depth} (γn)^t P^t f̄."""
        values = [Fraction(0)] * len(self.moves)
        for _ in range(depth):
            values = [
                r + self.gamma * self.size * dot(row, values)
                for r, row in zip(self.rewards, self.steps, strict=True)
            ]
        return values

    def occupancy(self, discount: Fraction, start: int) -> Vector:
        """(1 − discount) Σ_t discount^t P(s_t = ·) from one state."""
        transposed = [list(column) for column in zip(*self.steps, strict=True)]
        begin = [(1 - discount) * (s == start) for s in self.states]
        return solve(_identity_less(discount, transposed), begin)

    def visited(self, start: int) -> set[int]:
        """Return the states that the policy can reach."""
        seen = {start}
        while new := {to for s in seen for to in self.states if self.steps[s][to]} - seen:
            seen |= new
        return seen

    def stationary(self) -> Vector | None:
        """Return the distribution that P keeps, if there is only one; else None."""
        transposed = [list(column) for column in zip(*self.steps, strict=True)]
        balance = _identity_less(Fraction(1), transposed)
        balance[-1] = [Fraction(1)] * len(self.moves)
        try:
            return solve(balance, [Fraction(s == len(self.moves) - 1) for s in self.states])
        except ZeroDivisionError:
            return None

    def trees(self, start: int, depth: int) -> Iterator[tuple[Fraction, Fraction, list[int]]]:
        """Yield every tree of sampled sets: its probability, its return, its states by depth.

        Every node's set is enumerated jointly with every other node's set, as Eq. 3 defines the
        value.
        """
        yield from self._grow([start], depth, Fraction(1))

    def _grow(
        self, level: Sequence[int], depth: int, discount: Fraction
    ) -> Iterator[tuple[Fraction, Fraction, list[int]]]:
        if depth == 0:
            yield Fraction(1), Fraction(0), []
            return
        for sets in product(*(ordered_draws(self.policies[s], self.size) for s in level)):
            chance = prod((c for _, c in sets), start=Fraction(1))
            gain = discount * sum(
                self.scores[s](tuple(sorted(a))) for s, (a, _) in zip(level, sets, strict=True)
            )
            below = [
                self.moves[s][a] for s, (acts, _) in zip(level, sets, strict=True) for a in acts
            ]
            for rest, more, widths in self._grow(below, depth - 1, discount * self.gamma):
                yield chance * rest, gain + more, [len(level), *widths]


def solve(matrix: Matrix, right: Vector) -> Vector:
    """Solve matrix · x = right by elimination; ZeroDivisionError if the matrix is singular."""
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


QUARTER = Fraction(1, 4)


def processes(size: int = 2, gamma: Fraction = QUARTER) -> Iterator[Process]:
    """Yield every deterministic two-state, two-action process, rewarded by max and by spread.

    State 0 is worth the largest of two rewards; state 1 is worth the number of different actions.
    """
    score = (scores.named("max", 1, 0), scores.DIFFER)
    for moves in product(product(range(2), repeat=2), repeat=2):
        for weights in ((1, 1), (1, 2), (3, 1), (1, 3), (2, 1)):
            yield Process(moves, score, (policy(*weights), policy(2, 3)), size, gamma)


@claim(
    "note-def-2.1",
    NOTE,
    "§2.1, Definition 2.1, Eq. 2–4",
    Verdict.DEFINITION,
    how="All trees of depth $depth enumerated jointly, against ⟦Σ_{t<depth} (γn)^t P^t f̄⟧; "
    "two states, $actions actions at each.",
    truth="The value of an ordinary process with discount γn and reward f̄_π(s): V♯ = (I − "
    "γnP)⁻¹ f̄.",
    tried="9 remark",
    cases=product(list(processes())[::37]),
)
def set_values(process: Process) -> Trials:
    """V♯ is the expected discounted return of a tree in which every state gets a set of n
    actions, and depth t holds n^t states.
    """
    total = mass = Fraction(0)
    depth = 3
    for chance, gain, widths in process.trees(start=0, depth=depth):
        total, mass = total + chance * gain, mass + chance
        if widths != [process.size**t for t in range(depth)]:
            yield remark(False, widths=widths)
    yield remark(mass == 1, mass=mass)
    yield remark(total == process.truncated(depth)[0], trees=total)
    yield shown(depth=depth, actions=process.size)
    again = process.advantages(process.values)
    yield remark(not any(again), V=process.values, A=again)


@claim(
    "note-gamma",
    NOTE,
    "§2.1, after Definition 2.1",
    Verdict.HOLDS,
    compares=("largest |V♯|", "≤", "max |f|/⟦(1 − γn)⟧"),
    how="All two-state processes, and one state with ⟦f ≡ 1⟧, which attains the bound; at "
    "⟦γ = 1/n⟧ its value grows without bound: n = $n.",
    tried="324 stated, 6 remark",
    cases=product((2, 3)),
)
def discount_range(size: int) -> Trials:
    """⟦γ < 1/n⟧ keeps set values bounded, which is a smaller range than in standard RL."""
    for gamma in (Fraction(1, 8), Fraction(1, size) - Fraction(1, 100)):
        for process in processes(size, gamma):
            bound = 1 / (1 - gamma * size)
            yield stated(max(map(abs, process.values)), bound, n=size, γ=gamma)
        yield stated(max(_ones(size, gamma).values), bound, n=size, γ=gamma)
    ones = _ones(size, Fraction(1, size))
    for depth in (1, 10, 100):
        yield remark(ones.truncated(depth)[0] == depth, n=size, γ=Fraction(1, size), depth=depth)


def _ones(size: int, gamma: Fraction) -> Process:
    """One state, where every set scores 1."""
    return Process(((0,),), (lambda s: Fraction(1),), (policy(1),), size, gamma)


def _gap(new: Process, old: Process, occupancy: Vector) -> Fraction:
    """Return the right-hand side of Lemma 2.2 for an occupancy."""
    return dot(occupancy, new.advantages(old.values)) / (1 - new.gamma * new.size)


def _pairs() -> Iterator[tuple[Process, Process]]:
    old_policies: tuple[tuple[Policy, ...], ...] = (
        (policy(1, 2), policy(1, 1)),
        (policy(3, 1), policy(1, 4)),
    )
    for new, policies in product(processes(), old_policies):
        yield new, replace(new, policies=policies)


@claim(
    "note-lemma-2.2",
    NOTE,
    "§2.1, Lemma 2.2",
    Verdict.READING,
    compares=("V♯ of π less V♯ of β at s₀", "=", "⟦E[A♯_β]/(1 − γn)⟧"),
    how="All two-state, two-action processes with deterministic moves, ⟦n = 2⟧, ⟦γ = 1/4⟧; "
    "linear systems solved with fractions.",
    kindly="The distribution is the discounted share of visits from s₀, ⟦d♯(s) = (1 − γn)⟧ Σ_t "
    "(γn)^t Pr(s_t = s), as the factor ⟦1/(1 − γn)⟧ suggests.",
    truth="With the stationary distribution $wrong of $defined pairs get another number, and "
    "$undefined have more than one such distribution. With discount γ alone $by_γ of $pairs do.",
    counterexample="f=(max of (1, 0), differ), n=2, γ=1/4, moves=((0, 1), (0, 0)), π=((1/2, 1/2), "
    "(2/5, 3/5)), β=((1/3, 2/3), (1/2, 1/2)), gap=463/1500, lemma=451/1800",
    tried="120 of 150 stated, 160 kind",
)
def performance_difference() -> Trials:
    """$q, the state drawn from the stationary distribution of π."""
    wrong: Counter[str] = Counter()
    for new, old in _pairs():
        reach = new.gamma * new.size
        gap = new.values[0] - old.values[0]
        yield kind(gap == _gap(new, old, new.occupancy(reach, start=0)), gap=gap)
        wrong["pairs"] += 1
        wrong["by_γ"] += gap != _gap(new, old, new.occupancy(new.gamma, start=0))
        stationary = new.stationary()
        wrong["undefined" if stationary is None else "defined"] += 1
        if stationary is not None:
            formula = _gap(new, old, stationary)
            wrong["wrong"] += gap != formula
            case = {"f": new.scores, "n": new.size, "γ": new.gamma, "moves": new.moves}
            policies = {"π": new.policies, "β": old.policies}
            yield stated(gap, formula, **case, **policies, gap=gap, lemma=formula)
    yield shown(**wrong)


@claim(
    "note-improvement",
    NOTE,
    "§2.1, after Lemma 2.2",
    Verdict.HOLDS,
    compares=("new value", ">", "old value"),
    how="The same processes: every pair that satisfies the premise.",
    tried="12 stated",
    cases=_pairs(),
)
def improvement(new: Process, old: Process) -> Trials:
    """If the new policy's sets have positive expected advantage under the old values at every
    state that it visits, its value is higher.
    """
    advantages = new.advantages(old.values)
    if all(advantages[s] > 0 for s in new.visited(start=0)):
        better, before = new.values[0], old.values[0]
        yield stated(better, before, moves=new.moves, new=better, old=before)


SETS: tuple[Actions, ...] = ((0, 0), (0, 1), (1, 1))  # of two actions, n = 2


def chosen(process: Process, sets: Sequence[Actions]) -> Vector:
    """Return the values if every state gets the set that was chosen for it."""
    rewards = [score(s) for score, s in zip(process.scores, sets, strict=True)]
    steps = [
        [Fraction(sum(process.moves[at][a] == to for a in s)) for to in process.states]
        for at, s in enumerate(sets)
    ]
    return solve(_identity_less(process.gamma, steps), rewards)


def backup(process: Process, values: Vector) -> Vector:
    """max over sets of f + γ Σᵢ V(next state of the i-th action)."""
    return [
        max(
            process.scores[at](s) + process.gamma * sum(values[process.moves[at][a]] for a in s)
            for s in SETS
        )
        for at in process.states
    ]


def largest(values: Sequence[Vector]) -> Vector:
    """Return the largest value of each state."""
    return [max(column) for column in zip(*values, strict=True)]


@claim(
    "note-q-learning",
    NOTE,
    "§2.1, after Lemma 2.2",
    Verdict.HOLDS,
    compares=(
        "distance to the best sets' values after a backup",
        "≤",
        "γn times the distance before",
    ),
    how="All two-state, two-action processes with deterministic moves, ⟦n = 2⟧, ⟦γ = 1/4⟧. "
    "The backup V(s) ← max over sets of f + γ Σᵢ V(s'ᵢ) against the best of all $choices "
    "choices of one set for each state, and against V♯ of the $drawn policies whose "
    "probabilities are eighths.",
    truth="(Sampled Q-learning is not checked.) These are values of the best choice of one set "
    "for each state, an upper bound of those of ⟦Eq. 2⟧, which draws the actions "
    "independently.",
    tried="96 stated, 32 remark",
    cases=product(list(processes())[::5]),
)
def q_learning(process: Process) -> Trials:
    """The expected backup of Q-learning can be used on trees of sets."""
    choices = [chosen(process, sets) for sets in product(SETS, repeat=2)]
    eighths = [policy(k, 8 - k) for k in range(9)]
    sampled = [replace(process, policies=p).values for p in product(eighths, repeat=2)]
    best, drawn = largest(choices), largest(sampled)
    yield shown(choices=len(choices), drawn=len(sampled))
    yield remark(all(b >= d for b, d in zip(best, drawn, strict=True)))
    yield remark(backup(process, best) == best, moves=process.moves, best_sets=best)
    values = [Fraction(0), Fraction(10)]
    for _ in range(6):
        before, values = _distance(values, best), backup(process, values)
        yield stated(_distance(values, best), process.gamma * process.size * before)


def _distance(left: Vector, right: Vector) -> Fraction:
    return max(abs(a - b) for a, b in zip(left, right, strict=True))
