"""What an estimator that mixes the groups of a batch does in batches of several groups.

The other groups come from other prompts, whose policies are uniform over all policies. Every group
of N samples is then equally likely, whatever its order, and a group may stand at any place. A
group's mean advantages over the others and the places are a table like the table of an estimator of
one group, so they are compared in the same way.

Batches are tried in every order that matters: of their groups, and of the samples of a group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod
from typing import Any

import numpy as np

from setrl.theory.audit.calling import CalledEstimator, cleaned, fields
from setrl.theory.audit.compare import Library, Match, share
from setrl.theory.audit.field import Field
from setrl.theory.audit.known import Known
from setrl.theory.audit.paid import Paid, places
from setrl.theory.audit.said import words

GROUPS = 8  # of a batch
MOST = 10_000  # batches that are all tried
DRAWS = 1_000  # batches that are drawn, if there are more
SHUFFLES = 500  # calls that look whether an order matters
PARTS = 20  # of the draws, whose means show the standard error


@dataclass(frozen=True, eq=False)
class Batched:
    """What an estimator does on average in batches of several groups.

    Attributes:
        num_groups: B, the groups of a batch.
        paid: A group's advantages, as means over the other groups and over the places of a batch.
        match: The claim, or the objective whose gradient is nearest; None if the mean update is 0.
        noise: The share of the mean update's length that chance adds; 0 if all batches were tried.
        draws: How many batches were drawn; 0 if all were tried.
        larger: What batches of `GROUPS` groups show that were drawn, if there were too many to try
            them in every order; None if `num_groups` was asked for.
    """

    num_groups: int
    paid: Paid
    match: Match | None
    noise: float
    draws: int
    larger: Batched | None = None

    @property
    def off(self) -> float:
        """How far the mean update is from the objective, without the part that chance adds."""
        if self.match is None:
            return float("nan")
        return float(np.sqrt(max(self.match.off**2 - self.noise**2, 0.0)))

    @property
    def is_near(self) -> bool:
        """Whether chance explains how far the mean update is from the objective."""
        return self.match is not None and self.off <= 2 * self.noise

    def has_factors_of(self, other: Batched) -> bool:
        """Whether chance explains how far the factors are from another's."""
        if self.match is None or other.match is None:
            return False
        own, theirs = self.match.factors, other.match.factors
        return len(own) == len(theirs) and np.allclose(own, theirs, rtol=2 * self.noise, atol=0)

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
            return words("batch nothing")
        size = "fewer" if self.larger else "drawn" if self.draws else ""
        off = "" if self.is_near or self.match.holds else "off"
        found = self.larger or self
        return words(
            " ".join(filter(None, ("batch", size, off))),
            match=self.match,
            off=share(self.off),
            noise=share(2 * found.noise),
            groups=self.num_groups,
            more=found.num_groups,
            larger=found.match,
            draws=f"{found.draws:,}",
        )


def batched(
    estimator: CalledEstimator,
    alone: Paid,
    objectives: Sequence[Known],
    policies_PA: np.ndarray,
    groups: int | None,
) -> Batched | None:
    """Return what an estimator does in batches of so many groups; None if it refuses them.

    Args:
        estimator: The function.
        alone: What it pays groups by themselves, for the table, N and the rounding.
        objectives: What it is compared with; only the claim, if there is one.
        policies_PA: The policies on which updates are compared.
        groups: B; by default 8. If the batches of 8 groups are too many, because their order
            matters, batches of fewer groups answer for them, if drawn ones of 8 agree.
    """

    def found(num: int, parts_DSA: np.ndarray, known: Sequence[Known]) -> Batched:
        paid = replace(alone.paying(parts_DSA.mean(axis=0)), tolerance=alone.tolerance)
        field, draws = Field(paid, policies_PA), DRAWS if len(parts_DSA) > 1 else 0
        match = Library.of(field, known).nearest()
        return Batched(num, paid, match, _noise(field, parts_DSA), draws)

    wanted, tries = groups or GROUPS, Tries(estimator, alone)
    try:
        if (whole_1SA := tries.every(wanted)) is not None:
            return found(wanted, whole_1SA, objectives)
        parts_DSA = tries.drawn(wanted)
        for num in range(wanted - 1, 1, -1) if groups is None else ():
            if (whole_1SA := tries.every(num)) is not None:
                exact = found(num, whole_1SA, objectives)
                if exact.match is not None and exact.match.holds:
                    larger = found(wanted, parts_DSA, exact.match.parts)
                    if larger.is_near and larger.has_factors_of(exact):
                        return replace(exact, larger=larger)
                break
    except ValueError:  # the law of independent groups says that such batches fail
        return None
    return found(wanted, parts_DSA, objectives)


@dataclass(frozen=True, eq=False)
class Tries:
    """Calls with batches.

    Attributes:
        estimator: The function.
        alone: What it pays groups by themselves.
    """

    estimator: CalledEstimator
    alone: Paid

    def every(self, groups: int) -> np.ndarray | None:
        """Return the mean advantages of a group in all batches, (1, S, A); None if too many."""
        for batches_DBN, times_D, moves in self._every(groups):
            values_DBN = np.array([self._paid(batch_BN) for batch_BN in batches_DBN])
            if self._is_free(batches_DBN, values_DBN, moves):
                return self._means(batches_DBN, values_DBN, times_D, np.zeros(len(times_D), int))
        return None

    def _every(self, groups: int) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[bool, bool]]]:
        """Yield all batches, their weights, and whether groups and samples may change places.

        First batches whose order is left out, then those with groups in every order, then those
        with samples in every order, too; what is more than `MOST` is left out.
        """
        sets_SN, orders_S = self.alone.groups.sets_SK, self.alone.groups.orderings_S
        num, every = len(sets_SN), range(len(sets_SN))
        if comb(num + groups - 1, groups) <= MOST:
            chosen = list(combinations_with_replacement(every, groups))
            times = [
                factorial(groups) / prod(map(factorial, Counter(one).values())) for one in chosen
            ]
            yield sets_SN[np.array(chosen)], np.array(times), (True, True)
        if num**groups <= MOST:
            batches_DBN = sets_SN[np.array(list(product(every, repeat=groups)))]
            yield batches_DBN, np.ones(len(batches_DBN)), (False, True)
        if orders_S.sum() ** groups <= MOST:
            actions = range(self.alone.table.num_actions)
            rows_GN = np.array(list(product(actions, repeat=sets_SN.shape[1])))
            chance_G = 1 / orders_S[places(self.alone.groups, _counts(rows_GN, len(actions)))]
            at = np.array(list(product(range(len(rows_GN)), repeat=groups)))
            yield rows_GN[at], chance_G[at].prod(axis=1), (False, False)

    def _is_free(
        self, batches_DBN: np.ndarray, values_DBN: np.ndarray, moves: tuple[bool, bool]
    ) -> bool:
        """Whether groups, or the samples of each group, are paid the same at other places."""
        rng, (_, num, size) = np.random.default_rng(0), batches_DBN.shape
        if not any(moves):
            return True
        for number in range(max(SHUFFLES, len(batches_DBN))):
            at, rows = number % len(batches_DBN), np.arange(num)
            order_BN = rng.permuted(np.tile(np.arange(size), (num, 1)), axis=1)
            place = (rng.permutation(rows) if moves[0] else rows)[:, None], order_BN
            apart = np.abs(self._paid(batches_DBN[at][place]) - values_DBN[at][place]).max()
            if apart > 100 * self.alone.rounding:
                return False
        return True

    def drawn(self, groups: int) -> np.ndarray:
        """Return the mean advantages of a group beside others, (PARTS, S, A), by chance."""
        rng, sets_SN = np.random.default_rng(0), self.alone.groups.sets_SK
        chosen = rng.integers(len(sets_SN), size=(DRAWS, groups))
        batches_DBN = rng.permuted(sets_SN[chosen], axis=2)
        values_DBN = np.array([self._paid(batch_BN) for batch_BN in batches_DBN])
        return self._means(batches_DBN, values_DBN, np.ones(DRAWS), np.arange(DRAWS) % PARTS)

    def _paid(self, batch_BN: np.ndarray) -> np.ndarray:
        return cleaned(self.estimator.of_batch(*fields(self.alone.table, batch_BN)))

    def _means(
        self,
        batches_DBN: np.ndarray,
        values_DBN: np.ndarray,
        weight_D: np.ndarray,
        part_D: np.ndarray,
    ) -> np.ndarray:
        """Return the mean advantage of each action in each group, for each part of the batches."""
        groups, (_, num, size) = self.alone.groups, batches_DBN.shape
        rows_RN, values_RN = batches_DBN.reshape(-1, size), values_DBN.reshape(-1, size)
        counts_RA = _counts(rows_RN, self.alone.table.num_actions)
        at = np.repeat(part_D, num), places(groups, counts_RA)
        weight_R1 = np.repeat(weight_D, num)[:, None]
        totals = np.zeros((part_D.max() + 1, *groups.counts_SA.shape))
        times = np.zeros((*totals.shape[:2], 1))
        is_action = rows_RN[:, :, None] == np.arange(counts_RA.shape[1])
        paid_RA = (values_RN[:, :, None] * is_action).sum(axis=1) / np.maximum(counts_RA, 1)
        np.add.at(totals, at, weight_R1 * paid_RA)
        np.add.at(times, at, weight_R1)
        usual_SA = totals.sum(axis=0) / np.maximum(times.sum(axis=0), 1e-300)
        return np.where(times > 0, totals / np.where(times > 0, times, 1), usual_SA)


def _counts(rows_RN: np.ndarray, num_actions: int) -> np.ndarray:
    return (rows_RN[:, :, None] == np.arange(num_actions)).sum(axis=1)


def _noise(field: Field, parts_DSA: np.ndarray) -> float:
    """Return the standard error of the mean update, as a share of its length; 0 of one part."""
    if len(parts_DSA) == 1:
        return 0.0
    each_DPA = np.array([field.of_credit(credit_SA) for credit_SA in parts_DSA])
    error_PA = each_DPA.std(axis=0, ddof=1) / np.sqrt(len(each_DPA))
    return float(np.linalg.norm(error_PA)) / (float(np.linalg.norm(field.values_PA)) or 1.0)
