"""Published methods, each one value: objective × set size × baseline × reduction × scale.

>>> maxpo(set_size=4).baseline
'leave_one_out'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from setrl.core import objectives
from setrl.core.adjusting import HardPrompts, InverseStrategySize, Uniformity
from setrl.core.credit import Estimator
from setrl.core.method import AnyMethod, Method, Reduction, Scale
from setrl.core.objectives import Objective
from setrl.core.shaping import (
    ConcaveCounts,
    DiversityBonus,
    QualityTimesDiversity,
    ShareOfMean,
    Signed,
    UnlikelinessBonus,
)

Make = TypeVar("Make", bound=Callable[..., AnyMethod])
SetSize = int | Mapping[int, float]  # K, or a weight for each of several: {1: 0.5, 8: 0.5}

by_name: dict[str, Callable[..., AnyMethod]] = {}  # by `_published`, in the order of this file
"""Name → the function that makes the method."""

labels: dict[str, str] = {}
"""Name → what figures and tables call the method."""


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
    return Method("poly_epo", *_with_set_sizes(objective, set_size), estimator=estimator)


@_published("MaxPO")
def maxpo(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method:
    """u − v of max@K, expected improvement with leave-two-out: arXiv:2606.06080."""
    sized = _with_set_sizes(objectives.max(), set_size)
    return Method("maxpo", *sized, "leave_one_out", estimator=estimator)


@_published("PKPO")
def pkpo(set_size: SetSize = 4, estimator: Estimator | None = None) -> Method:
    """u − w of max@K, N/K times s_loo−1 of arXiv:2505.15201, Eq. 33; not centred."""
    return Method(
        "pkpo", *_with_set_sizes(objectives.max(), set_size), "smaller_sets", estimator=estimator
    )


@_published("Pass@k Training")
def pass_k_training(set_size: SetSize = 4) -> Method:
    """(u − U) / σ of pass@K, σ = √(U(1 − U)): arXiv:2508.10751. Biased: prompts are re-weighted.

    1e-4 is added to σ, where its code adds 1e-6.
    """
    return Method(
        "pass_k_training", *_with_set_sizes(objectives.any_correct(), set_size), scale="score_std"
    )


def _with_set_sizes(objective: Objective, set_size: SetSize) -> tuple[Objective, int]:
    """Return an objective and its K; of several sizes, `over_sizes` of it and the largest."""
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


@_published("Set RL")
def set_rl(
    objective: Objective | None = None,
    set_size: SetSize | None = None,
    baseline: str = "all_sets",
    scale: Scale | None = None,
    estimator: Estimator | None = None,
    reduction: Reduction = "mean",
) -> Method:
    """u − U of any objective, `polychromic()` if none is given: Set RL, Algorithm 1, in mean form.

    With `reduction="sum"` it is Eq. 9 as the note writes it: C(N−1, K−1) times the mean form, so
    that Adam takes the same steps, but prompts with fewer usable samples count far less.

    It is a method for every objective of `setrl.objectives`, by name in configs. K is 4 unless the
    objective has its own.
    """
    objective = objective or objectives.polychromic()
    if set_size is None:
        set_size = objective.set_size or 4
    sized = _with_set_sizes(objective, set_size)
    return Method("set_rl", *sized, baseline, reduction, scale, estimator=estimator)


@_published("Poly-families")
def poly_families(
    set_size: SetSize = 4, variant_weight: float = 0.5, estimator: Estimator | None = None
) -> Method:
    """u − U of mean reward × `family_share`: Poly-EPO in which a family of strategies counts 1,
    and each further variant of it counts `variant_weight`. Not from a paper: it uses the two levels
    of Poly-EPO's judge.
    """
    objective = objectives.polychromic(objectives.family_share(variant_weight))
    return Method("poly_families", *_with_set_sizes(objective, set_size), estimator=estimator)


@_published("Poly-mixture")
def poly_mixture(
    alpha: float = 0.5, set_size: int = 4, diversity: Objective | None = None
) -> Method:
    """u − U of (1 − α)·mean reward + α·mean reward × diversity, α from 0 to 1; often α falls.

    It equals ((1 − α)·(1/K − 1/N)·N/(N − 1))·dr_grpo + α·poly_epo. Not from a paper.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be from 0 to 1, got {alpha}")
    polychromic = objectives.polychromic(diversity or objectives.distinct_share())
    return Method("poly_mixture", (1 - alpha) * objectives.mean() + alpha * polychromic, set_size)


@_published("Concave counts")
def concave_counts(
    alpha: float = 0.0,
    penalty: float = 0.0,
    baseline: str = "none",
    scale: Scale | None = None,
) -> Method:
    """mᵢ^(α−1) if right, −β if wrong, where mᵢ right samples have i's strategy; no baseline.

    It is the gain f(S) − f(S∖i) of f(S) = Σ_c Σ_{j≤m_c} j^(α−1), all N samples as the set; so it is
    unbiased for the gradient of E[f − β·wrong samples]. It reads only which samples are right: a
    graded or a further reward enters as a part of a sum of methods. α = 0 is the Shapley value of
    `distinct_correct`, α = 1 mean reward without a baseline. Not from a paper.

    With the baseline `all_sets` or `leave_one_out` it is biased for f, but exactly a gradient: of
    f − Σ_c m_c^α/N, up to a factor. α = 0 with `scale="total"` is imitation of one's own right
    samples, balanced over strategies, with the same weight for every prompt.
    """
    shaping = ConcaveCounts(alpha, penalty)
    return Method("concave_counts", objectives.mean(), 1, baseline, scale=scale, shaping=shaping)


@_published("RAFT")
def raft() -> Method:
    """rᵢ, without a baseline: imitation of one's own right samples (arXiv:2304.06767).

    Unbiased: N·∇J. The best of a prompt's samples, which the paper keeps, are the right ones.
    """
    return Method("raft", objectives.mean(), 1, "none")


@_published("W-REINFORCE")
def w_reinforce(right: float = 0.1) -> Method:
    """λ for right samples and −1 for wrong ones, no baseline: arXiv:2506.01347, λ = .1.

    Unbiased: N·(1 + λ)·∇J, with rewards of 0 and 1.
    """
    return Method("w_reinforce", objectives.mean(), 1, "none", shaping=Signed(right))


@_published("F-GRPO")
def f_grpo(gamma: float = 1.0) -> Method:
    """(1 − p̂)^γ · `grpo`, where p̂ is the share of right samples: arXiv:2602.06717.

    Biased: prompts are re-weighted. We do not know the paper's γ.
    """
    adjustment = HardPrompts(gamma)
    return Method("f_grpo", objectives.mean(), 1, scale="group_std", adjustment=adjustment)


@_published("UCPO")
def ucpo(tau: float = 0.1) -> Method:
    """`grpo` + τ·(−log qᵢ − H(q)) on right samples, q = softmax of their `proxy`: arXiv:2605.00365.

    The proxy is a sample's mean log-probability. Biased: prompts are re-weighted, q is a constant.
    """
    adjustment = Uniformity(tau)
    return Method("ucpo", objectives.mean(), 1, scale="group_std", adjustment=adjustment)


@_published("UARL")
def uarl() -> Method:
    """`grpo` / m, where m samples use the same strategy: arXiv:2601.08763, from its abstract.

    Biased: prompts are re-weighted, the other samples count as constants, and the sum is not 0.
    """
    adjustment = InverseStrategySize()
    return Method("uarl", objectives.mean(), 1, scale="group_std", adjustment=adjustment)
