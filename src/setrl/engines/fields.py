"""Fields of samples beyond rewards and clusters, from functions of the user or from columns.

A source is a function in the interface of TRL's reward functions, which returns one value a sample
(for `pairs` a matrix a prompt), or the name of a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from setrl import names
from setrl.engines.labels import numbered, read_label
from setrl.errors import RunError

Source = Callable[..., Any] | str
Values = Sequence[Any]

NUMBERS = (int, float, np.number, np.bool_)


def read_answer(value: Any) -> Any:
    """One value of a function of answers.

    Raises:
        ValueError: If it is no text, no number, and not None.
    """
    plain = _plain(value)
    if plain is None or isinstance(plain, (str, *NUMBERS)):
        return plain
    raise ValueError(f"texts, numbers or None (unknown), got {value!r}")


def read_number(value: Any) -> float:
    """One value of a function of numbers; NaN for None.

    Raises:
        ValueError: If it is neither a finite number nor None or NaN.
    """
    plain = _plain(value)
    if plain is None:
        return math.nan
    if isinstance(plain, NUMBERS) and not math.isinf(plain):
        return float(plain)
    raise ValueError(f"finite numbers or None (unknown), got {value!r}")


def _plain(value: Any) -> Any:
    """The number in an array or tensor of one element; other values are themselves.

    Tensors are known by what they have: configs read this module, and must not wait for PyTorch.
    """
    is_array = hasattr(value, "shape") and hasattr(value, "item")
    return value.item() if is_array and math.prod(value.shape) == 1 else value


READERS: dict[str, Callable[[Any], Any]] = {
    "answers": read_answer,
    "proxy": read_number,
    "second": read_number,
    "families": read_label,
}
PAIRS = "pairs"
KNOWN = (*READERS, PAIRS)


def check_sources(sources: Mapping[str, Source]) -> None:
    """Refuse a field that there is not, and a source that is neither a function nor a column.

    Raises:
        ValueError: Naming the field.
        TypeError: Naming the field and its source.
    """
    for name, source in sources.items():
        if name == "clusters":
            raise ValueError("clusters are no entry of fields: pass cluster_func=... or judge=...")
        names.look_up("field", name, dict.fromkeys(KNOWN))
        if not callable(source) and not isinstance(source, str):
            raise TypeError(
                f"fields[{name!r}] must be a function or the name of a column, got {source!r}"
            )
        if name == PAIRS and isinstance(source, str):
            raise TypeError(
                "fields['pairs'] must be a function, which gets the samples of one prompt and "
                f"returns a number for each pair of them, got the column {source!r}"
            )


def column(inputs: Sequence[Mapping[str, Any]], source: str, name: str) -> Values:
    """A column of the samples' rows.

    Raises:
        RunError: If there is no such column, or one of its values does not fit.
    """
    if source not in inputs[0]:
        raise RunError(
            f"fields[{name!r}]: the samples have no column {source!r}; they have "
            f"{', '.join(map(repr, inputs[0]))}"
        )
    try:
        return [READERS[name](row[source]) for row in inputs]
    except ValueError as error:
        raise RunError(f"the column {source!r} of fields[{name!r}] must hold {error}") from None


def as_array(name: str, values: Values, num_samples: int) -> np.ndarray:
    """The values of all samples of a step, (B, N); NaN or None is unknown.

    Raises:
        RunError: If answers are texts and numbers.
    """
    if name == "families":
        return numbered(values).reshape(-1, num_samples)
    if name == "answers":
        known = [value for value in values if value is not None and value == value]
        kinds = {isinstance(value, str) for value in known}
        if len(kinds) > 1:
            raise RunError("fields['answers'] must be all texts or all numbers, got both")
        return np.array(values, dtype=object).reshape(-1, num_samples)
    return np.array(values, dtype=np.float64).reshape(-1, num_samples)


def read_matrix(value: Any, num_samples: int, place: str) -> np.ndarray:
    """The matrix of one prompt, (N, N); None is a prompt of which nothing is known.

    Raises:
        RunError: If it is no symmetric matrix of finite numbers; NaN marks an unknown
            sample on the diagonal.
    """
    if value is None:
        return np.full((num_samples, num_samples), np.nan)
    wanted = f"{place} must return {num_samples} × {num_samples} numbers for a prompt"
    try:
        matrix = np.asarray(value.tolist() if hasattr(value, "tolist") else value, np.float64)
    except (TypeError, ValueError):
        raise RunError(f"{wanted}, got {value!r:.80}") from None
    if matrix.shape != (num_samples, num_samples):
        raise RunError(f"{wanted}, got the shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise RunError(f"{wanted}, all finite or NaN, got inf")
    known = ~np.isnan(np.diagonal(matrix))
    kept = matrix[np.ix_(known, known)]
    if not np.allclose(kept, kept.T):  # also where one of them is NaN
        raise RunError(
            f"{wanted}, equal for (i, j) and (j, i); a sample that is not known has NaN in "
            "its row, its column and on the diagonal"
        )
    matrix[~known] = np.nan
    matrix[:, ~known] = np.nan
    return matrix
