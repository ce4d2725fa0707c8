import dataclasses
import json
import os
import re
import resource
import shutil
import signal
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from safetensors.torch import load_file

from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, RunError, explain
from setrl.tasks.domains import Problem
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.preflight.checks import check_model, check_problems
from setrl.train.lm.resolved import resolve
from setrl.train.lm.trl_arguments import check_trainer_options, grpo_config, training_prompts
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import usable_checkpoint
from tests.tiny import tiny

CHANGES = {
    "plain": {},
    # Two updates from each batch, in micro-batches, with a reference model.
    "iterations": {
        "steps": 7,
        "num_iterations": 2,
        "micro_batch_size": 4,
        "arms": {"poly_epo": {"method": "poly_epo", "set_size": 2, "beta": 0.1}},
    },
    "generate": {"steps": 5, "lr_schedule": "linear"},
}


def train(resolved, base, folder, stop_at=None):
    run, stop = Seed(folder), Stop()

    def on_step(step):
        if step == stop_at:
            stop.ask()

    finished = train_arm(resolved, "poly_epo", 3, str(base), run, on_step, stop)
    return run, finished


@pytest.fixture(scope="module")
def whole(base, tmp_path_factory):
    """A run of the plain config that nothing interrupted."""
    run, finished = train(tiny(), base, tmp_path_factory.mktemp("whole"))
    assert finished
    return run


@pytest.fixture(scope="module")
def stopped_at_4(base, tmp_path_factory):
    """The folder of the same run, stopped after step 4, where it has a checkpoint."""
    run, finished = train(tiny(), base, tmp_path_factory.mktemp("stopped"), stop_at=4)
    assert not finished
    return run.path


def weights(run):
    return (run.final / "model.safetensors").read_bytes()


def comparable_metrics(run):
    """Metrics without times, which differ between runs."""
    records = files.read_lines(run.metrics_file)
    return [
        {key: value for key, value in record.items() if not key.startswith(("time/", "speed/"))}
        for record in records
    ]


def make(make_resolved, name):
    return make_resolved(**CHANGES[name])


@pytest.fixture(autouse=True)
def slow_sampler(request, monkeypatch):
    """In the case "generate", samples are drawn by transformers, with the global generator."""
    if "generate" in request.node.name:
        monkeypatch.setattr("setrl.train.lm.trl_arm.sampler.sample_ids", None)


@pytest.mark.parametrize("name", CHANGES)
def test_a_stopped_run_ends_with_the_same_bits(request, make_resolved, base, tmp_path, name):
    resolved = make(make_resolved, name)
    if name == "plain":
        whole = request.getfixturevalue("whole")
    else:
        whole, _ = train(resolved, base, tmp_path / "whole")
    stopped, finished = train(resolved, base, tmp_path / "stopped", stop_at=3)
    assert not finished
    assert json.loads((stopped.path / "run.json").read_text())["status"] == "interrupted"
    _, finished = train(resolved, base, stopped.path)
    assert finished
    assert weights(stopped) == weights(whole)
    assert comparable_metrics(stopped) == comparable_metrics(whole)
    assert [record["step"] for record in files.read_lines(stopped.metrics_file)] == [
        *range(1, resolved.config.steps + 1)
    ]
    status = json.loads((stopped.path / "run.json").read_text())
    assert (status["status"], status["step"]) == ("finished", resolved.config.steps)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path):
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("spoil", [cut, zeros])
@pytest.mark.parametrize("file", ["model.safetensors", "trainer_state.json", "optimizer.pt"])
def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(
    whole, stopped_at_4, base, tmp_path, caplog, spoil, file
):
    stopped = Seed(shutil.copytree(stopped_at_4, tmp_path / "stopped"))
    spoil(usable_checkpoint(stopped) / file)
    _, finished = train(tiny(), base, stopped.path)
    assert finished
    assert (
        f"checkpoint-4/{file} is damaged: training repeats the steps after checkpoint-2"
        in caplog.text
    )
    steps = [record["step"] for record in files.read_lines(stopped.metrics_file)]
    assert steps == [1, 2, 3, 4, 5, 6]
    assert weights(stopped) == weights(whole)


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_file_of_a_finished_run_is_made_again(whole, base, tmp_path, caplog):
    done = Seed(shutil.copytree(whole.path, tmp_path / "done"))
    flip(done.final / "model.safetensors")
    assert train(tiny(), base, done.path)[1]
    lines = done.metrics_file.read_bytes().splitlines(keepends=True)
    done.metrics_file.write_bytes(b"".join(lines[:4] + lines[5:]))  # after checkpoint-4
    assert train(tiny(), base, done.path)[1]
    wrong = "is missing, or is not what this run wrote: it is made again from checkpoint"
    assert [line.partition(f" {wrong}")[1:] for line in caplog.messages if wrong in line] == [
        (f" {wrong}", "-6"),
        (f" {wrong}", "-4"),
    ]
    assert weights(done) == weights(whole)
    assert comparable_metrics(done) == comparable_metrics(whole)
    shutil.rmtree(done.checkpoint_folder)
    flip(done.final / "model.safetensors")
    with pytest.raises(RunError, match="and no checkpoint is left: put the file back"):
        train(tiny(), base, done.path)


def killed_at_5(folder, base):
    def on_step(step):
        if step == 5:
            os.kill(os.getpid(), signal.SIGKILL)

    train_arm(tiny(), "poly_epo", 3, str(base), Seed(folder), on_step, Stop())


def test_a_killed_run_ends_with_the_same_bits(whole, base, forkserver, tmp_path):
    resolved = tiny()
    killed = Seed(tmp_path / "killed")
    process = forkserver.Process(target=killed_at_5, args=(killed.path, base))
    process.start()
    process.join(300)
    assert process.exitcode == -signal.SIGKILL
    assert len(files.read_lines(killed.metrics_file)) == 4  # one step is not in a checkpoint
    with killed.metrics_file.open("a") as file:  # and it was killed while it wrote a line
        file.write('{"step": 5, "rew')
    partial = killed.checkpoint_folder / "checkpoint-5"  # and a checkpoint
    partial.mkdir()
    (partial / "trainer_state.json").write_text("{")
    train(resolved, base, killed.path)
    assert weights(killed) == weights(whole)
    assert comparable_metrics(killed) == comparable_metrics(whole)
    assert not partial.exists()


@contextmanager
def no_file_beyond(size):
    """A full disk: no file may grow beyond a size."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [200_000, 100_000], ids=["the optimiser", "the weights"])
def test_a_checkpoint_that_does_not_fit(make_resolved, base, tmp_path, size):
    resolved = make_resolved(steps=2)
    assert 100_000 < (base / "model.safetensors").stat().st_size < 200_000
    full = "File too large|No space left on device"
    with no_file_beyond(size), pytest.raises(OSError, match=full) as raised:
        train(resolved, base, tmp_path / "full")
    said = f"cannot write or read {tmp_path}/full/checkpoints: ({full})"
    assert re.fullmatch(said, explain(raised.value))
    resumed, finished = train(resolved, base, tmp_path / "full")
    whole, _ = train(resolved, base, tmp_path / "whole")
    assert finished
    assert weights(resumed) == weights(whole)


def test_a_finished_run_is_not_run_again(whole, base):
    before = whole.metrics_file.stat().st_mtime_ns
    assert train(tiny(), base, whole.path)[1]
    assert whole.metrics_file.stat().st_mtime_ns == before


def test_arms_differ_but_start_alike(make_resolved, base, tmp_path):
    """All arms see the same prompts, and the same samples at the first step."""
    resolved = make_resolved(steps=2, rollouts_every=1)
    for arm in resolved.arms:
        stop = Stop()
        train_arm(resolved, arm, 0, str(base), Seed(tmp_path / arm), lambda _: None, stop)
    runs = [Seed(tmp_path / arm) for arm in resolved.arms]
    first = [files.read_lines(run.rollout_file(1)) for run in runs]
    for one, other in zip(*first, strict=True):
        assert one["prompt"] == other["prompt"]
        assert one["texts"] == other["texts"]
    second = [[group["prompt"] for group in files.read_lines(run.rollout_file(2))] for run in runs]
    assert second[0] == second[1]


def test_seeds_differ_in_their_prompts(make_resolved, base, tmp_path):
    runs = [Seed(tmp_path / str(seed)) for seed in (0, 1)]
    for seed, run in enumerate(runs):
        stop = Stop()
        train_arm(make_resolved(steps=1), "grpo", seed, str(base), run, lambda _: None, stop)
    one, other = [[g["prompt"] for g in files.read_lines(run.rollout_file(1))] for run in runs]
    assert one != other


def test_the_final_folder_is_a_model(whole, base):
    assert (
        load_file(whole.final / "model.safetensors").keys()
        == load_file(base / "model.safetensors").keys()
    )
    assert (whole.final / "tokenizer.json").exists()


def prompts_of(resolved, seed=0, is_chat=False):
    rows = resolved.training_problems(seed)
    return list(training_prompts(resolved.task, rows, is_chat=is_chat)["prompt"])


def test_prompts_are_new_at_every_step(make_resolved):
    resolved = make_resolved(steps=5, prompts_per_step=3)
    prompts = prompts_of(resolved)
    assert len(set(prompts)) == len(prompts) == 15
    assert prompts_of(resolved) == prompts != prompts_of(resolved, seed=1)


def test_a_limited_number_of_problems_comes_round_again(make_resolved):
    resolved = make_resolved(steps=5, prompts_per_step=3, train_problems=6)
    prompts = prompts_of(resolved)
    assert len(prompts) == 15
    assert set(prompts[:6]) == set(prompts[6:12]) >= set(prompts[12:])
    assert prompts[:6] != prompts[6:12]


def test_chat_models_get_messages(make_resolved):
    [prompt, _] = prompts_of(make_resolved(steps=1), is_chat=True)
    assert [message["role"] for message in prompt] == ["user"]


def test_more_problems_than_there_are(make_resolved, monkeypatch):
    def few(*_):
        raise ValueError("count must be at most about 10 for the train split, got 12")

    monkeypatch.setattr("setrl.tasks.domains.polynomial.Polynomial.problems", few)
    with pytest.raises(ConfigError, match=r"at most about 10 .*: set train_problems lower"):
        prompts_of(make_resolved())


@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        ({"warmup_step": 3}, "trainer: unknown key of GRPOConfig 'warmup_step'; did you mean"),
        ({"num_generations": 8}, "trainer: num_generations is set by the other keys"),
        ({"mask_truncated_completions": True}, "is set by the other keys"),
    ],
)
def test_wrong_arguments_of_trl(make_resolved, trainer, message):
    with pytest.raises(ConfigError, match=message):
        check_trainer_options(make_resolved(trainer=trainer))


def test_arguments_of_trl(make_resolved, tmp_path):
    arms = {"kl": {"method": "dr_grpo", "beta": 0.5, "entropy_coef": 0.25}}
    resolved = make_resolved(
        arms=arms, trainer={"warmup_steps": 3, "activation_checkpointing": True}
    )
    args = grpo_config(resolved, resolved.arms["kl"], 7, tmp_path)
    assert (args.beta, args.entropy_coef, args.seed) == (0.5, 0.25, 7)
    assert (args.warmup_steps, args.gradient_checkpointing) == (3, True)
    assert args.generation_batch_size == 8
    assert not args.bf16


@pytest.mark.parametrize(
    ("trainer", "recomputes"),
    [
        ({}, False),
        ({"activation_checkpointing": True}, True),
        ({"gradient_checkpointing": True}, True),
    ],
)
def test_activations_are_computed_again_if_the_config_says_so(
    make_resolved, tmp_path, trainer, recomputes
):
    resolved = make_resolved(trainer=trainer)
    args = grpo_config(resolved, resolved.arms["poly_epo"], 0, tmp_path)
    assert args.gradient_checkpointing is recomputes


@pytest.mark.parametrize("name", ["activation_checkpointing", "gradient_checkpointing"])
def test_both_names_of_transformers_are_known(make_resolved, tmp_path, monkeypatch, name):
    """Before Transformers 5.23 there was one, from 6 on there is the other."""
    given = {}
    keep = {"__init__": lambda self, **options: given.update(options)}
    known = dataclasses.make_dataclass("Known", [(name, bool)], init=False, namespace=keep)
    monkeypatch.setattr("setrl.train.lm.trl_arguments.GRPOConfig", known)
    resolved = make_resolved()
    grpo_config(resolved, resolved.arms["poly_epo"], 0, tmp_path)
    assert {key for key in given if key.endswith("checkpointing")} == {name}
    assert given[name] is False


def test_samples_are_dealt_to_processes(make_resolved, tmp_path, monkeypatch):
    resolved = make_resolved()
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match="must divide the 8 samples of a step, got 2 × 3"):
        grpo_config(resolved, resolved.arms["grpo"], 0, tmp_path)


def test_a_model_that_is_not_there(base, tmp_path):
    check_model(None)
    check_model(str(base))
    with pytest.raises(ConfigError, match="nowhere is not a model's folder or name"):
        check_model(str(tmp_path / "nowhere"))


def test_more_problems_than_there_are_is_said_before_any_training():
    sizes = {"steps": 1, "prompts_per_step": 2, "samples_per_prompt": 4}
    arms = {"grpo": {"method": "grpo"}}
    few = ComparisonConfig(name="few", domain="multiplication", arms=arms, eval_problems=9, **sizes)
    check_problems(resolve(few))
    many = dataclasses.replace(few, eval_problems=5_000)
    with pytest.raises(ConfigError, match=r"for the test split, got 5000: set eval_problems lower"):
        check_problems(resolve(many))
    long = dataclasses.replace(few, steps=1_000)
    with pytest.raises(ConfigError, match="set train_problems lower"):
        check_problems(resolve(long))


@pytest.mark.parametrize("values", [[2**70, 1], [{"x": [1]}, {"x": ["one"]}]])
def test_a_column_that_no_data_set_can_hold_is_named(values):
    """Kinds of values in a file are compared before, when it is read."""
    found = [Problem("q", columns={"mine": value}) for value in values]
    task = SimpleNamespace(name="own", form=None)
    with pytest.raises(DataError, match="the field 'mine' holds a number of more than 64 bits, or"):
        training_prompts(task, found)
