"""Chances that a set misses a group of samples: all that the exact forms are made of.

Of n samples, sets of size K are drawn uniformly. For a sample i and m of the other samples:

    missed_with[m]    = C(n−1−m, K−1) / C(n−1, K−1)    a set that holds i misses all m
    missed_without[m] = C(n−1−m, K)   / C(n−1, K)      a set that does not hold i misses all m

Both are built by ratios of neighbours, which stay within 1e-12 relative of the true values at
n = 4096; logarithms of factorials do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np


@dataclass(frozen=True)
class Chances:
    """The two tables for sets of size K out of n, each of length n + 1 and indexed by m."""

    num_samples: int
    set_size: int
    missed_with: np.ndarray
    missed_without: np.ndarray

    def hit_gain(self, size_B: np.ndarray) -> np.ndarray:
        """u − w of 1{the set holds a member of a group of `size`}: (2, B), others and members.

        Only a member can be the first of its group in a set: missed_with[size − 1].
        """
        return _stack_two_rows(0.0, self.missed_with[np.maximum(size_B - 1, 0)])

    def hit_contrast(self, size_B: np.ndarray) -> np.ndarray:
        """u − v of 1{the set holds a member of a group of `size`}: (2, B), others and members.

        u − v = −size / (n − K) · missed_with[size]      for every other sample
        u − v = missed_without[size − 1]                 for a member of the group
        """
        paid_B = size_B * self.missed_with[size_B] / self.outside
        return _stack_two_rows(0.0 - paid_B, self.missed_without[np.maximum(size_B - 1, 0)])

    def hit_with(self, size_B: np.ndarray) -> np.ndarray:
        """u of 1{the set holds a member of a group of `size`}: (2, B), others and members."""
        return _stack_two_rows(1.0 - self.missed_with[size_B], 1.0)

    @cached_property
    def hit(self) -> np.ndarray:
        """The chance that a set holds a member of a group of m samples, for m = 0 … n.

            1 − C(n−m, K)/C(n, K) = Σ_{l<m} K/n · missed_with[l]

        added up from positive steps: small chances keep their digits.
        """
        n, k = self.num_samples, self.set_size
        hit = np.concatenate([[0.0], np.cumsum(self.missed_with[:n] * (k / n))])
        return np.where(np.arange(n + 1) > n - k, 1.0, np.minimum(hit, 1.0))

    @cached_property
    def top(self) -> np.ndarray:
        """The chance that a set's highest rank is this one, of n ranks in ascending order."""
        return self.missed_with[self.num_samples - 1 :: -1] * self.set_size / self.num_samples

    @cached_property
    def top_contrast(self) -> tuple[np.ndarray, np.ndarray]:
        """u − v of 1{the highest rank passes}, at thresholds that n − 1 … 1 samples pass.

        The first belongs to a sample that passes, the second to any other sample: `hit_contrast`.
        """
        others_n, passing_n = self.hit_contrast(np.arange(self.num_samples - 1, 0, -1))
        return passing_n, others_n

    @cached_property
    def top_gain(self) -> tuple[np.ndarray, np.ndarray]:
        """u − w of the same."""
        others_n, passing_n = self.hit_gain(np.arange(self.num_samples - 1, 0, -1))
        return passing_n, others_n

    @property
    def outside(self) -> float:
        """n − K, how many samples a set leaves out; NaN where it leaves none."""
        return float(self.num_samples - self.set_size) or np.nan


def _stack_two_rows(others_B: np.ndarray | float, members_B: np.ndarray | float) -> np.ndarray:
    """Return the numbers of the others and of the members as a table, (2, B)."""
    table_2B = np.empty((2, np.broadcast(others_B, members_B).size))
    table_2B[0], table_2B[1] = others_B, members_B
    return table_2B


@lru_cache(maxsize=256)
def chances(num_samples: int, set_size: int) -> Chances:
    """Return the tables for sets of `set_size` out of `num_samples`."""
    n, k = num_samples, set_size
    missed_m = np.arange(n + 1, dtype=np.float64)
    # missed_with[m+1] / missed_with[m] = (n−k−m)/(n−1−m). It is 0 from m = n − k on: a set of k
    # cannot miss more than n − k samples.
    ratio_m = np.maximum(n - k - missed_m[:-2], 0.0) / np.maximum(n - 1 - missed_m[:-2], 1.0)
    missed_with = np.zeros(n + 1)
    missed_with[:n] = np.concatenate([[1.0], np.cumprod(ratio_m)])
    # The sets without i draw one sample more from the same n − 1: one further factor, and no
    # difference of two chances near 1.
    outside = float(n - k) or np.nan
    missed_without = missed_with * np.maximum(n - k - missed_m, 0.0) / outside
    missed_with.flags.writeable = missed_without.flags.writeable = False
    return Chances(n, k, missed_with, missed_without)


def marked_chances(total: int, drawn: int) -> np.ndarray:
    """Return P(t marked among `drawn`), if m of all `total` are marked: the table [m, t].

        C(m, t)·C(total−m, drawn−t) / C(total, drawn),   m from 0 to total, t from 0 to drawn

    Each row is built by ratios of neighbours in logarithms, and scaled to sum to 1: within 1e-11
    relative at total = 4096.
    """
    m_M1, t_T = np.arange(total + 1)[:, None], np.arange(drawn + 1)
    possible_MT = (t_T <= m_M1) & (drawn - t_T <= total - m_M1)
    up_MT = (m_M1 - t_T) * (drawn - t_T)
    down_MT = (t_T + 1) * (total - m_M1 - drawn + t_T + 1)
    inside_MT = possible_MT[:, :-1] & possible_MT[:, 1:]
    ratio_MT = np.where(inside_MT, up_MT[:, :-1], 1) / np.where(inside_MT, down_MT[:, :-1], 1)
    log_MT = np.zeros(possible_MT.shape)
    np.cumsum(np.log(ratio_MT), axis=1, out=log_MT[:, 1:])
    log_MT = np.where(possible_MT, log_MT, -np.inf)
    chance_MT = np.exp(log_MT - log_MT.max(axis=1, keepdims=True))
    return chance_MT / chance_MT.sum(axis=1, keepdims=True)


def one_if_any_outside(num_samples: int, set_size: int) -> float:
    """1, or NaN where a set leaves no sample out, so that v and u − v are not defined."""
    return 1.0 if set_size < num_samples else np.nan


def by_member(held_BN: np.ndarray, *tables_2B: np.ndarray) -> list[np.ndarray]:
    """Return, from each table, the second number of its prompt for a sample that is held, else the
    first: (B, N).
    """
    num_prompts = len(held_BN)
    at_BN = held_BN * num_prompts
    at_BN += np.arange(num_prompts)[:, None]
    return [np.take(table_2B, at_BN) for table_2B in tables_2B]
