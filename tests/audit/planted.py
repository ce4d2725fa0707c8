"""Estimators whose advantages depend on a sample's place, a group's place, or the other groups.

Each takes a batch, (B, N). Whoever wrote them knew how an audit decides, so they are no blind test.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

Array = np.ndarray


def mean(rewards: Array) -> Array:
    return rewards.mean(axis=1, keepdims=True)


def loo(rewards: Array) -> Array:
    """Return the mean of the others of the group."""
    num = rewards.shape[1]
    return (rewards.sum(axis=1, keepdims=True) - rewards) / (num - 1)


# The place of a group, and its neighbours.


def previous_mean(rewards):
    return rewards - np.roll(mean(rewards), 1, axis=0)


def next_mean(rewards):
    return rewards - np.roll(mean(rewards), -1, axis=0)


def own_and_previous_mean(rewards):
    return rewards - (mean(rewards) + np.roll(mean(rewards), 1, axis=0)) / 2


def both_neighbours(rewards):
    return rewards - (np.roll(mean(rewards), 1, axis=0) + np.roll(mean(rewards), -1, axis=0)) / 2


def opposite_group(rewards):
    return rewards - mean(rewards)[::-1]


def half_a_batch_away(rewards):
    return rewards - np.roll(mean(rewards), len(rewards) // 2, axis=0)


def minus_the_first_group(rewards):
    return rewards - mean(rewards)[:1]


def minus_the_last_group(rewards):
    return rewards - mean(rewards)[-1:]


def earlier_groups(rewards):
    sums = np.cumsum(mean(rewards), axis=0) - mean(rewards)
    return rewards - sums / np.maximum(np.arange(len(rewards)), 1)[:, None]


def groups_so_far(rewards):
    return rewards - np.cumsum(mean(rewards), axis=0) / np.arange(1, len(rewards) + 1)[:, None]


def moving_average(rewards):
    baseline, paid = 0.5, np.zeros_like(rewards)
    for row, group in enumerate(rewards):
        paid[row] = group - baseline
        baseline = 0.7 * baseline + 0.3 * group.mean()
    return paid


def moving_average_with_own(rewards):
    baseline, paid = 0.5, np.zeros_like(rewards)
    for row, group in enumerate(rewards):
        baseline = 0.7 * baseline + 0.3 * group.mean()
        paid[row] = group - baseline
    return paid


def later_groups_weigh_more(rewards):
    return (rewards - loo(rewards)) * np.arange(1, len(rewards) + 1)[:, None] / len(rewards)


def every_second_group_twice(rewards):
    return (rewards - loo(rewards)) * (1 + np.arange(len(rewards)) % 2)[:, None]


def two_baselines_in_turn(rewards):
    is_even = (np.arange(len(rewards)) % 2 == 0)[:, None]
    return rewards - np.where(is_even, loo(rewards), np.roll(mean(rewards), 1, axis=0))


def first_sample_of_previous(rewards):
    return rewards - np.roll(rewards[:, :1], 1, axis=0)


def best_of_previous(rewards):
    return rewards - np.roll(rewards.max(axis=1, keepdims=True), 1, axis=0)


def scaled_by_previous(rewards):
    return (rewards - loo(rewards)) / (1 + np.roll(mean(rewards), 1, axis=0))


def off_beside_a_solved_group(rewards):
    solved = np.roll(rewards.min(axis=1, keepdims=True), 1, axis=0)
    return (rewards - loo(rewards)) * (1 - solved)


def off_after_a_solved_group(rewards):
    solved = np.cumsum(rewards.min(axis=1)) - rewards.min(axis=1) > 0
    return np.where(solved[:, None], 0.0, rewards - mean(rewards))


def same_parity(rewards):
    paid = np.zeros_like(rewards)
    for parity in (0, 1):
        part = rewards[parity::2]
        paid[parity::2] = part - part.mean()
    return paid


def drops_repeated_groups(rewards):
    again = (rewards == np.roll(rewards, 1, axis=0)).all(axis=1, keepdims=True)
    return np.where(again, 0.0, rewards - mean(rewards))


def previous_group_sample_by_sample(rewards):
    return rewards - np.roll(rewards, 1, axis=0)


def shuffled_baselines(rewards):
    order = np.random.default_rng(3).permutation(len(rewards))
    return rewards - mean(rewards)[order]


def easy_groups_first(rewards):
    rank = np.argsort(np.argsort(-mean(rewards)[:, 0], kind="stable"), kind="stable")
    return (rewards - mean(rewards)) * (rank < (len(rewards) + 1) // 2)[:, None]


# The whole batch.


def batch_mean(rewards):
    return rewards - rewards.mean()


def other_groups(rewards):
    num = len(rewards)
    return rewards - (rewards.mean() * num - mean(rewards)) / max(num - 1, 1)


def batch_std(rewards):
    return (rewards - mean(rewards)) / (rewards.std() + 1e-6)


def whitened(rewards):
    return (rewards - rewards.mean()) / (rewards.std() + 1e-6)


def median_of_means(rewards):
    return rewards - np.median(mean(rewards))


def hardest_group_dropped(rewards):
    means = mean(rewards)
    return np.where(means == means.min(), 0.0, rewards - means)


def refilled(rewards):
    kept = np.ptp(rewards, axis=1, keepdims=True) > 0
    return (rewards - mean(rewards)) * kept * len(rewards) / max(kept.sum(), 1)


def ranked_in_batch(rewards):
    below = (rewards[:, :, None, None] > rewards).sum(axis=(2, 3))
    above = (rewards[:, :, None, None] < rewards).sum(axis=(2, 3))
    return (below - above) / rewards.size


def above_the_batch(rewards):
    return np.where(mean(rewards) > rewards.mean(), rewards - mean(rewards), 0.0)


def most_uncertain_groups(rewards):
    spread = rewards.std(axis=1)
    kept = np.argsort(-spread, kind="stable")[: (len(rewards) + 1) // 2]
    mask = np.isin(np.arange(len(rewards)), kept)[:, None]
    return (rewards - loo(rewards)) * mask


def normalised_in_pairs(rewards):
    paid = np.zeros_like(rewards)
    for start in range(0, len(rewards), 2):
        part = rewards[start : start + 2]
        paid[start : start + 2] = (part - part.mean()) / (part.std() + 1e-6)
    return paid


def shrunk_mean(rewards):
    return rewards - (0.5 * mean(rewards) + 0.5 * rewards.mean())


# The place of a sample.


def minus_the_first_sample(rewards):
    return rewards - rewards[:, :1]


def without_the_first_sample(rewards):
    return np.where(np.arange(rewards.shape[1]) > 0, rewards - mean(rewards), 0.0)


def minus_the_next_sample(rewards):
    return rewards - np.roll(rewards, -1, axis=1)


def earlier_samples(rewards):
    sums = np.cumsum(rewards, axis=1) - rewards
    return rewards - sums / np.maximum(np.arange(rewards.shape[1]), 1)


def samples_so_far(rewards):
    return rewards - np.cumsum(rewards, axis=1) / np.arange(1, rewards.shape[1] + 1)


def weighed_by_place(rewards):
    return (rewards - loo(rewards)) * np.arange(1, rewards.shape[1] + 1)


def two_halves(rewards):
    half = rewards.shape[1] // 2
    first, second = rewards[:, :half], rewards[:, half:]
    return np.concatenate([first - mean(second), second - mean(first)], axis=1)


def sorted_ranks(rewards):
    ranks = np.argsort(np.argsort(rewards, axis=1, kind="stable"), axis=1, kind="stable")
    return ranks - (rewards.shape[1] - 1) / 2


def first_best_only(rewards):
    best = rewards.argmax(axis=1)[:, None] == np.arange(rewards.shape[1])
    second = np.sort(rewards, axis=1)[:, -2:-1]
    return np.where(best, rewards - second, 0.0)


def last_samples_reward_for_all(rewards):
    return np.repeat(rewards[:, -1:], rewards.shape[1], axis=1) - 0.5


def only_while_wrong(rewards):
    """Stop after the first right sample, as a search that returns it does."""
    before = np.cumsum(rewards, axis=1) - rewards
    return np.where(before == 0, rewards - 0.5, 0.0)


# Chance and state.


def random_drop(rewards):
    return (rewards - mean(rewards)) * (np.random.random(rewards.shape) < 0.5)  # noqa: NPY002


def seeded_drop(rewards):
    kept = np.random.default_rng(1).random(rewards.shape) < 0.5
    return (rewards - loo(rewards)) * kept


def seeded_groups(rewards):
    kept = np.random.default_rng(1).random((len(rewards), 1)) < 0.5
    return (rewards - loo(rewards)) * kept


class RunningMean:
    """Subtracts the mean of all calls before."""

    __name__ = "running_mean"

    def __init__(self) -> None:
        self.total, self.number = 0.0, 1

    def __call__(self, rewards):
        baseline = self.total / self.number
        self.total, self.number = self.total + rewards.mean(), self.number + 1
        return rewards - baseline


# Labels of strategies.


def first_of_its_strategy(rewards, strategies):
    earlier = np.tril(strategies[:, :, None] == strategies[:, None, :], -1).any(axis=2)
    return np.where(earlier, 0.0, rewards)


def rare_in_the_batch(rewards, strategies):
    times = (strategies[:, :, None, None] == strategies).sum(axis=(2, 3))
    return (rewards - mean(rewards)) / times


def new_beside_the_previous(rewards, strategies):
    before = np.roll(strategies, 1, axis=0)
    known = (strategies[:, :, None] == before[:, None, :]).any(axis=2)
    return rewards - loo(rewards) + 0.5 * (rewards * ~known)


PLANTED = (
    previous_mean, next_mean, own_and_previous_mean, both_neighbours, opposite_group,
    half_a_batch_away, minus_the_first_group, minus_the_last_group, earlier_groups, groups_so_far,
    moving_average, moving_average_with_own, later_groups_weigh_more, every_second_group_twice,
    two_baselines_in_turn, first_sample_of_previous, best_of_previous, scaled_by_previous,
    off_beside_a_solved_group, off_after_a_solved_group, same_parity, drops_repeated_groups,
    previous_group_sample_by_sample, shuffled_baselines, easy_groups_first, batch_mean,
    other_groups, batch_std, whitened, median_of_means, hardest_group_dropped, refilled,
    ranked_in_batch, above_the_batch, most_uncertain_groups, normalised_in_pairs, shrunk_mean,
    minus_the_first_sample, without_the_first_sample, minus_the_next_sample, earlier_samples,
    samples_so_far, weighed_by_place, two_halves, sorted_ranks, first_best_only,
    last_samples_reward_for_all, only_while_wrong, random_drop, seeded_drop, seeded_groups,
    RunningMean(), first_of_its_strategy, rare_in_the_batch, new_beside_the_previous,
)  # fmt: skip


def reads_labels(function: Callable) -> bool:
    """Whether an estimator takes the labels of strategies."""
    return len(inspect.signature(function).parameters) > 1
