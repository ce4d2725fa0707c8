"""Set RL note, §3: scaffold values, marginal set advantages, logit shifts, entropy, examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb

from claims import scores
from claims.claims import (
    NOTE,
    Trials,
    Verdict,
    claim,
    control,
    corrected,
    kind,
    remark,
    scaled,
    shown,
    stated,
)
from claims.exact import (
    Actions,
    Policy,
    Score,
    advantage,
    advantages,
    covariance,
    dot,
    draws,
    expected,
    log_likelihood_rates,
    logit_gradient,
    policies,
    policy,
    times,
    weighted,
)
from claims.formulas import Formula

POLICIES = (policy(1, 1, 1), policy(1, 2, 3), policy(5, 2, 1))


def overlap(left: Actions, right: Actions) -> int:
    """Σ_{i,j} 1{leftᵢ = rightⱼ}."""
    return sum(a == b for a, b in product(left, right))


def largest_overlap(members: Actions, num_actions: int) -> int:
    """Return the largest overlap with any set of the same size, this set included."""
    return max(overlap(s, members) for s in product(range(num_actions), repeat=len(members)))


def scaffold(score: Score, p: Policy, members: Actions, normaliser: int) -> Fraction:
    """Λ(members) = Cov(f(Y), overlap(Y, members) / normaliser): Eq. 11."""
    share = covariance(score, lambda s: Fraction(overlap(s, members)), p, len(members))
    return share / normaliser


def log_rates(score: Score, p: Policy, size: int) -> list[Fraction]:
    """d log π(y) / dα of a gradient step, for every action."""
    return log_likelihood_rates(logit_gradient(score, p, size), p)


def likelihood_rate(p: Policy, found: Sequence[Fraction], size: int, y: int) -> Fraction:
    """n[π(y)A(y) − Σ π²A], which is d log π(y) / dα."""
    mean = sum((q * q * a for q, a in zip(p, found, strict=True)), Fraction(0))
    return size * (p[y] * found[y] - mean)


@claim(
    "note-def-3.1",
    NOTE,
    "§3, Definition 3.1",
    Verdict.DEFINITION,
    how="The largest overlap of every set of three actions, n ≤ $size.most, by enumeration.",
    truth="I = n · (how often the most frequent member occurs): n² for a homogeneous set, "
    "n for different members. The maximum must include the set itself.",
    tried="34 remark",
    cases=product((1, 2, 3, 4)),
)
def scaffold_definition(size: int) -> Trials:
    """The scaffold value of a set is the covariance of f with the overlap that a drawn set has
    with it, divided by the largest overlap I.
    """
    for members, _ in draws(policy(1, 1, 1), size):
        most = max(members.count(a) for a in members)
        found = largest_overlap(members, 3)
        yield remark(found == size * most, set=members, I=found)


@claim(
    "note-homogeneous",
    NOTE,
    "§3, after Eq. 11",
    Verdict.UP_TO_SCALE,
    compares=("Λ(y^n)", "=", "π(y) (E f(y, Y₂…Y_n) − E f(Y₁…Y_n))"),
    how="The covariance enumerated with I = n, the size of the largest intersection; four "
    "objectives, n = $n.",
    truth="n with I = n, exact with I = n². With I over the other sets only, ⟦n(n−1)⟧, the "
    "scale is ⟦n/(n−1)⟧.",
    counterexample="f=max of (2, 1, 0), n=2, π=(1/3, 1/3, 1/3), y=0, covariance=10/27, "
    "formula=5/27",
    tried="66 of 72 stated, 72 scaled, 144 remark",
    cases=product((2, 3), scores.OBJECTIVES, POLICIES, range(3)),
)
def homogeneous_scaffold(size: int, score: Score, p: Policy, y: int) -> Trials:
    """The scaffold value of y^n: $q."""
    formula = p[y] * advantage(score, p, size, y)
    found = scaffold(score, p, (y,) * size, size)
    yield stated(found, formula, f=score, n=size, π=p, y=y, covariance=found, formula=formula)
    yield scaled(found, size * formula)
    yield remark(scaffold(score, p, (y,) * size, size * size) == formula)
    others = size * (size - 1)
    others_only = scaffold(score, p, (y,) * size, others)
    yield remark(others_only == formula * Fraction(size, size - 1))


@claim(
    "note-def-3.2",
    NOTE,
    "§3, Definition 3.2, Eq. 12",
    Verdict.DEFINITION,
    how="Σ_y π(y) ⟦A(y) = 0⟧ for four objectives and three policies, n = $n.",
    truth="Advantages average ⟦to 0⟧ over the policy: no action gains unless another one loses.",
    tried="24 remark",
    cases=product((2, 3), scores.OBJECTIVES, POLICIES),
)
def marginal_advantage(size: int, score: Score, p: Policy) -> Trials:
    """The marginal set advantage of y is E f(y, Y₂…Y_n) − E f(Y₁…Y_n)."""
    found = advantages(score, p, size)
    total = dot(p, found)
    yield remark(total == 0, f=score, n=size, π=p, A=found)


@claim(
    "note-observation",
    NOTE,
    "§3, Observation",
    Verdict.HOLDS,
    compares=("Λ(y^n)", "=", "π(y)·A(y)"),
    how="The covariance with I = n² against π(y)A(y), and an action of ⟦probability 0⟧.",
    tried="72 stated, 2 remark",
)
def scaffold_is_weighted_advantage() -> Trials:
    """$q: an action that is never sampled has scaffold ⟦value 0⟧, however large its advantage."""
    for size, score, p in product((2, 3), scores.OBJECTIVES, POLICIES):
        for y in range(3):
            found = scaffold(score, p, (y,) * size, size * size)
            yield stated(found, p[y] * advantage(score, p, size, y), f=score, n=size, π=p, y=y)
    p = (Fraction(0), Fraction(1, 2), Fraction(1, 2))
    for size in (2, 3):
        best = scores.maximum((1, 0, 0))
        unseen = advantage(best, p, size, 0), scaffold(best, p, (0,) * size, size * size)
        yield remark(unseen == (1, 0), n=size, π=p, A_and_Λ=unseen)


@claim(
    "note-lemma-3.3",
    NOTE,
    "§3, Lemma 3.3, Eq. 13",
    Verdict.UP_TO_SCALE,
    compares=("shift of the logit of y", "=", "α·π(y)·A(y)"),
    how="∇_z E f by differentiating the polynomial E f(π); four objectives, n = $n.",
    truth="n. The lemma is exact for the step ⟦(1/N)⟧ Σᵢ (uᵢ − vᵢ) ∇ log π(yᵢ), whose mean is "
    "∇E f / n.",
    counterexample="f=max of (2, 1, 0), n=2, π=(1/3, 1/3, 1/3), shift=(10/27, -2/27, -8/27), "
    "lemma=(5/27, -1/27, -4/27)",
    tried="33 of 36 stated, 36 scaled",
    cases=product((2, 3, 4), scores.OBJECTIVES, POLICIES),
)
def logit_shift(size: int, score: Score, p: Policy) -> Trials:
    """One gradient step of size α: $q."""
    found = logit_gradient(score, p, size)
    formula = weighted(p, advantages(score, p, size))
    yield stated(found, formula, f=score, n=size, π=p, shift=found, lemma=formula)
    yield scaled(found, times(size, formula))


@claim(
    "note-likelihood-sign",
    NOTE,
    "§3 and §4, before Eq. 15",
    Verdict.FAILS,
    compares=("log π(y) rises", "exactly if", "⟦A(y) > 0⟧"),
    how="Signs of A(y) and d log π(y)/dα: polychromic and ⟦pass@2⟧, three actions, "
    "denominators ≤ $π.denominator.",
    truth="d log π(y)/dα = n[π(y)A(y) − Σ π²A]: the sign of A decides about the logit, and "
    "about log π under natural gradient. ⟦A(y) > 0⟧ but log π(y) falls in $falls cases; the "
    "reverse in $rises.",
    counterexample="f=polychromic of (1, 0, 1), n=2, π=(1/3, 1/6, 1/2), y=2, A=1/72, rate=-1/648",
    tried="16 of 312 stated, 312 corrected",
)
def likelihood_sign() -> Trials:
    """$q, for ⟦π(y) > 0⟧."""
    apart: Counter[str] = Counter()
    for score, p in product(
        (scores.named("polychromic", 1, 0, 1), scores.named("max", 1, 0, 0)), policies(3, 8)
    ):
        found, rates = advantages(score, p, 2), log_rates(score, p, 2)
        for y in range(3):
            case = {"f": score, "n": 2, "π": p, "y": y}
            yield stated(rates[y] > 0, found[y] > 0, **case, A=found[y], rate=rates[y])
            yield corrected(rates[y] == likelihood_rate(p, found, 2, y))
            apart["falls"] += rates[y] <= 0 < found[y]
            apart["rises"] += found[y] <= 0 < rates[y]
    yield shown(**apart)


def entropy_rate(shift: Sequence[Fraction], p: Policy) -> list[Fraction]:
    """dH/dα when the logits move by α·shift, as coefficients of log π(1)…log π(A)."""
    rates = log_likelihood_rates(shift, p)
    return [-q * rate for q, rate in zip(p, rates, strict=True)]


def proposition_3_7(score: Score, p: Policy, size: int) -> list[Fraction]:
    """Return the proposition's right side for α = 1, as coefficients of log π(1)…log π(A)."""
    actions = range(len(p))
    with_count = [
        covariance(score, lambda s, a=a: Fraction(s.count(a)), p, size)  # type: ignore[misc]
        for a in actions
    ]
    inner: Score = lambda s: sum((with_count[a] for a in s), Fraction(0))  # noqa: E731
    return [
        -covariance(lambda s, b=b: Fraction(s.count(b), size), inner, p, size)  # type: ignore[misc]
        for b in actions
    ]


@claim(
    "note-prop-3.7",
    NOTE,
    "§3, Proposition 3.7",
    Verdict.HOLDS,
    compares=("entropy change of a step", "=", "−α Cov(mean log π(yᵢ), Cov(f(Y'), overlap))"),
    how="Both sides are linear in log ⟦π(1)…log⟧ π(A) with rational coefficients, which are "
    "compared one by one; four objectives, n = $n. To first order in α.",
    tried="24 stated",
    cases=product((2, 3), scores.OBJECTIVES, POLICIES),
)
def entropy_change(size: int, score: Score, p: Policy) -> Trials:
    """$q."""
    found = entropy_rate(logit_gradient(score, p, size), p)
    yield stated(found, proposition_3_7(score, p, size), f=score, n=size, π=p, dH=found)


@claim(
    "note-lemma-3.3-and-3.7",
    NOTE,
    "§3, Lemma 3.3 with Proposition 3.7",
    Verdict.UP_TO_SCALE,
    compares=("⟦entropy change by Lemma 3.3⟧", "=", "⟦entropy change by Prop. 3.7⟧"),
    how="dH/dα of the lemma's logit shift against the proposition, coefficient by coefficient.",
    truth="n: the proposition contains the factor that the lemma lacks, so their α differ.",
    counterexample="f=max of (2, 1, 0), n=2, π=(1/6, 1/3, 1/2), lemma=(-35/972, -31/972, 11/162), "
    "proposition=(-35/486, -31/486, 11/81)",
    tried="16 of 16 stated, 16 scaled",
    cases=product((2, 3), scores.OBJECTIVES, POLICIES[1:]),
)
def lemma_and_proposition(size: int, score: Score, p: Policy) -> Trials:
    """The step of ⟦Lemma 3.3⟧ changes the entropy as ⟦Proposition 3.7⟧ says."""
    shift = weighted(p, advantages(score, p, size))
    found, formula = entropy_rate(shift, p), proposition_3_7(score, p, size)
    yield stated(found, formula, f=score, n=size, π=p, lemma=found, proposition=formula)
    yield scaled(times(size, found), formula)


@claim(
    "note-ex-3.4",
    NOTE,
    "§3, Example 3.4",
    Verdict.HOLDS,
    compares=("A of a wrong action", "=", Formula("(1−p)^n − (1−p)^(n−1)")),
    how="Enumeration for every policy of one correct and two wrong actions with denominator ≤"
    " $p.denominator, n = $n.",
    tried="102 stated, 102 remark",
    cases=product((2, 3, 4), policies(3, 7)),
)
def pass_advantage(size: int, p: Policy) -> Trials:
    """Under pass@n: $q, never positive, where p is the chance of success."""
    score = scores.maximum((1, 0, 0))
    found = advantage(score, p, size, 1)
    yield remark(found <= 0)
    yield stated(found, n=size, p=p[0], A=found)


@claim(
    "note-ex-3.4-sum",
    NOTE,
    "§3, Example 3.4, for a correct generation",
    Verdict.HOLDS,
    compares=("A of a correct action", "=", Formula("(1−p)^n")),
    how="Enumeration, n = $n, denominators ≤ $p.denominator, and E ⟦f = 1 − (1−p)^n⟧.",
    tried="102 stated, 102 remark",
    cases=product((2, 3, 4), policies(3, 7)),
)
def pass_advantage_correct(size: int, p: Policy) -> Trials:
    """Under pass@n: $q. So its signal vanishes as success is certain."""
    score = scores.maximum((1, 0, 0))
    found = advantage(score, p, size, 0)
    value = expected(score, p, size)
    by_hand = sum(
        (comb(size, k) * p[0] ** k * (1 - p[0]) ** (size - k) for k in range(1, size + 1)),
        Fraction(0),
    )
    yield remark(value == by_hand)
    yield stated(found, n=size, p=p[0], A=found)


@claim(
    "note-ex-3.4-likelihood",
    NOTE,
    "§3, Example 3.4",
    Verdict.FAILS,
    word="inconsistent",
    compares=("d log π(y)/dα", "≤", 0),
    how="d log π / dα of a gradient step on pass@n: one correct and two wrong actions.",
    truth="⟦Lemma 3.3⟧ is about logits, which never rise. d log π(y)/dα = n[π(y)A(y) − Σ π²A]: "
    "a rare wrong action rises while a common one falls faster. Along the natural "
    "gradient it is ∝ ⟦A(y) ≤ 0⟧.",
    counterexample="f=max of (1, 0, 0), n=2, π=(1/5, 1/5, 3/5), y=1, A=-4/25, rate=8/625",
    tried="56 of 436 stated, 1308 corrected",
    cases=product((2, 3), policies(3, 10)),
)
def wrong_likelihood(size: int, p: Policy) -> Trials:
    """Under pass@n the log-likelihood of a wrong action never rises."""
    score = scores.named("max", 1, 0, 0)
    rates, advantage_of = log_rates(score, p, size), advantages(score, p, size)
    for y in (1, 2):
        case = {"f": score, "n": size, "π": p, "y": y}
        yield stated(rates[y], **case, A=advantage_of[y], rate=rates[y])
        yield corrected(logit_gradient(score, p, size)[y] <= 0)
        yield corrected(rates[y] == likelihood_rate(p, advantage_of, size, y))
        yield corrected(log_likelihood_rates(advantage_of, p)[y] <= 0)


MAJORITIES = ((1, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0, 0))


@claim(
    "note-ex-3.5-order",
    NOTE,
    "§3, Example 3.5",
    Verdict.HOLDS,
    compares=("largest A of a wrong answer", "≤", "smallest A of a correct one"),
    how="Two to four answers, one or two of them correct, n = $n, uniform ties and ties that "
    "go to the lowest label; denominators ≤ $π.denominator.",
    tried="498 stated, 30 control",
    cases=product(("uniform", "lexicographic"), MAJORITIES, (2, 3, 4)),
)
def majority_order(ties: str, rewards: Actions, size: int) -> Trials:
    """Under majority vote, $q."""
    score = scores.majority(rewards, ties=ties)
    for p in policies(len(rewards), 6):
        wrong, right = _extremes(advantages(score, p, size), rewards)
        yield stated(wrong, right, ties=ties, n=size, π=p, wrong=wrong, right=right)
    certain = (*[Fraction(0)] * (len(rewards) - 1), Fraction(1))
    yield control(*_extremes(advantages(score, certain, size), rewards), ties=ties, n=size)


def _extremes(found: Sequence[Fraction], rewards: Actions) -> tuple[Fraction, Fraction]:
    """Return the largest advantage of a wrong answer and the smallest of a correct one."""
    both = list(zip(found, rewards, strict=True))
    return max(a for a, r in both if not r), min(a for a, r in both if r)


@claim(
    "note-ex-3.5-sign",
    NOTE,
    "§3, Example 3.5",
    Verdict.FAILS,
    compares=("largest A of a wrong answer", "≤", 0),
    how="Uniform ties, one correct and two wrong answers, n = $n, denominators ≤ $π.denominator.",
    truth="With one wrong answer it is; with several, their π-average is: a rare one gains by "
    "splitting the vote of a common one. With ties to the lowest label it fails at ⟦n = "
    "2⟧.",
    counterexample="f=majority of (1, 0, 0), n=3, π=(1/7, 1/7, 5/7), A=(256/1029, "
    "4/1029, -52/1029)",
    tried="24 of 436 stated, 560 corrected, 436 control, 1 remark",
    nearest="33/50000",
)
def majority_sign() -> Trials:
    """Under majority vote the marginal advantage of a wrong answer is never positive."""
    score = scores.named("majority", 1, 0, 0)
    for size, p in product((2, 3, 4, 5), policies(3, 10)):
        found = advantages(score, p, size)
        yield stated(max(found[1:]), f=score, n=size, π=p, A=found)
        yield corrected(p[1] * found[1] + p[2] * found[2] <= 0 <= found[0])
        certain = (Fraction(0), Fraction(0), Fraction(1))
        yield control(max(advantages(score, certain, size)[1:]), n=size)
    for size, p in product((2, 3, 4, 5), policies(2, 10)):
        yield corrected(advantage(scores.majority((1, 0)), p, size, 1) <= 0)
    lowest = scores.majority((0, 1, 0), ties="lexicographic")
    yield remark(advantage(lowest, policy(5, 4, 1), 2, 2) == Fraction(4, 25))


@claim(
    "note-first-seen",
    NOTE,
    "§3, Example 3.5, how ties are broken",
    Verdict.HOLDS,
    compares=("mean first-seen score over orders", "=", "score with uniform ties"),
    how="Every ordered set of three answers, n = $size: the first-seen winner averaged over "
    "orders against the uniform rule.",
    tried="31 stated, 31 remark",
    cases=product((2, 3, 4)),
)
def first_seen_ties(size: int) -> Trials:
    """Majority vote with ties to the answer seen first is the uniform rule, as the note assumes
    a symmetric f.
    """
    rewards = (1, 0, 0)
    for members, chance in draws(policy(1, 1, 1), size):
        orders = [s for s in product(range(3), repeat=size) if tuple(sorted(s)) == members]
        first = Fraction(sum(rewards[_first_winner(s)] for s in orders), len(orders))
        right = scores.majority(rewards)(members)
        counted = len(orders) == chance * 3**size
        yield remark(counted)
        yield stated(first, right, set=members, f=right)


def _first_winner(s: Actions) -> int:
    return max(s, key=s.count)


@claim(
    "note-ex-3.6-uniform",
    NOTE,
    "§3, Example 3.6; §5, Example 5.4",
    Verdict.HOLDS,
    compares=("Λ(y^n)", "=", 0),
    how="Uniform policies over $num_actions actions, n = $n.",
    tried="42 stated",
    cases=product((2, 3, 4, 5), (2, 3, 4)),
)
def differ_uniform(num_actions: int, size: int) -> Trials:
    """For ⟦f = 1{two members differ}⟧ and a uniform policy, $q for every y."""
    p = policy(*[1] * num_actions)
    for y in range(num_actions):
        found = scaffold(scores.differ(), p, (y,) * size, size * size)
        yield stated(found, actions=num_actions, n=size, Λ=found)


@claim(
    "note-ex-3.6-nonuniform",
    NOTE,
    "§3, Example 3.6",
    Verdict.READING,
    compares=("⟦number of actions whose Λ(y^n) is 0⟧", "=", 0),
    how="Every policy over three actions with denominator ≤ $π.denominator, n = $n.",
    kindly="Not all of them ⟦are 0⟧, unless the policy is uniform over its support.",
    truth="⟦Λ(y^n) = π(y)·(Σ π^n − π(y)^(n−1))⟧: a single one ⟦is 0⟧ exactly where the bracket is.",
    counterexample="n=2, π=(2/13, 5/13, 6/13), Λ=(6/169, 0, -6/169)",
    tried="6 of 522 stated, 522 kind, 522 remark",
    cases=product((2, 3), policies(3, 13)),
)
def differ_nonuniform(size: int, p: Policy) -> Trials:
    """For ⟦f = 1{two members differ}⟧ no scaffold value ⟦is 0⟧ under a policy that is not
    uniform.
    """
    if len(set(p)) > 1:
        found = weighted(p, advantages(scores.differ(), p, size))
        yield stated(found.count(Fraction(0)), n=size, π=p, Λ=found)
        yield kind(any(found), n=size, π=p)
        total = sum(q**size for q in p)
        yield remark(list(found) == [q * (total - q ** (size - 1)) for q in p])


@claim(
    "note-ex-3.6-rare",
    NOTE,
    "§3, Example 3.6",
    Verdict.HOLDS,
    compares=("A(y)", "=", "⟦Σ π^n − π(y)^(n−1)⟧"),
    how="A = Σ ⟦π^n − π(y)^(n−1)⟧, and its order, for every policy over three actions, n = $n.",
    tried="156 stated, 156 remark",
    cases=product((2, 3, 4), policies(3, 8)),
)
def differ_rare(size: int, p: Policy) -> Trials:
    """For ⟦f = 1{two members differ}⟧ rarer actions have larger marginal advantages."""
    found = advantages(scores.differ(), p, size)
    formula = [sum(q**size for q in p) - q ** (size - 1) for q in p]
    ordered = all((p[a] < p[b]) == (found[a] > found[b]) for a, b in product(range(3), repeat=2))
    yield remark(ordered)
    yield stated(found, formula, n=size, π=p, A=found)


@claim(
    "note-ex-3.6-counteracts",
    NOTE,
    "§3, Example 3.6",
    Verdict.HOLDS,
    compares=("Λ of the rarest action", "<", "Λ of the next"),
    how="⟦π = (1, 5, 10)/16⟧, n = $n: the rarest action has the largest advantage, not the "
    "largest scaffold value.",
    tried="3 stated, 3 remark",
    cases=product((2, 3, 4)),
)
def differ_counteracts(size: int) -> Trials:
    """The scaffold value multiplies by π(y), which can undo the preference for rare actions."""
    p = policy(1, 5, 10)
    found = advantages(scores.differ(), p, size)
    values = weighted(p, found)
    yield remark(found[0] > found[1])
    yield stated(values[0], values[1], n=size, π=p, A=found, Λ=values)
