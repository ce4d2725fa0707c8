"""`audit`: what it finds in estimators whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from setrl import methods
from setrl.core.method import AnyMethod
from setrl.theory.audit import audit
from setrl.theory.audit.compare import factor, rest_of
from setrl.theory.audit.field import Field
from setrl.theory.audit.variance import least_variance, of_update
from setrl.theory.survival import water_filling


@pytest.mark.parametrize(
    ("method", "group_size", "claims", "objective"),
    [
        (methods.dr_grpo(), 4, "pass@1", "3·∇pass@1"),
        (methods.maxpo(2), 4, "pass@2", "2·∇pass@2"),
        (methods.poly_epo(2), 4, "polychromic@2", "∇polychromic@2"),
        (methods.concave_counts(0.25), 3, None, "∇concave_counts(α=0.25)@3"),
    ],
)
def test_unbiased_methods_are_named_with_their_factor(
    method: AnyMethod, group_size: int, claims: str | None, objective: str
) -> None:
    found = audit(method, group_size=group_size, claims=claims)
    assert str(found.objective) == objective
    assert found.pays["unbiased"]
    assert found.bias == 0


def test_verls_grpo_passk_is_twice_the_gradient_of_pass_at_n() -> None:
    def grpo_passk(rewards: np.ndarray) -> np.ndarray:
        first, second = np.sort(rewards)[::-1][:2]
        paid = np.where(np.arange(len(rewards)) == rewards.argmax(), first - second, 0.0)
        return paid / (rewards.std(ddof=1) + 1e-6)

    found = audit(grpo_passk, claims="pass@4")
    assert str(found.objective) == "2·∇pass@4"
    assert not found.pays["zero-sum"]
    assert found.pays["silent-if-all-right"]


@pytest.mark.parametrize(
    ("method", "claim"),
    [
        (methods.rloo(), "4*pass@1"),
        (methods.raft(), "4*pass@1"),
        (methods.w_reinforce(0.1), "4.4*pass@1"),
        (methods.pkpo(3), "4/3*pass@3"),
        (methods.order_grad([0, 1]), "2*max@2"),
    ],
)
def test_the_mean_updates_of_the_table_of_methods(method: AnyMethod, claim: str) -> None:
    assert audit(method, claims=claim).pays["unbiased"]


def test_sums_are_named() -> None:
    mixture = audit(methods.poly_mixture(0.5, set_size=2))
    assert str(mixture.objective) == "1/2·∇pass@1 + 1/2·∇polychromic@2"
    # Minus its mean, the credit of concave counts is still a gradient.
    centred = audit(methods.concave_counts(0, baseline="all_sets"))
    parts = {part.label for part in centred.objective.parts} if centred.objective else set()
    assert parts == {"concave_counts(α=0)@4", "distinct_correct@4"}


def test_with_three_rewards_grpo_has_no_objective() -> None:
    found = audit(methods.grpo(), rewards=(0, 0.5, 1))
    assert found.curl is not None
    assert found.objective is None
    assert not found.pays["has-objective"]
    # The same sum, by hand: beside the others of the curl, around its three actions.
    rewards = np.array([1.0, 0.5, 0.0])
    total = 0.0
    a, b, c = found.curl.corners
    for left, right in ((a, b), (b, c), (c, a)):
        group = rewards[[*found.curl.others, left, right]]
        paid = (group - group.mean()) / (group.std(ddof=1) + 1e-4)
        total += paid[-1] - paid[-2]
    assert found.curl.value == pytest.approx(total)


def test_no_unbiased_estimator_has_less_variance_than_the_least() -> None:
    found = audit(methods.maxpo(2), labels=None)
    least = found.variance.least_P
    assert least is not None
    assert least.sum() < min(values.sum() for values in found.variance.rivals.values())
    credit = least_variance(found.paid, found.gradient.policies_PA)
    assert credit is not None
    # It is unbiased, and a step in any direction b(others) makes it worse.
    other = Field(credit, found.gradient.policies_PA)
    np.testing.assert_allclose(other.values_PA, found.gradient.values_PA, atol=1e-9)
    for rest in range(4):
        moved = credit.credit_SA + 0.1 * (rest_of(credit.groups) == rest)
        worse = credit.paying(np.where(credit.groups.counts_SA > 0, moved, 0.0))
        assert of_update(worse, found.gradient.policies_PA).sum() > least.sum()


def test_the_variance_of_rloo_is_the_formula() -> None:
    """Relative to ‖E‖²: 2/(N(N − 1)) + (1 − 2p)²/(N·p(1 − p)), for right and wrong samples."""
    found = audit(methods.rloo(), group_size=5)
    success = found.gradient.policies_PA[:, 0]
    relative = found.variance.values_P / (found.gradient.values_PA**2).sum(axis=1)
    formula = 2 / 20 + (1 - 2 * success) ** 2 / (5 * success * (1 - success))
    np.testing.assert_allclose(relative, formula, rtol=1e-9)


def test_where_it_leads_agrees_with_water_filling() -> None:
    shares = audit(methods.poly_epo(2)).survivors.shares
    np.testing.assert_allclose(shares, water_filling([0.9, 0.8, 0.7]), atol=1e-3)
    assert audit(methods.grpo()).survivors.kept == 1


def test_too_many_groups_and_missing_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="take groups of at most 15 samples"):
        audit(methods.poly_epo(2), group_size=16)
    with pytest.raises(ValueError, match="ucpo reads proxy"):
        audit(methods.ucpo())
    with pytest.raises(ValueError, match="no sets of 5"):
        audit(methods.grpo(), claims="pass@5")


def test_only_a_factor_that_is_exact_is_a_fraction() -> None:
    found = audit(methods.dr_grpo()).objective
    assert found is not None
    assert str(replace(found, factors=(4 / 3,))) == "4/3·∇pass@1"
    assert str(replace(found, factors=(4 / 3,), off=0.1)) == "1.33·∇pass@1"
    assert factor(2531 / 9) == "281…"  # near a large number some fraction always is
    assert factor(-2e-5 / 3) == "-6.66e-6…"
    nearly = replace(found, factors=(2.000006,))
    assert (str(nearly), nearly.is_as_written) == ("2·∇pass@1", False)
    assert nearly.rounded == pytest.approx(3e-6, rel=1e-4)
