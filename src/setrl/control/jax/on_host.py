"""Set credit of vines inside compiled updates: the same function, called back on the host.

A closed form in JAX would be a second derivation of the same numbers. One call for each update
costs less than a hundredth of the update (benchmarks), and every method and reading of Algorithm 2
works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control import credit
from setrl.control.jax.advantages import ROUNDING
from setrl.control.vines import VineChoices
from setrl.core.advantages import AnyMethod
from setrl.samples.samples import Samples

Columns = dict[str, Any]  # of `Samples`


def vine_advantages(
    method: AnyMethod,
    vines: VineChoices,
    columns: Columns,
    actions_BN: jax.Array,
    key: jax.Array,
) -> jax.Array:
    """Return the set advantage of each vine, (B, N), as `control.credit.vine_advantages` does."""
    shape = jax.ShapeDtypeStruct(columns["rewards"].shape, jnp.float32)
    given = jax.tree.map(jax.lax.stop_gradient, (columns, actions_BN, jax.random.bits(key)))
    return jax.pure_callback(_OnHost(method, vines), shape, *given, vmap_method="sequential")


def _without_rounding(scores_BN: np.ndarray) -> np.ndarray:
    """Return scores that are equal where a state's scores differ by no more than their rounding.

    Scores are sums in float32. A method that divides by their deviation scales rounding up to 1.
    """
    largest_B = np.fmax.reduce(scores_BN, axis=1)
    spread_B = largest_B - np.fmin.reduce(scores_BN, axis=1)
    size_B = np.fmax.reduce(np.abs(scores_BN), axis=1)
    are_equal_BN = (spread_B <= ROUNDING * size_B)[:, None] & np.isfinite(scores_BN)
    return np.where(are_equal_BN, largest_B[:, None], scores_BN)


@dataclass(frozen=True)
class _OnHost:
    method: AnyMethod
    vines: VineChoices

    def __call__(self, columns: Columns, actions_BN: Any, seed: Any) -> np.ndarray:
        columns, actions_BN = jax.tree.map(np.asarray, (columns, actions_BN))
        rewards_BN = columns["rewards"].astype(np.float64)
        if self.method.scale is not None:
            rewards_BN = _without_rounding(rewards_BN)
        samples = Samples(**{**columns, "rewards": rewards_BN})
        rng = np.random.default_rng(int(seed))
        with np.errstate(invalid="ignore"):
            values_BN = credit.vine_advantages(self.method, self.vines, samples, actions_BN, rng)
        return values_BN.astype(np.float32)
