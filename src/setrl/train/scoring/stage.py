"""Rewards → right or wrong → combined → truncated → strategies → fields → advantages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from setrl import Advantages, AnyMethod
from setrl.judges import Judgement
from setrl.rewards import Combine, Truncation
from setrl.samples.samples import LABELS, READER_OF, Samples, coded
from setrl.samples.values import Label, read_label, read_number
from setrl.support.errors import RunError
from setrl.train.scoring.batch import Column, Columns, ScoredBatch
from setrl.train.scoring.correct import correct_by_column, correct_by_reward
from setrl.train.scoring.fields import FAMILIES, PAIRS, STRATEGIES, read_column
from setrl.train.scoring.labels import families_of, strategies_of
from setrl.train.scoring.missing import Missing, missing_credit

T = TypeVar("T")
AS_IT_IS = Truncation()


def score(
    columns: Columns,
    method: AnyMethod,
    *,
    combine: Combine | None = None,
    weights: Sequence[float] | None = None,
    normalize: Literal["group"] | None = None,
    truncated: Truncation = AS_IT_IS,
    rng: np.random.Generator | int | None = None,
    goes_on: bool = False,
) -> ScoredBatch:
    """Credit samples with a method.

    Args:
        columns: What is known about the samples.
        method: The method.
        combine: How several rewards become one; None for their sum with `weights`, in which unknown
            rewards are left out.
        weights: The weight of each reward in that sum; None: 1 for each reward.
        normalize: Whether each reward of that sum is normalised first, as in `Combine`.
        truncated: The rule for samples that were cut at the length limit.
        rng: A generator or its seed, for methods that sample sets.
        goes_on: Whether a column that could not be read is unknown for all samples, with its error
            listed in the batch. By default the error is raised. If one reward is missing, no
            sample has a reward: a sum of the others would be another reward.

    Raises:
        RunError: If a column could not be read, or if it must be known which samples are right and
            nothing says it; it names the reward function, its value, and what to pass.
        ValueError: If the samples do not fit the method; it names what is wrong.
    """
    reading = _Reading(len(columns.prompts_B), len(columns.texts_BN[0]), goes_on)
    rewards_BNR = reading.rewards(columns.rewards_R)
    correct_BN = reading.correct(columns, rewards_BNR, combine, _needed_by(method, combine))
    own = tuple(weights or (1.0,) * rewards_BNR.shape[2])
    weighted = Combine(own, normalize=normalize, missing="skip")
    rewards_BN = (combine or weighted)(rewards_BNR, correct_BN)
    cut_BN = None
    if columns.cut is not None:
        cut_BN = np.reshape(columns.cut, rewards_BN.shape)
        rewards_BN = truncated(rewards_BN, cut_BN)
        correct_BN = truncated.correct(correct_BN, cut_BN)
        cut_BN = cut_BN & ~np.isnan(rewards_BNR).any(axis=2)  # the others never had a reward
    fields = reading.fields(columns, method.reads)
    samples = Samples(
        rewards_BN,
        correct=correct_BN,
        **fields,
        names=reading.names,
        tokens=None if columns.tokens is None else np.reshape(columns.tokens, rewards_BN.shape),
        prompts=columns.prompts_B,
        texts=columns.texts_BN,
    )
    advantages = credit(samples, method, rng)
    return ScoredBatch(
        samples,
        rewards_BNR,
        advantages,
        missing_credit(samples, method.reads, advantages, columns.strategies, cut_BN),
        tuple(reading.problems),
    )


def credit(
    samples: Samples, method: AnyMethod, rng: np.random.Generator | int | None = None
) -> Advantages:
    """Return the advantages of samples; one without an answer votes for nobody, and stays."""
    columns: dict[str, Any] = samples.columns
    return method.advantages(columns.pop("rewards"), rng=rng, abstain=True, **columns)


def _needed_by(method: AnyMethod, combine: Combine | None) -> str:
    """Return what must know which samples are right; empty if nothing does."""
    if "correct" in method.reads:
        return f"{method.name} needs to know which samples are right"
    return "gates need to know which samples are right" if combine and any(combine.gates) else ""


@dataclass
class _Reading:
    """Columns as arrays of B prompts and N samples, what labels mean, and what was wrong."""

    num_prompts: int
    num_samples: int
    goes_on: bool
    problems: list[str] = field(default_factory=list)
    names: dict[str, Sequence[Label]] = field(default_factory=dict)

    def rewards(self, columns: Sequence[Column]) -> np.ndarray:
        rewards_MR = np.stack([self._read(column, _numbers) for column in columns], axis=-1)
        if any(isinstance(column, Exception) for column in columns):
            rewards_MR[:] = np.nan
        return rewards_MR.reshape(self.num_prompts, self.num_samples, len(columns))

    def correct(
        self, columns: Columns, rewards_BNR: np.ndarray, combine: Combine | None, needed_by: str
    ) -> np.ndarray:
        shape, place = rewards_BNR.shape[:2], columns.correct
        if place is not None and not isinstance(place, int):
            return self._read(place, partial(correct_by_column, shape=shape))
        usual = 0 if rewards_BNR.shape[2] == 1 else None
        names_R = columns.names_R
        usual = usual if combine is None else combine.place(names_R)
        chosen = usual if place is None else place
        try:
            return correct_by_reward(rewards_BNR, chosen, names_R, needed_by, place is not None)
        except RunError as error:
            if not self.goes_on:
                raise
            self.problems.append(str(error))
        return np.full(shape, np.nan)

    def fields(self, columns: Columns, reads: Collection[str]) -> dict[str, Any]:
        """Return the strategies and the further fields that were given, (B, N) or (B, N, N)."""
        said = columns.strategies
        judged = isinstance(said, Sequence) and bool(said) and isinstance(said[0], Judgement)
        found = {} if said is None else {STRATEGIES: self._labels(STRATEGIES, said, _strategies)}
        found |= {name: self.field(name, column) for name, column in columns.fields.items()}
        if FAMILIES in reads and FAMILIES not in found and judged:
            found[FAMILIES] = self._labels(FAMILIES, said, families_of)
        return found

    def field(self, name: str, column: Column) -> np.ndarray:
        """Return the values of a further field."""
        if name == PAIRS:
            return self._read(column, self._pairs, self.num_prompts)
        read = partial(read_column, f"fields[{name!r}]", READER_OF[name])
        if name in LABELS:
            return self._labels(name, column, lambda values, _: read(values))
        return self._read(column, lambda values: self._shaped(np.array(read(values), np.float64)))

    def _labels(self, name: str, column: Any, read: Callable[..., list[Label]]) -> np.ndarray:
        labels = self._read(column, lambda values: read(values, self.num_samples))
        codes, self.names[name] = coded(labels, name)
        return self._shaped(codes)

    def _pairs(self, values: Sequence[Any]) -> np.ndarray:
        unknown_NN = np.full((self.num_samples, self.num_samples), np.nan)
        return np.stack([unknown_NN if one is None else np.asarray(one) for one in values])

    def _shaped(self, values_M: np.ndarray) -> np.ndarray:
        return values_M.reshape(self.num_prompts, self.num_samples)

    def _read(self, column: Any, read: Callable[[Any], T], count: int | None = None) -> T:
        """Read a column; where that fails, it is a column of unknown values."""
        try:
            if isinstance(column, Exception):
                raise column
            return read(column)
        except (RunError, ValueError) as error:
            if not self.goes_on:
                raise
            self.problems.append(str(error))
        return read([None] * (count or self.num_prompts * self.num_samples))


def _numbers(values: Sequence[Any]) -> np.ndarray:
    return np.array(read_column("rewards", read_number, values))


def _strategies(values: Sequence[Any], num_samples: int) -> list[Label]:
    """Return the labels of all samples, from judgements or from labels."""
    if isinstance(values[0], Judgement):
        return strategies_of(values, num_samples)
    plain = [None if isinstance(one, Missing) else one for one in values]
    return read_column(STRATEGIES, read_label, plain)
