"""Set credit of vines inside compiled updates: `vine_advantages`, called back on the host.

A closed form in JAX would be a second derivation of the same numbers. One call for each update
costs less than a hundredth of the update (benchmarks), and every method and reading of Algorithm 2
works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from typing_extensions import override

from setrl.control.credit import vine_advantages
from setrl.control.credit.vines import VineChoices
from setrl.control.jax.advantages import ROUNDING
from setrl.core.advantages import AnyMethod, Method

Judged = Literal["episode", "from_state"]


@dataclass(frozen=True, kw_only=True)
class JaxVines(VineChoices):
    """How vines are sampled and credited on JAX: what `VineChoices` has, and three choices.

    The environment and the label are the task's.

    Attributes:
        judged: What scores and labels are about: the whole "episode", or only the vine's own steps
            "from_state" on.
        cut: Steps after which a vine is cut; the critic's value of the state that it reached joins
            its score. None: vines run to the end of the episode.
        trunk_is_vine: Whether the trunk itself is one of the N vines of its first state, which
            saves the steps of one vine. Only for one state, the first.
    """

    judged: Judged = "episode"
    cut: int | None = None
    trunk_is_vine: bool = False

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.judged not in get_args(Judged):
            raise ValueError(f"judged must be 'episode' or 'from_state', got {self.judged!r}")
        if self.cut is not None and not (isinstance(self.cut, int) and self.cut >= 1):
            raise ValueError(f"cut must be a whole number ≥ 1, or None, got {self.cut!r}")
        if self.trunk_is_vine and (self.num_states, self.where) != (1, "equal"):
            raise ValueError(
                "trunk_is_vine needs num_states=1 and where='equal': only at a state that is "
                "chosen before the trunk is known is the trunk a fair sample of what follows"
            )
        if self.trunk_is_vine and self.cut is not None:
            raise ValueError("cut must be None if trunk_is_vine: trunks are not cut")
        if self.num_states == 0 or self.num_vines == 0:
            raise ValueError("num_states and num_vines must be at least 1; for PPO give no vines")
        if not isinstance(self.credit, str):
            raise ValueError("a set critic is not available on JAX: use vines")
        if self.num_states is None:
            raise ValueError("num_states must be a number on JAX, where all shapes are fixed")

    @property
    def sampled_vines(self) -> int:
        """Number of vines that grow from each state, without the trunk."""
        return self.num_vines - self.trunk_is_vine


def set_credit(
    method: AnyMethod,
    vines: JaxVines,
    scores_BN: jax.Array,
    labels_BN: jax.Array,
    actions_BN: jax.Array,
    key: jax.Array,
) -> jax.Array:
    """Return the set advantage of each vine, (B, N), as `vines.credit` assigns it.

    For `credit="trunk"`, the gain of the best set is in every column.

    Args:
        method: The worth of sets.
        vines: How sets' scores become advantages.
        scores_BN: The worth of each vine; NaN leaves the sets.
        labels_BN: The strategy of each, an integer, −1 for none.
        actions_BN: First action of each.
        key: Draws the sets, where they are sampled.
    """
    shape = jax.ShapeDtypeStruct(scores_BN.shape, jnp.float32)
    inputs = (scores_BN, labels_BN, actions_BN, jax.random.bits(key))
    stopped = jax.tree.map(jax.lax.stop_gradient, inputs)
    call = _OnHost(method, vines)
    return jax.pure_callback(call, shape, *stopped, vmap_method="sequential")


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
    vines: JaxVines

    def __call__(self, scores: Any, labels: Any, actions: Any, seed: Any) -> np.ndarray:
        scores_BN = np.asarray(scores, np.float64)
        if self.method.scale is not None:
            scores_BN = _without_rounding(scores_BN)
        fields = {"clusters": np.asarray(labels)} if "clusters" in self.method.reads else {}
        with np.errstate(invalid="ignore"):
            found = self._values(scores_BN, fields, np.asarray(actions), int(seed))
        return np.broadcast_to(found, scores_BN.shape).astype(np.float32)

    def _values(
        self, scores_BN: np.ndarray, fields: dict[str, Any], actions_BN: np.ndarray, seed: int
    ) -> np.ndarray:
        vines, rng = self.vines, np.random.default_rng(seed)
        if vines.credit in ("marginal", "bonus", "reward"):
            return vine_advantages.by_trajectory(self.method, scores_BN, fields, rng)
        assert isinstance(self.method, Method)  # `check_vines` refused a sum
        if vines.credit == "action":
            return vine_advantages.by_action(self.method, scores_BN, fields, actions_BN)
        sampled = (self.method, scores_BN, fields, vines.num_sets, rng)
        if vines.credit == "shared":
            return vine_advantages.shared(*sampled)
        return vine_advantages.best_set_gain(*sampled)[:, None]
