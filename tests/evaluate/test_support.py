"""Support dynamics: by hand, by enumeration of subsets, and the identities of the paper."""

from itertools import combinations

import numpy as np
import pytest

from setrl.evaluate.intervals import IntervalConfig
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.support import support_dynamics, support_of
from setrl.samples.samples import Samples

FAST = IntervalConfig(resamples=200)


def numbers(found):
    return np.array([found.preserved, found.expanded, found.shrunk, found.out])


def test_published_counts_give_the_published_ratios():
    """ProRL v1 in The Invisible Leash: P 2400, E 36, S 163, O 805."""
    base = np.repeat([1, 0, 1, 0], [2400, 36, 163, 805])
    trained = np.repeat([1, 1, 0, 0], [2400, 36, 163, 805])
    found = support_dynamics(base, trained, 1, 1, config=IntervalConfig(resamples=5))
    assert numbers(found).tolist() == [2400, 36, 163, 805]
    assert found.retention.value == pytest.approx(2400 / 2563)
    assert found.discovery.value == pytest.approx(36 / 2436)
    assert round(found.retention.value, 2) == 0.94
    assert round(found.discovery.value, 2) == 0.01


@pytest.mark.parametrize(("k", "n_base", "n_trained"), [(1, 4, 5), (2, 4, 4), (3, 5, 3), (4, 4, 6)])
def test_counts_at_k_are_means_over_all_pairs_of_subsets(k, n_base, n_trained):
    rng = np.random.default_rng(k)
    base, trained = rng.integers(0, n_base + 1, 6), rng.integers(0, n_trained + 1, 6)
    expected = np.zeros(4)
    for b, t in zip(base, trained, strict=True):
        of_base = [any(i < b for i in s) for s in combinations(range(n_base), k)]
        of_trained = [any(i < t for i in s) for s in combinations(range(n_trained), k)]
        pairs = [(x, y) for x in of_base for y in of_trained]
        for kind, pair in enumerate([(True, True), (False, True), (True, False), (False, False)]):
            expected[kind] += pairs.count(pair) / len(pairs)
    found = support_dynamics(base, trained, n_base, n_trained, k, FAST)
    np.testing.assert_allclose(numbers(found), expected, rtol=1e-12)


def test_identities():
    rng = np.random.default_rng(0)
    found = support_dynamics(rng.integers(0, 5, 50), rng.integers(0, 5, 50), 4, 4, 2, FAST)
    p, e, s, o = numbers(found)
    srr, ndr = found.retention.value, found.discovery.value
    assert p + e + s + o == pytest.approx(50)
    assert found.dynamics.value == pytest.approx(2 * srr * ndr / (srr + ndr))
    assert found.net_change.value == pytest.approx(((p + e) - (p + s)) / (p + e + s))
    for ratio in (found.retention, found.discovery, found.dynamics, found.net_change):
        assert ratio.low < ratio.value < ratio.high


def test_swapping_the_models_swaps_expansion_and_shrinkage():
    rng = np.random.default_rng(1)
    base, trained = rng.integers(0, 4, 20), rng.integers(0, 4, 20)
    forth = support_dynamics(base, trained, 3, 3, config=FAST)
    back = support_dynamics(trained, base, 3, 3, config=FAST)
    assert (forth.expanded, forth.shrunk) == (back.shrunk, back.expanded)
    assert forth.net_change.value == pytest.approx(-back.net_change.value)


def test_strategies_are_items_and_their_problems_are_resampled():
    base, trained = np.array([[3, 0], [1, 1]]), np.array([[0, 2], [1, 0]])
    flat = support_dynamics(base.ravel(), trained.ravel(), 3, 3, config=FAST)
    nested = support_dynamics(base, trained, 3, 3, config=FAST)
    np.testing.assert_allclose(numbers(nested), numbers(flat))
    assert nested.retention.value == flat.retention.value
    assert nested.retention != flat.retention


def evaluation(names, strategies, correct):
    shape = np.shape(strategies)
    return Evaluation(
        Samples(
            np.full(shape, np.nan),
            strategies=np.array(strategies, dtype=float),
            answers=np.zeros(shape),
            correct=np.array(correct, dtype=float),
            names={"strategies": names},
            prompts=tuple(map(str, range(shape[0]))),
        )
    )


def test_strategies_of_two_files_are_matched_by_their_names():
    base = evaluation(("x", "y"), [[0, 1, 1], [0, 0, -1]], [[1, 1, 0], [0, 0, 1]])
    trained = evaluation(("y", "z"), [[0, 0, 1], [1, 1, 1]], [[1, 0, 1], [1, 1, 1]])
    found = support_of([base], [trained], "strategies", config=FAST)
    # problem 0: x shrunk, y preserved, z expanded; problem 1: z expanded, x and y in neither
    assert numbers(found).tolist() == [1, 2, 1, 2]
    solved = support_of([base], [trained], config=FAST)
    assert numbers(solved).tolist() == [2, 0, 0, 0]
    with pytest.raises(ValueError, match="same problems in the same order"):
        support_of([base], [trained.choose([1, 0])])


def test_undefined_ratios_are_nan():
    nobody = support_dynamics([0, 0], [0, 0], 4, 4, config=FAST)
    ratios = [nobody.retention, nobody.discovery, nobody.dynamics, nobody.net_change]
    assert np.isnan([[r.value, r.low, r.high] for r in ratios]).all()
    lost = support_dynamics([1, 1], [0, 0], 4, 4, config=FAST)
    assert lost.retention.value == 0
    assert np.isnan([lost.discovery.value, lost.dynamics.value]).all()
    assert lost.net_change.value == -1
    replaced = support_dynamics([1, 0], [0, 1], 4, 4, config=FAST)
    assert replaced.dynamics.value == 0


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"k must be in \[1, 3\].*got 4"):
        support_dynamics([1], [1], 8, 3, 4)
    with pytest.raises(ValueError, match="same items"):
        support_dynamics([1], [1, 2], 3, 3)


def test_several_seeds_are_the_mean_of_the_expected_numbers_over_their_pairs():
    rng = np.random.default_rng(3)
    none = np.full((5, 6), -1)
    seeds = [evaluation((), none, rng.random((5, 6)) < rate) for rate in (0.2, 0.5, 0.7)]
    base, *trained = seeds
    both = support_of([base], trained, k=2)
    each = [support_of([base], [other], k=2) for other in trained]
    for kind in ("preserved", "expanded", "shrunk", "out"):
        assert getattr(both, kind) == pytest.approx(np.mean([getattr(e, kind) for e in each]))
    kept = both.preserved / (both.preserved + both.shrunk)
    assert both.retention.value == pytest.approx(kept)
    assert support_of(trained, trained, k=2).preserved == pytest.approx(
        np.mean([support_of([a], [b], k=2).preserved for a in trained for b in trained])
    )
