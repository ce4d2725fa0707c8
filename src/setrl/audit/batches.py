"""What an estimator that mixes the groups of a batch does in batches of several groups.

The other groups come from other prompts, whose policies are uniform over all policies. Every group
of N samples is then equally likely, whatever its order. A group's mean advantages over the others
are a table like the table of an estimator of one group, so they are compared in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from setrl.audit.calling import Estimator, cleaned, fields
from setrl.audit.compare import Library, Match, share
from setrl.audit.field import Field
from setrl.audit.known import Known
from setrl.audit.paid import Paid

GROUPS = 8  # of a batch
MOST_BATCHES = 4_000  # that are tried
FEWEST_DRAWS = 50  # of the other groups
SHUFFLED = 25  # batches in which other orders of groups and samples are tried


@dataclass(frozen=True, eq=False)
class Batched:
    """What an estimator does on average in batches of several groups.

    Attributes:
        num_groups: B, the groups of a batch.
        paid: A group's advantages, as means over the other groups.
        match: The claim, or the objective whose gradient is nearest; None if the mean update is 0.
        noise: The share of the mean update's length that chance adds; 0 if all batches were tried.
        draws: How often the other groups were drawn; 0 if all batches were tried.
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
            return "it optimises nothing"
        if self.draws:
            off = f"{share(self.off)} ± {share(2 * self.noise)}"
            return f"{self.match}, off by {off} ({self.draws} draws of the other groups)"
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
        found = _enumerated(estimator, alone, groups)
        credit_DSA, weight_D = found or _drawn(estimator, alone, groups)
    except ValueError:  # the law of independent groups says that such batches fail
        return None
    paid = alone.paying(np.einsum("d,dsa->sa", weight_D, credit_DSA))
    field = Field(replace(paid, tolerance=alone.tolerance), policies_PA)
    noise = 0.0 if found else _noise(field, credit_DSA)
    match = Library.of(field, objectives).nearest()
    return Batched(groups, paid, match, noise, 0 if found else len(weight_D))


Means = tuple[np.ndarray, np.ndarray]  # advantages beside others, (D, S, A), and their chances (D,)


def _enumerated(estimator: Estimator, alone: Paid, groups: int) -> Means | None:
    """Try all other groups; None if they are too many, or their order matters."""
    num_sets = len(alone.groups.sets_SK)
    if comb(num_sets + groups - 2, groups - 1) * num_sets > MOST_BATCHES:
        return None
    every = list(combinations_with_replacement(range(num_sets), groups - 1))
    credit_DSA = np.array([_beside(estimator, alone, rest) for rest in every])
    rng = np.random.default_rng(0)
    for at in rng.choice(len(every), min(SHUFFLED, len(every)), replace=False):
        turned_SA = _beside(estimator, alone, rng.permutation(every[at]), rng)
        if np.abs(turned_SA - credit_DSA[at]).max() > 100 * alone.rounding:
            return None
    orders = (factorial(groups - 1) / prod(map(factorial, Counter(one).values())) for one in every)
    return credit_DSA, np.array(list(orders)) / num_sets ** (groups - 1)


def _drawn(estimator: Estimator, alone: Paid, groups: int) -> Means:
    num_sets, rng = len(alone.groups.sets_SK), np.random.default_rng(0)
    draws = max(MOST_BATCHES // num_sets, FEWEST_DRAWS)
    others = rng.integers(num_sets, size=(draws, groups - 1))
    credit_DSA = np.array([_beside(estimator, alone, rest, rng) for rest in others])
    return credit_DSA, np.full(draws, 1 / draws)


def _beside(
    estimator: Estimator, alone: Paid, rest: Sequence[int], rng: np.random.Generator | None = None
) -> np.ndarray:
    """Return what every group is paid beside the others, (S, A); 0 for actions it does not hold.

    With a generator, the group is at a random place, and the samples of all groups in any order.
    """
    sets_SN, counts_SA = alone.groups.sets_SK, alone.groups.counts_SA
    place = 0 if rng is None else int(rng.integers(len(rest) + 1))
    totals_SA = np.zeros(counts_SA.shape)
    for own in range(len(sets_SN)):
        batch_BN = sets_SN[np.insert(np.asarray(rest, dtype=np.intp), place, own)]
        batch_BN = batch_BN if rng is None else rng.permuted(batch_BN, axis=1)
        values_BN = cleaned(estimator.of_batch(*fields(alone.table, batch_BN)))
        np.add.at(totals_SA[own], batch_BN[place], values_BN[place])
    return totals_SA / np.maximum(counts_SA, 1)


def _noise(field: Field, credit_DSA: np.ndarray) -> float:
    """Return the standard error of the mean update, as a share of its length."""
    each_DPA = np.array([field.of_credit(credit_SA) for credit_SA in credit_DSA])
    error_PA = each_DPA.std(axis=0, ddof=1) / np.sqrt(len(each_DPA))
    return float(np.linalg.norm(error_PA) / max(np.linalg.norm(field.values_PA), 1e-300))
