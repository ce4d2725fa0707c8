import json

import pytest

from setrl import files
from setrl.errors import ConfigError
from setrl.logs.run_folder import TrainingRun, kind_of, training_run, write_status


def checkpoint(run, step, whole):
    folder = run.checkpoints / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    if whole:
        run.mark_complete(step)
    return folder


def test_only_whole_checkpoints_count(tmp_path):
    run = TrainingRun(tmp_path)
    assert run.last_checkpoint() is None
    checkpoint(run, 9, whole=True)
    tenth = checkpoint(run, 10, whole=True)
    partial = checkpoint(run, 11, whole=False)
    assert run.last_checkpoint() == tenth
    run.remove_incomplete()
    assert tenth.exists()
    assert not partial.exists()


def test_what_came_after_the_checkpoint_is_dropped(tmp_path):
    run = TrainingRun(tmp_path)
    for step in (1, 2, 3):
        files.append_line(run.metrics, {"step": step})
        files.write_lines(run.rollouts(step), [{"step": step}])
    run.truncate(2)
    assert [record["step"] for record in files.read_lines(run.metrics)] == [1, 2]
    assert [run.rollouts(step).exists() for step in (1, 2, 3)] == [True, True, False]


def test_a_status_keeps_what_is_known(tmp_path):
    write_status(tmp_path, "failed", arm="grpo", error="no disk")
    first = json.loads((tmp_path / "run.json").read_text())
    assert (first["schema_version"], first["status"], first["error"]) == (1, "failed", "no disk")
    write_status(tmp_path, "finished", step=3)
    last = json.loads((tmp_path / "run.json").read_text())
    assert (last["status"], last["error"], last["arm"], last["step"]) == (
        "finished",
        None,
        "grpo",
        3,
    )
    assert last["created"] == first["created"]


def test_where_a_run_is(tmp_path):
    assert training_run(tmp_path, "grpo", 3).path == tmp_path / "grpo" / "seed_3"


def test_a_run_of_a_later_version_is_refused_by_its_schema(tmp_path):
    record = {"schema_version": 2, "kind": "comparison", "name": "new"}
    files.write_json(tmp_path / "run.json", record)
    with pytest.raises(ConfigError, match=r"run\.json has schema version 2, .* reads 1: use the"):
        kind_of(tmp_path)


def test_a_run_from_before_kinds_were_recorded_is_a_comparison(tmp_path):
    files.write_json(tmp_path / "run.json", {"schema_version": 1, "name": "old"})
    assert kind_of(tmp_path) == "comparison"
