"""What a recipe's README says about the number of its training runs is what its configs have."""

import re
from pathlib import Path

import pytest
import yaml

RECIPES = Path(__file__).parents[2] / "recipes"


def training_runs(folder: Path) -> list[int]:
    """Arms × seeds of each config that is a run."""
    configs = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(folder.glob("*.yaml"))]
    return [
        len(one["arms"]) * len(one["seeds"]) for one in configs if {"arms", "seeds"} <= set(one)
    ]


def said(text: str) -> list[int]:
    """The numbers before "training runs", such as 27 in "27, 12 and 9 training runs"."""
    found = re.findall(r"((?:\d+(?:, | and ))*\d+)\s+training\s+runs", text)
    return [int(number) for numbers in found for number in re.findall(r"\d+", numbers)]


PAGES = [page for page in sorted(RECIPES.glob("*/README.md")) if said(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_number_of_training_runs_is_that_of_a_config(page):
    counts = training_runs(page.parent)
    for number in said(page.read_text("utf-8")):
        assert number in counts, f"{number} of {counts}"


def test_numbers_in_a_list_are_read():
    assert said("It has 27, 12 and 9 training\nruns, and two others.") == [27, 12, 9]
    assert training_runs(RECIPES / "control_readings") == [35]
