"""Published methods, each one value: objective × set size × baseline × reduction × scale.

>>> maxpo(set_size=4).baseline
'leave_one_out'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl import names, objectives
from setrl.advantages import Advantages, BaselineName, Reduction, Scale, set_advantages
from setrl.arrays import Array
from setrl.credit import Baseline, Estimator
from setrl.objectives import Objective
from setrl.shaping import DiversityBonus, Shaping


@dataclass(frozen=True)
class Method:
    """What decides the advantages of a training run; see `setrl.set_advantages`.

    Attributes:
        name: The name that configs and figures use.
        objective: What a set is worth.
        set_size: K.
        baseline: What a sample's sets are compared with.
        reduction: Mean or sum over a sample's sets.
        scale: What the advantages of a prompt are divided by.
        shaping: A change of the rewards before sets are scored.
        estimator: How set means are had; None for `credit.Exact()`.
    """

    name: str
    objective: Objective
    set_size: int = 1
    baseline: BaselineName | Baseline = "all_sets"
    reduction: Reduction = "mean"
    scale: Scale | None = None
    shaping: Shaping | None = None
    estimator: Estimator | None = None

    @property
    def reads(self) -> frozenset[str]:
        """The fields that it must be given: of "rewards", "clusters", "answers", …."""
        shaped = self.shaping.reads if self.shaping else ()
        return frozenset((*self.objective.reads, *shaped))

    def advantages(
        self, rewards_BN: Array, *, rng: np.random.Generator | None = None, **fields: Array | None
    ) -> Advantages:
        """The advantages of samples; `fields` are those of `set_advantages`."""
        return set_advantages(
            rewards_BN,
            objective=self.objective,
            set_size=self.set_size,
            baseline=self.baseline,
            reduction=self.reduction,
            scale=self.scale,
            shaping=self.shaping,
            estimator=self.estimator,
            rng=rng,
            **fields,
        )


def grpo() -> Method:
    """(rᵢ − mean r) / std r: arXiv:2402.03300, Eq. 4. Biased: prompts are re-weighted."""
    return Method("grpo", objectives.mean(), scale="group_std")


def dr_grpo() -> Method:
    """rᵢ − mean r, GRPO without the standard deviation: arXiv:2503.20783."""
    return Method("dr_grpo", objectives.mean())


def rloo() -> Method:
    """rᵢ − mean of the other rewards: arXiv:2402.14740."""
    return Method("rloo", objectives.mean(), baseline="leave_one_out")


def grpo_div(weight: float = 1.0) -> Method:
    """`dr_grpo` of r + weight·rarity, the reward shaping that Poly-EPO is compared with."""
    return Method("grpo_div", objectives.mean(), shaping=DiversityBonus(weight))


def poly_epo(set_size: int = 4, estimator: Estimator | None = None) -> Method:
    """u − U of mean reward × share of strategies: arXiv:2604.17654, Eq. 8 and 10, all sets."""
    return Method("poly_epo", objectives.polychromic(), set_size, estimator=estimator)


def maxpo(set_size: int = 4, estimator: Estimator | None = None) -> Method:
    """u − v of max@K, expected improvement with leave-two-out: arXiv:2606.06080."""
    return Method("maxpo", objectives.max(), set_size, "leave_one_out", estimator=estimator)


def pkpo(set_size: int = 4, estimator: Estimator | None = None) -> Method:
    """u − w of max@K, N/K times s_loo−1 of arXiv:2505.15201, Eq. 33; not centred."""
    return Method("pkpo", objectives.max(), set_size, "smaller_sets", estimator=estimator)


by_name: dict[str, Callable[..., Method]] = {
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "rloo": rloo,
    "grpo_div": grpo_div,
    "poly_epo": poly_epo,
    "maxpo": maxpo,
    "pkpo": pkpo,
}


def from_config(config: Mapping[str, Any]) -> Method:
    """The method of a config such as {"method": "poly_epo", "set_size": 4}.

    Raises:
        ValueError: Naming the unknown method or argument, the near miss, and all that are known.
    """
    if "method" not in config:
        raise ValueError(f"a method's config needs the key 'method', got {dict(config)!r}")
    arguments = {key: value for key, value in config.items() if key != "method"}
    make = names.look_up("method", config["method"], by_name)
    parameters = inspect.signature(make).parameters
    for key in arguments:
        names.look_up(f"argument of {config['method']}", key, parameters)
    return make(**arguments)
