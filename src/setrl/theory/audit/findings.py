"""What an audit finds: everything follows from the advantages in every group of N samples."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from setrl.theory.audit.batches import Batched, Tries
from setrl.theory.audit.calling import CalledEstimator
from setrl.theory.audit.compare import FLOOR, Library, Match
from setrl.theory.audit.field import Curl, Field, even_policies
from setrl.theory.audit.known import known
from setrl.theory.audit.laws import Law, laws
from setrl.theory.audit.made import Made, made
from setrl.theory.audit.paid import Paid, pay
from setrl.theory.audit.variance import Variance, variance
from setrl.theory.dynamics import Success, gradient_flow
from setrl.theory.policies import entropy
from setrl.theory.tabular import ActionTable

STRATEGIES = 3  # on a prompt, if the estimator does not read labels
SUCCESS = 0.9, 0.7  # how often the best and the worst strategy are right
TIMES = np.concatenate([[0.0], np.geomspace(1, 3000, 60)])  # learning rate × steps
KEPT = 0.05  # share of a strategy that is kept
FEW = 1.5  # strategies that are used, below which a policy has collapsed
RATES = 0.1, 0.5, 0.9  # success rates at which strengths are said
MOST_OTHER_GROUPS = 3_000  # of another size, for the sensitivity to N


@dataclass(frozen=True, eq=False)
class Findings:
    """The findings of an audit; what takes long is computed when it is asked for.

    Attributes:
        estimator: The function and how it was called.
        nearest: The objective whose gradient is nearest; equal to `objective` if there is one. None
            if the expected gradient is 0.
        claim: How far it is from the gradient that it claims; None without a claim.
        claimed_factor: The factor of the claim; None if it names none.
        tries: What its calls with batches showed.
        in_batch: What it does in batches, if it mixes their groups or equal calls differ; None if
            it does neither, or fails in batches.
    """

    estimator: CalledEstimator
    _library: Library
    nearest: Match | None
    claim: Match | None
    claimed_factor: float | None
    tries: Tries
    in_batch: Batched | None

    @property
    def gradient(self) -> Field:
        """The expected gradient, for the policies `gradient.policies_PA`."""
        return self._library.field

    @property
    def paid(self) -> Paid:
        """The advantages in every group."""
        return self._library.field.paid

    @property
    def table(self) -> ActionTable:
        """The kinds of samples."""
        return self.paid.table

    @property
    def objective(self) -> Match | None:
        """The objective, or the sum of two, whose gradient it is; None if we know no such one.

        `str(objective)` is such as "2·∇pass@4". It is None if equal calls give other numbers.
        """
        match = self.nearest
        return match if match and match.holds and self.estimator.is_steady else None

    @property
    def mixes_groups(self) -> bool:
        """Whether a group is paid otherwise next to other groups of a batch."""
        return self.tries.mixed is not None

    @cached_property
    def strength(self) -> dict[float, float]:
        """Success rate → F along κ∇J of the claim or the nearest objective, ÷ the length of κ∇J.

        1 everywhere for an exact gradient. Right samples are of equal shares, and so are others.
        """
        rewards_A = np.asarray(self.paid.table.rewards, dtype=np.float64)
        right_A = rewards_A == rewards_A.max()
        rates = np.array(RATES)[:, None]
        match, wrong_A = self.claim or self.nearest, ~right_A
        policies_PA = rates * right_A / right_A.sum() + (1 - rates) * wrong_A / wrong_A.sum()
        field = Field(self.paid, policies_PA)
        if match is None:
            return dict.fromkeys(RATES, float("nan"))
        own_PA, near_PA = field.values_PA, Library.of(field, match.parts).combined(match)
        square_P = (near_PA**2).sum(axis=1)
        along_P = (own_PA * near_PA).sum(axis=1)
        ratio_P = along_P / np.where(square_P > 0, square_P, np.nan)
        return dict(zip(RATES, ratio_P.tolist(), strict=True))

    @cached_property
    def made(self) -> Made | None:
        """How it is made out of an unbiased credit of ours; None if no recipe gives it."""
        if not self.estimator.is_steady:
            return None
        likely = [part for match in (self.claim, self.nearest) if match for part in match.parts]
        return made(self._library, likely)

    @cached_property
    def variance(self) -> Variance:
        """The variance, compared with unbiased estimators of the claim or the nearest objective."""
        return variance(self._library, self.claim or self.nearest)

    @cached_property
    def laws(self) -> tuple[Law, ...]:
        """What it keeps to and what it pays; calls the function again."""
        return laws(self.estimator, self.paid, self.tries)

    @cached_property
    def survivors(self) -> Survivors:
        """Where it leads on one prompt."""
        return survivors(self.paid)

    @cached_property
    def other_sizes(self) -> dict[int, Match]:
        """The nearest objective for groups of N − 1 and of N + 1 samples; calls the function."""
        return _match_other_sizes(self.estimator, self.paid)

    @property
    def is_binary(self) -> bool:
        """Whether samples are right or wrong: there are two rewards."""
        return bool(np.unique(np.asarray(self.table.rewards)).size == 2)

    @property
    def reads_batch(self) -> bool:
        """Whether the first sentence is about batches: it mixes groups, or equal calls differ.

        A function that takes one group, too, is called with one, unless batches were asked for.
        """
        if not self.estimator.is_steady:
            return True
        return self.mixes_groups and self.tries.asked != 1 and "either" not in self.estimator.habits

    @property
    def required(self) -> Match | None:
        """What it must follow: its claim, or else an objective; in a batch, if it reads batches."""
        if self.reads_batch and self.in_batch is not None:
            return self.in_batch.match
        return self.claim or self.objective

    @property
    def factor(self) -> float:
        """What multiplies the gradient of the claim, or of the nearest objective; NaN for a sum."""
        return self.factor_of(self.claim or self.nearest)

    @staticmethod
    def factor_of(match: Match | None) -> float:
        """Return what multiplies the gradient of an objective; NaN for none and for a sum."""
        return match.factors[0] if match and len(match.factors) == 1 else float("nan")

    @property
    def bias(self) -> float:
        """How far it is from its claim, or from the nearest objective, 0 … 1; 0 is unbiased."""
        match = self.claim or self.nearest
        return match.off if match else float("nan")

    def keeps(self, factor: float, error: float = 0.0) -> bool:
        """Whether a factor is the one that the claim names; positive, if it names none."""
        claimed = self.claimed_factor
        if claimed is None:
            return not factor < 0
        return bool(abs(factor - claimed) <= error + FLOOR * abs(claimed))

    def _follows_match(self, match: Match | None) -> bool:
        is_whole = self.estimator.is_whole and match is not None and match.holds
        return is_whole and self.keeps(self.factor_of(match))

    @property
    def curl(self) -> Curl | None:
        """Why it is the gradient of no objective at all; None if it is the gradient of one."""
        return self.gradient.curl

    @cached_property
    def pays(self) -> dict[str, bool | None]:
        """What can be required → whether it holds; None where it could not be tried.

        Unbiased and has-objective are about `in_batch`, if it mixes groups, and about a group alone
        in its batch, too, if it takes both. They are None if its batches were drawn and show no
        difference: chance may hide one.
        """
        alone = {
            "unbiased": self._follows_match(self.claim or self.objective),
            "has-objective": self.estimator.is_steady and self.curl is None,
        }
        return self._check_in_batches(alone) | {law.name: law.holds for law in self.laws}

    def _check_in_batches(self, alone: Mapping[str, bool]) -> dict[str, bool | None]:
        """Return what holds in batches, if it mixes groups; if it takes both, in both."""
        batch = self.in_batch
        if batch is None:
            is_unknown = self.mixes_groups  # it fails in batches
            return {name: None if holds and is_unknown else holds for name, holds in alone.items()}
        field = Field(batch.paid, self.gradient.policies_PA)
        result: dict[str, bool | None] = {
            "unbiased": self._follows_match(batch.match),
            "has-objective": field.curl is None,
        }
        if batch.draws:
            is_unknown = batch.is_near and self.estimator.is_steady
            result = {"unbiased": None if is_unknown else False, "has-objective": None}
        return {name: result[name] if self.reads_batch or alone[name] else False for name in alone}


def _match_other_sizes(subject: CalledEstimator, paid: Paid) -> dict[int, Match]:
    """Return what it is nearest to for other N; leave out sizes that it refuses."""
    matches = {}
    for size in (paid.num_samples - 1, paid.num_samples + 1):
        with suppress(ValueError):
            if size < 2 or comb(paid.table.num_actions + size - 1, size) > MOST_OTHER_GROUPS:
                continue
            field = Field(
                pay(subject, paid.table, size, orders=not paid.is_symmetric),
                even_policies(paid.table.num_actions),
            )
            match = Library.of(field, known(paid.table, size)).nearest()
            if match is not None:
                matches[size] = match
    return matches


@dataclass(frozen=True)
class Survivors:
    """What the expected update does on a prompt with several strategies, from equal shares.

    Attributes:
        success: How often each strategy is right.
        shares: Their shares at the end.
        kept: How many have a share of at least 5% at the end.
        accuracy: The share of right samples at the end; 0.8 at first.
        collapse: When fewer than 1½ strategies are used, by the exponential of the entropy: the
            learning rate × steps, for advantages of root mean square 1. None if it never happens.
    """

    success: tuple[float, ...]
    shares: tuple[float, ...]
    kept: int
    accuracy: float
    collapse: float | None


def survivors(paid: Paid) -> Survivors:
    """Follow the expected update of a softmax policy over strategies, without noise.

    A sample of a strategy is right with the strategy's rate of success. Its label is the strategy,
    if the table has labels. The time is 3,000 learning rates × steps.
    """
    outcome_OA = _find_actions(paid.table)
    rates = np.linspace(*SUCCESS, len(outcome_OA) // 2)
    start = np.full(len(rates), 1 / len(rates))

    def advantages(outcomes_O: np.ndarray) -> np.ndarray:
        return outcome_OA @ paid.groups.mean_given(outcomes_O @ outcome_OA, paid.credit_SA)

    strategies = Success(rates)
    scale = _root_mean_square(paid, strategies.outcomes(start) @ outcome_OA)
    path = gradient_flow(strategies.velocity(advantages, 1 / scale), start, TIMES, 1e-6)
    shares, used_T = path.policies_TA[-1], np.exp(entropy(path.policies_TA))
    collapsed = np.flatnonzero(used_T < FEW)
    return Survivors(
        tuple(rates.round(3).tolist()),
        tuple(round(float(share), 4) for share in shares),
        int((shares >= KEPT).sum()),
        float(shares @ rates),
        float(round(path.times_T[collapsed[0]])) if collapsed.size else None,
    )


def _find_actions(table: ActionTable) -> np.ndarray:
    """Return which action of the table each outcome is, one-hot: right ones first, then wrong."""
    rewards_A = np.asarray(table.rewards, dtype=np.float64)
    right, wrong = (np.flatnonzero(rewards_A == end) for end in (rewards_A.max(), rewards_A.min()))
    num = min(len(right), len(wrong))
    if num < 2:  # strategies that the estimator cannot tell apart
        return np.repeat(np.eye(len(rewards_A))[[right[0], wrong[0]]], STRATEGIES, axis=0)
    return np.eye(len(rewards_A))[np.concatenate([right[:num], wrong[:num]])]


def _root_mean_square(paid: Paid, policy_A: np.ndarray) -> float:
    """Return the root mean square of the advantages; 1 if all are 0."""
    chances_S = paid.groups.chances(policy_A)
    square = chances_S @ (paid.groups.counts_SA * paid.credit_SA**2).sum(axis=1)
    return float(np.sqrt(square / paid.num_samples)) or 1.0
