"""Credit: columns of samples, or the groups of a log → samples with their advantages.

Rewards → right or wrong → combined → truncated → strategies → fields → advantages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from setrl.core.advantages import Advantages, AnyMethod
from setrl.core.inputs import check_given
from setrl.judges import Judgement
from setrl.logs.log import Log
from setrl.rewards import Combine, Truncation
from setrl.samples.columns import FURTHER, KEYS
from setrl.samples.reading import read_rewards
from setrl.samples.samples import Samples
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE, Label, no_outcomes, read_label
from setrl.support.errors import RunError, usage_errors
from setrl.train.scoring.batch import (
    PAIRS,
    STRATEGIES,
    Columns,
    Missing,
    ScoredBatch,
    Values,
    missing_credit,
)

AS_IT_IS = Truncation()

ASK = (
    "pass correct=... (in a config, the key `correct` of the task): the name of a reward function "
    "that returns 1 or 0, the name of a column, or a function that returns True, False or None; or "
    'Combine(…, outcome="NAME")'
)

FIELDS = {name: KEYS[name] for name in FURTHER if name in KEYS}
"""Further field of a method → its key in a record of a sample."""


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
    rewards_BNR = _stack_rewards(columns.rewards_R, shape)
    unrewarded = _read_samples(columns, shape)
    combine = combine or Combine((1.0,) * rewards_BNR.shape[2], missing="skip")
    correct_BN = unrewarded.correct
    if correct_BN is None:
        correct_BN = _read_correct(
            columns, rewards_BNR, combine, _name_reader_of_correct(method, combine)
        )
    rewards_BN = combine(rewards_BNR, correct_BN)
    cut_BN = None
    if columns.cut is not None:
        cut_BN = np.reshape(columns.cut, shape)
        rewards_BN = truncated(rewards_BN, cut_BN)
        correct_BN = truncated.correct(correct_BN, cut_BN)
        cut_BN = cut_BN & ~np.isnan(rewards_BNR).any(axis=2)  # the others never had a reward
    samples = replace(unrewarded, rewards=rewards_BN, correct=correct_BN)
    # A sample without an answer votes for nobody, and stays.
    advantages = method.advantages(samples, rng=rng, abstain=True)
    return ScoredBatch(
        samples,
        rewards_BNR,
        advantages,
        missing_credit(samples, method.reads, advantages, columns.strategies, cut_BN),
    )


def _name_reader_of_correct(method: AnyMethod, combine: Combine) -> str:
    """Return what must know which samples are right; empty if nothing does."""
    if "correct" in method.reads:
        return f"{method.name} needs to know which samples are right"
    return "gates need to know which samples are right" if any(combine.gates) else ""


def _stack_rewards(columns: Sequence[Values], shape: tuple[int, int]) -> np.ndarray:
    """Return the rewards of each function, (B, N, R)."""
    return np.stack([read_rewards(_to_groups(column, shape)) for column in columns], axis=-1)


def _read_correct(
    columns: Columns, rewards_BNR: np.ndarray, combine: Combine, needed_by: str
) -> np.ndarray:
    """Return which samples are right by one of the rewards: 1, 0, or NaN unknown.

    Args:
        columns: The columns; `correct` may be the place of the reward that says it.
        rewards_BNR: The R rewards of each sample.
        combine: Its outcome says it otherwise.
        needed_by: What needs to know it, for messages; empty if nothing does. Then a reward that
            is neither 0 nor 1 says nothing, and no sample is known to be right or wrong.

    Raises:
        RunError: Naming the reward function and its value, and what to pass.
    """
    stated, names_R = columns.correct, columns.names_R
    place = stated if isinstance(stated, int) else combine.place(names_R)
    if place is None:
        if needed_by:
            raise RunError(f"{needed_by}, and several rewards were given: {ASK}")
        return np.full(rewards_BNR.shape[:2], np.nan)
    values_BN = rewards_BNR[..., place]
    non_outcomes = no_outcomes(values_BN)
    if not non_outcomes.size:
        return values_BN
    name = f"the reward function {names_R[place]!r}" if names_R else "the reward function"
    _refuse_no_outcome(non_outcomes[0], name, needed_by, isinstance(stated, int))
    return np.full(values_BN.shape, np.nan)


def _refuse_no_outcome(value: float, name: str, needed_by: str, stated: bool) -> None:
    """Refuse a reward other than 0 and 1, if the user named it or something needs to know it."""
    if stated:
        raise RunError(
            f"{name} says which samples are right, and must return 1 or 0, got {value:g}: {ASK}"
        )
    if needed_by:
        raise RunError(
            f"{needed_by}, and {name} gave {value:g}, which is neither right (1) nor wrong (0): "
            f"{ASK}"
        )


def _read_samples(columns: Columns, shape: tuple[int, int]) -> Samples:
    """Return what is known of the samples but their rewards.

    Raises:
        RunError: Naming the column, what it must hold, and the value.
    """
    fields = {name: column if name == PAIRS else _to_groups(column, shape)
             for name, column in columns.fields.items()}  # fmt: skip
    if columns.strategies is not None:
        strategies: Any = columns.strategies
        fields[STRATEGIES] = _to_groups(_list_strategies(strategies, shape[1]), shape)
        if any(
            isinstance(judgement, Judgement) and judgement.families_N for judgement in strategies
        ):
            fields.setdefault("families", _to_groups(families_of(strategies, shape[1]), shape))
    if columns.correct is not None and not isinstance(columns.correct, int):
        fields["correct"] = _to_groups(columns.correct, shape)
    try:
        samples = Samples.read(np.full(shape, np.nan), **fields)
    except ValueError as error:
        raise RunError(str(error)) from None
    return replace(
        samples,
        tokens=None if columns.tokens is None else np.reshape(columns.tokens, shape),
        prompts=columns.prompts_B,
        texts=columns.texts_BN,
    )


def _to_groups(values: Values, shape: tuple[int, int]) -> np.ndarray:
    """Return a column as (B, N), with each value as it is."""
    return np.fromiter(values, dtype=object, count=len(values)).reshape(shape)


def _list_strategies(values: Any, num_samples: int) -> Sequence[Label]:
    """Return the labels of all samples, from judgements or from labels."""
    if isinstance(values[0], Judgement):
        return strategies_of(values, num_samples)
    return [None if isinstance(label, Missing) else label for label in values]


def strategies_of(judgements: Sequence[Judgement], num_samples: int) -> list[Label]:
    """Return the labels of all samples: names where the judge gives them, else its numbers."""
    return [*chain.from_iterable(_read_labels(judgement, num_samples) for judgement in judgements)]


def families_of(judgements: Sequence[Judgement], num_samples: int) -> list[Label]:
    """Return the families of all samples; None where the judge gives none."""
    unknown = (None,) * num_samples
    return [
        family
        for judgement in judgements
        for family in judgement.read(num_samples).families_N or unknown
    ]


def _read_labels(judgement: Judgement, num_samples: int) -> Sequence[Label]:
    numbers = judgement.read(num_samples).labels_N
    if numbers is None:
        return [None] * num_samples
    names = judgement.names_N or [None] * num_samples
    labels = [number if number == DEGENERATE or not name else read_label(name)
              for number, name in zip(numbers, names, strict=True)]  # fmt: skip
    # What the judge compares are its numbers: a name that two of them share says less.
    pairs = set(zip(numbers, labels, strict=True))
    is_named = len(set(labels)) == len(set(numbers)) == len(pairs)
    return labels if is_named and labels.count(DEGENERATE) == numbers.count(DEGENERATE) else numbers


def credit_groups(groups: Sequence[Group], method: AnyMethod) -> Advantages:
    """Return the advantages of groups of any sizes: (B, N), with N the size of the largest.

    Unknown rewards and strategies leave the sets. A sample without an answer votes for nobody, as
    in training.
    """
    return scored_groups(groups, method).advantages


def scored_groups(groups: Sequence[Group], method: AnyMethod) -> ScoredBatch:
    """Return the samples of groups of any sizes with their credit.

    N is the size of the largest group, and at least what the method needs: groups that are too
    small are skipped, not refused.
    """
    fields = [name for name in FIELDS if name in method.reads]
    width = max(method.fewest_samples, *map(len, groups))
    samples = Samples.of(groups, ["rewards", "correct", "strategies", *fields], width)
    advantages = method.advantages(samples, abstain=True)
    missing_B = missing_credit(samples, method.reads, advantages)
    return ScoredBatch(samples, samples.rewards[..., None], advantages, missing_B)


def needs_of(method: AnyMethod) -> dict[str, str]:
    """Return what a method reads of a log, and why, for `open_log`."""
    needs = {"reward": ""}
    if "correct" in method.reads:
        needs["correct"] = ""
    if "strategies" in method.reads:
        needs["strategy"] = f"{method.name} compares strategies"
    return needs


def refuse_missing(log: Log, method: AnyMethod) -> None:
    """Refuse a method that reads what a log does not hold.

    Raises:
        ConfigError: Saying what is missing, and how it is named.
    """
    fields = {STRATEGIES, *(name for name, key in FIELDS.items() if key in log.reader.columns)}
    with usage_errors():
        check_given(method.reads, fields, method.name, _key_of_field)


def _key_of_field(name: str) -> str:
    """Return the key of a log's samples that gives a field, for messages."""
    if name not in FIELDS:
        return "a log has no place for it"
    return f"the file does not hold it; give its samples the key {FIELDS[name]!r}"
