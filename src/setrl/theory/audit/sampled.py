"""An audit by sampling, for groups that are too many to enumerate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from setrl.core.method import Method
from setrl.theory.audit.calling import Estimator, cleaned, estimator
from setrl.theory.audit.compare import share
from setrl.theory.audit.curves import Curves
from setrl.theory.audit.known import Known, claimed, known
from setrl.theory.audit.laws import Law, laws
from setrl.theory.audit.leads import Survivors, drawn_survivors
from setrl.theory.audit.paid import CHUNK, Paid, Progress, settled
from setrl.theory.audit.shapes import known_shape
from setrl.theory.audit.text import FIRST, NAMED, alarms, leads, pays, rewards_of, scales
from setrl.theory.audit.variance import Variance
from setrl.theory.tabular import ActionTable, TabularObjective

POLICIES, GROUPS = 16, 500  # policies, and groups that are drawn from each
MANY, FEW = 400, 50  # groups of a step towards the survivors: in batches, and one by one
MOST_SETS = 1_000  # of an objective whose gradient is computed exactly


@dataclass(frozen=True, eq=False)
class SampledAudit:
    """What an estimator does, from groups that were drawn: means with standard errors.

    Attributes:
        estimator: The function and how it was called.
        table: The kinds of samples.
        num_samples: N.
        policies_PA: The policies from which groups were drawn.
        gradient_PA: The mean of Σᵢ Aᵢ ∇log π(yᵢ).
        stderr_PA: Its standard error.
        nearest: The objective whose gradient is nearest, or the claim.
        factor: What multiplies its gradient, by least squares.
        factor_stderr: The standard error of the factor.
        off: ‖F − κ∇J‖/‖F‖, without the part that noise explains; 0 if noise explains all.
        noise: The part of the length that noise would give an exact gradient.
        chi: The squared distance from κ∇J ÷ the squared noise; about 1 for an exact gradient.
        laws: What it keeps to and what it pays, in the groups that were drawn.
        has_claim: Whether `nearest` is a claim.
    """

    estimator: Estimator
    table: ActionTable
    num_samples: int
    policies_PA: np.ndarray
    gradient_PA: np.ndarray
    stderr_PA: np.ndarray
    nearest: Known
    factor: float
    factor_stderr: float
    off: float
    noise: float
    chi: float
    laws: tuple[Law, ...]
    has_claim: bool

    @cached_property
    def variance(self) -> Variance:
        """The variance, compared with u − v (u − w if K = N), from the groups that were drawn."""
        return self.curves(self.policies_PA).variance

    @cached_property
    def survivors(self) -> Survivors:
        """Where it leads on one prompt, with groups that are drawn in every step."""
        groups = MANY if _is_quick(self.estimator) else FEW

        def advantages(actions_BN: np.ndarray) -> np.ndarray:
            return cleaned(self.estimator.of_groups(self.table, actions_BN))

        return drawn_survivors(advantages, self.table, self.num_samples, groups)

    def curves(self, policies_PA: np.ndarray) -> Curves:
        """Return its mean update and variance for other policies, from groups that are drawn."""
        rows_GN = _drawn(policies_PA, self.num_samples, np.random.default_rng(0))
        values_GN = cleaned(self.estimator.of_groups(self.table, rows_GN))
        own_PA, stderr_PA = _means(policies_PA, rows_GN, values_GN)
        near_PA = self.factor * _gradient(self.nearest, self.table, policies_PA)
        rival, method = _beside(self.nearest, self.num_samples)
        credit = self.table.credit(method, rows_GN, np.random.default_rng(0)).values_BN
        scale = self.factor * self.nearest.set_size / self.num_samples
        _, other_PA = _means(policies_PA, rows_GN, scale * np.asarray(credit))
        own_P, other_P = (GROUPS * (one**2).sum(axis=1) for one in (stderr_PA, other_PA))
        noise = Variance(own_P, {rival: other_P}, self.nearest.label)
        name = f"{self.factor:.3g}·∇{self.nearest.label}"
        return Curves(own_PA, stderr_PA, {name: near_PA}, noise)

    @property
    def is_consistent(self) -> bool:
        """Whether the mean update is κ∇J as far as the noise can tell: three standard errors."""
        square = self.stderr_PA**2
        spread = np.sqrt(2 * (square**2).sum()) / max(square.sum(), 1e-300)
        return bool(self.chi <= 1 + 3 * spread)

    @property
    def pays(self) -> dict[str, bool | None]:
        """What can be required → whether it holds, as far as the groups that were drawn tell."""
        is_whole = self.estimator.is_steady and "missing" not in self.estimator.habits
        return {"unbiased": is_whole and self.is_consistent and self.factor > 0} | {
            law.name: law.holds for law in self.laws
        }

    def sentences(self) -> list[str]:
        """Return what was found, for people."""
        is_binary = np.unique(np.asarray(self.table.rewards)).size == 2
        first = [f"Warning: {self.estimator.name} {law.says}."
                 for law in self.laws if law.name in FIRST and law.holds is False]  # fmt: skip
        lines = [*first, self._what(), *self._ratio(), *pays(self.laws), *scales(self.laws)]
        return [*lines, leads(self.survivors, is_binary), *alarms(self.laws)]

    def _what(self) -> str:
        name, label = self.estimator.name, self.nearest.label
        drawn = (
            f"({POLICIES * GROUPS:,} groups of {self.num_samples} samples with "
            f"{rewards_of(self.table)} were drawn)"
        )
        if not self.gradient_PA.any():
            return f"{name} optimises nothing: its update is 0 {drawn}."
        kappa = f"({self.factor:.3g} ± {2 * self.factor_stderr:.1g})·∇{label}"
        if self.is_consistent:
            what = "optimise" if self.factor > 0 else "minimise"
            return (
                f"{name} may {what} {label}: its mean update is {kappa}, up to the noise, "
                f"{share(self.noise)} of its length {drawn}."
            )
        what = "its claim" if self.has_claim else "the nearest"
        return (
            f"{name} does not optimise {label}, {what}: "
            f"its mean update is {share(self.off)} off {kappa}, beyond the noise, "
            f"{share(self.noise)} of its length {drawn}."
        )

    def _ratio(self) -> Iterator[str]:
        found = self.variance
        if np.isfinite(found.ratio):
            yield (
                f"Its variance is about {found.ratio:.2g} times the variance of "
                f"{NAMED[str(found.beside)]} of {found.label}, scaled to the same factor."
            )

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values for JSON."""
        nearest = {"is": f"{self.factor:.3g}·∇{self.nearest.label}", "off": self.off}
        drawn = {
            "groups": POLICIES * GROUPS,
            "factor_stderr": self.factor_stderr,
            "noise": self.noise,
            "gradient_stderr": self.stderr_PA.tolist(),
        }
        unknown = dict.fromkeys(("made", "curl", "strength", "in_batch", "other_sizes"))
        labels = self.table.clusters
        return unknown | {
            "estimator": self.estimator.name,
            "called_as": self.estimator.shape.name,
            "group_size": self.num_samples,
            "rewards": np.asarray(self.table.rewards).tolist(),
            "labels": None if labels is None else np.asarray(labels).tolist(),
            "objective": nearest if self.is_consistent else None,
            "nearest": nearest,
            "claim": nearest if self.has_claim else None,
            "factor": self.factor,
            "bias": self.off,
            "policies": self.policies_PA.tolist(),
            "gradient": self.gradient_PA.tolist(),
            "variance": self.variance.to_json(),
            "survivors": asdict(self.survivors),
            "laws": [asdict(law) for law in self.laws],
            "requirements": self.pays,
            "sentences": self.sentences(),
            "drawn": drawn,
        }


def audit_sampled(
    function: Any,
    table: ActionTable,
    group_size: int,
    *,
    claims: str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator | int = 0,
    **how: Any,
) -> SampledAudit:
    """Audit an estimator on groups that are drawn, for large groups with many kinds of samples.

    Args:
        function: As in `audit`.
        table: The kinds of samples, every reward with every label.
        group_size: N.
        claims: The objective to compare with; by default the nearest with at most 1,000 sets.
        name: What sentences call the estimator.
        progress: Called with the number of groups after every batch of calls.
        rng: Draws the policies and the groups.
        **how: `shape` and `takes` of `audit`.
    """
    draw = np.random.default_rng(rng)
    shape = how.get("shape") or known_shape(function)
    subject = estimator(function, shape, name, group_size, how.get("takes"))
    policies_PA = draw.dirichlet(np.ones(table.num_actions), size=POLICIES)
    rows_GN = _drawn(policies_PA, group_size, draw)
    values_GN = settled(subject, table, rows_GN, progress)
    gradient_PA, stderr_PA = _means(policies_PA, rows_GN, values_GN)
    wanted = known(table, group_size) if claims is None else [claimed(claims, group_size)[0]]
    fits = [_fit(one, table, policies_PA, gradient_PA, stderr_PA) for one in _small(wanted, table)]
    nearest, kappa, kappa_stderr, chi = min(fits, key=lambda fit: fit[3])
    wanted_PA = kappa * _gradient(nearest, table, policies_PA)
    length, noise = np.linalg.norm(gradient_PA), np.linalg.norm(stderr_PA)
    left = max(np.sum((gradient_PA - wanted_PA) ** 2) - noise**2, 0.0)
    return SampledAudit(
        subject,
        table,
        group_size,
        policies_PA,
        gradient_PA,
        stderr_PA,
        nearest,
        kappa,
        kappa_stderr,
        float(np.sqrt(left) / (length or 1.0)),
        float(noise / (length or 1.0)),
        chi,
        _laws(subject, table, rows_GN, values_GN, draw),
        claims is not None,
    )


def _is_quick(estimator: Estimator) -> bool:
    return estimator.shape.takes_batches and "mixes" not in estimator.habits


def _beside(known: Known, num_samples: int) -> tuple[str, Method]:
    """Return the unbiased credit that a variance is compared with."""
    name = "leave_one_out" if known.set_size < num_samples else "smaller_sets"
    symbol = {"leave_one_out": "u − v", "smaller_sets": "u − w"}[name]
    return symbol, Method("beside", known.objective, known.set_size, name)


def _drawn(policies_PA: np.ndarray, num: int, draw: np.random.Generator) -> np.ndarray:
    """Return groups by their actions, GROUPS from each policy, one after the other."""
    edges_PA = policies_PA.cumsum(axis=1)[:, None, None, :-1]
    uniform = draw.random((len(policies_PA), GROUPS, num, 1))
    return (uniform > edges_PA).sum(axis=-1).reshape(-1, num)


def _means(
    policies_PA: np.ndarray, rows_GN: np.ndarray, values_GN: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean update of each policy and its standard error, (P, A)."""
    num_policies, num_actions = policies_PA.shape
    is_action = rows_GN[:, :, None] == np.arange(num_actions)
    totals = (values_GN[:, :, None] * is_action).sum(axis=1).reshape(num_policies, -1, num_actions)
    updates = totals - policies_PA[:, None, :] * totals.sum(axis=2, keepdims=True)
    return updates.mean(axis=1), updates.std(axis=1, ddof=1) / np.sqrt(updates.shape[1])


def _small(wanted: Sequence[Known], table: ActionTable) -> list[Known]:
    kept = [
        one
        for one in wanted
        if comb(table.num_actions + one.set_size - 1, one.set_size) <= MOST_SETS
    ]
    if not kept:
        raise ValueError(f"{wanted[0].label}: its sets are too many to enumerate")
    return kept


def _gradient(one: Known, table: ActionTable, policies_PA: np.ndarray) -> np.ndarray:
    return TabularObjective(one.objective, table, one.set_size).gradient(policies_PA)


def _fit(
    one: Known,
    table: ActionTable,
    policies_PA: np.ndarray,
    gradient_PA: np.ndarray,
    stderr_PA: np.ndarray,
) -> tuple[Known, float, float, float]:
    """Return the factor by least squares, its standard error, and the distance by the noise."""
    try:
        wanted_PA = _gradient(one, table, policies_PA)
    except ValueError:  # sets that are too small for the objective
        return one, 0.0, 0.0, np.inf
    length = (wanted_PA**2).sum()
    if length == 0:
        return one, 0.0, 0.0, np.inf
    kappa = float((wanted_PA * gradient_PA).sum() / length)
    kappa_stderr = np.sqrt((wanted_PA**2 * stderr_PA**2).sum()) / length
    noise = max(float((stderr_PA**2).sum()), 1e-300)
    chi = float(((gradient_PA - kappa * wanted_PA) ** 2).sum() / noise)
    return one, kappa, float(kappa_stderr), chi


def _laws(
    subject: Estimator,
    table: ActionTable,
    rows_GN: np.ndarray,
    values_GN: np.ndarray,
    draw: np.random.Generator,
) -> tuple[Law, ...]:
    """Return the laws in the groups that were drawn; the order is tried on one shuffle of each."""
    weight = np.ones(len(rows_GN))
    paid = Paid(table, rows_GN.shape[1], rows_GN, values_GN, weight, subject.tolerance, 0.0, False)
    some = np.arange(0, len(rows_GN), max(len(rows_GN) // CHUNK, 1))
    order = draw.permuted(np.tile(np.arange(rows_GN.shape[1]), (len(some), 1)), axis=1)
    shuffled = np.take_along_axis(rows_GN[some], order, axis=1)
    again = cleaned(subject.of_groups(table, shuffled))
    apart = np.abs(again - np.take_along_axis(values_GN[some], order, axis=1)).max()
    keeps = bool(apart <= 4 * paid.rounding)
    says = "pays a sample the same in another order of its group"
    order_law = Law(
        "permutation-invariant", keeps, says if keeps else "depends on the order of the samples"
    )
    found = laws(subject, paid)
    if not subject.is_steady:
        return found
    return tuple(order_law if law.name == order_law.name else law for law in found)
