"""The Adam-moment variance proxy of MaxPO (arXiv:2606.06080, Fig. 3) on a small trained policy.

Var(g) ≈ v̂ − m̂², from the moments that Adam keeps, summed over all parameters. For independent
gradients of a policy that stands still its mean is 2β₁/(1+β₁) = 18/19 of the variance (see
`maxpo-adam-proxy` in docs/claims.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from setrl.models.local import one_thread
from setrl.train.trl.adam_moments import moments
from studies.bandit import ESTIMATORS
from studies.summaries import Interval, geometric_interval, mean_interval

PROMPTS, FEATURES, HIDDEN, ARMS = 64, 8, 32, 30
BATCH, SAMPLES, SET_SIZE, LEARNING_RATE, WINDOW = 16, 8, 4, 3e-3, 25
TRAINED = ("raw", "s_loo", "l2o", "ei", "mixture")


@dataclass(frozen=True, eq=False)
class Training:
    """What one way of training came to, over seeds.

    Attributes:
        proxy: Σ(v̂ − m̂²) over windows of updates.
        value: The exact E max of K draws, mean over prompts, at the end of each window.
    """

    proxy: Interval
    value: Interval


def study(seeds: int, steps: int, seed: int = 0) -> dict[str, Training]:
    """Train a policy with each estimator, on the same problems and from the same start."""
    results = {}
    for name in TRAINED:
        runs = [_train(name, steps, [seed, r]) for r in range(seeds)]
        results[name] = Training(
            proxy=geometric_interval([proxy for proxy, _ in runs]),
            value=mean_interval([value for _, value in runs]),
        )
    return results


def as_numbers(training: dict[str, Training]) -> dict[str, dict]:
    """Return plain data."""
    return {
        name: {"proxy": found.proxy.as_lists(), "value": found.value.as_lists()}
        for name, found in training.items()
    }


@one_thread()
def _train(name: str, steps: int, seed: list[int]) -> tuple[list[float], list[float]]:
    """Return the mean proxy and the last value of every window of updates."""
    problem, draws = np.random.default_rng(seed), np.random.default_rng([*seed, 1])
    features_PF = torch.from_numpy(problem.normal(size=(PROMPTS, FEATURES)))
    rewards_PA = problem.random((PROMPTS, ARMS))
    policy = _policy(int(problem.integers(2**31)))
    optimiser = torch.optim.Adam(policy.parameters(), lr=LEARNING_RATE)
    proxies, values = [], []
    for step in range(steps):
        rows = draws.choice(PROMPTS, size=BATCH, replace=False)
        _update(policy, optimiser, features_PF[rows], rewards_PA[rows], name, draws)
        proxies.append(moments(optimiser).variance)
        if (step + 1) % WINDOW == 0:
            values.append(_value(policy, features_PF, rewards_PA))
    means = np.array(proxies).reshape(-1, WINDOW).mean(axis=1)
    return means.tolist(), values


def _policy(seed: int) -> torch.nn.Module:
    """Return a network of one hidden layer, from features to logits."""
    generator = torch.Generator().manual_seed(seed)
    layers = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, ARMS)
    ).double()
    for parameter in layers.parameters():
        scale = parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 0.0
        noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
        parameter.data = scale * noise
    return layers


def _update(
    policy: torch.nn.Module,
    optimiser: torch.optim.Adam,
    features_BF: torch.Tensor,
    rewards_BA: np.ndarray,
    name: str,
    rng: np.random.Generator,
) -> None:
    """Take a step up Σᵢ Aᵢ log π(yᵢ), the mean over the prompts of the batch."""
    log_policy_BA = policy(features_BF).log_softmax(dim=-1)
    chances_BA = log_policy_BA.detach().exp().numpy()
    edges_BA = chances_BA.cumsum(axis=1)
    draws_BN1 = rng.random((len(rewards_BA), SAMPLES, 1)) * edges_BA[:, None, -1:]
    arms_BN = (draws_BN1 >= edges_BA[:, None, :]).sum(axis=-1)
    rewards_BN = np.take_along_axis(rewards_BA, arms_BN, axis=1)
    advantages_BN = torch.from_numpy(ESTIMATORS[name].advantages(rewards_BN, SET_SIZE, rng))
    chosen_BN = log_policy_BA.gather(1, torch.from_numpy(arms_BN))
    optimiser.zero_grad()
    (-(advantages_BN * chosen_BN).sum(dim=1).mean()).backward()
    optimiser.step()


def _value(policy: torch.nn.Module, features_PF: torch.Tensor, rewards_PA: np.ndarray) -> float:
    """Return the exact E max of K draws: Σ r₍ₐ₎(F₍ₐ₎^K − F₍ₐ₋₁₎^K) over arms by reward."""
    with torch.no_grad():
        chances_PA = policy(features_PF).softmax(dim=-1).numpy()
    order_PA = np.argsort(rewards_PA, axis=1)
    below_PA = np.take_along_axis(chances_PA, order_PA, axis=1).cumsum(axis=1)
    weight_PA = np.diff(below_PA**SET_SIZE, axis=1, prepend=0.0)
    return float((weight_PA * np.sort(rewards_PA, axis=1)).sum(axis=1).mean())
