"""`Method` and `set_advantages`: what samples are → the credit of each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from setrl import names
from setrl.core.credit import baselines
from setrl.core.credit.baselines import Baseline
from setrl.core.credit.estimators import Credit, Estimator, Exact
from setrl.core.inputs import Array, Batch, check_set_size, like, read_batch
from setrl.core.objectives.base import Objective, all_reads
from setrl.core.samples import Samples
from setrl.core.shaping import Shaping

Reduction = Literal["mean", "sum"]
Scale = Literal["group_std", "score_std"]

STD_FLOOR = 1e-4  # added to a standard deviation before it divides, as GRPO's trainers do


@dataclass(frozen=True)
class Advantages:
    """The credit of each sample, and the means that it was computed from; all float64.

    Attributes:
        values_BN: The advantage that goes into the loss; 0 for samples that were left out.
        with_BN: u, the mean score of the sets that hold the sample; NaN if left out.
        without_BN: v, that of the sets that do not; NaN if left out, or at K = N.
        mean_B: U, the mean score of all sets; NaN for skipped prompts.
        stderr_BN: Standard error of the values where sets were sampled; None when exact.
        usable_BN: False for samples that were left out: masked, or a field that is needed is NaN.
        skipped_B: True for prompts with too few usable samples; their advantages are 0.
        estimator: How the means were computed, in words.
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
class Method:
    """Everything that decides the advantages of samples, as one value.

    `setrl.methods` holds the published ones. A method is checked when it is made.

    Attributes:
        name: The name that configs and figures use.
        objective: What a set is worth; see `setrl.objectives`.
        set_size: K, at least 1; may be left out where the objective has one of its own.
        baseline: What u is compared with: `all_sets` U, `leave_one_out` v, `smaller_sets` w,
            `none` 0, or a value such as `credit.Mixture(0.5)`.
        reduction: `mean` over the sets of a sample, or their `sum`.
        scale: Divide a prompt's advantages by their standard deviation (`group_std`, GRPO's for
            K = 1) or by that of its set scores (`score_std`); 1e-4 is added to it. Both bias.
        shaping: A change of a prompt's rewards before sets are scored; see `setrl.core.shaping`.
        estimator: How set means are computed; None for `credit.Exact()`.

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

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Objective):
            raise ValueError(
                "objective must be a value such as objectives.max(), or "
                f"objectives.from_function(f) for a function, got {self.objective!r}"
            )
        object.__setattr__(self, "set_size", self.objective.resolve_set_size(self.set_size))
        check_set_size(self.set_size)
        baselines.resolve(self.baseline)
        _check_choice("reduction", self.reduction, get_args(Reduction))
        _check_choice("scale", self.scale, (None, *get_args(Scale)))
        if isinstance(self.estimator, type | str):
            raise ValueError(
                f"estimator must be a value such as credit.Exact(), got {self.estimator!r}"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that it must be given: of "rewards", "clusters", "answers", …."""
        return all_reads(self.objective, *([self.shaping] if self.shaping else []))

    @property
    def needs_contrast(self) -> bool:
        """Whether sets with a sample are compared with sets without it, so that K < N."""
        return baselines.resolve(self.baseline).needs_contrast

    @property
    def fewest_samples(self) -> int:
        """How many usable samples a prompt must have: fewer give advantages of 0."""
        return self.set_size + self.needs_contrast

    def check_samples(self, num_samples: int, called: str = "num_samples") -> None:
        """Refuse a K that leaves prompts of so many samples without credit.

        Args:
            num_samples: N.
            called: What the caller calls N, for the message.

        Raises:
            ValueError: If N is below `fewest_samples`.
        """
        check_set_size(
            self.set_size, num_samples, needs_contrast=self.needs_contrast, called=called
        )

    def advantages(self, rewards_BN: Array, **fields: Any) -> Advantages:
        """The advantages of samples; `fields` are those of `set_advantages`."""
        return set_advantages(rewards_BN, self, **fields)


def set_advantages(
    rewards_BN: Array,
    method: Method | None = None,
    *,
    clusters: Array | None = None,
    answers: Array | None = None,
    proxy: Array | None = None,
    pairs: Array | None = None,
    mask: Array | None = None,
    rng: np.random.Generator | int | None = None,
    **options: Any,
) -> Advantages:
    """The marginal set advantage of every sample: the difference that it makes to its sets.

        Aᵢ = mean{f(S) : i∈S} − baseline,     S ⊂ {1…N}, |S| = K

    Set RL, Eq. 9 and Algorithm 1, by index and never by value, with the mean over a sample's sets
    unless `reduction="sum"`. Every set counts, exactly, where the objective has a closed form.

    Args:
        rewards_BN: (B, N) rewards; NaN or None marks a sample without one, which leaves the sets.
        method: A value of `setrl.methods`, or a `Method` of your own.
        clusters: (B, N) labels of the strategies used, integers or names; −1 is in no cluster, NaN
            or None unknown.
        answers: (B, N) final answers, numbers or strings.
        proxy: (B, N) the number by which a selector chooses.
        pairs: (B, N, N) a number for each pair of samples.
        mask: (B, N) bool, False where a prompt has no such sample (ragged groups).
        rng: A generator, or its seed; needed where sets are sampled.
        **options: In place of a method, the fields of one: `objective`, and where they differ from
            the defaults `set_size`, `baseline`, `reduction`, `scale`, `shaping`, `estimator`.

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
    method = require_method(method, options)
    given = {"clusters": clusters, "answers": answers, "proxy": proxy, "pairs": pairs}
    batch = read_batch(rewards_BN, method.reads, given, mask=mask)
    # The width of a batch is known beforehand: too narrow is a mistake, not a prompt to be skipped.
    method.check_samples(batch.usable_BN.shape[1])
    generator = None if rng is None else np.random.default_rng(rng)
    return _as_given(_of_batch(batch, method, generator), rewards_BN)


def require_method(method: Method | None, options: dict[str, Any] | None = None) -> Method:
    """The method, or the one that the options make in its place.

    Raises:
        ValueError: If it is no method (such as a name), or if both or neither are given.
    """
    if method is None and options and "objective" in options:
        for key in options:
            names.look_up("argument", key, {part.name: part for part in fields(Method)})
        return Method(**{"name": "unnamed", **options})
    if not isinstance(method, Method):
        raise ValueError(
            "method must be a value such as methods.poly_epo(set_size=4), or objective=... must be "
            f"given in its place; got {method!r}"
        )
    if options:
        raise ValueError(
            f"a method has its own {', '.join(options)}: use dataclasses.replace(method, ...)"
        )
    return method


def _of_batch(batch: Batch, method: Method, rng: np.random.Generator | None) -> Advantages:
    """Advantages of ragged prompts: those of equally many samples together, put in place."""
    shape = batch.usable_BN.shape
    values_BN, with_BN, without_BN = np.zeros(shape), np.full(shape, np.nan), np.full(shape, np.nan)
    mean_B, skipped_B = np.full(shape[0], np.nan), np.ones(shape[0], dtype=bool)
    stderr_BN, used = None, "none"
    for at, samples in batch.equal_sizes(method.fewest_samples):
        part = _of_dense(samples, method, rng)
        if isinstance(at[0], slice):  # every prompt has all its samples: there is nothing to place
            return part
        rows = at[0][:, 0]
        values_BN[at], with_BN[at], without_BN[at] = part.values_BN, part.with_BN, part.without_BN
        mean_B[rows], skipped_B[rows], used = part.mean_B, False, part.estimator
        if part.stderr_BN is not None:
            stderr_BN = np.zeros(shape) if stderr_BN is None else stderr_BN
            stderr_BN[at] = part.stderr_BN
    return Advantages(
        values_BN, with_BN, without_BN, mean_B, stderr_BN, batch.usable_BN, skipped_B, used
    )


def _of_dense(samples: Samples, method: Method, rng: np.random.Generator | None) -> Advantages:
    """Advantages of prompts that have all their samples."""
    if method.shaping is not None:
        samples = samples.with_rewards(method.shaping(samples))
    estimator, baseline = method.estimator or Exact(), baselines.resolve(method.baseline)
    credit = estimator(method.objective, samples, method.set_size, rng)
    gain_BN = _gain(credit, samples, method, rng) if baseline.needs_gain else None
    values_BN, stderr_BN = baseline(credit, gain_BN), baseline.stderr(credit)
    if credit.stderr_contrast_BN is not None:
        # A sample that no drawn set holds, or that all of them hold, shows no difference.
        values_BN = np.where(np.isnan(values_BN), 0.0, values_BN)
    if method.reduction != "mean" or method.scale is not None:
        factor_BN = _factor(values_BN, credit, method)
        values_BN = values_BN * factor_BN
        stderr_BN = None if stderr_BN is None else stderr_BN * factor_BN
    return Advantages(
        values_BN,
        credit.means.with_BN,
        credit.means.without_BN,
        credit.means.mean_B,
        stderr_BN,
        usable_BN=np.ones(samples.rewards.shape, dtype=bool),
        skipped_B=np.zeros(len(samples.rewards), dtype=bool),
        estimator=credit.used,
    )


def _gain(
    credit: Credit, samples: Samples, method: Method, rng: np.random.Generator | None
) -> np.ndarray:
    """u − w, from the closed form where there is one; w is 0 for K = 1."""
    if method.set_size == 1:
        return credit.means.with_BN
    if credit.means.gain_BN is not None:
        return credit.means.gain_BN
    smaller = (method.estimator or Exact())(method.objective, samples, method.set_size - 1, rng)
    return credit.means.with_BN - smaller.means.without_BN


def _factor(values_BN: np.ndarray, credit: Credit, method: Method) -> np.ndarray:
    """What the reduction and the scale multiply the advantages by; (N,) or (B, 1)."""
    factor = credit.share_N * credit.num_sets if method.reduction == "sum" else np.ones(1)
    if np.isinf(factor).any():
        raise ValueError(
            f"reduction='sum' over the sets of {method.set_size} has no float: use reduction='mean'"
        )
    if method.scale is None:
        return factor
    if method.scale == "group_std":
        std_B = np.std(values_BN, axis=-1, ddof=1 if values_BN.shape[-1] > 1 else 0)
    elif credit.means.variance_B is not None:
        std_B = np.sqrt(np.maximum(credit.means.variance_B, 0.0))
    else:
        raise ValueError(
            f"scale='score_std' has no closed form for {method.objective!r}: "
            "use estimator=credit.Enumerated() or credit.Sampled(num_sets)"
        )
    return factor / (std_B[:, None] + STD_FLOOR)


def _as_given(advantages: Advantages, reference: Array) -> Advantages:
    """The same with arrays of the reference's kind."""
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
