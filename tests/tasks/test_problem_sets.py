"""Problems with gold answers: those that cannot be graded are left out."""

import pytest

from setrl.support.errors import DataError
from setrl.tasks import Problem
from setrl.tasks.base import math_problems


def test_problems_with_unfit_golds_are_left_out_by_name(capsys):
    problems = [Problem("p", id="a/0", gold="\\frac{}{2}"), Problem("q", id="a/1", gold="3")]
    task = math_problems("a", problems)
    assert [problem.id for problem in task.problems] == ["a/1"]
    assert "a: 1 of 2 problems is left out" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"a: no gold answer can be used.*a/0 \(an empty group\)"):
        math_problems("a", problems[:1])


def test_a_task_reads_by_its_problems_unit_and_error():
    texts = ["\\boxed{4.3}", "\\boxed{4.2\\text{ km}}"]
    problems = [
        Problem("p", id="a/0", gold="4.2"),
        Problem("q", id="a/1", gold="4.2", unit="km"),
        Problem("r", id="a/2", gold="4.2", error=0.1),
    ]
    task = math_problems("a", problems)
    found = [[one.correct for one in task.read(problem, texts)] for problem in task.problems]
    assert found == [[False, False], [False, True], [True, False]]
