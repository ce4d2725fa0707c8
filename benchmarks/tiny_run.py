"""What the benchmarks of training share: a tiny model, its arguments for TRL, and processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer
from trl import GRPOConfig

from setrl.models.small.imitation import new_model
from tests import tiny_model
from tests.distributed.run import free_port


def make_model(folder: Path) -> None:
    """Save a model of two layers of width 128 with random weights, and its tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(tiny_model.make(folder))
    new_model(tokenizer, 128, 256, 2).save_pretrained(folder)


def arguments(
    folder: Path, steps: int, samples: int, of_a_prompt: int, **changes: Any
) -> GRPOConfig:
    """Return arguments that train on the CPU, and write and print nothing.

    Args:
        folder: An empty folder.
        steps: The number of steps.
        samples: The samples of a step in one process.
        of_a_prompt: The samples of a prompt.
        changes: Further arguments.
    """
    usual = {"max_completion_length": 32, "disable_tqdm": True, "logging_steps": 10**6}
    return GRPOConfig(
        str(folder),
        max_steps=steps,
        per_device_train_batch_size=samples,
        num_generations=of_a_prompt,
        use_cpu=True,
        bf16=False,
        activation_checkpointing=False,
        dataloader_pin_memory=False,
        report_to=[],
        save_strategy="no",
        model_init_kwargs={"dtype": "float32"},
        **{**usual, **changes},
    )


def start(module: str, processes: int, *words: object) -> subprocess.Popen[str]:
    """Start a module in processes that train together."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(processes)]
    command += ["--master_addr", "127.0.0.1", "--master_port", str(free_port()), "-m", module]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, *map(str, words)], env=environment, stdout=pipe, stderr=pipe, text=True
    )


def leave() -> None:
    """Wait for the other processes, and leave their group."""
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
