"""recipes/qwen3_4b_polaris: every option is read by its engine; a step with a tiny random model."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from trl import GRPOConfig

from setrl import methods
from setrl.logs.log import open_log
from setrl.logs.run import Run
from setrl.models.local import load_tokenizer
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.server_arm import server_settings, train_on_server
from setrl.train.lm.trl_arguments import check_trainer_options, grpo_config
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from setrl_grader import compute_score
from tests.engines.fake_tinker import FakeServer
from tests.judges.server import FaultyServer

RECIPE = Path(__file__).parents[2] / "recipes" / "qwen3_4b_polaris"
DATA = "task.data=polaris_2000.jsonl.gz"


def script(name):
    """A script of the recipe as a module."""
    spec = importlib.util.spec_from_file_location(f"qwen3_4b_polaris_{name}", RECIPE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


rehearse = script("rehearse")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return rehearse.make_model(tmp_path_factory.mktemp("rehearsal") / "model")


def rehearsal(name, changed):
    """The config that the command of the rehearsal reads."""
    words = rehearse.command(RECIPE / name, changed)
    return ResolvedConfig.load(words[2], words[4::2])


def test_trl_reads_every_option_at_full_size(tmp_path):
    resolved = ResolvedConfig.load(RECIPE / "trl.yaml", [DATA])
    check_trainer_options(resolved)
    found = grpo_config(resolved, resolved.arms["poly_epo"], 0, tmp_path)
    assert isinstance(found, GRPOConfig)
    assert (found.generation_batch_size, found.num_generations) == (128 * 8, 8)
    updates_of_a_batch = found.steps_per_generation / found.gradient_accumulation_steps
    assert (updates_of_a_batch, found.max_steps) == (2, 2 * 850)
    assert (found.learning_rate, found.max_grad_norm, found.beta) == (1e-6, 0.3, 0)
    assert (found.epsilon, found.epsilon_high, found.loss_type) == (0.2, 0.28, "dr_grpo")
    assert (found.use_vllm, found.max_completion_length, found.temperature) == (True, 4096, 1.0)
    assert resolved.arms["poly_epo"].method == methods.poly_epo(4)
    assert resolved.arms["grpo"].method == methods.dr_grpo()


def test_the_prompt_is_the_papers(model):
    resolved = rehearsal("trl.yaml", rehearse.changes(model))
    [row] = resolved.task.training_problems(1, None, 0)
    end = "\nPlease reason step by step, and put your final answer within \\boxed{}."
    assert row.prompt.endswith(end)
    assert resolved.form.is_chat(load_tokenizer(model))


def test_two_updates_of_one_judged_batch(model, tmp_path):
    """TRL trains the tiny model; the judge is asked once a prompt, with the recipe's settings."""
    half = "[math, {function: 'tests.lm.fields_of_mine:half_are_right'}]"  # math alone gives 0
    with FaultyServer() as server:
        changed = rehearse.changes(model, judge=server.url)
        changed |= {"task.reward": half, "task.correct": "math"}
        resolved = rehearsal("trl.yaml", changed)
        run = Run(tmp_path).seed("poly_epo", 0)
        assert train_arm(resolved, "poly_epo", 0, str(model), run, lambda _: None, Stop())
        bodies = server.bodies
    assert len(bodies) == 4  # 2 updates × 2 prompts, sampled as one batch
    assert {body["model"] for body in bodies} == {"Qwen/Qwen3-4B-Instruct-2507"}
    assert {body["temperature"] for body in bodies} == {0}
    assert [one["step"] for one in files.read_lines(run.metrics_file)] == [1, 2]
    [path] = run.rollouts.values()
    groups = list(open_log(path))
    assert [len(group) for group in groups] == [8] * 4
    for group in groups:
        rewards, strategies = (np.array([group.column(key)]) for key in ("reward", "strategy"))
        want = methods.poly_epo(4).advantages(rewards, strategies=strategies).values_BN[0]
        assert want.any()
        np.testing.assert_allclose(group.column("advantage"), want)
    assert run.final.exists()


def test_a_step_through_the_tinker_protocol(model, tmp_path):
    with FaultyServer() as judge:
        changed = rehearse.changes(model, judge=judge.url, tinker="http://127.0.0.1:9")
        resolved, server = rehearsal("tinker.yaml", changed | {"steps": 1}), FakeServer(model)
        run = Run(tmp_path).seed("poly_epo", 0)
        done = train_on_server(resolved, "poly_epo", 0, run, lambda _: None, Stop(), server.connect)
        assert done
        assert len(judge.bodies) == 2
    assert [one["step"] for one in files.read_lines(run.metrics_file)] == [1]


def test_the_settings_for_the_server_at_full_size():
    pytest.importorskip("tinker")
    resolved = ResolvedConfig.load(RECIPE / "tinker.yaml", [DATA])
    settings = server_settings(resolved, 0)
    assert (settings.model, settings.steps, settings.rank) == ("Qwen/Qwen3-4B-Base", 850, 32)
    assert (settings.loss, dict(settings.loss_config)) == ("importance_sampling", {})
    assert settings.learning_rate(850) == 1e-5


def test_all_files_have_the_same_task_and_sizes():
    trl, tinker = (ResolvedConfig.load(RECIPE / f"{n}.yaml", [DATA]) for n in ("trl", "tinker"))
    assert trl.config.task == tinker.config.task
    assert trl.config.arms == tinker.config.arms
    assert trl.batches * trl.samples_per_step == tinker.batches * tinker.samples_per_step


def test_the_sizes_are_those_of_the_model():
    """The parameters that its model card states: 4.0 billion, 3.6 without the embedding."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(rehearse.SIZES))
    table = model.get_input_embeddings().weight.numel()
    assert round(model.num_parameters() / 1e9, 1) == 4.0
    assert round((model.num_parameters() - table) / 1e9, 1) == 3.6


def test_the_problems_as_files_of_verl(tmp_path):
    import pyarrow.parquet

    verl_files = script("verl_files")
    few = Path(__file__).parents[1] / "data" / "polaris_50.jsonl"
    overrides = [f"task.data={few}", "task.splits={test: 10}"]
    train, test = verl_files.write(tmp_path / "polaris", overrides)
    rows = pyarrow.parquet.read_table(train).to_pylist()
    assert (train.name, test.name) == ("train.parquet", "test.parquet")
    assert 25 < len(rows) < 40  # 8 golds of the file are corrupt
    assert set(rows[0]) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    [message] = rows[0]["prompt"]
    assert message["role"] == "user"
    assert "final answer within" in message["content"]
    with pytest.raises(ConfigError, match=r"train.parquet exists: give another folder"):
        verl_files.write(tmp_path / "polaris", overrides)

    for row in rows:  # no gold is left that the reward could not compare with
        gold = row["reward_model"]["ground_truth"]
        assert compute_score("polaris", rf"so \boxed{{{gold}}}", gold)["score"] == 1.0
        assert compute_score("polaris", r"so \boxed{-987654321}", gold)["score"] == 0.0
