"""Shared prefixes against all pairs."""

from itertools import combinations

import numpy as np
import pytest

from setrl.evaluate.estimators import mean_shared_prefix


def texts(seed, n=6, letters="ab", longest=5):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(0, longest + 1))) for _ in range(n)]


def shared(first, second):
    return max(t for t in range(len(first) + 1) if second.startswith(first[:t]))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_it_is_the_mean_over_pairs(seed, n):
    samples = texts(seed, n)
    pairs = [shared(*pair) for pair in combinations(samples, 2)]
    assert mean_shared_prefix(samples) == pytest.approx(np.mean(pairs))
    assert mean_shared_prefix(samples[::-1]) == mean_shared_prefix(samples)
    tokens = [[ord(letter) for letter in text] for text in samples]
    assert mean_shared_prefix(tokens) == mean_shared_prefix(samples)


def test_ends():
    assert np.isnan(mean_shared_prefix([]))
    assert np.isnan(mean_shared_prefix(["abc"]))
    assert mean_shared_prefix(["abc", "abc", "abc"]) == 3
    assert mean_shared_prefix(["", ""]) == 0


def test_many_long_samples_take_no_pairs():
    """A hundred thousand pairs of ten thousand tokens; the comparisons are of neighbours only."""
    rng = np.random.default_rng(0)
    stem = rng.integers(0, 9, 10_000).tolist()
    samples = [[*stem[:cut], 10 + i] for i, cut in enumerate(rng.integers(0, 10_000, 500))]
    cuts = np.sort([len(sample) - 1 for sample in samples])
    expected = sum(cut * (499 - i) for i, cut in enumerate(cuts)) / (500 * 499 / 2)
    assert mean_shared_prefix(samples) == pytest.approx(expected)
