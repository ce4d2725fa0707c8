"""The recipe's own command with a tiny random model of the same architecture, on two CPU cores.

    python recipes/qwen3_4b_polaris/rehearse.py FOLDER [--judge URL] [--tinker URL]

It makes a model of 0.1 million parameters in FOLDER/model, prints the command with all that is
changed for it, and runs it; the run is in FOLDER/run. With a judge, any OpenAI-compatible server,
the strategies are judged as in the recipe; otherwise samples with the same final answer count as
one strategy. With a server of the Tinker protocol, tinker.yaml is rehearsed instead of
trl.yaml; the server must serve FOLDER/model.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent
SIZES = HERE / "qwen3_4b_base.json"
SMALL = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
}
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CHANGES = {  # what is too large for two cores, and the data that are here
    "task.data": "polaris_2000.jsonl.gz",
    "steps": 2,
    "prompts_per_step": 2,
    "max_new_tokens": 32,
    "checkpoint_every": 2,
    "eval_problems": 2,
    "eval_samples": 4,
}
FOR_TRL = {
    "micro_batch_size": 16,
    "trainer.generation_batch_size": 32,  # two updates a batch, as in the recipe
    "trainer.use_vllm": "false",
    "trainer.bf16": "false",
}


def make_model(folder: Path) -> Path:
    """Save a random model with the recipe's architecture, and a tokenizer of bytes that chats."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
        chat_template=CHAT,
    )
    config = AutoConfig.from_pretrained(SIZES)
    for key, value in {**SMALL, "vocab_size": len(tokenizer)}.items():
        setattr(config, key, value)
    config.eos_token_id = config.pad_token_id = tokenizer.eos_token_id
    config.layer_types = config.layer_types[: SMALL["num_hidden_layers"]]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def changes(model: Path, judge: str | None = None, tinker: str | None = None) -> dict[str, object]:
    """Return the keys of the recipe that the rehearsal changes, and their values."""
    by_judge = {"task.strategy.endpoint": judge} if judge else {"task.strategy": "final_answer"}
    by_engine = {"engine.tinker": tinker} if tinker else FOR_TRL
    return {"model": model, **CHANGES, **by_judge, **by_engine}


def command(config: Path, changed: dict[str, object]) -> list[str]:
    """Return the recipe's command with these changes."""
    sets = [word for key, value in changed.items() for word in ("--set", f"{key}={value}")]
    return ["train", "--config", str(config), *sets]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judge", help="URL of an OpenAI-compatible server, up to the version")
    parser.add_argument("--tinker", help="URL of a server of the Tinker protocol")
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from setrl import cli

    model = make_model(options.folder / "model")
    config = HERE / ("tinker.yaml" if options.tinker else "trl.yaml")
    words = command(config, changes(model, options.judge, options.tinker))
    words += ["--run-dir", str(options.folder / "run")]
    print("setrl", shlex.join(words), file=sys.stderr)
    cli.main(words)


if __name__ == "__main__":
    main()
