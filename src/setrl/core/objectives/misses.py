"""Mean scores of diversities that are made of chances to miss strategies, times a mean."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from setrl.core.objectives.base import SetMeans
from setrl.core.objectives.chances import chances
from setrl.core.objectives.labels import LabelTable
from setrl.core.objectives.rewards import centre
from setrl.core.sums import over_rows, total


class Misses(NamedTuple):
    """A diversity as chances to miss: of the strategies of a prompt,

    constant + each·Σ_c 1{S misses c} + rest·Σ_c 1{S misses all but c} + none·1{S misses all}.
    """

    constant_B: np.ndarray
    each: float = 0.0
    rest: float = 0.0
    none_B: np.ndarray | float | None = None


def times_mean(
    form: Misses, values_BN: np.ndarray, strategies: LabelTable, set_size: int
) -> SetMeans:
    """Return the means of (the diversity) · (1/K) Σ_{i∈S} xᵢ; O(N + C)."""
    n, k = values_BN.shape[-1], set_size
    mean_B, contrast_BN = centre(values_BN)
    values = _Values.of(values_BN, strategies)
    constant_B = form.constant_B / k
    slope_B = constant_B * (n / max(n - 1, 1))
    contrast_BN *= slope_B[:, None]
    mean_B = k * constant_B * mean_B
    size_B = np.abs(slope_B) * (values.high_B - values.low_B)
    for factor, line in _list_terms(form, values, strategies, k):
        part_BN = strategies.gather(factor * line.slope_CB)
        part_BN *= values_BN
        part_BN += strategies.gather(factor * line.level_CB)
        contrast_BN += part_BN
        mean_B = mean_B + factor * line.mean_B
        size_B = size_B + np.abs(factor) * line.size_B
    return SetMeans.around(mean_B, contrast_BN, k, size_B=size_B)


class _Values(NamedTuple):
    """The values of the samples, as the tables need them; `reach_B` is Σ |xᵢ|."""

    total_CB: np.ndarray
    sum_B: np.ndarray
    reach_B: np.ndarray
    low_B: np.ndarray
    high_B: np.ndarray
    num_samples: int

    @staticmethod
    def of(values_BN: np.ndarray, strategies: LabelTable) -> _Values:
        low_B, high_B, sum_B = values_BN.min(axis=1), values_BN.max(axis=1), total(values_BN)
        reach_B = sum_B if low_B.min() >= 0 else total(np.abs(values_BN))
        return _Values(
            strategies.total(values_BN), sum_B, reach_B, low_B, high_B, values_BN.shape[1]
        )


class _Line(NamedTuple):
    """U, and u − v = slope·xᵢ + level, of a sum R(S)·1{…}, R(S) = Σ_{i∈S} xᵢ.

    Attributes:
        slope_CB: A number for each strategy; the first row is for degenerate samples.
        level_CB: As `slope_CB`.
        mean_B: U.
        size_B: How large the numbers are that u − v is added up from.
    """

    slope_CB: np.ndarray
    level_CB: np.ndarray
    mean_B: np.ndarray
    size_B: np.ndarray


def _list_terms(
    form: Misses, values: _Values, strategies: LabelTable, set_size: int
) -> Iterator[tuple[np.ndarray | float, _Line]]:
    """Yield the terms of the diversity, with their factors."""
    if form.each:
        yield form.each / set_size, _line_missing_each(values, strategies, set_size)
    if form.rest:
        yield form.rest / set_size, _line_missing_each_rest(values, strategies, set_size)
    if form.none_B is not None:
        yield form.none_B / set_size, _line_missing_all(values, strategies, set_size)


def _line_missing_each(values: _Values, strategies: LabelTable, set_size: int) -> _Line:
    """Σ_c R(S)·1{S misses strategy c}."""
    group = _average_missed(values, set_size, strategies.size_CB, values.sum_B - values.total_CB)
    lines = group.lines * (strategies.size_CB > 0)
    totals = over_rows(lines)
    slope_CB, level_CB = totals[:2, None] - lines[:2]
    level_CB += strategies.kept(group.held)
    return _Line(slope_CB, level_CB, totals[2], totals[3] + _largest_held_size(strategies, group))


def _line_missing_each_rest(values: _Values, strategies: LabelTable, set_size: int) -> _Line:
    """Σ_c R(S)·1{S misses every strategy but c}: S has no strategy but c.

    "All but c" is a group too: its samples are in the other strategies of the prompt.
    """
    size_CB, is_strategy_CB = strategies.size_CB, strategies.size_CB > 0
    others_CB = size_CB.sum(axis=0) - size_CB
    group = _average_missed(values, set_size, others_CB, values.total_CB[0] + values.total_CB)
    slope_B, level_B, mean_B, size_B = over_rows(group.lines * is_strategy_CB)
    level_CB = strategies.others(group.held) + group.lines[1]
    return _Line(
        np.where(is_strategy_CB, group.lines[0], slope_B),
        np.where(is_strategy_CB, level_CB, level_B),
        mean_B,
        size_B + _largest_held_size(strategies, group),
    )


def _line_missing_all(values: _Values, strategies: LabelTable, set_size: int) -> _Line:
    """R(S)·1{S misses every strategy}: S has only degenerate samples."""
    group = _average_missed(values, set_size, strategies.size_CB.sum(axis=0), values.total_CB[0])
    slope_B, level_B, mean_B, size_B = group.lines
    is_strategy_CB = strategies.size_CB > 0
    return _Line(
        np.where(is_strategy_CB, 0.0, slope_B),
        np.where(is_strategy_CB, group.held, level_B),
        mean_B,
        np.maximum(size_B, group.held_size),
    )


def _largest_held_size(strategies: LabelTable, group: _Missed) -> np.ndarray:
    return strategies.kept(group.held_size).max(axis=0)


class _Missed(NamedTuple):
    """U and u − v of R(S)·1{S misses a group}, for each of many groups.

    For a group of m samples, where `rest` is the sum of the values outside of it, q = missed_with
    and n samples in the prompt:

        U = q[m]·K/n·rest
        u − v = q[m]·(xᵢ + g·(rest − xᵢ)),   g = (K·m − (n−K)) / ((n−1−m)·(n−K))  i not in the group
        u − v = −q[m]·K/(n−K)·rest                                                i in the group

    q·g is the chance that a set with i holds another sample and misses the group, less that chance
    for a set without i. The two are often nearly equal, and their difference would lose its digits:
    it is taken in closed form, never by subtraction.

    Attributes:
        lines: Slope and level of u − v = slope·xᵢ + level for i outside of the group, U, and the
            size of the numbers in slope·xᵢ + level. The sums of values outside of a group are
            differences: their errors go by Σ |xᵢ|.
        held: u − v for i in the group.
        held_size: How large the numbers in it are.
    """

    lines: np.ndarray
    held: np.ndarray
    held_size: np.ndarray


def _average_missed(values: _Values, set_size: int, size: np.ndarray, rest: np.ndarray) -> _Missed:
    """Return the means for groups of these sizes, with these sums of values outside of them."""
    n, k = values.num_samples, set_size
    slope, joint, mean, held = _unit_tables(n, k).take(size, axis=1)
    lines = np.empty((4, *size.shape))
    lines[0] = slope
    np.multiply(joint, rest, out=lines[1])
    np.multiply(mean, rest, out=lines[2])
    largest_B = np.maximum(values.high_B, -values.low_B)
    np.add(np.abs(joint) * values.reach_B, np.abs(slope) * largest_B, out=lines[3])
    return _Missed(lines, -held * rest, held * values.reach_B)


@lru_cache(maxsize=256)
def _unit_tables(num_samples: int, set_size: int) -> np.ndarray:
    """Return q·(1 − g), q·g, q·K/n and q·K/(n−K) for groups of 0 … n samples: (4, n + 1)."""
    n, k, table = num_samples, set_size, chances(num_samples, set_size)
    size_m = np.arange(n + 1)
    # A group of n − 1 samples leaves no third one whose value could be joined: 1 avoids 0/0 there.
    others_m = np.maximum(n - 1 - size_m, 1)
    missed_m = table.missed_with
    joint_m = missed_m * (k * size_m - table.outside) / (others_m * table.outside)
    held_m = missed_m * (k / table.outside)
    return np.stack([missed_m - joint_m, joint_m, missed_m * (k / n), held_m])
