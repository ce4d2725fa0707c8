"""Set objectives and methods on a table of actions, exactly.

With K actions drawn independently from π, and f symmetric:

    J = E f(y₁…y_K),   Q(y) = E[f | y₁ = y],   A(y) = Q(y) − J,   ∂J/∂z_y = K·π(y)·A(y)

A(y) is the marginal set advantage of Set RL, Def. 3.2. The factor K is missing in its Lemma 3.3.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.advantages import Advantages, AnyMethod
from setrl.core.credit.estimators import score_sets
from setrl.core.inputs import check_given, read_samples
from setrl.core.objectives.base import Objective
from setrl.samples.columns import FIELDS
from setrl.samples.samples import Samples
from setrl.theory.multisets import Multisets, multisets
from setrl.theory.policies import check_policy

CHUNK = 1 << 21  # samples given to a method at once


@dataclass(frozen=True, eq=False)
class ActionTable:
    """The fields of a sample for each of A actions; fields that no objective reads stay None.

    Attributes:
        rewards: (A,) rewards.
        strategies: (A,) strategy labels, integers; −1 is of no strategy.
        answers: (A,) final answers, numbers or strings.
        proxy: (A,) the number by which a selector chooses.
        pairs: (A, A) a number for each pair of actions. The diagonal is for two samples of the same
            action.
        families: (A,) labels of the families of strategies, as strategies.
        second: (A,) another reward.
        correct: (A,) whether an action is right; without it, rewards of 0 and 1 say it.
    """

    rewards: ArrayLike
    strategies: ArrayLike | None = None
    answers: ArrayLike | None = None
    proxy: ArrayLike | None = None
    pairs: ArrayLike | None = None
    families: ArrayLike | None = None
    second: ArrayLike | None = None
    correct: ArrayLike | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.rewards)
        if len(shape) != 1 or shape[0] == 0:
            raise ValueError(f"rewards must have shape (A,), one for each action, got {shape}")
        for name, value in self.given.items():
            expected = shape * 2 if name == "pairs" else shape
            if np.shape(value) != expected:
                raise ValueError(f"{name} must have shape {expected}, got {np.shape(value)}")
        usable_A = self.samples.mask[0]
        if not usable_A.all():
            raise ValueError(
                f"every field of every action must be known: action {usable_A.argmin()} has a NaN"
            )

    @property
    def num_actions(self) -> int:
        """A."""
        return np.size(self.rewards)

    @cached_property
    def samples(self) -> Samples:
        """The actions as the samples of one prompt, fields (1, A)."""
        rows: Any = {name: np.asarray(value)[None] for name, value in self.given.items()}
        return read_samples(np.asarray(self.rewards)[None], tuple(rows), rows)

    def check_reads(self, reads: Collection[str]) -> None:
        """Check that every field of `reads` is there; raise a ValueError if one is missing."""
        check_given(reads, self.given, remedy="pass ActionTable({0}=...)".format)
        assert "correct" not in reads or self.samples.right is not None  # it raises

    def credit(
        self, method: AnyMethod, actions_BN: np.ndarray, rng: np.random.Generator | None = None
    ) -> Advantages:
        """Return a method's credit for B groups of N samples, given by their actions."""
        members = self.samples.sets(actions_BN)
        fields = {name: getattr(members, name)[0] for name in self.given}
        return method.advantages(members.rewards[0], rng=rng, **fields)

    @property
    def given(self) -> dict[str, ArrayLike]:
        """The fields that are there, besides rewards."""
        named = {name: getattr(self, name) for name in FIELDS if name != "rewards"}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, eq=False)
class TabularObjective:
    """A set objective on a table: its value, its credit and its gradient for any policy.

    Methods take policies (…, A), probabilities that sum to 1.

    Attributes:
        objective: The score of a set.
        table: The actions.
        set_size: K ≥ 1. A set may hold an action several times, so K may be larger than A.
    """

    objective: Objective
    table: ActionTable
    set_size: int

    def __post_init__(self) -> None:
        self.table.check_reads(self.objective.reads)
        multisets(self.table.num_actions, self.set_size)

    @property
    def sets(self) -> Multisets:
        """Every multiset of K actions."""
        return multisets(self.table.num_actions, self.set_size)

    @cached_property
    def scores_S(self) -> np.ndarray:
        """f of every multiset, by the objective's definition."""
        return score_sets(self.objective, self.table.samples, self.sets.sets_SK)[0]

    def value(self, policy_A: ArrayLike) -> np.ndarray:
        """J = E f, shape (…)."""
        return self.sets.chances(self._check_policy(policy_A)) @ self.scores_S

    def action_values(self, policy_A: ArrayLike) -> np.ndarray:
        """Q(y) = E[f | y₁ = y], shape (…, A); also for actions of probability 0."""
        return self.sets.mean_given(self._check_policy(policy_A), self.scores_S[:, None])

    def advantages(self, policy_A: ArrayLike) -> np.ndarray:
        """A(y) = Q(y) − J, the marginal set advantage (Set RL, Def. 3.2), shape (…, A).

        Scores are taken relative to the likeliest set's score, so no digits are lost if nearly all
        sets have the same score. Σ_y π(y)·A(y) = 0.
        """
        policy = self._check_policy(policy_A)
        chances_S = self.sets.chances(policy)
        relative_S = self.scores_S - self.scores_S[chances_S.argmax(axis=-1)][..., None]
        mean = (chances_S * relative_S).sum(axis=-1, keepdims=True)
        return self.sets.mean_given(policy, relative_S[..., None]) - mean

    def gradient(self, policy_A: ArrayLike) -> np.ndarray:
        """∂J/∂z_y = K·π(y)·A(y) for a softmax policy with logits z, shape (…, A)."""
        return self.set_size * self._check_policy(policy_A) * self.advantages(policy_A)

    def natural_gradient(self, policy_A: ArrayLike) -> np.ndarray:
        """F⁺∇J = K·A(y) up to a constant, with F = diag π − π πᵀ; 0 for actions of probability 0.

        Along it d log π(y)/dt = K·A(y): here log π(y) rises if and only if A(y) > 0.
        """
        policy = self._check_policy(policy_A)
        return np.where(policy > 0, self.set_size * self.advantages(policy), 0.0)

    def _check_policy(self, policy_A: ArrayLike) -> np.ndarray:
        return check_policy(policy_A, self.table.num_actions)


@dataclass(frozen=True, eq=False)
class TabularMethod:
    """A method that sees N samples of a table's actions: its expected advantage and update.

    It is exact for biased methods too, because all groups of N samples are enumerated.

    Attributes:
        method: Any `setrl.Method` whose credit is exact.
        table: The actions.
        num_samples: N, the number of samples in a group.
    """

    method: AnyMethod
    table: ActionTable
    num_samples: int

    def __post_init__(self) -> None:
        self.table.check_reads(self.method.reads)
        multisets(self.table.num_actions, self.num_samples)

    @property
    def groups(self) -> Multisets:
        """Every possible group of N samples."""
        return multisets(self.table.num_actions, self.num_samples)

    @cached_property
    def credit_SA(self) -> np.ndarray:
        """The advantage of each action in each group; 0 where the group does not hold it."""
        sets_SN, step = self.groups.sets_SK, max(1, CHUNK // self.num_samples)
        parts = [self._credit_sets(sets_SN[at : at + step]) for at in range(0, len(sets_SN), step)]
        counts_SA = self.groups.counts_SA.astype(np.intp)
        first_SA = np.minimum(counts_SA.cumsum(axis=1) - counts_SA, self.num_samples - 1)
        of_first_SA = np.take_along_axis(np.concatenate(parts), first_SA, axis=1)
        return np.where(counts_SA > 0, of_first_SA, 0.0)

    def advantages(self, policy_A: ArrayLike) -> np.ndarray:
        """E[Aᵢ | yᵢ = y], shape (…, A): the mean advantage of a sample of each action."""
        policy = check_policy(policy_A, self.table.num_actions)
        return self.groups.mean_given(policy, self.credit_SA)

    def update(self, policy_A: ArrayLike) -> np.ndarray:
        """E[(1/N) Σᵢ Aᵢ ∇_z log π(yᵢ)] for a softmax policy with logits z, shape (…, A).

        It is π(y)·(a(y) − Σ π a) with a = `advantages`; ∇J/K where the advantages are u − v.
        """
        policy = check_policy(policy_A, self.table.num_actions)
        advantages_A = self.advantages(policy)
        return policy * (advantages_A - (policy * advantages_A).sum(axis=-1, keepdims=True))

    def _credit_sets(self, sets_SN: np.ndarray) -> np.ndarray:
        # The generator only lets a method that samples its sets reach the message below.
        advantages = self.table.credit(self.method, sets_SN, np.random.default_rng(0))
        if advantages.stderr_BN is not None:
            raise ValueError(
                f"{self.method.name} samples its sets, so its expected update is not enumerated: "
                "use estimator=credit.Enumerated(), or an objective with a closed form"
            )
        return advantages.values_BN
