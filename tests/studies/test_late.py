"""Strategies that are found late, or grow: by hand."""

from collections import Counter

import pytest

from setrl.support import files
from studies import late


def test_late_and_growing_by_hand():
    by_step = {
        step: Counter({"": 10_000, "a": 5_000, "rare": 5 if step < 90 else 200, "new": step > 60})
        for step in range(10, 101, 10)
    }
    by_step = {step: Counter({k: v for k, v in one.items() if v}) for step, one in by_step.items()}
    found = late.late_and_growing(by_step)
    assert found["late"] == ["new"]
    assert found["late_share_at_the_end"] == pytest.approx(1e-4)
    assert found["growing"] == ["rare"]


def test_only_right_samples_with_a_strategy_count(tmp_path):
    samples = [
        {"reward": 1.0, "strategy": "a"},
        {"reward": 0.0, "strategy": "b"},
        {"reward": 1.0, "strategy": None},
    ]
    files.write_lines(tmp_path / "step.jsonl", [{"samples": samples}])
    assert late.right_strategies(tmp_path / "step.jsonl") == Counter({"": 3, "a": 1})
