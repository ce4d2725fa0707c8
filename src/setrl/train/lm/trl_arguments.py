"""What TRL's trainer is given for an arm: arguments by the keys of the config, prompts, an adapter,
and the trackers of experiments.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import torch
from datasets import Dataset
from pyarrow import ArrowException
from transformers import AutoModelForCausalLM
from transformers.integrations import integration_utils as integrations
from trl import GRPOConfig

from setrl.models.folder import is_adapter, trusts_code
from setrl.models.local import load_config
from setrl.support import names
from setrl.support.errors import ConfigError, DataError
from setrl.support.files.sections import check_values
from setrl.support.installing import install
from setrl.tasks import Problem, Task
from setrl.train.lm.resolved import ResolvedArm, ResolvedConfig

if TYPE_CHECKING:
    from transformers import Trainer

# What computes activations again: its name since Transformers 5.23, and before; 6 drops the latter.
RECOMPUTES = ("activation_checkpointing", "gradient_checkpointing")
KEPT_CHECKPOINTS = 2  # the last one, and a complete one while that is written


def grpo_config(resolved: ResolvedConfig, arm: ResolvedArm, seed: int, output: Path) -> GRPOConfig:
    """Return TRL's arguments: defaults for the machine, then the key `trainer`, then our keys."""
    trainer = resolved.config.trainer
    defaults = _choose_defaults()
    if not set(RECOMPUTES) & trainer.keys():
        defaults[next(name for name in RECOMPUTES if name in _list_trl_arguments())] = False
    defaults |= tracker_names(resolved.config.name, arm.name, seed)
    arguments = {**defaults, **trainer, **_make_config_arguments(resolved, arm, seed, output)}
    arguments["chat_template_kwargs"] = dict(resolved.form.options) or None
    model_options = {"dtype": resolved.config.dtype, "trust_remote_code": trusts_code()}
    arguments["model_init_kwargs"] = {**model_options, **arguments["model_init_kwargs"]}
    return GRPOConfig(**arguments)


def check_trainer_options(resolved: ResolvedConfig) -> None:
    """Refuse keys of `trainer` that TRL does not know, or that another key of the config sets.

    The types of values are those that TRL's own dataclass declares.
    """
    known_arguments, any_arm = _list_trl_arguments(), next(iter(resolved.arms.values()))
    config_arguments = _make_config_arguments(resolved, any_arm, 0, Path())
    trainer = resolved.config.trainer
    for key in trainer:
        try:
            names.look_up("key of GRPOConfig", key, known_arguments)
        except ValueError as error:
            raise ConfigError(f"trainer: {str(error).partition(' Known:')[0]}") from error
        if key in config_arguments:
            raise ConfigError(
                f"trainer: {key} is set by the other keys of the config: remove it here"
            )
    check_values(get_type_hints(GRPOConfig), trainer, "trainer")
    check_trackers(trainer.get("report_to"))


def _list_trl_arguments() -> dict[str, Any]:
    """Return the arguments that TRL knows."""
    return {field.name: field for field in dataclasses.fields(GRPOConfig)}


def _choose_defaults() -> dict[str, Any]:
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


def _make_config_arguments(
    resolved: ResolvedConfig, arm: ResolvedArm, seed: int, output: Path
) -> dict[str, Any]:
    """Return the arguments that keys of the config other than `trainer` set."""
    config = resolved.config
    at_once, rounds = _split_into_micro_batches(resolved.samples_per_step, config.micro_batch_size)
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


def _split_into_micro_batches(samples: int, micro_batch_size: int | None) -> tuple[int, int]:
    """Return the samples of one pass on one device, and the passes of a step."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    at_once = micro_batch_size or samples // processes
    if samples % (at_once * processes):
        raise ConfigError(
            f"micro_batch_size × processes must divide the {samples} samples of a step, got "
            f"{at_once} × {processes}"
        )
    return at_once, samples // (at_once * processes)


def training_prompts(task: Task, problems: Sequence[Problem], *, is_chat: bool = False) -> Dataset:
    """Return the prompts of every step in order, so that the order does not depend on epochs.

    Args:
        task: The task.
        problems: Its problems, in the order in which they are trained on.
        is_chat: Whether the model gets messages.

    Raises:
        DataError: If a column of a file holds values that no column of a data set can hold.
    """
    # In the order in which they first appear.
    names = dict.fromkeys(key for problem in problems for key in problem.columns)
    columns = {key: [problem.columns.get(key) for problem in problems] for key in names}
    for key, values in columns.items():
        try:
            Dataset.from_dict({key: values})
        except (ArrowException, OverflowError):
            raise DataError(
                f"{task.name}: the field {key!r} holds a number of more than 64 bits, or values of "
                "two kinds: write one kind in all rows, or leave the field out"
            ) from None
    prompts = [task.form.prompt(problem.prompt, is_chat) for problem in problems]
    return Dataset.from_dict({"prompt": prompts, **columns})


def peft_config(options: Mapping[str, Any] | None) -> Any:
    """Return PEFT's LoraConfig with these options; None without them.

    Raises:
        ConfigError: If PEFT is not installed, or refuses an option.
    """
    if options is None:
        return None
    try:
        from peft import LoraConfig
    except ImportError:
        raise ConfigError(f"peft needs the package: {install('peft')}") from None
    check_values(get_type_hints(LoraConfig), options, "peft")
    try:
        return LoraConfig(**{"task_type": "CAUSAL_LM", **options})
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {error}") from error


def check_adapter(options: Mapping[str, Any] | None, model: str | None) -> None:
    """Refuse an adapter that does not fit the model; the model is made without its weights.

    Raises:
        ConfigError: If the adapter does not fit; the message is PEFT's.
    """
    adapter = peft_config(options)
    if adapter is None or model is None or is_adapter(model):
        return
    try:
        with torch.device("meta"):
            empty = AutoModelForCausalLM.from_config(
                load_config(model), trust_remote_code=trusts_code()
            )
    except ValueError:  # of another kind, which TRL loads by its own class
        return
    from peft import inject_adapter_in_model

    bare = dataclasses.replace(adapter, init_lora_weights=False)  # others need the weights
    try:
        with torch.device("meta"):
            inject_adapter_in_model(bare, empty)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {error}") from error


def check_trackers(report_to: Any) -> None:
    """Refuse, before anything is written, trackers that do not exist or are not installed."""
    trackers = [report_to] if isinstance(report_to, str) else list(report_to or [])
    for name in trackers if trackers not in (["none"], ["all"]) else []:
        try:
            names.look_up("tracker", name, integrations.INTEGRATION_TO_CALLBACK)
        except ValueError as error:
            raise ConfigError(f"trainer: report_to: {error}") from error
        if name not in integrations.get_available_reporting_integrations():
            how = install(name) if name == "tensorboard" else f"pip install {name}"
            raise ConfigError(f"trainer: report_to: {name} is not installed: {how}")


def tracker_names(name: str, arm: str, seed: int) -> dict[str, str]:
    """Return what trackers call one arm and seed: a name, in a project for the whole config.

    W&B reads its project only from the variable WANDB_PROJECT.
    """
    return {"run_name": f"{name}, {arm}, seed {seed}", "project": name}


def keep_events_in(folder: Path, trainer: Trainer) -> None:
    """Let TensorBoard write into the training run's folder, unless TENSORBOARD_LOGGING_DIR is set.

    TensorBoard's default is a folder among the checkpoints.
    """
    for callback in trainer.callback_handler.callbacks:
        is_board = isinstance(callback, integrations.TensorBoardCallback)
        if is_board and "TENSORBOARD_LOGGING_DIR" not in os.environ:
            callback.logging_dir = str(folder / "tensorboard")
