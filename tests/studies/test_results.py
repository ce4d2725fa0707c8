"""What docs/experiments.md says is in the committed numbers, which the default configs give."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from studies import bandits, biased_maze, rollout_trees

DOCS = Path(__file__).parents[2] / "docs"
CONFIGS = {
    "bandits": bandits.BanditsConfig(),
    "biased_maze": biased_maze.BiasedMazeConfig(),
    "rollout_trees": rollout_trees.RolloutTreesConfig(),
}


def read(name: str) -> dict:
    return json.loads((DOCS / "results" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CONFIGS)
def test_numbers_are_those_of_the_default_config(name):
    assert read(name)["config"] == json.loads(json.dumps(asdict(CONFIGS[name])))


def test_where_leave_two_out_helps_and_hurts():
    numbers = read("bandits")
    curves = numbers["curves"]["variance_by_set_size"]
    ratio = np.divide(curves["l2o"]["mean"], curves["ei"]["mean"])
    np.testing.assert_allclose(ratio, [0.25, 0.57, 0.73, 0.85, 0.94, 1.03, 1.14], atol=0.0051)
    maps = {
        name: np.array(found["mean"]) for name, found in numbers["leave_two_out_over_ei"].items()
    }
    for found in maps.values():
        assert (found[:2, 2:] > 1).all()  # few arms
        assert (found[:, -1] > 1.04).all()  # K near N
    assert maps["uniform"][-1, 1] == pytest.approx(0.48, abs=0.005)
    rare = maps["sparse"][2:]
    assert rare.min() > 0.945
    assert 1.015 < rare[:, 3:].min() < rare[:, 3:].max() < 1.385


def test_estimation_errors():
    errors = read("bandits")["curves"]["estimation_error"]
    assert errors["l2o"]["mean"][0] == pytest.approx(0.19, abs=0.005)
    assert errors["l2o"]["mean"][-1] == pytest.approx(0.0098, abs=0.0001)
    assert errors["standardised"]["low"][-1] > 0.05


def test_the_maze_separates_max_from_mean_and_not_maxpo_from_ei():
    last = read("biased_maze")["last_policies"]
    for decoy in ("decoy_3", "decoy_4"):
        assert last[decoy]["reinforce"]["runs_past_the_decoy"] == 0
        assert last[decoy]["l2o"]["runs_past_the_decoy"] == 20
        assert last[decoy]["ei"]["runs_past_the_decoy"] == 20
    for found in last.values():
        for quantity in ("return", "goal"):
            one, two = found["l2o"][quantity], found["ei"][quantity]
            assert one["low"] < two["high"]
            assert two["low"] < one["high"]
    assert last["decoy_0"]["reinforce"]["return"]["mean"] > last["decoy_0"]["l2o"]["return"]["mean"]


def test_the_proxy_is_a_tenth_lower_with_leave_two_out():
    adam = read("bandits")["adam"]
    ratio = adam["l2o"]["proxy"]["mean"][-1] / adam["ei"]["proxy"]["mean"][-1]
    assert ratio == pytest.approx(0.9, abs=0.01)
    assert adam["l2o"]["value"]["low"][-1] < adam["ei"]["value"]["high"][-1]


def test_leave_two_out_has_less_noise_than_s_loo_and_more_than_ei_in_training():
    arms = read("graded")["arms"]
    table = (DOCS / "results/graded/README.md").read_text(encoding="utf-8")
    for size in (2, 4, 6):
        noise = {name: arms[f"{name}_{size}"]["noise"]["mean"] for name in ("s_loo", "l2o", "ei")}
        assert noise["s_loo"] > noise["l2o"] > noise["ei"]
        for name in ("s_loo", "ei", "l2o"):
            for metric in ("max@1", f"max@{size}", "max@16"):
                assert f"| {100 * arms[f'{name}_{size}'][metric]['mean']:.1f} [" in table


def test_what_the_forms_of_the_note_learn():
    arms = read("forms")["arms"]
    table = (DOCS / "results/graded/README.md").read_text(encoding="utf-8")
    for found in arms.values():
        right, far = (f"{100 * found[name]['mean']:.1f}" for name in ("pass@1", "far"))
        interval = r"(?: \[[^]]*\])?"
        assert re.search(
            rf"\| {re.escape(right)}{interval} \| {re.escape(far)}{interval} \|", table
        )
    product, added = (arms[name]["mean right × mean far@4"] for name in ("product", "sum"))
    assert min(added["per_seed"]) < product["mean"] < max(added["per_seed"])  # undecided
    few, many = arms["poly_families"], arms["poly_epo"]
    strategies, families = "right strategies@32", "right families@32"
    assert few[strategies]["mean"] < many[strategies]["mean"] / 2
    assert few[families]["mean"] == pytest.approx(many[families]["mean"], abs=0.1)
