"""Sums over how many members of each class a set holds, by polynomials in the set's size.

If every sample were in the set independently with chance p = K/N, class c of m samples would give j
members with chance C(m, j) pʲ (1−p)ᵐ⁻ʲ; given that K come together, the set is uniform. So the mean
of a product of functions of the counts is the coefficient of xᴷ in a product of polynomials, one a
class, over the chance that K come. All terms are chances: nothing overflows, and nothing cancels.

A sweep up over the classes gives the products of the classes before; a sweep down gives what the
rest will be worth; both together give the share of the result that comes with j members of class c.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from setrl.core.objectives.labels import find_labels
from setrl.core.sums import over_rows

KEPT = 1 << 22  # numbers that are kept on the way up: 32 MB


class Step(NamedTuple):
    """One term of a class's polynomial: state[source] · weight · value · x^members → state[target].

    A state has phases (such as: has a class won?) and nodes (of a sum that is taken at the end).
    """

    members: int
    source: slice
    target: slice
    nodes: slice
    weight_PQB: np.ndarray
    value_B: np.ndarray | float = 1.0


def sweep(
    steps: list[list[Step]], end_PQ: np.ndarray, set_size: int, num_prompts: int
) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """Return the coefficient of xᴷ, summed over phases and nodes by `end`, and each step's part.

    The first phase starts at 1. Returns (B,), and (B,) for each step of each class: what of the
    coefficient goes through it, divided by its value.
    """
    shape = (end_PQ.shape[0], set_size + 1, end_PQ.shape[1], num_prompts)
    states = [np.zeros(shape)]
    states[0][0, 0] = 1.0
    # The second axis is the power of x, how many members the set has so far: a step shifts it.
    for of_class in steps:
        states.append(np.zeros(shape))
        for step in of_class:
            before = states[-2][step.source, : set_size + 1 - step.members, step.nodes]
            after = states[-1][step.target, step.members :, step.nodes]
            after += (step.weight_PQB * step.value_B)[:, None] * before
    worth = np.zeros(shape)
    worth[:, set_size] = end_PQ[:, :, None]
    total_B = _sum_over_prompts(states.pop()[:, set_size] * end_PQ[:, :, None])
    parts = []
    # `worth` is what a state will add to the result through the classes that are still to come, so
    # state · step · worth is the share of the result that goes through the step.
    for of_class in reversed(steps):
        worth_before, state, of_steps = np.zeros(shape), states.pop(), []
        for step in of_class:
            place = step.source, slice(set_size + 1 - step.members), step.nodes
            through = step.weight_PQB[:, None] * worth[step.target, step.members :, step.nodes]
            of_steps.append(_sum_over_prompts(state[place] * through))
            worth_before[place] += through * step.value_B
        worth = worth_before
        parts.append(of_steps)
    return total_B, parts[::-1]


def _sum_over_prompts(values: np.ndarray) -> np.ndarray:
    """Return the sum over all axes but the prompts' one: (…, B) → (B,)."""
    return over_rows(values.reshape(-1, values.shape[-1]))


class Classes(NamedTuple):
    """The classes of each prompt's samples in a fixed order, padded by classes of size 0.

    Attributes:
        at_BN: The place of each sample's class in its prompt's list.
        size_BC: How many samples each class has.
    """

    at_BN: np.ndarray
    size_BC: np.ndarray

    def mean(self, values_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each class's mean value (B, C), and each sample's value minus this mean (B, N).

        The difference is exactly 0 where all values of a class are equal.
        """
        place_BN = self.at_BN + self.size_BC.shape[1] * np.arange(len(self.at_BN))[:, None]
        base = np.zeros(self.size_BC.size)
        base[place_BN] = values_BN
        excess_BN = values_BN - base[place_BN]
        total = np.bincount(place_BN.ravel(), excess_BN.ravel(), minlength=base.size)
        mean = total / np.maximum(self.size_BC.ravel(), 1)
        return (base + mean).reshape(self.size_BC.shape), excess_BN - mean[place_BN]


def find_classes(labels_BN: np.ndarray, by_size: bool) -> Classes:
    """Return the classes of equal label, the largest first or in the order of the labels.

    Degenerate samples, if any, are a separate class, the last one.
    """
    labels = find_labels(labels_BN)
    size_BC, place_CB = labels.sizes(by_size)
    if labels.degenerate_B.any():
        place_CB[0] = size_BC.shape[1]
        size_BC = np.column_stack([size_BC, labels.degenerate_B])
    return Classes(labels.gather(place_CB), size_BC)


@lru_cache(maxsize=16)
def binomials(num_samples: int, set_size: int) -> np.ndarray:
    """C(m, j) pʲ (1−p)ᵐ⁻ʲ with p = K/N, for m from 0 to N and j from 0 to K: [m, j]."""
    # p = K/N makes K members the likeliest number, so that the chance to divide by is never tiny.
    p = set_size / num_samples
    chance_mj = np.zeros((num_samples + 1, set_size + 1))
    chance_mj[0, 0] = 1.0
    for m in range(1, num_samples + 1):
        chance_mj[m] = (1 - p) * chance_mj[m - 1]
        chance_mj[m, 1:] += p * chance_mj[m - 1, :-1]
    chance_mj.flags.writeable = False
    return chance_mj


def in_parts(
    classes: Classes,
    end_PQ: np.ndarray,
    set_size: int,
    part: Callable[[Classes, slice], tuple[np.ndarray, ...]],
) -> tuple[np.ndarray, ...]:
    """Return the results of `part` for all prompts, swept in parts that fit into memory."""
    num_prompts, num_classes = classes.size_BC.shape
    step = max(1, KEPT // ((num_classes + 1) * end_PQ.size * (set_size + 1)))
    slices = [slice(start, start + step) for start in range(0, num_prompts, step)]
    parts = [part(Classes(classes.at_BN[at], classes.size_BC[at]), at) for at in slices]
    return tuple(np.concatenate(results) for results in zip(*parts, strict=True))
