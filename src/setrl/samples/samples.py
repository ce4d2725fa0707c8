"""`Samples`: the one value that trainers, logs, evaluations and set objectives pass on."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from setrl.samples.arrays import Array
from setrl.samples.columns import ARGUMENTS, FIELDS, KEYS, LABELS, READER_OF, VECTORS
from setrl.samples.labels import Coder
from setrl.samples.reading import read_column, read_mask, read_rewards
from setrl.samples.types import Group
from setrl.samples.values import (
    DEGENERATE,
    Label,
    no_outcomes,
)
from setrl.support.names import look_up

Places = tuple[Any, Any]  # the places of some prompts' samples in a (B, N) array


@dataclass(frozen=True)
class Samples:
    """The samples of B prompts, as columns: (B, N) numbers, in which NaN is unknown.

    A column that nobody gave is None. Labels and answers are numbers, too, and `names` says what
    they stand for. A set objective sees samples without unknown values: then labels are integers,
    `correct` is bool, and the last axis runs over the N samples of a prompt or the K of a set.

    Attributes:
        rewards: (…, N) float64.
        strategies: (…, N) the strategy that a sample uses; `DEGENERATE` is of no strategy.
        answers: (…, N) final answers, whose numbers are ordered as the answers are.
        proxy: (…, N) float64, the number by which a selector that cannot see the rewards chooses.
        pairs: (…, N, N) float64, a number for every pair of samples: a distance, or a kernel.
        families: (…, N) the family of strategies that a sample's strategy belongs to, with
            `DEGENERATE` as in `strategies`.
        second: (…, N) float64, another reward, for objectives of two.
        correct: (…, N) whether a sample is right, 1 or 0; objectives read it as `right`.
        mask: (B, N) bool, False where a prompt has no such sample, or none that can be used; None:
            all can.
        tokens: (B, N) how many tokens a sample has.
        cut: (B, N) bool, which samples were cut at the length limit; None if no rule asks for it.
        components: (B, N, R) float64, what each of R reward functions gave. The rewards that
            trainers credit are made of them.
        names: Column → what the numbers 0, 1, 2, … in it stand for, where not for themselves; of
            `components` the names of the functions.
        prompts: The B prompts; empty where nobody asks for them, as the next three are.
        texts: The texts of each prompt's samples, or of the first few.
        ids: What names each prompt. Two prompts may be equal, and no two ids.
        golds: The right answer of each prompt; None where it is not known.
    """

    rewards: np.ndarray
    strategies: Any = None
    answers: Any = None
    proxy: Any = None
    pairs: Any = None
    families: Any = None
    second: Any = None
    correct: Any = None
    mask: Any = None
    tokens: Any = None
    cut: Any = None
    components: Any = None
    names: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    prompts: Sequence[str] = ()
    texts: Sequence[Sequence[str]] = ()
    ids: Sequence[str] = ()
    golds: Sequence[str | None] = ()

    @classmethod
    def read(
        cls, rewards_BN: Array, *, mask: Array | None = None, **columns: Array | None
    ) -> Samples:
        """Return the samples of columns of any kind: arrays of any library, or nested lists.

        Args:
            rewards_BN: (B, N) rewards; NaN or None is unknown, here and in all columns.
            mask: (B, N) bool, False where a prompt has no such sample.
            columns: correct, strategies, answers, proxy, pairs, families and second, as in
                `setrl.Fields`.

        Raises:
            ValueError: Naming the column, its value, and what would be right.

        >>> samples = Samples.read([[1, 0, None]], strategies=[["formula", -1, "factor"]])
        >>> samples.strategies, samples.labels("strategies")
        (array([[ 1., -1.,  0.]]), [['formula', -1, 'factor']])
        """
        rewards = read_rewards(rewards_BN)
        exists_BN = read_mask(mask, rewards.shape)
        if np.isinf(rewards if exists_BN is None else rewards[exists_BN]).any():
            raise ValueError("rewards_BN must be finite, or NaN where there is no reward; got inf")
        numbers, names = _read_columns(columns, rewards.shape)
        return cls(rewards, **numbers, mask=exists_BN, names=names)

    @classmethod
    def of(cls, groups: Iterable[Group], columns: Collection[str], width: int = 1) -> Samples:
        """Return the samples of a log's groups, without their texts.

        Args:
            groups: The groups; one is in memory at a time.
            columns: Of "rewards", "correct", "strategies", "answers", "proxy", "second" and
                "families"; without "rewards" they are unknown.
            width: The least N; behind the end of a group all is unknown, and `mask` is False.
        """
        coders = {name: Coder(name) for name in columns if name in LABELS}
        heads: list[tuple[str, str, str | None, int]] = []
        flat = {name: array("d") for name in columns}
        for group in groups:
            heads.append((group.id, group.prompt, group.gold, len(group)))
            for name, numbers in flat.items():
                values = group.column(KEYS[name])
                numbers.extend(
                    coders[name].add(values) if name in coders else _floats_or_nan(values)
                )
        ids, prompts, golds, sizes = zip(*heads, strict=True) if heads else ((), (), (), ())
        shape = len(sizes), max(width, *sizes, 1)
        mask = np.arange(shape[1]) < np.array(sizes, dtype=np.int64)[:, None]
        dense: dict[str, Any] = {}
        for name in columns:
            numbers_M = np.frombuffer(flat.pop(name), np.float64)
            dense[name] = np.full(shape, np.nan)
            dense[name][mask] = coders[name].in_order(numbers_M) if name in coders else numbers_M
        names = {name: coder.names for name, coder in coders.items()}
        dense.setdefault("rewards", np.full(shape, np.nan))
        return cls(
            **dense,
            mask=None if mask.all() else mask,
            names=names,
            prompts=prompts,
            ids=ids,
            golds=golds,
        )

    @property
    def right(self) -> np.ndarray:
        """Which samples are right, (…, N) bool: `correct`, or rewards of 0 and 1."""
        return right_by_reward(self.rewards) if self.correct is None else self.correct

    @property
    def num_samples(self) -> int:
        """N: how many samples a prompt has (K, where these are the members of sets)."""
        return self.rewards.shape[-1]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that somebody gave and a method can read, by name."""
        return self._given_columns((*FIELDS, "mask"))

    def labels(self, name: str) -> list[list[Label]] | None:
        """Return what a column of labels stands for; None where a label is unknown.

        >>> samples = Samples(np.zeros((1, 3)), np.array([[1, DEGENERATE, np.nan]]),
        ...                   names={"strategies": ("factor", "formula")})
        >>> samples.labels("strategies")
        [['formula', -1, None]]
        """
        values_BN = getattr(self, name)
        if values_BN is None:
            return None
        read = READER_OF[name]
        if name not in self.names:
            return [[*map(read, row)] for row in values_BN.tolist()]
        label_of = {float(place): read(label) for place, label in enumerate(self.names[name])}
        label_of[DEGENERATE] = DEGENERATE
        return [[label_of.get(value) for value in row] for row in values_BN.tolist()]

    def sets(self, sets_SK: np.ndarray) -> Samples:
        """Return the members of S sets, given by index: columns of shape (…, S, K)."""
        # The sets are innermost in memory: an objective then works on all of them at once, and adds
        # up the members of a set in the same order for any number of prompts.
        at_KS = np.ascontiguousarray(sets_SK.T)
        members: dict[str, Any] = {
            name: np.swapaxes(np.take(value, at_KS, axis=-1), -1, -2)
            for name, value in self._given_columns(VECTORS).items()
        }
        if self.pairs is not None:
            n = self.num_samples
            flat = self.pairs.reshape(*self.pairs.shape[:-2], n * n)
            pairs_KKS = np.take(flat, n * at_KS[:, None] + at_KS, axis=-1)
            members["pairs"] = np.moveaxis(pairs_KKS, -1, -3)
        return Samples(**members)

    def equal_sizes(self, fewest: int) -> Iterator[tuple[Places, Samples]]:
        """Prompts with equally many usable samples, at least `fewest`: where, and their samples.

        The maths downstream is dense: it never sees a mask.
        """
        if self.mask is None or (self.mask.size and self.mask.all()):
            if len(self.rewards) and self.num_samples >= fewest:
                yield (slice(None), slice(None)), self
            return
        count_B = self.mask.sum(axis=-1)
        first_BN = np.argsort(~self.mask, axis=-1, kind="stable")
        for n in np.unique(count_B[count_B >= max(fewest, 1)]):
            rows = np.flatnonzero(count_B == n)
            columns_Rn = first_BN[rows, :n]
            yield (rows[:, None], columns_Rn), self.choose(rows, columns_Rn)

    def choose(self, rows: np.ndarray, columns_Rn: np.ndarray) -> Samples:
        """Return the samples `columns_Rn[r]` of the prompts `rows[r]`: columns of shape (R, n)."""
        chosen: dict[str, Any] = {
            name: value[rows[:, None], columns_Rn]
            for name, value in self._given_columns(VECTORS).items()
        }
        if self.pairs is not None:
            across, down = columns_Rn[:, None, :], columns_Rn[:, :, None]
            pairs_Rnn = self.pairs[rows[:, None, None], down, across]
            chosen["pairs"] = np.ascontiguousarray(pairs_Rnn)
        return Samples(**chosen)

    def of_prompts(self, at: slice | Sequence[int]) -> Samples:
        """Return the samples of some prompts, in this order; views of the columns for a slice."""
        rows = range(len(self.rewards))[at] if isinstance(at, slice) else at
        columns = self._given_columns((*FIELDS, "mask", "tokens", "cut", "components"))
        chosen = {name: value[at] for name, value in columns.items()}
        heads: dict[str, Any] = {
            name: tuple(value[row] for row in rows)
            for name in ("prompts", "texts", "ids", "golds")
            if (value := getattr(self, name))
        }
        return Samples(**chosen, names=self.names, **heads)

    def largest(self, names: Collection[str]) -> np.ndarray:
        """Return the largest |number| of each prompt in these columns; 1 if all are labels."""
        numbers = [getattr(self, name) for name in names if name not in LABELS]
        flat = [column.reshape(len(column), -1) for column in numbers]
        largest = [np.abs(column).max(axis=1) for column in flat]
        return np.max(largest, axis=0) if largest else np.ones(len(self.rewards))

    def with_columns(self, **columns: Array | None) -> Samples:
        """Return the same samples with further columns of any kind, as `read` takes them."""
        numbers, names = _read_columns(columns, self.rewards.shape)
        kept = {name: labels for name, labels in self.names.items() if name not in numbers}
        return replace(self, **numbers, names={**kept, **names})

    def _given_columns(self, names: Iterable[str]) -> dict[str, Any]:
        named = ((name, getattr(self, name)) for name in names)
        return {name: value for name, value in named if value is not None}


def _read_columns(
    columns: Mapping[str, Array | None], shape: tuple[int, ...]
) -> tuple[dict[str, Any], dict[str, Sequence[Label]]]:
    """Return the columns that somebody gave as numbers, and what the numbers stand for."""
    numbers: dict[str, Any] = {}
    names: dict[str, Sequence[Label]] = {}
    for name, column in columns.items():
        look_up("argument", name, ARGUMENTS)
        if column is not None:
            numbers[name], labels = read_column(name, column, shape)
            names |= {} if labels is None else {name: labels}
    return numbers, names


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


def _floats_or_nan(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]
