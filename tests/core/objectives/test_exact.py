"""Every closed form against enumeration by the definition, in rational arithmetic."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from claims import exact
from setrl.core.idea import Sets
from tests.core.catalogue import EXACT, cases, drawn, samples_of


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_closed_form_equals_enumeration(entry):
    """u, u − v, U and, where given, u − w and the variance; all N ≤ 8 and all K."""
    checked = 0
    for n in range(1, 9):
        listed = cases(n)[:: 4 if n > 6 else 1]  # of many sets, every fourth prompt
        scores = [cache(entry.definition(case)) for case in listed]
        for k in range(entry.smallest, n + 1):
            if entry.objective.set_size in (None, k):
                check_prompts(entry, samples_of(listed), scores, n, k)
                checked += len(listed)
    assert checked >= len(cases(8))


def check_prompts(entry, samples, scores, n, k):
    means = entry.objective.set_means(samples, k)
    want = [Sets(score, n, k) for score in scores]
    close(means.with_BN, [one.u for one in want])
    close(means.mean_B, [one.U for one in want])
    if k == n:
        assert np.isnan(means.without_BN).all()
    else:
        close(means.contrast_BN, [minus(one.u, one.v) for one in want])
    if entry.smaller and means.gain_BN is not None and k > max(entry.smallest, 1):
        close(means.gain_BN, [minus(one.u, one.w) for one in want])
    if means.variance_B is not None:
        close(means.variance_B, [one.variance for one in want])


def minus(left, right):
    return [a - b for a, b in zip(left, right, strict=True)]


def close(found, want):
    np.testing.assert_allclose(found, np.array(want, dtype=float), atol=1e-12, rtol=0)


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_scores_of_sets_equal_the_definition(entry):
    """`__call__` on all sets of all prompts at once, and on a single one."""
    n, k = 5, entry.objective.set_size or max(3, entry.smallest)
    listed = cases(n)
    sets = list(combinations(range(n), k))
    members = samples_of(listed).sets(np.array(sets))
    scores_BS = entry.objective(members)
    want = [[entry.definition(case)(s) for s in sets] for case in listed]
    close(scores_BS, want)
    alone = samples_of(listed[:1]).sets(np.array(sets[:1]))
    close(entry.objective(alone), [[want[0][0]]])


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
def test_expected_update_is_the_gradient(entry):
    """E Σᵢ ∇log π(yᵢ)(u − v) = (N/K)·∇J, by enumerating every draw of N from three actions."""
    k = entry.objective.set_size or max(2, entry.smallest)
    n, policy = k + 1, [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)]
    draws = list(product(range(3), repeat=n))
    means = entry.objective.set_means(samples_of([drawn(draw) for draw in draws]), k)
    chance_D = np.array([float(exact.probability(draw, policy)) for draw in draws])
    one_hot_DNA = np.eye(3)[np.array(draws)] - np.array(policy, dtype=float)
    expected = np.einsum("d,dn,dna->a", chance_D, means.contrast_BN, one_hot_DNA)
    score = cache(lambda draw: entry.definition(drawn(draw))(tuple(range(k))))
    want = [Fraction(n, k) * g for g in exact.logit_gradient(score, policy, k)]
    np.testing.assert_allclose(expected, np.array(want, dtype=float), atol=1e-12)
