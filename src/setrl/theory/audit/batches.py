"""What an estimator that mixes the groups of a batch does in batches of several groups.

The other groups come from other prompts, whose policies are uniform over all policies. Every group
of N samples is then equally likely, whatever its order. A group's mean advantages over the others
are a table like the table of an estimator of one group, so they are compared in the same way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from setrl.theory.audit.calling import Estimator, cleaned, fields
from setrl.theory.audit.compare import Library, Match, share
from setrl.theory.audit.field import Field
from setrl.theory.audit.known import Known
from setrl.theory.audit.paid import Paid

GROUPS = 8  # of a batch
DRAWS = 1_000  # batches that are drawn, if there are more
PARTS = 20  # of the draws, whose means show the standard error
SHUFFLED = 25  # batches in which other orders of groups and samples are tried


@dataclass(frozen=True, eq=False)
class Batched:
    """What an estimator does on average in batches of several groups.

    Attributes:
        num_groups: B, the groups of a batch.
        paid: A group's advantages, as means over the other groups.
        match: The claim, or the objective whose gradient is nearest; None if the mean update is 0.
        noise: The share of the mean update's length that chance adds; 0 if all batches were tried.
        draws: How many batches were drawn; 0 if all were tried.
    """

    num_groups: int
    paid: Paid
    match: Match | None
    noise: float
    draws: int

    @property
    def off(self) -> float:
        """How far the mean update is from the objective, without the part that chance adds."""
        if self.match is None:
            return float("nan")
        return float(np.sqrt(max(self.match.off**2 - self.noise**2, 0.0)))

    @property
    def all_wrong(self) -> float:
        """The mean advantage of the samples of a group in which all have the lowest reward."""
        lowest = int(np.argmin(self.paid.table.rewards))
        row = int(self.paid.groups.counts_SA[:, lowest].argmax())
        return float(self.paid.credit_SA[row, lowest])

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "groups": self.num_groups,
            "nearest": None if self.match is None else str(self.match),
            "off": self.off,
            "noise": self.noise,
            "draws": self.draws,
            "all_wrong": self.all_wrong,
        }

    def __str__(self) -> str:
        if self.match is None:
            return "0 for every policy"
        if self.draws:
            off = f"off by {share(self.off)} ± {share(2 * self.noise)}"
            off = f"at most {share(2 * self.noise)} off" if self.off < 2 * self.noise else off
            return f"{self.match}, {off} ({self.draws:,} batches were drawn)"
        return f"{self.match}, " + ("exactly" if self.match.holds else f"off by {share(self.off)}")


def batched(
    estimator: Estimator, alone: Paid, objectives: list[Known], policies_PA: np.ndarray, groups: int
) -> Batched | None:
    """Return what an estimator does in batches of so many groups; None if it refuses them.

    Args:
        estimator: The function.
        alone: What it pays groups by themselves, for the table, N and the rounding.
        objectives: What it is compared with; only the claim, if there is one.
        policies_PA: The policies on which updates are compared.
        groups: B.
    """
    try:
        credit_SA = _enumerated(estimator, alone, groups)
        draws = 0 if credit_SA is not None else DRAWS
        parts_DSA = _drawn(estimator, alone, groups) if credit_SA is None else credit_SA[None]
    except ValueError:  # the law of independent groups says that such batches fail
        return None
    paid = replace(alone.paying(parts_DSA.mean(axis=0)), tolerance=alone.tolerance)
    field = Field(paid, policies_PA)
    match = Library.of(field, objectives).nearest()
    return Batched(groups, paid, match, _noise(field, parts_DSA), draws)


def _enumerated(estimator: Estimator, alone: Paid, groups: int) -> np.ndarray | None:
    """Return the mean advantages of a group beside all others, (S, A).

    None if the batches are too many, or the order of groups or samples matters.
    """
    num_sets, rng = len(alone.groups.sets_SK), np.random.default_rng(0)
    if comb(num_sets + groups - 1, groups) > DRAWS:
        return None
    every = np.array(list(combinations_with_replacement(range(num_sets), groups)))
    tried = rng.choice(len(every), min(SHUFFLED, len(every)), replace=False)
    for number, batch in enumerate(every[tried]):
        order = np.roll(np.arange(groups), 1 + number % max(groups - 1, 1))
        turned_BA = _paid_in(estimator, alone, batch[order], rng)
        difference = np.abs(turned_BA - _paid_in(estimator, alone, batch)[order]).max()
        if difference > 100 * alone.rounding:
            return None
    credit_SA = np.zeros(alone.groups.counts_SA.shape)
    for batch in every:
        paid_BA, members = _paid_in(estimator, alone, batch), Counter(batch.tolist())
        for own in members:
            others = (members - Counter([own])).values()
            orders = factorial(groups - 1) / prod(map(factorial, others))
            credit_SA[own] += orders * paid_BA[batch.tolist().index(own)]
    return credit_SA / num_sets ** (groups - 1)


def _drawn(estimator: Estimator, alone: Paid, groups: int) -> np.ndarray:
    """Return the mean advantages of a group beside others, (PARTS, S, A), from drawn batches."""
    num_sets, rng = len(alone.groups.sets_SK), np.random.default_rng(0)
    batches = rng.integers(num_sets, size=(DRAWS, groups))
    paid_DBA = np.array([_paid_in(estimator, alone, batch, rng) for batch in batches])
    totals = np.zeros((PARTS, *alone.groups.counts_SA.shape))
    times = np.zeros((PARTS, num_sets, 1))
    at = np.repeat(np.arange(DRAWS) % PARTS, groups), batches.ravel()
    np.add.at(totals, at, paid_DBA.reshape(len(at[1]), -1))
    np.add.at(times, at, 1.0)
    usual_SA = totals.sum(axis=0) / np.maximum(times.sum(axis=0), 1)
    return np.where(times > 0, totals / np.maximum(times, 1), usual_SA)


def _paid_in(
    estimator: Estimator, alone: Paid, batch: np.ndarray, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Return what each group of a batch pays each action, (B, A), with samples in any order."""
    batch_BN = alone.groups.sets_SK[batch]
    batch_BN = batch_BN if rng is None else rng.permuted(batch_BN, axis=1)
    values_BN = cleaned(estimator.of_batch(*fields(alone.table, batch_BN)))
    is_action = batch_BN[:, :, None] == np.arange(alone.table.num_actions)
    return (values_BN[:, :, None] * is_action).sum(axis=1) / np.maximum(is_action.sum(axis=1), 1)


def _noise(field: Field, parts_DSA: np.ndarray) -> float:
    """Return the standard error of the mean update, as a share of its length; 0 of one part."""
    if len(parts_DSA) == 1:
        return 0.0
    each_DPA = np.array([field.of_credit(credit_SA) for credit_SA in parts_DSA])
    error_PA = each_DPA.std(axis=0, ddof=1) / np.sqrt(len(each_DPA))
    return float(np.linalg.norm(error_PA)) / (float(np.linalg.norm(field.values_PA)) or 1.0)
