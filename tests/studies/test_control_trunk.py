"""The table of docs/poly-ppo.md about the trunk, from the committed numbers."""

import json
from pathlib import Path
from statistics import mean, stdev

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ARMS = json.loads((DOCS / "results" / "control_trunk.json").read_text("utf-8"))["arms"]


def cell(values, digits):
    return f"{mean(values):.{digits}f} ± {stdev(values) / len(values) ** 0.5:.{digits}f}"


@pytest.mark.parametrize("arm", ARMS)
def test_a_row_is_the_mean_of_its_seeds(arm):
    seeds = list(ARMS[arm].values())
    columns = ("success", "effective_goals", "blocked_success", "path_length")
    cells = [cell([one[name] for one in seeds], 2) for name in columns]
    cells += [cell([one["steps"] / one["families"] for one in seeds], 0)]
    trunk, window = arm.split("_")
    row = " | ".join([trunk, {"w5": "5"}.get(window, window), *cells])
    assert f"| {row} |" in (DOCS / "poly-ppo.md").read_text("utf-8")


def test_the_price_in_steps():
    def price(arm):
        return mean(one["steps"] / one["families"] for one in ARMS[arm].values())

    for window in ("w5", "whole"):
        saved = 1 - price(f"member_{window}") / price(f"apart_{window}")
        assert 0.03 < saved < 0.065


def test_the_triangles():
    found = json.loads((DOCS / "results" / "control_trunk.json").read_text("utf-8"))["triangles"]
    seeds = {arm: list(of_seed.values()) for arm, of_seed in found["arms"].items()}
    steps = {arm: {one["steps"] / one["families"] for one in of} for arm, of in seeds.items()}
    assert steps == {"apart_n8_k4": {27.0}, "member_n8_k4": {24.0}}
    distinct = {arm: sorted(int(one["distinct"]) for one in of) for arm, of in seeds.items()}
    assert distinct == {"apart_n8_k4": [157, 172, 227], "member_n8_k4": [178, 189, 202]}
    text = " ".join((DOCS / "poly-ppo.md").read_text("utf-8").split())
    assert "178, 189 and 202 different triangles with it, and 157, 172 and 227 without" in text
