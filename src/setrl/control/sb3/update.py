"""The parts of a policy's loss, as functions of tensors."""

from __future__ import annotations

import torch
from stable_baselines3.common.distributions import Distribution, kl_divergence
from torch import Tensor
from torch.nn import functional


def normalised(advantages: Tensor, from_sets: Tensor) -> Tensor:
    """Scale the critic's advantages to mean 0 and standard deviation 1; leave set advantages.

    Set advantages are centred by their baseline and were scaled once for the whole update: a
    minibatch may hold only a few of them, and if both kinds were mixed, the scale of one kind would
    decide the weight of the other.
    """
    own = advantages[~from_sets]
    if len(own) < 2:
        return advantages
    centred, size = own - own.mean(), own.std()
    # PPO scales even the rounding error of equal advantages up to 1; next to a few set advantages,
    # the policy would learn only from that.
    rounding = 8 * torch.finfo(own.dtype).eps * own.abs().max()
    if from_sets.any() and size <= rounding:
        centred = torch.zeros_like(own)
    scaled = advantages.clone()
    scaled[~from_sets] = centred / (size + 1e-8)
    return scaled


def clipped_surrogate(advantages: Tensor, ratio: Tensor, clip_range: float) -> Tensor:
    """−mean min{A·ρ, A·clip(ρ, 1 − ε, 1 + ε)}: PPO, arXiv:1707.06347, Eq. 7.

    At ρ = 1 its gradient is the gradient of −mean A·log π, so one epoch over one minibatch is
    REINFORCE with a baseline.
    """
    clipped = torch.clamp(ratio, 1 - clip_range, 1 + clip_range)
    return -torch.min(advantages * ratio, advantages * clipped).mean()


def value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, clip_range: float | None
) -> Tensor:
    """Return the critic's mean squared error; its values may move by `clip_range` at most."""
    if clip_range is not None:
        values = old_values + torch.clamp(values - old_values, -clip_range, clip_range)
    return functional.mse_loss(returns, values)


def entropy_loss(entropy: Tensor | None, log_prob: Tensor) -> Tensor:
    """−H(π), estimated from the actions taken where the distribution has no closed form."""
    return -torch.mean(-log_prob) if entropy is None else -torch.mean(entropy)


def kl_penalty(anchor: Distribution, current: Distribution) -> Tensor:
    """Mean over states of KL(anchor ‖ current), in nats; arXiv:2509.25424 has π_β as the anchor."""
    kl = kl_divergence(anchor, current)
    return (kl.sum(dim=1) if kl.ndim > 1 else kl).mean()  # torch has one term per action dimension


def approximate_kl(log_ratio: Tensor) -> float:
    """mean (ρ − 1 − log ρ), an estimate of KL(old ‖ new) that is never negative."""
    with torch.no_grad():
        return float(torch.mean((torch.exp(log_ratio) - 1) - log_ratio).cpu().numpy())


def clip_fraction(ratio: Tensor, clip_range: float) -> float:
    """Return the share of steps whose probability ratio is beyond the clip range."""
    return torch.mean((torch.abs(ratio - 1) > clip_range).float()).item()
