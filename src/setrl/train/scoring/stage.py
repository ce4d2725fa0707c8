"""Rewards → right or wrong → combined → truncated → strategies → fields → advantages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setrl import AnyMethod
from setrl.judges import Judgement
from setrl.rewards import Combine, Truncation
from setrl.samples.reading import read_rewards
from setrl.samples.samples import Samples
from setrl.samples.values import Label
from setrl.support.errors import RunError
from setrl.train.scoring.batch import Columns, ScoredBatch
from setrl.train.scoring.correct import correct_by_reward
from setrl.train.scoring.fields import PAIRS, STRATEGIES, Values
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
    shape = len(columns.prompts_B), len(columns.texts_BN[0])
    rewards_BNR = _rewards(columns.rewards_R, shape)
    given = _read(columns, shape)
    combine = combine or Combine((1.0,) * rewards_BNR.shape[2], missing="skip")
    correct_BN = given.correct
    if correct_BN is None:
        correct_BN = _by_reward(columns, rewards_BNR, combine, _needed_by(method, combine))
    rewards_BN = combine(rewards_BNR, correct_BN)
    cut_BN = None
    if columns.cut is not None:
        cut_BN = np.reshape(columns.cut, shape)
        rewards_BN = truncated(rewards_BN, cut_BN)
        correct_BN = truncated.correct(correct_BN, cut_BN)
        cut_BN = cut_BN & ~np.isnan(rewards_BNR).any(axis=2)  # the others never had a reward
    samples = replace(given, rewards=rewards_BN, correct=correct_BN)
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


def _rewards(columns: Sequence[Values], shape: tuple[int, int]) -> np.ndarray:
    """Return the rewards of each function, (B, N, R)."""
    return np.stack([read_rewards(_shaped(one, shape)) for one in columns], axis=-1)


def _by_reward(
    columns: Columns, rewards_BNR: np.ndarray, combine: Combine, needed_by: str
) -> np.ndarray:
    stated, names_R = columns.correct, columns.names_R
    place = stated if isinstance(stated, int) else combine.place(names_R)
    return correct_by_reward(rewards_BNR, place, names_R, needed_by, isinstance(stated, int))


def _read(columns: Columns, shape: tuple[int, int]) -> Samples:
    """Return what is known of the samples but their rewards.

    Raises:
        RunError: Naming the column, what it must hold, and the value.
    """
    given = {name: one if name == PAIRS else _shaped(one, shape)
             for name, one in columns.fields.items()}  # fmt: skip
    if columns.strategies is not None:
        said: Any = columns.strategies
        given[STRATEGIES] = _shaped(_strategies(said, shape[1]), shape)
        if any(isinstance(one, Judgement) and one.families_N for one in said):
            given.setdefault("families", _shaped(families_of(said, shape[1]), shape))
    if columns.correct is not None and not isinstance(columns.correct, int):
        given["correct"] = _shaped(columns.correct, shape)
    try:
        samples = Samples.read(np.full(shape, np.nan), **given)
    except ValueError as error:
        raise RunError(str(error)) from None
    return replace(
        samples,
        tokens=None if columns.tokens is None else np.reshape(columns.tokens, shape),
        prompts=columns.prompts_B,
        texts=columns.texts_BN,
    )


def _shaped(values: Values, shape: tuple[int, int]) -> np.ndarray:
    """Return a column as (B, N), with each value as it is."""
    return np.fromiter(values, dtype=object, count=len(values)).reshape(shape)


def _strategies(values: Any, num_samples: int) -> Sequence[Label]:
    """Return the labels of all samples, from judgements or from labels."""
    if isinstance(values[0], Judgement):
        return strategies_of(values, num_samples)
    return [None if isinstance(one, Missing) else one for one in values]
