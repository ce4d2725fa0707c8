"""Label counts and diversity: unbiasedness by the law of all outcomes, in exact arithmetic."""

from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest

from setrl import mean_set_scores, objectives
from setrl.evaluate.estimators import (
    corrected_entropy,
    count_labels,
    effective_number,
)

LAWS = [
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 10), Fraction(2, 10), Fraction(7, 10)),
    (Fraction(1),),
]


def outcomes(n, size):
    """Every vector of counts."""
    if size == 1:
        return [(n,)]
    return [(m, *rest) for m in range(n + 1) for rest in outcomes(n - m, size - 1)]


def chance(counts, law):
    ways = factorial(sum(counts)) // prod(factorial(m) for m in counts)
    return ways * prod(p**m for p, m in zip(law, counts, strict=True))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_entropy_is_unbiased_for_its_first_terms(law, n):
    counts = outcomes(n, len(law))
    weights = np.array([float(chance(c, law)) for c in counts])
    terms = sum(p * (1 - p) ** r / r for p in law for r in range(1, n))
    assert weights @ corrected_entropy(counts) == pytest.approx(float(terms), abs=1e-13)


def test_the_correction_helps_and_fades():
    rng, law = np.random.default_rng(0), np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    truth = np.exp(-(law * np.log(law)).sum())
    few, many = rng.multinomial(10, law, size=4000), rng.multinomial(100_000, law, size=20)
    assert abs(np.exp(corrected_entropy(few)).mean() - truth) < 0.2
    assert effective_number(few).mean() < truth - 0.5
    np.testing.assert_allclose(np.exp(corrected_entropy(many)), effective_number(many), rtol=1e-3)


def test_order_and_padding_change_nothing():
    for measure in (effective_number, corrected_entropy):
        assert measure([[3, 1, 2]]) == pytest.approx(measure([[2, 0, 3, 1, 0]]))


def test_ends():
    assert corrected_entropy([[5, 0]]).tolist() == [0]
    assert np.isnan(corrected_entropy([[0, 0]])).all()


def test_effective_number():
    counts = [[4, 4, 4, 4], [16, 0, 0, 0], [0, 0, 0, 0], [12, 4, 0, 0]]
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    np.testing.assert_allclose(effective_number(counts), [4, 1, np.nan, np.exp(entropy)])


def test_labels_of_any_size_are_counted_in_columns_of_their_problem():
    assert count_labels([[10**12, 3, 10**12, -1], [3, 4, 5, 3]]).tolist() == [[1, 2, 0], [2, 1, 1]]
    assert count_labels(np.full((2, 3), -1)).tolist() == [[0], [0]]


@pytest.mark.parametrize("law", LAWS)
def test_differ_at_two_is_simpson_s_index_without_bias(law):
    """1 − Σ p², over all outcomes of n samples, weighted by their chance."""
    n = 6
    counts = outcomes(n, len(law))
    weights = np.array([float(chance(c, law)) for c in counts])
    labels = np.array([np.repeat(np.arange(len(law)), c) for c in counts])
    differ = mean_set_scores(np.zeros(labels.shape), objectives.differ(), [2], strategies=labels)[0]
    assert weights @ differ == pytest.approx(1 - float(sum(p * p for p in law)), abs=1e-13)
