"""Bandits: the exact gradient, estimators against enumeration, the study's files."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from setrl import objectives
from setrl.theory import ActionTable, TabularObjective
from studies import bandit, bandits
from studies.bandit import (
    ESTIMATORS,
    NAIVE,
    Bandit,
    draw_bandit,
    gradients,
    max_gradient,
    relative_variance,
    running_means,
)

BANDIT = Bandit(np.array([0.9, 0.2, 0.4]), np.array([0.2, 0.5, 0.3]))
UNBIASED = [name for name, estimator in ESTIMATORS.items() if not estimator.biased]


def every_batch(of: Bandit, num_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """All batches and their probabilities."""
    arms = np.array(list(product(range(of.num_arms), repeat=num_samples)))
    return arms, of.policy_A[arms].prod(axis=1)


def every_gradient(name: str, set_size: int, num_samples: int) -> tuple[np.ndarray, np.ndarray]:
    arms_BN, chance_B = every_batch(BANDIT, num_samples)
    rng = np.random.default_rng(0)
    credits = ESTIMATORS[name].advantages(BANDIT.rewards_A[arms_BN], set_size, rng)
    return gradients(BANDIT, arms_BN, credits), chance_B


@pytest.mark.parametrize("set_size", [1, 2, 3, 5])
def test_max_gradient_is_that_of_the_table(set_size):
    rng = np.random.default_rng(set_size)
    for rewards in (rng.random(4), np.array([0.5, 0.5, 0.1, 0.5]), np.array([-1.0, 0, 0, -1])):
        policy = rng.dirichlet(np.ones(4))
        table = TabularObjective(objectives.max(), ActionTable(rewards), set_size)
        found = max_gradient(Bandit(rewards, policy), set_size)
        np.testing.assert_allclose(found, table.gradient(policy), atol=1e-14)


def test_max_gradient_keeps_its_digits_when_the_best_arm_is_all_but_certain():
    """Two arms, K = 40: the gradient is K·p·q^K, far below the resolution of E max."""
    p, size = 0.9, 40
    found = max_gradient(Bandit(np.array([1.0, 0.0]), np.array([p, 1 - p])), size)
    np.testing.assert_allclose(found, size * p * (1 - p) ** size * np.array([1, -1]), rtol=1e-12)


@pytest.mark.parametrize("name", UNBIASED)
@pytest.mark.parametrize(("num_samples", "set_size"), [(2, 1), (4, 2), (5, 3)])
def test_estimators_average_to_the_gradient(name, num_samples, set_size):
    found_BA, chance_B = every_gradient(name, set_size, num_samples)
    truth = max_gradient(BANDIT, set_size)
    np.testing.assert_allclose(chance_B @ found_BA, truth, atol=1e-13)


def test_the_standardised_one_points_elsewhere():
    found_BA, chance_B = every_gradient("standardised", 2, 4)
    mean, truth = chance_B @ found_BA, max_gradient(BANDIT, 2)
    cosine = mean @ truth / np.linalg.norm(mean) / np.linalg.norm(truth)
    assert cosine < 0.995


def test_all_sets_and_leave_two_out_are_one_estimator_at_one_scale():
    arms_BN, _ = every_batch(BANDIT, 4)
    rewards, rng = BANDIT.rewards_A[arms_BN], np.random.default_rng(0)
    left, right = (ESTIMATORS[name].advantages(rewards, 2, rng) for name in ("all_sets", "l2o"))
    np.testing.assert_allclose(left, right, atol=1e-15)


def test_pkpo_leave_one_out_has_its_published_values():
    rewards = np.array([[0.1, 0.7, 0.2, 0.9, 0.4, 0.3]])
    found = ESTIMATORS["s_loo"].advantages(rewards, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found, [[-0.134, -0.024, -0.134, 0.108, -0.123, -0.134]])


@pytest.mark.parametrize("name", ["raw", "s_loo", "ei", "l2o", "mixture"])
def test_measured_variance_is_that_of_all_batches(name, monkeypatch):
    found_BA, chance_B = every_gradient(name, 2, 4)
    truth = max_gradient(BANDIT, 2)
    exact = chance_B @ ((found_BA - truth) ** 2).sum(axis=1) / (truth**2).sum()
    args = BANDIT, ESTIMATORS[name], 2, 4, 40_000
    enumerated = relative_variance(*args, np.random.default_rng(0))
    assert enumerated == pytest.approx(exact, rel=1e-12)
    monkeypatch.setattr(bandit, "MOST_ENUMERATED", 0)
    assert relative_variance(*args, np.random.default_rng(0)) == pytest.approx(exact, rel=0.05)


def test_running_means_go_on_from_each_other(monkeypatch):
    take = lambda checkpoints: running_means(  # noqa: E731
        BANDIT, ESTIMATORS["l2o"], 2, 4, checkpoints, np.random.default_rng(0)
    )
    means = take([100, 5_000])
    np.testing.assert_allclose(means[0], take([100])[0])
    truth = max_gradient(BANDIT, 2)
    assert np.linalg.norm(means[1] - truth) < 0.05 * np.linalg.norm(truth)
    monkeypatch.setattr(bandit, "CHUNK", 10_000)  # many small parts
    assert np.linalg.norm(take([5_000])[0] - truth) < 0.05 * np.linalg.norm(truth)


def test_gradients_are_sums_of_scores():
    arms, credits = np.array([[0, 2, 2], [1, 1, 0]]), np.array([[1.0, -2, 0.5], [3, 0, -1]])
    slow = [
        sum(a * (np.eye(3)[arm] - BANDIT.policy_A) for arm, a in zip(row, credit, strict=True))
        for row, credit in zip(arms, credits, strict=True)
    ]
    np.testing.assert_allclose(gradients(BANDIT, arms, credits), slow)


@pytest.mark.parametrize("rewards", ["uniform", "normal", "sparse"])
def test_bandits_are_drawn_alike_from_alike_seeds(rewards):
    one, two = (draw_bandit(20, np.random.default_rng(3), rewards) for _ in range(2))
    np.testing.assert_array_equal(one.rewards_A, two.rewards_A)
    assert one.policy_A.sum() == pytest.approx(1)
    if rewards == "sparse":
        assert sorted(one.rewards_A) == [0.0] * 18 + [1.0] * 2


def test_unknown_rewards_are_named():
    with pytest.raises(
        ValueError, match=r"unknown kind of rewards 'gauss'.*Known: uniform, normal"
    ):
        draw_bandit(3, np.random.default_rng(0), "gauss")


SMALL = bandits.BanditsConfig(
    seeds=2,
    batches=20,
    arms=6,
    arms_grid=(3, 5),
    samples_grid=(5, 8),
    checkpoints=(10, 20),
    map_arms=(3,),
    map_sizes=(1, 2),
    map_samples=4,
    map_seeds=2,
    adam_seeds=2,
    adam_steps=25,
)


def test_the_study_writes_its_numbers_and_they_are_drawn(tmp_path):
    path = bandits.run(SMALL, tmp_path / "out")
    numbers = json.loads(path.read_text(encoding="utf-8"))
    assert numbers["schema_version"] == 1
    assert set(numbers["curves"]) == {"estimation_error", *bandits.VARIANCES}
    for study, (_, names) in bandits.VARIANCES.items():
        assert set(numbers["curves"][study]) == set(names)
    assert np.shape(numbers["leave_two_out_over_ei"]["sparse"]["mean"]) == (1, 2)
    error = bandits.draw_curves(numbers).axes[0].lines[0].get_ydata()
    assert list(error) == numbers["curves"]["estimation_error"]["raw"]["mean"]
    maps = bandits.draw_maps(numbers).axes[:3]
    sparse = [float(one.get_text().strip("()")) for one in maps[-1].texts]
    ratios = np.ravel(numbers["leave_two_out_over_ei"]["sparse"]["mean"])
    np.testing.assert_allclose(sparse, ratios, atol=0.0051)
    assert len(bandits.draw_training(numbers).axes[0].lines) == len(numbers["adam"])
    again = bandits.run(SMALL, tmp_path / "again")
    assert again.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_the_naive_estimator_is_unbiased_and_noisier_than_all_sets():
    rng = np.random.default_rng(0)
    bandit = draw_bandit(10, rng)
    truth = max_gradient(bandit, 4)
    [mean] = running_means(bandit, NAIVE, 4, 8, [20_000], rng)
    assert np.linalg.norm(mean - truth) < 0.08 * np.linalg.norm(truth)
    noise = [relative_variance(bandit, e, 4, 40, 500, rng) for e in (NAIVE, ESTIMATORS["l2o"])]
    assert noise[0] > 2 * noise[1]
