"""The comparison of forecasts with training: its base side, its trained side and its agreement."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("transformers")

from studies import predictions
from studies.miniature import Miniature, forecast

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def numbers() -> dict:
    return json.loads((RESULTS / "predictions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("domain", ["polynomial", "multiplication", "quadratic"])
def test_the_measured_base_is_that_of_the_recorded_runs(domain):
    """The same problems' pass@1 from other samples, within the noise of 256 samples each."""
    recorded = predictions.measured(domain, "base")["pass@1"]
    assert predictions.base_strategies(domain).pass_1 == pytest.approx(recorded, abs=0.02)


def test_the_committed_forecasts_are_those_of_the_fitted_miniature():
    found = numbers()
    [arm] = [a for a in found["arms"] if (a["folder"], a["arm"]) == ("multiplication", "grpo")]
    fitted = Miniature(**{**found["fitted"], "steps": 100})
    assert fitted == Miniature(steps=100)  # what was fitted is the default
    again = forecast(
        predictions.base_strategies("multiplication"), predictions.THREE["grpo"], fitted
    )
    for name, value in predictions.numbers(again).items():
        assert arm["forecast"][name] == pytest.approx(value, abs=0.01)
    for name, value in predictions.measured("multiplication", "grpo").items():
        assert arm["measured"][name] == value


def test_agreement_is_over_all_trained_arms_but_the_fitted_one():
    found = numbers()
    trained = [a for a in found["arms"] if a["measured"]]
    arms = [a for a in trained if (a["folder"], a["arm"]) != predictions.FITTED]
    assert len(arms) == len(trained) - 1 == 14
    for name, agreement in found["agreement"].items():
        if name == predictions.LOST:
            arms = [a for a in arms if a["arm"] != "grpo"]
        errors = [abs(a["forecast"][name] - a["measured"][name]) for a in arms]
        assert agreement["mean_absolute_error"] == pytest.approx(np.mean(errors))


def test_what_the_page_says_of_the_forecasts():
    arms = {(a["folder"], a["arm"]): a for a in numbers()["arms"]}
    sizes = [("set_size", "poly_epo_k2"), ("polynomial", "poly_epo")]
    sizes += [("set_size", "poly_epo_k8"), ("set_size", "poly_epo_k15")]
    for side, printed in (("forecast", (2.2, 4.9, 8.6, 15.6)), ("measured", (2.7, 5.8, 9.4, 17.5))):
        found = [100 * arms[size][side][predictions.LOST] for size in sizes]
        np.testing.assert_allclose(found, printed, atol=0.051)
    for (folder, _), arm in arms.items():
        if arm["measured"] and folder in ("polynomial", "set_size"):
            assert abs(arm["forecast"]["pass@1"] - arm["measured"]["pass@1"]) < 0.02
    agreement = numbers()["agreement"]
    assert agreement[predictions.LOST]["mean_absolute_error"] == pytest.approx(0.02, abs=5e-4)
    assert agreement[predictions.LOST]["correlation"] == pytest.approx(0.93, abs=5e-3)
    assert agreement["correct_strategies@32"]["correlation"] == pytest.approx(0.99, abs=5e-3)


def test_every_arm_is_drawn():
    points = [predictions.Point(**arm) for arm in numbers()["arms"] if arm["measured"]]
    figure = predictions.draw(numbers())
    for ax in figure.axes[1:]:  # the legend's lines are in the first
        assert sum(len(line.get_xdata()) == 1 for line in ax.lines) == len(points)
