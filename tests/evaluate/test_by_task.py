"""Tables by task and macro averages."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from setrl.evaluate.by_task import differences_by_task, estimates_by_task
from setrl.evaluate.comparison import compare_paths
from setrl.evaluate.intervals import IntervalConfig
from setrl.evaluate.task_text import difference_table, task_table

TASKS = ("x", "x", "x", "y", "y")
VALUES = np.array([[1.0, 0.5, 0.0, 1.0, 0.75]])
PLAIN = IntervalConfig(method="analytic")


def test_the_macro_average_weighs_each_task_the_same():
    found = estimates_by_task(TASKS, {"pass@1": VALUES}, PLAIN)
    assert found.problems == {"x": 3, "y": 2}
    assert [found.tasks[task]["pass@1"].value for task in "xy"] == [0.5, 0.875]
    assert found.macro["pass@1"].value == float(Fraction(1, 2) + Fraction(7, 8)) / 2
    assert (found.macro["pass@1"].problems, found.macro["pass@1"].missing) == (5, 0)


def test_its_interval_is_that_of_welch():
    found = differences_by_task(TASKS, {"max@1": (VALUES, 0 * VALUES)}, PLAIN).macro["max@1"]
    of_x, of_y = 0.25 / 3, 0.03125 / 2
    stderr = math.sqrt(of_x + of_y) / 2
    assert found.stderr == pytest.approx(stderr)
    assert 2 < (of_x + of_y) ** 2 / (of_x**2 / 2 + of_y**2 / 1) < 3
    assert found.high - found.value == pytest.approx(4.302652729749 * stderr)
    assert found.value == pytest.approx(-0.6875)


def test_what_is_unknown_of_a_task_is_unknown_of_all():
    values = np.where(np.arange(5) < 3, VALUES, np.nan)
    found = estimates_by_task(TASKS, {"pass@1": values}, PLAIN)
    assert math.isnan(found.macro["pass@1"].value)
    assert estimates_by_task((), {"pass@1": VALUES}, PLAIN) is None
    assert estimates_by_task(("x",) * 5, {"pass@1": VALUES}, PLAIN) is None


def test_seeds_of_one_model_give_no_interval_over_tasks():
    found = estimates_by_task(TASKS, {"pass@1": np.repeat(VALUES, 2, axis=0)}, PLAIN)
    assert math.isnan(found.macro["pass@1"].low)
    assert "68.8% [—]" in task_table(found)


def log(path, rights, tasks=("x", "y"), problems=12):
    with path.open("w") as file:
        for task in tasks:
            for i in range(problems):
                for s in range(4):
                    right = s < rights[task] + (i % 2)
                    file.write(json.dumps({"task": task, "id": i, "sample": s, "correct": right}))
                    file.write("\n")
    return path


def test_a_comparison_says_which_run_is_better_on_what(tmp_path):
    a, b = log(tmp_path / "a.jsonl", {"x": 3, "y": 0}), log(tmp_path / "b.jsonl", {"x": 0, "y": 3})
    found = compare_paths(a, b).by_task
    assert [found.tasks[task]["pass@1"].value for task in "xy"] == [-0.75, 0.75]
    assert found.macro["pass@1"].value == 0
    assert "pass@1: B is above A on y and below A on x, each looked at" in difference_table(found)


def test_a_log_of_one_task_is_compared_with_a_log_of_several(tmp_path):
    both, one = log(tmp_path / "a.jsonl", {"x": 3, "y": 0}), tmp_path / "b.jsonl"
    log(one, {"y": 3}, tasks="y")
    for first, second, sign in ((both, one, 1), (one, both, -1)):
        found = compare_paths(first, second)
        assert (found.problems, found.rows[0].difference.value) == (12, 0.75 * sign)
        assert not any("differ in task" in note for note in found.notes)
