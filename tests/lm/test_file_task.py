"""Files of problems through training and evaluation, with models that chat."""

from pathlib import Path

import pytest

from setrl import domains, files
from setrl.lm.arm import train_arm
from setrl.lm.base_model import base_model
from setrl.lm.config import ComparisonConfig
from setrl.lm.run import LanguageModelArms
from setrl.logs.run_folder import TrainingRun, training_run
from setrl.runs.pool import Stop
from tests.tasks import models
from tests.tiny import tiny_config

DATA = Path(__file__).parents[1] / "data"
FUNCTIONS = Path(__file__).parents[1] / "tasks"
ARMS = {"poly_epo": {"method": "poly_epo", "set_size": 2}}
SMALL = {"steps": 1, "prompts_per_step": 2, "samples_per_prompt": 4, "max_new_tokens": 8}


@pytest.fixture(scope="module")
def chat_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {kind: models.make(folder / kind, kind) for kind in models.KINDS}


def own_config(model, task, **changes):
    values = {"name": "own", "arms": ARMS, **SMALL, "eval_problems": 2, "eval_samples": 4}
    return ComparisonConfig(**{**values, "task": task, "model": str(model), **changes})


def train(config, folder):
    """Train and evaluate the first arm, in this process."""
    run = training_run(folder, next(iter(config.arms)), 0)
    arms = LanguageModelArms(config, folder, folder)
    arms.train(next(iter(config.arms)), 0, run, lambda _: None, Stop())
    return run


def exported(folder, config):
    """The problems on which a config with the domain trains, as JSON Lines."""
    count = config.steps * config.prompts_per_step
    problems = domains.by_name("polynomial").problems("train", count, 0)
    files.write_lines(folder / "train.jsonl", [{"question": one.prompt} for one in problems])
    return {
        "splits": {"train": "train.jsonl"},
        "folder": str(folder),
        "prompt": "question",
        "reward": {"function": "polynomial_verifier:correct"},
        "strategy": {"function": "polynomial_verifier:strategy"},
    }


def test_a_domain_in_a_file_trains_to_the_same_weights(tmp_path):
    taught = tiny_config(base_corpus=2_500)  # enough for a few correct samples
    base = base_model(taught, tmp_path, show_progress=False)
    (tmp_path / "polynomial_verifier.py").write_text(
        (FUNCTIONS / "polynomial_verifier.py").read_text()
    )
    size = {"model": str(base), "steps": 2, "prompts_per_step": 8, "samples_per_prompt": 16}
    domain = tiny_config(**size)
    task = exported(tmp_path, domain)
    own = tiny_config(domain=None, task=task, max_new_tokens=domain.sample_tokens, **size)
    found = []
    for config, name in ((domain, "domain"), (own, "file")):
        run = TrainingRun(tmp_path / name)
        assert train_arm(config, "poly_epo", 0, str(base), run, lambda _: None, Stop())
        steps = files.read_lines(run.metrics)
        found.append((run.final / "model.safetensors").read_bytes())
        assert any(step["policy/gradient_norm"] > 0 for step in steps)
    assert found[0] == found[1] != (base / "model.safetensors").read_bytes()


@pytest.mark.parametrize("kind", models.KINDS)
@pytest.mark.parametrize("data", ["gsm8k_50", "svamp_30", "polaris_50"])
def test_real_problems_through_the_whole_path(chat_models, tmp_path, kind, data):
    task = {"data": str(DATA / f"{data}.jsonl"), "strategy": "final_answer", "system": "Be brief."}
    if data == "svamp_30":
        task |= {"prompt": "{problem}\nEnd with #### and the number.", "reward": "number"}
    adapter = {"r": 2, "target_modules": "all-linear"} if kind == "llama" else None
    config = own_config(chat_models[kind], task, peft=adapter)
    run = train(config, tmp_path)
    [metrics] = files.read_lines(run.metrics)
    assert metrics["advantage/left_out"] == 0
    records = files.read_lines(run.path / "evaluation" / "test.jsonl")
    rows = {row["problem"]: row["answer"] for row in files.read_lines(DATA / f"{data}.jsonl")}
    for record in records:
        question = record["prompt"].partition("\nEnd with")[0]
        assert record["gold"] == rows[question]
        assert len(record["correct"]) == 4
    [group, _] = files.read_lines(run.rollouts(1))
    assert group["prompt"] not in {record["prompt"] for record in records}
    assert (run.final / "adapter_config.json").exists() == (kind == "llama")
