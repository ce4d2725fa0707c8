"""The samples of B prompts: what a caller gives, and the arrays that a set objective looks at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

import numpy as np

from setrl.samples.values import no_outcomes

Array = Any  # an array of NumPy, PyTorch, JAX, CuPy …

LABELS = ("strategies", "answers", "families")  # fields whose numbers are only names


class Fields(TypedDict, total=False):
    """The keywords that describe samples, apart from rewards, in every function of `setrl`.

    Arrays of any library, or nested lists. A sample leaves the sets where a field that the
    objective reads is unknown: NaN or None.

    Attributes:
        correct: (B, N) whether a sample is right, True or False (1 or 0). If it is not given, the
            rewards must be 0 and 1, and say it.
        strategies: (B, N) strategies, as integers or names; −1 is of no strategy.
        answers: (B, N) final answers, numbers or strings.
        proxy: (B, N) numbers by which a selector chooses.
        pairs: (B, N, N) a number for each pair of samples: a distance, or a kernel.
        families: (B, N) families of strategies, labelled as strategies are.
        second: (B, N) another reward, for objectives of two.
        mask: (B, N) bool, False where a prompt has no such sample (ragged groups).
        abstain: Whether a sample without an answer stays in the sets and votes for nobody. By
            default it leaves the sets.
    """

    correct: Array | None
    strategies: Array | None
    answers: Array | None
    proxy: Array | None
    pairs: Array | None
    families: Array | None
    second: Array | None
    mask: Array | None
    abstain: bool


@dataclass(frozen=True)
class Samples:
    """Fields of samples; the last axis runs over a prompt's samples, or over a set's members.

    Fields that are not given are None; an objective's `reads` names those that it needs.

    Attributes:
        rewards: (…, N) float64.
        strategies: (…, N) int64, the strategy that a sample uses; `DEGENERATE` is of no strategy.
        answers: (…, N) int64, labels of final answers, ordered as the answers are.
        proxy: (…, N) float64, the number by which a selector that cannot see the rewards chooses.
        pairs: (…, N, N) float64, a number for every pair of samples: a distance, or a kernel.
        families: (…, N) int64, the family of strategies that a sample's strategy belongs to, with
            `DEGENERATE` as in `strategies`.
        second: (…, N) float64, another reward, for objectives of two.
        correct: (…, N) bool, whether a sample is right; read it as `right`.
    """

    rewards: np.ndarray
    strategies: Any = None
    answers: Any = None
    proxy: Any = None
    pairs: Any = None
    families: Any = None
    second: Any = None
    correct: Any = None

    @property
    def right(self) -> np.ndarray:
        """Which samples are right, (…, N) bool: `correct`, or rewards of 0 and 1."""
        return right_by_reward(self.rewards) if self.correct is None else self.correct

    @property
    def num_samples(self) -> int:
        """N: how many samples a prompt has (K, where these are the members of sets)."""
        return self.rewards.shape[-1]

    def sets(self, sets_SK: np.ndarray) -> Samples:
        """Return the members of S sets, given by index: fields of shape (…, S, K)."""
        # The sets are innermost in memory: an objective then works on all of them at once, and adds
        # up the members of a set in the same order for any number of prompts.
        at_KS = np.ascontiguousarray(sets_SK.T)
        members = {
            name: np.swapaxes(np.take(value, at_KS, axis=-1), -1, -2)
            for name, value in self._vectors()
        }
        if self.pairs is not None:
            n = self.num_samples
            flat = self.pairs.reshape(*self.pairs.shape[:-2], n * n)
            pairs_KKS = np.take(flat, n * at_KS[:, None] + at_KS, axis=-1)
            members["pairs"] = np.moveaxis(pairs_KKS, -1, -3)
        return Samples(**members)

    def choose(self, rows: np.ndarray, columns_Rn: np.ndarray) -> Samples:
        """Return the samples `columns_Rn[r]` of the prompts `rows[r]`: fields of shape (R, n)."""
        chosen = {name: value[rows[:, None], columns_Rn] for name, value in self._vectors()}
        if self.pairs is not None:
            across, down = columns_Rn[:, None, :], columns_Rn[:, :, None]
            pairs_Rnn = self.pairs[rows[:, None, None], down, across]
            chosen["pairs"] = np.ascontiguousarray(pairs_Rnn)
        return Samples(**chosen)

    def prompts(self, at: slice) -> Samples:
        """Return the samples of some prompts: views of the fields."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return Samples(**{name: value[at] for name, value in given.items()})

    def largest(self, names: Collection[str]) -> np.ndarray:
        """Return the largest |number| of each prompt in these fields; 1 if all are labels."""
        numbers = [getattr(self, name) for name in names if name not in LABELS]
        flat = [one.reshape(len(one), -1) for one in numbers]
        found = [np.abs(one).max(axis=1) for one in flat]
        return np.max(found, axis=0) if found else np.ones(len(self.rewards))

    def with_rewards(self, rewards: np.ndarray) -> Samples:
        """Return the same samples with other rewards."""
        return replace(self, rewards=rewards)

    def _vectors(self) -> list[tuple[str, np.ndarray]]:
        named = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return [(name, value) for name, value in named if value is not None and name != "pairs"]


def right_by_reward(rewards: np.ndarray) -> np.ndarray:
    """Return which samples are right, bool, by rewards of 0 and 1; NaN is not right.

    Raises:
        ValueError: Showing a reward that is neither 0 nor 1.
    """
    if (others := no_outcomes(rewards)).size:
        raise ValueError(
            f"only rewards of 0 and 1 say which samples are right, got {others[0]:g}: pass "
            "correct=..., True or False for each sample, such as correct=rewards > 0.5"
        )
    return rewards == 1
