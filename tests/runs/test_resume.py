import json
import shutil
from pathlib import Path

import pytest

from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import RunError
from setrl.train.runs.resume import (
    changed_logs,
    end_run,
    is_done,
    last_checkpoint,
    mark_complete,
    remove_incomplete,
    remove_older,
    truncate,
    usable_checkpoint,
    write_status,
)


def checkpoint(run, step, whole):
    folder = run.checkpoint_folder / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    run.metrics_file.touch()
    if whole:
        mark_complete(run, step)
    return folder


def test_only_whole_checkpoints_count(tmp_path):
    run = Seed(tmp_path)
    assert last_checkpoint(run) is None
    checkpoint(run, 9, whole=True)
    tenth = checkpoint(run, 10, whole=True)
    partial = checkpoint(run, 11, whole=False)
    files.append_line(run.metrics_file, {"step": 11})
    assert last_checkpoint(run) == 10
    remove_incomplete(run)
    assert tenth.exists()
    assert not partial.exists()


def test_a_checkpoint_of_somebody_stays(tmp_path):
    """Their copy of a checkpoint, their notes beside one, and a folder of another name."""
    run = Seed(tmp_path)
    partial, copy = checkpoint(run, 4, whole=False), checkpoint(run, 300, whole=False)
    (run.checkpoint_folder / "checkpoint-best").mkdir()
    files.append_line(run.metrics_file, {"step": 5})
    for folder in (partial, copy):
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "notes.md").write_text("mine")
    remove_incomplete(run)
    assert [path.name for path in partial.iterdir()] == ["notes.md"]
    assert len(list(copy.iterdir())) == 2
    assert list(run.checkpoints) == [4, 300]


def test_only_complete_checkpoints_are_replaced_by_later_ones(tmp_path):
    run = Seed(tmp_path)
    for step in (2, 3, 4, 5):
        checkpoint(run, step, whole=step != 2)
    (run.checkpoint(3) / "mine.txt").write_text("mine")
    remove_older(run, 2)
    assert list(run.checkpoints) == [2, 3, 4, 5]
    assert [path.name for path in run.checkpoint(3).iterdir()] == ["mine.txt"]
    (run.checkpoint(3) / "mine.txt").unlink()
    files.write_json(run.checkpoint(3) / "complete", {"files": {}})
    remove_older(run, 2)
    assert list(run.checkpoints) == [2, 4, 5]


def written(run, step):
    files.append_line(run.metrics_file, {"step": step})
    folder = run.checkpoint(step)
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights" * 100)
    (folder / "trainer_state.json").write_text("{}")
    mark_complete(run, step)
    return folder


def cut(path):
    path.write_bytes(path.read_bytes()[:1])


SPOILS = [cut, Path.unlink, lambda path: path.write_bytes(bytes(path.stat().st_size))]


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("name", ["model.safetensors", "trainer_state.json"])
def test_a_damaged_checkpoint_is_given_up_for_the_one_before(tmp_path, caplog, spoil, name):
    run = Seed(tmp_path)
    second, fourth = written(run, 2), written(run, 4)
    assert usable_checkpoint(run) == fourth
    spoil(fourth / name)
    assert usable_checkpoint(run) == second
    message = f"{fourth / name} is damaged: training repeats the steps after checkpoint-2"
    assert caplog.messages == [message]
    remove_incomplete(run)
    assert not fourth.exists()
    spoil(second / name)
    assert usable_checkpoint(run) is None
    assert "training repeats the steps after the start" in caplog.messages[1]


def without_line(path, number):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))


@pytest.mark.parametrize("number", [1, 2])
def test_a_line_that_the_metrics_lost_is_trained_again(tmp_path, caplog, number):
    """In the middle or at the end, the checkpoint before the lost line is still good."""
    run = Seed(tmp_path)
    written(run, 2), written(run, 4), written(run, 6)
    without_line(run.metrics_file, number)
    assert usable_checkpoint(run) == run.checkpoint(2 * number)
    said = (
        f"{run.metrics_file} is damaged: training repeats the steps after checkpoint-{2 * number}"
    )
    assert caplog.messages[-1] == said
    truncate(run, 2 * number)
    assert [row["step"] for row in files.read_lines(run.metrics_file)] == [2, 4][:number]
    run.metrics_file.unlink()
    assert usable_checkpoint(run) is None


def test_a_process_may_write_its_part_of_a_checkpoint_later(tmp_path):
    run = Seed(tmp_path)
    folder = written(run, 2)
    (folder / "rng_state_1.pth").write_text("written by another process")
    assert usable_checkpoint(run) == folder
    (folder / "complete").write_text("")
    assert usable_checkpoint(run) is None


def flip(path):
    """Change one bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def finished(run):
    checkpoint = written(run, 2)
    files.append_line(run.metrics_file, {"step": 3})
    shutil.copytree(checkpoint, run.final)
    end_run(run, True, 3)


@pytest.mark.parametrize("name", ["metrics.jsonl", "final/model.safetensors"])
@pytest.mark.parametrize("spoil", [flip, cut, Path.unlink])
def test_a_damaged_file_of_a_finished_run_is_made_again_or_refused(tmp_path, caplog, name, spoil):
    run = Seed(tmp_path)
    finished(run)
    assert is_done(run, run.final, 3)
    spoil(tmp_path / name)
    wrong = f"{tmp_path / name} is missing, or is not what this run wrote"
    if name != "metrics.jsonl":
        assert not is_done(run, run.final, 3)
        assert caplog.messages == [f"{wrong}: it is made again from checkpoint-2"]
    shutil.rmtree(run.checkpoint_folder)
    with pytest.raises(RunError, match=f"{wrong}, and no checkpoint is left: put the file back"):
        is_done(run, run.final, 3)


@pytest.mark.parametrize("spoil", [flip, cut, Path.unlink])
def test_a_log_of_samples_that_changed_is_said_and_costs_no_training(tmp_path, caplog, spoil):
    run = Seed(tmp_path)
    for step in (1, 2):
        files.write_lines(run.rollout_file(step), [{"step": step}])
    finished(run)
    assert is_done(run, run.final, 3)
    assert changed_logs(run) == caplog.messages == []
    spoil(run.rollout_file(2))
    assert changed_logs(run) == ["rollouts/step_000002.jsonl"]
    assert is_done(run, run.final, 3)
    wrong = f"{run.rollout_file(2)} is missing, or is not what this run wrote"
    assert caplog.messages == [wrong]


def test_what_came_after_the_checkpoint_is_dropped(tmp_path):
    run = Seed(tmp_path)
    for step in (1, 2, 3):
        files.append_line(run.metrics_file, {"step": step})
        files.write_lines(run.rollout_file(step), [{"step": step}])
    truncate(run, 2)
    assert [record["step"] for record in files.read_lines(run.metrics_file)] == [1, 2]
    assert [run.rollout_file(step).exists() for step in (1, 2, 3)] == [True, True, False]


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
