"""The least variance of all unbiased estimators of a gradient that ignore the order of a group.

By the first statement of docs/audit.md#the-test, these are u + b(others), b any function of the
N − 1 other samples. The variance is quadratic in b, so the best b solves linear equations: one
number for each group of N − 1.
"""

from __future__ import annotations

import numpy as np

from setrl.theory.audit.compare import rest_of
from setrl.theory.audit.paid import Paid
from setrl.theory.multisets import multisets

MAX_UNKNOWNS = 1_000  # groups of N − 1
RIDGE = 1e-12  # of the largest term: b has directions that change nothing


def least_variance(
    paid: Paid, policies_PA: np.ndarray, weight_P: np.ndarray | None = None
) -> Paid | None:
    """Return the unbiased estimator with the least Σ weight·Tr Cov over policies.

    Args:
        paid: An estimator of the same gradient.
        policies_PA: The policies.
        weight_P: Their weights; equal by default. Weight on one policy only gives the best
            estimator for who knows the policy.

    Returns:
        The estimator on the same groups; None if there are more than 1,000 groups of N − 1.
    """
    groups, num_actions = paid.groups, paid.table.num_actions
    if paid.num_samples < 2:
        return None
    num_rest = len(multisets(num_actions, paid.num_samples - 1).sets_SK)
    if num_rest > MAX_UNKNOWNS:
        return None
    rest_SA = rest_of(groups)
    square_SAA = _squares(paid, policies_PA, weight_P)
    quadratic_MM, linear_M = np.zeros((num_rest, num_rest)), np.zeros(num_rest)
    np.add.at(quadratic_MM, (rest_SA[:, :, None], rest_SA[:, None, :]), square_SAA)
    np.add.at(linear_M, rest_SA, (square_SAA * paid.credit_SA[:, None, :]).sum(axis=-1))
    ridge = RIDGE * np.abs(quadratic_MM).max() * np.eye(num_rest)
    baseline_M = np.linalg.solve(quadratic_MM + ridge, -linear_M)
    credit_SA = paid.credit_SA + baseline_M[rest_SA]
    return paid.paying(np.where(groups.counts_SA > 0, credit_SA, 0.0))


def _squares(paid: Paid, policies_PA: np.ndarray, weight_P: np.ndarray | None) -> np.ndarray:
    """Σ weight·P(n)·n_a·n_b·(e_a − π)·(e_b − π) over policies, (S, A, A)."""
    counts_SA = paid.groups.counts_SA
    weight = np.ones(len(policies_PA)) if weight_P is None else weight_P
    chance_PS = paid.groups.chances(policies_PA) * weight[:, None]
    once_S, square_S = chance_PS.sum(axis=0), (policies_PA**2).sum(axis=1) @ chance_PS
    share_SA = chance_PS.T @ policies_PA
    inner_SAA = (
        once_S[:, None, None] * np.eye(counts_SA.shape[1])
        - share_SA[:, :, None]
        - share_SA[:, None, :]
        + square_S[:, None, None]
    )
    return counts_SA[:, :, None] * counts_SA[:, None, :] * inner_SAA
