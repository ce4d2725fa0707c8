"""Set RL note, §5: the objective f_srl, which rewards a correct answer that is not repeated."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import comb

from claims import scores
from claims.claims import Trials, Verdict, claim, corrected, remark, stated
from claims.documents import NOTE
from claims.exact import advantage, chances, policies, policy
from claims.note_specular import diminish, scaffold


def _binomial(n: int, p: Fraction, weight: list[Fraction]) -> Fraction:
    """E weight(k) for k ~ Binomial(n, p)."""
    return sum(
        (comb(n, k) * p**k * (1 - p) ** (n - k) * w for k, w in enumerate(weight)), Fraction(0)
    )


def rarest_formulas(n: int, p: Fraction) -> tuple[Fraction, Fraction]:
    """The two displays of A under f_srl: of a correct and of an incorrect generation."""
    inverse = [Fraction(0), *(Fraction(1, k) for k in range(1, n + 1))]
    value = _binomial(n, p, inverse)
    return _binomial(n - 1, p, inverse[1:]) - value, _binomial(n - 1, p, inverse[:n]) - value


@claim(
    "note-f-srl",
    NOTE,
    "§5, f_srl, the two displays",
    Verdict.HOLDS,
    how="Enumeration with one correct and one or two wrong actions, n = 2…5, denominators ≤ 8.",
    truth="One correct generation is assumed, p its probability.",
)
def rarest_advantages() -> Trials:
    """The marginal advantages under f_srl = max r(yᵢ)/(how often yᵢ is in the set)."""
    for size, p in product((2, 3, 4, 5), [*policies(2, 8), *policies(3, 6)]):
        score = scores.rarest_correct((1, *[0] * (len(p) - 1)))
        found = advantage(score, p, size, 0), advantage(score, p, size, 1)
        yield stated(found == rarest_formulas(size, p[0]), n=size, π=p, A=found)


@claim(
    "note-f-srl-several",
    NOTE,
    "§5, f_srl, with p as in Example 3.4",
    Verdict.FAILS,
    how="Two correct actions and one wrong one, p their probability together, n = 2, 3.",
    counterexample="n=2, π=(1/3, 1/3, 1/3), A=1/18, display=0",
    truth="Only for one correct generation: with two, the set is also worth more when they differ, "
    "so A depends on how p is split between them.",
)
def several_correct() -> Trials:
    """With p read as in Example 3.4, the probability of success, the displays hold for several
    correct generations too.
    """
    score = scores.rarest_correct((1, 1, 0))
    for size, p in product((2, 3), policies(3, 7)):
        found = advantage(score, p, size, 0)
        said = rarest_formulas(size, p[0] + p[1])[0]
        yield stated(found == said, n=size, π=p, A=found, display=said)
    for size in (2, 3):
        split = [policy(1, 3, 2), policy(2, 2, 2)]
        yield corrected(len({advantage(score, p, size, 0) for p in split}) == 2, n=size)


@claim(
    "note-f-srl-threshold",
    NOTE,
    "§5, f_srl, threshold τ",
    Verdict.HOLDS,
    how="Signs on p = 1/400 … 399/400, n = 2…8: one change each; τ₂ = 2/3 exactly.",
    truth="It is the same p at which a correct generation's own advantage turns negative, since "
    "p·A_correct + (1−p)·A_incorrect = 0.",
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
        yield stated(changes == 1 and not above[0], n=size, τ_at_most=first)
    right, wrong = rarest_formulas(2, Fraction(2, 3))
    yield remark(right == wrong == 0)


@claim(
    "note-f-srl-range",
    NOTE,
    "§5, f_srl, the last display",
    Verdict.HOLDS,
    how="Both sides for every p with denominator ≤ 20, n = 2…8; and the specular sets of the "
    "correct action among four, n = 2, 3, against the display.",
)
def rarest_range() -> Trials:
    """A_correct < 0 ⇔ Σ_m C(n−1, m) p^m (1−p)^(n−1−m) / (m(m+1)) > (1−p)^(n−1), which says what a
    specular set of the correct generation has to do.
    """
    for size, p in product(range(2, 9), chances(20)):
        right, _ = rarest_formulas(size, p)
        yield stated((right < 0) == _crowded(size, p), n=size, p=p, A=right)
    for size, weights in product((2, 3), policies(4, 7)):
        score = scores.rarest_correct((1, 0, 0, 0))
        for removed in ((1,), (1, 2), (2, 3)):
            after = diminish(weights, removed)
            negative = scaffold(score, after, size, 0) < 0
            yield stated(negative == _crowded(size, after[0]), n=size, π=weights, X=removed)


def _crowded(size: int, p: Fraction) -> bool:
    weight = [Fraction(0), *(Fraction(1, m * (m + 1)) for m in range(1, size))]
    return _binomial(size - 1, p, weight) > (1 - p) ** (size - 1)
