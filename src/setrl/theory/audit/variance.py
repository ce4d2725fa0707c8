"""The variance of an estimator's update, compared with unbiased estimators of the same gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl.theory.audit.compare import Library, Match
from setrl.theory.audit.field import Field
from setrl.theory.audit.least import least_variance
from setrl.theory.audit.paid import Paid
from setrl.theory.multisets import Multisets


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
        if self.beside is None:
            return float("nan")
        return float(self.values_P.sum() / self.rivals[self.beside].sum())

    @property
    def over_least(self) -> float:
        """The mean variance ÷ the least that an unbiased estimator can have, over the policies."""
        if self.least_P is None or not self.least_P.any():
            return float("nan")
        return float(self.values_P.sum() / self.least_P.sum())

    @property
    def ratio_P(self) -> np.ndarray:
        """The variance ÷ the least variance of all rivals; NaN where that is 0."""
        if not self.rivals:
            return np.full(len(self.values_P), np.nan)
        least_P = np.min(list(self.rivals.values()), axis=0)
        known_P = least_P > 1e-9 * least_P.max()
        return np.where(known_P, self.values_P / np.where(known_P, least_P, 1.0), np.nan)

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
    one = match.parts[0]
    scale = match.factors[0] * one.set_size / field.paid.num_samples  # their factor is N/K
    credits = library.credits(library.objectives.index(one))
    payers = {
        base: field.paid.paying(scale * credit_SA)
        for base, credit_SA in credits.items()
        if base != "u − U"  # which is u − v, times a number
    }
    rivals = {base: of_update(payer, field.policies_PA) for base, payer in payers.items()}
    best = least_variance(next(iter(payers.values())), field.policies_PA)
    least_P = None if best is None else of_update(best, field.policies_PA)
    return Variance(own_P, rivals, one.label, least_P)


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
