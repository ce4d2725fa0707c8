"""The public door of the core: every argument is checked here, once, and made dense.

Any library's array comes in, and the same kind of array goes out. The credit itself is NumPy in
float64 on the host. It is B × N numbers, a model has billions: a copy costs microseconds,
sorting and counting need no second implementation, and devices without float64 (Apple's MPS, TPUs)
get the same bits as everybody else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import array_api_compat
import numpy as np

from setrl.core.samples import Array, Fields, Samples, right_by_reward
from setrl.samples.strategies import DEGENERATE
from setrl.support import names

Index = tuple[Any, Any]  # the places of some prompts' samples in a (B, N) array

LARGEST_LABEL = 2**53  # float64, which knows NaN, keeps integers apart up to here


@dataclass(frozen=True)
class Batch:
    """B prompts of up to N samples each, and which of the samples can be used.

    Attributes:
        samples: Fields (B, N); values where a sample is not usable have no meaning.
        usable_BN: Whether the sample exists and every field that is needed is known.
    """

    samples: Samples
    usable_BN: np.ndarray

    def equal_sizes(self, fewest: int) -> Iterator[tuple[Index, Samples]]:
        """Prompts with equally many usable samples, at least `fewest`: where, and their samples.

        The maths downstream is dense: it never sees a mask.
        """
        count_B = self.usable_BN.sum(axis=-1)
        most = self.usable_BN.shape[-1]
        if count_B.size and (count_B == most).all():
            if most >= fewest:
                yield (slice(None), slice(None)), self.samples
            return
        first_BN = np.argsort(~self.usable_BN, axis=-1, kind="stable")
        for n in np.unique(count_B[count_B >= max(fewest, 1)]):
            rows = np.flatnonzero(count_B == n)
            columns_Rn = first_BN[rows, :n]
            yield (rows[:, None], columns_Rn), self.samples.choose(rows, columns_Rn)


def read_batch(rewards_BN: Array, reads: Collection[str], fields: Fields) -> Batch:
    """Check the samples of `set_advantages` and gather them.

    Args:
        rewards_BN: (B, N) rewards.
        reads: The names of the fields that must be given, and known for a sample to be usable.
        fields: What else describes the samples.
    """
    given: dict[str, Any] = {**fields}
    mask, abstain = given.pop("mask", None), given.pop("abstain", False)
    # One order in memory: the order in which NumPy adds numbers up follows it.
    rewards = np.ascontiguousarray(_numbers("rewards_BN", rewards_BN))
    if rewards.ndim != 2 or rewards.shape[1] == 0:
        raise ValueError(
            f"rewards_BN must have shape (B, N): prompts, samples; got {rewards.shape}"
            + (" (for one prompt pass rewards[None])" if rewards.ndim == 1 else "")
        )
    usable_BN = _mask(mask, rewards.shape)
    known: dict[str, np.ndarray] = {}
    for name, value in given.items():
        read = names.look_up("argument", name, _FIELDS)
        if value is not None:
            checked, is_known_BN = read(value, rewards.shape)
            if abstain and name == "answers":
                checked[~is_known_BN] = DEGENERATE
                is_known_BN[:] = True
            if name in reads:
                known[name] = np.ascontiguousarray(checked)
                usable_BN &= is_known_BN
    if "correct" in reads and "correct" not in known:
        counted = rewards if usable_BN.all() else np.where(usable_BN, rewards, np.nan)
        known["correct"] = right_by_reward(counted)
    check_given(reads, known)
    if not np.isfinite(rewards).all():
        usable_BN &= ~np.isnan(rewards)
        if np.isinf(rewards[usable_BN] if mask is not None else rewards).any():
            raise ValueError("rewards_BN must be finite, or NaN where there is no reward; got inf")
    return Batch(Samples(rewards, **known), usable_BN)


def check_given(reads: Collection[str], given: Collection[str]) -> None:
    """Refuse samples without a field that the method reads; the rewards say which are correct."""
    missing = [name for name in reads if name not in ("rewards", "correct", *given)]
    if missing:
        raise ValueError(f"the objective reads {missing[0]}: pass {missing[0]}=...")


def check_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    """Refuse a field that is not of this shape."""
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape} of rewards_BN, got {array.shape}")


def check_set_size(
    set_size: int,
    num_samples: int | None = None,
    *,
    needs_contrast: bool = False,
    called: str = "num_samples",
) -> None:
    """Refuse a K that is not a positive integer, or for which N samples are too few.

    This is the one place where K and N are checked; every door of the library calls it.

    Args:
        set_size: K.
        num_samples: N; None where it is not known yet, as when a method is made.
        needs_contrast: Whether sets with a sample are compared with sets without it, for which
            there must be a sample outside of every set: K < N.
        called: What the caller calls N.

    Raises:
        ValueError: Unless 1 ≤ K ≤ N, or K < N with `needs_contrast`.
    """
    is_integer = isinstance(set_size, int | np.integer) and not isinstance(set_size, bool)
    if not is_integer or set_size < 1:
        raise ValueError(f"set_size must be an integer of at least 1, got {set_size!r}")
    if num_samples is not None and num_samples < set_size + needs_contrast:
        most = num_samples - needs_contrast
        reason = ": sets with and without a sample are compared" if needs_contrast else ""
        raise ValueError(
            f"set_size must be an integer in [1, {most}] with {called}={num_samples}, "
            f"got {set_size}{reason}"
            if most > 0
            else f"{called} must be at least {1 + needs_contrast}, got {num_samples}{reason}"
        )


class UnreadableArrayError(ValueError):
    """An array of another library that cannot be copied to the host."""


def to_numpy(array: Array) -> np.ndarray:
    """Return the array as NumPy, copied to the host if it is on a device.

    Lists with text become arrays of objects: in an array of text NumPy would write −1 as "-1" and
    NaN as "nan".

    Raises:
        UnreadableArrayError: If it cannot be copied, as an array that `jax.jit` traces.
    """
    if isinstance(array, np.ndarray):
        return array
    if not array_api_compat.is_array_api_obj(array):
        found = np.asarray(array)
        return np.asarray(array, dtype=object) if found.dtype.kind == "U" else found
    try:
        return _on_host(array)
    except Exception as error:  # each library raises its own
        raise UnreadableArrayError(_why_unreadable(array, error)) from error


def read_array(name: str, value: Array) -> np.ndarray:
    """Return the value of an argument as NumPy; refuse it by its name if that cannot be."""
    try:
        return to_numpy(value)
    except UnreadableArrayError as error:
        raise UnreadableArrayError(f"{name}: {error}") from error.__cause__
    except ValueError:
        raise ValueError(
            f"{name} must have rows of one length: fill short ones with NaN, or pass flat arrays "
            "to setrl.grouped_advantages"
        ) from None


def like(array: np.ndarray, reference: Array) -> Array:
    """Return a NumPy array as the kind of array of the reference, on the same device.

    A library or a device without float64 (JAX by default, Apple's MPS) gets float32.
    """
    if isinstance(reference, np.ndarray) or not array_api_compat.is_array_api_obj(reference):
        return array
    xp, device = array_api_compat.array_namespace(reference), array_api_compat.device(reference)
    if array_api_compat.is_jax_array(reference) and len(reference.devices()) > 1:
        device = None  # how rewards are spread over devices fits no array of another shape
    try:
        return xp.asarray(array, device=device)
    except TypeError:
        return xp.asarray(array.astype(np.float32), device=device)


def _on_host(array: Array) -> np.ndarray:
    if array_api_compat.is_torch_array(array):
        array = array.detach().cpu()
        return (array.double() if array.is_floating_point() else array).numpy()
    if array_api_compat.is_cupy_array(array):
        return array.get()
    if array_api_compat.is_jax_array(array) or not hasattr(array, "__dlpack__"):
        found = np.asarray(array)
        # NumPy knows no bfloat16: the dtype of `ml_dtypes` is of another kind than its floats.
        return found.astype(np.float64) if found.dtype.kind == "V" else found
    return np.from_dlpack(array)


def _why_unreadable(array: Array, error: Exception) -> str:
    if array_api_compat.is_jax_array(array):
        return "JAX traces this array, which has no numbers yet: call setrl.core.jax.set_advantages"
    kind = f"{type(array).__module__}.{type(array).__qualname__}"
    return f"a {kind} cannot be copied to the host: {str(error).splitlines()[0]}"


def _numbers(name: str, value: Array) -> np.ndarray:
    array = read_array(name, value)
    if array.dtype.kind == "O" and all(one is None or isinstance(one, Real) for one in array.flat):
        return array.astype(np.float64)  # None becomes NaN
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    return array.astype(np.float64, copy=False)


def _shaped(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    check_shape(name, array, shape)
    return array


def _mask(mask: Array | None, shape: tuple[int, ...]) -> np.ndarray:
    if mask is None:
        return np.ones(shape, dtype=bool)
    array = _shaped("mask", read_array("mask", mask), shape)
    if array.dtype != bool:
        raise ValueError(f"mask must be bool, got dtype {array.dtype}")
    return array.copy()


def _clusters(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return _strategies("clusters", value, shape)


def _families(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return _strategies("families", value, shape)


def _strategies(name: str, value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    array = read_array(name, value)
    if array.dtype.kind in "OU" and any(isinstance(label, str) for label in array.flat):
        return _named_strategies(name, array.astype(object), shape)
    if array.dtype.kind in "iu":
        labels_BN, known_BN = _shaped(name, array, shape), np.ones(shape, dtype=bool)
    else:
        numbers_BN = _shaped(name, _numbers(name, array), shape)
        known_BN = ~np.isnan(numbers_BN)
        labels_BN = np.where(known_BN, numbers_BN, DEGENERATE)
    low, high = labels_BN.min(initial=0), labels_BN.max(initial=0)
    is_whole = labels_BN.dtype.kind != "f" or bool((labels_BN == np.floor(labels_BN)).all())
    if low < DEGENERATE or high > LARGEST_LABEL or not is_whole:
        is_wrong_BN = (labels_BN < DEGENERATE) | (labels_BN > LARGEST_LABEL)
        is_wrong_BN |= labels_BN != np.floor(labels_BN)
        raise ValueError(
            f"{name} must be integers from 0 to 2^53, {DEGENERATE} (degenerate) or NaN "
            f"(unknown), got {labels_BN[is_wrong_BN][0]:g}"
        )
    return labels_BN.astype(np.int64, copy=False), known_BN


def _named_strategies(
    name: str, array: np.ndarray, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Labels that are names; −1 among them is degenerate, as among numbers."""
    is_degenerate_BN = _shaped(name, array, shape) == DEGENERATE
    array[is_degenerate_BN] = None
    labels_BN, known_BN = _labels(name, array, shape)
    labels_BN[is_degenerate_BN] = DEGENERATE
    return labels_BN, known_BN | is_degenerate_BN


def _answers(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return _labels("answers", read_array("answers", value), shape)


def _labels(name: str, array: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Integers in the order of the values, and which are known: not None, not NaN."""
    array = _shaped(name, array, shape)
    if array.dtype.kind == "O":
        is_known = [label is not None and label == label for label in array.ravel()]
        known_BN = np.array(is_known, dtype=bool).reshape(shape)
    else:
        known_BN = array == array  # NaN is not itself
    labels_BN = np.zeros(shape, dtype=np.int64)
    try:
        labels_BN[known_BN] = np.unique(array[known_BN], return_inverse=True)[1]
    except TypeError:
        raise ValueError(f"{name} must be all numbers or all strings, got both") from None
    return labels_BN, known_BN


def _correct(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    array = _shaped("correct", _numbers("correct", value), shape)
    others = array[(array != 0) & (array != 1) & ~np.isnan(array)]
    if others.size:
        raise ValueError(
            "correct must be True or False (1 or 0), or None where it is not known, got "
            f"{others[0]:g}: compare with a threshold yourself, such as correct=scores > 0.5"
        )
    return array == 1, ~np.isnan(array)


def _proxy(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    array = _shaped("proxy", _numbers("proxy", value), shape)
    return array, ~np.isnan(array)


def _second(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    array = _shaped("second", _numbers("second", value), shape)
    if np.isinf(array).any():
        raise ValueError("second must be finite, or NaN where there is no second reward; got inf")
    return array, ~np.isnan(array)


def _pairs(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    array = _shaped("pairs", _numbers("pairs", value), (*shape, shape[1]))
    if not np.allclose(array, np.swapaxes(array, -1, -2), equal_nan=True):
        raise ValueError("pairs must be symmetric: pairs[b, i, j] == pairs[b, j, i]")
    known_BN = ~np.isnan(np.diagonal(array, axis1=-2, axis2=-1))
    if np.isnan(array[known_BN[:, :, None] & known_BN[:, None, :]]).any():
        raise ValueError(
            "pairs is NaN between two samples whose own entry pairs[b, i, i] is known; "
            "a sample that is not known has NaN on the diagonal"
        )
    return array, known_BN


_FIELDS = {
    "correct": _correct,
    "clusters": _clusters,
    "answers": _answers,
    "proxy": _proxy,
    "pairs": _pairs,
    "families": _families,
    "second": _second,
}
