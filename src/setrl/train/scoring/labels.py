"""The labels of judgements, as columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setrl.judges import Judgement
from setrl.samples.values import DEGENERATE, Label


def strategies_of(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """Return the labels of judgements, (B, N); NaN for a prompt that could not be judged."""
    unknown = (None,) * num_samples
    return np.array([one.labels_N or unknown for one in judgements], dtype=np.float64)


def families_of(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """Return the families of judgements, (B, N); NaN for a prompt without families."""
    unknown = (None,) * num_samples
    return np.array([one.families_N or unknown for one in judgements], dtype=np.float64)


def names_of(judgement: Judgement, num_samples: int) -> list[Label]:
    """Return the names that a judge gave to the samples of a prompt; numbers without names."""
    if judgement.labels_N is None:
        return [None] * num_samples
    names = judgement.names_N or [None] * num_samples
    pairs = zip(names, judgement.labels_N, strict=True)
    return [label if label == DEGENERATE else name or label for name, label in pairs]
