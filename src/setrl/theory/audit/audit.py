"""`audit`: an advantage function → what it optimises, its bias and variance, and where it leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from math import comb
from typing import Any, Literal

import numpy as np

from setrl.core.inputs import check_given
from setrl.core.method import AnyMethod
from setrl.theory.audit.batches import Batched, Tries, batched
from setrl.theory.audit.calling import CalledEstimator, Shape, ShowProgress, estimator
from setrl.theory.audit.compare import FLOOR, Library, Match
from setrl.theory.audit.field import Curl, Field, policy_grid
from setrl.theory.audit.known import Known, claimed, known
from setrl.theory.audit.laws import Law, laws
from setrl.theory.audit.leads import Survivors, survivors
from setrl.theory.audit.made import Made, made
from setrl.theory.audit.paid import Paid, pay
from setrl.theory.audit.shapes import known_shape
from setrl.theory.audit.variance import Variance, variance
from setrl.theory.tabular import ActionTable

SAMPLES = 4  # in a group, unless they are given
STRATEGIES = 3  # labels, unless they are given
RATES = 0.1, 0.5, 0.9  # success rates at which strengths are said
MOST_OTHER_GROUPS = 3_000  # of another size, for the sensitivity to N


@dataclass(frozen=True, eq=False)
class Audit:
    """What an estimator does, computed from its advantages in every group of N samples.

    Attributes:
        estimator: The function and how it was called.
        library: The objectives that it is compared with.
        nearest: The objective whose gradient is nearest; equal to `objective` if there is one. None
            if the expected gradient is 0.
        claim: How far it is from the gradient that it claims; None without a claim.
        claimed_factor: The factor of the claim; None if it names none.
        tries: What its calls with batches showed.
        in_batch: What it does in batches, if it mixes their groups or equal calls differ; None if
            it does neither, or fails in batches.
    """

    estimator: CalledEstimator
    library: Library
    nearest: Match | None
    claim: Match | None
    claimed_factor: float | None
    tries: Tries
    in_batch: Batched | None

    @property
    def gradient(self) -> Field:
        """The expected gradient, for the policies `gradient.policies_PA`."""
        return self.library.field

    @property
    def paid(self) -> Paid:
        """The advantages in every group."""
        return self.library.field.paid

    @property
    def table(self) -> ActionTable:
        """The kinds of samples."""
        return self.paid.table

    @property
    def objective(self) -> Match | None:
        """The objective, or the sum of two, whose gradient it is; None if we know no such one.

        `str(objective)` is such as "2·∇pass@4". It is None if equal calls give other numbers.
        """
        found = self.nearest
        return found if found and found.holds and self.estimator.is_steady else None

    @property
    def mixes_groups(self) -> bool:
        """Whether a group is paid otherwise next to other groups of a batch."""
        return self.tries.mixed is not None

    @cached_property
    def strength(self) -> dict[float, float]:
        """Success rate → F along κ∇J of the claim or the nearest objective, ÷ the length of κ∇J.

        1 everywhere for an exact gradient. Right samples are of equal shares, and so are others.
        """
        rewards_A = np.asarray(self.paid.table.rewards, dtype=np.float64)
        right_A = rewards_A == rewards_A.max()
        rates = np.array(RATES)[:, None]
        match, wrong_A = self.claim or self.nearest, ~right_A
        policies_PA = rates * right_A / right_A.sum() + (1 - rates) * wrong_A / wrong_A.sum()
        field = Field(self.paid, policies_PA)
        if match is None:
            return dict.fromkeys(RATES, float("nan"))
        own_PA, near_PA = field.values_PA, Library.of(field, match.parts).combined(match)
        square_P = (near_PA**2).sum(axis=1)
        along_P = (own_PA * near_PA).sum(axis=1)
        ratio_P = along_P / np.where(square_P > 0, square_P, np.nan)
        return dict(zip(RATES, ratio_P.tolist(), strict=True))

    @cached_property
    def made(self) -> Made | None:
        """How it is made out of an unbiased credit of ours; None if no recipe gives it."""
        if not self.estimator.is_steady:
            return None
        likely = [part for one in (self.claim, self.nearest) if one for part in one.parts]
        return made(self.library, likely)

    @cached_property
    def variance(self) -> Variance:
        """The variance, compared with unbiased estimators of the claim or the nearest objective."""
        return variance(self.library, self.claim or self.nearest)

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """What it keeps to and what it pays; calls the function again."""
        return laws(self.estimator, self.paid, self.tries)

    @cached_property
    def survivors(self) -> Survivors:
        """Where it leads on one prompt."""
        return survivors(self.paid)

    @cached_property
    def other_sizes(self) -> dict[int, Match]:
        """The nearest objective for groups of N − 1 and of N + 1 samples; calls the function."""
        return _other_sizes(self.estimator, self.paid)

    @property
    def is_binary(self) -> bool:
        """Whether samples are right or wrong: there are two rewards."""
        return bool(np.unique(np.asarray(self.table.rewards)).size == 2)

    @property
    def reads_batch(self) -> bool:
        """Whether the first sentence is about batches: it mixes groups, or equal calls differ.

        A function that takes one group, too, is called with one, unless batches were asked for.
        """
        if not self.estimator.is_steady:
            return True
        return self.mixes_groups and self.tries.asked != 1 and "either" not in self.estimator.habits

    @property
    def required(self) -> Match | None:
        """What it must follow: its claim, or else an objective; in a batch, if it reads batches."""
        if self.reads_batch and self.in_batch is not None:
            return self.in_batch.match
        return self.claim or self.objective

    @property
    def factor(self) -> float:
        """What multiplies the gradient of the claim, or of the nearest objective; NaN for a sum."""
        return self.factor_of(self.claim or self.nearest)

    @staticmethod
    def factor_of(match: Match | None) -> float:
        """Return what multiplies the gradient of an objective; NaN for none and for a sum."""
        return match.factors[0] if match and len(match.factors) == 1 else float("nan")

    @property
    def bias(self) -> float:
        """How far it is from its claim, or from the nearest objective, 0 … 1; 0 is unbiased."""
        match = self.claim or self.nearest
        return match.off if match else float("nan")

    def keeps(self, factor: float, error: float = 0.0) -> bool:
        """Whether a factor is the one that the claim names; positive, if it names none."""
        wanted = self.claimed_factor
        if wanted is None:
            return not factor < 0
        return bool(abs(factor - wanted) <= error + FLOOR * abs(wanted))

    def _follows(self, match: Match | None) -> bool:
        is_whole = self.estimator.is_whole and match is not None and match.holds
        return is_whole and self.keeps(self.factor_of(match))

    @property
    def curl(self) -> Curl | None:
        """Why it is the gradient of no objective at all; None if it is the gradient of one."""
        return self.gradient.curl

    @cached_property
    def pays(self) -> dict[str, bool | None]:
        """What can be required → whether it holds; None where it could not be tried.

        Unbiased and has-objective are about `in_batch`, if it mixes groups, and about a group alone
        in its batch, too, if it takes both. They are None if its batches were drawn and show no
        difference: chance may hide one.
        """
        alone = {
            "unbiased": self._follows(self.claim or self.objective),
            "has-objective": self.estimator.is_steady and self.curl is None,
        }
        return self._in_batches(alone) | {law.name: law.holds for law in self.laws}

    def _in_batches(self, alone: Mapping[str, bool]) -> dict[str, bool | None]:
        """Return what holds in batches, if it mixes groups; if it takes both, in both."""
        batch = self.in_batch
        if batch is None:
            is_unknown = self.mixes_groups  # it fails in batches
            return {name: None if holds and is_unknown else holds for name, holds in alone.items()}
        field = Field(batch.paid, self.gradient.policies_PA)
        found: dict[str, bool | None] = {
            "unbiased": self._follows(batch.match),
            "has-objective": field.curl is None,
        }
        if batch.draws:
            is_unknown = batch.is_near and self.estimator.is_steady
            found = {"unbiased": None if is_unknown else False, "has-objective": None}
        return {name: found[name] if self.reads_batch or alone[name] else False for name in alone}

    def sentences(self) -> list[str]:
        """Return about ten lines for people, the most important ones first."""
        from setrl.theory.audit.text import sentences

        return sentences(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values for JSON."""
        table = self.paid.table
        field, match = self.gradient, self.claim or self.nearest
        alone = {"objective": self.objective, "nearest": self.nearest, "claim": self.claim}
        said = alone
        if self.reads_batch and self.in_batch is not None:
            field, match = Field(self.in_batch.paid, field.policies_PA), self.in_batch.match
            is_it = match is not None and match.holds and not self.in_batch.draws
            said = {"objective": match if is_it else None, "nearest": match,
                    "claim": match if self.claim else None}  # fmt: skip
        return {
            "estimator": self.estimator.name,
            "called_as": self.estimator.shape.name,
            "group_size": self.paid.num_samples,
            "rewards": np.asarray(table.rewards).tolist(),
            "labels": None if table.strategies is None else np.asarray(table.strategies).tolist(),
            **{name: _match(one) for name, one in said.items()},
            "factor": self.factor_of(match),
            "bias": match.off if match else float("nan"),
            "alone": {name: _match(one) for name, one in alone.items()},
            "made": None if self.made is None else str(self.made),
            "curl": None if field.curl is None else asdict(field.curl),
            "policies": field.policies_PA.tolist(),
            "gradient": field.values_PA.tolist(),
            "variance": self.variance.to_json(),
            "laws": [asdict(law) for law in self.laws],
            "requirements": self.pays,
            "survivors": asdict(self.survivors),
            "strength": {str(rate): ratio for rate, ratio in self.strength.items()},
            "in_batch": None if self.in_batch is None else self.in_batch.to_json(),
            "other_sizes": {size: _match(match) for size, match in self.other_sizes.items()},
            "sentences": self.sentences(),
        }


def _match(match: Match | None) -> dict[str, Any] | None:
    if match is None:
        return None
    example = None if match.example is None else asdict(match.example)
    return {
        "is": str(match),
        "parts": [part.label for part in match.parts],
        "factors": match.factors,
        "off": match.off,
        "exact": match.is_exact,
        "example": example,
    }


def audit(
    function: Any,
    *,
    group_size: int | None = None,
    rewards: Sequence[float] = (0.0, 1.0),
    labels: int | None = None,
    claims: str | None = None,
    shape: Shape | None = None,
    table: ActionTable | None = None,
    name: str | None = None,
    takes: Literal["group", "batch"] | None = None,
    groups: int | None = None,
    progress: ShowProgress | None = None,
) -> Audit:
    """Return what an estimator of advantages optimises, how noisy it is, and where it leads.

    Samples are drawn from a softmax policy over actions: every reward with every label. The
    estimator is called on every group of N of them, so the results hold for every policy.

    Args:
        function: `f(rewards)` or `f(rewards, strategies)`, of one group (N,) or of a batch (B, N),
            of NumPy or of PyTorch; a function for a trainer; or a `Method`.
        group_size: N; by default 4, or as many as a method needs.
        rewards: The rewards that samples may get.
        labels: How many strategies samples may use; 3 if the estimator reads labels, otherwise 1.
        claims: What it is said to optimise, such as "pass@4", "2*max@2" or "polychromic@4".
        shape: How a function of another form is called.
        table: The actions with further fields, instead of `rewards` and `labels`.
        name: The name in sentences.
        takes: Whether the function takes one group, (N,), or a batch, (B, N). By default what it
            can take; a function that takes both, and mixes the groups of a batch, is audited with
            one group at a time; what batches change is said separately.
        groups: B, the groups of a batch, which are called to see whether they are mixed; by
            default 8, or fewer if only those can be tried in every order.
        progress: Called with the number of groups after every batch of calls.

    Raises:
        ValueError: If the function raises, or returns another shape or no numbers; or if the
            groups are too many, or their orders, where the order of samples matters.
    """
    if groups is not None and groups < 1:
        raise ValueError(f"a batch has at least one group, got groups={groups}")
    num_samples = _group_size(function, group_size)
    subject = _estimator(function, shape or known_shape(function), name, num_samples, takes, groups)
    table = table or kinds(rewards, labels or (STRATEGIES if subject.shape.reads_labels else 1))
    if isinstance(function, AnyMethod):
        remedy = (
            "give audit(table=ActionTable(rewards, …, {0}=…)), with a value for each kind of sample"
        )
        check_given(function.reads, table.given, function.name, remedy.format)
    claim, factor = (None, None) if claims is None else claimed(claims, num_samples)
    field = Field(pay(subject, table, num_samples, progress), policy_grid(table.num_actions))
    library, tries = _library(field, claim), Tries(subject, field.paid, groups).looked()
    match = None if claim is None else library.match(0)
    parts = match.parts if match else library.objectives
    in_batch = batched(tries, library, parts)  # now: a missing reward spoils states
    return Audit(subject, library, library.nearest(), match, factor, tries, in_batch)


def _estimator(
    function: Any, shape: Shape | None, name: str | None, size: int, takes: Any, groups: int | None
) -> CalledEstimator:
    """Return how the function is called: with batches, if a size of batches was asked for."""
    if groups is not None and takes is None:
        with suppress(ValueError):
            return estimator(function, shape, name, size, "batch")
    return estimator(function, shape, name, size, takes)


def _group_size(function: Any, given: int | None) -> int:
    """Return N: as given, else 4, or as many samples as a method needs."""
    fewest = function.fewest_samples if isinstance(function, AnyMethod) else 0
    return max(SAMPLES, fewest) if given is None else given


def _library(field: Field, claim: Known | None) -> Library:
    """Return all known objectives on the estimator's groups, the claim first."""
    claims = [] if claim is None else [claim]
    library = Library.of(field, [*claims, *known(field.paid.table, field.paid.num_samples)])
    if claim is not None and claim not in library.objectives:
        raise ValueError(f"{claim.label}: the objective is the same for all groups, or undefined")
    return library


def kinds(rewards: Sequence[float], num_labels: int = 1) -> ActionTable:
    """Return every reward with every label, the highest rewards first."""
    levels = sorted({float(one) for one in rewards}, reverse=True)
    if len(levels) < 2 or not np.isfinite(levels).all():
        raise ValueError(f"rewards must be at least two different numbers, got {list(rewards)}")
    if num_labels == 1:
        return ActionTable(levels)
    labels = np.tile(np.arange(num_labels), len(levels))
    return ActionTable(np.repeat(levels, num_labels), strategies=labels)


def _other_sizes(subject: CalledEstimator, paid: Paid) -> dict[int, Match]:
    """Return what it is nearest to for other N; leave out sizes that it refuses."""
    found = {}
    for size in (paid.num_samples - 1, paid.num_samples + 1):
        with suppress(ValueError):
            if size < 2 or comb(paid.table.num_actions + size - 1, size) > MOST_OTHER_GROUPS:
                continue
            field = Field(
                pay(subject, paid.table, size, orders=not paid.is_symmetric),
                policy_grid(paid.table.num_actions),
            )
            match = Library.of(field, known(paid.table, size)).nearest()
            if match is not None:
                found[size] = match
    return found
