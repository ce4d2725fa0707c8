"""Designs: which sets are scored when not all are."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

KEYS = 1 << 22  # random keys that are drawn at once: 32 MB


@lru_cache(maxsize=32)
def all_sets(num_samples: int, set_size: int) -> np.ndarray:
    """Every set of `set_size` out of `num_samples`, by index: (C(N, K), K)."""
    flat = [index for chosen in combinations(range(num_samples), set_size) for index in chosen]
    sets_SK = np.array(flat, dtype=np.intp).reshape(-1, set_size)
    sets_SK.flags.writeable = False
    return sets_SK


def draw_sets(
    num_samples: int, set_size: int, num_sets: int, rng: np.random.Generator | None
) -> np.ndarray:
    """`num_sets` different sets, uniformly among all such collections: (S, K), members ascending.

    Independent sets are drawn, repeats are dropped, and the missing ones are drawn again until
    there are enough, which is uniform without replacement. Where most sets are wanted, that would
    take long, and they are chosen from the full list instead.
    """
    if rng is None:
        raise ValueError("drawing sets needs rng=np.random.default_rng(seed)")
    total = comb(num_samples, set_size)
    if num_sets > total:
        raise ValueError(
            f"there are only {total:,} sets of {set_size} out of {num_samples}, got {num_sets:,}"
        )
    if total <= 4 * num_sets:
        return all_sets(num_samples, set_size)[rng.permutation(total)[:num_sets]]
    drawn_SK = np.empty((0, set_size), dtype=np.intp)
    while len(drawn_SK) < num_sets:
        more_SK = _random_sets(num_samples, set_size, num_sets - len(drawn_SK), rng)
        drawn_SK = _first_of_each(np.concatenate([drawn_SK, more_SK]))
    return drawn_SK


def advance(rng: np.random.Generator | None, used: np.random.Generator | None) -> None:
    """Put a generator where a copy of it is that has been used."""
    if rng is not None and used is not None:
        rng.bit_generator.state = used.bit_generator.state


@lru_cache(maxsize=256)
def count_sets(num_samples: int, set_size: int) -> float:
    """C(N, K) as a float; inf where it has no float."""
    try:
        return float(comb(num_samples, set_size))
    except OverflowError:
        return np.inf


def membership(sets_SK: np.ndarray, num_samples: int) -> np.ndarray:
    """1 where a set holds a sample, else 0: (S, N) float64."""
    member_SN = np.zeros((len(sets_SK), num_samples))
    np.put_along_axis(member_SN, sets_SK, 1.0, axis=1)
    return member_SN


def _random_sets(
    num_samples: int, set_size: int, num_sets: int, rng: np.random.Generator
) -> np.ndarray:
    """Independent uniform sets: the places of the `set_size` smallest of N random keys."""
    step = max(1, KEYS // num_samples)
    parts = []
    for start in range(0, num_sets, step):
        key_SN = rng.random((min(step, num_sets - start), num_samples))
        parts.append(np.argpartition(key_SN, set_size - 1, axis=1)[:, :set_size])
    return np.sort(np.concatenate(parts), axis=1)


def _first_of_each(sets_SK: np.ndarray) -> np.ndarray:
    """Return the different sets, in the order in which they first came."""
    _, first_S = np.unique(sets_SK, axis=0, return_index=True)
    return sets_SK[np.sort(first_S)]
