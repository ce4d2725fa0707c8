"""The arguments of TRL's trainer for an arm, by the keys of the config."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import torch
from trl import GRPOConfig

from setrl.models.folder import trusts_code
from setrl.support import names
from setrl.support.errors import ConfigError
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.resolved_arm import ResolvedArm
from setrl.train.lm.trackers import check_trackers, tracker_names

# What computes activations again: its name since Transformers 5.23, and before; 6 drops the latter.
RECOMPUTES = ("activation_checkpointing", "gradient_checkpointing")
KEPT_CHECKPOINTS = 2  # the last one, and a complete one while that is written


def grpo_config(resolved: ResolvedConfig, arm: ResolvedArm, seed: int, output: Path) -> GRPOConfig:
    """Return TRL's arguments: defaults for the machine, then the key `trainer`, then our keys."""
    trainer = resolved.config.trainer
    defaults = _defaults()
    if not set(RECOMPUTES) & trainer.keys():
        defaults[next(name for name in RECOMPUTES if name in _known())] = False
    defaults |= tracker_names(resolved.config.name, arm.name, seed)
    given = {**defaults, **trainer, **_ours(resolved, arm, seed, output)}
    given["chat_template_kwargs"] = dict(resolved.form.options) or None
    usual = {"dtype": resolved.config.dtype, "trust_remote_code": trusts_code()}
    given["model_init_kwargs"] = {**usual, **given["model_init_kwargs"]}
    return GRPOConfig(**given)


def check_trainer_options(resolved: ResolvedConfig) -> None:
    """Refuse keys of `trainer` that TRL does not know, or that another key of the config sets."""
    known, ours = _known(), _ours(resolved, next(iter(resolved.arms.values())), 0, Path())
    trainer = resolved.config.trainer
    for key in trainer:
        try:
            names.look_up("key of GRPOConfig", key, known)
        except ValueError as error:
            raise ConfigError(f"trainer: {str(error).partition(' Known:')[0]}") from error
        if key in ours:
            raise ConfigError(
                f"trainer: {key} is set by the other keys of the config: remove it here"
            )
    check_trackers(trainer.get("report_to"))


def _known() -> dict[str, Any]:
    """Return the arguments that TRL knows."""
    return {field.name: field for field in dataclasses.fields(GRPOConfig)}


def _defaults() -> dict[str, Any]:
    """Return defaults for this machine; TRL's defaults are for large models on GPUs."""
    has_gpu = torch.cuda.is_available()
    return {
        "use_cpu": not has_gpu,
        "bf16": False,
        "dataloader_pin_memory": has_gpu,
        "model_init_kwargs": {},
        "report_to": [],
        "disable_tqdm": True,
        "save_total_limit": KEPT_CHECKPOINTS,
    }


def _ours(resolved: ResolvedConfig, arm: ResolvedArm, seed: int, output: Path) -> dict[str, Any]:
    """Return the arguments that keys of the config other than `trainer` set."""
    config = resolved.config
    at_once, rounds = _micro_batches(resolved.samples_per_step, config.micro_batch_size)
    return {
        "output_dir": str(output),
        "max_steps": config.steps,
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": rounds,
        "num_generations": config.samples_per_prompt,
        "num_iterations": config.num_iterations,
        "max_completion_length": resolved.sample_tokens,
        "mask_truncated_completions": resolved.truncation.policy == "mask",
        "temperature": config.temperature,
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": config.lr_schedule,
        "epsilon": config.epsilon,
        "epsilon_high": config.epsilon_high,
        "loss_type": config.loss_type,
        "shuffle_dataset": False,  # training_prompts put them in order
        "seed": seed,
        "logging_steps": 1,
        "save_steps": config.checkpoint_every,
        "beta": arm.beta,
        "entropy_coef": arm.entropy_coef,
    }


def _micro_batches(samples: int, micro_batch_size: int | None) -> tuple[int, int]:
    """Return the samples of one pass on one device, and the passes of a step."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    at_once = micro_batch_size or samples // processes
    if samples % (at_once * processes):
        raise ConfigError(
            f"micro_batch_size × processes must divide the {samples} samples of a step, got "
            f"{at_once} × {processes}"
        )
    return at_once, samples // (at_once * processes)
