"""The parts of PPO that rivals need, each against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from stable_baselines3.common.distributions import (
    CategoricalDistribution,
    DiagGaussianDistribution,
    MultiCategoricalDistribution,
)

from setrl.control.sb3 import ppo

ANCHOR_BA = np.array([[0.7, 0.2, 0.1], [0.5, 0.5 - 1e-9, 1e-9]])
CURRENT_BA = np.array([[0.1, 0.3, 0.6], [0.25, 0.25, 0.5]])


def categorical(shares_BA: np.ndarray) -> CategoricalDistribution:
    return CategoricalDistribution(3).proba_distribution(torch.as_tensor(np.log(shares_BA)))


def test_the_kl_penalty_is_from_the_anchor_to_the_current_policy() -> None:
    """Σ π_β·log(π_β / π), mean over states; the other direction is another number."""
    wanted = np.sum(ANCHOR_BA * np.log(ANCHOR_BA / CURRENT_BA), axis=1).mean()
    other = np.sum(CURRENT_BA * np.log(CURRENT_BA / ANCHOR_BA), axis=1).mean()
    assert wanted != pytest.approx(other, rel=0.1)
    found = ppo.kl_penalty(categorical(ANCHOR_BA), categorical(CURRENT_BA))
    assert found.item() == pytest.approx(wanted)


def test_the_kl_penalty_adds_the_dimensions_of_an_action() -> None:
    means, log_stds = ([0.3, -1.0], [0.1, 0.4]), ([0.0, -0.5], [-0.2, 0.3])
    anchor, current = (
        DiagGaussianDistribution(2).proba_distribution(
            torch.tensor([mean], dtype=torch.float64), torch.tensor(log_std, dtype=torch.float64)
        )
        for mean, log_std in zip(means, log_stds, strict=True)
    )
    m, s = np.array(means), np.exp(np.array(log_stds))
    kl_D = np.log(s[1] / s[0]) + (s[0] ** 2 + (m[0] - m[1]) ** 2) / (2 * s[1] ** 2) - 0.5
    assert ppo.kl_penalty(anchor, current).item() == pytest.approx(kl_D.sum())


def test_the_kl_penalty_adds_the_parts_of_a_compound_action() -> None:
    anchor, current = (
        MultiCategoricalDistribution([3, 3]).proba_distribution(
            torch.as_tensor(np.log(np.tile(shares_BA, 2)))
        )
        for shares_BA in (ANCHOR_BA, CURRENT_BA)
    )
    one = ppo.kl_penalty(categorical(ANCHOR_BA), categorical(CURRENT_BA)).item()
    assert ppo.kl_penalty(anchor, current).item() == pytest.approx(2 * one)


def test_only_the_critics_advantages_are_normalised() -> None:
    advantages = torch.tensor([3.0, 10.0, -1.0, 20.0, 4.0])
    from_sets = torch.tensor([False, True, False, True, False])
    found = ppo.normalised(advantages, from_sets)
    assert found[from_sets].tolist() == [10.0, 20.0]
    own = found[~from_sets]
    assert own.mean().item() == pytest.approx(0.0, abs=1e-6)
    assert own.std().item() == pytest.approx(1.0)
    alone = torch.tensor([True, True, False, True, True])
    assert torch.equal(ppo.normalised(advantages, alone), advantages)


@pytest.mark.parametrize("count", [3, 5, 7, 11])
def test_equal_advantages_beside_those_of_sets_are_no_signal(count: int) -> None:
    """Their mean in float32 is one digit off, which PPO divides by itself."""
    advantages = torch.cat([torch.full((count,), 0.1), torch.tensor([1.0, -1.0])])
    from_sets = torch.arange(count + 2) >= count
    found = ppo.normalised(advantages, from_sets)
    assert found[:count].tolist() == [0.0] * count
    assert found[count:].tolist() == [1.0, -1.0]
    advantages[0] += 1e-4  # small, and real
    assert ppo.normalised(advantages, from_sets)[:count].std() == pytest.approx(1, rel=1e-2)


def test_it_falls_with_the_visits_of_the_pair() -> None:
    seen, actions = np.array([[0.0], [0.0], [1.0], [0.0]]), np.array([0, 0, 0, 1])
    bonus = ppo.CountBonus(2.0)
    np.testing.assert_allclose(bonus(seen, actions), [2.0, 2.0 / np.sqrt(2), 2.0, 2.0])
    np.testing.assert_allclose(bonus(seen[:1], actions[:1]), [2.0 / np.sqrt(3)])


def test_observations_that_are_dicts_count_as_one_state() -> None:
    seen = {"a": np.array([[1], [1], [1]]), "b": np.array([[2], [2], [3]])}
    np.testing.assert_allclose(ppo.CountBonus(1.0)(seen, np.zeros(3)), [1.0, 1.0 / np.sqrt(2), 1.0])
