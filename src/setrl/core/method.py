"""`Method`: objective × set size × baseline × scale as one value, and how methods add up.

`MethodSum` is in the same file as `Method`, whose operators make it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Unpack, cast, get_args

import numpy as np

from setrl.core.adjusting import Adjustment
from setrl.core.credit import baselines
from setrl.core.credit.baselines import Baseline
from setrl.core.credit.estimators import BLOCK, Credit, Estimator, Exact, advance
from setrl.core.credit.rounding import gain_without_rounding
from setrl.core.inputs import Fields, check_set_size, read_samples
from setrl.core.objectives.base import Objective, all_reads
from setrl.core.shaping import Shaping
from setrl.samples.arrays import Array, like
from setrl.samples.samples import Samples

Reduction = Literal["mean", "sum"]
Scale = Literal["group_std", "score_std", "total"]

STD_FLOOR = 1e-4  # added to what a scale divides by, as GRPO's trainers do


@dataclass(frozen=True)
class Advantages:
    """The credit of each sample, and the means that it was computed from; all float64.

    Attributes:
        values_BN: The advantage that goes into the loss; 0 for samples that were left out.
        with_BN: u, the mean score of the sets that hold the sample; NaN if left out.
        without_BN: v, the mean score of the sets without the sample; NaN if left out, or at K = N.
        mean_B: U, the mean score of all sets; NaN for skipped prompts.
        stderr_BN: Standard error of the values where sets were sampled; None when exact.
        usable_BN: False for samples that were left out: masked, or a field that is needed is NaN.
        skipped_B: True for prompts with too few usable samples; their advantages are 0.
        estimator: How the means were computed, in words.
        is_exact: False where sets were sampled.
    """

    values_BN: Array
    with_BN: Array
    without_BN: Array
    mean_B: Array
    stderr_BN: Array | None
    usable_BN: Array
    skipped_B: Array
    estimator: str
    is_exact: bool = True


class AnyMethod(ABC):
    """What gives samples their advantages: a `Method`, or a `MethodSum` of them.

    Methods add, and multiply by numbers:

    >>> from setrl import methods
    >>> 0.5 * methods.dr_grpo() + 0.5 * methods.maxpo(set_size=4)
    0.5 dr_grpo + 0.5 maxpo
    """

    name: str
    set_size: int
    scale: Scale | None

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """The fields that it must be given, such as "rewards", "strategies" and "answers"."""

    @property
    @abstractmethod
    def needs_contrast(self) -> bool:
        """Whether sets with a sample are compared with sets without it, so that K < N."""

    @property
    @abstractmethod
    def fewest_samples(self) -> int:
        """How many usable samples a prompt must have: fewer give advantages of 0."""

    @abstractmethod
    def check_samples(self, num_samples: int, called: str = "num_samples") -> None:
        """Refuse a K that leaves prompts of so many samples without credit.

        Args:
            num_samples: N.
            called: What the caller calls N, for the message.

        Raises:
            ValueError: If N is below `fewest_samples`.
        """

    @abstractmethod
    def of_dense(self, samples: Samples, rng: np.random.Generator | None) -> Advantages:
        """Return the advantages of prompts that have all their samples, fields (B, N)."""

    def advantages(
        self,
        given: Samples | Array,
        *,
        rng: np.random.Generator | int | None = None,
        **fields: Unpack[Fields],
    ) -> Advantages:
        """Return what `set_advantages(rewards_BN, self, …)` returns.

        Args:
            given: `Samples`, of which it reads what it needs, or rewards, (B, N).
            rng: As of `set_advantages`.
            fields: What else describes the samples; see `setrl.Fields`.
        """
        columns = {**given.columns} if isinstance(given, Samples) else {"rewards": given}
        rewards_BN = columns.pop("rewards")
        samples = read_samples(rewards_BN, self.reads, cast(Fields, {**columns, **fields}))
        # The width of a batch is known beforehand: too narrow is a mistake, not a prompt to be
        # skipped.
        self.check_samples(samples.num_samples)
        generator = None if rng is None else np.random.default_rng(rng)
        return _convert_arrays(_credit_ragged(samples, self, generator), rewards_BN)

    def __add__(self, other: AnyMethod) -> MethodSum:
        """Aᵢ + Bᵢ, as one flat sum."""
        if not isinstance(other, AnyMethod):
            return NotImplemented
        left, right = _to_sum(self), _to_sum(other)
        return MethodSum(left.parts + right.parts, left.weights + right.weights)

    def __mul__(self, weight: float) -> MethodSum:
        """weight·Aᵢ."""
        if not isinstance(weight, Real):
            return NotImplemented
        total = _to_sum(self)
        return MethodSum(total.parts, tuple(float(weight) * factor for factor in total.weights))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Method(AnyMethod):
    """Everything that decides the advantages of samples, as one value.

    `setrl.methods` holds the published ones. A method is checked when it is made.

    Attributes:
        name: The name that configs and figures use.
        objective: What a set is worth; see `setrl.objectives`.
        set_size: K, at least 1; may be left out where the objective has its own K.
        baseline: What u is compared with: `all_sets` U, `leave_one_out` v, `others_mean`
            v·N/(N − 1), `smaller_sets` w, `shapley` w averaged over the sizes up to K, `none` 0, or
            a value such as `credit.Mixture(0.5)`.
        reduction: `mean` over the sets of a sample, or their `sum`.
        scale: Divide a prompt's advantages by their standard deviation (`group_std`, GRPO's for
            K = 1), by the standard deviation of its set scores (`score_std`), or by the sum of
            their absolute values (`total`, so that all prompts weigh the same); 1e-4 is added to
            the divisor. All three make the update biased.
        shaping: A change of a prompt's rewards before sets are scored; see `setrl.core.shaping`.
        estimator: How set means are computed; None for `credit.Exact()`.
        adjustment: A change of the advantages, after the scale; see `setrl.core.adjusting`.

    Raises:
        ValueError: Naming the field, its value, and what would be right.
    """

    name: str
    objective: Objective
    set_size: int = None  # type: ignore[assignment]  # the objective's own, once it is made
    baseline: str | Baseline = "all_sets"
    reduction: Reduction = "mean"
    scale: Scale | None = None
    shaping: Shaping | None = None
    estimator: Estimator | None = None
    adjustment: Adjustment | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Objective):
            raise ValueError(
                "objective must be a value such as objectives.max(), or "
                f"objectives.from_function(f) for a function, got {self.objective!r}"
            )
        object.__setattr__(self, "set_size", self.objective.resolve_set_size(self.set_size))
        check_set_size(self.set_size)
        baseline, size = baselines.resolve(self.baseline), self.objective.set_size
        if baseline.averages_sizes and size is not None:
            raise ValueError(
                f"baseline={self.baseline!r} scores sets of 1 to {size}, and {self.objective!r} is "
                f"made for sets of {size} only: use an objective for sets of every size"
            )
        _check_choice("reduction", self.reduction, get_args(Reduction))
        _check_choice("scale", self.scale, (None, *get_args(Scale)))
        if isinstance(self.estimator, type) or not callable(self.estimator or Exact()):
            raise ValueError(
                f"estimator must be a value such as credit.Exact(), got {self.estimator!r}"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that it must be given: of "rewards", "correct", "strategies", …."""
        readers = [part for part in (self.shaping, self.adjustment) if part is not None]
        fields = all_reads(self.objective, *readers)
        if self.shaping is None or "rewards" in self.shaping.reads:
            return fields
        return tuple(name for name in fields if name != "rewards")  # it replaces them

    @property
    def needs_contrast(self) -> bool:
        """Whether sets with a sample are compared with sets without it, so that K < N."""
        return baselines.resolve(self.baseline).needs_contrast

    @property
    def fewest_samples(self) -> int:
        """How many usable samples a prompt must have: fewer give advantages of 0."""
        return self.set_size + self.needs_contrast

    def check_samples(self, num_samples: int, called: str = "num_samples") -> None:
        """Refuse a K that leaves prompts of so many samples without credit."""
        check_set_size(
            self.set_size, num_samples, needs_contrast=self.needs_contrast, called=called
        )

    @property
    def is_light(self) -> bool:
        """Whether it only passes over each prompt's samples a few times, and needs no others."""
        return (
            self.objective.is_light
            and isinstance(self.estimator, Exact | None)
            and isinstance(baselines.resolve(self.baseline), baselines.BY_PROMPT)
            and self.shaping is None
            and self.adjustment is None
        )

    def of_dense(self, samples: Samples, rng: np.random.Generator | None) -> Advantages:
        """Return the advantages of prompts that have all their samples, fields (B, N)."""
        num_prompts, n = samples.rewards.shape
        step = max(1, BLOCK // n)
        if num_prompts <= step or not self.is_light:
            return _credit_whole(samples, self, rng)
        return _credit_in_blocks(samples, self, step)


@dataclass(frozen=True, repr=False)
class MethodSum(AnyMethod):
    """Aᵢ = Σ_t weight_t · Aᵢ(part_t): several methods at once, such as accuracy and diversity.

    Its mean update is the same sum of the parts' mean updates. All parts see the same samples: a
    sample counts if every part can use it, and a prompt that is too small for one part is skipped
    by all. `with_BN`, `without_BN` and `mean_B` are the weighted sums of the parts' means.

    The parts draw their sets one after the other, and independently. So the squares of their
    standard errors add: stderr = √Σ (weight·stderr)², where an exact part has 0. It is None where a
    part samples its sets and knows none of its own.

    Attributes:
        parts: The methods.
        weights: One number for each.
        adjustment: A change of the summed advantages, after the adjustments of the parts. A sum
            with an adjustment becomes one part of a larger sum.

    Raises:
        ValueError: If there are no parts, or not one finite weight for each.
    """

    parts: tuple[AnyMethod, ...]
    weights: tuple[float, ...]
    adjustment: Adjustment | None = None

    def __post_init__(self) -> None:
        if not self.parts or len(self.parts) != len(self.weights):
            raise ValueError(
                f"a sum of methods needs a weight for each part, got {len(self.parts)} parts and "
                f"{len(self.weights)} weights"
            )
        if not np.isfinite(self.weights).all():
            raise ValueError(f"the weights of a sum must be finite, got {self.weights}")
        for part in self.parts:
            if not isinstance(part, AnyMethod):
                raise ValueError(f"the parts of a sum must be methods, got {part!r}")

    def __repr__(self) -> str:
        weighted = zip(self.weights, self.parts, strict=True)
        total = " + ".join(f"{weight:g} {part.name}" for weight, part in weighted)
        return total if self.adjustment is None else f"{self.adjustment!r}({total})"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The parts with their weights."""
        return repr(self)

    @property
    def set_size(self) -> int:  # type: ignore[override]
        """The largest K of the parts."""
        return max(part.set_size for part in self.parts)

    @property
    def scale(self) -> Scale | None:  # type: ignore[override]
        """The first scale of a part."""
        return next((part.scale for part in self.parts if part.scale is not None), None)

    @property
    def reads(self) -> tuple[str, ...]:
        """What any part reads, and the adjustment."""
        readers = () if self.adjustment is None else (self.adjustment,)
        return all_reads(*self.parts, *readers)

    @property
    def needs_contrast(self) -> bool:
        """Whether a part needs it."""
        return any(part.needs_contrast for part in self.parts)

    @property
    def fewest_samples(self) -> int:
        """The largest number that a part needs."""
        return max(part.fewest_samples for part in self.parts)

    def check_samples(self, num_samples: int, called: str = "num_samples") -> None:
        """Refuse a K of a part that leaves prompts of so many samples without credit."""
        for part in self.parts:
            part.check_samples(num_samples, called)

    def of_dense(self, samples: Samples, rng: np.random.Generator | None) -> Advantages:
        """Return the weighted sums of the parts' advantages and means."""
        parts = [part.of_dense(samples, rng) for part in self.parts]

        def total(name: str) -> np.ndarray:
            pairs = zip(self.weights, parts, strict=True)
            return np.asarray(sum(weight * getattr(part, name) for weight, part in pairs))

        used = dict.fromkeys(part.estimator for part in parts)
        values_BN, stderr_BN = _apply_adjustment(
            total("values_BN"), _join_stderrs(self.weights, parts), self.adjustment, samples
        )
        return Advantages(
            values_BN=values_BN,
            with_BN=total("with_BN"),
            without_BN=total("without_BN"),
            mean_B=total("mean_B"),
            stderr_BN=stderr_BN,
            usable_BN=parts[0].usable_BN,
            skipped_B=parts[0].skipped_B,
            estimator="; ".join(used),
            is_exact=all(part.is_exact for part in parts),
        )


def _join_stderrs(weights: tuple[float, ...], parts: list[Advantages]) -> np.ndarray | None:
    """√Σ (weight·stderr)²; None where all parts are exact, or where one is not known."""
    if any(part.stderr_BN is None and not part.is_exact for part in parts):
        return None
    pairs = zip(weights, parts, strict=True)
    squares = [(w * part.stderr_BN) ** 2 for w, part in pairs if part.stderr_BN is not None]
    return np.sqrt(sum(squares)) if squares else None


def _to_sum(method: AnyMethod) -> MethodSum:
    is_flat = isinstance(method, MethodSum) and method.adjustment is None
    return method if is_flat else MethodSum((method,), (1.0,))  # type: ignore[return-value]


class Collected:
    """Advantages that are put together from parts of a batch; samples in no part are left out."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        # One allocation: several of 1 MB would go back to the system after each call, and come
        # again page by page, which takes longer than the arithmetic.
        self.values_BN, self.with_BN, self.without_BN = np.full((3, *shape), np.nan)
        self.values_BN[:] = 0.0
        self.mean_B, self.skipped_B = np.zeros(shape[0]), np.ones(shape[0], dtype=bool)
        self.stderr_BN: np.ndarray | None = None
        self.used, self.is_exact = "none", True

    def add(self, rows: np.ndarray | slice, at: Any, part: Advantages) -> None:
        """Enter the advantages of some prompts (rows), whose samples are at these places."""
        self.values_BN[at], self.with_BN[at] = part.values_BN, part.with_BN
        self.without_BN[at] = part.without_BN
        self.mean_B[rows] += part.mean_B
        self.skipped_B[rows] = False
        self.used, self.is_exact = part.estimator, self.is_exact and part.is_exact
        if part.stderr_BN is not None:
            if self.stderr_BN is None:
                self.stderr_BN = np.zeros(self.values_BN.shape)
            self.stderr_BN[at] = part.stderr_BN

    def advantages(self, usable_BN: np.ndarray) -> Advantages:
        """Return all of them."""
        return Advantages(
            self.values_BN,
            self.with_BN,
            self.without_BN,
            np.where(self.skipped_B, np.nan, self.mean_B),
            self.stderr_BN,
            usable_BN,
            self.skipped_B,
            self.used,
            self.is_exact,
        )


def _credit_ragged(
    samples: Samples, method: AnyMethod, rng: np.random.Generator | None
) -> Advantages:
    """Return the advantages of ragged prompts: computed together for prompts of one size."""
    usable_BN = samples.mask
    if len(usable_BN) and samples.num_samples >= method.fewest_samples and usable_BN.all():
        return method.of_dense(samples, rng)
    collected, drawing = Collected(usable_BN.shape), rng
    for at, alike in samples.equal_sizes(method.fewest_samples):
        # The draws for prompts of one size do not depend on which other sizes are in the batch.
        drawing = deepcopy(rng)
        collected.add(at[0][:, 0], at, method.of_dense(alike, drawing))
    advance(rng, drawing)
    return collected.advantages(usable_BN)


def _credit_in_blocks(samples: Samples, method: Method, step: int) -> Advantages:
    """Return the advantages, computed for a few prompts at a time.

    New arrays of the whole batch would take longer than the arithmetic; arrays of a block stay in
    the processor's cache.
    """
    collected = Collected(samples.rewards.shape)
    for start in range(0, len(samples.rewards), step):
        at = slice(start, start + step)
        collected.add(at, at, _credit_whole(samples.of_prompts(at), method, None))
    return collected.advantages(np.ones(samples.rewards.shape, dtype=bool))


def _credit_whole(samples: Samples, method: Method, rng: np.random.Generator | None) -> Advantages:
    """Advantages of prompts that have all their samples."""
    unshaped = samples
    if method.shaping is not None:
        samples = replace(samples, rewards=method.shaping(samples))
    estimator, baseline = method.estimator or Exact(), baselines.resolve(method.baseline)
    credit = estimator(method.objective, samples, method.set_size, rng)
    gain_BN = None
    if baseline.needs_gain:
        gain_BN = _gain_over_smaller(credit, samples, method, rng)
    if gain_BN is not None and baseline.averages_sizes:
        gain_BN = _average_gain(gain_BN, samples, method, rng)
    values_BN, stderr_BN = baseline(credit, gain_BN), baseline.stderr(credit)
    if credit.stderr_contrast_BN is not None:
        # A sample that no drawn set holds, or that all of them hold, shows no difference.
        values_BN = np.where(np.isnan(values_BN), 0.0, values_BN)
    if method.reduction != "mean" or method.scale is not None:
        factor_BN = _compute_factor(values_BN, credit, method)
        values_BN = values_BN * factor_BN
        stderr_BN = None if stderr_BN is None else stderr_BN * factor_BN
    values_BN, stderr_BN = _apply_adjustment(values_BN, stderr_BN, method.adjustment, unshaped)
    return Advantages(
        values_BN,
        credit.means.with_BN,
        credit.means.without_BN,
        credit.means.mean_B,
        stderr_BN,
        usable_BN=np.ones(samples.rewards.shape, dtype=bool),
        skipped_B=np.zeros(len(samples.rewards), dtype=bool),
        estimator=credit.used,
        is_exact=credit.stderr_contrast_BN is None,
    )


def _apply_adjustment(
    values_BN: np.ndarray,
    stderr_BN: np.ndarray | None,
    adjustment: Adjustment | None,
    samples: Samples,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Advantages and their standard errors, changed as an adjustment says."""
    if adjustment is None:
        return values_BN, stderr_BN
    factor, term = adjustment(values_BN, samples)
    return values_BN * factor + term, None if stderr_BN is None else stderr_BN * np.abs(factor)


def _gain_over_smaller(
    credit: Credit, samples: Samples, method: Method, rng: np.random.Generator | None
) -> np.ndarray:
    """u − w, from the closed form where there is one; w is 0 for K = 1."""
    if method.set_size == 1:
        return credit.means.with_BN
    if credit.means.gain_BN is not None:
        return credit.means.gain_BN
    smaller = (method.estimator or Exact())(method.objective, samples, method.set_size - 1, rng)
    given_B = samples.largest(method.objective.reads)
    return gain_without_rounding(credit.means, smaller.means, given_B)


def _average_gain(
    gain_BN: np.ndarray, samples: Samples, method: Method, rng: np.random.Generator | None
) -> np.ndarray:
    """Return the mean of u − w over sets of 1 to K, given it for K."""
    estimator = method.estimator or Exact()
    for size in range(1, method.set_size):
        credit = estimator(method.objective, samples, size, rng)
        gain_BN = gain_BN + _gain_over_smaller(credit, samples, replace(method, set_size=size), rng)
    return gain_BN / method.set_size


def _compute_factor(values_BN: np.ndarray, credit: Credit, method: Method) -> np.ndarray:
    """Return what the reduction and the scale multiply the advantages by; (N,) or (B, 1)."""
    factor = credit.share_N * credit.num_sets if method.reduction == "sum" else np.ones(1)
    if np.isinf(factor).any():
        raise ValueError(
            f"reduction='sum' over the sets of {method.set_size} has no float: use reduction='mean'"
        )
    if method.scale is None:
        return factor
    if method.scale == "group_std":
        divisor_B = np.std(values_BN, axis=-1, ddof=1 if values_BN.shape[-1] > 1 else 0)
    elif method.scale == "total":
        divisor_B = np.abs(values_BN).sum(axis=-1)
    elif credit.means.variance_B is not None:
        divisor_B = np.sqrt(np.maximum(credit.means.variance_B, 0.0))
    else:
        raise ValueError(
            f"scale='score_std' has no closed form for {method.objective!r}: "
            "use estimator=credit.Enumerated() or credit.Sampled(num_sets)"
        )
    return factor / (divisor_B[:, None] + STD_FLOOR)


def _convert_arrays(advantages: Advantages, reference: Array) -> Advantages:
    """Return the advantages with arrays of the reference's kind."""
    if isinstance(reference, np.ndarray):
        return advantages
    parts = vars(advantages).items()
    return Advantages(
        **{
            name: like(part, reference) if isinstance(part, np.ndarray) else part
            for name, part in parts
        }
    )


def _check_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
