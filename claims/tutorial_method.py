"""Poly-EPO tutorial: statements about the method (shaping, sets, credit)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import factorial

import numpy as np

import setrl
from claims import scores
from claims.claims import (
    TUTORIAL,
    Trials,
    Verdict,
    claim,
    control,
    corrected,
    kind,
    percent,
    remark,
    rounded,
    scaled,
    shown,
    stated,
)
from claims.exact import (
    Actions,
    Policy,
    Score,
    all_sets,
    average,
    by_value,
    contrast,
    dot,
    expected,
    from_sets,
    logit_gradient,
    mean_estimate,
    of_group,
    over_designs,
    policy,
    ratios,
    times,
)
from claims.formulas import Formula

PASS = scores.named("max", 1, 0, 0)
ONE = Fraction(1)


NEAR = Fraction(1, 1000)


def shaped(weight: Fraction, p: Fraction, mean: Fraction, own: Fraction = ONE) -> Fraction:
    """λd − p − λ·(mean d): the shaped advantage of a wrong sample with diversity d."""
    return weight * own - p - weight * mean


@claim(
    "tutorial-shaping-impossible",
    TUTORIAL,
    "Reward shaping, third problem and slider",
    Verdict.READING,
    compares=("A", "≤", 0),
    how="One wrong sample of its own strategy among N = $N, λ = $λ, ⟦d = 1⟧ for it and ⟦d = 0⟧ "
    "for the others; smaller d and λ for the kind reading; the library's `grpo_div` just below and "
    "just above its threshold.",
    kindly="λ is fixed, below p/(d − mean d): as ⟦d ≤ $d.most⟧, any ⟦λ < 1⟧ is once p ≥ λ.",
    truth="λ > p/(d − mean d) suffices, which stays finite: with ⟦d = 1⟧ and mean d = $mean every "
    "⟦p < 1⟧ is below λ = $enough.",
    counterexample="N=8, p=7/8, d=1, λ=8/7, A=1/8",
    tried="3 of 9 stated, 12 kind, 14 remark",
)
def shaping_stays_possible() -> Trials:
    """As ⟦p → 1⟧ a wrong, diverse sample cannot have a positive shaped advantage unless its d is
    astronomically large.
    """
    for num in (8, 32, 1024):
        p, mean = Fraction(num - 1, num), Fraction(1, num)
        for weight in (Fraction(8, 7), Fraction(1), Fraction(19, 20)):
            found = shaped(weight, p, mean)
            yield stated(found, N=num, p=p, d=1, λ=weight, A=found)
            yield remark((found > 0) == (weight > p / (1 - mean)))
        for weight, own in product((Fraction(1, 2), Fraction(7, 8)), (Fraction(1, 2), ONE)):
            found = shaped(weight, p, own * mean, own)
            yield kind(found <= 0 and weight <= p, N=num, d=own, A=found)
    mean = Fraction(1, 8)
    enough = 1 / (1 - mean)
    yield shown(mean=mean, enough=enough)
    for p in (Fraction(7, 8), Fraction(99, 100), Fraction(9999, 10_000)):
        gains = [shaped(weight, p, mean) for weight in (enough, p / (1 - mean))]
        yield remark(gains[0] > 0 == gains[1], p=p)
    rewards, strategies = np.array([[1.0] * 7 + [0]]), np.array([[0] * 7 + [1]])
    own = Fraction(49, 48)  # the threshold of the library's diversity, whose range differs
    for bonus, sign in ((own - NEAR, -1), (own + NEAR, 1)):
        values = (
            setrl.methods.grpo_div(float(bonus))
            .advantages(rewards, strategies=strategies)
            .values_BN
        )
        yield remark(np.sign(values[0, 7]) == sign, bonus=bonus)


@claim(
    "tutorial-shaping-row",
    TUTORIAL,
    "Decomposition, 8 generations, table, second row",
    Verdict.READING,
    compares=("A of y₈", "≤", 0),
    how="λd − p − λ·(mean d) with p = $p, ⟦d = 1⟧ for y₈ and ⟦d = 0⟧ for the others; λ = $λ.",
    kindly="A λ above p/(d − mean d), here $threshold, counts as huge.",
    truth="Positive for every λ above it.",
    counterexample="λ=11/10, p=7/8, A=7/80",
    tried="2 of 4 stated, 4 kind",
    cases=product((Fraction(1, 2), Fraction(1), Fraction(11, 10), Fraction(2))),
)
def shaping_of_eight(weight: Fraction) -> Trials:
    """Reward shaping gives y₈ a negative advantage unless λ is huge."""
    p, mean = Fraction(7, 8), Fraction(1, 8)
    threshold = p / (1 - mean)
    found = shaped(weight, p, mean)
    yield stated(found, λ=weight, p=p, A=found)
    yield kind((found > 0) == (weight > threshold))
    yield shown(threshold=threshold)


# Two strategies of two actions each, right and wrong; directions in their logits.
SHARES = policy(1, 2), policy(1, 5)
ACCURACIES = Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)
MORE_CORRECT, MORE_EVEN = (1, 0, 1, 0), (1, 1, 0, 0)
REWARD, DIVERSITY = scores.mean((1, 0, 1, 0)), scores.distinct_share((0, 0, 1, 1))


def two_strategies(shares: Policy, success: Fraction) -> Policy:
    """Return the policy whose strategies have these shares and succeed with this chance."""
    return tuple(w * s for w in shares for s in (success, 1 - success))


def weight_of_product(p: Policy, size: int) -> Fraction:
    """Return the λ with which mean r + λ·d weighs accuracy against an even choice as r·d does."""
    product = scores.product(REWARD, DIVERSITY)
    both = [slope(product, p, way, size) for way in (MORE_CORRECT, MORE_EVEN)]
    sums = slope(REWARD, p, MORE_CORRECT, size), slope(DIVERSITY, p, MORE_EVEN, size)
    return both[1] / both[0] / (sums[1] / sums[0])


def slope(score: Score, p: Policy, direction: Sequence[int], size: int) -> Fraction:
    """dE f/dα when the logits move by α·direction."""
    return dot(logit_gradient(score, p, size), direction)


@claim(
    "tutorial-no-constant-weight",
    TUTORIAL,
    "Reward shaping, second problem: λ",
    Verdict.HOLDS,
    compares=("number of different λ at three accuracies", "=", 3),
    how="Two strategies with shares w ⟦and 1⟧ − w that both succeed with chance s; n = $n. "
    "The λ with which mean r + λ·d gives accuracy and an even choice of strategies the "
    "same relative weight as the product r·d does: from the slopes of all three in these "
    "two directions.",
    truth="λ = s/E d, where s is the accuracy: it rises as accuracy rises.",
    tried="4 stated, 24 remark",
    cases=product((2, 3), SHARES),
)
def no_constant_weight(size: int, shares: Policy) -> Trials:
    """No single λ is the best one for all of training."""
    weights = []
    for success in ACCURACIES:
        p = two_strategies(shares, success)
        weights.append(weight_of_product(p, size))
        yield remark(weights[-1] == success / expected(DIVERSITY, p, size), n=size, s=success)
        across = slope(REWARD, p, MORE_EVEN, size), slope(DIVERSITY, p, MORE_CORRECT, size)
        yield remark(across == (0, 0))
    yield stated(len(set(weights)), n=size, shares=shares, λ=weights)


@claim(
    "tutorial-weight-falls",
    TUTORIAL,
    "Reward shaping, second problem: λ over training",
    Verdict.FAILS,
    word="inconsistent",
    compares=("λ at a higher accuracy", "<", "λ at a lower one"),
    how="Two strategies with shares w ⟦and 1⟧ − w at accuracy $accuracies; n = $n. The λ with "
    "which mean r + λ·d weighs accuracy against an even choice of strategies as the product r·d "
    "does.",
    truth="λ = s/E d rises in proportion to the accuracy s. The tutorial's next paragraph says so: "
    "when accuracy is high, the product rewards diversity.",
    counterexample="n=2, shares=(1/3, 2/3), accuracy=(1/10, 1/2), λ=(9/65, 9/13)",
    tried="8 of 8 stated, 8 corrected, 8 control",
    cases=product((2, 3), SHARES),
)
def weight_falls(size: int, shares: Policy) -> Trials:
    """As accuracy rises, the weight of diversity has to shrink ($q)."""
    for accuracy in pairwise(ACCURACIES):
        low, high = (weight_of_product(two_strategies(shares, s), size) for s in accuracy)
        yield stated(high, low, n=size, shares=shares, accuracy=accuracy, λ=(low, high))
        yield corrected(high / low == accuracy[1] / accuracy[0])
        yield control(low, high, accuracy=accuracy[::-1])
    yield shown(accuracies=list(ACCURACIES))


INDEPENDENT_SCALE = Formula("(K−1)(N−n)/N")


@claim(
    "tutorial-independent-sets",
    TUTORIAL,
    "Algorithm 1 (code), and 'unbiased, no bias correction needed'",
    Verdict.UP_TO_SCALE,
    compares=("mean update", "=", "∇E f"),
    how="Two and three sets drawn independently, as the code draws them: all pairs and "
    "triples of sets, N = $N, n = $n.",
    truth="$scale.",
    counterexample="f=max of (1, 0, 0), N=3, n=2, sets=2, π=(1/3, 1/3, 1/3), mean=(8/81, -4/81, "
    "-4/81), gradient=(8/27, -4/27, -4/27)",
    tried="6 of 6 stated, 6 scaled",
    cases=((3, 2), (3, 3), (4, 2)),
)
def independent_sets(num: int, num_sets: int) -> Trials:
    """Summed advantages of K sets that are drawn independently estimate the gradient."""
    size = 2
    designs = list(product(all_sets(num, size), repeat=num_sets))
    credit = over_designs(PASS, designs)
    for p in (policy(1, 1, 1), policy(1, 2, 3)):
        found = mean_estimate(credit, p, num)
        truth = logit_gradient(PASS, p, size)
        scale = INDEPENDENT_SCALE(K=num_sets, N=num, n=size)
        case = {"f": PASS, "N": num, "n": size, "sets": num_sets, "π": p}
        yield stated(found, truth, **case, mean=found, gradient=truth)
        yield scaled(found, times(scale, truth))
    yield shown(scale=INDEPENDENT_SCALE)


@claim(
    "tutorial-by-value",
    TUTORIAL,
    "Algorithm 1 (code)",
    Verdict.FAILS,
    word="pseudocode",
    compares=("number of different ratios of the mean update to ∇E f", "=", 1),
    how="marginal[y] with `y in G`, which confuses equal generations: ⟦pass@2⟧, N = $N, "
    "π = $π, all sets.",
    truth="By index the ratio is $scale for every action; by value $by_value. The "
    "listing is a sketch.",
    counterexample="f=max of (1, 0, 0), N=4, n=2, π=(1/5, 3/10, 1/2), ratio=(3.135, 3.572, 2.873)",
    tried="1 of 1 stated, 1 corrected, 1 control",
    nearest="2",
)
def dictionary_of_generations() -> Trials:
    """A dictionary from generations to advantages gives the marginal set advantages."""
    p, num, size = policy(2, 3, 5), 4, 2
    truth = logit_gradient(PASS, p, size)
    sets = all_sets(num, size)
    equal, by_index = (
        ratios(mean_estimate(credit(PASS, sets), p, num), truth) for credit in (by_value, from_sets)
    )
    ratio = tuple(map(float, equal))
    yield stated(len(set(equal)), f=PASS, N=num, n=size, π=p, ratio=ratio)
    scale = by_index[0]
    yield control(len(set(by_index)))
    yield corrected(scale == Formula("C(N−1, n)")(N=num, n=size))
    yield shown(scale=scale, by_value=[rounded(r, 4) for r in equal])


@claim(
    "tutorial-enough-sets",
    TUTORIAL,
    "Set RL, step 2: how many sets",
    Verdict.HOLDS,
    compares=("added share of the variance", "<", "⟦1/2 with 200 sets, 1/5 with 500⟧"),
    how="Poly-EPO on $prompts simulated prompts, n = $n, N = $N, against all sets: the root "
    "mean square error of the advantages relative to their size, and the gradient "
    "variance that sampling adds, relative to the variance with all sets. Seeded.",
    truth="“Sufficient” is measured by thresholds of ours. With $sets.least sets the variance "
    "grows by $added, and the advantages of single samples err by $errors (N = $N); with "
    "$sets.most, by $added_by_many and $errors_of_many. $few sets more than double the variance.",
    tried="4 stated, 2 remark",
)
def enough_sets() -> Trials:
    """$sets.least to $sets.most random sets are sufficient for N = $N samples, n = $n: $q."""
    rng = np.random.default_rng(0)
    few = 25
    said: dict[str, list[str]] = defaultdict(list)
    for num in (32, 64):
        for num_sets, share in ((200, 0.5), (500, 0.2)):
            found = added_variance(num, num_sets, rng)
            yield stated(found[0], share, N=num, sets=num_sets, added_variance=found[0])
            names = ("added", "errors") if num_sets == 200 else ("added_by_many", "errors_of_many")
            for name, part in zip(names, found, strict=True):
                said[name].append(percent(Fraction(round(100 * part), 100)))
        yield remark(added_variance(num, few, rng)[0] > 1, N=num)
    yield shown(few=few, n=SIZE, prompts=BATCHES * PROMPTS, **said)


SIZE, BATCHES, PROMPTS = 8, 25, 24


def added_variance(num: int, num_sets: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return two relative errors of sampled sets.

    The first is the variance that they add to the gradient, relative to the exact estimate's
    variance; the second is the root mean square error of the advantages, relative to their size.
    """
    policy_C = 1 / np.arange(1, 9)
    policy_C /= policy_C.sum()
    success_C = rng.beta(0.6, 0.9, size=8)
    exact, sampled = (
        setrl.methods.poly_epo(SIZE),
        setrl.methods.poly_epo(SIZE, setrl.credit.Sampled(num_sets)),
    )
    advantages_BN, errors_BN, gradients_BC, noise_BC = [], [], [], []
    for _ in range(BATCHES):  # a draw of sets serves all prompts of a batch
        strategies_BN = rng.choice(8, size=(PROMPTS, num), p=policy_C)
        rewards_BN = (rng.random((PROMPTS, num)) < success_C[strategies_BN]) * 1.0
        score_BNC = np.eye(8)[strategies_BN] - policy_C
        true_BN = exact.advantages(rewards_BN, strategies=strategies_BN).values_BN
        found_BN = sampled.advantages(rewards_BN, strategies=strategies_BN, rng=rng).values_BN
        advantages_BN.append(true_BN)
        errors_BN.append(found_BN - true_BN)
        gradients_BC.append(np.einsum("bn,bnc->bc", true_BN, score_BNC))
        noise_BC.append(np.einsum("bn,bnc->bc", found_BN - true_BN, score_BNC))
    variance = np.concatenate(gradients_BC).var(axis=0).sum()
    added = (np.concatenate(noise_BC) ** 2).sum(axis=1).mean()
    size, error = np.mean(np.square(advantages_BN)), np.mean(np.square(errors_BN))
    return float(added / variance), float(np.sqrt(error / size))


Valued = Callable[[Actions], Fraction]  # a set of sample indices, of any size → its score


def swap_value(value: Valued, num: int, size: int, i: int) -> Fraction:
    """Return the mean of f(T∪i) − f(T∪j) over j ≠ i and the (n−1)-sets T without either."""
    gains = [
        value(tuple(sorted((*t, i)))) - value(tuple(sorted((*t, j))))
        for j in range(num)
        if j != i
        for t in combinations([k for k in range(num) if k not in (i, j)], size - 1)
    ]
    return average(gains)


@claim(
    "tutorial-removal",
    TUTORIAL,
    "Set RL, meaning of the marginal set advantage",
    Verdict.FAILS,
    compares=("u − v", "=", "mean drop"),
    how="Groups of four and five rewards, max, n = $n: u − v, the mean drop f(S) − f(S∖i), "
    "and the mean change when i takes another's place.",
    truth="It asks what changes if y takes another sample's place: u − v is the mean of "
    "f(T∪i) − f(T∪j).",
    counterexample="r=(3, 1, 0, 0), n=2, i=0, A=7/3, drop=8/3",
    tried="18 of 26 stated, 26 corrected",
    cases=product(((1, 1, 1, 1), (3, 1, 0, 0), (2, 2, 1, 0, 0)), (2, 3)),
)
def removal(rewards: Actions, size: int) -> Trials:
    """The marginal set advantage is how much the score drops when y is removed from its sets."""
    num = len(rewards)
    value = scores.maximum(rewards)
    found = contrast(value, size)(tuple(range(num)))
    for i in range(num):
        drops = [
            value(s) - value(tuple(k for k in s if k != i)) for s in all_sets(num, size) if i in s
        ]
        yield stated(
            found[i], average(drops), r=rewards, n=size, i=i, A=found[i], drop=average(drops)
        )
        yield corrected(found[i] == swap_value(value, num, size, i))


def shapley(value: Valued, num: int) -> list[Fraction]:
    """Return each sample's Shapley value; the empty set is worth 0."""
    result = []
    for i in range(num):
        total = Fraction(0)
        others = [k for k in range(num) if k != i]
        for size in range(num):
            weight = Fraction(factorial(size) * factorial(num - size - 1), factorial(num))
            for t in combinations(others, size):
                total += weight * (value(tuple(sorted((*t, i)))) - (value(t) if t else 0))
        result.append(total)
    return result


@claim(
    "tutorial-shapley",
    TUTORIAL,
    "Set RL, meaning of the marginal set advantage",
    Verdict.FAILS,
    word="analogy",
    compares=("u − v", "=", "Shapley value"),
    how="u − v under ⟦pass@n⟧ and the Shapley value, for c = $c correct of four; the mean "
    "update of the Shapley value over all groups of N = $N samples, against Σ_n ∇E f_n / "
    "n.",
    truth="That asks about coalitions of every size: unbiased for ⟦Σ_{n=1}^N⟧ ∇E f_n / n; for "
    "pass@n ⟦1/c⟧ on each of c correct samples.",
    counterexample="r=(1, 1, 0, 0), n=2, marginal=(1/3, 1/3, -1/3, -1/3), Shapley=(1/2, 1/2, 0, 0)",
    tried="3 of 3 stated, 7 corrected, 3 remark",
)
def shapley_values() -> Trials:
    """The marginal set advantage asks the question of a Shapley value."""
    for correct in (2, 1, 4):
        rewards = (*[1] * correct, *[0] * (4 - correct))
        found, value = (
            contrast(scores.maximum(rewards), 2)(tuple(range(4))),
            scores.maximum(rewards),
        )
        fair = shapley(value, 4)
        yield stated(found, fair, r=rewards, n=2, marginal=found, Shapley=fair)
        yield remark(sum(fair) == 1, c=correct)
        yield corrected(fair == [Fraction(r, correct) for r in rewards])
    for num, p in product((3, 4), (policy(1, 1, 1), policy(1, 2, 3))):
        credit = lambda group: shapley(of_group(PASS, group), len(group))  # noqa: E731
        wanted = [
            sum((logit_gradient(PASS, p, n)[a] / n for n in range(1, num + 1)), Fraction(0))
            for a in range(3)
        ]
        yield corrected(mean_estimate(credit, p, num) == wanted, N=num, π=p)
