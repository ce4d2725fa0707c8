"""The variance of an estimator's update, beside unbiased estimators of the same gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl.audit.compare import Match
from setrl.audit.field import Field
from setrl.audit.made import BASES
from setrl.audit.paid import Paid
from setrl.core.method import Method
from setrl.theory.multisets import Multisets

UNBIASED = ("leave_one_out", "smaller_sets", "others_mean", "none")  # N/K·∇J, each of them


@dataclass(frozen=True, eq=False)
class Variance:
    """How noisy an estimator is: Tr Cov Σᵢ Aᵢ ∇log π(yᵢ), for the policies of the audit.

    Attributes:
        values_P: Its variance.
        rivals: Unbiased credits, such as "u − v" → their variance, scaled to the same gradient;
            empty if there is no objective to compare.
        label: The objective of the rivals.
    """

    values_P: np.ndarray
    rivals: dict[str, np.ndarray]
    label: str = ""

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
            "values": self.values_P.tolist(),
            "rivals": rivals,
        }


def variance(field: Field, match: Match | None) -> Variance:
    """Return the variance of an estimator, beside the baselines of the matched objective."""
    own_P = of_update(field.paid, field.policies_PA, field.values_PA)
    if match is None or len(match.parts) != 1:
        return Variance(own_P, {})
    rivals = {}
    for baseline in UNBIASED:
        values_P = _rival(field, match, baseline)
        if values_P is not None:
            rivals[BASES[baseline]] = values_P
    return Variance(own_P, rivals, match.parts[0].label)


def of_update(paid: Paid, policies_PA: np.ndarray, field_PA: np.ndarray) -> np.ndarray:
    """Tr Cov of Σᵢ Aᵢ(1{yᵢ} − π), shape (P,)."""
    rows = Multisets(paid.groups_RN, paid.counts_RA * 1.0, paid.weight_R)
    totals_RA, sum_R = paid.totals_RA, paid.totals_RA.sum(axis=1)
    moments = np.column_stack([(totals_RA**2).sum(axis=1), sum_R**2, totals_RA * sum_R[:, None]])
    mean = rows.chances(policies_PA) @ moments
    length_P = (policies_PA**2).sum(axis=1)
    square_P = mean[:, 0] + length_P * mean[:, 1] - 2 * (policies_PA * mean[:, 2:]).sum(axis=1)
    return np.maximum(square_P - (field_PA**2).sum(axis=1), 0.0)


def _rival(field: Field, match: Match, baseline: str) -> np.ndarray | None:
    """Return the variance of u minus a baseline, scaled to match; None if K is too large."""
    one, paid = match.parts[0], field.paid
    method = Method(baseline, one.objective, one.set_size, baseline)
    if method.fewest_samples > paid.num_samples:
        return None
    other = paid.of(method)
    scale = match.factors[0] * one.set_size / paid.num_samples
    own_PA = Field(other, field.policies_PA).values_PA
    return scale**2 * of_update(other, field.policies_PA, own_PA)
