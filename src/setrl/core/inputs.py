"""What the core computes with: columns that are read and known, and set sizes that fit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypedDict

import numpy as np

from setrl.samples.arrays import Array
from setrl.samples.columns import LABELS
from setrl.samples.reading import known_samples
from setrl.samples.samples import Samples, right_by_reward
from setrl.samples.values import DEGENERATE


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
    arguments: dict[str, Any] = {**fields}
    abstain = arguments.pop("abstain", False)
    samples = Samples.read(rewards_BN, **arguments)
    usable_BN = ~np.isnan(samples.rewards)
    if samples.mask is not None:
        usable_BN &= samples.mask
    columns: dict[str, Any] = {}
    for name, values in samples.columns.items():
        if name in reads and name not in ("rewards", "mask"):
            known_BN = known_samples(name, values)
            if not (abstain and name == "answers"):
                usable_BN &= known_BN
            columns[name] = _convert_for_objectives(name, values, known_BN)
    if "correct" in reads and "correct" not in columns:
        counted = np.where(usable_BN, samples.rewards, np.nan)
        columns["correct"] = right_by_reward(counted)
    check_given(reads, columns)
    return Samples(samples.rewards, mask=usable_BN, **columns)


def _convert_for_objectives(name: str, values: np.ndarray, known_BN: np.ndarray) -> np.ndarray:
    """Return a column as objectives read it: labels as integers, outcomes as bool."""
    if name in LABELS:
        filled = np.where(known_BN, values, DEGENERATE) if values.dtype.kind == "f" else values
        values = filled.astype(np.int64, copy=False)
    return np.ascontiguousarray(values == 1 if name == "correct" else values)


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
