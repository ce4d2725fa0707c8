"""A tiny random model of bytes that can chat and call tools, and trainers of it."""

import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
import torch
import trl
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig

from setrl.core import methods
from setrl.train.lm.trl_arguments import RECOMPUTES
from setrl.train.trl import SetCredit, SetGRPOTrainer

# What computes activations again, as this version of Transformers calls it.
RECOMPUTE = next(name for name in RECOMPUTES if name in GRPOConfig.__dataclass_fields__)
PROMPTS = [[{"role": "user", "content": text}] for text in ("one", "two", "three", "four")]
REWARDS = [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]
LABELS = [0, 1, 2, 3, 0, 1, 2, 3]


def fixed_rewards(completions, **_):
    return REWARDS


def fixed_labels(completions, **_):
    return LABELS


@pytest.fixture(scope="session")
def chat_model(tmp_path_factory):
    """The folder of a model, whose tokenizer has a chat template that knows tools."""
    folder = tmp_path_factory.mktemp("chat_model")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    whole = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    templates = Path(trl.__file__).parent / "chat_templates"
    whole.chat_template = (templates / "qwen3.jinja").read_text()
    whole.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        Qwen3ForCausalLM(config_of(whole)).save_pretrained(folder)
    return folder


def config_of(tokenizer, **changes):
    sizes = dict.fromkeys(("hidden_size", "intermediate_size", "head_dim"), 32)
    heads = dict.fromkeys(("num_attention_heads", "num_key_value_heads", "num_hidden_layers"), 1)
    return Qwen3Config(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=True,
        **sizes,
        **heads,
        **changes,
    )


def arguments(folder, config=GRPOConfig, **changes):
    """One step of two prompts with four samples each."""
    usual = {
        "output_dir": str(folder),
        "max_steps": 1,
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 4,
        "shuffle_dataset": False,
        "seed": 5,
        "use_cpu": True,
        "bf16": False,
        RECOMPUTE: False,
        "dataloader_pin_memory": False,
        "report_to": [],
        "save_strategy": "no",
        "disable_tqdm": True,
        "logging_steps": 1,
        "model_init_kwargs": {"dtype": "float32"},
    }
    return config(**{**usual, **changes})


@pytest.fixture
def make_chat(chat_model, tmp_path):
    """A trainer; `args` are changes of its arguments."""
    torch.set_num_threads(1)

    def make(method=None, rewards=fixed_rewards, kind=SetGRPOTrainer, args=None, **others):
        others.setdefault("train_dataset", Dataset.from_dict({"prompt": PROMPTS}))
        if issubclass(kind, SetCredit):
            others["method"] = methods.grpo() if method is None else method
        made = arguments(tmp_path, **(args or {}))
        return kind(str(chat_model), rewards, made, **others)

    return make


def step(trainer):
    """The batch of one step."""
    batches = []
    trainer.on_batch = batches.append
    trainer.train()
    return batches[0]
