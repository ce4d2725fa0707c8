"""The standard error of sampled sets before they are drawn, against every possible draw."""

from itertools import combinations

import numpy as np
import pytest

from setrl import Samples, credit, objectives
from setrl.core.credit.designs import all_sets
from setrl.core.credit.estimators import score_sets
from tests.core.catalogue import cases, samples_of

N, K, S = 4, 2, 4


def error_over_all_designs(objective, samples):
    """Root mean square of (u − v estimated from S sets) − (u − v), given 0 < m < S."""
    sets_SK = all_sets(N, K)
    scores_BS = score_sets(objective, samples, sets_SK)
    member_SN = (sets_SK[:, :, None] == np.arange(N)).any(axis=1)
    exact_BN = difference(scores_BS, member_SN)
    squares = [[] for _ in range(N)]
    for drawn in map(list, combinations(range(len(sets_SK)), S)):
        held_N = member_SN[drawn].sum(axis=0)
        with np.errstate(invalid="ignore"):
            error_BN = difference(scores_BS[:, drawn], member_SN[drawn]) - exact_BN
        for i in np.flatnonzero((held_N > 0) & (held_N < S)):
            squares[i].append(error_BN[:, i] ** 2)
    return np.sqrt(np.mean([np.mean(of_i, axis=0) for of_i in squares], axis=0))


def difference(scores_BS, member_SN):
    with_BN = scores_BS @ member_SN / member_SN.sum(axis=0)
    return with_BN - scores_BS @ ~member_SN / (~member_SN).sum(axis=0)


@pytest.mark.parametrize(
    "objective",
    [objectives.any_correct(), objectives.max(), objectives.soft_any(), objectives.polychromic()],
)
def test_equals_the_error_over_all_designs(objective):
    """With the variance in closed form, and from scored sets."""
    samples = samples_of(cases(N))
    want = error_over_all_designs(objective, samples)
    found = credit.sampling_stderr(objective, samples, K, S)
    np.testing.assert_allclose(found, want, atol=1e-7)


def test_equals_the_spread_of_drawn_estimates_where_sets_are_many():
    rng = np.random.default_rng(0)
    samples = samples_of(cases(20))
    objective, k, num_sets = objectives.any_correct(), 5, 200
    exact = objective.set_means(samples, k).contrast_BN
    sampled = credit.Sampled(num_sets)
    errors = [sampled(objective, samples, k, rng).means.contrast_BN - exact for _ in range(300)]
    found = np.sqrt(np.mean(np.square(errors), axis=(0, 2)))
    want = credit.sampling_stderr(objective, samples, k, num_sets)
    assert want.max() > 0.01
    np.testing.assert_allclose(found, want, rtol=0.06, atol=1e-3)


def test_the_sets_that_are_needed_give_the_wanted_error():
    samples = samples_of(cases(40))
    for objective in (objectives.max(), objectives.polychromic()):
        needed = credit.sets_needed(objective, samples, 8, 0.01, rng=np.random.default_rng(0))
        assert needed.max() > 500
        for b in np.flatnonzero(needed > 50):
            found = credit.sampling_stderr(
                objective, samples, 8, int(needed[b]), rng=np.random.default_rng(0)
            )
            assert found[b] == pytest.approx(0.01, rel=0.02)


def test_more_sets_than_there_are_is_never_needed():
    samples = samples_of(cases(6))
    needed = credit.sets_needed(objectives.max(), samples, 3, 1e-9)
    assert needed.max() == 20
    assert credit.sampling_stderr(objectives.max(), samples, 3, 20).max() == pytest.approx(0)


def test_more_sets_than_floats():
    """C(3000, 1500) sets, of which 7/8 hold one of three correct samples: s² is 7/64."""
    samples = Samples(np.arange(3000)[None] % 1000 == 0)
    any_correct = objectives.any_correct()
    found = credit.sampling_stderr(any_correct, samples, 1500, 100)
    assert found[0] == pytest.approx(np.sqrt(4 * 7 / 64 / 100), rel=0.01)
    needed = credit.sets_needed(any_correct, samples, 1500, 0.05)
    assert needed[0] == pytest.approx(4 * 7 / 64 / 0.05**2, abs=1.5)


def test_nonsense_is_refused():
    samples = samples_of(cases(6))
    with pytest.raises(ValueError, match=r"num_sets must be in \[2, 20.0\], got 21"):
        credit.sampling_stderr(objectives.max(), samples, 3, 21)
    with pytest.raises(ValueError, match="stderr must be positive and finite, got 0"):
        credit.sets_needed(objectives.max(), samples, 3, 0)
    with pytest.raises(ValueError, match="needs rng"):
        credit.sets_needed(objectives.polychromic(), samples_of(cases(30)), 8, 0.1)
