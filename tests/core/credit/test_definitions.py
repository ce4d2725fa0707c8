"""Every estimator and baseline against enumeration by the definition, in rational arithmetic."""

import itertools
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest

from claims import exact
from setrl import credit, objectives, set_advantages
from setrl.core import idea
from setrl.core.idea import Sets
from tests.core.catalogue import COMMON, Case, cases, drawn, samples_of

every_entry = pytest.mark.parametrize("entry", COMMON, ids=lambda entry: entry.name)
CONTRASTED = ("all_sets", "leave_one_out", "others_mean")  # these need K < N


def arguments(entry, listed: list[Case]) -> dict:
    """Cases as arguments of `set_advantages`."""
    samples = samples_of(listed)
    return {
        "objective": entry.objective,
        "rewards_BN": samples.rewards,
        "correct": samples.correct,
        "strategies": samples.strategies,
    }


@cache
def defined(entry, n) -> list[list[Sets]]:
    """The sets of K of each prompt of N samples, for K from 1 to N."""
    scores = [cache(entry.definition(case)) for case in cases(n)]
    return [[Sets(score, n, k) for score in scores] for k in range(1, n + 1)]


@every_entry
@pytest.mark.parametrize("estimator", [credit.Exact(), credit.Enumerated()], ids=["exact", "enum"])
def test_all_baselines_equal_enumeration(entry, estimator):
    for n in range(1, 9):
        for k, want_B in enumerate(defined(entry, n), start=1):
            found = {
                name: set_advantages(
                    set_size=k, baseline=name, estimator=estimator, **arguments(entry, cases(n))
                )
                for name in (*(CONTRASTED if k < n else ()), "smaller_sets", "none")
            }
            check_prompts(found, want_B, n, k)


def check_prompts(found, want_B, n, k):
    """Advantages and means of all prompts against rational u, v, w, U."""
    u_BN, whole_BN = [one.u for one in want_B], [[one.U] * n for one in want_B]
    expected = {"smaller_sets": minus(u_BN, [one.w for one in want_B]), "none": u_BN}
    assert_close(found["none"].with_BN, u_BN)
    assert_close(found["none"].mean_B, [one.U for one in want_B])
    if k < n:
        v_BN = [one.v for one in want_B]
        others_BN = [[v * Fraction(n, n - 1) for v in v_N] for v_N in v_BN]
        expected |= {"all_sets": minus(u_BN, whole_BN), "leave_one_out": minus(u_BN, v_BN)}
        expected |= {"others_mean": minus(u_BN, others_BN)}
        assert_close(found["none"].without_BN, v_BN)
    for name, values_BN in expected.items():
        assert_close(found[name].values_BN, values_BN)


def minus(left_BN, right_BN):
    """The differences in fractions, which do not cancel."""
    rows = zip(left_BN, right_BN, strict=True)
    return [[a - b for a, b in zip(*row, strict=True)] for row in rows]


def assert_close(found, want):
    np.testing.assert_allclose(found, np.array(want, dtype=float), atol=1e-12, rtol=0)


@every_entry
@pytest.mark.parametrize("baseline", ["all_sets", "leave_one_out", "smaller_sets", "none"])
def test_credit_is_the_idea(entry, baseline):
    for case in cases(5):
        found = set_advantages(set_size=2, baseline=baseline, **arguments(entry, [case]))
        want = idea.advantages(entry.definition(case), 5, 2, baseline)
        assert_close(found.values_BN, [want])


@every_entry
def test_score_variance_equals_enumeration(entry):
    for n, k in [(5, 2), (6, 4), (4, 4)]:
        listed = cases(n)
        for estimator in (credit.Enumerated(), credit.Exact()):
            variance_B = estimator(entry.objective, samples_of(listed), k, None).means.variance_B
            if variance_B is None:
                continue
            want = [Sets(entry.definition(case), n, k).variance for case in listed]
            assert_close(variance_B, want)


@every_entry
def test_sum_over_sets_is_the_note_s_equation_9(entry):
    n, k = 6, 3
    for case in cases(n):
        adv = set_advantages(set_size=k, reduction="sum", **arguments(entry, [case]))
        score = entry.definition(case)
        sets = list(itertools.combinations(range(n), k))
        whole = exact.average(map(score, sets))
        want = [sum(score(s) - whole for s in sets if i in s) for i in range(n)]
        assert_close(adv.values_BN[0], want)


POLICIES = [
    [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)],
    [Fraction(1, 10), Fraction(1, 10), Fraction(4, 5)],
]


@every_entry
@pytest.mark.parametrize(
    ("baseline", "scale"),
    [
        ("all_sets", lambda n, k: Fraction(n - k, k)),
        ("leave_one_out", lambda n, k: Fraction(n, k)),
        ("others_mean", lambda n, k: Fraction(n, k)),
        ("smaller_sets", lambda n, k: Fraction(n, k)),
        ("none", lambda n, k: Fraction(n, k)),
        (credit.Mixture(0.25), lambda n, k: Fraction(n, k)),
    ],
)
@pytest.mark.parametrize("policy", POLICIES, ids=["mild", "peaked"])
def test_expected_update_is_the_exact_gradient(entry, baseline, scale, policy):
    """E Σᵢ ∇log π(yᵢ) Aᵢ = scale · ∇J, by enumerating every draw of N = 4 from 3 actions."""
    n, k = 4, 2
    draws = list(itertools.product(range(len(policy)), repeat=n))
    advantages = set_advantages(
        set_size=k, baseline=baseline, **arguments(entry, [drawn(draw) for draw in draws])
    ).values_BN
    expected = np.zeros(len(policy))
    for draw, values in zip(draws, advantages, strict=True):
        chance = float(exact.probability(draw, policy))
        for action, value in zip(draw, values, strict=True):
            one_hot = np.eye(len(policy))[action] - np.array(policy, dtype=float)
            expected += chance * value * one_hot

    def of_actions(draw):
        return entry.definition(drawn(draw))(tuple(range(len(draw))))

    want = [scale(n, k) * g for g in exact.logit_gradient(of_actions, policy, k)]
    np.testing.assert_allclose(expected, np.array(want, dtype=float), atol=1e-12)


def test_sets_are_made_by_index_not_by_value():
    """Two identical samples are two members: with all samples equal, C(4, 2) sets, none special."""
    adv = set_advantages(
        np.array([[1.0, 1, 1, 1]]),
        objective=objectives.polychromic(),
        set_size=2,
        strategies=np.zeros((1, 4)),
        reduction="sum",
        baseline="none",
    )
    np.testing.assert_allclose(adv.values_BN, comb(3, 1) * 0.5)
