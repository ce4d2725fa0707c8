"""Diminishing and speculars, against subsets tried one by one in rational arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from claims import exact
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective
from studies.specular import diminish, is_specular, scores_dissimilarity, smallest_speculars


def dissimilarity(num_actions, set_size):
    table = ActionTable(np.zeros(num_actions), clusters=range(num_actions))
    return TabularObjective(objectives.differ(), table, set_size)


def poly(set_size, rewards=(1, 1, 0, 0)):
    table = ActionTable(rewards, clusters=range(len(rewards)))
    return TabularObjective(objectives.polychromic(), table, set_size)


def by_hand(score, policy, set_size, action):
    """All smallest specular sets, each policy diminished and each advantage taken exactly."""
    if exact.advantages(score, policy, set_size)[action] <= 0:
        return ()
    others = [a for a in range(len(policy)) if a != action]
    for size in range(1, len(others)):
        found = []
        for removed in combinations(others, size):
            left = [a for a in range(len(policy)) if a not in removed]
            spread = sum(policy[a] for a in removed) / Fraction(len(left))
            after = [policy[a] + spread if a in left else Fraction(0) for a in range(len(policy))]
            if exact.advantages(score, after, set_size)[action] < 0:
                found.append(removed)
        if found:
            return tuple(found)
    return ()


def score_of(tabular):
    """The same objective on tuples, in rational numbers."""
    table = {
        tuple(s): Fraction(float(f)).limit_denominator(10_000)
        for s, f in zip(tabular.sets.sets_SK.tolist(), tabular.scores_S, strict=True)
    }
    return lambda draw: table[tuple(sorted(draw))]


def rational_policies(num_actions, count, seed):
    rng = np.random.default_rng(seed)
    for weights in rng.integers(1, 20, (count, num_actions)).tolist():
        yield [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize(
    ("tabular", "policies"),
    [
        (dissimilarity(4, 2), rational_policies(4, 12, 0)),
        (dissimilarity(4, 3), rational_policies(4, 8, 1)),
        (poly(2), rational_policies(4, 12, 2)),
        (poly(3), rational_policies(4, 8, 3)),
    ],
    ids=["differ-2", "differ-3", "poly-2", "poly-3"],
)
def test_search_finds_every_smallest_specular_set(tabular, policies):
    score, set_size, with_speculars = score_of(tabular), tabular.set_size, 0
    for policy in policies:
        for action in range(4):
            floats = [float(p) for p in policy]
            found = smallest_speculars(tabular, floats, action, found_by="search")
            assert found.sets == by_hand(score, policy, set_size, action)
            with_speculars += bool(found.sets)
    assert with_speculars > 3


@pytest.mark.parametrize("set_size", [2, 3, 4, 5])
def test_removing_the_likeliest_is_smallest_for_dissimilarity(set_size):
    """Proved for K = 2; for larger K this is what keeps the claim honest."""
    rng, cases = np.random.default_rng(set_size), 0
    for num_actions in (4, 6):
        tabular = dissimilarity(num_actions, set_size)
        assert scores_dissimilarity(tabular)
        for policy in rng.dirichlet(np.full(num_actions, 0.7), size=20):
            for action in np.flatnonzero(tabular.advantages(policy) > 1e-9):
                scanned = smallest_speculars(tabular, policy, action)
                searched = smallest_speculars(tabular, policy, action, found_by="search")
                assert (scanned.found_by, searched.found_by) == ("scan", "search")
                assert scanned.size == searched.size
                assert not scanned.sets or scanned.sets[0] in searched.sets
                cases += 1
    assert cases > 50


def test_the_smallest_set_need_not_be_unique():
    policy = [0.34, 0.32, 0.31, 0.03]
    found = smallest_speculars(dissimilarity(4, 2), policy, 2, found_by="search")
    assert found.sets == ((0,), (1,))


def test_the_likeliest_are_not_smallest_for_every_objective():
    """Polychromic: whose absence hurts depends on rewards, so the default is to search."""
    rng, differs = np.random.default_rng(0), 0
    tabular = poly(3)
    assert not scores_dissimilarity(tabular)
    for policy in rng.dirichlet(np.ones(4), size=100):
        for action in range(4):
            searched = smallest_speculars(tabular, policy, action)
            scanned = smallest_speculars(tabular, policy, action, found_by="scan")
            assert searched.found_by == "search"
            assert scanned.size is None or searched.size <= scanned.size
            differs += searched.size != scanned.size
    assert differs > 0


def test_all_other_actions_are_never_a_specular_set():
    """Prop. 5.3: on a deterministic policy Λ = 0, exactly."""
    for tabular in (dissimilarity(4, 3), poly(3)):
        for policy in np.random.default_rng(0).dirichlet(np.ones(4), size=20):
            for action in range(4):
                others = [a for a in range(4) if a != action]
                after = diminish(policy, others)
                assert tabular.advantages(after)[action] == 0
                assert not is_specular(tabular, policy, action, others)


def test_example_5_4_in_closed_form():
    """A(y) = Σ π^K − π(y)^(K−1)."""
    policy = np.array([0.35, 0.45, 0.2])
    for set_size in (2, 3, 4):
        expected = (policy**set_size).sum() - policy ** (set_size - 1)
        found = dissimilarity(3, set_size).advantages(policy)
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_diminishing_spreads_the_mass_removed():
    np.testing.assert_allclose(diminish([0.6, 0.3, 0.1], [0]), [0, 0.6, 0.4])
    np.testing.assert_allclose(diminish([0.5, 0.3, 0.2, 0.0], [1]), [0.65, 0, 0.35, 0])
    masks = np.array([[True, False, False], [False, True, True]])
    np.testing.assert_allclose(diminish([0.6, 0.3, 0.1], masks), [[0, 0.6, 0.4], [1, 0, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: diminish([0.5, 0.5], [0, 1]),
            r"at least one action .* all of \[0, 1\] are removed",
        ),
        (lambda: diminish([0.5, 0.5], [2]), r"integers in \[0, 1\], got 2"),
        (lambda: smallest_speculars(poly(2), np.full(4, 0.25), 4), r"in \[0, 3\], got 4"),
        (
            lambda: smallest_speculars(poly(2), np.full(4, 0.25), 0, found_by="guess"),
            "found_by must be 'search' or 'scan', got 'guess'",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
