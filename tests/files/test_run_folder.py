import json
from pathlib import Path

import pytest

from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.support.files.run_folder import (
    TrainingRun,
    find_arms,
    is_base,
    kind_of,
    training_run,
    write_status,
)


def checkpoint(run, step, whole):
    folder = run.checkpoints / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    if whole:
        run.mark_complete(step)
    return folder


def test_the_base_at_another_temperature_is_an_arm_that_nothing_trained(tmp_path):
    for folder in ("grpo/seed_0", "base/evaluation", "base/temperature_0.5/evaluation"):
        (tmp_path / folder).mkdir(parents=True)
    found = {one.arm: one.seeds for one in find_arms(tmp_path)}
    assert list(found) == ["base", "base_temperature_0.5", "grpo"]
    assert found["base_temperature_0.5"] == {0: tmp_path / "base/temperature_0.5"}
    assert [is_base(arm) for arm in found] == [True, True, False]


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


def written(run, step):
    files.append_line(run.metrics, {"step": step})
    folder = run.checkpoint(step)
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights" * 100)
    (folder / "trainer_state.json").write_text("{}")
    run.mark_complete(step)
    return folder


def cut(path):
    path.write_bytes(path.read_bytes()[:1])


SPOILS = [cut, Path.unlink, lambda path: path.write_bytes(bytes(path.stat().st_size))]


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("name", ["model.safetensors", "trainer_state.json"])
def test_a_damaged_checkpoint_is_given_up_for_the_one_before(tmp_path, caplog, spoil, name):
    run = TrainingRun(tmp_path)
    second, fourth = written(run, 2), written(run, 4)
    assert run.usable_checkpoint() == fourth
    spoil(fourth / name)
    assert run.usable_checkpoint() == second
    message = f"{fourth / name} is damaged: training repeats the steps after checkpoint-2"
    assert caplog.messages == [message]
    run.remove_incomplete()
    assert not fourth.exists()
    spoil(second / name)
    assert run.usable_checkpoint() is None
    assert "training repeats the steps after the start" in caplog.messages[1]


def test_a_checkpoint_whose_step_was_cut_from_the_metrics_is_given_up(tmp_path, caplog):
    run = TrainingRun(tmp_path)
    second, _ = written(run, 2), written(run, 4)
    files.write_lines(run.metrics, files.read_lines(run.metrics)[:1])
    assert run.usable_checkpoint() == second
    message = "ends at step 2, but step 4 is done: training repeats the steps after checkpoint-2"
    assert caplog.messages == [f"{run.metrics} {message}"]
    run.metrics.unlink()
    assert run.usable_checkpoint() is None
    assert "holds no step, but step 2 is done" in caplog.messages[1]


def test_metrics_that_lack_a_step_that_nothing_repeats_are_refused(tmp_path):
    run = TrainingRun(tmp_path)
    written(run, 3)
    run.refuse_cut_metrics(3)
    with pytest.raises(RunError, match="ends at step 3, but step 5 is done: put the whole file"):
        run.refuse_cut_metrics(5)
    with pytest.raises(RunError, match="ends at step 3, but step 5 is done"):
        run.truncate(5)


def test_checkpoints_of_earlier_versions_and_of_other_processes_are_not_checked(tmp_path):
    run = TrainingRun(tmp_path)
    folder = written(run, 2)
    (folder / "rng_state_1.pth").write_text("written by another process, later")
    assert run.usable_checkpoint() == folder
    (folder / "complete").write_text("")
    cut(folder / "model.safetensors")
    assert run.usable_checkpoint() == folder


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
