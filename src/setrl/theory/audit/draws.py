"""Whether a function draws from a global random generator, or sets its seed."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

UNUSUAL = 2_718_281_828  # a seed that no function sets, so that setting one is noticed


@contextmanager
def uses_global_generators() -> Iterator[list[str]]:
    """Give a list; after the block it names the libraries whose global generator was used.

    The generators continue afterwards as if nothing had been drawn.

    >>> with uses_global_generators() as draws:
    ...     number = random.random()
    >>> draws
    ['Python']
    """
    found: list[str] = []
    generators = _generators()
    before = {name: get() for name, (_, get, _) in generators.items()}
    try:
        for seed, *_ in generators.values():
            seed(UNUSUAL)
        start = {name: _bytes(get()) for name, (_, get, _) in generators.items()}
        yield found
        found.extend(
            name for name, (_, get, _) in generators.items() if _bytes(get()) != start[name]
        )
    finally:
        for name, (*_, put) in generators.items():
            put(before[name])


def _bytes(state: Any) -> bytes:
    return pickle.dumps(state.numpy() if hasattr(state, "numpy") else state)


def _generators() -> dict[str, tuple[Any, Any, Any]]:
    """Return name → (seed it, get its state, set its state)."""
    found: dict[str, tuple[Any, Any, Any]] = {
        "Python": (random.seed, random.getstate, random.setstate),
        "NumPy": (np.random.seed, np.random.get_state, np.random.set_state),
    }
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        seed = torch.default_generator.manual_seed
        found["PyTorch"] = (seed, torch.get_rng_state, torch.set_rng_state)
    return found
