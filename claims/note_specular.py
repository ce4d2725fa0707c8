"""Set RL note, §5: diminishing actions, specular sets, and the objective f_srl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
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
    rounded,
    shown,
    stated,
)
from claims.exact import Actions, Policy, Score, advantage, covariance, policies, policy
from claims.formulas import Formula


def diminish(p: Policy, removed: Iterable[int]) -> Policy:
    """Remove some actions from the policy; spread their probability evenly over the rest."""
    gone = set(removed)
    kept = [a for a, q in enumerate(p) if q and a not in gone]
    share = sum((p[a] for a in gone), Fraction(0)) / len(kept)
    return tuple(q + share if a in kept else Fraction(0) for a, q in enumerate(p))


def scaffold(score: Score, p: Policy, size: int, y: int) -> Fraction:
    """Λ(y^n) = π(y) A(y)."""
    return p[y] * advantage(score, p, size, y)


def others(p: Policy, y: int) -> list[int]:
    """Return the other actions, the most probable first."""
    return sorted((a for a in range(len(p)) if a != y), key=lambda a: -p[a])


def speculars(score: Score, p: Policy, size: int, y: int) -> Iterator[tuple[int, ...]]:
    """Yield every specular set of y, smallest first: removing it makes Λ negative."""
    for count in range(1, len(p)):
        for removed in combinations(others(p, y), count):
            if scaffold(score, diminish(p, removed), size, y) < 0:
                yield removed


def supported(score: Score, size: int) -> Iterator[tuple[Policy, int]]:
    """Yield policies over four actions, and their actions with a positive scaffold value."""
    for p in policies(4, 8):
        for y in range(4):
            if scaffold(score, p, size, y) > 0:
                yield p, y


@claim(
    "note-def-5.1",
    NOTE,
    "§5, Definition 5.1",
    Verdict.DEFINITION,
    how="Every policy over four actions with denominator ≤ $π.denominator and every set "
    "except the whole: the result is non-negative, sums ⟦to 1⟧, ⟦is 0⟧ on X and keeps the"
    " order of the rest.",
    truth="In the definition of 𝒢 for a set X read y' ∉ X.",
    tried="1932 remark",
    cases=product(policies(4, 8), (1, 2, 3)),
)
def diminishing(p: Policy, count: int) -> Trials:
    """Diminishing X sends its probability to the rest of the support in equal parts."""
    for removed in combinations(range(4), count):
        found = diminish(p, removed)
        valid = sum(found) == 1 and not any(found[a] for a in removed)
        rest = [a for a in range(4) if a not in removed]
        shares = {found[a] - p[a] for a in rest}
        yield remark(valid, π=p, X=removed, after=found)
        yield remark(len(shares) == 1, π=p, X=removed, after=found)


@claim(
    "note-def-5.2",
    NOTE,
    "§5, Definition 5.2",
    Verdict.READING,
    compares=("number of smallest specular sets of y", "=", 1),
    how="⟦f = 1{two members differ}⟧, n = $n: the specular sets of the smallest size, for "
    "every policy over four actions with ⟦denominator ≤ 8⟧ and one with $π.denominator "
    "(none below has two).",
    kindly="A strong specular set is of the smallest size; the most probable other actions "
    "are one, in every case tried.",
    counterexample="f=differ, n=2, π=(1/14, 2/7, 2/7, 5/14), y=1, smallest=((3), (2))",
    tried="1 of 49 stated, 49 kind",
    cases=[*supported(scores.DIFFER, 2), (policy(1, 4, 4, 5), 1)],
)
def smallest_specular(p: Policy, y: int) -> Trials:
    """There is only one smallest specular set, the strong one."""
    found = list(speculars(scores.DIFFER, p, 2, y))
    least = [x for x in found if len(x) == len(found[0])]
    if found:
        yield stated(len(least), f=scores.DIFFER, n=2, π=p, y=y, smallest=least)
        likeliest = others(p, y)[: len(least[0])]
        yield kind(scaffold(scores.DIFFER, diminish(p, likeliest), 2, y) < 0)


@claim(
    "note-specular-self",
    NOTE,
    "§5, after Definition 5.2",
    Verdict.HOLDS,
    word="holds by construction",
    compares=("Λ(y^n) without y", "=", 0),
    how="Λ of y after diminishing sets that hold it: two objectives, four actions, n = $n.",
    truth="Λ(y^n) has the factor π(y).",
    tried="180 stated",
    cases=product(
        (2, 3),
        (scores.differ(), scores.polychromic((1, 0, 1, 0))),
        policies(4, 6),
        ((0,), (0, 1), (0, 1, 2)),
    ),
)
def never_its_own(size: int, score: Score, p: Policy, removed: Actions) -> Trials:
    """A specular set of y does not contain y."""
    found = scaffold(score, diminish(p, removed), size, 0)
    yield stated(found, n=size, π=p, X=removed, Λ=found)


@claim(
    "note-prop-5.3",
    NOTE,
    "§5, Proposition 5.3",
    Verdict.HOLDS,
    word="holds by construction",
    compares=("Λ(y^n) without all others", "=", 0),
    how="Λ of y when only y is left, as the covariance of ⟦Definition 3.1⟧: four objectives, "
    "every policy over four actions with denominator ≤ $π.denominator, n = $n.",
    truth="The policy is then certain, and nothing varies.",
    tried="120 stated",
)
def all_others() -> Trials:
    """All other actions together are not a specular set of y, under any objective."""
    objectives = (
        scores.differ(),
        scores.polychromic((1, 0, 1, 0)),
        scores.majority((1, 0, 0, 0)),
        scores.rarest_correct((1, 0, 0, 0)),
    )
    for size, score, p in product((2, 3), objectives, policies(4, 6)):
        certain = diminish(p, (1, 2, 3))
        found = covariance(score, lambda s: Fraction(s.count(0)), certain, size)
        yield stated(found, n=size, π=p, Λ=found)


@claim(
    "note-specular-at-most",
    NOTE,
    "§5, after Example 5.4",
    Verdict.HOLDS,
    compares=("size of the largest specular set of A actions", "≤", Formula("A − 2")),
    how="The largest specular set of every supported action, ⟦⟦f = 1{two members differ}⟧⟧ "
    "and f_srl with two of four actions right, n = $n.",
    truth="The bound is attained: all but y and one other action.",
    tried="252 stated",
)
def largest_specular() -> Trials:
    """The $q."""
    for size, score in product((2, 3), (scores.differ(), scores.rarest_correct((1, 1, 0, 0)))):
        for p, y in supported(score, size):
            sizes = [len(x) for x in speculars(score, p, size, y)]
            if sizes:
                yield stated(max(sizes), n=size, A=len(p), π=p, y=y, largest=max(sizes))


@claim(
    "note-ex-5.4-value",
    NOTE,
    "§5, Example 5.4",
    Verdict.HOLDS,
    compares=("Λ(y^n)", "=", "⟦p(Σ π^n − p^(n−1))⟧"),
    how="π(y)A(y) enumerated, three and four actions, n = $n; the sign against p*.",
    tried="648 stated, 648 remark",
)
def differ_scaffold() -> Trials:
    """$q; it is negative above ⟦p* = (Σ π^n)^(1/(n−1))⟧, positive below."""
    for size, p in product((2, 3, 4), [*policies(3, 8), *policies(4, 6)]):
        total = sum(q**size for q in p)
        for y, q in enumerate(p):
            found = scaffold(scores.DIFFER, p, size, y)
            below = q ** (size - 1) < total  # q < p*
            signs = (found > 0) == below and (found < 0) == (q ** (size - 1) > total)
            yield remark(signs)
            yield stated(found, q * (total - q ** (size - 1)), n=size, π=p, y=y, Λ=found)


@claim(
    "note-ex-5.4-turning",
    NOTE,
    "§5, Example 5.4, turning point",
    Verdict.READING,
    compares=("Λ lies on the same side of its value at p* just below p* and just above", "always"),
    how="Λ(y^n) enumerated for y with probability p and $others.least to $others.most other "
    "actions that share the rest evenly, n = $n: at p*, which is ⟦1/(number of actions)⟧, and at "
    "p* ± h, h = $h.",
    kindly="The sign of Λ turns at p*: it is positive just below and negative just above.",
    truth="Λ keeps falling at p*. With two others and ⟦n = 2⟧ it turns at p = $turns, on a grid of "
    "$grid.",
    counterexample="f=differ, n=2, others=2, p*=1/3, h=1/10, Λ=(161/6000, 0, -221/6000)",
    tried="18 of 18 stated, 18 kind",
    cases=product((2, 3, 4), (2, 3, 4), (Fraction(1, 10), Fraction(1, 1000))),
)
def turning_point(size: int, others: int, h: Fraction) -> Trials:
    """The scaffold value has a turning point at p* ($q)."""
    root = Fraction(1, others + 1)
    below, there, above = (_even_rest(p, others, size) for p in (root - h, root, root + h))
    same_side = (below - there) * (above - there) > 0
    case = {"f": scores.DIFFER, "n": size, "others": others, "p*": root, "h": h}
    yield stated(same_side, **case, Λ=(below, there, above))
    yield kind(below > there == 0 > above)
    if (size, others) == (2, 2):
        step = Fraction(1, 1000)
        values = [_even_rest(step * at, others, size) for at in range(1001)]
        tops = [at for at in range(1, 1000) if _turns(*values[at - 1 : at + 2])]
        yield shown(turns=[rounded(step * at, 3) for at in tops], grid=step)


def _even_rest(p: Fraction, others: int, size: int) -> Fraction:
    """Λ(y^n) of f = 1{two members differ} where the other actions share the rest evenly."""
    return scaffold(scores.DIFFER, (p, *[(1 - p) / others] * others), size, 0)


def _turns(before: Fraction, value: Fraction, after: Fraction) -> bool:
    return (before - value) * (after - value) > 0


@claim(
    "note-ex-5.4-share",
    NOTE,
    "§5, Example 5.4, the display for π'",
    Verdict.FAILS,
    word="misprint",
    compares=("sum of the new probabilities", "=", 1),
    how="The diminished policy with φ as displayed, and as ⟦Definition 5.1⟧ has it; three and"
    " four actions.",
    truth="φ = Σ_{y'∈X} π(y') / |𝒢|: the removed probability, not the probability that stayed.",
    counterexample="π=(1/3, 1/3, 1/3), X=(0), total_probability=4/3",
    tried="30 of 34 stated, 34 corrected",
    cases=product([*policies(3, 6), *policies(4, 6)]),
)
def share_of_the_removed(p: Policy) -> Trials:
    """Each remaining action gains φ = Σ_{y'∈𝒢} π(y') / |𝒢|."""
    kept = range(1, len(p))
    displayed = sum(p[a] for a in kept) / len(kept)
    total = sum(p[a] + displayed for a in kept)
    yield stated(total, π=p, X=(0,), total_probability=total)
    meant = p[0] / len(kept)
    yield corrected(tuple(p[a] + meant for a in kept) == diminish(p, (0,))[1:])


@claim(
    "note-ex-5.4-necessary",
    NOTE,
    "§5, Example 5.4, point 1",
    Verdict.HOLDS,
    compares=("π'(y)·g", ">", 1),
    how="Every specular set of every supported action, ⟦f = 1{two members differ}⟧, n = $n.",
    truth="Necessary, not sufficient: ⟦π' = (7/20, 9/20, 1/5)⟧, ⟦n = 2⟧ has ⟦π'(y) > 1/3⟧ and "
    "⟦Λ = 21/4000 > 0⟧.",
    tried="240 stated, 1 remark",
    nearest="1/8",
)
def above_average() -> Trials:
    """After diminishing a specular set, ⟦π'(y) > 1/g⟧, where g is the size of the support ($q)."""
    for size in (2, 3):
        for p, y in supported(scores.DIFFER, size):
            for removed in speculars(scores.DIFFER, p, size, y):
                after = diminish(p, removed)
                support = sum(q > 0 for q in after)
                yield stated(after[y] * support, n=size, π=p, X=removed, after=after[y])
    yield remark(scaffold(scores.DIFFER, policy(7, 9, 4), 2, 0) == Fraction(21, 4000))


@claim(
    "note-ex-5.4-likeliest",
    NOTE,
    "§5, Example 5.4, point 2",
    Verdict.READING,
    compares=("Λ without the rarest others", "<", 0),
    how="⟦f = 1{two members differ}⟧, n = $n, four actions: the smallest specular size by "
    "search, against removing that many of the least and of the most probable others.",
    kindly="X can be made smaller by keeping them in X, in every case tried.",
    truth="They keep Λ positive. Under the polychromic objective the likeliest need not be enough.",
    counterexample="f=differ, n=2, π=(1/7, 1/7, 2/7, 3/7), y=2, X=(1), Λ=2/147",
    tried="192 of 192 stated, 192 kind, 192 control, 8 remark",
    nearest="88655/31850496",
    cases=product((2, 3, 4, 5)),
)
def keep_the_likeliest(size: int) -> Trials:
    """A specular set X can be made smaller if the likeliest other actions stay in the support."""
    for p, y in supported(scores.DIFFER, size):
        least = next(speculars(scores.DIFFER, p, size, y), None)
        if least is not None and len(least) < len(p) - 1:
            ordered = others(p, y)
            rare, likely = ordered[-len(least) :], ordered[: len(least)]
            kept = scaffold(scores.DIFFER, diminish(p, rare), size, y)
            yield stated(kept, f=scores.DIFFER, n=size, π=p, y=y, X=rare, Λ=kept)
            without = scaffold(scores.DIFFER, diminish(p, likely), size, y)
            yield kind(without < 0)
            yield control(without)
    poly, p = scores.polychromic((1, 1, 0, 0)), policy(2, 1, 1, 1)
    yield remark(next(speculars(poly, p, 2, 0)) == (2, 3))
    yield remark(scaffold(poly, diminish(p, (1, 2)), 2, 0) > 0)


def _binomial(n: int, p: Fraction, weight: list[Fraction]) -> Fraction:
    """E weight(k) for k ~ Binomial(n, p)."""
    return sum(
        (comb(n, k) * p**k * (1 - p) ** (n - k) * w for k, w in enumerate(weight)), Fraction(0)
    )


def rarest_formulas(n: int, p: Fraction) -> tuple[Fraction, Fraction]:
    """Return the two displays of A under f_srl, for a correct and for an incorrect generation."""
    inverse = [Fraction(0), *(Fraction(1, k) for k in range(1, n + 1))]
    value = _binomial(n, p, inverse)
    return _binomial(n - 1, p, inverse[1:]) - value, _binomial(n - 1, p, inverse[:n]) - value


@claim(
    "note-f-srl",
    NOTE,
    "§5, f_srl, the two displays",
    Verdict.HOLDS,
    compares=("A of a correct and of a wrong generation", "=", "the two displays"),
    how="Enumeration with one correct and one or two wrong actions, n = $n, denominators ≤ "
    "$π.denominator.",
    truth="One correct generation is assumed, p its probability.",
    tried="160 stated",
    cases=product((2, 3, 4, 5), [*policies(2, 8), *policies(3, 6)]),
)
def rarest_advantages(size: int, p: Policy) -> Trials:
    """Under f_srl = max r(yᵢ)/(how often yᵢ is in the set), $q."""
    score = scores.rarest_correct((1, *[0] * (len(p) - 1)))
    found = advantage(score, p, size, 0), advantage(score, p, size, 1)
    yield stated(found, rarest_formulas(size, p[0]), n=size, π=p, A=found)


@claim(
    "note-f-srl-several",
    NOTE,
    "§5, f_srl, with p as in Example 3.4",
    Verdict.READING,
    compares=("A of a correct generation", "=", "its display"),
    how="Two correct actions and one wrong one, p their probability together, n = $n.",
    kindly="The displays write y_correct, one correct generation; for that they hold.",
    truth="With two correct generations a set is also worth more when they differ.",
    counterexample="f=f_srl of (1, 1, 0), n=2, π=(1/3, 1/3, 1/3), A=1/18, display=0",
    tried="65 of 68 stated, 68 kind, 2 remark",
)
def several_correct() -> Trials:
    """With p read as in ⟦Example 3.4⟧, the probability of success, the displays hold for several
    correct generations too.
    """
    score = scores.named("f_srl", 1, 1, 0)
    for size, p in product((2, 3), policies(3, 7)):
        found = advantage(score, p, size, 0)
        formula = rarest_formulas(size, p[0] + p[1])[0]
        yield stated(found, formula, f=score, n=size, π=p, A=found, display=formula)
    for size in (2, 3):
        split = [policy(1, 3, 2), policy(2, 2, 2)]
        yield remark(len({advantage(score, p, size, 0) for p in split}) == 2, n=size)
    single = scores.rarest_correct((1, 0, 0))
    for size, p in product((2, 3), policies(3, 7)):
        yield kind(advantage(single, p, size, 0) == rarest_formulas(size, p[0])[0], n=size, π=p)


@claim(
    "note-f-srl-threshold",
    NOTE,
    "§5, f_srl, threshold τ",
    Verdict.HOLDS,
    compares=("number of changes of sign as p rises", "=", 1),
    how="Signs on ⟦p = 1/400 … 399/400⟧, n = $n: one change each; ⟦τ₂ = 2/3⟧ exactly.",
    truth="At the same p a correct generation's own advantage turns negative: ⟦p·A_correct + "
    "(1−p)·A_incorrect = 0⟧.",
    tried="7 stated, 2801 remark",
)
def rarest_threshold() -> Trials:
    """Above some τ a wrong generation has a larger marginal advantage than the correct one."""
    for size in range(2, 9):
        above = []
        for step in range(1, 400):
            right, wrong = rarest_formulas(size, Fraction(step, 400))
            above.append(wrong > right)
            yield remark((wrong > right) == (right < 0), n=size, p=Fraction(step, 400))
        changes = sum(a != b for a, b in pairwise(above))
        first = Fraction(above.index(True) + 1, 400)
        yield remark(not above[0])
        yield stated(changes, n=size, τ_at_most=first)
    right, wrong = rarest_formulas(2, Fraction(2, 3))
    yield remark(right == wrong == 0)


@claim(
    "note-f-srl-range",
    NOTE,
    "§5, f_srl, the last display",
    Verdict.HOLDS,
    compares=(
        "⟦A_correct < 0⟧",
        "exactly if",
        "⟦Σ_m C(n−1, m) p^m (1−p)^(n−1−m) / (m(m+1)) > (1−p)^(n−1)⟧",
    ),
    how="Both sides for every p with denominator ≤ $p.denominator, n = $n; and the specular "
    "sets of the correct action among four, n = $of_specular, against the display.",
    tried="1099 stated",
)
def rarest_range() -> Trials:
    """$q, which says what a specular set of the correct generation has to do."""
    for size, (p, _) in product(range(2, 9), policies(2, 20)):
        right, _ = rarest_formulas(size, p)
        yield stated((right < 0), _crowded(size, p), n=size, p=p, A=right)
    for size, weights in product((2, 3), policies(4, 7)):
        score = scores.rarest_correct((1, 0, 0, 0))
        for removed in ((1,), (1, 2), (2, 3)):
            after = diminish(weights, removed)
            negative = scaffold(score, after, size, 0) < 0
            yield stated(negative, _crowded(size, after[0]), of_specular=size, π=weights, X=removed)


def _crowded(size: int, p: Fraction) -> bool:
    weight = [Fraction(0), *(Fraction(1, m * (m + 1)) for m in range(1, size))]
    return _binomial(size - 1, p, weight) > (1 - p) ** (size - 1)
