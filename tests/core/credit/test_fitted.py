"""The mixture that is fitted on the other prompts."""

from itertools import product

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, objectives, set_advantages


def test_expected_update_is_the_gradient():
    """Over every pair of prompts of N = 3 samples each: E Σᵢ ∇log π(yᵢ)·Aᵢ = (N/K)·∇J."""
    n, k, policy, reward = 3, 2, [0.2, 0.3, 0.5], [1.0, 0.5, 0.0]
    draws = np.array(list(product(range(3), repeat=n)))
    chance_D = np.prod(np.array(policy)[draws], axis=1)
    expected = np.zeros(3)
    for mine, chance in zip(draws, chance_D, strict=True):
        for other, chance_of_other in zip(draws, chance_D, strict=True):
            adv = set_advantages(
                np.array(reward)[[mine, other]],
                objective=objectives.max(),
                set_size=k,
                baseline=credit.FittedMixture(),
            )
            one_hot = np.eye(3)[mine] - policy
            expected += chance * chance_of_other * (adv.values_BN[0] @ one_hot)

    def score(draw):
        return float(scores.maximum([reward[a] for a in draw])(range(k)))

    want = n / k * np.array(exact.logit_gradient(score, policy, k), dtype=float)
    np.testing.assert_allclose(expected, want, atol=1e-12)


def test_weights_make_the_other_prompts_squares_smallest():
    rng = np.random.default_rng(0)
    contrast_BN, gain_BN = rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    found = credit.FittedMixture().weights(contrast_BN, gain_BN)
    grid = np.linspace(0, 1, 10_001)
    for b in range(3):
        others = np.arange(3) != b
        mixed = gain_BN[others] + grid[:, None, None] * (contrast_BN - gain_BN)[others]
        best = grid[np.square(mixed).sum(axis=(1, 2)).argmin()]
        assert found[b] == pytest.approx(best, abs=1e-4)


def test_a_prompt_alone_gets_the_start():
    rewards = np.random.default_rng(1).random((1, 6))
    common = {"objective": objectives.max(), "set_size": 3}
    found = set_advantages(rewards, baseline=credit.FittedMixture(0.25), **common)
    want = set_advantages(rewards, baseline=credit.Mixture(0.25), **common)
    np.testing.assert_allclose(found.values_BN, want.values_BN, atol=1e-15)
