"""Metrics by name: each is its estimator's, and the ones of texts need texts of every problem."""

import dataclasses

import numpy as np
import pytest

from setrl.evaluation.branching import branches_by_position, mean_shared_prefix
from setrl.evaluation.metrics import METRICS, by_metric, metric_values
from setrl.evaluation.reliability import cover_at, g_pass_at_k, mean_g_pass_at_k
from setrl.evaluation.sides import load_run
from tests import fake_run


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    run = fake_run.make(tmp_path_factory.mktemp("run") / "r", arms=("grpo",), n=8, steps=1)
    [evaluation] = load_run(run / "grpo/seed_0").evaluations
    texts = (("abc", "abd", "ax"), ("", "", ""), ("aa", "ab"), *[("x", "y", "z")] * 9)
    return dataclasses.replace(evaluation, texts_P=texts)


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


def test_branches_are_counted_among_as_many_texts_as_every_problem_has(evaluation):
    values = metric_values(evaluation)
    assert evaluation.texts_kept == 2
    assert [name for name in values if name.startswith("branches")] == ["branches@1", "branches@2"]
    for place, texts in enumerate(evaluation.texts_P):
        curve = branches_by_position(texts, 2)
        assert values["shared_prefix"][place] == mean_shared_prefix(texts)
        for position in (1, 2):
            expected = curve[min(position, len(curve)) - 1] if len(curve) else 1
            assert values[f"branches@{position}"][place] == expected
    # Of "abc", "abd", "ax" two pairs have parted behind the second character, of "" none.
    assert values["branches@2"][:3] == pytest.approx([1 + 2 / 3, 1, 2])


def test_without_two_texts_of_every_problem_nothing_is_said_of_branches(evaluation):
    for texts in ((), (("one",), *evaluation.texts_P[1:])):
        values = metric_values(dataclasses.replace(evaluation, texts_P=texts))
        assert not {"branches", "shared_prefix"} & set(by_metric(values))
