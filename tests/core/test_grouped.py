"""Flat batches: what `Method.advantages` gives of each group by itself, in the given order."""

import re

import numpy as np
import pytest

from setrl import DEGENERATE, Method, grouped_advantages, methods, objectives

SIZES = {"x": 6, "y": 3, "z": 8, "alone": 1, "w": 6}


pytestmark = pytest.mark.filterwarnings("ignore:.* groups (gets|get) advantages of 0:UserWarning")


@pytest.fixture
def flat():
    """Samples of five prompts in a random order, some without a reward or a strategy."""
    rng = np.random.default_rng(0)
    groups = rng.permutation([name for name, size in SIZES.items() for _ in range(size)])
    rewards = rng.integers(0, 3, len(groups)) / 2
    strategies = rng.integers(DEGENERATE, 3, len(groups)).astype(float)
    rewards[3], strategies[5] = np.nan, np.nan
    return rewards, groups, strategies


def one_by_one(rewards, groups, strategies, method):
    """The definition: each prompt by itself."""
    values = np.empty(len(rewards))
    for name in SIZES:
        at = groups == name
        if at.sum() < method.fewest_samples:
            values[at] = 0
            continue
        dense = method.advantages(rewards[at][None], strategies=strategies[at][None])
        values[at] = dense.values_BN[0]
    return values


@pytest.mark.parametrize(
    "method",
    [methods.poly_epo(3), methods.grpo(), methods.maxpo(2), methods.pkpo(3), methods.grpo_div()],
    ids=lambda method: method.name,
)
def test_each_prompt_is_credited_by_itself(flat, method):
    rewards, groups, strategies = flat
    got = grouped_advantages(rewards, groups, method, strategies=strategies)
    assert np.ptp(got) > 0
    want = one_by_one(rewards, groups, strategies, method)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


def test_the_order_of_samples_and_the_names_of_groups_do_not_matter(flat):
    rewards, groups, strategies = flat
    method, order = methods.poly_epo(3), np.random.default_rng(1).permutation(len(rewards))
    got = grouped_advantages(rewards, groups, method, strategies=strategies)
    moved = grouped_advantages(rewards[order], groups[order], method, strategies=strategies[order])
    np.testing.assert_allclose(moved, got[order], rtol=0, atol=1e-15)
    _, numbers = np.unique(groups, return_inverse=True)
    renamed = grouped_advantages(rewards, -7 * numbers, method, strategies=strategies)
    np.testing.assert_array_equal(renamed, got)


def test_tensors_lists_and_object_arrays(flat):
    torch = pytest.importorskip("torch")

    rewards, groups, strategies = flat
    method = methods.poly_epo(3)
    want = grouped_advantages(rewards, groups, method, strategies=strategies)
    _, numbers = np.unique(groups, return_inverse=True)
    tensors = [torch.tensor(values) for values in (rewards, numbers, strategies)]
    got = grouped_advantages(*tensors[:2], method, strategies=tensors[2])
    assert isinstance(got, torch.Tensor)
    np.testing.assert_array_equal(got.numpy(), want)
    labels = [None if np.isnan(label) else int(label) for label in strategies]
    listed = grouped_advantages(rewards.tolist(), groups.astype(object), method, strategies=labels)
    np.testing.assert_array_equal(listed, want)


def test_answers_that_are_texts():
    voting = Method("vote", objectives.majority(), set_size=2)
    rewards, groups = np.array([1.0, 0, 1, 0, 1]), np.array([1, 2, 1, 1, 2])
    answers = ["4", "5", "4", "5", "6"]
    got = grouped_advantages(rewards, groups, voting, answers=answers)
    dense = voting.advantages(np.array([[1.0, 1, 0]]), answers=np.array([["4", "4", "5"]]))
    np.testing.assert_array_equal(got[[0, 2, 3]], dense.values_BN[0])
    assert (got[[1, 4]] == 0).all()  # two samples are one set, with nothing to compare it with


@pytest.mark.parametrize("kind", [list, np.array])
def test_strategies_may_be_names(kind):
    rewards, groups, method = np.array([1.0, 0, 1, 0]), ["a"] * 4, methods.poly_epo(2)
    named = grouped_advantages(rewards, groups, method, strategies=kind(["x", "y", "x", "z"]))
    numbered = grouped_advantages(rewards, groups, method, strategies=[0, 1, 0, 2])
    np.testing.assert_array_equal(named, numbered)


@pytest.mark.parametrize(
    ("groups", "set_size"), [(["a", "b", "c", "d"], 2), (["a", "a", "b", "b"], 4)]
)
def test_groups_that_are_all_too_small_give_zeros_and_a_warning(groups, set_size):
    method, rewards, labels = methods.poly_epo(set_size), np.array([1.0, 0, 1, 0]), np.arange(4)
    count = len(set(groups))
    message = (
        f"{count} of {count} groups get advantages of 0: .* needs {set_size + 1} usable samples"
    )
    with pytest.warns(UserWarning, match=message):
        values_M = grouped_advantages(rewards, groups, method, strategies=labels)
    np.testing.assert_array_equal(values_M, np.zeros(4))


def test_one_group_that_is_too_small_is_counted_and_the_others_have_credit():
    with pytest.warns(UserWarning, match=r"1 of 2 groups gets .* needs 3 usable samples, .* has 1"):
        values_M = grouped_advantages([1.0, 0, 1, 0], ["a", "b", "b", "b"], methods.maxpo(2))
    assert values_M[0] == 0
    assert values_M[1:].any()


def test_groups_that_are_large_enough_warn_of_nothing(recwarn):
    assert grouped_advantages([1.0, 0, 0], ["b", "b", "b"], methods.maxpo(2)).any()
    assert not recwarn


def test_nothing_gives_nothing():
    assert grouped_advantages(np.zeros(0), [], methods.maxpo(4)).shape == (0,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups_M": [1, 2]}, "rewards must have the length 2 of groups_M, got 4"),
        ({"strategies": [1, 2]}, "strategies must have the length 4 of groups_M, got 2"),
        ({"rewards_M": np.zeros((2, 2))}, "rewards must have shape (M,), one for each sample"),
        ({"method": "maxpo"}, "method must be a value such as methods.poly_epo(set_size=4)"),
        ({"method": methods.poly_epo(2)}, "the objective reads strategies"),
        ({"strategy": [0, 1, 0, 0]}, "unknown argument 'strategy'; did you mean 'strategies'"),
        ({"pairs": np.eye(4)}, "unknown argument 'pairs'"),
    ],
)
def test_wrong_arguments_are_named(changes, message):
    usual = {"rewards_M": np.zeros(4), "groups_M": [1, 1, 1, 2], "method": methods.grpo()}
    with pytest.raises(ValueError, match=re.escape(message)):
        grouped_advantages(**{**usual, **changes})
