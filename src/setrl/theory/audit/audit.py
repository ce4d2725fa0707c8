"""`audit`: an advantage function → what it optimises, its bias and variance, and where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from setrl.core.inputs import check_given
from setrl.core.method import AnyMethod
from setrl.theory.audit.batches import Tries, batched
from setrl.theory.audit.calling import CalledEstimator, Shape, ShowProgress, estimator
from setrl.theory.audit.compare import Library, Match
from setrl.theory.audit.field import Field, even_policies
from setrl.theory.audit.findings import Findings
from setrl.theory.audit.known import Known, claimed, known
from setrl.theory.audit.paid import pay
from setrl.theory.audit.shapes import known_shape
from setrl.theory.audit.text import sentences
from setrl.theory.tabular import ActionTable

SAMPLES = 4  # in a group, unless they are given
STRATEGIES = 3  # labels, unless they are given


class Audit(Findings):
    """What an estimator does, computed from its advantages in every group of N samples."""

    def sentences(self) -> list[str]:
        """Return about ten lines for people, the most important ones first."""
        return sentences(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values for JSON."""
        table = self.paid.table
        field, match = self.gradient, self.claim or self.nearest
        alone = {"objective": self.objective, "nearest": self.nearest, "claim": self.claim}
        matches = alone
        if self.reads_batch and self.in_batch is not None:
            field, match = Field(self.in_batch.paid, field.policies_PA), self.in_batch.match
            is_it = match is not None and match.holds and not self.in_batch.draws
            matches = {"objective": match if is_it else None, "nearest": match,
                    "claim": match if self.claim else None}  # fmt: skip
        return {
            "estimator": self.estimator.name,
            "called_as": self.estimator.shape.name,
            "group_size": self.paid.num_samples,
            "rewards": np.asarray(table.rewards).tolist(),
            "labels": None if table.strategies is None else np.asarray(table.strategies).tolist(),
            **{name: _match_to_json(candidate) for name, candidate in matches.items()},
            "factor": self.factor_of(match),
            "bias": match.off if match else float("nan"),
            "alone": {name: _match_to_json(candidate) for name, candidate in alone.items()},
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
            "other_sizes": {
                size: _match_to_json(match) for size, match in self.other_sizes.items()
            },
            "sentences": self.sentences(),
        }


def _match_to_json(match: Match | None) -> dict[str, Any] | None:
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
    num_samples = _choose_group_size(function, group_size)
    subject = _find_estimator(
        function, shape or known_shape(function), name, num_samples, takes, groups
    )
    table = table or kinds(rewards, labels or (STRATEGIES if subject.shape.reads_labels else 1))
    if isinstance(function, AnyMethod):
        remedy = (
            "give audit(table=ActionTable(rewards, …, {0}=…)), with a value for each kind of sample"
        )
        check_given(function.reads, table.given, function.name, remedy.format)
    claim, factor = (None, None) if claims is None else claimed(claims, num_samples)
    field = Field(pay(subject, table, num_samples, progress), even_policies(table.num_actions))
    library, tries = _make_library(field, claim), Tries(subject, field.paid, groups).looked()
    match = None if claim is None else library.match(0)
    parts = match.parts if match else library.objectives
    in_batch = batched(tries, library, parts)  # now: a missing reward spoils states
    return Audit(subject, library, library.nearest(), match, factor, tries, in_batch)


def _find_estimator(
    function: Any, shape: Shape | None, name: str | None, size: int, takes: Any, groups: int | None
) -> CalledEstimator:
    """Return how the function is called: with batches, if a size of batches was asked for."""
    if groups is not None and takes is None:
        with suppress(ValueError):
            return estimator(function, shape, name, size, "batch")
    return estimator(function, shape, name, size, takes)


def _choose_group_size(function: Any, group_size: int | None) -> int:
    """Return N: as given, else 4, or as many samples as a method needs."""
    fewest = function.fewest_samples if isinstance(function, AnyMethod) else 0
    return max(SAMPLES, fewest) if group_size is None else group_size


def _make_library(field: Field, claim: Known | None) -> Library:
    """Return all known objectives on the estimator's groups, the claim first."""
    claims = [] if claim is None else [claim]
    library = Library.of(field, [*claims, *known(field.paid.table, field.paid.num_samples)])
    if claim is not None and claim not in library.objectives:
        raise ValueError(f"{claim.label}: the objective is the same for all groups, or undefined")
    return library


def kinds(rewards: Sequence[float], num_labels: int = 1) -> ActionTable:
    """Return every reward with every label, the highest rewards first."""
    levels = sorted({float(reward) for reward in rewards}, reverse=True)
    if len(levels) < 2 or not np.isfinite(levels).all():
        raise ValueError(f"rewards must be at least two different numbers, got {list(rewards)}")
    if num_labels == 1:
        return ActionTable(levels)
    labels = np.tile(np.arange(num_labels), len(levels))
    return ActionTable(np.repeat(levels, num_labels), strategies=labels)
