"""Set RL note, §2.1: rollout trees, set values and the performance-difference lemma."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from claims import scores
from claims.claims import Trials, Verdict, claim, corrected, remark, stated
from claims.documents import NOTE
from claims.exact import Policy, policy
from claims.exact_mdp import Process, Vector

QUARTER = Fraction(1, 4)


def processes(size: int = 2, gamma: Fraction = QUARTER) -> Iterator[Process]:
    """Every two-state, two-action process with deterministic moves, rewarded by max and by spread.

    State 0 is worth the largest of two rewards, state 1 is worth different actions.
    """
    score = (scores.maximum((1, 0)), scores.differ)
    for moves in product(product(range(2), repeat=2), repeat=2):
        for weights in ((1, 1), (1, 2), (3, 1), (1, 3), (2, 1)):
            yield Process(moves, score, (policy(*weights), policy(2, 3)), size, gamma)


@claim(
    "note-def-2.1",
    NOTE,
    "§2.1, Definition 2.1, Eq. 2–4",
    Verdict.DEFINITION,
    how="All trees of depth 3 enumerated jointly, against Σ_{t<3} (γn)^t P^t f̄; two states, n = 2.",
    truth="V♯ is the value of an ordinary process with discount γn and reward f̄_π(s), which "
    "depends on the policy: V♯ = (I − γnP)⁻¹ f̄.",
)
def set_values() -> Trials:
    """V♯ is the expected discounted return of a tree in which every state gets a set of n
    actions, and depth t holds n^t states.
    """
    for process in list(processes())[::37]:
        total = mass = Fraction(0)
        for chance, gain, widths in process.trees(start=0, depth=3):
            total, mass = total + chance * gain, mass + chance
            if widths != [1, 2, 4]:
                yield remark(False, widths=widths)
        yield remark(mass == 1, mass=mass)
        yield remark(total == process.truncated(3)[0], trees=total)
        again = process.advantages(process.values)
        yield remark(not any(again), V=process.values, A=again)


@claim(
    "note-gamma",
    NOTE,
    "§2.1, after Definition 2.1",
    Verdict.HOLDS,
    how="|V♯| ≤ max|f|/(1 − γn) for all two-state processes; f ≡ 1 at γ = 1/n grows without bound.",
)
def discount_range() -> Trials:
    """γ < 1/n keeps set values bounded, which is a smaller range than in standard RL."""
    for size in (2, 3):
        for gamma in (Fraction(1, 8), Fraction(1, size) - Fraction(1, 100)):
            for process in processes(size, gamma):
                bound = 1 / (1 - gamma * size)
                yield stated(all(0 <= v <= bound for v in process.values), n=size, γ=gamma)
        ones = Process(((0,),), (lambda s: Fraction(1),), (policy(1),), size, Fraction(1, size))
        grown = [ones.truncated(depth)[0] for depth in (1, 10, 100)]
        yield remark(grown == [1, 10, 100], n=size, γ=Fraction(1, size), partial_sums=grown)


def _gap(new: Process, old: Process, occupancy: Vector) -> Fraction:
    """The right-hand side of Lemma 2.2 for an occupancy."""
    advantages = new.advantages(old.values)
    inner = sum((d * a for d, a in zip(occupancy, advantages, strict=True)), Fraction(0))
    return inner / (1 - new.gamma * new.size)


def _pairs() -> Iterator[tuple[Process, Process]]:
    old_policies: tuple[tuple[Policy, ...], ...] = (
        (policy(1, 2), policy(1, 1)),
        (policy(3, 1), policy(1, 4)),
    )
    for new, policies in product(processes(), old_policies):
        yield new, new.with_policies(policies)


@claim(
    "note-lemma-2.2",
    NOTE,
    "§2.1, Lemma 2.2",
    Verdict.FAILS,
    how="All two-state, two-action processes with deterministic moves, n = 2, γ = 1/4; linear "
    "systems solved with fractions.",
    counterexample="moves=((0, 1), (0, 0)), π=(1/2, 1/2), gap=463/1500, lemma=451/1800",
    truth="The distribution is the discounted occupancy from s₀ with discount γn, "
    "d♯(s) = (1 − γn) Σ_t (γn)^t Pr(s_t = s); neither the stationary one nor discount γ will do.",
)
def performance_difference() -> Trials:
    """V♯ of π less V♯ of β at s₀ is E[A♯_β]/(1 − γn) over the stationary states of π."""
    wrong_discount = False
    for new, old in _pairs():
        reach = new.gamma * new.size
        gap = new.values[0] - old.values[0]
        yield corrected(gap == _gap(new, old, new.occupancy(reach, start=0)), gap=gap)
        wrong_discount |= gap != _gap(new, old, new.occupancy(new.gamma, start=0))
        stationary = new.stationary()
        if stationary is not None:
            said = _gap(new, old, stationary)
            yield stated(gap == said, moves=new.moves, π=new.policies[0], gap=gap, lemma=said)
    yield remark(wrong_discount, discount="γ alone")


@claim(
    "note-improvement",
    NOTE,
    "§2.1, after Lemma 2.2",
    Verdict.HOLDS,
    how="The same processes: every pair that satisfies the premise.",
)
def improvement() -> Trials:
    """If the new policy's sets have positive expected advantage under the old values at every
    state that it visits, its value is higher.
    """
    for new, old in _pairs():
        visited = new.occupancy(new.gamma * new.size, start=0)
        advantages = new.advantages(old.values)
        if all(a > 0 for a, d in zip(advantages, visited, strict=True) if d):
            better, before = new.values[0], old.values[0]
            yield stated(better > before, moves=new.moves, new=better, old=before)
