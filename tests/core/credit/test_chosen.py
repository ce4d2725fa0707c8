"""Credit from the sets that a user chose, against Algorithm 1 in fractions."""

from itertools import combinations

import numpy as np
import pytest

from claims import scores
from claims.exact import from_sets
from setrl import credit, objectives, set_advantages

REWARDS, STRATEGIES = (1, 0, 1, 1, 0), (0, 1, 1, 2, 3)


def advantages(sets, **options):
    return set_advantages(
        [list(REWARDS)],
        objective=objectives.polychromic(),
        set_size=len(sets[0]),
        strategies=[list(STRATEGIES)],
        estimator=credit.Chosen(sets, num_samples=5),
        **options,
    )


@pytest.mark.parametrize(
    "sets",
    [
        [(0, 1), (1, 2), (3, 4)],
        [(0, 1), (0, 2), (0, 3)],  # a sample in every set, another in none
        [(2, 1), (4, 3)],
        list(combinations(range(5), 3)),
    ],
)
def test_sums_are_those_of_algorithm_1(sets):
    score = scores.polychromic(REWARDS, STRATEGIES)
    want = from_sets(score, [tuple(sorted(s)) for s in sets])(tuple(range(5)))
    found = advantages(sets, reduction="sum").values_BN[0]
    np.testing.assert_allclose(found, [float(a) for a in want], atol=1e-15)


def test_all_sets_are_enumeration():
    sets = list(combinations(range(5), 2))
    options = {"objective": objectives.polychromic(), "set_size": 2}
    whole = set_advantages([list(REWARDS)], strategies=[list(STRATEGIES)], **options)
    np.testing.assert_allclose(advantages(sets).values_BN, whole.values_BN, atol=1e-15)


def test_chosen_sets_have_no_standard_error():
    found = advantages([(0, 1), (1, 2), (3, 4)])
    assert np.isnan(found.stderr_BN).all()
    assert not found.is_exact
    assert found.estimator == "chosen (3 sets)"


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([(0, 1), (1, 2, 3)], "sets of one size"),
        ([], "sets of one size"),
        ([(0, 0)], "different samples of 0 to 4, got \\(0, 0\\)"),
        ([(0, 5)], "different samples of 0 to 4"),
        ([(-1, 2)], "different samples of 0 to 4"),
        ([(1, 2), (2, 1)], "one comes twice"),
    ],
)
def test_wrong_sets_are_refused(sets, message):
    with pytest.raises(ValueError, match=message):
        credit.Chosen(sets, num_samples=5)


def test_a_prompt_that_lacks_a_sample_is_refused():
    """Else its other samples would take the places of the chosen ones."""
    chosen = credit.Chosen([(0, 1), (1, 2)], num_samples=4)
    options = {"objective": objectives.max(), "set_size": 2, "estimator": chosen}
    with pytest.raises(ValueError, match=r"sets of 2 out of 4 samples, got set_size=2 and 3"):
        set_advantages([[1.0, np.nan, 0.0, 1.0]], **options)
