"""The miniature's update against the exact one, and its forecasts against what must happen."""

import numpy as np
import pytest

from setrl import Method, methods, objectives
from setrl.judges.base import Group, Judgement
from setrl.theory import TabularObjective
from studies.faulty import NoisyJudge
from studies.miniature import Miniature, Strategies, _Model, forecast, forecasts, mistaken

BASE = Strategies(np.array([0.5, 0.3, 0.1]), np.array([0.6, 0.9, 0.3]), ("a", "b", "c"))
POLY = methods.poly_epo(set_size=2)


def test_strategies_of_groups_are_counted():
    rewards = np.array([[1, 0, 1, np.nan], [1, 1, 0, 0]])
    labels = np.array([[4, 4, 7, 4], [7, 7, -1, 4]])
    found = Strategies.of_groups(rewards, labels)
    assert dict(zip(found.labels, found.shares_C, strict=True)) == {4: 3 / 7, 7: 3 / 7}
    assert dict(zip(found.labels, found.success_C, strict=True)) == {4: 1 / 3, 7: 1.0}
    assert found.pass_1 == pytest.approx(4 / 7)
    assert found.right_strategies(1) == pytest.approx(found.pass_1)
    assert found.right_strategies(2) == pytest.approx(2 - (1 - 1 / 7) ** 2 - (1 - 3 / 7) ** 2)


def outcomes(choice, success):
    shares = np.exp(choice) / np.exp(choice).sum()
    rates = 1 / (1 + np.exp(-success))
    return np.concatenate([shares[:3] * rates, shares[:3] * (1 - rates), shares[3:]])


@pytest.mark.parametrize(("baseline", "scale"), [("all_sets", 1 / 4), ("smaller_sets", 1 / 2)])
def test_the_mean_update_is_the_gradient(baseline, scale):
    """Gradient of J by central differences: times (N − K)/(N·K) for u − U, 1/K for u − w."""
    model = _Model([BASE], Miniature(prompts=40_000, num_samples=4, runs=1))
    choice, success = model.start()
    tabular = TabularObjective(objectives.polychromic(), model.table, 2)
    method = Method("poly", objectives.polychromic(), 2, baseline)
    found = np.hstack(model.update(method, choice, success, [np.random.default_rng(0)]))[0]

    def value(at):
        return tabular.value(outcomes(at[:4], at[4:]))

    point = np.hstack([choice, success])[0]
    steps = 1e-5 * np.eye(len(point))
    slopes = [(value(point + step) - value(point - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, scale * np.array(slopes), atol=1.5e-3)


def test_without_skill_success_stays():
    for end in forecast(BASE, POLY, Miniature(steps=20, skill=0.0, runs=2)).ends:
        np.testing.assert_allclose(end.success_C, BASE.success_C, atol=1e-12)


def test_grpo_keeps_one_strategy_and_poly_epo_several():
    training = Miniature(steps=150, runs=2)
    of_grpo, of_poly = (forecast(BASE, m, training) for m in (methods.grpo(), POLY))
    assert of_grpo.survivors(0.05) == ("b",)
    assert set(of_poly.survivors(0.05)) >= {"a", "b"}
    assert of_grpo.pass_1 > of_poly.pass_1 > BASE.pass_1
    assert of_grpo.top_share > 0.9 > of_poly.top_share
    assert of_grpo.right_strategies(32) < of_poly.right_strategies(32)


def test_the_same_seed_gives_the_same_forecast_and_runs_differ():
    one, two = (forecast(BASE, POLY, Miniature(steps=5, runs=2)) for _ in range(2))
    np.testing.assert_array_equal(one.ends[1].shares_C, two.ends[1].shares_C)
    assert not np.array_equal(one.ends[0].shares_C, one.ends[1].shares_C)


def test_several_bases_are_trained_as_each_alone():
    other = Strategies(np.array([0.2, 0.2, 0.5]), np.array([0.9, 0.5, 0.2]), BASE.labels)
    training = Miniature(steps=6, runs=2)
    together = forecasts([BASE, other], POLY, training)
    for base, found in zip((BASE, other), together, strict=True):
        alone = forecast(base, POLY, training)
        for one, two in zip(found.ends, alone.ends, strict=True):
            np.testing.assert_allclose(one.shares_C, two.shares_C, atol=1e-14)
            np.testing.assert_allclose(one.success_C, two.success_C, atol=1e-14)


class Oracle(NoisyJudge):
    """A judge that repeats labels."""

    name = "oracle"

    def __init__(self, labels):
        object.__setattr__(self, "labels", labels)

    def judge(self, groups):
        return [Judgement(self.labels) for _ in groups]


def test_mistaken_labels_are_those_of_the_noisy_judge():
    """How often each sample ends alone, or next to each other sample, over many draws."""
    labels, runs, rng = [0, 0, 1, -1], 20_000, np.random.default_rng(0)
    drawn = mistaken(np.tile(labels, (runs, 1)), 0.5, 2, rng)
    judge = NoisyJudge(Oracle(labels), 0.5)
    groups = [Group.of_texts(str(run), ("a", "b", "c", "d")) for run in range(4000)]
    wanted = np.array([one.labels_N for one in judge.judge(groups)])
    for together in (drawn, wanted):
        assert ((together == -1).sum(axis=0)[:3] == 0).all()
    shares = [
        ((found[:, :, None] == found[:, None, :]) & (found[:, :, None] >= 0)).mean(axis=0)
        for found in (drawn, wanted)
    ]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.03)
    np.testing.assert_array_equal(mistaken(drawn[:5], 0.0, 5, rng), drawn[:5])


def test_noise_of_the_judge_costs_strategies():
    clean, noisy = (
        forecast(BASE, methods.poly_epo(set_size=4), Miniature(100, runs=1, label_noise=noise))
        for noise in (0.0, 0.5)
    )
    assert noisy.right_strategies(8) < clean.right_strategies(8) - 0.2
    assert noisy.pass_1 > clean.pass_1


def test_degenerate_samples_die_out():
    end = forecast(BASE, methods.grpo(), Miniature(steps=100, runs=1)).ends[0]
    assert 1 - end.shares_C.sum() < 0.02


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Strategies.of_groups([[1.0]], [[-1]]), "no sample has a strategy"),
        (lambda: Strategies.of_groups([[1.0]], [[1, 2]]), "must have one shape"),
        (lambda: Strategies.of_groups([[1.0]], [["a"]]), "strategies_BN must be integers"),
        (lambda: Strategies(np.array([0.0]), np.array([1.0]), "a"), "must be positive"),
        (lambda: Strategies(np.array([0.5]), np.array([1.5]), "a"), r"must be in \[0, 1\]"),
        (lambda: Strategies(np.array([0.5]), np.array([0.5]), "ab"), "equally long"),
        (lambda: Miniature(steps=0), "steps must be at least 1, got 0"),
        (lambda: Miniature(label_noise=1.5), r"label_noise must be in \[0, 1\], got 1.5"),
        (
            lambda: forecasts([BASE, Strategies(np.ones(1), np.ones(1), "x")], POLY),
            "the same labels in the same order",
        ),
        (lambda: Miniature(step=0.0), "step must be positive"),
        (lambda: forecast(BASE, methods.poly_epo(set_size=16)), "set_size"),
        (lambda: forecast(BASE, methods.unlikeliness()), "proxy"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
