"""Logs of several tasks: equal ids are different problems, whose task is known."""

import json

import pytest

from setrl.evaluate.loading import load_samples
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.logs.recording import log_records
from setrl.logs.task_fields import LEAST


def rows(fields, problems=4, samples=2):
    """Two tasks with the same ids: what is right in one is wrong in the other."""
    return [
        {**named, "id": i, "draw": s, "gold": f"{place}{i}", "correct": (i + place) % 2}
        for place, named in enumerate(fields)
        for i in range(problems)
        for s in range(samples)
    ]


def write(path, found):
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


@pytest.mark.parametrize("key", ["task", "dataset", "split", "benchmark", "subset", "task_name"])
def test_equal_ids_of_two_tasks_are_different_problems(tmp_path, key):
    log = load_samples(write(tmp_path / "log.jsonl", rows([{key: "x"}, {key: "y"}])))
    found = log
    assert found.ids == (*(f"x/{i}" for i in range(4)), *(f"y/{i}" for i in range(4)))
    assert found.tasks == ("x",) * 4 + ("y",) * 4
    assert found.n == 2
    assert f"{key} + id  its name; tasks share ids" in log.reading[0]
    assert found.samples.golds == (*(f"0{i}" for i in range(4)), *(f"1{i}" for i in range(4)))


def test_a_task_that_begins_after_the_first_rows_is_another_one(tmp_path, monkeypatch):
    monkeypatch.setattr("setrl.logs.log.SNIFFED", 8)
    path = write(tmp_path / "log.jsonl", rows([{"task": "x"}, {"task": "y"}]))
    log = load_samples(path)
    assert log.ids[:5:4] == ("x/0", "y/0")
    assert "task + id" in log.reading[0]
    [one] = [group for group in open_log(path) if group.id == "y/0"]
    assert (one.prompt, one.more) == ("0", {"task": "y"})


def test_only_what_tells_problems_apart_is_in_their_names(tmp_path):
    fields = [{"dataset": "d", "task": "x", "split": "s"}, {"dataset": "d", "task": "y",
                                                           "split": None}]  # fmt: skip
    found = load_samples(write(tmp_path / "log.jsonl", rows(fields)))
    assert (found.ids[0], found.tasks[0]) == ("x/0", "x")
    one = load_samples(write(tmp_path / "one.jsonl", rows(fields[:1])))
    assert (one.ids[0], one.tasks) == ("0", ())


def test_a_field_that_describes_each_problem_is_no_task(tmp_path):
    found = [{"task": f"write {i}", "id": i, "correct": 1} for i in range(4) for _ in range(2)]
    one = load_samples(write(tmp_path / "log.jsonl", found))
    assert (one.ids, one.tasks, LEAST) == (("0", "1", "2", "3"), (), 2)


def test_a_group_that_the_user_names_is_not_questioned(tmp_path):
    path = write(tmp_path / "log.jsonl", rows([{"task": "x"}, {"task": "y"}]))
    log = load_samples(path, LogOptions(FieldNames(group=("id",))))
    assert (log.n, log.tasks) == (4, ())
    assert any("--group task id separates them" in note for note in log.reading)


def test_a_problem_without_an_id_keeps_its_prompt(tmp_path):
    found = [{"task": t, "question": q, "correct": t == q} for t in "xy" for q in "xy"] * 2
    groups = list(open_log(write(tmp_path / "log.jsonl", found)))
    assert [(one.id, one.prompt) for one in groups[:2]] == [("x/x", "x"), ("x/y", "y")]


def test_an_evaluation_file_keeps_the_task(tmp_path):
    log = open_log(write(tmp_path / "log.jsonl", rows([{"task": "x"}, {"task": "y"}])), None,
                   ["correct"])  # fmt: skip
    path = write(tmp_path / "e.jsonl", log_records(log))
    assert load_samples(path).tasks == ("x",) * 4 + ("y",) * 4
