"""Trajectories → what an update learns from: GAE, replaced where there is set credit.

Set credit is the function of both paths, called back on the host: a closed form in JAX would be a
second derivation of the same numbers. One call for each update costs less than a hundredth of the
update (benchmarks), and every method and reading of Algorithm 2 works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control import vines as host
from setrl.control.jax.rollouts import Trajectories
from setrl.control.steps import SIZE_FLOOR, CreditedSteps, replace_by_sets
from setrl.control.vines import VineChoices
from setrl.core.advantages import AnyMethod
from setrl.samples.samples import Samples

ROUNDING = 1e-5  # of sums of some hundred rewards in float32, with a margin
Columns = dict[str, Any]  # of `Samples`


def gae(trajectories: Trajectories, rewards_TB: jax.Array, gamma: float, decay: float) -> jax.Array:
    """Âₜ = δₜ + γλ·Âₜ₊₁, δₜ = rₜ + γ·Vₜ₊₁ − Vₜ, with λ = `decay`: arXiv:1506.02438."""
    steps = trajectories.steps

    def back(carry: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]) -> tuple:
        following, next_value = carry
        reward, value, alive = step
        advantage = reward + gamma * next_value - value + gamma * decay * following
        carry = jnp.where(alive, advantage, following), jnp.where(alive, value, next_value)
        return carry, jnp.where(alive, advantage, 0.0)

    first = (jnp.zeros_like(trajectories.last_values), trajectories.last_values)
    return jax.lax.scan(back, first, (rewards_TB, steps.values, steps.alive), reverse=True)[1]


def credit_steps(
    trajectories: Trajectories,
    gamma: float,
    decay: float,
    own_TB: jax.Array | None = None,
) -> CreditedSteps:
    """Return the critic's advantages, replaced by set advantages where there are some.

    Args:
        trajectories: The trajectories.
        gamma: Discount γ.
        decay: λ of GAE.
        own_TB: Set advantages of steps; NaN for none.
    """
    alive = trajectories.steps.alive
    finite_B = jnp.isfinite(trajectories.returns)
    rewards = jnp.where(finite_B, trajectories.steps.rewards, 0.0)
    critics = gae(trajectories, rewards, gamma, decay)
    advantages, from_sets = critics, jnp.zeros(alive.shape, bool)
    if own_TB is not None:
        advantages, from_sets = replace_by_sets(jnp, critics, own_TB, alive)
    steps = trajectories.steps._asdict()
    return CreditedSteps(
        **{name: steps[name] for name in CreditedSteps._fields if name in steps},
        advantages=advantages,
        returns=critics + trajectories.steps.values,
        from_sets=from_sets,
        usable=alive & finite_B,
    )


def rounding_floor(parts: Sequence[Trajectories]) -> jax.Array:
    """Return the size below which set advantages are rounding: returns are sums in float32."""
    returns_B = jnp.concatenate([part.returns for part in parts])
    largest = jnp.abs(jnp.where(jnp.isfinite(returns_B), returns_B, 0.0)).max()
    return jnp.maximum(SIZE_FLOOR, ROUNDING * largest)


def normalised(advantages: jax.Array, from_sets: jax.Array, usable: jax.Array) -> jax.Array:
    """Scale the critic's advantages of a minibatch to mean 0 and deviation 1; leave the sets'.

    In a minibatch with set advantages, equal advantages become 0 instead of scaled-up rounding.
    """
    from_critic = usable & ~from_sets
    count = from_critic.sum()
    mean = jnp.sum(jnp.where(from_critic, advantages, 0.0)) / jnp.maximum(count, 1)
    centred = jnp.where(from_critic, advantages - mean, 0.0)
    size = jnp.sqrt(jnp.sum(centred**2) / jnp.maximum(count - 1, 1))
    largest = jnp.max(jnp.where(from_critic, jnp.abs(advantages), 0.0))
    only_rounding = (size <= 8 * jnp.finfo(jnp.float32).eps * largest) & (from_sets & usable).any()
    scaled = jnp.where(only_rounding, 0.0, centred / (size + 1e-8))
    return jnp.where(from_critic & (count > 1), scaled, advantages)


def vine_advantages(
    method: AnyMethod,
    vines: VineChoices,
    columns: Columns,
    actions_BN: jax.Array,
    key: jax.Array,
) -> jax.Array:
    """Return the set advantage of each vine, (B, N), as `control.vines.vine_advantages` does."""
    shape = jax.ShapeDtypeStruct(columns["rewards"].shape, jnp.float32)
    inputs = jax.tree.map(jax.lax.stop_gradient, (columns, actions_BN, jax.random.bits(key)))
    return jax.pure_callback(_CreditOnHost(method, vines), shape, *inputs, vmap_method="sequential")


def _remove_rounding(scores_BN: np.ndarray) -> np.ndarray:
    """Return scores that are equal where a state's scores differ by no more than their rounding.

    Scores are sums in float32. A method that divides by their deviation scales rounding up to 1.
    """
    largest_B = np.fmax.reduce(scores_BN, axis=1)
    spread_B = largest_B - np.fmin.reduce(scores_BN, axis=1)
    size_B = np.fmax.reduce(np.abs(scores_BN), axis=1)
    are_equal_BN = (spread_B <= ROUNDING * size_B)[:, None] & np.isfinite(scores_BN)
    return np.where(are_equal_BN, largest_B[:, None], scores_BN)


@dataclass(frozen=True)
class _CreditOnHost:
    method: AnyMethod
    vines: VineChoices

    def __call__(self, columns: Columns, actions_BN: Any, seed: Any) -> np.ndarray:
        columns, actions_BN = jax.tree.map(np.asarray, (columns, actions_BN))
        rewards_BN = columns["rewards"].astype(np.float64)
        if self.method.scale is not None:
            rewards_BN = _remove_rounding(rewards_BN)
        samples = Samples(**{**columns, "rewards": rewards_BN})
        rng = np.random.default_rng(int(seed))
        with np.errstate(invalid="ignore"):
            values_BN = host.vine_advantages(self.method, self.vines, samples, actions_BN, rng)
        return values_BN.astype(np.float32)
