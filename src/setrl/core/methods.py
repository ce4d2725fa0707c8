"""Published methods, each one value: objective × set size × baseline × reduction × scale.

>>> maxpo(set_size=4).baseline
'leave_one_out'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from setrl import names
from setrl.core import objectives
from setrl.core.advantages import Method
from setrl.core.credit import Estimator
from setrl.core.objectives import Objective
from setrl.core.shaping import (
    DiversityBonus,
    QualityTimesDiversity,
    ShareOfMean,
    UnlikelinessBonus,
)

Make = TypeVar("Make", bound=Callable[..., Method])
SetSize = int | Mapping[int, float]  # K, or a weight for each of several: {1: 0.5, 8: 0.5}

by_name: dict[str, Callable[..., Method]] = {}  # filled by `_published`, in the order of this file
labels: dict[str, str] = {}  # what figures and tables call each


def _published(label: str) -> Callable[[Make], Make]:
    """Enter a method under the name of its function, with what figures call it."""

    def enter(make: Make) -> Make:
        by_name[make.__name__], labels[make.__name__] = make, label
        return make

    return enter


@_published("GRPO")
def grpo() -> Method:
    """(rᵢ − mean r) / std r: arXiv:2402.03300, Eq. 4. Biased: prompts are re-weighted."""
    return Method("grpo", objectives.mean(), 1, scale="group_std")


@_published("Dr. GRPO")
def dr_grpo() -> Method:
    """rᵢ − mean r, GRPO without the standard deviation: arXiv:2503.20783."""
    return Method("dr_grpo", objectives.mean(), 1)


@_published("RLOO")
def rloo() -> Method:
    """rᵢ − mean of the other rewards: arXiv:2402.14740."""
    return Method("rloo", objectives.mean(), 1, baseline="leave_one_out")


@_published("GRPO+DIV")
def grpo_div(weight: float = 1.0) -> Method:
    """`dr_grpo` of r + weight·rarity, the reward shaping that Poly-EPO is compared with.

    Biased as a gradient of the shaped mean: the other samples count as constants.
    """
    return Method("grpo_div", objectives.mean(), 1, shaping=DiversityBonus(weight))


@_published("Poly-EPO")
def poly_epo(
    set_size: SetSize = 4, estimator: Estimator | None = None, diversity: Objective | None = None
) -> Method:
    """u − U of mean reward × share of strategies: arXiv:2604.17654, Eq. 8 and 10, all sets.

    Its code has the default diversity, `objectives.distinct_share()`; the paper's Algorithm 2 has
    `objectives.mixed_share()`.
    """
    objective = objectives.polychromic(diversity or objectives.distinct_share())
    return Method("poly_epo", *_sized(objective, set_size), estimator=estimator)


@_published("MaxPO")
def maxpo(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method:
    """u − v of max@K, expected improvement with leave-two-out: arXiv:2606.06080."""
    sized = _sized(objectives.max(), set_size)
    return Method("maxpo", *sized, "leave_one_out", estimator=estimator)


@_published("PKPO")
def pkpo(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method:
    """u − w of max@K, N/K times s_loo−1 of arXiv:2505.15201, Eq. 33; not centred."""
    return Method("pkpo", *_sized(objectives.max(), set_size), "smaller_sets", estimator=estimator)


@_published("Pass@k Training")
def pass_k_training(set_size: SetSize = 4) -> Method:
    """(u − U) / σ of pass@K, σ = √(U(1 − U)): arXiv:2508.10751. Biased: prompts are re-weighted.

    1e-4 is added to σ, where its code adds 1e-6.
    """
    return Method("pass_k_training", *_sized(objectives.any_correct(), set_size), scale="score_std")


def _sized(objective: Objective, set_size: SetSize) -> tuple[Objective, int]:
    """An objective and its K; of several sizes, `over_sizes` of it and the largest."""
    if not isinstance(set_size, Mapping):
        return objective, set_size
    mixed = objectives.over_sizes(objective, set_size)
    return mixed, mixed.set_size


@_published("OrderGrad")
def order_grad(weights: Sequence[float]) -> Method:
    """u − v of Σⱼ weights[j] · (j-th smallest of K rewards), K weights: arXiv:2606.06096."""
    statistic = objectives.l_statistic(weights)
    return Method("order_grad", statistic, statistic.set_size, "leave_one_out")


@_published("DARLING")
def darling(floor: float = 0.1) -> Method:
    """`dr_grpo` of reward × diversity of the sample: arXiv:2509.02534.

    Biased as a gradient of the shaped mean: the other samples count as constants.
    """
    return Method("darling", objectives.mean(), 1, shaping=QualityTimesDiversity(floor))


@_published("MaxRL")
def maxrl() -> Method:
    """(rᵢ − mean r) / mean r, for rewards of at least 0: arXiv:2602.02710.

    With rewards of 0 and 1 it is unbiased for N·Σ_{K<N} ∇pass@K / K, log-likelihood of success cut
    off at N − 1: it equals N − 1 times u − v of `over_sizes(any_correct(), {K: 1/K for K < N})`.
    """
    return Method("maxrl", objectives.mean(), 1, shaping=ShareOfMean())


@_published("Unlikeliness")
def unlikeliness(beta: float = 0.25) -> Method:
    """`grpo` of r·(1 − β·rank/N), rank by log-probability (`proxy`): arXiv:2506.02355.

    Biased: prompts are re-weighted, and the other samples count as constants.
    """
    shaping = UnlikelinessBonus(beta)
    return Method("unlikeliness", objectives.mean(), 1, scale="group_std", shaping=shaping)


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
