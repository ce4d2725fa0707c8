"""With `methods.grpo()`, `SetGRPOTrainer` does what TRL's own trainer does, whatever is set.

Equal up to rounding: TRL credits in float32 and we in float64.
"""

import json
import math
import re

import pandas as pd
import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOTrainer

from setrl.core import methods
from setrl.train.trl import SetGRPOTrainer
from tests.engines.chat import PROMPTS, RECOMPUTE

PLAIN = ["one", "two", "three", "four"]
OURS = re.compile(r"(eval_)?([ab]_)?(reward|strategies|advantage|time)/")  # metrics of ours
CLOCKS = ("step_time", "train_runtime", "_per_second", "_runtime", "preparation_time", "epoch")


def letters(completions, **_):
    """A reward that differs between samples, of plain texts and of conversations."""
    texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
    return [sum(text.encode()) % 97 / 97 for text in texts]


def length(completion_ids, **_):
    return [float(len(ids)) for ids in completion_ids]


def even(completions, **_):
    """None for every second sample."""
    return [1.0 if i % 4 else None for i in range(len(completions))]


def never(completions, **_):
    return [None] * len(completions)


def outcome(trainer):
    trainer.train()
    history = [of_trl(entry) for entry in trainer.state.log_history]
    return history, weights_of(trainer.model)


OF_CREDIT = ("reward", "reward_std", "frac_reward_zero_std")  # of the samples that are not cut


def of_trl(metrics):
    """The metrics that TRL also logs and that do not depend on a clock."""
    return {k: v for k, v in metrics.items() if not OURS.match(k) and not k.endswith(CLOCKS)}


def weights_of(model):
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def assert_same(make_chat, rewards=letters, conversation=True, apart=(), **others):
    """Train both; SGD, because Adam makes rounding as large as any gradient."""
    args = {"max_steps": 2, "optim": "sgd", "learning_rate": 1.0, **others.pop("args", {})}
    data = {"prompt": PROMPTS if conversation else PLAIN, **others.pop("columns", {})}
    others.setdefault("train_dataset", Dataset.from_dict(data))

    def train(kind):  # which seeds the random numbers when it is made
        trainer = make_chat(rewards=rewards, kind=kind, args=dict(args), **others)
        return trainer, *outcome(trainer)

    _, their_history, their_weights = train(GRPOTrainer)
    ours, our_history, our_weights = train(SetGRPOTrainer)
    torch.testing.assert_close(our_weights, their_weights, rtol=0, atol=1e-5)
    assert len(our_history) == len(their_history)
    for our, their in zip(our_history, their_history, strict=True):
        assert our.keys() == their.keys()
        for key, value in their.items():
            if key in apart:
                continue
            close = None if value is None else pytest.approx(value, rel=1e-3, abs=1e-4)
            assert our[key] == close, key
    change = our_weights - weights_of(AutoModelForCausalLM.from_pretrained(ours.model.name_or_path))
    return ours, change.abs().max().item()


SETTINGS = [
    {"loss_type": "grpo", "importance_sampling_level": "sequence", "num_iterations": 2},
    {"loss_type": "bnpo", "beta": 0.1, "num_iterations": 2},
    {"loss_type": "dr_grpo", "gradient_accumulation_steps": 2, "per_device_train_batch_size": 4},
    {"loss_type": "dapo", "epsilon": 0.1, "epsilon_high": 0.3, "delta": 1.5, "num_iterations": 2},
    {"loss_type": "cispo", "entropy_coef": 0.01, "top_entropy_quantile": 0.5},
    {"loss_type": "sapo", "use_adaptive_entropy": True, "entropy_target": 1.0},
    {"loss_type": "luspo", "steps_per_generation": 2, "per_device_train_batch_size": 4},
    {"loss_type": "vespo", "num_generations": 2, "cast_lm_head_to_fp32": True},
    {"beta": 0.1, "sync_ref_model": True, "ref_model_sync_steps": 1},
    {"temperature": 0.7, "top_p": 0.9, "top_k": 20, "min_p": 0.01, "repetition_penalty": 1.1},
    {"generation_kwargs": {"length_penalty": 1.0}, "num_generations": 8, "pad_to_multiple_of": 8},
    {"shuffle_dataset": True, RECOMPUTE: True, "logging_steps": 2},
    {"max_completion_length": 1, "remove_unused_columns": True, "disable_dropout": True},
    # This ε is above the rounding of gradients: with 1e-8 many weights follow rounding alone.
    {
        "max_completion_length": 1,
        "optim": "adamw_torch",
        "adam_epsilon": 1e-4,
        "learning_rate": 1e-3,
    },
]


@pytest.mark.parametrize("args", SETTINGS, ids=",".join)
def test_every_setting(make_chat, args):
    _, change = assert_same(make_chat, args=args)
    assert change > 1e-3


def test_truncated_samples_may_be_masked(make_chat):
    args = {"mask_truncated_completions": True, "max_steps": 1}
    found = assert_same(make_chat, args=args, apart=OF_CREDIT)
    assert found[1] < 1e-3  # nearly all of them are


@pytest.mark.parametrize(
    ("rewards", "args"),
    [
        ([letters, length], {"reward_weights": [0.7, 0.3]}),
        ([letters, even, never], {"reward_weights": [1.0, 0.5, 0.0]}),
        (even, {}),
    ],
    ids=["weights", "some None", "alone"],
)
def test_every_mix_of_rewards(make_chat, rewards, args):
    assert_same(make_chat, rewards=rewards, args=args)


def test_plain_prompts(make_chat):
    assert_same(make_chat, conversation=False)


def test_columns_reach_the_reward_functions(make_chat):
    seen = []

    def gold(completions, answer, trainer_state, log_metric, log_extra, **_):
        seen.append((answer, trainer_state.global_step))
        log_metric("mine", 3.0)
        log_extra("gold", answer)
        return letters(completions)

    ours, _ = assert_same(make_chat, rewards=gold, columns={"answer": list("abcd")})
    assert seen[:2] == seen[2:] == [(list("aaaabbbb"), 0), (list("ccccdddd"), 1)]
    assert ours.state.log_history[0]["mine"] == 3.0


def test_prompts_may_come_from_a_stream(make_chat):
    stream = Dataset.from_dict({"prompt": PROMPTS}).to_iterable_dataset()
    assert_same(make_chat, train_dataset=stream)


def test_evaluation_is_trls(make_chat):
    def metrics(kind):
        args = {"per_device_eval_batch_size": 2, "num_generations_eval": 2}
        data = Dataset.from_dict({"prompt": PROMPTS})
        torch.manual_seed(0)
        trainer = make_chat(rewards=letters, kind=kind, eval_dataset=data, args=args)
        return of_trl(trainer.evaluate())

    ours, theirs = metrics(SetGRPOTrainer), metrics(GRPOTrainer)
    assert "eval_reward" in ours
    assert ours == theirs


def test_evaluation_between_steps(make_chat):
    data = Dataset.from_dict({"prompt": PROMPTS})
    args = {"eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 16}
    ours, _ = assert_same(make_chat, args=args, eval_dataset={"a": data, "b": data})
    assert sum("eval_reward" in entry for entry in ours.state.log_history) == 4


def test_a_resumed_run_is_trls(make_chat, tmp_path):
    def resumed(kind):
        args = {"save_strategy": "steps", "save_steps": 1, "max_steps": 2}
        make_chat(rewards=letters, kind=kind, args=args).train()
        again = make_chat(rewards=letters, kind=kind, args=args | {"max_steps": 3})
        again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
        assert again.state.global_step == 3
        assert (tmp_path / "checkpoint-3" / "model.safetensors").exists()
        return weights_of(again.model)

    torch.testing.assert_close(resumed(SetGRPOTrainer), resumed(GRPOTrainer), rtol=0, atol=1e-4)


@pytest.mark.parametrize("scale", ["group", False])
def test_a_scale_is_a_method(make_chat, scale):
    """TRL's `scale_rewards` is the choice between GRPO and Dr. GRPO."""
    method = methods.grpo() if scale == "group" else methods.dr_grpo()
    args = {"scale_rewards": scale, "optim": "sgd", "learning_rate": 1.0}
    ours = outcome(make_chat(method, rewards=letters, args=args))[1]
    theirs = outcome(make_chat(rewards=letters, kind=GRPOTrainer, args=args))[1]
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


def test_the_table_of_completions_is_trls(make_chat, tmp_path):
    def table(kind):
        make_chat(rewards=[letters, length], kind=kind, args={"log_completions": True}).train()
        [path] = (tmp_path / "completions").glob("*.parquet")
        return pd.read_parquet(path)

    pd.testing.assert_frame_equal(table(SetGRPOTrainer), table(GRPOTrainer), rtol=1e-3)


def test_a_model_and_a_tokenizer_may_be_passed(chat_model, tmp_path):
    from tests.engines.chat import arguments

    found = []
    for kind, own in ((GRPOTrainer, {}), (SetGRPOTrainer, {"method": methods.grpo()})):
        model = AutoModelForCausalLM.from_pretrained(chat_model, dtype=torch.float32)
        trainer = kind(
            model=model,
            reward_funcs=letters,
            args=arguments(tmp_path, optim="sgd", learning_rate=1.0, model_init_kwargs=None),
            train_dataset=Dataset.from_dict({"prompt": PROMPTS}),
            processing_class=AutoTokenizer.from_pretrained(chat_model, padding_side="left"),
            **own,
        )
        found.append(outcome(trainer)[1])
    torch.testing.assert_close(*found, rtol=0, atol=1e-5)


def test_optimizers_and_callbacks_may_be_passed(make_chat, chat_model):
    class Stops(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            control.should_training_stop = True

    trainer = make_chat(rewards=letters, callbacks=[Stops()], args={"max_steps": 5})
    trainer.train()
    assert trainer.state.global_step == 1


def test_a_rollout_function_writes_the_samples(make_chat, chat_model):
    tokenizer = AutoTokenizer.from_pretrained(chat_model)

    def rollout(prompts, trainer):
        ids = [tokenizer.encode(f"{i}") for i in range(len(prompts))]
        starts = [tokenizer.encode(prompt[-1]["content"]) for prompt in prompts]
        logprobs = [[0.0] * len(one) for one in ids]
        found = {"prompt_ids": starts, "completion_ids": ids, "logprobs": logprobs}
        return {**found, "extra": list(range(len(prompts)))}

    def given(completions, extra, **_):
        return [float(one) for one in extra]

    batches = []
    trainer = make_chat(
        methods.maxpo(2), rewards=given, rollout_func=rollout, on_batch=batches.append
    )
    trainer.train()
    assert batches[0].samples.texts == [["0", "1", "2", "3"], ["4", "5", "6", "7"]]
    assert batches[0].samples.rewards.ravel().tolist() == list(range(8))


@pytest.mark.parametrize("kind", [GRPOTrainer, SetGRPOTrainer])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"args": {"reward_weights": [1.0, 2.0]}}, "Number of reward weights"),
        ({"args": {"sync_ref_model": True}}, "sync_ref_model"),
        ({"train_dataset": None}, "train_dataset"),
        ({"reward_processing_classes": [None, None]}, "reward processing classes"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_trl_refuses_is_refused(make_chat, kind, wrong, message):
    with pytest.raises(ValueError, match=message):
        make_chat(rewards=letters, kind=kind, **wrong)


def test_the_card_of_a_checkpoint_is_grpos(make_chat, tmp_path):
    args = {"save_strategy": "steps", "save_steps": 1}
    make_chat(rewards=letters, args=args).train()
    state = json.loads((tmp_path / "checkpoint-1" / "trainer_state.json").read_text())
    assert math.isfinite(state["log_history"][0]["reward"])
    assert "GRPO" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(
    ("kind", "method", "ended", "trains"),
    [
        (GRPOTrainer, None, [1], True),  # against the rewards of samples that were cut
        (SetGRPOTrainer, methods.dr_grpo(), [1], False),
        (SetGRPOTrainer, methods.dr_grpo(), [0, 1], True),
        (SetGRPOTrainer, methods.maxpo(2), [0, 1], False),  # a set of two with and without each
        (SetGRPOTrainer, methods.maxpo(2), [0, 1, 2], True),
    ],
)
def test_masked_samples_leave_the_sets_as_well(make_chat, kind, method, ended, trains):
    """docs/rewards.md: TRL compares the samples that ended with those that were cut."""
    args = {"mask_truncated_completions": True, "max_steps": 1}
    trainer = make_chat(method, kind=kind, args=args)
    end = trainer.processing_class.eos_token_id

    class Written(type(trainer)):
        def _generate_single_turn(self, *given, **named):
            found = super()._generate_single_turn(*given, **named)
            for place, ids in enumerate(found[0]):
                ids[:] = [65, 65, 65, end if place in ended else 65]
            return found

    trainer.__class__ = Written
    before = [one.clone() for one in trainer.model.parameters()]
    trainer.train()
    after = trainer.model.parameters()
    assert trains != all(map(torch.equal, before, after))
