"""Further fields of samples, besides rewards and clusters: values, and columns as arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from setrl.support.errors import RunError
from setrl.train.scoring.labels import numbered, read_label

Values = Sequence[Any]

NUMBERS = (int, float, np.number, np.bool_)


def read_answer(value: Any) -> Any:
    """Read one value of a function of answers.

    Raises:
        ValueError: If it is neither a string nor a number nor None.
    """
    plain = _plain(value)
    if plain is None or isinstance(plain, (str, *NUMBERS)):
        return plain
    raise ValueError(f"texts, numbers or None (unknown), got {value!r}")


def read_number(value: Any) -> float:
    """Read one value of a function of numbers; NaN for None.

    Raises:
        ValueError: If it is neither a finite number nor None or NaN.
    """
    plain = _plain(value)
    if plain is None:
        return math.nan
    if isinstance(plain, NUMBERS) and not math.isinf(plain):
        return float(plain)
    raise ValueError(f"finite numbers or None (unknown), got {value!r}")


def read_outcome(value: Any) -> bool | None:
    """Read one value of a function that says which samples are right; None is unknown.

    Raises:
        ValueError: If it is neither True nor False (1 or 0) nor None or NaN.
    """
    plain = _plain(value)
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        return None
    if isinstance(plain, NUMBERS) and plain in (0, 1):
        return bool(plain)
    raise ValueError(f"True, False or None (unknown), got {value!r}")


def _plain(value: Any) -> Any:
    """Take the number out of an array or tensor of one element; other values stay.

    Tensors are recognised by their attributes: reading a config must not import PyTorch.
    """
    is_array = hasattr(value, "shape") and hasattr(value, "item")
    return value.item() if is_array and math.prod(value.shape) == 1 else value


READERS: dict[str, Callable[[Any], Any]] = {
    "answers": read_answer,
    "proxy": read_number,
    "second": read_number,
    "families": read_label,
}
FAMILIES, PAIRS = "families", "pairs"
KNOWN = (*READERS, PAIRS)


def as_array(name: str, values: Values, num_samples: int) -> np.ndarray:
    """Return the values of all samples as (B, N), or (B, N, N) for `pairs`; NaN or None is unknown.

    Raises:
        RunError: If answers are texts and numbers.
    """
    if name == PAIRS:
        unknown_NN = np.full((num_samples, num_samples), np.nan)
        return np.stack([unknown_NN if one is None else np.asarray(one) for one in values])
    if name == FAMILIES:
        return numbered(values).reshape(-1, num_samples)
    if name == "answers":
        known = [value for value in values if value is not None and value == value]
        kinds = {isinstance(value, str) for value in known}
        if len(kinds) > 1:
            raise RunError("fields['answers'] must be all texts or all numbers, got both")
        return np.array(values, dtype=object).reshape(-1, num_samples)
    return np.array(values, dtype=np.float64).reshape(-1, num_samples)


def read_matrix(value: Any, num_samples: int, place: str) -> np.ndarray:
    """Read the matrix of one prompt, (N, N); None if nothing is known about the prompt.

    Raises:
        RunError: If it is not a symmetric matrix of finite numbers; NaN on the diagonal marks an
            unknown sample.
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
