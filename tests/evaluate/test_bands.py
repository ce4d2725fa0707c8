"""Simultaneous bands: their factor, their coverage in simulation, what they say of crossings."""

import dataclasses
import json
from math import exp, lgamma
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from setrl.evaluate.bands import (
    Band,
    FirstLoss,
    every_k,
    first_loss,
    pass_values,
    simultaneous_band,
)
from setrl.evaluate.estimators import pass_at_k
from setrl.evaluate.intervals import (
    IntervalConfig,
    ends,
    mean_over_problems,
    paired_difference,
    t_quantile,
)
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.text import band_sentences
from setrl.samples.samples import Samples

DATA = Path(__file__).parents[1] / "data"
DRAWS = IntervalConfig(draws=400)
MEAN = (-0.017375, -0.0302222222, -0.0378020833, -0.0430714286, -0.0470436508, -0.0501666667,
        -0.0526041667, -0.0544166667, -0.055625, -0.05625)  # fmt: skip
STDERR = (0.0203000216, 0.0211267009, 0.0215807142, 0.0218777222, 0.0220883721, 0.0222474973,
          0.0223753526, 0.0224837534, 0.0225798087, 0.022668806)  # fmt: skip
CRITICAL = 2.1447


def curves(counts_P, n):
    return np.array([[pass_at_k(counts_P, n, k)] for k in range(1, n + 1)])


@pytest.mark.parametrize("seeds", [(1, 1), (3, 2)])
def test_the_band_has_the_pointwise_ends_with_c_instead_of_t(seeds):
    rng = np.random.default_rng(0)
    first, second = (rng.random((4, count, 30)) for count in seeds)
    alone = simultaneous_band([1, 2, 3, 4], first, config=DRAWS)
    gap = simultaneous_band([1, 2, 3, 4], first, second, DRAWS)
    sides = first.mean(axis=1), second.mean(axis=1)
    for band, found, of in (
        (alone, [mean_over_problems(one) for one in first], sides[:1]),
        (gap, [paired_difference(*pair) for pair in zip(first, second, strict=True)], sides),
    ):
        assert band.values == pytest.approx([one.value for one in found])
        reach_K = band.critical * np.array([one.stderr for one in found])
        np.testing.assert_allclose((band.low, band.high), ends(of, reach_K, band.critical))
        assert (np.array(band.high) - band.values >= reach_K).all()


def test_the_factor_is_the_quantile_of_the_largest_of_k_normals():
    """Places that vary alike count as one; for K independent ones P(max ≤ c) = P(|z| ≤ c)^K."""
    draws = IntervalConfig(draws=8000)
    values = np.random.default_rng(0).standard_normal((8, 1, 500))
    alike = simultaneous_band([1, 2, 3], np.repeat(values[:1], 3, axis=0), config=draws)
    assert alike.critical == pytest.approx(1.96, abs=0.05)
    apart = simultaneous_band(range(8), values, config=draws)
    of_eight = NormalDist().inv_cdf((1 + 0.95 ** (1 / 8)) / 2)
    assert apart.critical == pytest.approx(of_eight, abs=0.05)
    few = simultaneous_band([1], values[:1, :, :5], config=draws)
    assert few.critical == pytest.approx(2.776, rel=0.06)  # Student's t of 4 degrees


def true_pass(a, b, n):
    """pass@k of problems whose success rates are Beta(a, b): 1 − E (1−p)^k."""
    return 1 - np.array(
        [exp(lgamma(b + k) + lgamma(a + b) - lgamma(b) - lgamma(a + b + k))
         for k in range(1, n + 1)]
    )  # fmt: skip


def test_bands_cover_the_whole_curve_and_first_losses_as_often_as_they_claim():
    """400 simulated comparisons of two arms whose true curves cross at k = 3."""
    rng, n, problems, times = np.random.default_rng(3), 16, 60, 400
    truth = true_pass(0.5, 0.5, n) - true_pass(1.0, 1.3, n)
    crossing = 1 + int(np.flatnonzero(truth < 0)[0])
    covered = pointwise = found = 0
    for _ in range(times):
        counts = (rng.binomial(n, rng.beta(a, b, problems)) for a, b in ((0.5, 0.5), (1.0, 1.3)))
        first, second = (curves(one, n) for one in counts)
        band = simultaneous_band(range(1, n + 1), first, second, DRAWS)
        off = np.abs(truth - band.values)
        reach = np.array(band.high) - band.values
        covered += bool((off <= reach).all())
        pointwise += bool((off <= 1.96 * reach / band.critical).all())
        loss = first_loss(band)
        found += loss.low <= crossing and (loss.high is None or crossing <= loss.high)
    assert crossing == 3
    assert 0.92 < covered / times < 0.98  # 0.95 ± 3 standard errors
    assert pointwise / times < 0.90  # intervals that each hold alone do not hold together
    assert found / times > 0.95


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_bands_of_three_seeds_cover_the_whole_curve(spread):
    """Seeds move a curve up and down; before t of two degrees, these bands covered 86%."""
    rng, times, covered = np.random.default_rng(4), 300, 0
    for _ in range(times):
        first, second = rng.normal(size=(2, 6, 3, 40)) + spread * rng.normal(size=(2, 1, 3, 1))
        band = simultaneous_band(range(6), first, second, DRAWS)
        covered += bool((np.array(band.low) <= 0).all() and (np.array(band.high) >= 0).all())
    assert covered / times >= 0.93


def test_the_same_as_passk_inference_on_codellama():
    """passk-inference 0.3.1, compare() of the two files' counts: factor 2.1447 of 200,000 draws."""
    rows = [json.loads(line) for line in (DATA / "passk_cruxeval_counts.jsonl").open()]
    first, second = (curves(row["correct"], 10) for row in rows)
    band = simultaneous_band(range(1, 11), second, first, IntervalConfig(draws=4000))
    stderr = [paired_difference(*each).stderr for each in zip(second, first, strict=True)]
    np.testing.assert_allclose(band.values, MEAN, atol=1e-9)
    np.testing.assert_allclose(stderr, STDERR, atol=1e-9)
    assert band.critical == pytest.approx(CRITICAL, abs=0.05)


def test_where_all_problems_are_alike_the_band_is_unknown_without_bounds():
    values = np.stack([np.random.default_rng(0).random((1, 9)), np.ones((1, 9))])
    band = simultaneous_band([1, 2], values)
    assert band.at(2) == pytest.approx((np.nan, np.nan), nan_ok=True)
    assert np.isfinite(band.at(1)).all()
    assert band.is_known
    flat = simultaneous_band([1, 2], np.ones((2, 1, 9)))
    assert not flat.is_known
    assert first_loss(flat) == FirstLoss(1, None)
    assert not simultaneous_band([1, 2], values[:, :, :1]).is_known  # of one problem


def test_a_share_of_100_percent_on_all_problems_may_be_less_on_others():
    """No failure among 40 problems: Wilson's interval with t of 39 degrees."""
    always = np.ones((2, 1, 40))
    band = simultaneous_band([1, 2], always, bounds=(0, 1))
    low = 1 / (1 + t_quantile(39, 0.95) ** 2 / 40)
    assert (band.low, band.high) == (pytest.approx((low, low)), (1, 1))
    gap = simultaneous_band([1, 2], always, always, bounds=(0, 1))
    reach = 1 / (40 / t_quantile(39, 0.95) ** 2 + 1 / 2)  # a difference has twice the range
    assert (gap.low, gap.high) == (pytest.approx((-reach,) * 2), pytest.approx((reach,) * 2))


def made(low, high, ks=None):
    middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    return Band(ks or tuple(range(1, len(low) + 1)), middle, tuple(low), tuple(high), 2.5, 0.95)


@pytest.mark.parametrize(
    ("low", "high", "ks", "loss"),
    [
        ([1, 1, -1, -2], [2, 2, 1, -1], None, FirstLoss(3, 4)),
        ([1, 1, 1], [2, 2, 2], None, FirstLoss(4, None)),
        ([-1, -1], [1, 1], None, FirstLoss(1, None)),
        ([-2, -2], [-1, -1], None, FirstLoss(1, 1)),
        ([1, -1, 1, -2], [2, 1, 2, -1], None, FirstLoss(2, 4)),
        ([1, 1, 1, -2], [2, 2, 2, -1], (1, 2, 8, 9), FirstLoss(3, 9)),  # unknown from 3 to 7
        ([float("nan"), -2], [float("nan"), -1], None, FirstLoss(1, 2)),
    ],
)
def test_the_first_loss_lies_between_what_is_excluded_and_what_is_shown(low, high, ks, loss):
    assert first_loss(made(low, high, ks)) == loss


def test_sentences_follow_from_the_band():
    band = made([1, 1, -1, -2], [2, 2, 1, -1])
    losses = {"A": first_loss(band.negated()), "B": first_loss(band)}
    assert band_sentences(band, losses) == [
        "pass@k: B is above A for k = 1 to 2 and below it for k = 4 (95% confidence for all k "
        "from 1 to 4 at once).",
        "The first k at which B is below A: k = 3 to 4 (95% confidence).",
    ]
    ever = made([1, -1], [2, 1])  # it may cross, but nothing shows that it does
    assert len(band_sentences(ever, {"A": FirstLoss(1, 1), "B": first_loss(ever)})) == 1
    unclear = made([-1, -1], [1, 1])
    [sentence] = band_sentences(unclear, {"A": first_loss(unclear), "B": first_loss(unclear)})
    assert "B is not distinguishable from A at any k" in sentence


def test_ragged_problems_have_their_own_n():
    samples = Samples(
        np.full((2, 4), np.nan), correct=np.array([[1.0, 0, 0, 0], [1, 1, 0, 0]]), prompts="pq"
    )
    whole = Evaluation(samples)
    mask = np.arange(4) < np.array([[4], [2]])
    ragged = Evaluation(dataclasses.replace(samples, mask=mask))
    np.testing.assert_allclose(
        pass_values([whole, ragged], [1, 2]), [[[0.25, 0.5], [0.25, 1]], [[0.5, 5 / 6], [0.5, 1]]]
    )
    assert every_k(3) == [1, 2, 3]
