"""Credit: columns of samples, or the groups of a log → samples with their advantages.

Rewards → right or wrong → combined → truncated → strategies → fields → advantages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from setrl.core.advantages import Advantages, AnyMethod
from setrl.core.inputs import check_given
from setrl.logs.log import Log
from setrl.rewards import Combine, Truncation
from setrl.samples.columns import FURTHER, KEYS
from setrl.samples.reading import read_rewards
from setrl.samples.samples import Samples
from setrl.samples.types import Group
from setrl.samples.values import no_outcomes
from setrl.support.errors import RunError, usage_errors
from setrl.train.scoring.batch import (
    PAIRS,
    STRATEGIES,
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


def samples_of(
    components_R: Sequence[Values],
    num_samples: int,
    *,
    strategies: Values | None = None,
    correct: Values | int | None = None,
    names_R: Sequence[str] = (),
    fields: Mapping[str, Values] | None = None,
    cut: Sequence[bool] | None = None,
    tokens: Sequence[int] | None = None,
    prompts: Sequence[str] = (),
    texts: Sequence[Sequence[str]] = (),
) -> Samples:
    """Return the samples of columns, whose rewards `score` makes of what the functions gave.

    A column holds one value for each sample; the N samples of a prompt stand together, in the order
    of the prompts.

    Args:
        components_R: The column of each reward function; None or NaN is an unknown reward.
        num_samples: N.
        strategies: Names, or integers of at least −1; None is unknown. None if nobody was asked.
        correct: What says which samples are right: a column of True, False and None (unknown), or
            the place of a reward that is 1 or 0. By default `score` decides it.
        names_R: What messages and `Combine` call the rewards; empty if they have no names.
        fields: Field of the method → its column; None is unknown. `pairs` has one matrix for each
            prompt, (N, N), or None.
        cut: Which samples were cut at the length limit; None if no rule asks for it.
        tokens: How many tokens each sample has; None if nobody counted.
        prompts: The B prompts.
        texts: The texts of each prompt's samples.

    Raises:
        RunError: Naming the column, what it must hold, and the value.
    """
    shape = len(components_R[0]) // num_samples, num_samples
    components = stack_rewards(components_R, shape)
    if isinstance(correct, int):
        correct = _read_stated(components[..., correct], _name_reward(names_R, correct)).ravel()
    samples = Samples(
        np.full(shape, np.nan),
        tokens=None if tokens is None else np.reshape(tokens, shape),
        cut=None if cut is None else np.reshape(cut, shape),
        components=components,
        names={"components": names_R},
        prompts=prompts,
        texts=texts,
    )
    return with_columns(samples, {**(fields or {}), "strategies": strategies, "correct": correct})


def stack_rewards(columns_R: Sequence[Values], shape: tuple[int, int]) -> np.ndarray:
    """Return the rewards of each function, (B, N, R), of columns with one value for each sample."""
    return np.stack([read_rewards(_to_groups(column, shape)) for column in columns_R], axis=-1)


def _read_stated(values_BN: np.ndarray, name: str) -> np.ndarray:
    """Return the rewards of the function that a user named; they must be 1, 0, or NaN.

    Raises:
        RunError: Naming the function and its value, and what to pass.
    """
    if (others := no_outcomes(values_BN)).size:
        raise RunError(
            f"{name} says which samples are right, and must return 1 or 0, got {others[0]:g}: {ASK}"
        )
    return values_BN


def _name_reward(names_R: Sequence[str], place: int) -> str:
    return f"the reward function {names_R[place]!r}" if names_R else "the reward function"


def with_columns(samples: Samples, columns: Mapping[str, Values | None]) -> Samples:
    """Return samples with further columns, which hold one value for each sample.

    Raises:
        RunError: Naming the column, what it must hold, and the value.
    """
    shape = samples.rewards.shape
    try:
        return samples.with_columns(
            **{
                name: column if column is None or name == PAIRS else _to_groups(column, shape)
                for name, column in columns.items()
            }
        )
    except ValueError as error:
        raise RunError(str(error)) from None


def _to_groups(values: Values, shape: tuple[int, ...]) -> np.ndarray:
    """Return a column as (B, N), with each value as it is."""
    return np.fromiter(values, dtype=object, count=len(values)).reshape(shape)


def score(
    samples: Samples,
    method: AnyMethod,
    *,
    combine: Combine | None = None,
    truncated: Truncation = AS_IT_IS,
    unjudged_B: Sequence[Missing | None] = (),
    rng: np.random.Generator | int | None = None,
) -> ScoredBatch:
    """Credit samples with a method.

    Args:
        samples: What is known about the samples, as `samples_of` returns it.
        method: The method.
        combine: How several rewards become one; None for their sum, in which unknown rewards are
            left out.
        truncated: The rule for samples that were cut at the length limit.
        unjudged_B: Why a judge gave each prompt no strategies; None where it gave some.
        rng: A generator or its seed, for methods that sample sets.

    Raises:
        RunError: If it must be known which samples are right and nothing says it; it names the
            reward function, its value, and what to pass.
        ValueError: If the samples do not fit the method; it names what is wrong.
    """
    components = samples.components
    combine = combine or Combine((1.0,) * components.shape[2], missing="skip")
    correct_BN = samples.correct
    if correct_BN is None:
        correct_BN = _read_correct(samples, combine, _name_reader_of_correct(method, combine))
    rewards_BN = combine(components, correct_BN)
    if samples.cut is not None:
        rewards_BN = truncated(rewards_BN, samples.cut)
        correct_BN = truncated.correct(correct_BN, samples.cut)
    samples = replace(samples, rewards=rewards_BN, correct=correct_BN)
    # A sample without an answer votes for nobody, and stays.
    advantages = method.advantages(samples, rng=rng, abstain=True)
    missing_B = missing_credit(samples, method.reads, advantages, unjudged_B)
    return ScoredBatch(samples, advantages, missing_B)


def _name_reader_of_correct(method: AnyMethod, combine: Combine) -> str:
    """Return what must know which samples are right; empty if nothing does."""
    if "correct" in method.reads:
        return f"{method.name} needs to know which samples are right"
    return "gates need to know which samples are right" if any(combine.gates) else ""


def _read_correct(samples: Samples, combine: Combine, needed_by: str) -> np.ndarray:
    """Return which samples are right by one of the rewards: 1, 0, or NaN unknown.

    Args:
        samples: The samples, with the rewards of each function.
        combine: Its outcome says it.
        needed_by: What needs to know it, for messages; empty if nothing does. Then a reward that
            is neither 0 nor 1 says nothing, and no sample is known to be right or wrong.

    Raises:
        RunError: Naming the reward function and its value, and what to pass.
    """
    names_R = [*map(str, samples.names.get("components", ()))]
    place = combine.place(names_R)
    unknown_BN = np.full(samples.rewards.shape, np.nan)
    if place is None:
        if needed_by:
            raise RunError(f"{needed_by}, and several rewards were given: {ASK}")
        return unknown_BN
    values_BN = samples.components[..., place]
    others = no_outcomes(values_BN)
    if others.size and needed_by:
        raise RunError(
            f"{needed_by}, and {_name_reward(names_R, place)} gave {others[0]:g}, which is neither "
            f"right (1) nor wrong (0): {ASK}"
        )
    return unknown_BN if others.size else values_BN


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
    return ScoredBatch(samples, advantages, missing_credit(samples, method.reads, advantages))


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
