"""Every estimator and baseline against enumeration by the definition, in rational arithmetic."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, objectives, set_advantages

# Objective, its rational definition, and whether it reads clusters. A new one joins by one line.
OBJECTIVES = [
    (objectives.mean(), lambda r, c: scores.mean(r)),
    (objectives.max(), lambda r, c: scores.maximum(r)),
    (objectives.any_correct(), lambda r, c: scores.any_correct(r)),
    (objectives.distinct(), lambda r, c: scores.distinct(c)),
    (objectives.polychromic(), lambda r, c: scores.polychromic(r, c)),
]
NAMES = [type(objective).__name__ for objective, _ in OBJECTIVES]
SIZES = [(n, k) for n in range(1, 9) for k in range(1, n + 1)]


def cases(n: int) -> list[tuple[list[float], list[int]]]:
    """Rewards and clusters with ties, duplicates, degenerates and saturated groups."""
    rng = np.random.default_rng(n)
    kinds = [
        ([1.0] * n, [0] * n),
        ([1.0] * n, list(range(n))),
        ([0.0] * n, [-1] * n),
        ([1.0] * (n - 1) + [0.0], [0] * (n - 1) + [1]),
        ([0.25] * n, [2] * (n // 2) + [-1] * (n - n // 2)),
    ]
    for _ in range(3):
        kinds.append((list(rng.integers(0, 2, n) * 1.0), list(rng.integers(-1, 3, n))))
        kinds.append((list(rng.integers(-2, 4, n) / 4), list(rng.integers(-1, max(n, 2), n))))
    return kinds


@pytest.mark.parametrize(("objective", "definition"), OBJECTIVES, ids=NAMES)
@pytest.mark.parametrize("estimator", [credit.Exact(), credit.Enumerated()], ids=["exact", "enum"])
def test_all_baselines_equal_enumeration(objective, definition, estimator):
    for n, k in SIZES:
        rewards, clusters = map(np.array, zip(*cases(n), strict=True))
        found = {
            name: set_advantages(
                rewards,
                objective=objective,
                set_size=k,
                clusters=clusters,
                baseline=name,
                estimator=estimator,
            )
            for name in ("all_sets", "leave_one_out", "smaller_sets", "none")
        }
        for b, case in enumerate(cases(n)):
            check_prompt(found, b, exact.SetMeans(definition(*case), n, k), n, k)


def check_prompt(found, b, want, n, k):
    """One prompt's advantages and means against rational u, v, w, U."""
    u, whole = want.u, [want.U] * n
    expected = {"smaller_sets": minus(u, want.w), "none": u}
    assert_close(found["none"].with_BN[b], u)
    assert_close(found["none"].mean_B[b], whole[0])
    if k < n:
        expected |= {"all_sets": minus(u, whole), "leave_one_out": minus(u, want.v)}
        assert_close(found["none"].without_BN[b], want.v)
    else:
        assert found["all_sets"].skipped_B[b]
        expected |= {"all_sets": [0] * n, "leave_one_out": [0] * n}
    for name, values in expected.items():
        assert_close(found[name].values_BN[b], values)


def minus(left, right):
    return [a - b for a, b in zip(left, right, strict=True)]


def assert_close(found, want):
    np.testing.assert_allclose(found, np.array(want, dtype=float), atol=1e-12, rtol=0)


@pytest.mark.parametrize(("objective", "definition"), OBJECTIVES, ids=NAMES)
def test_score_variance_equals_enumeration(objective, definition):
    for n, k in [(5, 2), (6, 4), (4, 4)]:
        rewards, clusters = map(np.array, zip(*cases(n), strict=True))
        for estimator in (credit.Enumerated(), credit.Exact()):
            samples = objectives_samples(rewards, clusters)
            variance_B = estimator(objective, samples, k, None).means.variance_B
            if variance_B is None:
                continue
            want = [exact.SetMeans(definition(*case), n, k).variance for case in cases(n)]
            assert_close(variance_B, want)


def objectives_samples(rewards, clusters):
    from setrl import Samples

    return Samples(rewards, clusters=clusters)


@pytest.mark.parametrize(("objective", "definition"), OBJECTIVES, ids=NAMES)
def test_sum_over_sets_is_the_note_s_equation_9(objective, definition):
    n, k = 6, 3
    for rewards, clusters in cases(n):
        adv = set_advantages(
            np.array([rewards]),
            objective=objective,
            set_size=k,
            clusters=np.array([clusters]),
            reduction="sum",
        )
        score = definition(rewards, clusters)
        sets = list(itertools.combinations(range(n), k))
        whole = exact.average(map(score, sets))
        want = [sum(score(s) - whole for s in sets if i in s) for i in range(n)]
        assert_close(adv.values_BN[0], want)


POLICIES = [
    [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)],
    [Fraction(1, 10), Fraction(1, 10), Fraction(4, 5)],
]
ACTION_REWARD, ACTION_CLUSTER = [1.0, 0.5, 0.0], [0, 0, 1]


@pytest.mark.parametrize(("objective", "definition"), OBJECTIVES, ids=NAMES)
@pytest.mark.parametrize(
    ("baseline", "scale"),
    [
        ("all_sets", lambda n, k: Fraction(n - k, k)),
        ("leave_one_out", lambda n, k: Fraction(n, k)),
        ("smaller_sets", lambda n, k: Fraction(n, k)),
        ("none", lambda n, k: Fraction(n, k)),
        (credit.Mixture(0.25), lambda n, k: Fraction(n, k)),
    ],
)
@pytest.mark.parametrize("policy", POLICIES, ids=["mild", "peaked"])
def test_expected_update_is_the_exact_gradient(objective, definition, baseline, scale, policy):
    """E Σᵢ ∇log π(yᵢ) Aᵢ = scale · ∇J, by enumerating every draw of N = 4 from 3 actions."""
    n, k = 4, 2
    draws = list(itertools.product(range(len(policy)), repeat=n))
    advantages = set_advantages(
        np.array(ACTION_REWARD)[np.array(draws)],
        objective=objective,
        set_size=k,
        clusters=np.array(ACTION_CLUSTER)[np.array(draws)],
        baseline=baseline,
    ).values_BN
    expected = np.zeros(len(policy))
    for draw, values in zip(draws, advantages, strict=True):
        chance = float(exact.probability(draw, policy))
        for action, value in zip(draw, values, strict=True):
            one_hot = np.eye(len(policy))[action] - np.array(policy, dtype=float)
            expected += chance * value * one_hot

    def of_actions(draw):
        rewards, clusters = [ACTION_REWARD[a] for a in draw], [ACTION_CLUSTER[a] for a in draw]
        return definition(rewards, clusters)(tuple(range(len(draw))))

    want = [scale(n, k) * g for g in exact.logit_gradient(of_actions, policy, k)]
    np.testing.assert_allclose(expected, np.array(want, dtype=float), atol=1e-12)


def test_sets_are_made_by_index_not_by_value():
    """Two identical samples are two members: with all samples equal, C(4, 2) sets, none special."""
    adv = set_advantages(
        np.array([[1.0, 1, 1, 1]]),
        objective=objectives.polychromic(),
        set_size=2,
        clusters=np.zeros((1, 4)),
        reduction="sum",
        baseline="none",
    )
    np.testing.assert_allclose(adv.values_BN, comb(3, 1) * 0.5)
