"""Leave-two-out with small groups: the measure is that of the definition, by enumeration."""

import json
from itertools import product

import numpy as np
import pytest

from studies import small_groups


def test_the_best_of_two_is_enumerated(monkeypatch):
    monkeypatch.setattr(small_groups, "ACTIONS", 3)
    monkeypatch.setattr(small_groups, "RUNS", 1)
    monkeypatch.setattr(small_groups, "SAMPLES", 4)
    monkeypatch.setattr(small_groups, "RATE", 1e-12)  # the policy stays uniform
    found = small_groups.compare(4, "leave_one_out")
    best = [
        np.mean([max(pair) for pair in product(rewards, repeat=2)]) / max(rewards)
        for rewards in (np.random.default_rng(draw).uniform(size=3) for draw in range(4))
    ]
    assert found == {"set_size": 2, "mean": pytest.approx(np.mean(best), abs=1e-4),
                     "std": pytest.approx(np.std(best, ddof=1), abs=1e-4)}  # fmt: skip


def test_training_raises_it_and_the_table_has_a_row_for_each_size(monkeypatch, tmp_path):
    monkeypatch.setattr(small_groups, "SIZES", (2, 4))
    monkeypatch.setattr(small_groups, "RUNS", 3)
    monkeypatch.setattr(small_groups, "SAMPLES", 400)
    table = small_groups.run(tmp_path)
    found = json.loads((tmp_path / "small_groups.json").read_text())["by_size"]
    assert [found[size]["leave-two-out"]["set_size"] for size in ("2", "4")] == [1, 2]
    assert all(one["mean"] > 0.75 for of in found.values() for one in of.values())
    assert len(table.splitlines()) == 4
