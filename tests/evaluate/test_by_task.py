"""Tables by task and macro averages."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from setrl.evaluate.by_task import (
    difference_table,
    differences_by_task,
    estimates_by_task,
    task_table,
)
from setrl.evaluate.comparison import compare_paths
from setrl.evaluate.intervals import IntervalConfig, t_quantile

TASKS = ("x", "x", "x", "y", "y")
VALUES = np.array([[1.0, 0.5, 0.0, 1.0, 0.75]])
PLAIN = IntervalConfig()


def test_the_macro_average_weighs_each_task_the_same():
    found = estimates_by_task(TASKS, {"pass@1": VALUES}, PLAIN)
    assert found.problems == {"x": 3, "y": 2}
    assert [found.tasks[task]["pass@1"].value for task in "xy"] == [0.5, 0.875]
    assert found.macro["pass@1"].value == float(Fraction(1, 2) + Fraction(7, 8)) / 2
    assert (found.macro["pass@1"].problems, found.macro["pass@1"].missing) == (5, 0)


def test_its_interval_is_that_of_welch_where_no_tail_is_longer():
    half = np.random.default_rng(0).random(20)
    values = np.concatenate([half, 1 - half, half / 4, -half / 4])[None]
    tasks = ["x"] * 40 + ["y"] * 40
    found = differences_by_task(tasks, {"max@1": (values, 0 * values)}, PLAIN).macro["max@1"]
    of_x, of_y = (values[0, rows].var(ddof=1) / 40 for rows in (slice(40), slice(40, 80)))
    stderr = math.sqrt(of_x + of_y) / 2
    degrees = (of_x + of_y) ** 2 / ((of_x**2 + of_y**2) / 39)
    assert found.stderr == pytest.approx(stderr)
    reach = t_quantile(math.floor(degrees), 0.95) * stderr
    assert found.value - found.low == pytest.approx(reach, rel=0.05)
    assert (found.first, found.second, found.value) == pytest.approx((0, 0.25, -0.25))


def test_tasks_that_are_all_right_may_be_less_on_other_problems():
    """Each end of 3 and of 2 problems counts, over the number of tasks."""
    found = estimates_by_task(TASKS, {"pass@1": np.ones((1, 5))}, PLAIN)
    ends = [found.tasks[task]["pass@1"].low for task in "xy"]
    assert found.macro["pass@1"].low == pytest.approx(
        1 - math.hypot(*(1 - low for low in ends)) / 2
    )
    assert found.macro["pass@1"].high == 1


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
