"""Functions of the user and columns of the data, as functions that check what they return.

An error names the function or the column. All have the interface of TRL's reward functions and
return one value for each sample; the function of `pairs` is called with the samples of one prompt
and returns a matrix.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from setrl.rewards.interface import is_async, own, unwrapped
from setrl.samples.columns import FURTHER, READER_OF
from setrl.samples.values import read_label, read_number, read_outcome, read_pairs
from setrl.support import names
from setrl.support.errors import RunError
from setrl.tasks.strategies import say_blank
from setrl.train.scoring.batch import PAIRS, Values, read_column

Source = Callable[..., Any] | str  # a function, or the name of a column
Read = Callable[[Any, int, str], Any]  # what a call returned, number of samples, name for errors

NOT_COLUMNS = (
    "prompts", "completions", "completion_ids", "trainer_state", "environments", "log_metric",
    "log_extra",
)  # fmt: skip


def checked_rewards(function: Callable[..., Any]) -> Any:
    """Return the same reward function, with errors that name it."""
    return _wrap_function(function, "reward", _make_sample_reader(read_number))


def checked_labels(function: Any) -> Any:
    """Return the same strategy function, with errors that name it.

    Raises:
        TypeError: If it is not a function.
    """
    if not callable(function):
        raise TypeError(
            "strategy_func must be a function that returns the strategy of each sample, got "
            f"{function!r}"
        )
    read = _make_sample_reader(read_label)

    def read_labels(values: Any, expected: int, place: str) -> list[Any]:
        values = list(values) if isinstance(values, Iterable) else values
        labels = read(values, expected, place)
        say_blank(values, place)
        return labels

    return _wrap_function(function, "strategy", read_labels)


def checked_outcome(function: Callable[..., Any]) -> Any:
    """Return the same function, which says which samples are right, with errors that name it."""
    return _wrap_function(function, "correct", _make_sample_reader(read_outcome))


def outcome_column(source: str) -> Callable[..., Values]:
    """Return a function that reads from a column which samples are right."""
    return _make_column_reader(source, "correct", read_outcome)


def functions_of(sources: Mapping[str, Source]) -> dict[str, Callable[..., Any]]:
    """Return one function for each field, whose errors name the function or the column.

    Raises:
        ValueError: If the name of a field is not known.
        TypeError: If a source is neither a function nor the name of a column.
    """
    for name, source in sources.items():
        _check_source(name, source)
    return {
        name: _make_column_reader(source, f"fields[{name!r}]", READER_OF[name])
        if isinstance(source, str)
        else _wrap_field(source, name)
        for name, source in sources.items()
    }


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, or the class of a callable object, as TRL shows it."""
    function = unwrapped(function)
    return getattr(function, "__name__", type(function).__name__)


def _wrap_function(function: Callable[..., Any], kind: str, read: Read) -> Any:
    name = name_of(function)
    place = f"the {kind} function {name!r}"
    log_as = f"reward/{name}" if kind == "reward" else None

    def call(**fields: Any) -> Any:
        with _name_place_in_errors(place), _log_time_and_failures(function, log_as, fields):
            values = function(**own(fields))
        return read(values, len(fields["completions"]), place)

    async def call_async(**fields: Any) -> Any:
        with _name_place_in_errors(place), _log_time_and_failures(function, log_as, fields):
            values = await function(**own(fields))
        return read(values, len(fields["completions"]), place)

    wrapper: Any = call_async if is_async(function) else call
    functools.update_wrapper(wrapper, function)
    wrapper.__name__ = name
    return wrapper


@contextmanager
def _log_time_and_failures(
    function: Any, log_as: str | None, fields: dict[str, Any]
) -> Iterator[None]:
    """Log the seconds of a call, and the share of samples on which a guarded function failed."""
    log, failures = fields.get("log_metric"), getattr(function, "failures", None)
    failed = failures.total() if isinstance(failures, Counter) else 0
    began = time.perf_counter()
    yield
    if log is None or log_as is None:
        return
    log(f"time/{log_as}", time.perf_counter() - began)
    if isinstance(failures, Counter):
        share = (failures.total() - failed) / max(len(fields["completions"]), 1)
        log(f"{log_as}/failures", share)


@contextmanager
def _name_place_in_errors(place: str) -> Iterator[None]:
    """Say in which function an error was raised."""
    try:
        yield
    except RunError:  # it says where it comes from
        raise
    except (Exception, SystemExit) as error:
        raise RunError(f"{place} raised {type(error).__name__}: {error}") from error


def _make_sample_reader(convert: Callable[[Any], Any]) -> Read:
    """Make what reads one value for each sample."""

    def read(values: Any, expected: int, place: str) -> list[Any]:
        requirement = f"{place} must return one value for each sample, {expected}"
        if not isinstance(values, Iterable):
            raise RunError(f"{requirement}, got {values!r}")
        values = list(values)
        if len(values) != expected:
            raise RunError(f"{requirement}, got {len(values)}")
        return read_column(place, convert, values, "return")

    return read


def _wrap_field(function: Callable[..., Any], name: str) -> Any:
    return _wrap_function(
        function, name, _read_matrix if name == PAIRS else _make_sample_reader(READER_OF[name])
    )


def _read_matrix(value: Any, num_samples: int, place: str) -> np.ndarray:
    [matrix] = read_column(
        place, functools.partial(read_pairs, num_samples=num_samples), [value], "return"
    )
    return matrix


def _check_source(name: str, source: Source) -> None:
    if name == "strategies":
        raise ValueError("fields must not hold strategies: pass strategy_func=... or judge=...")
    if name == "correct":
        raise ValueError("fields must not hold correct: pass correct=...")
    names.look_up("field", name, dict.fromkeys(FURTHER))
    if not callable(source) and not isinstance(source, str):
        raise TypeError(
            f"fields[{name!r}] must be a function or the name of a column, got {source!r}"
        )
    if name == PAIRS and isinstance(source, str):
        raise TypeError(
            "fields['pairs'] must be a function, which gets the samples of one prompt and "
            f"returns a number for each pair of them, got the column {source!r}"
        )


def _make_column_reader(
    source: str, place: str, convert: Callable[[Any], Any]
) -> Callable[..., Values]:
    """Make a function that returns a column of the samples' rows."""

    def read(**arguments: Any) -> Values:
        if source not in arguments:
            raise RunError(
                f"{place}: the samples have no column {source!r}; they have "
                f"{', '.join(repr(key) for key in arguments if key not in NOT_COLUMNS) or 'none'}"
            )
        return read_column(f"the column {source!r} of {place}", convert, arguments[source])

    return read
