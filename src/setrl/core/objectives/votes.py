"""Majority vote: the reward of the answer that most members of a set give, and their share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import by_member, chances
from setrl.core.objectives.counting import (
    Classes,
    Step,
    binomials,
    find_classes,
    in_parts,
    sweep,
)
from setrl.core.objectives.vote_means import Ballots, mean_reward, mean_votes
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE

Ties = Literal["uniform", "first", "lexicographic"]
NO_WINNER, WINNER, EITHER = slice(0, 1), slice(1, 2), slice(0, 2)


@dataclass(frozen=True, repr=False)
class Majority(Objective):
    """f(S) = the reward of the answer that most members of S give: Set RL, Example 3.5.

    Where samples with the same answer have different rewards, their mean over the set counts. A
    member without an answer (label `DEGENERATE`) votes for nobody; where all abstain, f(S) = 0.

    Attributes:
        ties: Among answers with equally many votes, `uniform` takes the mean of their rewards,
            `lexicographic` the answer that sorts first: numbers by value, then texts. `first`, the
            answer that comes first in the set, is the same as `uniform`: a set has no order, and
            over all orders of its members each of the tied answers is as often the first.
    """

    ties: Ties = "uniform"

    reads: ClassVar[tuple[str, ...]] = ("rewards", "answers")

    def __post_init__(self) -> None:
        if self.ties not in ("uniform", "first", "lexicographic"):
            raise ValueError(
                f"ties must be 'uniform', 'first' or 'lexicographic', got {self.ties!r}"
            )

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the reward of each set's winning answer."""
        answers, rewards = members.answers, members.rewards
        votes = count_votes(answers)
        wins = (votes == votes.max(axis=-1, keepdims=True)) & (votes > 0)
        if self.ties == "lexicographic":
            first = np.where(wins, answers, np.iinfo(np.int64).max).min(axis=-1, keepdims=True)
            wins &= answers == first
        return (rewards * wins).sum(axis=-1) / np.maximum(wins.sum(axis=-1), 1)

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray | None:
        """By characteristic functions instead of polynomials; see `vote_means`."""
        if self.ties == "lexicographic":
            return None
        ballots = Ballots.count(samples.answers, samples.rewards)
        counted_BN = np.where(samples.answers == DEGENERATE, 0.0, samples.rewards)
        low_B, high_B = counted_BN.min(axis=1), counted_BN.max(axis=1)
        means = [mean_reward(ballots, k).clip(low_B, high_B) for k in set_sizes]
        return np.stack(means)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return a sum over the winning number of votes; O(K² log K · min(N, C·K)).

        Rewards are counted from the reward of the most frequent answer, which on a saturated prompt
        wins nearly always: what is left is small, and has all its digits. That reward itself counts
        in all sets with at least one vote.
        """
        lexicographic = self.ties == "lexicographic"
        votes_BN = samples.answers != DEGENERATE
        classes = find_classes(samples.answers, by_size=not lexicographic)
        reward_BC, deviation_BN = classes.mean(samples.rewards)
        num_answers = reward_BC.shape[1] - (not votes_BN.all())
        most_B1 = classes.size_BC[:, :num_answers].argmax(axis=1)[:, None]
        base_B1 = np.take_along_axis(reward_BC, most_B1, axis=1)
        nodes = _vote_nodes(set_size, lexicographic)
        above_BC = (reward_BC - base_B1)[:, :num_answers]

        def sweep_part(part: Classes, at: slice) -> tuple[np.ndarray, ...]:
            return _sweep_votes(part, above_BC[at], deviation_BN[at], nodes, set_size)

        mean_B, extra_BN, size_B = in_parts(classes, nodes.end_PQ, set_size, sweep_part)
        means = SetMeans.above(mean_B, extra_BN, set_size)
        table = chances(samples.num_samples, set_size)
        count_B = votes_BN.sum(axis=1)
        hit_BN, heard_BN = by_member(
            votes_BN,
            base_B1[:, 0] * table.hit_with(count_B),
            base_B1[:, 0] * table.hit_contrast(count_B),
        )
        return SetMeans(
            with_BN=means.with_BN + hit_BN,
            contrast_BN=means.contrast_BN + heard_BN,
            mean_B=means.mean_B + base_B1[:, 0] * table.hit[count_B],
            size_B=size_B * (samples.num_samples / table.outside) + np.abs(heard_BN).max(axis=1),
        )


@dataclass(frozen=True, repr=False)
class VoteShare(Objective):
    """f(S) = (members that give the commonest answer of S) / K: how far a set agrees."""

    reads: ClassVar[tuple[str, ...]] = ("answers",)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the votes of each set's winning answer, per member."""
        return count_votes(members.answers).max(axis=-1) / members.answers.shape[-1]

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """Return means by characteristic functions; see `vote_means`."""
        ballots = Ballots.count(samples.answers, np.zeros(samples.answers.shape))
        return np.stack([(mean_votes(ballots, k) / k).clip(0, 1) for k in set_sizes])


def count_votes(answers: np.ndarray) -> np.ndarray:
    """How many members of its set give each member's answer, 0 for none: (…, K) → (…, K)."""
    same = answers[..., :, None] == answers[..., None, :]
    return np.where(answers == DEGENERATE, 0, same.sum(axis=-1))


class _VoteNodes(NamedTuple):
    """The terms of the sum over the winning number of votes.

    Attributes:
        votes_Q: The winning number of votes, descending.
        tied_PQ: What a class with as many votes counts, before and after the winner is chosen.
        end_PQ: The weight of each term.
    """

    votes_Q: np.ndarray
    tied_PQ: np.ndarray
    end_PQ: np.ndarray


@lru_cache(maxsize=64)
def _vote_nodes(set_size: int, lexicographic: bool) -> _VoteNodes:
    """With t others tied the winner's share is 1/(1+t) = ∫₀¹ zᵗ dz, exact by Gauss–Legendre.

    In lexicographic order no class before the winner may tie, and every one after it may.
    """
    votes, points, weights = [], [], []
    for k in range(set_size, 0, -1):
        most_others = set_size // k - 1
        node, weight = np.polynomial.legendre.leggauss(1 if lexicographic else most_others // 2 + 1)
        votes += [k] * len(node)
        points += list((node + 1) / 2)
        weights += list(weight / 2)
    ones, zeros = np.ones(len(votes)), np.zeros(len(votes))
    tied_PQ = np.array([zeros, ones] if lexicographic else [points, points])
    return _VoteNodes(np.array(votes), tied_PQ, np.array([zeros, weights]))


def _sweep_votes(
    classes: Classes,
    reward_BC: np.ndarray,
    deviation_BN: np.ndarray,
    nodes: _VoteNodes,
    set_size: int,
) -> tuple[np.ndarray, ...]:
    """Return U (B,), u − U (B, N) and the size of the numbers in u − U (B,), of some prompts.

    A class that has no reward abstains.
    """
    n, k = classes.at_BN.shape[1], set_size
    chance_mj = binomials(n, k)
    steps = [
        _class_steps(chance_mj[size_B], reward_B, nodes)
        for size_B, reward_B in zip(classes.size_BC.T, reward_BC.T, strict=False)
    ]
    steps += [
        _abstaining_steps(chance_mj[size_B], nodes)
        for size_B in classes.size_BC.T[reward_BC.shape[1] :]
    ]
    total_B, parts = sweep(steps, nodes.end_PQ, k, len(reward_BC))
    extra_BC, won_BC, size_BC = np.zeros((3, *classes.size_BC.shape))
    for c, (of_class, of_steps) in enumerate(zip(steps, parts, strict=True)):
        size_B = np.maximum(classes.size_BC[:, c], 1)
        for step, part_B in zip(of_class, of_steps, strict=True):
            # Extra credit is relative to U: a sample of the class is in the set more often, given
            # that many members of its class are, than it is on average.
            share_B = step.members * n / (k * size_B)  # P(i in set | count), over P(i in set)
            wins = step.source != step.target
            extra_B = (share_B - 1) * part_B * (reward_BC[:, c] if wins else 1.0)
            extra_BC[:, c] += extra_B
            size_BC[:, c] += np.abs(extra_B)
            if wins:
                won_BC[:, c] += (
                    (size_B - step.members) / np.maximum(size_B - 1, 1) / size_B * part_B
                )
    extra_BN = np.take_along_axis(extra_BC, classes.at_BN, axis=1)
    won_BN = np.take_along_axis(won_BC, classes.at_BN, axis=1) * (n / k) * deviation_BN
    size_B = size_BC.max(axis=1) + np.abs(won_BN).max(axis=1)
    come = chance_mj[n, k]
    return total_B / come, (extra_BN + won_BN) / come, size_B / come


def _abstaining_steps(chance_Bj: np.ndarray, nodes: _VoteNodes) -> list[Step]:
    """Return the steps of samples that vote for nobody: any number of them changes nothing."""
    every = slice(0, len(nodes.votes_Q))
    return [
        Step(count, EITHER, EITHER, every, np.ones((2, every.stop, 1)) * chance_Bj[:, count])
        for count in map(int, np.flatnonzero(chance_Bj.any(axis=0)))
    ]


def _class_steps(chance_Bj: np.ndarray, reward_B: np.ndarray, nodes: _VoteNodes) -> list[Step]:
    """Return the steps of an answer: it has fewer votes than the winner, as many, or it wins."""
    steps = []
    for count in map(int, np.flatnonzero(chance_Bj.any(axis=0))):
        chance_B = chance_Bj[:, count]
        reached = int((nodes.votes_Q >= count).sum())
        beyond = int((nodes.votes_Q > count).sum())
        counted_PQ = np.ones((2, reached))
        counted_PQ[:, beyond:] = nodes.tied_PQ[:, beyond:reached]
        stay_PQB = counted_PQ[:, :, None] * chance_B
        steps.append(Step(count, EITHER, EITHER, slice(0, reached), stay_PQB))
        if beyond < reached:
            win_PQB = np.broadcast_to(chance_B, (1, reached - beyond, len(chance_B)))
            steps.append(Step(count, NO_WINNER, WINNER, slice(beyond, reached), win_PQB, reward_B))
    return steps
