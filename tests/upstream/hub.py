"""A stand-in for the Hugging Face hub: a folder from which TRL's tests run.

TRL's tests name models and data sets of the hub. The libraries look first for a folder of that
name, so a folder that has them, as the working directory, takes the hub's place. Models are tiny
and random. Their tokenizer knows bytes and Qwen's marks. TRL's tests contain Qwen's numbers of
these marks, so `renumber` changes the tests: with Qwen's whole vocabulary a test would take twenty
seconds instead of one. Where a test needs the words of a real tokenizer, or images, it fails with
and without set credit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

OWNER = "trl-internal-testing"
SIZES = {
    "hidden_size": 8,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 32,
}
EXPERTS = {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {  # name → family, kind, sizes of its own
    "tiny-Qwen2ForCausalLM-2.5": ("Qwen2", "ForCausalLM", {}),
    "tiny-Qwen2ForSequenceClassification-2.5": ("Qwen2", "ForSequenceClassification", {}),
    "tiny-Qwen3ForCausalLM": ("Qwen3", "ForCausalLM", {"head_dim": 8}),
    "tiny-Qwen3ForSequenceClassification": ("Qwen3", "ForSequenceClassification", {"head_dim": 8}),
    "tiny-Qwen3MoeForCausalLM": ("Qwen3Moe", "ForCausalLM", {"moe_intermediate_size": 16}),
    "tiny-LlamaForCausalLM-3.2": ("Llama", "ForCausalLM", {}),
    "tiny-LlamaForSequenceClassification-3.2": ("Llama", "ForSequenceClassification", {}),
    "tiny-MistralForCausalLM-0.2": ("Mistral", "ForCausalLM", {}),
    "tiny-Gemma2ForCausalLM": ("Gemma2", "ForCausalLM", {"head_dim": 8}),
    "tiny-GptOssForCausalLM": ("GptOss", "ForCausalLM", {"head_dim": 8}),
    "tiny-Cohere2ForCausalLM": ("Cohere2", "ForCausalLM", {}),
}
TEMPLATES = {"Qwen3": "qwen3.jinja", "Qwen3Moe": "qwen3.jinja"}  # of TRL; others have Qwen 2.5's
BYTES = 256
MARKS = {  # mark → Qwen's number
    "<|endoftext|>": 151643,
    "<|im_start|>": 151644,
    "<|im_end|>": 151645,
    "<tool_call>": 151657,
    "</tool_call>": 151658,
}
OURS = {mark: BYTES + place for place, mark in enumerate(MARKS)}
VOCABULARY = 264
# Few, because each line is a step of an epoch.
LINES = ("One step at", "Slow is", "No road without", "Doors open when")
WORDS = {"train": LINES, "test": ("A new line", "Many more lines")}


def make(folder: Path) -> Path:
    """Fill a folder with the models and data sets that TRL's tests of GRPO name."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for name, (family, kind, sizes) in MODELS.items():
            _write_model(folder / OWNER / name, family, kind, sizes)
    _write_model(folder / "Qwen" / "Qwen2.5-0.5B-Instruct", "Qwen2", "ForCausalLM", {})
    _write_data(folder / OWNER / "zen")
    return folder


def renumber(tests: str) -> str:
    """Return the source of tests with our numbers of the marks instead of Qwen's."""
    for mark, number in MARKS.items():
        tests = tests.replace(str(number), str(OURS[mark]))
    return tests


def _write_model(folder: Path, family: str, kind: str, sizes: dict[str, Any]) -> None:
    tokenizer = _tokenizer(TEMPLATES.get(family, "qwen2_5.jinja"))
    tokenizer.save_pretrained(folder)
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = getattr(transformers, f"{family}Config")(
        vocab_size=VOCABULARY, **SIZES, **EXPERTS, **sizes, **ends, bos_token_id=None
    )
    if kind != "ForCausalLM":
        config.num_labels = 1
    getattr(transformers, f"{family}{kind}")(config).save_pretrained(folder)


def _tokenizer(template: str) -> PreTrainedTokenizerFast:
    letters = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    model = Tokenizer(models.BPE(letters | OURS, []))
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=model,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    made.chat_template = (Path(trl.__file__).parent / "chat_templates" / template).read_text()
    return made


def _write_data(folder: Path) -> None:
    """Write prompts as texts and as conversations, each in a configuration of the data set."""
    configurations = []
    for name, prompt in {
        "standard_prompt_only": lambda text: text,
        "conversational_prompt_only": lambda text: [{"role": "user", "content": text}],
    }.items():
        files = []
        for split, lines in WORDS.items():
            path = folder / name / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = [json.dumps({"prompt": prompt(line)}) for line in lines]
            path.write_text("\n".join(rows) + "\n")
            files.append({"split": split, "path": f"{name}/{split}.jsonl"})
        configurations.append({"config_name": name, "data_files": files})
    head = json.dumps({"configs": configurations})  # JSON is YAML
    (folder / "README.md").write_text(f"---\n{head}\n---\n")
