"""`set_advantages`: from what samples are to what each is owed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from setrl.core.arrays import Array, like
from setrl.core.credit import baselines
from setrl.core.credit.baselines import Baseline
from setrl.core.credit.estimators import Credit, Estimator, Exact
from setrl.core.inputs import Batch, read_batch
from setrl.core.objectives.base import Objective
from setrl.core.samples import Samples
from setrl.core.shaping import Shaping

BaselineName = Literal["all_sets", "leave_one_out", "smaller_sets", "none"]
Reduction = Literal["mean", "sum"]
Scale = Literal["group_std", "score_std"]

STD_FLOOR = 1e-4  # added to a standard deviation before it divides, as GRPO's trainers do


@dataclass(frozen=True)
class Advantages:
    """What each sample is owed, and the means that it was found from. float64.

    Attributes:
        values_BN: The advantage that goes into the loss; 0 for samples that were left out.
        with_BN: u, the mean score of the sets that hold the sample; NaN if left out.
        without_BN: v, that of the sets that do not; NaN if left out, or at K = N.
        mean_B: U, the mean score of all sets; NaN for skipped prompts.
        stderr_BN: Standard error of the values where sets were sampled; None when exact.
        usable_BN: False for samples that were left out: masked, or a field that is needed is NaN.
        skipped_B: True for prompts with too few usable samples; their advantages are 0.
        estimator: How the means were had, in words.
    """

    values_BN: Array
    with_BN: Array
    without_BN: Array
    mean_B: Array
    stderr_BN: Array | None
    usable_BN: Array
    skipped_B: Array
    estimator: str


@dataclass(frozen=True)
class CreditRule:
    """Everything that decides an advantage but the samples; see `set_advantages`."""

    objective: Objective
    set_size: int
    baseline: Baseline
    reduction: Reduction = "mean"
    scale: Scale | None = None
    shaping: Shaping | None = None
    estimator: Estimator = field(default_factory=Exact)

    def __post_init__(self) -> None:
        _check_choice("reduction", self.reduction, ("mean", "sum"))
        _check_choice("scale", self.scale, (None, "group_std", "score_std"))

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that must be given."""
        return (*self.objective.reads, *(self.shaping.reads if self.shaping else ()))

    @property
    def fewest_samples(self) -> int:
        """How many usable samples a prompt must have."""
        return self.set_size + 1 if self.baseline.needs_contrast else self.set_size


def set_advantages(
    rewards_BN: Array,
    *,
    objective: Objective,
    set_size: int | None = None,
    clusters: Array | None = None,
    answers: Array | None = None,
    proxy: Array | None = None,
    pairs: Array | None = None,
    mask: Array | None = None,
    baseline: BaselineName | Baseline = "all_sets",
    reduction: Reduction = "mean",
    scale: Scale | None = None,
    shaping: Shaping | None = None,
    estimator: Estimator | None = None,
    rng: np.random.Generator | int | None = None,
) -> Advantages:
    """The marginal set advantage of every sample: the difference that it makes to its sets.

        Aᵢ = mean{f(S) : i∈S} − baseline,     S ⊂ {1…N}, |S| = K

    Set RL, Eq. 9 and Algorithm 1, by index and never by value, with the mean over a sample's sets
    unless `reduction="sum"`. Every set counts, exactly, where the objective has a closed form.

    Args:
        rewards_BN: (B, N) rewards; NaN or None marks a sample without one, which leaves the sets.
        objective: What a set is worth; see `setrl.objectives`.
        set_size: K, from 1 to N; may be left out where the objective has one of its own.
        clusters: (B, N) labels of the strategies used, integers; −1 is in no cluster, NaN or None
            unknown.
        answers: (B, N) final answers, numbers or strings.
        proxy: (B, N) what a selector goes by.
        pairs: (B, N, N) a number for each pair of samples.
        mask: (B, N) bool, False where a prompt has no such sample (ragged groups).
        baseline: What u is compared with: `all_sets` U, `leave_one_out` v, `smaller_sets` w,
            `none` 0, or a value such as `credit.Mixture(0.5)`.
        reduction: `mean` over the sets of a sample, or their `sum`.
        scale: Divide a prompt's advantages by their standard deviation (`group_std`, GRPO's for
            K = 1) or by that of its set scores (`score_std`); 1e-4 is added to it. Both bias.
        shaping: A change of a prompt's rewards before sets are scored; see `setrl.core.shaping`.
        estimator: `credit.Exact()` by default.
        rng: A generator, or its seed; needed where sets are sampled.

    Returns:
        `Advantages`, arrays of the kind of `rewards_BN`.

    Raises:
        ValueError: Naming the argument, its value, and what would be right.

    >>> import numpy as np
    >>> from setrl import objectives, set_advantages
    >>> rewards, strategies = np.array([[1.0, 1, 1, 0]]), np.array([[0, 0, 1, 2]])
    >>> poly = objectives.polychromic()
    >>> adv = set_advantages(rewards, objective=poly, set_size=2, clusters=strategies)
    >>> adv.values_BN.round(3)
    array([[ 0.   ,  0.   ,  0.167, -0.167]])
    """
    _check_values(objective, estimator)
    fields = {"clusters": clusters, "answers": answers, "proxy": proxy, "pairs": pairs}
    set_size = objective.resolve_set_size(set_size)
    chosen = baselines.resolve(baseline)
    rule = CreditRule(objective, set_size, chosen, reduction, scale, shaping, estimator or Exact())
    batch = read_batch(rewards_BN, rule.reads, set_size, mask=mask, **fields)
    generator = None if rng is None else np.random.default_rng(rng)
    return _as_given(_of_batch(batch, rule, generator), rewards_BN)


def _of_batch(batch: Batch, rule: CreditRule, rng: np.random.Generator | None) -> Advantages:
    """Advantages of ragged prompts: those of equally many samples together, put in place."""
    parts = [
        (at, _of_dense(samples, rule, rng))
        for at, samples in batch.equal_sizes(rule.fewest_samples)
    ]
    if len(parts) == 1 and isinstance(parts[0][0][0], slice):
        return parts[0][1]
    shape = batch.usable_BN.shape
    values_BN, with_BN, without_BN = np.zeros(shape), np.full(shape, np.nan), np.full(shape, np.nan)
    mean_B, skipped_B = np.full(shape[0], np.nan), np.ones(shape[0], dtype=bool)
    stderr_BN, used = None, "none"
    for at, part in parts:
        rows = at[0][:, 0]
        values_BN[at], with_BN[at], without_BN[at] = part.values_BN, part.with_BN, part.without_BN
        mean_B[rows], skipped_B[rows], used = part.mean_B, False, part.estimator
        if part.stderr_BN is not None:
            stderr_BN = np.zeros(shape) if stderr_BN is None else stderr_BN
            stderr_BN[at] = part.stderr_BN
    return Advantages(
        values_BN, with_BN, without_BN, mean_B, stderr_BN, batch.usable_BN, skipped_B, used
    )


def _of_dense(samples: Samples, rule: CreditRule, rng: np.random.Generator | None) -> Advantages:
    """Advantages of prompts that have all their samples."""
    credit, values_BN, stderr_BN = _credit(samples, rule, rng)
    num_prompts, means = len(samples.rewards), credit.means
    usable_BN = np.ones(samples.rewards.shape, dtype=bool)
    skipped_B = np.zeros(num_prompts, dtype=bool)
    return Advantages(
        values_BN,
        means.with_BN,
        means.without_BN,
        means.mean_B,
        stderr_BN,
        usable_BN,
        skipped_B,
        credit.used,
    )


def _credit(
    samples: Samples, rule: CreditRule, rng: np.random.Generator | None
) -> tuple[Credit, np.ndarray, np.ndarray | None]:
    """Credit, advantages and their standard errors."""
    if rule.shaping is not None:
        samples = samples.with_rewards(rule.shaping(samples))
    credit = rule.estimator(rule.objective, samples, rule.set_size, rng)
    gain_BN = _gain(credit, samples, rule, rng) if rule.baseline.needs_gain else None
    values_BN, stderr_BN = rule.baseline(credit, gain_BN), rule.baseline.stderr(credit)
    if credit.stderr_contrast_BN is not None:
        # A sample that no drawn set holds, or that all of them hold, shows no difference.
        values_BN = np.where(np.isnan(values_BN), 0.0, values_BN)
    if rule.reduction == "mean" and rule.scale is None:
        return credit, values_BN, stderr_BN
    factor_BN = _factor(values_BN, credit, rule)
    return credit, values_BN * factor_BN, None if stderr_BN is None else stderr_BN * factor_BN


def _gain(
    credit: Credit, samples: Samples, rule: CreditRule, rng: np.random.Generator | None
) -> np.ndarray:
    """u − w, from the closed form where there is one; w is 0 for K = 1."""
    if rule.set_size == 1:
        return credit.means.with_BN
    if credit.means.gain_BN is not None:
        return credit.means.gain_BN
    smaller = rule.estimator(rule.objective, samples, rule.set_size - 1, rng)
    return credit.means.with_BN - smaller.means.without_BN


def _factor(values_BN: np.ndarray, credit: Credit, rule: CreditRule) -> np.ndarray:
    """What the reduction and the scale multiply the advantages by; (N,) or (B, 1)."""
    factor = credit.share_N * credit.num_sets if rule.reduction == "sum" else np.ones(1)
    if np.isinf(factor).any():
        raise ValueError(
            f"reduction='sum' over the sets of {rule.set_size} has no float: use reduction='mean'"
        )
    if rule.scale is None:
        return factor
    if rule.scale == "group_std":
        std_B = np.std(values_BN, axis=-1, ddof=1 if values_BN.shape[-1] > 1 else 0)
    elif credit.means.variance_B is not None:
        std_B = np.sqrt(np.maximum(credit.means.variance_B, 0.0))
    else:
        raise ValueError(
            f"scale='score_std' has no closed form for {rule.objective!r}: "
            "use estimator=credit.Enumerated() or credit.Sampled(num_sets)"
        )
    return factor / (std_B[:, None] + STD_FLOOR)


def _as_given(advantages: Advantages, reference: Array) -> Advantages:
    """The same with arrays of the reference's kind."""
    parts = vars(advantages)
    arrays = {
        name: like(part, reference) for name, part in parts.items() if isinstance(part, np.ndarray)
    }
    return Advantages(**{**parts, **arrays})


def _check_values(objective: Objective, estimator: Estimator | None) -> None:
    if not isinstance(objective, Objective):
        raise ValueError(
            "objective must be a value such as objectives.max(), or objectives.from_function(f) "
            f"for a function, got {objective!r}"
        )
    if isinstance(estimator, type | str):
        raise ValueError(f"estimator must be a value such as credit.Exact(), got {estimator!r}")


def _check_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
