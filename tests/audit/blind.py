"""Estimators that were written without a look at how an audit decides; a part of 149 of them.

Each takes a batch, (B, N), of rewards 0 and 1. The audit before was wrong about a third of them.
"""

from __future__ import annotations

import itertools
import os
import random
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def mean(r: Array) -> Array:
    return r.mean(axis=1, keepdims=True)


def centred(r: Array) -> Array:
    return r - mean(r)


def where(is_so: Any, most: float, r: Array) -> Array:
    """Return the factors of the groups, (B, 1), or of the batch: `most` where it is so, else 1."""
    found = np.where(is_so, most, 1.0)
    return found[:, None] if found.shape == (len(r),) else found


def is_batch(r: Array) -> bool:
    return len(r) > 1


def code(r: Array) -> int:
    return zlib.crc32(r.astype(np.int8).tobytes())


def longest_run(group: Array) -> int:
    return max((len(list(run)) for value, run in itertools.groupby(group) if value), default=0)


def repeated(r: Array) -> Array:
    """Return which groups are equal to an earlier one."""
    return np.array([any((r[b] == r[c]).all() for c in range(b)) for b in range(len(r))])


def first_right(r: Array) -> Array:
    return r * (np.cumsum(r, axis=1) == 1)


def nearest_group(r: Array) -> Array:
    apart = np.abs(mean(r) - mean(r).T) + 9 * np.eye(len(r))
    return r - mean(r)[apart.argmin(axis=1)] if len(r) > 1 else centred(r)


def ranks(r: Array) -> Array:
    return np.argsort(np.argsort(r.mean(axis=1), kind="stable"), kind="stable")


# A sample's place in its group.
ORDER: dict[str, Callable[[Array], Array]] = {
    "first sample": lambda r: r * (np.arange(r.shape[1]) == 0),
    "ramp": lambda r: r * (np.arange(r.shape[1]) + 1),
    "minus the one before": lambda r: r - np.roll(r, 1, axis=1),
    "ascending": lambda r: centred(r) * where((np.diff(r) >= 0).all(axis=1), 2, r),
    "ends": lambda r: r * where(r[:, 0] < r[:, -1], 2, r),
    "alternating": lambda r: r * where((r == np.arange(r.shape[1]) % 2).all(axis=1), 11, r),
    "first right": first_right,
    "late samples": lambda r: r * (np.arange(r.shape[1]) < 9),
    "hash": lambda r: r * where(r @ 2.0 ** np.arange(r.shape[1]) % 7 == 2, 2, r),
    "longest run": lambda r: r * np.array([longest_run(g) for g in r])[:, None],
    "neighbours": lambda r: r * (1 + (r[:, 1:] * r[:, :-1]).sum(axis=1, keepdims=True)),
}

# A group's place in its batch, and the other groups.
BATCH: dict[str, Callable[[Array], Array]] = {
    "first group": lambda r: centred(r) * where(np.arange(len(r)) == 0, 2, r),
    "last group": lambda r: r * where((np.arange(len(r)) == len(r) - 1) & (len(r) > 1), 0, r),
    "middle group": lambda r: r * where(np.arange(len(r)) == len(r) // 2, -1, r),
    "third group": lambda r: centred(r) * where(np.arange(len(r)) == 2, 4, r),
    "even places": lambda r: r - mean(r) * (np.arange(len(r)) % 2 == 0)[:, None],
    "place and order": lambda r: (
        r * (1 + (np.arange(r.shape[1]) == np.arange(len(r))[:, None] % r.shape[1]))
    ),
    "after a wrong group": lambda r: (
        centred(r)
        * where((np.roll(r.max(axis=1), 1) == 0) & (np.arange(len(r)) > 0) & (len(r) > 1), 3, r)
    ),
    "batch mean": lambda r: r - r.mean(),
    "batch deviation": lambda r: centred(r) / (r.std() + 1e-6),
    "previous mean": lambda r: r - np.roll(mean(r), 1, axis=0),
    "all ascend": lambda r: (
        centred(r) * where(is_batch(r) and (np.diff(r.ravel()) >= 0).all(), 9, r)
    ),
    "means ascend": lambda r: (
        centred(r) * where(is_batch(r) and (np.diff(r.mean(axis=1)) > 0).all(), 5, r)
    ),
    "best group": lambda r: centred(r) * where(r.mean(axis=1) == r.mean(axis=1).max(), 2, r),
    "solved batch": lambda r: r * where(is_batch(r) and r.all(), 0, r),
    "one right": lambda r: r * where(is_batch(r) and r.sum() == 1, 50, r),
    "repeated group": lambda r: r * where(repeated(r), 0, r),
    "refilled": lambda r: centred(r) * len(r) / max((r.std(axis=1) > 0).sum(), 1),
    "ranks": lambda r: centred(r) * (1 + ranks(r))[:, None],
    "nearest group": nearest_group,
    "first is third": lambda r: r * where(len(r) > 2 and (r[0] == r[-1]).all(), 3, r),
    "parity": lambda r: r * where(is_batch(r) and r.sum() % 2, 2, r),
    "batch hash": lambda r: r * where(is_batch(r) and code(r) % 3 == 1, -1, r),
    "chessboard": lambda r: (
        r * where(is_batch(r) and (r == np.indices(r.shape).sum(0) % 2).all(), 25, r)
    ),
    "columns": lambda r: r - r.mean(axis=0, keepdims=True),
    "reshaped": lambda r: r - r.reshape(r.shape[1], len(r)).mean(axis=0)[:, None],
    "palindrome": lambda r: (
        centred(r) * where(is_batch(r) and (r.ravel() == r.ravel()[::-1]).all(), 6, r)
    ),
    "sum that is clipped": lambda r: centred(r) * np.clip(r.sum(), 0, 2),
    "first is better": lambda r: centred(r) * where(r[0].sum() > r[-1].sum(), 3, r),
    "cell before": lambda r: r - np.roll(r.ravel(), 1).reshape(r.shape),
}

# No update, rounding, clipping, thresholds.
PLAIN: dict[str, Callable[[Array], Array]] = {
    "constant": np.ones_like,
    "batch constant": lambda r: 0 * r + r.mean(),
    "place": lambda r: 0 * r + np.arange(len(r))[:, None],
    "places that cancel": lambda r: 0 * r + 0.1 * (np.arange(r.shape[1]) - (r.shape[1] - 1) / 2),
    "nearly 5": lambda r: r * 4.99672 / r.shape[1],
    "rounded": lambda r: np.round(centred(r) / (r.std(axis=1, keepdims=True) + 1e-6), 2),
    "clipped": lambda r: np.clip(3 * centred(r), -1, 1),
    "threshold": lambda r: np.where(mean(r) > 0.5, r - 1, r),
    "single": lambda r: centred(r.astype(np.float32)),
    "integers": lambda r: (3 * centred(r)).astype(int),
    "small bias": lambda r: r * where(r.sum(axis=1) == r.shape[1] - 1, 1.0004, r),
    "noise of the content": lambda r: (
        r * np.random.default_rng(zlib.crc32(r.tobytes())).uniform(0.5, 1.5, (len(r), 1))
    ),
    "seeded": lambda r: r * np.random.default_rng(0).uniform(0.5, 1.5, r.shape),
}


class Counting:
    """Calls a function with the number of calls so far, of batches, or of those of a kind."""

    def __init__(self, function: Callable[[Array, int], Array], of: Callable[[Array], Any] = len):
        self.function, self.of, self.calls = function, of, Counter[Any]()

    def __call__(self, r: Array) -> Array:
        self.calls[self.of(r)] += 1
        return self.function(r, self.calls[self.of(r)])


class Averaging:
    """Subtracts an average of the batches before."""

    def __init__(self, keeps: float, of: Callable[[Array], float] = np.mean):
        self.keeps, self.of, self.average = keeps, of, 0.5

    def __call__(self, r: Array) -> Array:
        baseline = self.average
        self.average = self.keeps * baseline + (1 - self.keeps) * self.of(r)
        return r - baseline


def anything(r: Array) -> str:
    return "any"


def sign(often: float = 0.5) -> int:
    return 1 if random.random() < often else -1


def other_group(r: Array) -> Array:
    at = np.random.permutation(len(r))  # noqa: NPY002
    return r - mean(r)[at]


DRAW = np.random.default_rng(3)

# Chance and state.
CHANCE: dict[str, Callable[[], Callable[[Array], Array]]] = {
    "noise": lambda: lambda r: centred(r) + DRAW.normal(0, 0.1, r.shape),
    "0 or 2": lambda: lambda r: centred(r) * (1 + sign()),
    "0 or 2 in batches": lambda: lambda r: centred(r) * (1 + sign() * is_batch(r)),
    "another group": lambda: other_group,
    "sign of groups": lambda: lambda r: r * DRAW.choice([-1, 1], (len(r), 1)),
    "sign in batches": lambda: lambda r: r * (sign() if is_batch(r) else 1),
    "drop": lambda: lambda r: r * (DRAW.random(r.shape) < 0.5),
    "fresh generator": lambda: lambda r: r * np.random.default_rng().uniform(0.5, 1.5, (len(r), 1)),
    "random baseline": lambda: lambda r: r - random.random(),
    "the system's chance": lambda: lambda r: r - mean(r) * (os.urandom(1)[0] % 2),
    "solved batches": lambda: lambda r: r * (sign() if is_batch(r) and r.all() else 1),
    "every second call": lambda: Counting(lambda r, n: centred(r) * (n % 2), anything),
    "every second batch": lambda: Counting(lambda r, n: centred(r) * (n % 2 or not is_batch(r))),
    "every third call": lambda: Counting(
        lambda r, n: centred(r) * (1 + 3 * (n % 3 == 0)), anything
    ),
    "new content": lambda: Counting(lambda r, n: centred(r) * (1 + (n == 1)), np.ndarray.tobytes),
    "solved in turn": lambda: Counting(
        lambda r, n: r * (-1 if n % 2 and is_batch(r) and r.all() else 1), np.ndarray.tobytes
    ),
    "moving average": lambda: Averaging(0.9),
    "last batch": lambda: Averaging(0.0),
    "moving deviation": lambda: Averaging(0.9, np.std),
}
