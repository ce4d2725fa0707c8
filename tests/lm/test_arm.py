import dataclasses
import json
import multiprocessing
import os
import resource
import shutil
import signal

import pytest
from safetensors.torch import load_file

from setrl import files
from setrl.errors import ConfigError, RunError
from setrl.files.run_folder import TrainingRun
from setrl.lm.arm import (
    check_model,
    check_problems,
    check_trainer_options,
    grpo_config,
    train_arm,
    training_prompts,
)
from setrl.lm.config import ComparisonConfig
from setrl.runs.pool import Stop
from tests.tiny import tiny_config

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


def train(config, base, folder, stop_at=None):
    run, stop = TrainingRun(folder), Stop()

    def on_step(step):
        if step == stop_at:
            stop.ask()

    finished = train_arm(config, "poly_epo", 3, str(base), run, on_step, stop)
    return run, finished


@pytest.fixture(scope="module")
def whole(base, tmp_path_factory):
    """A run of the plain config that nothing interrupted."""
    run, finished = train(tiny_config(), base, tmp_path_factory.mktemp("whole"))
    assert finished
    return run


@pytest.fixture(scope="module")
def stopped_at_4(base, tmp_path_factory):
    """The folder of the same run, stopped after step 4, where it has a checkpoint."""
    run, finished = train(tiny_config(), base, tmp_path_factory.mktemp("stopped"), stop_at=4)
    assert not finished
    return run.path


def weights(run):
    return (run.final / "model.safetensors").read_bytes()


def comparable_metrics(run):
    """Metrics without times, which differ between runs."""
    records = files.read_lines(run.metrics)
    return [
        {key: value for key, value in record.items() if not key.startswith(("time/", "speed/"))}
        for record in records
    ]


def make(make_config, name):
    return make_config(**CHANGES[name])


@pytest.fixture(autouse=True)
def slow_sampler(request, monkeypatch):
    """In the case "generate", samples are drawn by transformers, with the global generator."""
    if "generate" in request.node.name:
        monkeypatch.setattr("setrl.lm.arm.sampler.sample_ids", None)


@pytest.mark.parametrize("name", CHANGES)
def test_a_stopped_run_ends_with_the_same_bits(request, make_config, base, tmp_path, name):
    config = make(make_config, name)
    if name == "plain":
        whole = request.getfixturevalue("whole")
    else:
        whole, _ = train(config, base, tmp_path / "whole")
    stopped, finished = train(config, base, tmp_path / "stopped", stop_at=3)
    assert not finished
    assert json.loads((stopped.path / "run.json").read_text())["status"] == "interrupted"
    _, finished = train(config, base, stopped.path)
    assert finished
    assert weights(stopped) == weights(whole)
    assert comparable_metrics(stopped) == comparable_metrics(whole)
    assert [record["step"] for record in files.read_lines(stopped.metrics)] == [
        *range(1, config.steps + 1)
    ]
    status = json.loads((stopped.path / "run.json").read_text())
    assert (status["status"], status["step"]) == ("finished", config.steps)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeros(path):
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("spoil", [cut, zeros])
@pytest.mark.parametrize("file", ["model.safetensors", "trainer_state.json", "optimizer.pt"])
def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(
    whole, stopped_at_4, base, tmp_path, caplog, spoil, file
):
    stopped = TrainingRun(shutil.copytree(stopped_at_4, tmp_path / "stopped"))
    spoil(stopped.last_checkpoint() / file)
    _, finished = train(tiny_config(), base, stopped.path)
    assert finished
    assert f"checkpoint-4/{file} is damaged: the steps after checkpoint-2 are lost" in caplog.text
    steps = [record["step"] for record in files.read_lines(stopped.metrics)]
    assert steps == [1, 2, 3, 4, 5, 6]
    assert weights(stopped) == weights(whole)


def killed_at_5(folder, base):
    def on_step(step):
        if step == 5:
            os.kill(os.getpid(), signal.SIGKILL)

    train_arm(tiny_config(), "poly_epo", 3, str(base), TrainingRun(folder), on_step, Stop())


def test_a_killed_run_ends_with_the_same_bits(whole, base, tmp_path):
    config = tiny_config()
    killed = TrainingRun(tmp_path / "killed")
    fork = multiprocessing.get_context("fork")  # which has imported all it needs
    process = fork.Process(target=killed_at_5, args=(killed.path, base))
    process.start()
    process.join(300)
    assert process.exitcode == -signal.SIGKILL
    assert len(files.read_lines(killed.metrics)) == 4  # one step is not in a checkpoint
    with killed.metrics.open("a") as file:  # and it was killed while it wrote a line
        file.write('{"step": 5, "rew')
    partial = killed.checkpoints / "checkpoint-5"  # and a checkpoint
    partial.mkdir()
    (partial / "trainer_state.json").write_text("{")
    train(config, base, killed.path)
    assert weights(killed) == weights(whole)
    assert comparable_metrics(killed) == comparable_metrics(whole)
    assert not partial.exists()


def test_a_checkpoint_that_does_not_fit(make_config, base, tmp_path):
    """Where no file may grow beyond 200 kB, the optimiser's state cannot be written."""
    config = make_config(steps=2)
    assert (base / "model.safetensors").stat().st_size < 200_000
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        with pytest.raises(
            RunError, match=r"cannot write a checkpoint to .*: check the free space"
        ):
            train(config, base, tmp_path / "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    resumed, finished = train(config, base, tmp_path / "full")
    whole, _ = train(config, base, tmp_path / "whole")
    assert finished
    assert weights(resumed) == weights(whole)


def test_a_finished_run_is_not_run_again(whole, base):
    before = whole.metrics.stat().st_mtime_ns
    assert train(tiny_config(), base, whole.path)[1]
    assert whole.metrics.stat().st_mtime_ns == before


def test_arms_differ_but_start_alike(make_config, base, tmp_path):
    """All arms see the same prompts, and the same samples at the first step."""
    config = make_config(steps=2, rollouts_every=1)
    for arm in config.arms:
        stop = Stop()
        train_arm(config, arm, 0, str(base), TrainingRun(tmp_path / arm), lambda _: None, stop)
    runs = [TrainingRun(tmp_path / arm) for arm in config.arms]
    first = [files.read_lines(run.rollouts(1)) for run in runs]
    for one, other in zip(*first, strict=True):
        assert one["prompt"] == other["prompt"]
        assert [s["text"] for s in one["samples"]] == [s["text"] for s in other["samples"]]
    second = [[group["prompt"] for group in files.read_lines(run.rollouts(2))] for run in runs]
    assert second[0] == second[1]


def test_seeds_differ_in_their_prompts(make_config, base, tmp_path):
    runs = [TrainingRun(tmp_path / str(seed)) for seed in (0, 1)]
    for seed, run in enumerate(runs):
        stop = Stop()
        train_arm(make_config(steps=1), "grpo", seed, str(base), run, lambda _: None, stop)
    one, other = [[g["prompt"] for g in files.read_lines(run.rollouts(1))] for run in runs]
    assert one != other


def test_the_final_folder_is_a_model(whole, base):
    assert (
        load_file(whole.final / "model.safetensors").keys()
        == load_file(base / "model.safetensors").keys()
    )
    assert (whole.final / "tokenizer.json").exists()


def test_prompts_are_new_at_every_step(make_config):
    config = make_config(steps=5, prompts_per_step=3)
    prompts = training_prompts(config, 0)["prompt"]
    assert len(set(prompts)) == len(prompts) == 15
    assert training_prompts(config, 0)["prompt"] == prompts != training_prompts(config, 1)["prompt"]


def test_a_limited_number_of_problems_comes_round_again(make_config):
    config = make_config(steps=5, prompts_per_step=3, train_problems=6)
    prompts = list(training_prompts(config, 0)["prompt"])
    assert len(prompts) == 15
    assert set(prompts[:6]) == set(prompts[6:12]) >= set(prompts[12:])
    assert prompts[:6] != prompts[6:12]


def test_chat_models_get_messages(make_config):
    [prompt, _] = training_prompts(make_config(steps=1), 0, is_chat=True)["prompt"]
    assert [message["role"] for message in prompt] == ["user"]


def test_more_problems_than_there_are(make_config, monkeypatch):
    def few(*_):
        raise ValueError("count must be at most about 10 for the train split, got 12")

    monkeypatch.setattr("setrl.domains.polynomial.Polynomial.problems", few)
    with pytest.raises(ConfigError, match=r"at most about 10 .*: set train_problems lower"):
        training_prompts(make_config(), 0)


@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        ({"warmup_step": 3}, "trainer: unknown key of GRPOConfig 'warmup_step'; did you mean"),
        ({"num_generations": 8}, "trainer: num_generations is set by the other keys"),
    ],
)
def test_wrong_arguments_of_trl(make_config, trainer, message):
    with pytest.raises(ConfigError, match=message):
        check_trainer_options(make_config(trainer=trainer))


def test_arguments_of_trl(make_config, tmp_path):
    arms = {"kl": {"method": "dr_grpo", "beta": 0.5, "entropy_coef": 0.25}}
    config = make_config(arms=arms, trainer={"warmup_steps": 3, "activation_checkpointing": True})
    args = grpo_config(config, "kl", 7, tmp_path)
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
    make_config, tmp_path, trainer, recomputes
):
    args = grpo_config(make_config(trainer=trainer), "poly_epo", 0, tmp_path)
    assert args.gradient_checkpointing is recomputes


@pytest.mark.parametrize("name", ["activation_checkpointing", "gradient_checkpointing"])
def test_both_names_of_transformers_are_known(make_config, tmp_path, monkeypatch, name):
    """Before Transformers 5.23 there was one, from 6 on there is the other."""
    given = {}
    keep = {"__init__": lambda self, **options: given.update(options)}
    known = dataclasses.make_dataclass("Known", [(name, bool)], init=False, namespace=keep)
    monkeypatch.setattr("setrl.lm.arm.GRPOConfig", known)
    grpo_config(make_config(), "poly_epo", 0, tmp_path)
    assert {key for key in given if key.endswith("checkpointing")} == {name}
    assert given[name] is False


def test_samples_are_dealt_to_processes(make_config, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match="must divide the 8 samples of a step, got 2 × 3"):
        grpo_config(make_config(), "grpo", 0, tmp_path)


def test_a_model_that_is_not_there(make_config, base, tmp_path):
    check_model(make_config())
    check_model(make_config(model=str(base)))
    with pytest.raises(ConfigError, match="nowhere is not a model's folder or name"):
        check_model(make_config(model=str(tmp_path / "nowhere")))


def test_more_problems_than_there_are_is_said_before_any_training():
    sizes = {"steps": 1, "prompts_per_step": 2, "samples_per_prompt": 4}
    arms = {"grpo": {"method": "grpo"}}
    few = ComparisonConfig(name="few", domain="multiplication", arms=arms, eval_problems=9, **sizes)
    check_problems(few)
    many = dataclasses.replace(few, eval_problems=5_000)
    with pytest.raises(ConfigError, match=r"for the test split, got 5000: set eval_problems lower"):
        check_problems(many)
    long = dataclasses.replace(few, steps=1_000)
    with pytest.raises(ConfigError, match="set train_problems lower"):
        check_problems(long)
