"""What `SetGRPOTrainer` checks: its arguments, and what reward and cluster functions return."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from trl import GRPOConfig

from setrl import Method
from setrl.errors import RunError
from setrl.inputs import check_set_size
from setrl.training.rewards import LABELS


def check_arguments(
    method: Method, args: GRPOConfig, rewards: list[Any], has_clusters: bool
) -> None:
    """Refuse, before anything is sampled, what a method cannot be trained with."""
    try:
        check_set_size(method.set_size, args.num_generations or 0)
    except ValueError as error:
        raise ValueError(f"{method.name}: {error} (num_generations)") from None
    if unknown := method.reads - {"rewards", "clusters"}:
        raise ValueError(f"{method.name} reads {', '.join(unknown)}, which a trainer has not")
    if "clusters" in method.reads and not has_clusters:
        raise ValueError(f"{method.name} reads clusters: pass cluster_func=... or judge=...")
    if not rewards:
        raise ValueError("reward_funcs must hold at least one function")
    if args.multi_objective_aggregation != "sum_then_normalize":
        raise ValueError(
            "multi_objective_aggregation must be 'sum_then_normalize', got "
            f"{args.multi_objective_aggregation!r}: a method credits one reward a sample"
        )


def named(function: Any) -> Any:
    """The same reward function, whose errors say which function it was.

    Reward models and coroutines are left as they are: TRL names them.
    """
    if not callable(function) or isinstance(function, torch.nn.Module):
        return function
    if inspect.iscoroutinefunction(function):
        return function
    name = getattr(function, "__name__", type(function).__name__)

    def call(**fields: Any) -> Sequence[float | None]:
        values = _call(function, name, fields)
        _check_values(values, name, len(fields["completions"]))
        return values

    functools.update_wrapper(call, function)
    call.__name__ = name
    return call


def _call(function: Callable[..., Any], name: str, fields: dict[str, Any]) -> list[Any]:
    try:
        return list(function(**fields))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise RunError(f"the reward function {name!r} raised {reason}") from error


def _check_values(values: list[Any], name: str, expected: int) -> None:
    if len(values) != expected:
        raise RunError(
            f"the reward function {name!r} must return one value a sample, {expected}, "
            f"got {len(values)}"
        )
    for value in values:
        if value is not None and not isinstance(value, int | float | np.number | torch.Tensor):
            raise RunError(
                f"the reward function {name!r} must return numbers or None, got {value!r}"
            )


def check_labels(labels: np.ndarray, name: str) -> None:
    """Refuse labels that float32, in which TRL gathers them, would not keep apart."""
    known = labels[~np.isnan(labels)]
    wrong = known[(known < -1) | (known >= LABELS) | (known != np.round(known))]
    if wrong.size:
        raise RunError(
            f"the cluster function {name!r} must return integers in [0, 2^24), −1 (degenerate) or "
            f"None (unknown), got {wrong[0]:g}"
        )
