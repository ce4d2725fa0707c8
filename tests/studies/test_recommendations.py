"""The comparison of recommendations with recorded arms: which runs count, and what regret is."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("transformers")

from setrl.recommend.choice import TRAINED, Goal
from studies import recommendations
from studies.predictions import NAMES
from studies.recommendations import (
    RESULTS,
    Run,
    by_method,
    compared,
    errors,
    recorded,
    regret_of,
)

SEEDS = {
    "grpo": np.array([[0.94, 0.92], [1.0, 1.2]]),
    "poly_epo": np.array([[0.86, 0.84], [6.0, 6.4]]),
    "k2": np.array([[0.90, 0.90], [4.0, 4.0]]),
}
ARMS = {"grpo": {"method": "grpo"}, "poly_epo": {"method": "poly_epo"}, "k2": {"method": "maxpo"}}
RUN = Run("here", "quadratic", 100, 16, 16, ARMS, SEEDS, ())
FOUND = {"grpo": (0.95, 1.0), "poly_epo": (0.88, 5.0), "k2": (0.93, 4.5)}


def test_runs_are_those_from_the_bases_of_the_recipes():
    runs = {run.folder: run for run in recorded()}
    assert {"polynomial", "multiplication", "quadratic", "set_size"} <= set(runs)
    assert not any(folder.startswith("control") for folder in runs)
    polynomial = runs["polynomial"]
    assert {"grpo", "maxpo", "poly_epo", "grpo_div"} <= set(polynomial.arms)
    assert "grpo_kl_1" in polynomial.left_out
    assert "poly_epo_growing" in runs["set_size"].left_out
    assert (runs["quadratic"].steps, runs["quadratic"].num_samples) == (100, 16)


def test_trained_methods_are_those_of_runs_with_several_seeds():
    found = {
        config["method"]
        for run in recorded()
        for arm, config in run.arms.items()
        if run.seeds[arm].shape[1] > 1
    }
    assert set(TRAINED) <= found


def test_a_run_from_another_base_is_left_out(tmp_path):
    folder = tmp_path / "weak"
    folder.mkdir()
    source = RESULTS / "quadratic"
    (folder / "summary.json").write_text((source / "summary.json").read_text())
    config = (source / "config.yaml").read_text()
    (folder / "config.yaml").write_text(config)
    assert [run.folder for run in recorded(tmp_path)] == ["weak"]
    assert "base_corpus: 160000" in config
    (folder / "config.yaml").write_text(config.replace("160000", "20000"))
    assert not list(recorded(tmp_path))


def test_regret_is_what_training_would_have_given_more():
    goal = Goal(2.0)
    regret, stderr = regret_of(goal, "grpo", "poly_epo", SEEDS)
    of_poly, of_grpo = [86 + 12, 84 + 12.8], [94 + 2, 92 + 2.4]
    gaps = np.subtract(of_poly, of_grpo)
    assert regret == pytest.approx(gaps.mean())
    assert stderr == pytest.approx(gaps.std(ddof=1) / 2**0.5)
    assert regret_of(Goal(None, 0.05), "poly_epo", "k2", SEEDS) == (None, None)
    regret, _ = regret_of(Goal(None, 0.1), "k2", "poly_epo", SEEDS)
    assert regret == pytest.approx(2.2)


def test_the_choice_is_by_forecasts_and_the_best_by_training():
    found = compared(RUN, Goal(None, 0.1), FOUND, "polynomial")
    assert (found.chosen, found.best) == ("poly_epo", "poly_epo")
    found = compared(RUN, Goal(None, 0.05), FOUND, "polynomial")
    assert (found.chosen, found.best, found.is_within_error) == ("k2", "k2", True)
    found = compared(RUN, Goal(None, 0.02), FOUND, "polynomial")
    assert (found.chosen, found.best, found.regret) == ("k2", "grpo", None)
    assert not found.is_within_error
    assert found.always == {"GRPO": 0.0}


def test_errors_are_forecast_less_training():
    found = {one["arm"]: one for one in errors(RUN, FOUND)}
    assert found["grpo"]["lost"] == 0
    assert found["poly_epo"]["lost"] == pytest.approx((0.95 - 0.88) - (0.93 - 0.85))
    assert found["poly_epo"]["strategies"] == pytest.approx(5.0 - 6.2)
    twice = [*found.values(), {**found["k2"], "lost": -found["k2"]["lost"]}]
    of_k2 = by_method(twice)["maxpo"]
    assert of_k2["arms"] == 2
    assert of_k2["lost, mean error"] == pytest.approx(0)
    assert of_k2["lost, mean absolute error"] == pytest.approx(abs(found["k2"]["lost"]))


def test_the_runs_of_the_front_are_read(tmp_path):
    (tmp_path / "front").mkdir()
    config = {
        "domain": "quadratic",
        "steps": 100,
        "prompts_per_step": 16,
        "samples_per_prompt": 16,
        "arms": ARMS,
    }
    metrics = {
        arm: dict(zip(NAMES, [{"per_seed": row.tolist()} for row in rows], strict=False))
        for arm, rows in SEEDS.items()
    }
    found = {"config": config, "arms": {"test": metrics}}
    (tmp_path / "front" / "finalists.json").write_text(json.dumps(found))
    [run] = recorded(tmp_path)
    assert (run.folder, set(run.arms)) == ("front/finalists", set(ARMS))
    np.testing.assert_array_equal(run.seeds["k2"], SEEDS["k2"])


def test_committed_choices_are_of_domains_that_were_not_fitted_to():
    path = Path(RESULTS) / "recommendations.json"
    numbers = json.loads(path.read_text(encoding="utf-8"))
    assert {choice["fitted_to"] for choice in numbers["choices"]} == set(recommendations.FITTED_TO)
    for choice in numbers["choices"]:
        assert choice["domain"] != choice["fitted_to"]
        if choice["chosen"] == choice["best"]:
            assert choice["regret"] == 0
    held_out = [c for c in numbers["choices"] if c["fitted_to"] == "polynomial"]
    right = sum(choice["is_within_error"] for choice in held_out)
    assert right / len(held_out) > 0.8
