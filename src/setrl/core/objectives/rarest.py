"""The rarest strategy that succeeds: the objective that the Set RL note calls f_srl, in two forms.

With right and wrong samples it has a closed form; with graded rewards its sets are enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.counting import Classes, Step, binomials, find_classes, in_parts, sweep
from setrl.core.objectives.labels import find_labels
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE

ALL = slice(0, 1)  # the one phase that there is


@dataclass(frozen=True, repr=False)
class RarestCorrect(Objective):
    """f(S) = max of 1 / |{j∈S : cⱼ = cᵢ}| over the correct i∈S, and 0 without one: Set RL, §5.

    A degenerate sample has no strategy, and earns nothing.
    """

    reads: ClassVar[tuple[str, ...]] = ("correct", "strategies")

    def __call__(self, members: Samples) -> np.ndarray:
        """One over the size of the smallest strategy with a correct member."""
        size = _strategy_sizes(members.strategies)
        return np.where(self._can_earn(members), 1 / size, 0.0).max(axis=-1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Σₖ (1/k − 1/(k+1))·P(a strategy with a correct member has at most k); O(K²·min(N, C·K)).

        The sum over k from 1 to K, with 1/K for the last.
        """
        correct_BN = self._can_earn(samples)
        classes = find_classes(_label_succeeding(samples.strategies, correct_BN), by_size=True)

        def sweep_part(part: Classes, at: slice) -> tuple[np.ndarray, np.ndarray]:
            return _sweep_rare(part, correct_BN[at], set_size)

        mean_B, extra_BN = in_parts(classes, _size_weights(set_size)[None], set_size, sweep_part)
        return SetMeans.above(mean_B, extra_BN, set_size)

    def _can_earn(self, samples: Samples) -> np.ndarray:
        return samples.right & (samples.strategies != DEGENERATE)


@dataclass(frozen=True, repr=False)
class RarestReward(Objective):
    """f(S) = max of rᵢ / |{j∈S : cⱼ = cᵢ}| over i∈S: Set RL, §5, for graded rewards of at least 0.

    For rewards of 0 and 1 it is `rarest_correct`, which has a closed form. A degenerate sample has
    no strategy, and earns nothing.
    """

    reads: ClassVar[tuple[str, ...]] = ("rewards", "strategies")

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the best reward, where the members of a strategy share what one of them earns."""
        if (members.rewards < 0).any():
            raise ValueError(
                f"rarest_reward needs rewards of at least 0, got {members.rewards.min():g}"
            )
        shares = members.rewards / _strategy_sizes(members.strategies)
        return np.where(members.strategies != DEGENERATE, shares, 0.0).max(axis=-1)


def _strategy_sizes(strategies: np.ndarray) -> np.ndarray:
    """Return how many members of its set are in each member's strategy, (…, K)."""
    return (strategies[..., :, None] == strategies[..., None, :]).sum(axis=-1)


def _label_succeeding(strategies_BN: np.ndarray, correct_BN: np.ndarray) -> np.ndarray:
    """Labels from 1 of the strategies that have a correct member, and 0 for all other samples."""
    labels = find_labels(strategies_BN)
    succeeds_BN = labels.of_own(labels.total(correct_BN)) > 0
    return np.where(succeeds_BN, strategies_BN + 1, 0)


def _size_weights(set_size: int) -> np.ndarray:
    """1/k − 1/(k+1) for k = 1 … K, with 1/K for the last; they sum to 1."""
    k_Q = np.arange(1, set_size + 1)
    return 1 / k_Q - np.append(1 / k_Q[1:], 0.0)


def _sweep_rare(
    classes: Classes, correct_BN: np.ndarray, set_size: int
) -> tuple[np.ndarray, np.ndarray]:
    """U (B,) and u − U (B, N), from P(no strategy with a correct member has at most k)."""
    n, k = classes.at_BN.shape[1], set_size
    right_BC = np.zeros(classes.size_BC.shape, dtype=np.int64)
    np.add.at(right_BC, (np.arange(len(correct_BN))[:, None], classes.at_BN), correct_BN)
    terms = [
        _class_terms(size_B, right_B, n, k)
        for size_B, right_B in zip(classes.size_BC.T, right_BC.T, strict=True)
    ]
    steps = [[term.step for term in of_class] for of_class in terms]
    none_B, parts = sweep(steps, _size_weights(k)[None], k, len(correct_BN))
    extra_2BC = np.zeros((2, *right_BC.shape))
    for c, (of_class, of_steps) in enumerate(zip(terms, parts, strict=True)):
        for term, part_B in zip(of_class, of_steps, strict=True):
            extra_2BC[0, :, c] -= term.wrong_B * part_B
            extra_2BC[1, :, c] -= term.right_B * part_B
    wrong_BN, right_BN = np.take_along_axis(extra_2BC, classes.at_BN[None], axis=2)
    come = binomials(n, k)[n, k]
    return 1 - none_B / come, np.where(correct_BN, right_BN, wrong_BN) / come


class _Term(NamedTuple):
    """A step, and P(i in the set | step) / P(i in the set) − 1 for correct and for wrong i."""

    step: Step
    right_B: np.ndarray
    wrong_B: np.ndarray


def _class_terms(size_B: np.ndarray, right_B: np.ndarray, n: int, k: int) -> list[_Term]:
    """Return a strategy's terms, by how many members a set holds: 0, over k, or up to k wrong."""
    chance_mj = binomials(n, k)
    wrong_B = size_B - right_B
    no_right_B = chance_mj[right_B, 0]
    terms = []
    for members in range(min(k, int(size_B.max())) + 1):
        any_B = members * n / (k * np.maximum(size_B, 1)) - 1
        free = slice(0, members - 1) if members else slice(0, k)
        free_PQB = np.broadcast_to(chance_mj[size_B, members], (1, free.stop, len(size_B)))
        terms.append(_Term(Step(members, ALL, ALL, free, free_PQB), any_B, any_B))
        if members:
            held = slice(members - 1, k)
            chance_B = chance_mj[wrong_B, members] * no_right_B
            held_PQB = np.broadcast_to(chance_B, (1, k - members + 1, len(size_B)))
            of_wrong_B = members * n / (k * np.maximum(wrong_B, 1)) - 1
            never_B = np.full(len(size_B), -1.0)
            terms.append(_Term(Step(members, ALL, ALL, held, held_PQB), never_B, of_wrong_B))
    return terms
