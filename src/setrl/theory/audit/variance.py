"""The variance of an estimator's update, compared with unbiased estimators of the same gradient.

By the first statement of docs/audit.md#the-test, all unbiased estimators that ignore the order of a
group are u + b(others), b any function of the N − 1 other samples. The variance is quadratic in b,
so the best b solves linear equations: one number for each group of N − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl.theory.audit.compare import Library, Match, rest_of
from setrl.theory.audit.field import Field
from setrl.theory.audit.paid import Paid
from setrl.theory.multisets import Multisets, multisets

MAX_UNKNOWNS = 1_000  # groups of N − 1
RIDGE = 1e-12  # of the largest term: b has directions that change nothing


@dataclass(frozen=True, eq=False)
class Variance:
    """How noisy an estimator is: Tr Cov Σᵢ Aᵢ ∇log π(yᵢ), for the policies of the audit.

    Attributes:
        values_P: Its variance.
        rivals: Unbiased credits, such as "u − v" → their variance, scaled to the same gradient;
            empty if there is no objective to compare.
        label: The objective of the rivals.
        least_P: The variance of the unbiased estimator with the least mean variance over the
            policies, of all that ignore the order of a group; None if it is unknown.
    """

    values_P: np.ndarray
    rivals: dict[str, np.ndarray]
    label: str = ""
    least_P: np.ndarray | None = None

    @property
    def beside(self) -> str | None:
        """The first rival: u − v, or u − w if sets are as large as the group."""
        return next(iter(self.rivals), None)

    @property
    def ratio(self) -> float:
        """The mean variance ÷ the mean variance of `beside`, over the policies."""
        beside = 0.0 if self.beside is None else float(self.rivals[self.beside].sum())
        return float(self.values_P.sum()) / beside if beside else float("nan")

    @property
    def over_least(self) -> float:
        """The mean variance ÷ the least that an unbiased estimator can have, over the policies."""
        if self.least_P is None or not self.least_P.any():
            return float("nan")
        return float(self.values_P.sum() / self.least_P.sum())

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        rivals = {name: values.tolist() for name, values in self.rivals.items()}
        return {
            "of": self.label,
            "beside": self.beside,
            "ratio": self.ratio,
            "over_least": self.over_least,
            "values": self.values_P.tolist(),
            "rivals": rivals,
        }


def variance(library: Library, match: Match | None) -> Variance:
    """Return the variance, compared with the unbiased credits of the matched objective."""
    field = library.field
    own_P = of_update(field.paid, field.policies_PA)
    if match is None or len(match.parts) != 1:
        return Variance(own_P, {})
    known = match.parts[0]
    scale = match.factors[0] * known.set_size / field.paid.num_samples  # their factor is N/K
    credits = library.credits(library.objectives.index(known))
    payers = {
        base: field.paid.paying(scale * credit_SA)
        for base, credit_SA in credits.items()
        if base != "u − U"  # which is u − v, times a number
    }
    rivals = {base: of_update(payer, field.policies_PA) for base, payer in payers.items()}
    best = least_variance(next(iter(payers.values())), field.policies_PA)
    least_P = None if best is None else of_update(best, field.policies_PA)
    return Variance(own_P, rivals, known.label, least_P)


def of_update(paid: Paid, policies_PA: np.ndarray) -> np.ndarray:
    """Tr Cov of Σᵢ Aᵢ(1{yᵢ} − π), shape (P,)."""
    mean_PA = Field(paid, policies_PA).values_PA
    rows = Multisets(paid.groups_RN, paid.counts_RA * 1.0, paid.weight_R)
    totals_RA, sum_R = paid.totals_RA, paid.totals_RA.sum(axis=1)
    moments = np.column_stack([(totals_RA**2).sum(axis=1), sum_R**2, totals_RA * sum_R[:, None]])
    mean = rows.chances(policies_PA) @ moments
    length_P = (policies_PA**2).sum(axis=1)
    square_P = mean[:, 0] + length_P * mean[:, 1] - 2 * (policies_PA * mean[:, 2:]).sum(axis=1)
    return np.maximum(square_P - (mean_PA**2).sum(axis=1), 0.0)


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
    square_SAA = _mean_squares(paid, policies_PA, weight_P)
    quadratic_MM, linear_M = np.zeros((num_rest, num_rest)), np.zeros(num_rest)
    np.add.at(quadratic_MM, (rest_SA[:, :, None], rest_SA[:, None, :]), square_SAA)
    np.add.at(linear_M, rest_SA, (square_SAA * paid.credit_SA[:, None, :]).sum(axis=-1))
    ridge = RIDGE * np.abs(quadratic_MM).max() * np.eye(num_rest)
    baseline_M = np.linalg.solve(quadratic_MM + ridge, -linear_M)
    credit_SA = paid.credit_SA + baseline_M[rest_SA]
    return paid.paying(np.where(groups.counts_SA > 0, credit_SA, 0.0))


def _mean_squares(paid: Paid, policies_PA: np.ndarray, weight_P: np.ndarray | None) -> np.ndarray:
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
