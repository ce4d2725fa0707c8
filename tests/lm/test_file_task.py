"""Files of problems through training and evaluation, with models that chat."""

import dataclasses
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from setrl import tasks
from setrl.evaluate.summary import summarise_run
from setrl.logs.run import Run, Seed
from setrl.models.local import LocalModel
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.tasks import PromptForm, domains
from setrl.train.lm.base_model import base_model
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.preflight.checks import check_before_training
from setrl.train.lm.resolved import ResolvedConfig, resolve
from setrl.train.lm.run import LanguageModelArms, run_comparison
from setrl.train.lm.trl_arm import make_trainer, train_arm
from setrl.train.runs.pool import Stop
from setrl.train.trl import SetGRPOTrainer
from tests.at_once import do_at_once
from tests.tasks import models
from tests.tiny import tiny

DATA = Path(__file__).parents[1] / "data"
FUNCTIONS = Path(__file__).parents[1] / "tasks"
ARMS = {"poly_epo": {"method": "poly_epo", "set_size": 2}}
SMALL = {"steps": 1, "prompts_per_step": 2, "samples_per_prompt": 4, "max_new_tokens": 8}


@pytest.fixture(scope="module")
def chat_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {kind: models.make(folder / kind, kind) for kind in models.KINDS}


def own_config(model, task, /, **changes):
    values = {"name": "own", "arms": ARMS, **SMALL, "eval_problems": 2, "eval_samples": 4}
    values |= {"task": task, "model": str(model)}
    return resolve(ComparisonConfig(**{**values, **changes}))


def train(resolved, folder):
    """Train and evaluate the first arm, in this process."""
    run = Run(folder).seed(next(iter(resolved.arms)), 0)
    arms = LanguageModelArms(resolved, folder, folder)
    arms.train(next(iter(resolved.arms)), 0, run, lambda _: None, Stop())
    return run


def exported(folder, resolved):
    """The problems on which a config with the domain trains, as JSON Lines."""
    count = resolved.config.steps * resolved.config.prompts_per_step
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
    taught = tiny(base_corpus=2_500)  # enough for a few correct samples
    base = base_model(taught.base, tmp_path, show_progress=False)
    (tmp_path / "polynomial_verifier.py").write_text(
        (FUNCTIONS / "polynomial_verifier.py").read_text()
    )
    size = {"model": str(base), "steps": 2, "prompts_per_step": 8, "samples_per_prompt": 16}
    domain = tiny(**size)
    task = exported(tmp_path, domain)
    own = tiny(domain=None, task=task, max_new_tokens=domain.sample_tokens, **size)
    found = []
    for resolved, name in ((domain, "domain"), (own, "file")):
        run = Seed(tmp_path / name)
        assert train_arm(resolved, "poly_epo", 0, str(base), run, lambda _: None, Stop())
        steps = files.read_lines(run.metrics_file)
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
    resolved = own_config(chat_models[kind], task, peft=adapter)
    run = train(resolved, tmp_path)
    [metrics] = files.read_lines(run.metrics_file)
    assert metrics["advantage/left_out"] == 0
    records = files.read_lines(run.path / "evaluation" / "test.jsonl")
    rows = {row["problem"]: row["answer"] for row in files.read_lines(DATA / f"{data}.jsonl")}
    for record in records:
        question = record["prompt"].partition("\nEnd with")[0]
        assert record["gold"] == rows[question]
        assert len(record["correct"]) == 4
    [group, _] = files.read_lines(run.rollout_file(1))
    assert group["prompt"] not in {record["prompt"] for record in records}
    assert (run.final / "adapter_config.json").exists() == (kind == "llama")


@pytest.fixture
def in_this_process(monkeypatch):
    """Runs do their jobs one after another in this process; their names are collected."""
    monkeypatch.setattr("setrl.train.runs.run.run_jobs", do_at_once)
    trained = []
    train_steps = SetGRPOTrainer.train

    def train(trainer, *args, **options):
        trained.append(str(Path(trainer.args.output_dir).parent))
        return train_steps(trainer, *args, **options)

    monkeypatch.setattr(SetGRPOTrainer, "train", train)
    return trained


def test_arms_and_seeds_are_added_to_a_finished_run(chat_models, tmp_path, in_this_process):
    folder, rows = tmp_path / "run", files.read_lines(DATA / "gsm8k_50.jsonl")
    files.write_lines(tmp_path / "own.jsonl", rows)
    task = {"data": "own.jsonl", "folder": str(tmp_path), "strategy": "final_answer"}
    options = {"trainer": {"activation_checkpointing": True}}
    first = own_config(chat_models["qwen3"], task, **options).config
    run_comparison(first, folder, show_progress=False)
    before = (folder / "poly_epo" / "seed_0" / "final" / "model.safetensors").stat()
    assert in_this_process == [str(folder / "poly_epo" / "seed_0")]
    more = dataclasses.replace(first, arms={**ARMS, "grpo": {"method": "grpo"}}, seeds=(0, 1))
    run_comparison(more, folder, show_progress=False)
    assert [Path(path).relative_to(folder).as_posix() for path in in_this_process[1:]] == [
        "grpo/seed_0",
        "poly_epo/seed_1",
        "grpo/seed_1",
    ]
    assert (folder / "poly_epo" / "seed_0" / "final" / "model.safetensors").stat() == before
    assert {(name, *arm.seeds) for name, arm in Run(folder).arms.items()} == {
        ("base", 0),
        ("poly_epo", 0, 1),
        ("grpo", 0, 1),
    }
    summary = summarise_run(folder)
    assert set(summary.splits["test"].arms) == {"base", "poly_epo", "grpo"}
    with pytest.raises(ConfigError, match=r"task\.reward: 'math' → 'number'"):
        run_comparison(dataclasses.replace(more, task={**task, "reward": "number"}), folder)
    files.write_lines(tmp_path / "own.jsonl", [*rows, {"problem": "1 + 1", "answer": 2}])
    with pytest.raises(ConfigError, match="  the problems of the split 'train' of own changed\n"):
        run_comparison(more, folder, show_progress=False)
    run_comparison(more, folder, accept_changes=True, show_progress=False)
    accepted = files.read_json(folder / "run.json")["accepted_changes"]
    assert "the problems of the split 'train' of own" in [one["what"] for one in accepted]


def test_a_model_sees_the_same_in_training_and_in_evaluation(chat_models, tmp_path):
    for kind, folder in chat_models.items():
        resolved = own_config(
            folder,
            {"data": str(DATA / "svamp_30.jsonl"), "system": "S.", "template": {"think": "<t>"}},
            arms={"grpo": {"method": "grpo"}},
        )
        trainer = make_trainer(resolved, "grpo", 0, folder, Seed(tmp_path / kind))
        row = trainer.train_dataset[0]
        [trained], *_ = trainer._tokenize_prompts([row["prompt"]])
        question = row["prompt"][-1]["content"]
        asked = resolved.form.token_ids(question, trainer.processing_class)
        assert asked == trained
        text = trainer.processing_class.decode(asked)
        assert text.count("S.") == 1
        assert text.endswith("<assistant><t>" if kind == "qwen3" else "[assistant] ")
        plain = PromptForm(chat=False).token_ids(question, trainer.processing_class)
        [trained], *_ = trainer._tokenize_prompts([question])
        assert plain == trained


def test_an_adapter_is_evaluated_with_its_model(chat_models, tmp_path):
    resolved = own_config(
        chat_models["qwen3"],
        {"data": str(DATA / "svamp_30.jsonl")},
        arms={"grpo": {"method": "grpo"}},
        peft={"r": 2, "init_lora_weights": False, "target_modules": "all-linear"},
    )
    trainer = make_trainer(resolved, "grpo", 0, chat_models["qwen3"], Seed(tmp_path / "run"))
    trainer.save_model(str(tmp_path / "adapter"))
    ids = torch.arange(9)[None]
    model, _ = LocalModel(tmp_path / "adapter")._loaded
    base, _ = LocalModel(chat_models["qwen3"])._loaded
    with torch.no_grad():
        expected = trainer.model.eval()(ids).logits
        torch.testing.assert_close(model(ids).logits, expected, atol=1e-5, rtol=1e-4)
        assert not torch.allclose(base(ids).logits, expected, atol=1e-3)
    assert type(model).__name__ == "Qwen3ForCausalLM"
    with pytest.raises(ConfigError, match="adapter is an adapter: merge it"):
        check_before_training(
            resolve(dataclasses.replace(resolved.config, model=str(tmp_path / "adapter")))
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"max_new_tokens": 4000},
            r"has \d+ tokens; with 4000 new ones that is more than the 2048",
        ),
        ({"peft": {"rank": 2}}, "peft: .*unexpected keyword argument 'rank'"),
        ({"peft": {"r": 0}}, "peft: `r` should be a positive integer value"),
        ({"peft": {"target_modules": ["nope"]}}, "peft: Target modules .* not found in the base"),
        (
            {"task": {"data": "x.jsonl", "template": {"tokenize": True}}},
            "task.template: tokenize is set by setrl: remove it",
        ),
        (
            {"task": {"data": str(DATA / "gsm8k_50.jsonl"), "strategy": "final"}},
            "^strategy must be final_answer, .*, got 'final'",
        ),
        ({"train_problems": 51}, "train_problems must be at most"),
        ({"model": None}, "model must be given for this task: the folder of a model"),
        ({"task": None}, "give domain .* or task"),
        ({"eval_splits": ["dev"]}, "eval_splits must be of train, test"),
        ({"task": {"data": "x.jsonl", "stratgy": "none"}}, "unknown key of task 'stratgy'"),
    ],
)
def test_what_is_refused_before_anything_is_written(chat_models, changes, message):
    task, arms = {"data": str(DATA / "gsm8k_50.jsonl")}, {"grpo": {"method": "grpo"}}
    with pytest.raises(ConfigError, match=message):
        check_before_training(own_config(chat_models["qwen3"], task, **{"arms": arms, **changes}))


def test_a_method_of_strategies_needs_a_strategy_and_messages_a_template(tmp_path):
    plain = models.make(tmp_path / "plain", chat=False)
    task = {"data": str(DATA / "gsm8k_50.jsonl")}
    with pytest.raises(ConfigError, match="poly_epo reads strategies: add the key `judge`"):
        own_config(plain, task)
    for keys, message in (
        ({"chat": True}, "chat: true needs a chat template"),
        ({"system": "S."}, "system needs messages, and the model has no chat template"),
    ):
        resolved = own_config(plain, {**task, **keys, "strategy": "final_answer"})
        with pytest.raises(ConfigError, match=message):
            check_before_training(resolved)


def test_the_config_of_the_guide_trains(chat_models, tmp_path):
    text = (DATA.parents[1] / "docs" / "your-own-task.md").read_text(encoding="utf-8")
    block = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0]
    (tmp_path / "config.yaml").write_text(block, encoding="utf-8")
    rows = files.read_lines(DATA / "gsm8k_50.jsonl")
    renamed = [{"question": row["problem"], "answer": row["answer"]} for row in rows]
    files.write_lines(tmp_path / "problems.jsonl", renamed)
    small = {"prompts_per_step": 2, "samples_per_prompt": 6, "max_new_tokens": 8, "steps": 1}
    small |= {"model": chat_models["qwen3"], "eval_problems": 2, "eval_samples": 4}
    resolved = ResolvedConfig.load(
        tmp_path / "config.yaml", [f"{key}={value}" for key, value in small.items()]
    )
    check_before_training(resolved)
    run = train(resolved, tmp_path / "run")
    assert len(files.read_lines(run.path / "evaluation" / "test.jsonl")) == 2
    assert (run.final / "adapter_config.json").exists()
    task = tasks.read_config(tmp_path / "config.yaml")
    assert task.max_new_tokens == 512
    again = resolved.config.load(_written(tmp_path / "run.yaml", resolved.config.to_yaml()))
    assert resolved.config.differences(again) == []


def _written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_an_interrupted_adapter_goes_on_to_the_same_weights(chat_models, tmp_path):
    reward = "def odd(completions, **_): return [len(c[-1]['content']) % 2 for c in completions]\n"
    (tmp_path / "parity.py").write_text(reward)
    resolved = own_config(
        chat_models["qwen3"],
        {
            "data": str(DATA / "svamp_30.jsonl"),
            "reward": {"function": "parity:odd"},
            "folder": str(tmp_path),
        },
        arms={"grpo": {"method": "grpo"}},
        peft={"r": 2, "target_modules": "all-linear"},
        steps=4,
        checkpoint_every=2,
        learning_rate=1e-2,
    )

    def trained(folder, stop_at=None):
        run, stop = Seed(tmp_path / folder), Stop()
        return run, train_arm(
            resolved,
            "grpo",
            0,
            chat_models["qwen3"],
            run,
            lambda step: stop.ask() if step == stop_at else None,
            stop,
        )

    whole, _ = trained("whole")
    parts, done = trained("parts", stop_at=2)
    assert not done
    assert trained("parts")[1]
    one, two = (load_file(run.final / "adapter_model.safetensors") for run in (whole, parts))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert any(weights.any() for name, weights in one.items() if "lora_B" in name)  # it learned
