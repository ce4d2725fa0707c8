"""Prefix trees against all pairs and all subsets."""

from itertools import combinations

import numpy as np
import pytest

from setrl.evaluate.branching import branches_by_position, mean_shared_prefix, prefix_tree
from tests.subsets import mean_over_subsets


def texts(seed, n=6, letters="ab", longest=5):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(0, longest + 1))) for _ in range(n)]


def shared(first, second):
    return max(t for t in range(len(first) + 1) if second.startswith(first[:t]))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [2, 3, 7])
def test_mean_shared_prefix_is_the_mean_over_pairs(seed, n):
    samples = texts(seed, n)
    pairs = [shared(*pair) for pair in combinations(samples, 2)]
    assert mean_shared_prefix(samples) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [None, 1, 2, 4, 6])
def test_branches_are_the_different_prefixes_of_all_subsets(seed, k):
    samples = texts(seed)
    got = branches_by_position(samples, k)
    expected = [
        float(mean_over_subsets(lambda s, t=t: len({samples[i][:t] for i in s}), 6, k or 6))
        for t in range(1, max(map(len, samples)) + 1)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_tokens_are_as_characters():
    samples = texts(3, 9)
    tokens = [[ord(letter) for letter in text] for text in samples]
    assert mean_shared_prefix(tokens) == mean_shared_prefix(samples)
    assert branches_by_position(tokens).tolist() == branches_by_position(samples).tolist()


def test_order_changes_nothing():
    samples = texts(4, 9)
    back = samples[::-1]
    assert mean_shared_prefix(back) == pytest.approx(mean_shared_prefix(samples))
    assert branches_by_position(back).tolist() == branches_by_position(samples).tolist()


def test_branches_never_fall_and_end_at_the_different_samples():
    samples = texts(5, 40, "abc", 6)
    values = branches_by_position(samples)
    assert (np.diff(values) >= 0).all()
    assert values[-1] == len(set(samples))


def test_ends():
    assert np.isnan(mean_shared_prefix(["abc"]))
    assert mean_shared_prefix(["abc", "abc", "abc"]) == 3
    assert branches_by_position(["abc", "abc"]).tolist() == [1, 1, 1]
    assert branches_by_position(["ab", "abc"]).tolist() == [1, 1, 2]
    assert branches_by_position(["", ""]).tolist() == []
    with pytest.raises(ValueError, match="at least one sample"):
        prefix_tree([])
    with pytest.raises(ValueError, match=r"k must be in \[1, 2\].*got 3"):
        branches_by_position(["a", "b"], 3)


def test_many_long_samples_take_no_pairs():
    """A hundred thousand pairs of ten thousand tokens; the comparisons are of neighbours only."""
    rng = np.random.default_rng(0)
    stem = rng.integers(0, 9, 10_000).tolist()
    samples = [[*stem[:cut], 10 + i] for i, cut in enumerate(rng.integers(0, 10_000, 500))]
    cuts = np.sort([len(sample) - 1 for sample in samples])
    expected = sum(cut * (499 - i) for i, cut in enumerate(cuts)) / (500 * 499 / 2)
    assert mean_shared_prefix(samples) == pytest.approx(expected)
