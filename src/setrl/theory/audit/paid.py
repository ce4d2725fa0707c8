"""What an estimator pays in every group: the table from which the rest of an audit is computed.

Axes, in addition to the library's and the theory's: R rows, the groups on which an estimator was
called; A actions, the kinds of samples, each a reward and a label; M the groups of N − 1 others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import comb

import numpy as np

from setrl.theory.audit.calling import EXACT, CalledEstimator, ShowProgress
from setrl.theory.multisets import Multisets, multisets
from setrl.theory.tabular import ActionTable

MAX_GROUPS = 20_000
MAX_ORDERED = 70_000  # ordered groups that are all tried: 16 samples that are right or wrong
SOME_ORDERED = 5_000  # of groups that have more orders, but at least two orders of each
REPEATED = 500  # rows that are called again for a law


@dataclass(frozen=True, eq=False)
class Paid:
    """The advantages of an estimator in every group of N samples of a table's actions.

    Attributes:
        table: The actions: every reward with every label.
        num_samples: N.
        groups_RN: The groups on which it was called, by the actions of their samples.
        values_RN: What it paid; 0 where it returned NaN or infinite numbers.
        weight_R: In how many of the ordered groups a row stands for; P(row) = weight·Π π(yᵢ).
        tolerance: The rounding of an advantage: relative to the largest advantage.
        order: The largest difference that the order of a group's samples makes.
        all_orders: Whether all orders were tried.
        largest: The largest |advantage| that `values_RN` average; 0 if they are not means.
    """

    table: ActionTable
    num_samples: int
    groups_RN: np.ndarray
    values_RN: np.ndarray
    weight_R: np.ndarray
    tolerance: float
    order: float
    all_orders: bool
    largest: float = 0.0

    @property
    def groups(self) -> Multisets:
        """Every group without its order."""
        return multisets(self.table.num_actions, self.num_samples)

    @property
    def scale(self) -> float:
        """The largest |advantage|; 1 if all are 0."""
        return max(self.largest, float(np.abs(self.values_RN).max())) or 1.0

    @property
    def rounding(self) -> float:
        """How large a number may be that is 0 except for rounding."""
        return self.tolerance * self.scale

    @property
    def is_symmetric(self) -> bool:
        """Whether the order of a group's samples does not matter."""
        return self.order <= self.rounding

    @cached_property
    def counts_RA(self) -> np.ndarray:
        """How often each row holds each action."""
        return counts(self.groups_RN, self.table.num_actions)

    @cached_property
    def totals_RA(self) -> np.ndarray:
        """The sum of the advantages of each action's samples in each row."""
        at = np.arange(self.table.num_actions)
        return (self.values_RN[:, :, None] * (self.groups_RN[:, :, None] == at)).sum(axis=1)

    @cached_property
    def credit_SA(self) -> np.ndarray:
        """The mean advantage of an action in each group, over all orders; 0 if it is not there."""
        groups = self.groups
        row_S = places(groups, self.counts_RA)
        totals_SA, weight_S = np.zeros(groups.counts_SA.shape), np.zeros(len(groups.counts_SA))
        np.add.at(totals_SA, row_S, self.totals_RA * self.weight_R[:, None])
        np.add.at(weight_S, row_S, self.weight_R)
        return totals_SA / weight_S[:, None] / np.maximum(groups.counts_SA, 1)

    def paying(self, credit_SA: np.ndarray) -> Paid:
        """Return the same groups with another credit, which does not depend on their order."""
        sets_SN, times_S = self.groups.sets_SK, self.groups.orderings_S
        values_SN = np.take_along_axis(credit_SA, sets_SN, axis=1)
        return Paid(self.table, self.num_samples, sets_SN, values_SN, times_S, EXACT, 0, True)

    def of_rows(self, rows_RN: np.ndarray) -> np.ndarray:
        """Return what it pays ordered groups that are given by their samples' actions."""
        base_N = self.table.num_actions ** np.arange(self.num_samples)[::-1]
        if len(self.groups_RN) == base_N[0] * self.table.num_actions:  # all, in this order
            return self.values_RN[rows_RN @ base_N]
        row_R = places(self.groups, counts(rows_RN, self.table.num_actions))
        return np.take_along_axis(self.credit_SA[row_R], rows_RN, axis=1)

    @cached_property
    def given_others_MA(self) -> np.ndarray:
        """E[Aᵢ | the N − 1 others, yᵢ = a]: the advantage of each action with the same others."""
        return beside_others(self.groups, self.credit_SA)


def counts(rows_RN: np.ndarray, num_actions: int) -> np.ndarray:
    """Return how often each row holds each action."""
    return (rows_RN[:, :, None] == np.arange(num_actions)).sum(axis=1)


def beside_others(groups: Multisets, values_SA: np.ndarray) -> np.ndarray:
    """Return a value of each group and action, (S, A), for N − 1 others, (M, A)."""
    num_actions = groups.counts_SA.shape[1]
    num = groups.sets_SK.shape[1]
    rest_MA = multisets(num_actions, num - 1).counts_SA if num > 1 else np.zeros((1, num_actions))
    row_MA = np.stack([places(groups, rest_MA + unit_A) for unit_A in np.eye(num_actions)], axis=1)
    return values_SA[row_MA, np.arange(num_actions)]


def places(groups: Multisets, counts_RA: np.ndarray) -> np.ndarray:
    """Return which multisets have these counts."""
    base = float(groups.sets_SK.shape[1] + 1) ** np.arange(groups.counts_SA.shape[1])
    key_S = groups.counts_SA @ base
    order = np.argsort(key_S)
    return order[np.searchsorted(key_S[order], counts_RA @ base)]


def pay(
    estimator: CalledEstimator,
    table: ActionTable,
    num_samples: int,
    progress: ShowProgress | None = None,
    orders: bool = True,
) -> Paid:
    """Call an estimator on every group: in every order if the orders are few, else in some.

    Args:
        estimator: The function.
        table: The actions.
        num_samples: N.
        progress: Called with the number of groups after every call.
        orders: Whether to try other orders than the order of the actions.

    Raises:
        ValueError: If there are too many groups, the estimator raises, or returns no advantages;
            or if the order of samples matters and there are too many orders.
    """
    num_actions = table.num_actions
    total = comb(num_actions + num_samples - 1, num_samples)
    if total > MAX_GROUPS:
        raise _make_error("", MAX_GROUPS, num_samples, lambda n: comb(num_actions + n - 1, n))
    groups = multisets(num_actions, num_samples)
    all_orders = num_actions**num_samples <= MAX_ORDERED
    rows_RN, weight_R = groups.sets_SK, groups.orderings_S
    if orders:
        rows_RN, weight_R = _order_groups(groups, num_actions, all_orders)
    values_RN = estimator.twice(table, rows_RN[:, None], progress)[:, 0]
    paid = Paid(
        table, num_samples, rows_RN, values_RN, weight_R, estimator.tolerance, 0.0, all_orders
    )
    paid = replace(paid, order=_measure_order_effect(paid))
    if not estimator.is_steady or (all_orders and not paid.is_symmetric):
        return paid
    if not paid.is_symmetric:
        raise _make_error("orders of ", MAX_ORDERED, num_samples, lambda n: num_actions**n)
    _, first_S = np.unique(places(groups, paid.counts_RA), return_index=True)
    unordered = replace(paid, groups_RN=rows_RN[first_S], values_RN=values_RN[first_S])
    return replace(unordered, weight_R=groups.orderings_S)


def _make_error(kind: str, most: int, num: int, count: Callable[[int], int]) -> ValueError:
    """Return the error for so many groups, or orders of them; `count` counts them for a size."""
    why = "the order of samples matters, and " if kind else ""
    largest = max(size for size in range(num) if count(size) <= most)
    return ValueError(
        f"{why}there are {count(num):,} {kind}groups of {num} samples, more than the {most:,} that "
        f"are tried: take groups of at most {largest} samples, or fewer rewards or labels"
    )


def _order_groups(
    groups: Multisets, num_actions: int, all_orders: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return ordered groups, and how many ordered groups each of them stands for."""
    num = groups.sets_SK.shape[1]
    if all_orders:
        rows = np.array(list(product(range(num_actions), repeat=num)), dtype=np.intp)
        return rows, np.ones(len(rows))
    rng = np.random.default_rng(0)
    times = max(SOME_ORDERED // len(groups.sets_SK), 2)
    shuffled = [rng.permuted(groups.sets_SK, axis=1) for _ in range(times)]
    return np.concatenate(shuffled), np.tile(groups.orderings_S / times, times)


def sample_rows(num_rows: int, most: int = REPEATED) -> np.ndarray:
    """Return the rows that are called again: all if they are few, otherwise evenly spread ones."""
    return np.unique(np.linspace(0, num_rows - 1, min(num_rows, most)).astype(int))


def _measure_order_effect(paid: Paid) -> float:
    """Return the largest difference between a sample's advantage and its mean over all orders."""
    row_R = places(paid.groups, paid.counts_RA)
    usual_RN = np.take_along_axis(paid.credit_SA[row_R], paid.groups_RN, axis=1)
    return float(np.abs(paid.values_RN - usual_RN).max())
