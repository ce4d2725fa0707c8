"""Set RL note, §3, Examples 3.4–3.6: pass@n, majority vote, dissimilarity."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

from claims import scores
from claims.claims import Trials, Verdict, claim, corrected, remark, stated
from claims.documents import NOTE
from claims.exact import (
    Actions,
    advantage,
    advantages,
    draws,
    expected,
    log_likelihood_rates,
    logit_gradient,
    policies,
    policy,
)
from claims.note_scaffold import likelihood_rate, log_rates, scaffold


@claim(
    "note-ex-3.4",
    NOTE,
    "§3, Example 3.4",
    Verdict.HOLDS,
    how="Enumeration for every policy of one correct and two wrong actions with denominator ≤ 7, "
    "n = 2, 3, 4.",
)
def pass_advantage() -> Trials:
    """Under pass@n a wrong action has A = (1−p)^n − (1−p)^(n−1) ≤ 0, p the chance of success."""
    score = scores.maximum((1, 0, 0))
    for size, p in product((2, 3, 4), policies(3, 7)):
        found = advantage(score, p, size, 1)
        said = (1 - p[0]) ** size - (1 - p[0]) ** (size - 1)
        yield stated(found == said <= 0, n=size, p=p[0], A=found)


@claim(
    "note-ex-3.4-sum",
    NOTE,
    "§3, Example 3.4, for a correct generation",
    Verdict.HOLDS,
    how="Enumeration, n = 2…4, denominators ≤ 7, and E f = 1 − (1−p)^n.",
)
def pass_advantage_correct() -> Trials:
    """Under pass@n a correct action has A = (1−p)^n: its signal vanishes as success is certain."""
    score = scores.maximum((1, 0, 0))
    for size, p in product((2, 3, 4), policies(3, 7)):
        found = advantage(score, p, size, 0)
        value = expected(score, p, size)
        by_hand = sum(
            (comb(size, k) * p[0] ** k * (1 - p[0]) ** (size - k) for k in range(1, size + 1)),
            Fraction(0),
        )
        yield stated(found == (1 - p[0]) ** size and value == by_hand, n=size, p=p[0], A=found)


@claim(
    "note-ex-3.4-likelihood",
    NOTE,
    "§3, Example 3.4",
    Verdict.FAILS,
    how="d log π / dα of a gradient step on pass@n: one correct and two wrong actions.",
    counterexample="n=2, π=(1/5, 1/5, 3/5), y=1, A=-4/25, rate=8/625",
    truth="Their logits never rise. d log π(y)/dα = n[π(y)A(y) − Σ π²A]: a rare wrong action rises "
    "while a common one falls faster. With natural gradient steps d log π(y)/dα ∝ A(y) ≤ 0.",
)
def wrong_likelihood() -> Trials:
    """Under pass@n the log-likelihood of a wrong action never rises."""
    score = scores.maximum((1, 0, 0))
    for size, p in product((2, 3), policies(3, 10)):
        rates, advantage_of = log_rates(score, p, size), advantages(score, p, size)
        for y in (1, 2):
            yield stated(rates[y] <= 0, n=size, π=p, y=y, A=advantage_of[y], rate=rates[y])
            yield corrected(logit_gradient(score, p, size)[y] <= 0)
            yield corrected(rates[y] == likelihood_rate(p, advantage_of, size, y))
            yield corrected(log_likelihood_rates(advantage_of, p)[y] <= 0)


MAJORITIES = ((1, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0, 0))


@claim(
    "note-ex-3.5-order",
    NOTE,
    "§3, Example 3.5",
    Verdict.HOLDS,
    how="Two to four answers, one or two of them correct, n = 2…4, uniform ties and ties that go "
    "to the lowest label; denominators ≤ 6.",
)
def majority_order() -> Trials:
    """Under majority vote no wrong answer has a larger marginal advantage than a correct one."""
    for ties, rewards, size in product(("uniform", "lowest"), MAJORITIES, (2, 3, 4)):
        score = scores.majority(rewards, ties)
        for p in policies(len(rewards), 6):
            found = advantages(score, p, size)
            right = min(a for a, r in zip(found, rewards, strict=True) if r)
            wrong = max(a for a, r in zip(found, rewards, strict=True) if not r)
            yield stated(wrong <= right, ties=ties, n=size, π=p, wrong=wrong, right=right)


@claim(
    "note-ex-3.5-sign",
    NOTE,
    "§3, Example 3.5",
    Verdict.FAILS,
    how="Uniform ties, one correct and two wrong answers, n = 2…5, denominators ≤ 10.",
    counterexample="n=3, π=(1/7, 1/7, 5/7), A=(256/1029, 4/1029, -52/1029)",
    truth="It is non-positive if there is one wrong answer; with several, their π-average is. A "
    "rare wrong answer gains by splitting the vote of a common one. With ties that go to the "
    "lowest label it fails at n = 2.",
)
def majority_sign() -> Trials:
    """Under majority vote the marginal advantage of a wrong answer is never positive."""
    for size, p in product((2, 3, 4, 5), policies(3, 10)):
        found = advantages(scores.majority((1, 0, 0)), p, size)
        yield stated(max(found[1:]) <= 0, n=size, π=p, A=found)
        yield corrected(p[1] * found[1] + p[2] * found[2] <= 0 <= found[0])
    for size, p in product((2, 3, 4, 5), policies(2, 10)):
        yield corrected(advantage(scores.majority((1, 0)), p, size, 1) <= 0)
    lowest = scores.majority((0, 1, 0), "lowest")
    yield remark(advantage(lowest, policy(5, 4, 1), 2, 2) == Fraction(4, 25))


@claim(
    "note-first-seen",
    NOTE,
    "§3, Example 3.5, how ties are broken",
    Verdict.HOLDS,
    how="Every ordered set of three answers, n = 2, 3, 4: the first-seen winner averaged over "
    "orders against the uniform rule.",
)
def first_seen_ties() -> Trials:
    """Majority vote with ties to the answer seen first is, for set RL, the uniform rule: f only
    matters through its average over orders (the note assumes a symmetric f).
    """
    rewards = (1, 0, 0)
    for size in (2, 3, 4):
        for members, chance in draws(policy(1, 1, 1), size):
            orders = [s for s in product(range(3), repeat=size) if tuple(sorted(s)) == members]
            first = Fraction(sum(rewards[_first_winner(s)] for s in orders), len(orders))
            right = scores.majority(rewards)(members)
            counted = len(orders) == chance * 3**size
            yield stated(counted and first == right, set=members, f=right)


def _first_winner(s: Actions) -> int:
    return max(s, key=s.count)


@claim(
    "note-ex-3.6-uniform",
    NOTE,
    "§3, Example 3.6; §5, Example 5.4",
    Verdict.HOLDS,
    how="Uniform policies over 2…5 actions, n = 2…4.",
)
def differ_uniform() -> Trials:
    """For f = 1{two members differ} the scaffold value of every y^n is 0 under a uniform policy."""
    for num_actions, size in product((2, 3, 4, 5), (2, 3, 4)):
        p = policy(*[1] * num_actions)
        for y in range(num_actions):
            found = scaffold(scores.differ, p, (y,) * size, size * size)
            yield stated(found == 0, actions=num_actions, n=size, Λ=found)


@claim(
    "note-ex-3.6-nonuniform",
    NOTE,
    "§3, Example 3.6",
    Verdict.FAILS,
    how="Every policy over three actions with denominator ≤ 13, n = 2, 3.",
    counterexample="n=2, π=(2/13, 5/13, 6/13), Λ=(6/169, 0, -6/169)",
    truth="Some scaffold value is not 0 unless the policy is uniform on its support; a single one "
    "can be 0: it is where π(y)^(n−1) = Σ π^n.",
)
def differ_nonuniform() -> Trials:
    """For f = 1{two members differ} no scaffold value is 0 under a policy that is not uniform."""
    for size, p in product((2, 3), policies(3, 13)):
        if len(set(p)) > 1:
            found = [q * a for q, a in zip(p, advantages(scores.differ, p, size), strict=True)]
            yield stated(all(found), n=size, π=p, Λ=found)
            yield corrected(any(found), n=size, π=p)


@claim(
    "note-ex-3.6-rare",
    NOTE,
    "§3, Example 3.6",
    Verdict.HOLDS,
    how="A = Σ π^n − π(y)^(n−1), and its order, for every policy over three actions, n = 2, 3, 4.",
)
def differ_rare() -> Trials:
    """For f = 1{two members differ} rarer actions have larger marginal advantages."""
    for size, p in product((2, 3, 4), policies(3, 8)):
        found = advantages(scores.differ, p, size)
        said = [sum(q**size for q in p) - q ** (size - 1) for q in p]
        ordered = all(
            (p[a] < p[b]) == (found[a] > found[b]) for a, b in product(range(3), repeat=2)
        )
        yield stated(found == said and ordered, n=size, π=p, A=found)


@claim(
    "note-ex-3.6-counteracts",
    NOTE,
    "§3, Example 3.6",
    Verdict.HOLDS,
    how="π = (1, 5, 10)/16, n = 2, 3, 4: the rarest action has the largest advantage, not the "
    "largest scaffold value.",
)
def differ_counteracts() -> Trials:
    """The scaffold value multiplies by π(y), which can undo the preference for rare actions."""
    p = policy(1, 5, 10)
    for size in (2, 3, 4):
        found = advantages(scores.differ, p, size)
        weighted = [q * a for q, a in zip(p, found, strict=True)]
        undone = found[0] > found[1] and weighted[0] < weighted[1]
        yield stated(undone, n=size, π=p, A=found, Λ=weighted)
