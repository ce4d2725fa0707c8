"""Functions of the user, called so that an error names the function and each value is checked."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from setrl.errors import RunError
from setrl.rewards.guarded import CallRecord
from setrl.scoring.fields import PAIRS, READERS, read_matrix, read_number
from setrl.scoring.labels import read_label

Read = Callable[[Any, int, str], Any]  # what a call returned, number of samples, name for errors


def checked_rewards(function: Callable[..., Any]) -> Any:
    """Return the same reward function, with errors that name it."""
    return _checked(function, "reward", _each(read_number))


def checked_labels(function: Any) -> Any:
    """Return the same cluster function, with errors that name it.

    Raises:
        TypeError: If it is not a function.
    """
    if not callable(function):
        raise TypeError(
            "cluster_func must be a function that returns the strategy of each sample, got "
            f"{function!r}"
        )
    return _checked(function, "cluster", _each(read_label))


def checked_field(function: Callable[..., Any], name: str) -> Any:
    """Return the same function of a field, with errors that name it."""
    return _checked(function, name, read_matrix if name == PAIRS else _each(READERS[name]))


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, or the class of a callable object, as TRL shows it."""
    function = _unwrapped(function)
    return getattr(function, "__name__", type(function).__name__)


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a call of the function gives a coroutine, by TRL's rule."""
    function = _unwrapped(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(function.__call__)


def _unwrapped(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _checked(function: Callable[..., Any], kind: str, read: Read) -> Any:
    name = name_of(function)
    place = f"the {kind} function {name!r}"
    log_as = f"reward/{name}" if kind == "reward" else None

    def call(**fields: Any) -> Any:
        with _named(place), _measured(function, log_as, fields):
            values = function(**fields)
        return read(values, len(fields["completions"]), place)

    async def call_async(**fields: Any) -> Any:
        with _named(place), _measured(function, log_as, fields):
            values = await function(**fields)
        return read(values, len(fields["completions"]), place)

    wrapper: Any = call_async if is_async(function) else call
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
def _named(place: str) -> Iterator[None]:
    """Say in which function an error was raised."""
    try:
        yield
    except RunError:  # it says where it comes from
        raise
    except Exception as error:
        raise RunError(f"{place} raised {type(error).__name__}: {error}") from error


def _each(convert: Callable[[Any], Any]) -> Read:
    """Make what reads one value for each sample."""

    def read(values: Any, expected: int, place: str) -> list[Any]:
        wanted = f"{place} must return one value a sample, {expected}"
        if not isinstance(values, Iterable):
            raise RunError(f"{wanted}, got {values!r}")
        values = list(values)
        if len(values) != expected:
            raise RunError(f"{wanted}, got {len(values)}")
        try:
            return [convert(value) for value in values]
        except ValueError as error:
            raise RunError(f"{place} must return {error}") from None

    return read
