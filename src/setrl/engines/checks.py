"""What `SetGRPOTrainer` checks: its arguments, and what reward and cluster functions return."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from trl import GRPOConfig

from setrl import Method
from setrl.engines.batch import check_method
from setrl.errors import RunError
from setrl.rewards.from_domain import LABELS, strategy_label

NUMBERS = (int, float, np.number, np.bool_, torch.Tensor)


def check_arguments(
    method: Method, args: GRPOConfig, rewards: list[Any], has_clusters: bool
) -> None:
    """Refuse, before anything is sampled, what a method cannot be trained with."""
    check_method(method, args.num_generations or 0, "num_generations")
    if "clusters" in method.reads and not has_clusters:
        raise ValueError(f"{method.name} reads clusters: pass cluster_func=... or judge=...")
    if not rewards:
        raise ValueError("reward_funcs must hold at least one function")
    if args.multi_objective_aggregation != "sum_then_normalize":
        raise ValueError(
            "multi_objective_aggregation must be 'sum_then_normalize', got "
            f"{args.multi_objective_aggregation!r}: a method credits one reward a sample"
        )


def checked_rewards(function: Any) -> Any:
    """The same reward function, with errors that name it.

    Reward models and coroutines are not wrapped: TRL names them.
    """
    return _checked(function, "reward", _reward)


def checked_labels(function: Any) -> Any:
    """The same cluster function, with names of strategies as labels."""
    return _checked(function, "cluster", _label)


def _checked(function: Any, kind: str, convert: Callable[[Any], Any]) -> Any:
    if not callable(function) or isinstance(function, torch.nn.Module):
        return function
    if inspect.iscoroutinefunction(function):
        return function
    name = getattr(function, "__name__", type(function).__name__)
    place = f"the {kind} function {name!r}"

    def call(**fields: Any) -> list[Any]:
        values = _call(function, place, fields)
        try:
            return [convert(value) for value in values]
        except ValueError as error:
            raise RunError(f"{place} must return {error}") from None

    functools.update_wrapper(call, function)
    call.__name__ = name
    return call


def _call(function: Callable[..., Any], place: str, fields: dict[str, Any]) -> list[Any]:
    """The values that the function returns, one for each sample."""
    try:
        values = function(**fields)
    except Exception as error:
        raise RunError(f"{place} raised {type(error).__name__}: {error}") from error
    expected = len(fields["completions"])
    if not isinstance(values, Iterable):
        raise RunError(f"{place} must return one value a sample, {expected}, got {values!r}")
    values = list(values)
    if len(values) != expected:
        raise RunError(f"{place} must return one value a sample, {expected}, got {len(values)}")
    return values


def _reward(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, NUMBERS) or math.isinf(value):
        raise ValueError(f"finite numbers or None, got {value!r}")
    return value


def _label(value: Any) -> Any:
    if isinstance(value, str):
        return strategy_label(value)
    if value is not None and not isinstance(value, NUMBERS):
        raise ValueError(f"names or integers, −1 (degenerate) or None (unknown), got {value!r}")
    return value


def check_labels(labels: np.ndarray, name: str) -> None:
    """Refuse labels that float32, in which TRL gathers them, cannot distinguish."""
    known = labels[~np.isnan(labels)]
    wrong = known[(known < -1) | (known >= LABELS) | (known != np.round(known))]
    if wrong.size:
        raise RunError(
            f"the cluster function {name!r} must return integers in [0, 2^24), −1 (degenerate) or "
            f"None (unknown), got {wrong[0]:g}"
        )
