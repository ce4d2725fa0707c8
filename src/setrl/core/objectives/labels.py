"""The strategies of prompts as tables: their sizes, and sums over them.

What a sample gets from strategies depends on its own strategy only, apart from its own value. So it
is computed once for each strategy of a prompt, in a table, and gathered by the samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setrl.core.sums import over_rows
from setrl.samples.values import DEGENERATE


class LabelTable(NamedTuple):
    """The strategies of each prompt in the order of their labels, in a table (C, B).

    The first row has the degenerate samples, which are of no strategy. Other places may be empty,
    too: prompts have different strategies. The prompts are last, so that sums over strategies add
    up one after the other, and empty places change no bit.

    Attributes:
        at_BN: The place of each sample's strategy in the flattened table.
        size_CB: How many samples a strategy has; 0 in the first row.
        degenerate_B: How many samples are degenerate.
    """

    at_BN: np.ndarray
    size_CB: np.ndarray
    degenerate_B: np.ndarray

    def total(self, values_BN: np.ndarray) -> np.ndarray:
        """Return the sum of the samples' values over each strategy: (B, N) → (C, B)."""
        sums = np.bincount(self.at_BN.ravel(), values_BN.ravel(), minlength=self.size_CB.size)
        return sums.reshape(self.size_CB.shape)

    def gather(self, values_CB: np.ndarray) -> np.ndarray:
        """x of each sample's place in the table: (C, B) → (B, N)."""
        return np.take(values_CB, self.at_BN)

    def of_own(self, values_CB: np.ndarray) -> np.ndarray:
        """x of each sample's own strategy, 0 for a degenerate sample: (C, B) → (B, N)."""
        return self.gather(self.kept(values_CB))

    def of_all(self, values_CB: np.ndarray) -> np.ndarray:
        """Σ_c x_c over the strategies of each prompt: (C, B) → (B,)."""
        return over_rows(self.kept(values_CB))

    def others(self, values_CB: np.ndarray) -> np.ndarray:
        """Σ x over the other strategies of the prompt: (C, B) → (C, B)."""
        kept_CB = self.kept(values_CB)
        return over_rows(kept_CB) - kept_CB

    def kept(self, values_CB: np.ndarray | float) -> np.ndarray:
        """x of each strategy, 0 at places without one: (C, B) → (C, B)."""
        return np.where(self.size_CB > 0, values_CB, 0.0)

    def sizes(self, by_size: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the sizes without empty places, and the place of each strategy among them.

        Strategies come in the order of their labels, or the largest first: (B, C) and (C, B).
        """
        size_CB = self.size_CB[1:]
        order_CB = np.argsort(-size_CB if by_size else size_CB == 0, axis=0, kind="stable")
        most = max(1, int((size_CB > 0).sum(axis=0).max()))
        place_CB = np.zeros(self.size_CB.shape, dtype=np.int64)
        np.put_along_axis(place_CB[1:], order_CB, np.arange(len(order_CB))[:, None], axis=0)
        return np.take_along_axis(size_CB, order_CB, axis=0)[:most].T, place_CB


def find_labels(strategies_BN: np.ndarray) -> LabelTable:
    """Return the strategies of dense samples."""
    label_BN, num_labels = _number_labels(strategies_BN)
    num_labels = max(num_labels, 2)  # an empty strategy where all samples are degenerate
    num_prompts = len(strategies_BN)
    at_BN = label_BN * num_prompts
    at_BN += np.arange(num_prompts)[:, None]
    size = np.bincount(at_BN.ravel(), minlength=num_labels * num_prompts)
    size_CB = size.reshape(num_labels, num_prompts)
    degenerate_B = size_CB[0].copy()
    size_CB[0] = 0
    return LabelTable(at_BN, size_CB, degenerate_B)


def count_distinct(strategies: np.ndarray) -> np.ndarray:
    """Return how many different labels the last axis has, without `DEGENERATE`: (…, K) → (…)."""
    ordered = np.sort(strategies, axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return (first & (ordered != DEGENERATE)).sum(axis=-1).astype(np.float64)


def _number_labels(strategies_BN: np.ndarray) -> tuple[np.ndarray, int]:
    """Return labels from 1, 0 for degenerate samples, and one more than the largest.

    Labels that lie close together only move, in O(N); others, such as hashes, are ranked.
    """
    low, high = int(strategies_BN.min()), int(strategies_BN.max())
    move = 1 - max(low, 0)  # DEGENERATE becomes 0
    if high + move <= 4 * strategies_BN.shape[1]:
        return strategies_BN + move, high + move + 1
    order_BN = np.argsort(strategies_BN, axis=1)
    ordered_BN = np.take_along_axis(strategies_BN, order_BN, axis=1)
    starts_BN = np.ones(ordered_BN.shape, dtype=bool)
    starts_BN[:, 1:] = ordered_BN[:, 1:] != ordered_BN[:, :-1]
    starts_BN[:, 0] = ordered_BN[:, 0] != DEGENERATE
    label_BN = np.empty(strategies_BN.shape, dtype=np.int64)
    np.put_along_axis(label_BN, order_BN, np.cumsum(starts_BN, axis=1), axis=1)
    return label_BN, int(label_BN.max()) + 1
