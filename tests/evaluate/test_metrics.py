"""Metrics by name: each is its estimator's, and the ones of texts need texts of every problem."""

import dataclasses
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from setrl.evaluate.estimators import (
    cover_at,
    g_pass_at_k,
    mean_g_pass_at_k,
    mean_shared_prefix,
    pass_at_k,
)
from setrl.evaluate.intervals import paired_difference
from setrl.evaluate.loading import load_side
from setrl.evaluate.metrics import METRICS, bounds_of, by_metric, metric_values
from setrl.evaluate.samples import Evaluation
from setrl.samples.samples import Samples
from tests import fake_run
from tests.logs.reading import evaluation_from
from tests.subsets import best_by_proxy, mean_over_subsets


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    run = fake_run.make(tmp_path_factory.mktemp("run") / "r", arms=("grpo",), n=8, steps=1)
    [evaluation] = load_side(run / "grpo/seed_0").evaluations
    texts = (("abc", "abd", "ax"), ("", "", ""), ("aa", "ab"), *[("x", "y", "z")] * 9)
    return with_columns(evaluation, texts=texts)


def test_every_metric_is_named_once_and_can_be_shown(evaluation):
    values = metric_values(evaluation)
    assert set(by_metric(values)) == set(METRICS) - {"max", "best_of"}
    assert all(value_P.shape == (12,) for value_P in values.values())
    assert {name for name in values if name.startswith("g_pass_mean")} == {
        "g_pass_mean@2", "g_pass_mean@4", "g_pass_mean@8"}  # fmt: skip


def test_reliability_is_that_of_the_counts(evaluation):
    values, counts = metric_values(evaluation), evaluation.correct_count_P
    for tau, name in ((0.5, "g_pass_0.5"), (0.75, "g_pass_0.75"), (1.0, "g_pass_1")):
        np.testing.assert_array_equal(values[f"{name}@4"], g_pass_at_k(counts, 8, 4, tau))
    np.testing.assert_array_equal(values["g_pass_mean@8"], mean_g_pass_at_k(counts, 8, 8))
    for tau in (0.1, 0.25, 0.5, 0.75, 1):
        np.testing.assert_array_equal(values[f"cover@{tau:g}"], cover_at(counts, 8, tau))
        # At k = n nothing is drawn: both say whether c/n reaches τ.
        np.testing.assert_allclose(values[f"cover@{tau:g}"], g_pass_at_k(counts, 8, 8, tau))


def test_shared_prefixes_need_two_texts_of_every_problem(evaluation):
    texts = evaluation.samples.texts
    values_P = metric_values(evaluation, only=["shared_prefix"])["shared_prefix"]
    assert values_P.tolist() == list(map(mean_shared_prefix, texts))
    for few in ((), (("one",), *texts[1:])):
        assert not metric_values(with_columns(evaluation, texts=few), only=["shared_prefix"])


def test_metrics_at_k_are_means_over_sets_of_samples():
    """Each statistic of every set, averaged in fractions; −1 is no answer and no strategy."""
    n = 6
    rng = np.random.default_rng(0)
    right = np.array([True, False, True])
    answers = rng.integers(-1, 3, (5, n))
    graded, proxy = rng.integers(-2, 4, (2, 5, n)).astype(float)
    graded[4, 1] = np.nan
    one = Evaluation(
        Samples(
            graded,
            strategies=rng.integers(-1, 3, (5, n)) * 1.0,
            answers=np.where(answers < 0, np.nan, answers),
            proxy=proxy,
            correct=((answers >= 0) & right[answers]) * 1.0,
            prompts=tuple("abcde"),
        )
    )
    values = metric_values(one)
    for p in range(4):
        for k in (1, 2, 4):
            for name, statistic in statistics(one, p).items():
                expected = float(mean_over_subsets(statistic, n, k))
                assert values[f"{name}@{k}"][p] == pytest.approx(expected, abs=1e-13), name
    # A missing grade leaves its problem out of what needs grades, and of nothing more.
    missing = {name for name in values if np.isnan(values[name][4])}
    assert missing == {f"{name}@{k}" for name in ("max", "best_of") for k in (1, 2, 4)}


def with_columns(one, **columns):
    return dataclasses.replace(one, samples=dataclasses.replace(one.samples, **columns))


def statistics(one, p):
    """The definition of each metric at k: what a set of samples of problem p scores."""
    correct, answers, strategies = (
        one.correct_PN[p],
        one.counted("answers")[p],
        one.counted("strategies")[p],
    )
    verified = set(answers[correct].tolist())

    def votes(s):
        return Counter(int(answers[i]) for i in s if answers[i] >= 0)

    def majority(s):
        top = max(votes(s).values(), default=0)
        winners = [answer for answer, count in votes(s).items() if count == top]
        return Fraction(len(verified & set(winners)), max(len(winners), 1))

    return {
        "pass": lambda s: any(correct[i] for i in s),
        "majority": majority,
        "vote_share": lambda s: Fraction(max(votes(s).values(), default=0), len(s)),
        "strategies": lambda s: len({strategies[i] for i in s} - {-1}),
        "correct_strategies": lambda s: len({strategies[i] for i in s if correct[i]} - {-1}),
        "max": lambda s: int(max(one.samples.rewards[p][list(s)])),
        "best_of": best_by_proxy(one.samples.rewards[p], one.samples.proxy[p]),
    }


def test_of_ragged_problems_each_value_is_that_of_the_problem_alone(evaluation):
    sizes = np.array([8, 3, 5, *[8] * 9])
    kept_PN = np.arange(8) < sizes[:, None]
    samples = evaluation.samples
    columns = {
        "correct": samples.correct,
        "strategies": samples.strategies,
        "answers": samples.answers,
        "rewards": np.tile(np.arange(8.0), (12, 1)),
        "proxy": np.tile(np.arange(8.0)[::-1], (12, 1)),
    }
    known = {name: np.where(kept_PN, values_PN, np.nan) for name, values_PN in columns.items()}
    ragged = with_columns(evaluation, **known, mask=kept_PN, texts=())
    ks = [1, 2, 3]
    values = metric_values(ragged, ks)
    for place in (0, 1, 2):
        n = sizes[place]
        own = {name: values_PN[[place], :n] for name, values_PN in columns.items()}
        alone = with_columns(evaluation.choose([place]), **own, texts=())
        for name, [expected] in metric_values(alone, ks).items():
            assert values[name][place] == pytest.approx(expected, nan_ok=True), name
        right = ragged.correct_PN[place]
        expected = mean_over_subsets(lambda subset, right=right: any(right[[*subset]]), n, 2)
        assert values["pass@2"][place] == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("name", "values", "bounds"),
    [
        ("strategies@1", [1, 1], (0, 1)),
        ("strategies@2", [1, 1], (1, 2)),
        ("strategies@4", [1.5, 3.25], (1, 4)),
        ("strategies@4", [4, 4], (3, 4)),
        ("correct_strategies@8", [0, 2.25], (0, 3)),
        ("effective_number", [1, 2.5], (1, 3)),
        ("degenerate", [0.5, 0.5], (0, 1)),
        ("max@2", [0.5, 0.5], None),
    ],
)
def test_values_that_a_metric_can_have(name, values, bounds):
    assert bounds_of(name, [np.array([values])]) == bounds


@pytest.mark.parametrize(("sizes", "rate"), [((64, 4), 0.01), ((64, 8), 0.01), ((16, 4), 0.02)])
def test_equal_models_of_a_rare_second_strategy_are_seldom_different(sizes, rate):
    """Without bounds 26% of the first comparisons were wrong, and always against fewer samples."""
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(200):
        rare = [rng.binomial(n, rate, 30) for n in sizes]
        first, second = (
            [pass_at_k(counts, n, 2) + pass_at_k(n - counts, n, 2)]
            for counts, n in zip(rare, sizes, strict=True)
        )  # the chance that two samples show each strategy, summed
        bounds = bounds_of("strategies@2", (np.array(first), np.array(second)))
        wrong += paired_difference(second, first, bounds=bounds).excludes_zero
    assert wrong <= 6


def test_labels_that_nobody_read_have_no_metrics():
    right, unread = [1, 0, 1, 0], [None] * 4
    values = metric_values(evaluation_from([("p", right, unread, unread)]))
    names = ("strategies@4", "correct_strategies@4", "top_share", "degenerate", "effective_number")
    assert all(np.isnan(values[name]).all() for name in (*names, "majority@4", "vote_share@4"))
    assert values["pass@4"] == 1
    one = ("p", right, ["a", -1, "a", None], [None, "2", None, None])
    values = metric_values(evaluation_from([one, ("q", right, unread, unread)]))
    # One wrong sample of "p" has no label, and no sample of "q": what would need it is unknown.
    assert np.isnan(values["strategies@4"]).all()
    assert values["correct_strategies@4"].tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert values["degenerate"][0] == pytest.approx(1 / 3)  # of the three that have a label
    assert values["top_share"][0] == pytest.approx(2 / 3)
    assert np.isnan([values["degenerate"][1], values["top_share"][1]]).all()
    assert values["majority@4"].tolist() == [0, 0]


def test_samples_of_no_strategy_are_degenerate_and_have_no_commonest_one():
    """As in training: 1 is of no strategy, and what needs a strategy is unknown of that problem."""
    labels_PN = np.array([[-1, -1, np.nan], [0, 0, -1], [np.nan] * 3])
    values = metric_values(
        Evaluation(Samples(np.zeros((3, 3)), labels_PN, correct=np.zeros((3, 3))))
    )
    np.testing.assert_array_equal(values["degenerate"], [1, 1 / 3, np.nan])
    np.testing.assert_array_equal(values["top_share"], [np.nan, 2 / 3, np.nan])
    np.testing.assert_array_equal(values["effective_number"], [np.nan, 1, np.nan])
    np.testing.assert_array_equal(values["strategies@1"], [np.nan, 2 / 3, np.nan])


def test_samples_without_answers_and_strategies_have_the_other_metrics():
    correct_PN = np.array([[1.0, 0], [0, 0]])
    values = metric_values(Evaluation(Samples(np.full((2, 2), np.nan), correct=correct_PN)))
    assert values["pass@1"].tolist() == [0.5, 0]
    lacks = {"majority", "vote_share", "strategies", "correct_strategies", "top_share",
             "degenerate", "effective_number"}  # fmt: skip
    unknown = {name.partition("@")[0] for name in values if np.isnan(values[name]).all()}
    assert unknown == lacks
