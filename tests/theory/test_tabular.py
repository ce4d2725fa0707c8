"""Values, advantages and gradients on tables, against tuples counted in rational arithmetic."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, methods, objectives
from setrl.theory import ActionTable, TabularMethod, TabularObjective

POLICY = [Fraction(3, 10), Fraction(1, 2), Fraction(3, 20), Fraction(1, 20)]
REWARDS = [1, 0, 1, 0]
LABELS = [0, 1, 1, -1]
PROBABILITIES = [float(p) for p in POLICY]
TABLE = ActionTable(REWARDS, strategies=LABELS)
CASES = {
    "mean": (objectives.mean(), scores.mean(REWARDS)),
    "max": (objectives.max(), scores.maximum(REWARDS)),
    "distinct": (objectives.distinct(), scores.distinct(LABELS)),
    "polychromic": (objectives.polychromic(), scores.polychromic(REWARDS, LABELS)),
}


@pytest.mark.parametrize("set_size", [1, 2, 3, 5])
@pytest.mark.parametrize("case", CASES)
def test_value_advantage_and_gradient_are_those_of_tuples(case, set_size):
    objective, score = CASES[case]
    tabular = TabularObjective(objective, TABLE, set_size)
    value = exact.expected(score, POLICY, set_size)
    action_values = [exact.expected(score, POLICY, set_size - 1, (a,)) for a in range(4)]
    close = {"rtol": 1e-13, "atol": 1e-15}
    np.testing.assert_allclose(tabular.value(PROBABILITIES), float(value), **close)
    np.testing.assert_allclose(
        tabular.action_values(PROBABILITIES), [float(q) for q in action_values], **close
    )
    np.testing.assert_allclose(
        tabular.advantages(PROBABILITIES), [float(q - value) for q in action_values], **close
    )
    np.testing.assert_allclose(
        tabular.gradient(PROBABILITIES),
        [float(g) for g in exact.logit_gradient(score, POLICY, set_size)],
        **close,
    )


def test_actions_of_probability_zero_have_an_advantage_and_no_gradient():
    tabular = TabularObjective(objectives.max(), ActionTable([0, 1]), set_size=3)
    np.testing.assert_allclose(tabular.advantages([1, 0]), [0, 1])
    np.testing.assert_array_equal(tabular.gradient([1, 0]), [0, 0])


def test_advantages_keep_their_digits_on_a_saturated_policy():
    """pass@4 at p = 1 − 10⁻⁹: A(wrong) = −p(1−p)³, which 1 − (1−p)⁴ − … loses in float64."""
    tabular = TabularObjective(objectives.any_correct(), ActionTable([1, 0]), set_size=4)
    wrong = 1e-9
    np.testing.assert_allclose(
        tabular.advantages([1 - wrong, wrong]), [wrong**4, -(1 - wrong) * wrong**3], rtol=1e-9
    )


def test_policies_are_taken_one_by_one_or_together():
    tabular = TabularObjective(objectives.polychromic(), TABLE, set_size=3)
    policies = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 5))
    for function in (tabular.value, tabular.action_values, tabular.advantages, tabular.gradient):
        together = function(policies)
        for at in np.ndindex(2, 5):
            np.testing.assert_allclose(together[at], function(policies[at]), atol=1e-15)


def expected_by_groups(method, num_samples):
    """E[(1/N) Σᵢ Aᵢ ∇ log π(yᵢ)] and E[A₁ | y₁], over all A^N ordered groups."""
    draws = np.array(list(product(range(4), repeat=num_samples)))
    chance = np.array(PROBABILITIES)[draws].prod(axis=1)
    fields = {"strategies": np.array(LABELS)[draws]}
    values = method.advantages(np.array(REWARDS, dtype=float)[draws], **fields).values_BN
    score = (draws[..., None] == np.arange(4)) - np.array(PROBABILITIES)
    update = np.einsum("s,si,sia->a", chance, values, score) / num_samples
    first = [(chance * values[:, 0])[draws[:, 0] == a].sum() / PROBABILITIES[a] for a in range(4)]
    return update, first


@pytest.mark.parametrize(
    "method",
    [
        methods.grpo(),
        methods.rloo(),
        methods.grpo_div(0.5),
        methods.poly_epo(set_size=2),
        methods.maxpo(set_size=3),
        methods.pkpo(set_size=2),
    ],
    ids=lambda method: method.name,
)
def test_expected_update_of_a_method_is_that_of_ordered_groups(method):
    tabular = TabularMethod(method, TABLE, num_samples=5)
    update, first = expected_by_groups(method, 5)
    np.testing.assert_allclose(tabular.update(PROBABILITIES), update, atol=1e-14)
    np.testing.assert_allclose(tabular.advantages(PROBABILITIES), first, atol=1e-13)


@pytest.mark.parametrize("make", [methods.maxpo, methods.pkpo])
def test_unbiased_methods_step_along_the_gradient(make):
    """u − v and u − w: the mean update is ∇J / K, exactly."""
    tabular = TabularMethod(make(set_size=3), TABLE, num_samples=6)
    exact = TabularObjective(objectives.max(), TABLE, set_size=3).gradient(PROBABILITIES)
    np.testing.assert_allclose(tabular.update(PROBABILITIES), exact / 3, atol=1e-15)


def test_six_actions_in_sets_of_six_are_462_multisets():
    table = ActionTable(np.arange(6.0), strategies=range(6))
    tabular = TabularObjective(objectives.polychromic(), table, set_size=6)
    assert len(tabular.scores_S) == 462
    policy = np.full(6, 1 / 6)
    np.testing.assert_allclose(tabular.sets.chances(policy).sum(), 1)
    np.testing.assert_allclose(tabular.sets.chances_given(policy).sum(axis=0), 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ActionTable([[1, 0]]), r"rewards must have shape \(A,\)"),
        (
            lambda: ActionTable([1, 0], strategies=[0]),
            r"strategies must have shape \(2,\), got \(1,\)",
        ),
        (lambda: ActionTable([1, np.nan]), "action 1 has a NaN"),
        (lambda: ActionTable([1, 0], strategies=[0, np.nan]), "action 1 has a NaN"),
        (lambda: ActionTable([1, 0], strategies=[0, -3]), "got -3"),
        (
            lambda: TabularObjective(objectives.distinct(), ActionTable([1, 0]), 2),
            "reads strategies: pass ActionTable",
        ),
        (
            lambda: TabularObjective(objectives.max(), ActionTable([1, 0]), 0),
            "set_size must be an integer of at least 1, got 0",
        ),
        (
            lambda: TabularObjective(objectives.max(), ActionTable(range(40)), 12),
            "158,753,389,900 multisets",
        ),
        (
            lambda: TabularObjective(objectives.max(), ActionTable([1, 0]), 2).value([0.5, 0.6]),
            "policy must sum to 1, got 1.1",
        ),
        (
            lambda: TabularObjective(objectives.max(), ActionTable([1, 0]), 2).value([1.5, -0.5]),
            r"probabilities must be in \[0, 1\], got -0.5",
        ),
        (
            lambda: TabularObjective(objectives.max(), ActionTable([1, 0]), 2).value([1]),
            "must have 2 probabilities",
        ),
        (
            lambda: TabularMethod(methods.maxpo(4), ActionTable([1, 0]), 4).advantages([0.5, 0.5]),
            r"set_size must be an integer in \[1, 3\] with num_samples=4, got 4",
        ),
        (
            lambda: TabularMethod(
                methods.maxpo(2, estimator=credit.Sampled(3)), ActionTable([1, 0]), 5
            ).advantages([0.5, 0.5]),
            "maxpo samples its sets",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
