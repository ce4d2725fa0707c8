"""The variance of an estimator's update, beside the best unbiased ones of the same gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setrl.audit.calling import estimator
from setrl.audit.compare import Match
from setrl.audit.field import Field
from setrl.audit.paid import Paid
from setrl.core.method import Method
from setrl.theory.multisets import Multisets

BASELINES = ("leave_one_out", "smaller_sets", "others_mean", "none")


@dataclass(frozen=True, eq=False)
class Variance:
    """How noisy an estimator is.

    Attributes:
        values_P: Tr Cov Σᵢ Aᵢ ∇log π(yᵢ), for the policies of the audit.
        beside: The unbiased estimator of the same gradient that has the least variance of those
            that we know, on average over the policies; None if there is no objective to compare.
        ratio_P: Variance ÷ the variance of `beside`; NaN where that is 0.
    """

    values_P: np.ndarray
    beside: str | None
    ratio_P: np.ndarray

    @property
    def ratio(self) -> float:
        """The mean variance ÷ the mean variance of `beside`, over the policies."""
        kept = np.isfinite(self.ratio_P)
        if not kept.any():
            return float("nan")
        best_P = self.values_P[kept] / self.ratio_P[kept]
        return float(self.values_P[kept].sum() / best_P.sum())


def variance(field: Field, match: Match | None) -> Variance:
    """Return the variance of an estimator, beside baselines of the matched objective."""
    own_P = of_update(field.paid, field.policies_PA, field.values_PA)
    if match is None or len(match.parts) != 1:
        return Variance(own_P, None, np.full(len(own_P), np.nan))
    rivals = {name: _rival(field, match, name) for name in BASELINES}
    known = {name: values for name, values in rivals.items() if values is not None}
    best = min(known, key=lambda name: float(known[name].mean()))
    floor = 1e-12 * max(float(known[best].max()), 1e-300)
    ratio_P = np.where(known[best] > floor, own_P / np.maximum(known[best], floor), np.nan)
    return Variance(own_P, f"{best} of {match.parts[0].label}", ratio_P)


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
    other = pay_symmetric(method, paid)
    scale = match.factors[0] * one.set_size / paid.num_samples
    gradient_PA = (
        field.values_PA if match.is_exact else Field(other, field.policies_PA).values_PA * scale
    )
    return scale**2 * of_update(other, field.policies_PA, gradient_PA / scale)


def pay_symmetric(method: Method, paid: Paid) -> Paid:
    """Return what one of our methods pays; the order of samples never matters to it."""
    groups = paid.groups
    values = estimator(method).of_groups(paid.table, groups.sets_SK)
    return Paid(
        paid.table, paid.num_samples, groups.sets_SK, values, groups.orderings_S, 1e-9, 0.0, True
    )
