"""Objectives as values: what they refuse, how they compose, and identities between them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from claims import scores
from setrl import Samples, objectives, set_advantages
from setrl.core.idea import Sets
from setrl.core.objectives.base import Objective
from tests.core.catalogue import cases, samples_of

REFUSED = [
    (lambda: objectives.mean(of="answers"), "mean(of=...) must be 'rewards', 'proxy' or 'second'"),
    (lambda: objectives.top_mean(0), "top_mean(m) must be an integer of at least 1, got 0"),
    (lambda: objectives.top_mean(1.5), "top_mean(m) must be an integer of at least 1, got 1.5"),
    (lambda: objectives.l_statistic([]), "l_statistic(weights) needs finite numbers, one a rank"),
    (
        lambda: objectives.l_statistic([1, np.nan]),
        "finite numbers, one a rank, got (1.0, nan",
    ),
    (
        lambda: objectives.majority("coin"),
        "ties must be 'uniform', 'first' or 'lexicographic'",
    ),
    (lambda: objectives.over_sizes(objectives.max(), {}), "needs a weight for each size, such as"),
    (
        lambda: objectives.over_sizes(objectives.max(), {0: 1.0}),
        "set_size must be an integer of at least 1, got 0",
    ),
    (
        lambda: objectives.over_sizes(objectives.max(), {2: np.inf}),
        "the weights of over_sizes must be finite, got {2: inf}",
    ),
    (
        lambda: objectives.over_sizes(objectives.l_statistic([0, 1]), {3: 1.0}),
        "is made for sets of 2, got {3: 1.0}",
    ),
    (
        lambda: objectives.l_statistic([0, 1]) + objectives.l_statistic([0, 0, 1]),
        "objectives made for sets of 2 and of 3 do not compose",
    ),
    (
        lambda: objectives.from_function(len, reads=("strategy",)),
        "unknown field 'strategy'; did you mean 'strategies'? Known: rewards, strategies, answers",
    ),
    (lambda: np.inf * objectives.max(), "the weights of a sum must be finite, got (inf,)"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


REFUSED_SIZES = [
    (objectives.l_statistic([0, 0, 1]), 2, "set_size must be 3, for which l_statistic"),
    (objectives.over_sizes(objectives.max(), {1: 1.0, 3: 1.0}), 4, "set_size must be 3, for which"),
    (objectives.max(), None, "set_size is needed: max() scores sets of any size"),
    (objectives.top_mean(3), 2, "top_mean(m=3) needs a set_size of at least 3, got 2"),
]


@pytest.mark.parametrize(("objective", "set_size", "message"), REFUSED_SIZES)
def test_wrong_set_sizes_are_named(objective, set_size, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        set_advantages(np.ones((1, 8)), objective=objective, set_size=set_size)


def test_an_objective_may_bring_its_set_size():
    rewards = np.random.default_rng(0).random((2, 6))
    top = objectives.l_statistic([0, 0, 1])
    want = set_advantages(rewards, objective=objectives.max(), set_size=3)
    found = set_advantages(rewards, objective=top)
    np.testing.assert_allclose(found.values_BN, want.values_BN, atol=1e-15)


def test_smaller_sets_of_fixed_weights_are_refused():
    top = objectives.l_statistic([0, 0, 1])
    with pytest.raises(ValueError, match="an l_statistic of 3 weights scores sets of 3, got set_s"):
        set_advantages(np.ones((1, 8)), objective=top, baseline="smaller_sets")


def test_numbers_and_sums_multiply_out():
    a, b, c = objectives.mean(), objectives.distinct(), objectives.max()
    assert 2 * (a + b) == objectives.product(a + b, 2)
    assert ((a - b) * c).terms == (a * c, b * c)
    assert ((a - b) * c).weights == (1.0, -1.0)
    assert (-a).weights == (-1.0,)
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(TypeError):
        objectives.product(a, "distinct")


def test_a_product_without_closed_form_is_enumerated():
    rewards = np.random.default_rng(0).random((1, 5))
    product = objectives.max() * objectives.minimum()
    adv = set_advantages(rewards, objective=product, set_size=2)
    assert adv.estimator == "enumerated (10 sets)"


def test_a_scaled_objective_keeps_its_variance():
    samples = samples_of(cases(6))
    plain = objectives.max().set_means(samples, 3).variance_B
    np.testing.assert_allclose((3 * objectives.max()).set_means(samples, 3).variance_B, 9 * plain)
    assert (objectives.max() + objectives.mean()).set_means(samples, 3).variance_B is None


def test_first_seen_ties_are_uniform_over_the_orders_of_a_set():
    for case in cases(5):
        first = scores.first_majority(case.rewards, case.answers)
        uniform = scores.majority(case.rewards, case.answers, "uniform")
        for members in [(0, 1), (0, 2, 3, 4), (0, 1, 2, 3, 4)]:
            assert first(members) == uniform(members)


def test_smaller_sizes_of_over_sizes_are_compared_with_one_member_less():
    weights, n, k = {1: 0.5, 3: 2.0}, 6, 3
    for objective, definition in [
        (objectives.max(), lambda c: scores.maximum(c.rewards)),
        (objectives.distinct_share(), lambda c: scores.distinct_share(c.strategies)),
    ]:
        listed = cases(n)
        gain_BN = objectives.over_sizes(objective, weights).set_means(samples_of(listed), k).gain_BN
        for b, case in enumerate(listed):
            want = np.zeros(n)
            for size, weight in weights.items():
                means = Sets(definition(case), n, size)
                pairs = zip(means.u, means.w, strict=True)
                want += [float(weight * size / k * (u - w)) for u, w in pairs]
            np.testing.assert_allclose(gain_BN[b], want, atol=1e-12)


def test_over_sizes_sums_the_gradients_not_the_note_s_shrunken_ones():
    """Set RL, Example 2.7 with weights 1/C(N, n_c): Σ_c (1 − n_c/N)·∇J_c, checked at u − U."""
    rewards, n = np.random.default_rng(1).random((1, 5)), 5
    both = objectives.over_sizes(objectives.max(), {1: 1.0, 3: 1.0})
    found = set_advantages(rewards, objective=both, baseline="leave_one_out").values_BN
    parts = {
        size: set_advantages(
            rewards, objective=objectives.max(), set_size=size, baseline="leave_one_out"
        ).values_BN
        for size in (1, 3)
    }
    np.testing.assert_allclose(found, parts[1] / 3 + parts[3], atol=1e-15)
    shrunken = (1 - 1 / n) * parts[1] / 3 + (1 - 3 / n) * parts[3]
    assert not np.allclose(found / found[0, 0], shrunken / shrunken[0, 0])


def test_best_of_with_the_reward_as_proxy_is_the_maximum():
    rewards = np.random.default_rng(2).integers(0, 4, (3, 9)) / 4
    samples = Samples(rewards, proxy=rewards)
    found, want = (f.set_means(samples, 4) for f in (objectives.best_of(), objectives.max()))
    np.testing.assert_allclose(found.contrast_BN, want.contrast_BN, atol=1e-15)
    np.testing.assert_allclose(found.gain_BN, want.gain_BN, atol=1e-15)


def test_counts_refuse_a_wrong_shape_and_too_many_compositions():
    samples = samples_of(cases(8))
    scalar = objectives.from_counts(lambda counts: counts.sum())
    with pytest.raises(ValueError, match=r"must give one score a set, shape .*the last two axes"):
        scalar.set_means(samples, 3)
    many = objectives.from_counts(lambda counts: counts[..., 1].sum(-1), max_compositions=3)
    assert many.set_means(samples, 4) is None


def test_an_objective_without_a_score_is_refused_when_it_is_made() -> None:
    class Scoreless(Objective):
        pass

    with pytest.raises(TypeError, match=r"Scoreless .*__call__"):
        Scoreless()  # type: ignore[abstract]


def test_rarest_reward_is_the_note_s_f_srl_with_graded_rewards():
    """Against enumeration in fractions; with rewards of 0 and 1 it is `rarest_correct`."""
    for case in cases(6)[:6]:
        fields = {"strategies": np.array([case.strategies]), "correct": np.array([case.correct])}
        rewards = np.abs([case.rewards])
        found = set_advantages(
            rewards, objective=objectives.rarest_reward(), set_size=3, baseline="leave_one_out",
            **fields,
        )  # fmt: skip
        want = Sets(scores.rarest_reward(rewards[0].tolist(), case.strategies), 6, 3)
        np.testing.assert_allclose(found.with_BN[0], np.array(want.u, float), atol=1e-12)
        np.testing.assert_allclose(found.without_BN[0], np.array(want.v, float), atol=1e-12)
        of_two = samples_of([case])
        graded = objectives.rarest_reward()(replace(of_two, rewards=of_two.correct * 1.0))
        np.testing.assert_array_equal(graded, objectives.rarest_correct()(of_two))
    with pytest.raises(ValueError, match="rarest_reward needs rewards of at least 0, got -1"):
        set_advantages(
            np.array([[1.0, -1, 0]]), objective=objectives.rarest_reward(), set_size=2,
            strategies=np.array([[0, 1, 2]]),
        )  # fmt: skip
