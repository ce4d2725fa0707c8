"""The study of wrong comparisons: it goes on where it stopped, and pages show what it counted."""

import json
from pathlib import Path

import numpy as np
import pytest

from studies import comparison_coverage as study

DOCS = Path(__file__).parents[2] / "docs"


def counted(path):
    return {name: (record["times"], record["counts"])
            for name, record in json.loads(path.read_text()).items()}  # fmt: skip


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    cells = (study.Cell(10, 6, 3, "Beta(2, 1)"),
             study.Cell(8, 4, 4, "Beta(1, 1)", "p²", labels=True))  # fmt: skip
    monkeypatch.setattr(study, "CELLS", cells)
    monkeypatch.setattr(study, "BATCH", 4)
    monkeypatch.setattr(study, "TRUTH", 20_000)
    study.run(8, tmp_path / "whole.json")
    for times in (4, 8):
        study.run(times, tmp_path / "parts.json")
    found = counted(tmp_path / "whole.json")
    assert found == counted(tmp_path / "parts.json")
    assert {times for times, _ in found.values()} == {8}
    assert len(list(study.rows(json.loads((tmp_path / "whole.json").read_text())))) == 5 + 1 + 6


def test_the_truth_is_the_difference_of_the_rates():
    """pass@1 of p² is E p² for p of Beta(1, 1): 1/3 − 1/2; equal models differ by 0."""
    harder = study.truth_of(study.Cell(10, 4, 2, "Beta(1, 1)", "p²"))
    assert harder["pass@1"] == pytest.approx(-1 / 6, abs=2e-3)
    assert not any(study.truth_of(study.Cell(10, 4, 2, "Beta(1, 1)")).values())


def test_a_tally_counts_what_is_inside_and_what_excludes_0():
    tally = study.Tally()
    tally.add(0.1, 0.3, 0.2)
    tally.add([-1.0, np.nan], [1.0, np.nan], [0.0, 5.0])  # an unknown place claims nothing
    tally.add(-0.2, -0.1, 0.0)
    assert (tally.inside, tally.shown) == (2, 2)


def test_pages_show_what_was_counted():
    lines = [*study.rows(json.loads(study.RESULTS.read_text()))]
    page = (DOCS / "results" / "evaluation" / "README.md").read_text("utf-8").splitlines()
    assert {*lines} - {""} <= {*page}
    guide = (DOCS / "evaluation.md").read_text("utf-8").splitlines()
    assert len([line for line in guide if line.split(" × ")[0] in ("| 30", "| 200")]) >= 4
    assert {line for line in guide if line.split(" × ")[0] in ("| 30", "| 200")} <= {*lines}
