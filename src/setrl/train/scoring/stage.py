"""Rewards → right or wrong → combined → truncated → strategies → fields → advantages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from setrl import AnyMethod
from setrl.judges import Judgement
from setrl.rewards import Combine, Truncation
from setrl.samples.columns import LABELS, READER_OF
from setrl.samples.labels import coded
from setrl.samples.samples import Samples
from setrl.samples.values import Label, read_label, read_number, read_pairs
from setrl.train.scoring.batch import Columns, ScoredBatch
from setrl.train.scoring.correct import correct_by_column, correct_by_reward
from setrl.train.scoring.fields import PAIRS, STRATEGIES, Values, read_column
from setrl.train.scoring.labels import families_of, strategies_of
from setrl.train.scoring.missing import Missing, missing_credit

AS_IT_IS = Truncation()


def score(
    columns: Columns,
    method: AnyMethod,
    *,
    combine: Combine | None = None,
    truncated: Truncation = AS_IT_IS,
    rng: np.random.Generator | int | None = None,
) -> ScoredBatch:
    """Credit samples with a method.

    Args:
        columns: What is known about the samples.
        method: The method.
        combine: How several rewards become one; None for their sum, in which unknown rewards are
            left out.
        truncated: The rule for samples that were cut at the length limit.
        rng: A generator or its seed, for methods that sample sets.

    Raises:
        RunError: If a column could not be read, or if it must be known which samples are right and
            nothing says it; it names the reward function, its value, and what to pass.
        ValueError: If the samples do not fit the method; it names what is wrong.
    """
    reading = _Reading(len(columns.prompts_B), len(columns.texts_BN[0]))
    rewards_BNR = reading.rewards(columns.rewards_R)
    combine = combine or Combine((1.0,) * rewards_BNR.shape[2], missing="skip")
    correct_BN = reading.correct(columns, rewards_BNR, combine, _needed_by(method, combine))
    rewards_BN = combine(rewards_BNR, correct_BN)
    cut_BN = None
    if columns.cut is not None:
        cut_BN = np.reshape(columns.cut, rewards_BN.shape)
        rewards_BN = truncated(rewards_BN, cut_BN)
        correct_BN = truncated.correct(correct_BN, cut_BN)
        cut_BN = cut_BN & ~np.isnan(rewards_BNR).any(axis=2)  # the others never had a reward
    fields = reading.fields(columns)
    samples = Samples(
        rewards_BN,
        correct=correct_BN,
        **fields,
        names=reading.names,
        tokens=None if columns.tokens is None else np.reshape(columns.tokens, rewards_BN.shape),
        prompts=columns.prompts_B,
        texts=columns.texts_BN,
    )
    # A sample without an answer votes for nobody, and stays.
    advantages = method.advantages(samples, rng=rng, abstain=True)
    return ScoredBatch(
        samples,
        rewards_BNR,
        advantages,
        missing_credit(samples, method.reads, advantages, columns.strategies, cut_BN),
    )


def _needed_by(method: AnyMethod, combine: Combine) -> str:
    """Return what must know which samples are right; empty if nothing does."""
    if "correct" in method.reads:
        return f"{method.name} needs to know which samples are right"
    return "gates need to know which samples are right" if any(combine.gates) else ""


@dataclass
class _Reading:
    """Columns as arrays of B prompts and N samples, and what labels mean."""

    num_prompts: int
    num_samples: int
    names: dict[str, Sequence[Label]] = field(default_factory=dict)

    def rewards(self, columns: Sequence[Values]) -> np.ndarray:
        rewards_MR = np.stack([*map(_numbers, columns)], axis=-1)
        return rewards_MR.reshape(self.num_prompts, self.num_samples, len(columns))

    def correct(
        self, columns: Columns, rewards_BNR: np.ndarray, combine: Combine, needed_by: str
    ) -> np.ndarray:
        shape, place = rewards_BNR.shape[:2], columns.correct
        if place is not None and not isinstance(place, int):
            return correct_by_column(place, shape)
        names_R = columns.names_R
        chosen = combine.place(names_R) if place is None else place
        return correct_by_reward(rewards_BNR, chosen, names_R, needed_by, place is not None)

    def fields(self, columns: Columns) -> dict[str, Any]:
        """Return the strategies and the further fields that were given, (B, N) or (B, N, N)."""
        said = columns.strategies
        found = {} if said is None else {STRATEGIES: self._labels(STRATEGIES, said, _strategies)}
        if any(isinstance(one, Judgement) and one.families_N for one in said or ()):
            found["families"] = self._labels("families", said, families_of)
        return found | {name: self.field(name, one) for name, one in columns.fields.items()}

    def field(self, name: str, column: Values) -> np.ndarray:
        """Return the values of a further field."""
        matrix = partial(read_pairs, num_samples=self.num_samples)
        read = partial(read_column, f"fields[{name!r}]", READER_OF.get(name, matrix))
        if name == PAIRS:
            return np.array(read(column))
        if name in LABELS:
            return self._labels(name, column, lambda values, _: read(values))
        return self._shaped(np.array(read(column), np.float64))

    def _labels(self, name: str, column: Any, read: Callable[..., list[Label]]) -> np.ndarray:
        codes, self.names[name] = coded(read(column, self.num_samples), name)
        return self._shaped(codes)

    def _shaped(self, values_M: np.ndarray) -> np.ndarray:
        return values_M.reshape(self.num_prompts, self.num_samples)


def _numbers(values: Values) -> np.ndarray:
    return np.array(read_column("rewards", read_number, values))


def _strategies(values: Sequence[Any], num_samples: int) -> list[Label]:
    """Return the labels of all samples, from judgements or from labels."""
    if isinstance(values[0], Judgement):
        return strategies_of(values, num_samples)
    plain = [None if isinstance(one, Missing) else one for one in values]
    return read_column(STRATEGIES, read_label, plain)
