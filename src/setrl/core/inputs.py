"""The public door of the core: every argument is checked here, once, and made dense.

Any library's array comes in, and the same kind of array goes out. The credit itself is NumPy in
float64 on the host. It is B × N numbers, a model has billions: a copy costs microseconds,
sorting and counting need no second implementation, and devices without float64 (Apple's MPS, TPUs)
get the same bits as everybody else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import array_api_compat
import numpy as np

from setrl.samples.columns import LABELS, READER_OF
from setrl.samples.labels import coded
from setrl.samples.samples import Samples, right_by_reward
from setrl.samples.values import (
    DEGENERATE,
    LARGEST_LABEL,
    NUMBERS,
    TIMES,
    known_of_pairs,
    no_outcomes,
    read_all,
    read_number,
    read_pairs,
)
from setrl.support import names

Array = Any  # an array of NumPy, PyTorch, JAX, CuPy …


class Fields(TypedDict, total=False):
    """The keywords that describe samples, apart from rewards, in every function of `setrl`.

    Arrays of any library, or nested lists. A sample leaves the sets where a field that the
    objective reads is unknown: NaN or None.

    Attributes:
        correct: (B, N) whether a sample is right, True or False (1 or 0). If it is not given, the
            rewards must be 0 and 1, and say it.
        strategies: (B, N) strategies, as integers or names; −1 is of no strategy.
        answers: (B, N) final answers, numbers or strings.
        proxy: (B, N) numbers by which a selector chooses.
        pairs: (B, N, N) a number for each pair of samples: a distance, or a kernel.
        families: (B, N) families of strategies, labelled as strategies are.
        second: (B, N) another reward, for objectives of two.
        mask: (B, N) bool, False where a prompt has no such sample (ragged groups).
        abstain: Whether a sample without an answer stays in the sets and votes for nobody. By
            default it leaves the sets.
    """

    correct: Array | None
    strategies: Array | None
    answers: Array | None
    proxy: Array | None
    pairs: Array | None
    families: Array | None
    second: Array | None
    mask: Array | None
    abstain: bool


def read_samples(rewards_BN: Array, reads: Collection[str], fields: Fields) -> Samples:
    """Check the samples of `set_advantages`, and return them with a mask of the usable ones.

    A sample is usable if it exists and every field that is needed is known; where it is not, its
    values have no meaning.

    Args:
        rewards_BN: (B, N) rewards.
        reads: The names of the fields that must be given, and known for a sample to be usable.
        fields: What else describes the samples.
    """
    given: dict[str, Any] = {**fields}
    mask, abstain = given.pop("mask", None), given.pop("abstain", False)
    # One order in memory: the order in which NumPy adds numbers up follows it.
    array = read_array("rewards_BN", rewards_BN)
    if array.dtype.kind not in NUMBERS:
        array = _each("rewards_BN", array, read_number)
    rewards = np.ascontiguousarray(array.astype(np.float64, copy=False))
    if rewards.ndim != 2 or rewards.shape[1] == 0:
        raise ValueError(
            f"rewards_BN must have shape (B, N): prompts, samples; got {rewards.shape}"
            + (" (for one prompt pass rewards[None])" if rewards.ndim == 1 else "")
        )
    usable_BN = _mask(mask, rewards.shape)
    known: dict[str, Any] = {}
    for name, value in given.items():
        names.look_up("argument", name, Fields.__annotations__)
        if value is not None:
            checked, is_known_BN = _read(name, value, rewards.shape)
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
    return Samples(rewards, mask=usable_BN, **known)


def check_given(
    reads: Collection[str],
    given: Collection[str],
    reader: str = "the objective",
    remedy: Callable[[str], str] = "pass {0}=...".format,
) -> None:
    """Refuse samples without a field that is read; the rewards say which are correct.

    Args:
        reads: The fields that are read.
        given: The fields that something gives, besides the rewards.
        reader: What reads them, for the message.
        remedy: The name of a field → what would give it, for the message.

    Raises:
        ValueError: Naming the fields, and what would give the first.
    """
    if missing := [name for name in reads if name not in ("rewards", "correct", *given)]:
        raise ValueError(f"{reader} reads {' and '.join(missing)}: {remedy(missing[0])}")


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

    Lists become arrays of objects where NumPy would change a value: in an array of text it writes
    −1 as "-1" and NaN as "nan", and one of floats merges large integers. So do arrays of times,
    which it takes for integers, and masked arrays.

    Raises:
        UnreadableArrayError: If it cannot be copied, as an array that `jax.jit` traces.
    """
    if isinstance(array, np.ndarray):
        is_odd = array.dtype.kind in TIMES or isinstance(array, np.ma.MaskedArray)
        return _objects(array) if is_odd else array
    if not array_api_compat.is_array_api_obj(array):
        found = np.asarray(array)
        if found.dtype.kind == "U" or (found.dtype.kind == "f" and not keeps_integers(found)):
            return np.asarray(array, dtype=object)
        return to_numpy(found)
    try:
        return _on_host(array)
    except Exception as error:  # each library raises its own
        raise UnreadableArrayError(_why_unreadable(array, error)) from error


def keeps_integers(numbers: np.ndarray) -> bool:
    """Return whether all numbers are so small that float64 keeps integers apart."""
    return bool((np.abs(numbers[np.isfinite(numbers)]) < LARGEST_LABEL).all())


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


def _objects(array: np.ndarray) -> np.ndarray:
    return np.fromiter(array.flat, dtype=object, count=array.size).reshape(array.shape)


def _each(name: str, array: np.ndarray, read: Callable[[Any], Any]) -> np.ndarray:
    """Read each value of an array."""
    found = np.empty(array.size, dtype=object)
    with _naming(name):
        found[:] = read_all(read, array.ravel().tolist())
    return found.reshape(array.shape)


def _mask(mask: Array | None, shape: tuple[int, ...]) -> np.ndarray:
    if mask is None:
        return np.ones(shape, dtype=bool)
    array = read_array("mask", mask)
    check_shape("mask", array, shape)
    if array.dtype != bool:
        raise ValueError(f"mask must be bool, got dtype {array.dtype}")
    return array.copy()


def _read(name: str, value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return a field as an array of numbers, and which samples have it, (B, N)."""
    if name == "pairs":
        return _pairs(value, shape)
    array = read_array(name, value)
    check_shape(name, array, shape)
    if name in LABELS:
        return _labels(name, array)
    numbers = _numbers(name, array)
    return (numbers == 1 if name == "correct" else numbers), ~np.isnan(numbers)


def _numbers(name: str, array: np.ndarray) -> np.ndarray:
    """Return a column as float64, NaN where it is unknown."""
    if array.dtype.kind in NUMBERS:
        numbers = array.astype(np.float64, copy=False)
        if not (no_outcomes(numbers).size if name == "correct" else np.isinf(numbers).any()):
            return numbers
    return _each(name, array, READER_OF[name]).astype(np.float64)  # None becomes NaN


def _labels(name: str, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as integers in their order, and which are known."""
    if array.dtype.kind not in NUMBERS or not _are_labels(name, array):
        codes = coded(_each(name, array, READER_OF[name]).flat, name)[0]
        array = codes.reshape(array.shape)
    is_known = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(array.shape, dtype=bool)
    if name == "answers":
        return np.unique(array, return_inverse=True)[1].reshape(array.shape), is_known
    if array.dtype.kind == "f":
        array = np.where(is_known, array, DEGENERATE)
    return array.astype(np.int64, copy=False), is_known


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


def _pairs(value: Array, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices of all prompts (None: unknown), and which samples are known."""
    given = value if isinstance(value, list | tuple) else read_array("pairs", value)
    if not isinstance(given, np.ndarray) or given.dtype.kind not in NUMBERS:
        with _naming("pairs"):
            found = [read_pairs(one, shape[1]) for one in given]
        given = np.reshape(found, (len(found), shape[1], shape[1]))
    check_shape("pairs", given, (*shape, shape[1]))
    array = given.astype(np.float64, copy=False)
    with _naming("pairs"):
        return array, known_of_pairs(array)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name} must hold {error}") from None
