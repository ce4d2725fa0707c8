"""Arrays of any library → NumPy on the host, and back.

Any library's array comes in, and the same kind of array goes out. The credit itself is NumPy in
float64 on the host. It is B × N numbers, a model has billions: a copy costs microseconds,
sorting and counting need no second implementation, and devices without float64 (Apple's MPS, TPUs)
get the same bits as everybody else.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from setrl.samples.values import LARGEST_LABEL, TIMES

Array = Any  # an array of NumPy, PyTorch, JAX, CuPy …


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
        return _array_of_objects(array) if is_odd else array
    if not array_api_compat.is_array_api_obj(array):
        numpy_array = np.asarray(array)
        if numpy_array.dtype.kind == "U" or (
            numpy_array.dtype.kind == "f" and not keeps_integers(numpy_array)
        ):
            return np.asarray(array, dtype=object)
        return to_numpy(numpy_array)
    try:
        return _copy_to_host(array)
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


def _copy_to_host(array: Array) -> np.ndarray:
    if array_api_compat.is_torch_array(array):
        array = array.detach().cpu()
        return (array.double() if array.is_floating_point() else array).numpy()
    if array_api_compat.is_cupy_array(array):
        return array.get()
    if array_api_compat.is_jax_array(array) or not hasattr(array, "__dlpack__"):
        numpy_array = np.asarray(array)
        # NumPy knows no bfloat16: the dtype of `ml_dtypes` is of another kind than its floats.
        return numpy_array.astype(np.float64) if numpy_array.dtype.kind == "V" else numpy_array
    return np.from_dlpack(array)


def _why_unreadable(array: Array, error: Exception) -> str:
    if array_api_compat.is_jax_array(array):
        return "JAX traces this array, which has no numbers yet: call setrl.core.jax.set_advantages"
    kind = f"{type(array).__module__}.{type(array).__qualname__}"
    return f"a {kind} cannot be copied to the host: {str(error).splitlines()[0]}"


def _array_of_objects(array: np.ndarray) -> np.ndarray:
    return np.fromiter(array.flat, dtype=object, count=array.size).reshape(array.shape)


def check_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    """Refuse a field that is not of this shape."""
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape} of rewards_BN, got {array.shape}")
