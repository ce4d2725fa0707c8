"""What set credit in TRL checks: its arguments, and what reward and cluster functions return."""

from __future__ import annotations

import functools
import math
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from trl import GRPOConfig, RLOOConfig
from trl.trainer.utils import get_callable_name, is_async_callable

from setrl import AnyMethod
from setrl.engines.batch import FIELDS, check_method
from setrl.engines.fields import READERS
from setrl.engines.importance import warn_of_truncated_sampling
from setrl.engines.labels import read_label
from setrl.errors import RunError
from setrl.rewards import Combine, Truncation
from setrl.rewards.guarded import CallRecord

NUMBERS = (int, float, np.number, np.bool_, torch.Tensor)
NARROWING = {"top_p": 1.0, "top_k": 0, "min_p": None, "repetition_penalty": 1.0}


def check_arguments(
    method: AnyMethod,
    has_rewards: bool,
    has_clusters: bool,
    fields: Collection[str],
    args: GRPOConfig,
    has_sampler: bool,
) -> None:
    """Refuse, before anything is sampled, what a method cannot be trained with."""
    check_method(method, args.num_generations or 0, "num_generations", FIELDS | set(fields))
    if "clusters" in method.reads and not has_clusters:
        raise ValueError(f"{method.name} reads clusters: pass cluster_func=... or judge=...")
    for name in fields:
        if name not in method.reads:
            warnings.warn(
                f"fields[{name!r}] has no effect: {method.name} does not read it", stacklevel=3
            )
    if not has_rewards:
        raise ValueError(
            "reward_funcs must hold at least one function, unless an environment gives the reward"
        )
    if isinstance(args, RLOOConfig):
        _check_rloo(args, has_sampler)
    elif args.multi_objective_aggregation != "sum_then_normalize":
        raise ValueError(
            "multi_objective_aggregation must be 'sum_then_normalize', got "
            f"{args.multi_objective_aggregation!r}: a method credits one reward a sample; to "
            "normalise rewards apart, pass combine=Combine(weights, normalize='group')"
        )
    _warn_of_no_effect(method, args, has_sampler)
    warn_of_truncated_sampling(args, has_sampler)


def check_combine(combine: Combine, args: GRPOConfig, names: Sequence[str]) -> None:
    """Refuse a combination of other rewards than those that there are."""
    if args.reward_weights is not None:
        raise ValueError("pass reward_weights or combine, not both: combine has weights")
    if len(combine.weights) != len(names):
        raise ValueError(
            f"combine needs one weight for each reward, {len(names)} ({', '.join(names)}), got "
            f"{len(combine.weights)}"
        )


def truncation(truncated: Truncation | None, args: GRPOConfig) -> Truncation:
    """What truncated samples count, as the trainer's arguments and TRL's own say together.

    TRL's mask takes them out of the loss alone: their rewards would still decide the advantages of
    the others. Here they leave the sets too.
    """
    if not isinstance(truncated, Truncation | None):
        raise ValueError(
            f"truncated must be a value such as rewards.Truncation('mask'), got {truncated!r}"
        )
    if truncated is None:
        return Truncation("mask" if args.mask_truncated_completions else "count")
    if args.mask_truncated_completions and truncated.policy != "mask":
        raise ValueError(
            f"mask_truncated_completions=True and truncated={truncated!r} contradict each other: "
            "pass one of them"
        )
    return truncated


def _check_rloo(args: RLOOConfig, has_sampler: bool) -> None:
    """RLOO changes the rewards on the way to its advantages, which a method replaces."""
    if args.beta != 0:
        raise ValueError(
            f"RLOO puts its KL penalty into the rewards, which a method does not see: set beta=0.0 "
            f"or train with GRPO, got beta={args.beta}"
        )
    for name, off in {"normalize_advantages": False, "reward_clip_range": None}.items():
        if getattr(args, name) != off:
            raise ValueError(
                f"{name} has no effect on the advantages of a method: set {name}={off}, got "
                f"{getattr(args, name)!r}"
            )
    if has_sampler:
        raise ValueError("RLOO takes no sampler: train with GRPO")


def _warn_of_no_effect(method: AnyMethod, args: GRPOConfig, has_sampler: bool) -> None:
    """Warn of arguments that were set and change nothing."""
    scale = getattr(args, "scale_rewards", None)
    if scale == "batch" or (scale == "none" and method.scale is not None):
        warnings.warn(
            f"scale_rewards={scale!r} has no effect on training: the method decides, and "
            f"{method.name} has scale={method.scale!r}",
            stacklevel=4,
        )
    ignored = {name: getattr(args, name) for name in NARROWING if has_sampler}
    for name, value in ignored.items():
        if value != NARROWING[name]:
            warnings.warn(
                f"{name}={value!r} has no effect: the sampler draws from all tokens", stacklevel=4
            )


def checked_rewards(function: Any) -> Any:
    """The same reward function, with errors that name it; reward models stay as they are."""
    return _checked(function, "reward", _reward)


def checked_labels(function: Any) -> Any:
    """The same cluster function, with errors that name it.

    Raises:
        TypeError: If it is not a function.
    """
    if not callable(function):
        raise TypeError(
            "cluster_func must be a function that returns the strategy of each sample, got "
            f"{function!r}"
        )
    return _checked(function, "cluster", read_label)


def checked_field(function: Any, name: str) -> Any:
    """The same function of a field, with errors that name it; a matrix a prompt is not read yet."""
    convert = READERS.get(name)
    return function if convert is None else _checked(function, name, convert)


def _checked(function: Any, kind: str, convert: Callable[[Any], Any]) -> Any:
    if not callable(function) or isinstance(function, torch.nn.Module):
        return function
    name = get_callable_name(function)
    place = f"the {kind} function {name!r}"
    log_as = f"reward/{name}" if kind == "reward" else None

    def call(**fields: Any) -> list[Any]:
        with named(place), _measured(function, log_as, fields):
            values = function(**fields)
        return _converted(values, len(fields["completions"]), place, convert)

    async def call_async(**fields: Any) -> list[Any]:
        with named(place), _measured(function, log_as, fields):
            values = await function(**fields)
        return _converted(values, len(fields["completions"]), place, convert)

    wrapper: Any = call_async if is_async_callable(function) else call
    functools.update_wrapper(wrapper, function)
    wrapper.__name__ = name
    return wrapper


@contextmanager
def _measured(function: Any, log_as: str | None, fields: dict[str, Any]) -> Iterator[None]:
    """Log the seconds of a call, and the share of samples on which a guarded function failed."""
    record, log = getattr(function, "record", None), fields.get("log_metric")
    failed = record.failures.total() if isinstance(record, CallRecord) else 0
    began = time.perf_counter()
    yield
    if log is None or log_as is None:
        return
    log(f"time/{log_as}", time.perf_counter() - began)
    if isinstance(record, CallRecord):
        share = (record.failures.total() - failed) / max(len(fields["completions"]), 1)
        log(f"{log_as}/failures", share)


@contextmanager
def named(place: str) -> Iterator[None]:
    """Say in which function an error was raised."""
    try:
        yield
    except RunError:  # it says where it comes from
        raise
    except Exception as error:
        raise RunError(f"{place} raised {type(error).__name__}: {error}") from error


def _converted(values: Any, expected: int, place: str, convert: Callable[[Any], Any]) -> list[Any]:
    """One value for each sample."""
    if not isinstance(values, Iterable):
        raise RunError(f"{place} must return one value a sample, {expected}, got {values!r}")
    values = list(values)
    if len(values) != expected:
        raise RunError(f"{place} must return one value a sample, {expected}, got {len(values)}")
    try:
        return [convert(value) for value in values]
    except ValueError as error:
        raise RunError(f"{place} must return {error}") from None


def _reward(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, NUMBERS) or math.isinf(value):
        raise ValueError(f"finite numbers or None, got {value!r}")
    return value
