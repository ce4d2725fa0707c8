import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from setrl import cli
from setrl.logs.run import Run, Seed
from setrl.show.report import style
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.train.lm import run as comparison
from setrl.train.lm.run import LanguageModelArms, run_comparison
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs import pool
from setrl.train.runs.pool import Stop, run_jobs
from setrl.train.runs.resume import usable_checkpoint, write_status
from setrl.train.runs.run import arm_job
from tests import tiny_model
from tests.at_once import at_once


def statuses(run_dir):
    return {
        str(path.parent.relative_to(run_dir)): json.loads(path.read_text())["status"]
        for path in run_dir.rglob("run.json")
    }


def weights(run):
    return (run.final / "model.safetensors").read_bytes()


def command(errors, environment, *arguments):
    """`setrl` in this process; its jobs are forked from it, as a server would import all again."""
    os.setsid()
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), sys.stderr.fileno())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, pool.INTERRUPTS)
    os.environ.update(environment)
    fork = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda _: fork
    pool._start_forkserver = lambda _: None
    cli.main([*map(str, arguments)])


def test_an_interrupted_run_and_the_same_command_again(make_resolved, base, forkserver, tmp_path):
    """Interrupted while two arms train: checkpoints, the exit code; then it goes on to the end.

    Ctrl-C takes the same way: tests/runs/test_pool.py and tests/cli/test_cli.py send both signals.
    """
    steps, run_dir, cache = 24, tmp_path / "run", base.parent
    resolved = make_resolved(
        steps=steps,
        checkpoint_every=18,
        eval_splits=["test"],
        eval_problems=2,
        eval_samples=4,
        cold_base=0.5,
        stop_rule=None,  # this base solves nothing
    )
    (tmp_path / "config.yaml").write_text(resolved.config.to_yaml())
    options = ("--config", tmp_path / "config.yaml", "--run-dir", run_dir)
    errors, environment = tmp_path / "errors", {"OMP_NUM_THREADS": "1", "SETRL_CACHE": str(cache)}
    first = Run(run_dir).seed("grpo", 0)
    process = forkserver.Process(target=command, args=(errors, environment, "train", *options))
    process.start()
    deadline = time.monotonic() + 300
    while not files.read_lines(first.metrics_file) and time.monotonic() < deadline:
        assert process.is_alive(), errors.read_text()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGTERM)  # as a batch system does
    process.join(300)
    assert process.exitcode == 143, errors.read_text()
    assert statuses(run_dir)["."] == "interrupted"
    reached = len(files.read_lines(first.metrics_file))
    assert 0 < reached < steps
    assert usable_checkpoint(first) == first.checkpoint_folder / f"checkpoint-{reached}"

    with at_once():
        assert run_comparison(resolved, run_dir, cache=cache, show_progress=False) == run_dir
    assert set(statuses(run_dir).values()) == {"finished"}
    for arm in resolved.arms:
        run = Run(run_dir).seed(arm, 0)
        recorded = [record["step"] for record in files.read_lines(run.metrics_file)]
        assert recorded == list(range(1, steps + 1))
        assert len(files.read_lines(run.path / "evaluation" / "test.jsonl")) == 2
    for model in ("base", *(f"{arm}/seed_0" for arm in resolved.arms)):
        for folder, temperature in (("", 1.0), ("temperature_0.5", 0.5)):
            evaluated = files.read_lines(run_dir / model / folder / "evaluation" / "test.jsonl")
            assert [record["temperature"] for record in evaluated] == [temperature] * 2

    files.write_text(run_dir / "base" / "tokenizer.json", "{}")
    with pytest.raises(
        ConfigError, match=r"began with something else:\n  base: tokenizer\.json ch"
    ):
        run_comparison(resolved, run_dir, cache=cache, show_progress=False)
    assert set(statuses(run_dir).values()) == {"finished"}
    shutil.copy(base / "tokenizer.json", run_dir / "base")

    whole, stop = Seed(tmp_path / "whole"), Stop()
    train_arm(resolved, "poly_epo", 0, run_dir / "base", whole, lambda _: None, stop)
    assert weights(whole) == weights(Run(run_dir).seed("poly_epo", 0))


def test_the_report_of_a_finished_run_calls_it_finished(make_resolved, base, tmp_path, monkeypatch):
    resolved = make_resolved(steps=1, arms={"grpo": {"method": "grpo"}})
    (tmp_path / "config.yaml").write_text(resolved.config.to_yaml())
    monkeypatch.setenv("SETRL_CACHE", str(base.parent))
    monkeypatch.setattr(style, "DPI", 40)
    options = ["--config", tmp_path / "config.yaml", "--run-dir", tmp_path / "run"]
    with pytest.raises(SystemExit) as left, at_once():
        cli.main(["train", *map(str, options)])
    assert left.value.code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert not re.search(r"status[^<]*(<[^>]*>\s*)+running", page)
    assert re.search(r"status[^<]*(<[^>]*>\s*)+finished", page)


def test_an_arm_that_fails_does_not_stop_the_others(make_resolved, base, tmp_path):
    models = {"grpo": tmp_path / "no model", "poly_epo": base}
    configs = {arm: make_resolved(steps=1, model=str(model)) for arm, model in models.items()}
    jobs = [
        arm_job(LanguageModelArms(resolved, tmp_path, tmp_path), arm, 0)
        for arm, resolved in configs.items()
    ]
    with pytest.raises(RunError, match="1 of 2 jobs failed:\n  grpo/0: "):
        run_jobs(jobs, workers=1, show_progress=False, preload=comparison.__name__)
    assert statuses(tmp_path)["poly_epo/seed_0"] == "finished"
    assert "Traceback" in (tmp_path / "grpo" / "seed_0" / "traceback.txt").read_text()


@pytest.mark.parametrize("own", [True, False])
def test_a_base_that_was_removed_is_never_a_name_on_a_hub(
    make_resolved, base, tmp_path, monkeypatch, own
):
    monkeypatch.chdir(tmp_path)
    folder = Path("run/base" if own else "mine")
    shutil.copytree(base, folder)
    resolved = make_resolved(model=None if own else str(folder), eval_splits=["test"])
    arms = LanguageModelArms(resolved, Path("run"), tmp_path / "cache")
    arms.prepare(show_progress=False)
    shutil.rmtree(folder)
    run = Run(Path("run")).seed("grpo", 0)
    message = f"^{tmp_path / folder} is missing: all arms start from"
    with pytest.raises(RunError, match=message):
        arms.train("grpo", 0, run, lambda _: None, Stop())
    with pytest.raises(RunError, match=message):
        arms.evaluate_base(Seed(Path("run/base")), lambda _: None, Stop())
    assert not (folder / "evaluation").exists()


@pytest.mark.parametrize("content", [b"", b"x" * 64, None])
@pytest.mark.parametrize("own", [True, False])
def test_damaged_weights_of_the_base_are_named(make_resolved, base, tmp_path, own, content):
    """None: the file was cut off in the middle."""
    folder = tmp_path / "run" / "base" if own else tmp_path / "mine"
    shutil.copytree(base, folder)
    file = folder / "model.safetensors"
    whole = file.read_bytes()
    resolved = make_resolved(model=None if own else str(folder))
    arms = LanguageModelArms(resolved, tmp_path / "run", tmp_path / "cache")
    arms.prepare(show_progress=False)
    file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(DataError) as error:
        arms.prepare(show_progress=False)
    assert str(file) in str(error.value)
    assert (f"remove {folder} and run" if own else "save or download") in str(error.value)


def test_a_damaged_model_in_the_cache_is_named(make_resolved, base, tmp_path, monkeypatch):
    made = tmp_path / "cache" / "base-x"
    shutil.copytree(base, made)
    (made / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(comparison, "base_model", lambda *_: made)
    arms = LanguageModelArms(make_resolved(model=None), tmp_path / "run", tmp_path / "cache")
    with pytest.raises(DataError, match=f"remove {made}"):
        arms.prepare(show_progress=False)
    assert not (tmp_path / "run" / "base").exists()


@pytest.fixture
def no_training(monkeypatch):
    monkeypatch.setattr(comparison, "base_model", None)
    monkeypatch.setattr("setrl.train.runs.run.run_jobs", None)


@pytest.fixture
def earlier(make_resolved, tmp_path):
    """The folder of a run with `make_resolved()`."""
    folder = tmp_path / "earlier"
    files.write_text(folder / "grpo" / "seed_0" / "metrics.jsonl", "")
    write_status(folder, "finished", name="earlier", kind="comparison")
    (folder / "config.yaml").write_text(make_resolved().config.to_yaml())
    return folder


@pytest.mark.usefixtures("no_training")
def test_another_config_is_refused_with_what_differs(make_resolved, earlier):
    before = (earlier / "config.yaml").read_text()
    with pytest.raises(ConfigError) as error:
        run_comparison(make_resolved(steps=7, learning_rate=0.5), earlier)
    assert "steps: 6 → 7\n  learning_rate: 0.001 → 0.5\n" in str(error.value)
    assert "--overwrite" in str(error.value)
    assert (earlier / "config.yaml").read_text() == before
    assert (earlier / "grpo").exists()


@pytest.mark.usefixtures("no_training")
def test_overwriting_removes_the_run(make_resolved, earlier):
    with pytest.raises(TypeError):  # training, which is not there, would begin
        run_comparison(make_resolved(steps=7), earlier, overwrite=True)
    assert not (earlier / "grpo").exists()
    assert "steps: 7" in (earlier / "config.yaml").read_text()
    assert statuses(earlier) == {".": "failed"}


@pytest.mark.usefixtures("no_training")
def test_a_folder_that_cannot_be_made(make_resolved):
    with pytest.raises(RunError, match="cannot write or read /dev/null/run: Not a directory"):
        run_comparison(make_resolved(), Path("/dev/null/run"))


@pytest.mark.usefixtures("no_training")
def test_wrong_arguments_of_trl_are_refused_before_anything_is_made(make_resolved, tmp_path):
    with pytest.raises(ConfigError, match="trainer: unknown key"):
        run_comparison(make_resolved(trainer={"warmup": 3}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_training")
def test_another_model_is_pointed_at(make_resolved, tmp_path):
    model = str(tiny_model.make(tmp_path / "model"))
    with pytest.raises(TypeError):
        run_comparison(make_resolved(model=model), tmp_path / "run")
    assert files.read_json(tmp_path / "run" / "base" / "base.json")["path"] == model


@pytest.mark.usefixtures("no_training")
def test_a_model_that_is_not_there_is_refused_before_anything_is_trained(make_resolved, tmp_path):
    with pytest.raises(ConfigError, match="nothing is not a model's folder or name"):
        run_comparison(make_resolved(model=str(tmp_path / "nothing")), tmp_path / "run")
    assert not (tmp_path / "run").exists()
