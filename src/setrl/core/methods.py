"""Published methods, each one value: objective × set size × baseline × reduction × scale.

>>> maxpo(set_size=4).baseline
'leave_one_out'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl import names
from setrl.core import objectives
from setrl.core.advantages import Advantages, BaselineName, Reduction, Scale, set_advantages
from setrl.core.arrays import Array
from setrl.core.credit import Baseline, Estimator, baselines
from setrl.core.inputs import check_set_size
from setrl.core.objectives import Objective
from setrl.core.shaping import (
    DiversityBonus,
    QualityTimesDiversity,
    Shaping,
    ShareOfMean,
    UnlikelinessBonus,
)

SetSize = int | Mapping[int, float]  # K, or a weight for each of several: {1: 0.5, 8: 0.5}


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

    def check_samples(self, num_samples: int, called: str = "num_samples") -> None:
        """Refuse a K that leaves prompts of so many samples without credit.

        Args:
            num_samples: N.
            called: What the caller calls N, for the message.

        Raises:
            ValueError: Unless 1 ≤ K ≤ N, or K < N where sets with and without a sample are met.
        """
        needs_contrast = baselines.resolve(self.baseline).needs_contrast
        check_set_size(self.set_size, num_samples, needs_contrast=needs_contrast, called=called)

    def advantages(
        self,
        rewards_BN: Array,
        *,
        rng: np.random.Generator | int | None = None,
        **fields: Array | None,
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
    """`dr_grpo` of r + weight·rarity, the reward shaping that Poly-EPO is compared with.

    Biased as a gradient of the shaped mean: the other samples count as constants.
    """
    return Method("grpo_div", objectives.mean(), shaping=DiversityBonus(weight))


def poly_epo(
    set_size: SetSize = 4, estimator: Estimator | None = None, diversity: Objective | None = None
) -> Method:
    """u − U of mean reward × share of strategies: arXiv:2604.17654, Eq. 8 and 10, all sets.

    Its code has the default diversity, `objectives.distinct_share()`; the paper's Algorithm 2 has
    `objectives.mixed_share()`.
    """
    objective = objectives.polychromic(diversity or objectives.distinct_share())
    return Method("poly_epo", *_sized(objective, set_size), estimator=estimator)


def maxpo(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method:
    """u − v of max@K, expected improvement with leave-two-out: arXiv:2606.06080."""
    sized = _sized(objectives.max(), set_size)
    return Method("maxpo", *sized, "leave_one_out", estimator=estimator)


def pkpo(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method:
    """u − w of max@K, N/K times s_loo−1 of arXiv:2505.15201, Eq. 33; not centred."""
    return Method("pkpo", *_sized(objectives.max(), set_size), "smaller_sets", estimator=estimator)


def pass_k_training(set_size: SetSize = 4) -> Method:
    """(u − U) / σ of pass@K, σ = √(U(1 − U)): arXiv:2508.10751. Biased: prompts are re-weighted.

    1e-4 is added to σ, where its code adds 1e-6.
    """
    return Method("pass_k_training", *_sized(objectives.any_correct(), set_size), scale="score_std")


def _sized(objective: Objective, set_size: SetSize) -> tuple[Objective, int]:
    """An objective and its K; of several sizes, `over_sizes` of it and the largest."""
    if not isinstance(set_size, Mapping):
        return objective, set_size
    mixed = objectives.over_sizes(objective, {int(k): w for k, w in set_size.items()})
    return mixed, mixed.set_size


def order_grad(weights: Sequence[float]) -> Method:
    """u − v of Σⱼ weights[j] · (j-th smallest of K rewards), K weights: arXiv:2606.06096."""
    statistic = objectives.l_statistic(weights)
    return Method("order_grad", statistic, statistic.set_size, "leave_one_out")


def darling(floor: float = 0.1) -> Method:
    """`dr_grpo` of reward × diversity of the sample: arXiv:2509.02534.

    Biased as a gradient of the shaped mean: the other samples count as constants.
    """
    return Method("darling", objectives.mean(), shaping=QualityTimesDiversity(floor))


def maxrl() -> Method:
    """(rᵢ − mean r) / mean r, for rewards of at least 0: arXiv:2602.02710.

    With rewards of 0 and 1 it is unbiased for N·Σ_{K<N} ∇pass@K / K, log-likelihood of success cut
    off at N − 1: it equals N − 1 times u − v of `over_sizes(any_correct(), {K: 1/K for K < N})`.
    """
    return Method("maxrl", objectives.mean(), shaping=ShareOfMean())


def unlikeliness(beta: float = 0.25) -> Method:
    """`grpo` of r·(1 − β·rank/N), rank by log-probability (`proxy`): arXiv:2506.02355.

    Biased: prompts are re-weighted, and the other samples count as constants.
    """
    shaping = UnlikelinessBonus(beta)
    return Method("unlikeliness", objectives.mean(), scale="group_std", shaping=shaping)


by_name: dict[str, Callable[..., Method]] = {
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "rloo": rloo,
    "grpo_div": grpo_div,
    "poly_epo": poly_epo,
    "maxpo": maxpo,
    "pkpo": pkpo,
    "pass_k_training": pass_k_training,
    "order_grad": order_grad,
    "darling": darling,
    "maxrl": maxrl,
    "unlikeliness": unlikeliness,
}


def from_config(config: Mapping[str, Any]) -> Method:
    """The method of a config such as {"method": "poly_epo", "set_size": 4}.

    Raises:
        ValueError: Naming the unknown method or argument, the near miss, and all that are known;
            or the argument that is missing.
    """
    if "method" not in config:
        raise ValueError(f"a method's config needs the key 'method', got {dict(config)!r}")
    arguments = {key: value for key, value in config.items() if key != "method"}
    make = names.look_up("method", config["method"], by_name)
    parameters = inspect.signature(make).parameters
    for key, value in arguments.items():
        names.look_up(f"argument of {config['method']}", key, parameters)
        if key == "diversity" and isinstance(value, str):
            arguments[key] = names.look_up("diversity", value, objectives.by_name)()
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in arguments:
            raise ValueError(f"{config['method']} needs the argument {key!r}")
    return make(**arguments)
