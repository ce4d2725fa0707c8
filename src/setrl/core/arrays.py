"""The door for arrays: any library's array in, the same kind of array out.

The credit itself is NumPy in float64 on the host. It is B × N numbers beside a model's billions:
a copy costs microseconds, sorting and counting need no second implementation, and devices without
float64 (Apple's MPS, TPUs) get the same bits as everybody else.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

Array = Any  # an array of NumPy, PyTorch, JAX, CuPy …


def to_numpy(array: Array) -> np.ndarray:
    """The array as NumPy, copied to the host if it is on a device.

    Lists with text become arrays of objects: in an array of text NumPy would write −1 as "-1" and
    NaN as "nan".
    """
    if array_api_compat.is_torch_array(array):
        array = array.detach().cpu()
        return (array.double() if array.is_floating_point() else array).numpy()
    if array_api_compat.is_array_api_obj(array) and not isinstance(array, np.ndarray):
        return np.asarray(array_api_compat.to_device(array, "cpu"))
    found = np.asarray(array)
    if found.dtype.kind == "U" and not isinstance(array, np.ndarray):
        return np.asarray(array, dtype=object)
    return found


def like(array: np.ndarray, reference: Array) -> Array:
    """A NumPy array as the kind of array that the reference is, on the reference's device."""
    if isinstance(reference, np.ndarray) or not array_api_compat.is_array_api_obj(reference):
        return array
    xp = array_api_compat.array_namespace(reference)
    return xp.asarray(array, device=array_api_compat.device(reference))
