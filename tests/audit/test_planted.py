"""Estimators that depend on order, place, group or batch: an audit agrees, draws or refuses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb, factorial, prod

import numpy as np
import pytest

from setrl.theory.audit import Audit, audit
from setrl.theory.audit.field import Field
from tests.audit.planted import PLANTED, reads_labels

N = 2
UNSTEADY = {"random_drop", "running_mean"}


def gradient(
    function: Callable, groups: int, labels: int, policies_PA: np.ndarray, size: int = N
) -> np.ndarray:
    """Return E Σᵢ Aᵢ(1{yᵢ} − π) by its definition: over every sample of every group, and place.

    The other groups are of prompts whose policies are uniform over all policies, so that each
    group without its order has the chance 1 / C(A + N − 1, N).
    """
    rewards = np.repeat([1.0, 0.0], labels)
    names, actions = np.tile(np.arange(labels), 2), np.eye(2 * labels)
    rows = list(product(range(2 * labels), repeat=size))
    alike = [factorial(size) // prod(factorial(row.count(a)) for a in set(row)) for row in rows]
    beside = [1 / comb(2 * labels + size - 1, size) / times for times in alike]
    found = np.zeros(policies_PA.shape)
    for chosen in product(range(len(rows)), repeat=groups):
        batch = np.array([rows[one] for one in chosen])
        given = [rewards[batch]] + [names[batch]] * (labels > 1)
        values = function(*given)
        for place, one in enumerate(chosen):
            others = prod(beside[other] for at, other in enumerate(chosen) if at != place)
            scores = actions[batch[place]].T @ values[place] - policies_PA * values[place].sum()
            own = policies_PA[:, rows[one]].prod(axis=1, keepdims=True)
            found += own * others * scores / groups
    return found


def found_by(function: Callable, **how: int | None) -> Audit:
    labels = 2 if reads_labels(function) else 1
    return audit(function, labels=labels, takes="batch", **how)


@pytest.mark.parametrize("function", PLANTED, ids=lambda one: one.__name__)
def test_the_audit_has_the_gradient_of_the_definition(function: Callable) -> None:
    groups = 2 if reads_labels(function) else 3
    found = found_by(function, group_size=N, groups=groups)
    if function.__name__ in UNSTEADY:
        assert found.objective is None
        assert found.pays["unbiased"] is False
        assert found.in_batch is not None
        assert found.in_batch.draws > 0
        return
    policies_PA = found.gradient.policies_PA[::16]
    truth_PA = gradient(function, groups, 1 + reads_labels(function), policies_PA)
    paid = found.paid if found.in_batch is None else found.in_batch.paid
    np.testing.assert_allclose(Field(paid, policies_PA).values_PA, truth_PA, atol=1e-12)


def test_a_neighbours_mean_is_an_unbiased_baseline_in_groups_of_4() -> None:
    found = found_by(PLANTED[0], claims="4*pass@1")  # 8 groups have too many orders: 3 groups
    assert found.in_batch is not None
    assert (found.in_batch.num_groups, found.in_batch.draws) == (3, 0)
    assert found.in_batch.all_wrong == pytest.approx(-0.5)
    assert found.pays["unbiased"]
    drawn = found_by(PLANTED[0], group_size=3, claims="3*pass@1", groups=8)
    assert drawn.pays["unbiased"] is None  # chance may hide a bias
    assert "at most" in str(drawn.in_batch)


def test_a_fault_that_only_larger_batches_have_is_not_exact() -> None:
    def by_neighbour(rewards: np.ndarray) -> np.ndarray:
        paid = rewards - np.roll(rewards.mean(1, keepdims=True), 1, axis=0)
        return paid * (1 if len(rewards) < 7 else 1 + rewards.mean(1, keepdims=True))

    found = found_by(by_neighbour, group_size=3, claims="pass@1")
    assert found.in_batch is not None
    assert found.in_batch.num_groups == 8
    assert found.in_batch.draws > 0
    assert found.pays["unbiased"] is False
