"""`audit`: an advantage function → what it optimises, its bias and variance, and where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from math import comb
from typing import Any, Literal

import numpy as np

from setrl.audit.calling import Estimator, Shape, estimator
from setrl.audit.compare import FLOOR, Library, Match
from setrl.audit.field import Curl, Field, policy_grid
from setrl.audit.known import claimed, known
from setrl.audit.laws import Law, laws
from setrl.audit.leads import Survivors, survivors
from setrl.audit.made import Made, made
from setrl.audit.paid import Paid, Progress, pay
from setrl.audit.shapes import known_shape
from setrl.audit.variance import Variance, variance
from setrl.core.method import AnyMethod
from setrl.theory.tabular import ActionTable

SAMPLES = 4  # in a group, unless they are given
STRATEGIES = 3  # labels, unless they are given
MOST_OTHER_GROUPS = 3_000  # of another size, for the sensitivity to N


@dataclass(frozen=True, eq=False)
class Audit:
    """What an estimator does, computed from its advantages in every group of N samples.

    Attributes:
        estimator: The function and how it was called.
        paid: Its advantages in every group.
        gradient: Its expected gradient, for the policies `gradient.policies_PA`.
        objective: The objective, or the sum of two, whose gradient it is; None if it is none that
            we know. `str(objective)` is such as "2·∇pass@4".
        nearest: The objective whose gradient is nearest; equal to `objective` if there is one. None
            if the expected gradient is 0.
        claim: How far it is from the gradient that it claims; None without a claim.
        claimed_factor: The factor of the claim; None if it names none.
        library: The objectives that it is compared with.
    """

    estimator: Estimator
    paid: Paid
    gradient: Field
    objective: Match | None
    nearest: Match | None
    claim: Match | None
    claimed_factor: float | None
    library: Library

    @cached_property
    def made(self) -> Made | None:
        """How it is made out of an unbiased credit of ours; None if no recipe gives it."""
        likely = [part for one in (self.claim, self.nearest) if one for part in one.parts]
        return made(self.library, likely)

    @cached_property
    def variance(self) -> Variance:
        """The variance, compared with unbiased estimators of the claim or the nearest objective."""
        return variance(self.library, self.claim or self.nearest)

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """What it keeps to and what it pays; calls the function again."""
        return laws(self.estimator, self.paid)

    @cached_property
    def survivors(self) -> Survivors:
        """Where it leads on one prompt."""
        return survivors(self.paid)

    @cached_property
    def other_sizes(self) -> dict[int, Match]:
        """The nearest objective for groups of N − 1 and of N + 1 samples; calls the function."""
        return _other_sizes(self.estimator, self.paid)

    @property
    def factor(self) -> float:
        """What multiplies the gradient of the claim, or of the nearest objective; NaN for a sum."""
        match = self.claim or self.nearest
        return match.factors[0] if match and len(match.factors) == 1 else float("nan")

    @property
    def bias(self) -> float:
        """How far it is from its claim, or from the nearest objective, 0 … 1; 0 is unbiased."""
        match = self.claim or self.nearest
        return match.off if match else float("nan")

    @property
    def keeps_factor(self) -> bool:
        """Whether the factor is the factor of its claim, if the claim names one."""
        wanted = self.claimed_factor
        return wanted is None or bool(abs(self.factor - wanted) <= FLOOR * abs(wanted))

    @property
    def curl(self) -> Curl | None:
        """Why it is the gradient of no objective at all; None if it is the gradient of one."""
        return self.gradient.curl

    def along(self, policies_PA: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return F for other policies, and the gradient of the claim or of the nearest objective.

        Shapes (P, A); the second is 0 if the expected gradient is 0.
        """
        field, match = Field(self.paid, policies_PA), self.claim or self.nearest
        if match is None:
            return field.values_PA, np.zeros_like(field.values_PA)
        library = Library.of(field, match.parts)
        return field.values_PA, library.combined(match)

    def noise(self, policies_PA: np.ndarray) -> Variance:
        """Return the variance for other policies."""
        field, match = Field(self.paid, policies_PA), self.claim or self.nearest
        return variance(Library.of(field, () if match is None else match.parts), match)

    @cached_property
    def pays(self) -> dict[str, bool | None]:
        """What can be required → whether it holds; None where it could not be tried."""
        match = self.claim or self.objective
        unbiased = match is not None and match.holds and self.keeps_factor
        first = {"unbiased": unbiased, "has-objective": self.curl is None}
        return first | {law.name: law.holds for law in self.laws}

    def sentences(self) -> list[str]:
        """Return about ten lines for people."""
        from setrl.audit.text import sentences

        return sentences(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values for JSON."""
        table = self.paid.table
        return {
            "estimator": self.estimator.name,
            "called_as": self.estimator.shape.name,
            "group_size": self.paid.num_samples,
            "rewards": np.asarray(table.rewards).tolist(),
            "labels": None if table.clusters is None else np.asarray(table.clusters).tolist(),
            "objective": _match(self.objective),
            "nearest": _match(self.nearest),
            "claim": _match(self.claim),
            "factor": self.factor,
            "bias": self.bias,
            "made": None if self.made is None else str(self.made),
            "curl": None if self.curl is None else asdict(self.curl),
            "policies": self.gradient.policies_PA.tolist(),
            "gradient": self.gradient.values_PA.tolist(),
            "variance": self.variance.to_json(),
            "laws": [asdict(law) for law in self.laws],
            "requirements": self.pays,
            "survivors": asdict(self.survivors),
            "other_sizes": {size: _match(match) for size, match in self.other_sizes.items()},
            "sentences": self.sentences(),
            "drawn": None,
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
        "in_fractions": match.in_fractions,
        "weights": match.weights,
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
    progress: Progress | None = None,
) -> Audit:
    """Return what an estimator of advantages optimises, how noisy it is, and where it leads.

    Samples are drawn from a softmax policy over actions: every reward with every label. The
    estimator is called on every group of N of them, so the results hold for every policy.

    Args:
        function: `f(rewards)` or `f(rewards, clusters)`, of one group (N,) or of a batch (B, N), of
            NumPy or of PyTorch; a function for a trainer; or a `Method`.
        group_size: N; by default 4, or as many as a method needs.
        rewards: The rewards that samples may get.
        labels: How many strategies samples may use; 3 if the estimator reads labels, otherwise 1.
        claims: What it is said to optimise, such as "pass@4", "2*max@2" or "polychromic@4".
        shape: How a function of another form is called.
        table: The actions with further fields, instead of `rewards` and `labels`.
        name: The name in sentences.
        takes: Whether the function takes one group, (N,), or a batch, (B, N); by default a batch if
            it can. A function that mixes groups is then called with one after the other.
        progress: Called with the number of groups after every batch of calls.

    Raises:
        TooManyGroupsError: If the groups are too many: see `audit_sampled`.
        ValueError: If the function raises, or returns another shape or no numbers.
    """
    fewest = function.fewest_samples if isinstance(function, AnyMethod) else 0
    group_size = max(SAMPLES, fewest) if group_size is None else group_size
    shape = shape or known_shape(function)
    subject = estimator(function, shape, name, group_size, takes)
    if table is None:
        table = kinds(rewards, labels or (STRATEGIES if subject.shape.reads_labels else 1))
    if isinstance(function, AnyMethod):
        _check_fields(function, table)
    claim, factor = (None, None) if claims is None else claimed(claims, group_size)
    field = Field(pay(subject, table, group_size, progress), policy_grid(table.num_actions))
    library = Library.of(field, [*([] if claim is None else [claim]), *known(table, group_size)])
    if claim is not None and (not library.objectives or library.objectives[0] is not claim):
        raise ValueError(f"{claims}: the objective is the same for all groups, or undefined")
    nearest = library.nearest()
    match = None if claim is None else library.match(0)
    return Audit(
        subject,
        field.paid,
        field,
        nearest if nearest and nearest.holds else None,
        nearest,
        match,
        factor,
        library,
    )


def _check_fields(method: AnyMethod, table: ActionTable) -> None:
    for name in method.reads:
        if name != "correct" and getattr(table, name) is None:
            raise ValueError(
                f"{method.name} reads {name}: give audit(table=ActionTable(rewards, …, {name}=…)), "
                "with a value for each kind of sample"
            )


def kinds(rewards: Sequence[float], num_labels: int = 1) -> ActionTable:
    """Return every reward with every label, the highest rewards first."""
    levels = sorted({float(one) for one in rewards}, reverse=True)
    if len(levels) < 2 or not np.isfinite(levels).all():
        raise ValueError(f"rewards must be at least two different numbers, got {list(rewards)}")
    if num_labels == 1:
        return ActionTable(levels)
    labels = np.tile(np.arange(num_labels), len(levels))
    return ActionTable(np.repeat(levels, num_labels), clusters=labels)


def _other_sizes(subject: Estimator, paid: Paid) -> dict[int, Match]:
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
