"""Rollout trees: values against enumerated trees, and learning."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import note_sequential, scores
from claims.exact import policy
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective, shift_logits
from setrl.theory.trees import (
    SetMDP,
    improve,
    planned_values,
    policy_iteration,
    ppo_step,
    q_learning,
)

SIZES = (1, 2, 3)


def random_mdp(seed: int, size: int, states: int = 3, actions: int = 2, reach: float = 0.6):
    """A dense random process; every other state is worth its different actions, not its best."""
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.ones(states), size=(states, actions))
    worth = [
        TabularObjective(
            objectives.max() if x % 2 else objectives.polychromic(),
            ActionTable(rng.random(actions), strategies=list(range(actions))),
            size,
        )
        for x in range(states)
    ]
    return SetMDP(moves, worth, reach / size), rng.dirichlet(np.ones(actions), size=states)


def chances(mdp: SetMDP, pi: np.ndarray) -> np.ndarray:
    """P(set | state)."""
    return mdp.scores[0].sets.chances(pi)


def tree_value(mdp: SetMDP, pi: np.ndarray, state: int, depth: int) -> float:
    """E of the discounted return of the tree, by summing over ordered sets and successors."""
    if depth == 0:
        return 0.0
    below = [tree_value(mdp, pi, x, depth - 1) for x in range(mdp.num_states)]
    total = 0.0
    for actions in product(range(pi.shape[1]), repeat=mdp.set_size):
        chance = np.prod([pi[state, a] for a in actions])
        index = next(
            s
            for s, row in enumerate(mdp.scores[0].sets.sets_SK)
            if tuple(row) == tuple(sorted(actions))
        )
        gain = mdp.scores_XS[state, index]
        for a in actions:
            gain += mdp.gamma * mdp.moves_XAX[state, a] @ below
        total += chance * gain
    return total


@pytest.mark.parametrize("size", SIZES)
def test_values_are_the_limit_of_enumerated_trees(size):
    mdp, pi = random_mdp(0, size, states=2, reach=0.2)
    depth = 7
    for state in range(2):
        left = 0.2**depth / (1 - 0.2)
        found = mdp.values(pi)[state] - tree_value(mdp, pi, state, depth)
        assert 0 <= found <= left


def test_values_are_those_of_the_ledgers_fractions():
    moves = ((0, 1), (1, 0))
    process = note_sequential.Process(
        moves,
        (scores.maximum((1, 0)), scores.differ()),
        (policy(1, 2), policy(3, 2)),
        2,
        Fraction(1, 5),
    )
    tables = [
        TabularObjective(objectives.max(), ActionTable([1, 0]), 2),
        TabularObjective(objectives.differ(), ActionTable([0, 0], strategies=[0, 1]), 2),
    ]
    mdp = SetMDP(np.eye(2)[np.array(moves)], tables, 0.2)
    pi = [[1 / 3, 2 / 3], [3 / 5, 2 / 5]]
    np.testing.assert_allclose(mdp.values(pi), [float(v) for v in process.values], atol=1e-15)


@pytest.mark.parametrize("size", SIZES)
def test_the_gap_of_two_policies_is_lemma_2_2_with_the_discounted_occupancy(size):
    mdp, old = random_mdp(3, size)
    new = np.random.default_rng(4).dirichlet(np.ones(2), size=3)
    for start in np.eye(3):
        difference = start @ (mdp.values(new) - mdp.values(old))
        assert mdp.gap(new, old, start) == pytest.approx(difference, abs=1e-13)
        visits, chance = np.zeros(3), start
        for time in range(80):
            visits += (1 - mdp.reach) * mdp.reach**time * chance
            chance = chance @ mdp.steps(new)
        np.testing.assert_allclose(mdp.occupancy(new, start), visits, atol=1e-13)


def test_the_gap_is_that_of_the_ledgers_fractions():
    new, old = list(note_sequential._pairs())[5]
    tables = [
        TabularObjective(objectives.max(), ActionTable([1, 0]), 2),
        TabularObjective(objectives.differ(), ActionTable([0, 0], strategies=[0, 1]), 2),
    ]
    mdp = SetMDP(np.eye(2)[np.array(new.moves)], tables, float(new.gamma))
    found = mdp.gap(*(np.array(one.policies, dtype=float) for one in (new, old)), [1, 0])
    assert found == pytest.approx(float(new.values[0] - old.values[0]), abs=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_the_gradient_is_that_of_finite_differences(size):
    mdp, pi = random_mdp(5, size, actions=3)
    start, slopes = np.array([0.2, 0.3, 0.5]), np.zeros((3, 3))
    for place in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[place] = 1e-5
        ahead, behind = (mdp.values(shift_logits(pi, sign * step)) for sign in (1, -1))
        slopes[place] = start @ (ahead - behind) / 2e-5
    np.testing.assert_allclose(mdp.gradient(pi, start), slopes, atol=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_a_first_epoch_of_ppo_is_a_step_along_the_gradient(size):
    mdp, pi = random_mdp(6, size)
    start = np.array([1.0, 0.0, 0.0])
    found = ppo_step(mdp, pi, start, learning_rate=0.3, epochs=1, clip=1e-6)
    wanted = shift_logits(pi, 0.3 * mdp.gradient(pi, start))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def surrogate(mdp: SetMDP, new: np.ndarray, old: np.ndarray, start: np.ndarray, clip: float):
    """PPO's clipped objective by its definition, with A from the sets that hold an action."""
    chance_XS, counts_SA = chances(mdp, old), mdp.counts_SA
    gain_XA = (chance_XS * mdp.set_advantages(old)) @ counts_SA / (mdp.set_size * old)
    ratio_XA = new / old
    kept_XA = np.minimum(ratio_XA * gain_XA, np.clip(ratio_XA, 1 - clip, 1 + clip) * gain_XA)
    visits_X = mdp.occupancy(old, start) * mdp.set_size / (1 - mdp.reach)
    return float(visits_X @ (old * kept_XA).sum(axis=1))


def test_ppo_climbs_its_clipped_objective():
    mdp, old = random_mdp(7, 2, actions=3)
    start, clip, rate = np.array([0.5, 0.25, 0.25]), 0.1, 0.4
    now = old
    for epochs in range(1, 9):
        slopes = np.zeros((3, 3))
        for place in np.ndindex(3, 3):
            step = np.zeros((3, 3))
            step[place] = 1e-6
            ahead, behind = (
                surrogate(mdp, shift_logits(now, sign * step), old, start, clip) for sign in (1, -1)
            )
            slopes[place] = (ahead - behind) / 2e-6
        now = shift_logits(now, rate * slopes)
        found = ppo_step(mdp, old, start, learning_rate=rate, epochs=epochs, clip=clip)
        np.testing.assert_allclose(found, now, atol=1e-8)
    gain_XA = mdp.advantages(old)
    assert ((now / old > 1 + clip) & (gain_XA > 0)).any()  # the clip has acted


@pytest.mark.parametrize("size", SIZES)
def test_ppo_ends_at_the_optimum_of_policy_iteration(size):
    mdp, pi = random_mdp(10, size)
    best = policy_iteration(mdp, pi, iterations=300).values_TX[-1]
    policy, start = pi, np.full(3, 1 / 3)
    for _ in range(400):
        policy = ppo_step(mdp, policy, start, learning_rate=2.0)
    np.testing.assert_allclose(mdp.values(policy), best, atol=2e-3)
    assert np.abs(mdp.gradient(policy, start)).max() < 2e-3 < np.abs(mdp.gradient(pi, start)).max()


def test_a_sum_at_the_leaves_is_worth_a_multiple_of_the_ordinary_value():
    """f = Σ r at the last states and 0 before: V♯ of the root is (γK)²·K·E r, K³ leaves."""
    moves = np.eye(6)[[[1, 2], [3, 4], [4, 3], [5, 5], [5, 5], [5, 5]]]
    rng = np.random.default_rng(17)
    pi, paid = rng.dirichlet(np.ones(2), size=6), rng.random((6, 2))
    paid[[0, 1, 2, 5]] = 0.0
    for size in SIZES:
        tables = [ActionTable(row * size) for row in paid]  # the sum is K times the mean
        worth = [TabularObjective(objectives.mean(), table, size) for table in tables]
        mdp = SetMDP(moves, worth, 0.2)
        line = pi[0] @ (np.einsum("xa,xay->xy", pi, moves)[[1, 2]] @ (pi * paid).sum(axis=1))
        assert mdp.values(pi)[0] == pytest.approx((0.2 * size) ** 2 * size * line, abs=1e-14)


def test_one_action_at_a_time_is_an_ordinary_process():
    mdp, pi = random_mdp(1, 1)
    rewards = np.array([score.scores_S for score in mdp.scores])
    matrix = np.eye(3) - mdp.gamma * np.einsum("xa,xay->xy", pi, mdp.moves_XAX)
    values = np.linalg.solve(matrix, (pi * rewards).sum(axis=1))
    np.testing.assert_allclose(mdp.values(pi), values)
    action_values = rewards + mdp.gamma * mdp.moves_XAX @ values
    np.testing.assert_allclose(mdp.action_values(pi), action_values)
    np.testing.assert_allclose(mdp.set_values(values), action_values)


@pytest.mark.parametrize("size", SIZES)
def test_advantages_average_to_zero_and_action_values_to_values(size):
    mdp, pi = random_mdp(2, size)
    advantages_XS = mdp.set_values(mdp.values(pi)) - mdp.values(pi)[:, None]
    np.testing.assert_allclose((chances(mdp, pi) * advantages_XS).sum(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose((pi * mdp.action_values(pi)).sum(axis=1), mdp.values(pi))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sweeps", [1, 10])
def test_policy_iteration_never_falls_and_settles(size, sweeps):
    mdp, pi = random_mdp(10, size)
    path = policy_iteration(mdp, pi, iterations=300, sweeps=sweeps)
    assert np.diff(path.values_TX, axis=0).min() > -1e-13
    assert path.values_TX[-1].min() > path.values_TX[0].min() + 0.01
    # Where it settles no action of the support is worth more than the state.
    gain = mdp.action_values(path.policies_TXA[-1]) - path.values_TX[-1][:, None]
    assert (gain * (path.policies_TXA[-1] > 1e-3)).max() < 1e-3


def test_policy_iteration_with_single_actions_finds_the_optimum():
    mdp, pi = random_mdp(11, 1, states=4, actions=3)
    path = policy_iteration(mdp, pi, iterations=6, sweeps=1000)
    np.testing.assert_allclose(path.values_TX[-1], planned_values(mdp).max(axis=1), atol=1e-6)


@pytest.mark.parametrize("size", [2, 3])
def test_a_planner_is_worth_at_least_as_much_as_any_policy(size):
    mdp, pi = random_mdp(12, size)
    best = policy_iteration(mdp, pi, iterations=200).values_TX[-1]
    planner = planned_values(mdp).max(axis=1)
    assert (planner >= best - 1e-12).all()
    assert (planner - best).max() > 0.01  # independent draws cannot promise to differ


def test_improvement_goes_by_the_old_values():
    """State 0's better action leads to state 1, which the old policy plays badly."""
    tables = [ActionTable([0.1, 0.0, -1.0]), ActionTable([0.0, 1.0, -1.0])]
    worth = [TabularObjective(objectives.max(), table, 1) for table in tables]
    moves = [[[1, 0], [0, 1], [1, 0]], [[0, 1], [0, 1], [0, 1]]]
    mdp = SetMDP(moves, worth, 0.5)
    old = [[0.5, 0.4, 0.1], [0.9, 0.01, 0.09]]
    once = improve(mdp, old, sweeps=500)
    np.testing.assert_allclose(once, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    np.testing.assert_allclose(planned_values(mdp)[0], [0.6, 1.0, -0.5])


def test_improvement_does_not_depend_on_the_zero_of_the_rewards():
    mdp, pi = random_mdp(16, 2)
    for shift in (-3.0, 5.0):
        worth = [
            TabularObjective(objectives.max(), ActionTable(np.array([0.2, 0.9]) + shift), 2)
            for _ in range(3)
        ]
        path = policy_iteration(SetMDP(mdp.moves_XAX, worth, 0.3), pi, iterations=100)
        assert np.diff(path.values_TX, axis=0).min() > -1e-12
        np.testing.assert_allclose(path.policies_TXA[-1][:, 1], 1, atol=1e-3)


def test_improvement_keeps_what_has_nothing_to_choose():
    flat = TabularObjective(objectives.mean(), ActionTable([1, 1]), 2)
    mdp = SetMDP(np.ones((1, 2, 1)), [flat], 0.3)
    np.testing.assert_array_equal(improve(mdp, [[0.25, 0.75]]), [[0.25, 0.75]])


def test_planned_values_are_those_of_the_best_plan():
    mdp, _ = random_mdp(13, 2, states=2)
    num_sets = len(mdp.counts_SA)
    best = np.full(2, -np.inf)
    for plan in product(range(num_sets), repeat=2):
        rows = mdp.counts_SA[list(plan)] / 2
        rewards = mdp.scores_XS[[0, 1], list(plan)]
        steps = np.einsum("xa,xay->xy", rows, mdp.moves_XAX)
        best = np.maximum(best, np.linalg.solve(np.eye(2) - mdp.reach * steps, rewards))
    np.testing.assert_allclose(planned_values(mdp).max(axis=1), best, atol=1e-11)


def test_q_learning_closes_in_on_the_planned_values():
    mdp, _ = random_mdp(14, 2, reach=0.5)
    found = q_learning(mdp, steps=20_000, rng=np.random.default_rng(0))
    at, error = found.steps_T, found.errors_T
    assert np.abs(found.values_XS - planned_values(mdp)).max() == error[-1]
    scale = np.abs(planned_values(mdp)).max()
    assert at[-1] == 20_000
    assert error[0] > 0.5 * scale
    assert error[-1] < 0.02 * scale


def test_q_learning_without_a_future_is_exact_after_one_try():
    mdp, _ = random_mdp(15, 2, reach=0.0)
    assert q_learning(mdp, steps=500, rng=np.random.default_rng(0)).errors_T[-1] == 0


@pytest.mark.parametrize("gamma", [0.5, 0.6, -0.1, float("nan")])
def test_discounts_that_do_not_converge_are_refused(gamma):
    score = TabularObjective(objectives.max(), ActionTable([1, 0]), 2)
    with pytest.raises(ValueError, match=rf"gamma must be in \[0, 1/2\) .* got {gamma}"):
        SetMDP(np.ones((1, 2, 1)), [score], gamma)


RIGHT = np.full((2, 2, 2), 0.5)
EVEN = np.full((2, 2), 0.5)


def two_states(moves=RIGHT, sizes=(2, 2), widths=(2, 2)):
    worth = [
        TabularObjective(objectives.max(), ActionTable([1] * width), size)
        for size, width in zip(sizes, widths, strict=True)
    ]
    return SetMDP(moves, worth, 0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_states(RIGHT * 0.6), "transitions_XAX must sum to 1, got 0.6"),
        (lambda: two_states([[[1.5, -0.5], [1, 0]]] * 2), r"transitions_XAX: .* got -0.5"),
        (lambda: two_states(RIGHT * np.nan), r"transitions_XAX: .* got nan"),
        (lambda: two_states(sizes=(2,), widths=(2,)), r"\(1, 2, 1\), .* got \(2, 2, 2\)"),
        (lambda: two_states(widths=(3, 3)), r"\(2, 3, 2\), .* of 3 actions .* got \(2, 2, 2\)"),
        (lambda: two_states(np.ones((2, 2, 1))), r"\(2, 2, 2\), .* got \(2, 2, 1\)"),
        (lambda: two_states(sizes=(2, 3)), r"must have one set_size, got \[2, 3\]"),
        (lambda: two_states(widths=(2, 3)), r"one number of actions, got \[2, 3\]"),
        (lambda: two_states(sizes=(), widths=()), "an objective for each state, got "),
        (lambda: two_states().gap(EVEN, EVEN, [1, 1]), "start_X must sum to 1, got 2"),
        (lambda: two_states().occupancy(EVEN, [2, -1]), "start_X: .* got -1"),
        (lambda: two_states().gradient(EVEN, [1]), r"start_X must have shape \(2,\), got \(1,\)"),
        (lambda: two_states().values(EVEN[:1]), r"policy_XA .* \(2, 2\), got \(1, 2\)"),
        (lambda: improve(two_states(), EVEN * 1.2), "policy_XA must sum to 1, got 1.2"),
        (lambda: two_states().set_values([1.0]), r"2 finite numbers.* got \[1.0\]"),
        (lambda: improve(two_states(), EVEN, 0), "sweeps must be an integer of at least 1, got 0"),
        (lambda: planned_values(two_states(), 0), "tolerance must be positive, got 0"),
        (lambda: ppo_step(two_states(), EVEN, [1, 0], learning_rate=0), "positive, got 0 and 0.2"),
    ],
)
def test_what_is_no_process_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
