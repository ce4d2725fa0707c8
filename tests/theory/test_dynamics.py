"""Flows against solved equations and invariants; runs against the mean that they scatter around."""

import numpy as np
import pytest

from setrl import credit, methods, objectives
from setrl.theory import ActionTable, TabularMethod, TabularObjective, entropy
from setrl.theory.dynamics import Success, expected_steps, gradient_flow, simulate

TABLE = ActionTable([1, 1, 1, 1, 1, 0], strategies=range(6))
POLICY = np.array([0.30, 0.20, 0.12, 0.08, 0.05, 0.25])
REWARD_ONLY = [methods.dr_grpo(), methods.grpo(), methods.rloo(), methods.maxpo(4), methods.pkpo(3)]


def by_name(method):
    return method.name


def test_flow_of_the_mean_reward_is_the_solved_equation():
    """Two actions: p' = 2p²(1−p)², so that 2t = [2 log(p/(1−p)) + 1/(1−p) − 1/p] from p₀ to p."""
    tabular = TabularObjective(objectives.mean(), ActionTable([1, 0]), set_size=1)
    times = np.array([0.0, 0.5, 3.0, 100.0])
    p = gradient_flow(tabular.gradient, [0.1, 0.9], times).policies_TA[:, 0]
    primitive = 2 * np.log(p / (1 - p)) + 1 / (1 - p) - 1 / p
    np.testing.assert_allclose((primitive - primitive[0]) / 2, times, atol=1e-6)


@pytest.mark.parametrize("set_size", [2, 4])
def test_a_flow_climbs_its_objective_at_the_rate_of_its_gradient(set_size):
    """dJ/dt = |∇J|²."""
    tabular = TabularObjective(objectives.polychromic(), TABLE, set_size)
    times = 5.0 + np.array([-1e-3, 0.0, 1e-3])
    path = gradient_flow(tabular.gradient, POLICY, times, tolerance=1e-12)
    before, _, after = tabular.value(path.policies_TA)
    rate = (tabular.gradient(path.policies_TA[1]) ** 2).sum()
    np.testing.assert_allclose((after - before) / 2e-3, rate, rtol=1e-6)


def odds(policy_A):
    """exp(z) with Σ z = 0: every velocity here sums to 0, so that Σ z does not move."""
    return np.exp(np.log(policy_A) - np.log(policy_A).mean(axis=-1, keepdims=True))


@pytest.mark.parametrize("method", REWARD_ONLY, ids=by_name)
def test_methods_that_see_rewards_alone_follow_one_curve(method):
    """With rewards 0 and 1, v = c·π(r − p), c > 0: they differ only in speed."""
    for policy in np.random.default_rng(0).dirichlet(np.ones(6), size=5):
        wanted = policy * (TABLE.samples.rewards[0] - policy[:5].sum())
        factor = TabularMethod(method, TABLE, 6).update(policy) / wanted
        np.testing.assert_allclose(factor, factor[0], rtol=1e-9)
        assert factor[0] > 0


@pytest.mark.parametrize("method", REWARD_ONLY[1:4], ids=by_name)
def test_the_likeliest_correct_action_takes_all_in_the_end(method):
    """1/w_a − 1/w_b is constant for correct a, b, w = exp(z): only the largest w can diverge."""
    times = [0.0, 10.0, 1e3, 1e5]
    path = gradient_flow(TabularMethod(method, TABLE, 6).update, POLICY, times).policies_TA
    inverse = 1 / odds(path)[:, :5]
    np.testing.assert_allclose(np.diff(inverse - inverse[:, :1], axis=0), 0, atol=1e-5)
    ratio = path[:, 1] / path[:, 0]
    assert (np.diff(ratio) < 0).all()


def test_grpo_collapses_and_poly_epo_does_not():
    """Five equally good strategies: exact expected updates of methods that see eight samples."""
    paths = {
        method.name: expected_steps(TabularMethod(method, TABLE, 8).update, POLICY, 1.0, 1000)
        for method in (methods.grpo(), methods.poly_epo(set_size=4))
    }
    grpo, poly = (paths[name].policies_TA[-1] for name in ("grpo", "poly_epo"))
    assert grpo[:5].sum() > 0.999
    assert grpo[0] > 0.85
    assert entropy(grpo) < 0.6
    assert poly[:5].sum() > 0.98
    np.testing.assert_allclose(poly[:5], poly[:5].mean(), atol=1e-3)


def test_equally_likely_strategies_stay_so_on_average_and_not_in_runs():
    """What collapses here is noise: the exact mean update cannot break the tie."""
    tied = np.array([0.15, 0.15, 0.15, 0.15, 0.15, 0.25])
    mean = expected_steps(TabularMethod(methods.grpo(), TABLE, 8).update, tied, 1.0, 200)
    np.testing.assert_allclose(mean.policies_TA[-1, :5], mean.policies_TA[-1, 0], rtol=1e-9)
    runs = simulate(methods.grpo(), TABLE, tied, 8, 200, 1.0, np.random.default_rng(0), runs=50)
    top = runs.policies_TA[-1, :, :5].max(axis=1)
    assert top.mean() > 0.25
    assert len(set(runs.policies_TA[-1].argmax(axis=1).tolist())) == 5


@pytest.mark.parametrize(
    "method",
    [methods.grpo(), methods.poly_epo(2), methods.grpo_div(1.0), methods.pkpo(2)],
    ids=by_name,
)
def test_runs_scatter_around_the_expected_update(method):
    runs = simulate(method, TABLE, POLICY, 5, 1, 0.01, np.random.default_rng(1), runs=20_000)
    moved_RA = np.log(runs.policies_TA[1] / runs.policies_TA[0]) / 0.01
    update_RA = moved_RA - moved_RA.mean(axis=1, keepdims=True)  # every update sums to 0
    error_A = update_RA.mean(axis=0) - TabularMethod(method, TABLE, 5).update(POLICY)
    assert np.abs(error_A / (update_RA.std(axis=0) / np.sqrt(20_000))).max() < 4


def test_runs_are_the_same_for_the_same_seed():
    first, second = (
        simulate(
            methods.maxpo(2, estimator=credit.Sampled(4)),
            TABLE, POLICY, 6, 5, 1.0, np.random.default_rng(3), runs=3,
        ).policies_TA
        for _ in range(2)
    )  # fmt: skip
    np.testing.assert_array_equal(first, second)
    assert first.shape == (6, 3, 6)


def test_actions_outside_the_support_never_return():
    policy = np.array([0.5, 0.0, 0.2, 0.0, 0.0, 0.3])
    poly = TabularObjective(objectives.polychromic(), TABLE, 3)
    for path in (
        gradient_flow(poly.gradient, policy, [0.0, 10.0]),
        expected_steps(poly.gradient, policy, 1.0, 10),
        simulate(methods.grpo(), TABLE, policy, 4, 10, 1.0, np.random.default_rng(0), runs=2),
    ):
        last = path.policies_TA[-1]
        assert (last[..., [1, 3, 4]] == 0).all()
        np.testing.assert_allclose(last.sum(axis=-1), 1)


def test_strategies_that_work_at_times_follow_the_gradient_in_their_own_logits():
    success, set_size = Success([0.9, 0.5, 0.2]), 3
    tabular = TabularObjective(objectives.polychromic(), success.table, set_size)
    policy, step = np.array([0.2, 0.3, 0.5]), 1e-5

    def value(logits):
        return tabular.value(success.outcomes(np.exp(logits) / np.exp(logits).sum()))

    slopes = [
        (value(np.log(policy) + d) - value(np.log(policy) - d)) / (2 * step)
        for d in step * np.eye(3)
    ]
    velocity = success.velocity(tabular.advantages, scale=set_size)
    np.testing.assert_allclose(velocity(policy), slopes, atol=1e-9)


def test_runs_of_strategies_that_work_at_times_scatter_around_their_expected_update():
    success, policy = Success([0.9, 0.5, 0.2]), np.array([0.2, 0.3, 0.5])
    runs = simulate(
        methods.grpo(), success.table, policy, 4, 1, 0.01, np.random.default_rng(2), 20_000, success
    )
    moved_RA = np.log(runs.policies_TA[1] / runs.policies_TA[0]) / 0.01
    update_RA = moved_RA - moved_RA.mean(axis=1, keepdims=True)
    method = TabularMethod(methods.grpo(), success.table, 4)
    error_A = update_RA.mean(axis=0) - success.velocity(method.advantages)(policy)
    assert np.abs(error_A / (update_RA.std(axis=0) / np.sqrt(20_000))).max() < 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient_flow(lambda p: p, [1.0], [2.0, 1.0]), r"ascending and ≥ 0, got \[2.0"),
        (lambda: gradient_flow(lambda p: p, [1.0], [np.nan]), r"ascending and ≥ 0, got \[nan"),
        (lambda: gradient_flow(lambda p: p, [1.0], [1.0], tolerance=0), "positive, got 0"),
        (
            lambda: gradient_flow(lambda p: p * np.nan, [1.0], [1.0]),
            "velocity must be finite, got .*nan",
        ),
        (lambda: expected_steps(lambda p: p, [1.0], 0.0, 1), "learning_rate must be positive"),
        (lambda: expected_steps(lambda p: p, [1.0], 1.0, 0), "steps must be at least 1, got 0"),
        (
            lambda: simulate(
                methods.grpo(), TABLE, POLICY, 4, 1, 1.0, np.random.default_rng(0), runs=0
            ),
            "must be ≥ 1, got 0 and 4",
        ),
        (lambda: Success([0.5, 1.2]), r"in \[0, 1\], got \[0.5, 1.2\]"),
        (lambda: expected_steps(lambda p: p[:1], POLICY, 1.0, 1), r"shift must have \d numbers"),
        (
            lambda: simulate(
                methods.grpo(),
                TABLE,
                [0.5, 0.5],
                4,
                1,
                1.0,
                np.random.default_rng(0),
                runs=1,
                success=Success([0.5, 0.4]),
            ),
            "pass success.table: it has 4 outcomes",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
