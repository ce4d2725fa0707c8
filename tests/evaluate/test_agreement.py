"""Agreement, against its definitions by enumeration and scikit-learn."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import isnan, nan

import numpy as np
import pytest

from setrl.evaluate.judge_audit import agreement, flips

LABELINGS = [
    (first, second)
    for size in (2, 3, 4)
    for first in product(range(-1, 2), repeat=size)
    for second in product(range(-1, 3), repeat=size)
]
SOME = LABELINGS[:: len(LABELINGS) // 1000]


def alone(labels):
    """Each degenerate sample with a label that no other has."""
    return [100 + place if label == -1 else label for place, label in enumerate(labels)]


def pairs(labels):
    names = alone(labels)
    return {(i, j) for i, j in combinations(range(len(names)), 2) if names[i] == names[j]}


def flips_by_enumeration(first, second):
    """The fewest changes of `first` after which it is `second` under some renaming."""
    names, targets = sorted({*first} - {-1}), sorted({*second} - {-1})
    targets += [f"unused {place}" for place in range(len(names))]
    best = 0
    for choice in permutations(targets, len(names)):
        renamed = dict(zip(names, choice, strict=True)) | {-1: -1}
        best = max(best, sum(renamed[a] == b for a, b in zip(first, second, strict=True)))
    return Fraction(len(first) - best, len(first))


def rand_by_definition(first, second):
    """(both − e) / (mean − e), e = first · second / pairs; 0/0 of equal partitions is 1."""
    ours, theirs, every = pairs(first), pairs(second), len(first) * (len(first) - 1) // 2
    expected = Fraction(len(ours) * len(theirs), every)
    largest = Fraction(len(ours) + len(theirs), 2)
    apart = largest - expected
    return (len(ours & theirs) - expected) / apart if apart else 1


def test_rand_index_is_its_definition_with_degenerate_samples_alone():
    large = np.random.default_rng(0).integers(-1, 6, size=(20, 2, 60)).tolist()
    for first, second in (*SOME, *large):
        expected = float(rand_by_definition(first, second))
        assert agreement(first, second).adjusted_rand == pytest.approx(expected, abs=1e-12)


def test_pairwise_scores_are_counts_of_pairs():
    for first, second in SOME:
        ours, theirs, found = pairs(first), pairs(second), agreement(first, second)
        both = len(ours & theirs)
        whole = len(ours) + len(theirs)
        assert found.precision == pytest.approx(both / len(ours) if ours else nan, nan_ok=True)
        assert found.recall == pytest.approx(both / len(theirs) if theirs else nan, nan_ok=True)
        assert found.f1 == pytest.approx(2 * both / whole if whole else nan, nan_ok=True)


def test_flips_are_the_fewest_changes_under_any_renaming():
    for first, second in SOME:
        expected = float(flips_by_enumeration(first, second))
        assert flips(first, second) == pytest.approx(expected, abs=1e-12)
        assert flips(second, first) == pytest.approx(expected, abs=1e-12)


def test_renaming_and_reordering_change_nothing():
    rng = np.random.default_rng(1)
    first, second = rng.integers(-1, 4, size=(2, 25))
    order = rng.permutation(25)
    renamed = np.where(first == -1, -1, (first + 1) % 4 + 7)
    assert agreement(renamed[order], second[order]) == agreement(first, second)


def test_flips_tell_degenerate_from_alone_and_pairs_do_not():
    found = agreement([0, 0, -1], [0, 0, 1])
    assert found.adjusted_rand == found.f1 == 1.0
    assert found.flips == pytest.approx(1 / 3)


def test_equal_partitions_agree_whatever_they_are():
    for labels in ([0, 0, 0], [0, 1, 2], [-1, -1, -1], [0, 1, 0]):
        assert agreement(labels, labels).adjusted_rand == 1.0
        assert flips(labels, labels) == 0.0
    assert isnan(agreement([0, 1, 2], [0, 1, 2]).f1)


def test_what_is_undefined_is_nan():
    assert isnan(agreement([0], [0]).adjusted_rand)
    assert isnan(flips([], []))
    assert flips([0], [-1]) == 1.0


def test_labelings_of_different_samples_are_refused():
    with pytest.raises(ValueError, match=r"of the same samples, got \(2,\) and \(3,\)"):
        agreement([0, 1], [0, 1, 1])
