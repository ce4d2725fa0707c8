"""Functions of the user, called so that an error names the function and each value is checked."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from trl.trainer.utils import get_callable_name, is_async_callable

from setrl.engines.fields import READERS
from setrl.engines.labels import read_label
from setrl.errors import RunError
from setrl.rewards.guarded import CallRecord

NUMBERS = (int, float, np.number, np.bool_, torch.Tensor)


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
