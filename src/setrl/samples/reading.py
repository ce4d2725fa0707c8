"""Columns of any kind → numbers, in which NaN is unknown, and what the numbers of labels mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from setrl.samples.arrays import Array, check_shape, read_array
from setrl.samples.columns import LABELS, READER_OF
from setrl.samples.labels import coded
from setrl.samples.values import (
    DEGENERATE,
    LARGEST_LABEL,
    NUMBERS,
    Label,
    known_of_pairs,
    no_outcomes,
    read_all,
    read_number,
    read_pairs,
)

Shape = tuple[int, ...]


def read_rewards(rewards_BN: Array) -> np.ndarray:
    """Return rewards as float64, (B, N); NaN is unknown.

    Raises:
        ValueError: If a reward is no number, or there is another number of axes.
    """
    array = read_array("rewards_BN", rewards_BN)
    if array.dtype.kind not in NUMBERS:
        array = _read_each_value("rewards_BN", array, read_number)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"rewards_BN must have shape (B, N): prompts, samples; got {array.shape}"
            + (" (for one prompt pass rewards[None])" if array.ndim == 1 else "")
        )
    # One order in memory: the order in which NumPy adds numbers up follows it.
    return np.ascontiguousarray(array.astype(np.float64, copy=False))


def read_mask(mask: Array | None, shape: Shape) -> np.ndarray | None:
    """Return which samples there are, (B, N) bool; None if nobody says it."""
    if mask is None:
        return None
    array = read_array("mask", mask)
    check_shape("mask", array, shape)
    if array.dtype != bool:
        raise ValueError(f"mask must be bool, got dtype {array.dtype}")
    return array


def read_column(name: str, value: Array, shape: Shape) -> tuple[np.ndarray, Sequence[Label] | None]:
    """Return a column as numbers, and what the numbers of labels stand for, if not themselves.

    Labels that are whole numbers stay as they are. Answers become places in their order.

    Raises:
        ValueError: Naming the column, and the value that it must not hold.
    """
    if name == "pairs":
        return _read_pair_matrices(value, shape), None
    array = read_array(name, value)
    check_shape(name, array, shape)
    return _read_labels(name, array) if name in LABELS else (_read_numbers(name, array), None)


def known_samples(name: str, values: np.ndarray) -> np.ndarray:
    """Return which samples have a value in a column, (B, N) bool."""
    if name == "pairs":
        return ~np.isnan(np.diagonal(values, axis1=-2, axis2=-1))
    return ~np.isnan(values) if values.dtype.kind == "f" else np.ones(values.shape, dtype=bool)


def _read_each_value(name: str, array: np.ndarray, read: Callable[[Any], Any]) -> np.ndarray:
    """Read each value of an array."""
    values = np.empty(array.size, dtype=object)
    with _errors_naming(name):
        values[:] = read_all(read, array.ravel().tolist())
    return values.reshape(array.shape)


def _read_numbers(name: str, array: np.ndarray) -> np.ndarray:
    """Return a column as float64, NaN where it is unknown."""
    if array.dtype.kind in NUMBERS:
        numbers = array.astype(np.float64, copy=False)
        if not (no_outcomes(numbers).size if name == "correct" else np.isinf(numbers).any()):
            return numbers
    return _read_each_value(name, array, READER_OF[name]).astype(np.float64)  # None becomes NaN


def _read_labels(name: str, array: np.ndarray) -> tuple[np.ndarray, Sequence[Label] | None]:
    """Return labels as numbers in their order, and what these stand for, if not themselves."""
    if array.dtype.kind not in NUMBERS or not _are_labels(name, array):
        codes, names = coded(_read_each_value(name, array, READER_OF[name]).flat, name)
        return codes.reshape(array.shape), names
    if name != "answers":
        return array, None
    values, places = np.unique(array, return_inverse=True)
    places = places.reshape(array.shape)
    if array.dtype.kind == "f" and np.isnan(values[-1:]).any():
        places = np.where(np.isnan(array), np.nan, places)
    return places, values.tolist()


def _are_labels(name: str, numbers: np.ndarray) -> bool:
    """Return whether the reader of a column would keep all numbers, and keep them apart."""
    is_answer = name == "answers"
    if numbers.dtype.kind == "f":
        numbers = numbers[~np.isnan(numbers)]
        if not is_answer and (numbers != np.floor(numbers)).any():
            return False
    least = 1 - LARGEST_LABEL if is_answer else DEGENERATE
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    return bool(low >= least and high < LARGEST_LABEL)


def _read_pair_matrices(value: Array, shape: Shape) -> np.ndarray:
    """Return the matrices of all prompts; NaN on the diagonal marks an unknown sample."""
    given = value if isinstance(value, list | tuple) else read_array("pairs", value)
    if not isinstance(given, np.ndarray) or given.dtype.kind not in NUMBERS:
        with _errors_naming("pairs"):
            matrices = [read_pairs(matrix, shape[1]) for matrix in given]
        given = np.reshape(matrices, (len(matrices), shape[1], shape[1]))
    check_shape("pairs", given, (*shape, shape[1]))
    with _errors_naming("pairs"):
        known_of_pairs(given)
    return given.astype(np.float64, copy=False)


@contextmanager
def _errors_naming(name: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name} must hold {error}") from None
