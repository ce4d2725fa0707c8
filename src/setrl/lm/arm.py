"""One training run of a comparison: one arm with one seed."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from pyarrow import ArrowException
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PrinterCallback
from trl import GRPOConfig

from setrl import files, names
from setrl.engines.judging import make_judge
from setrl.engines.trl import SetGRPOTrainer
from setrl.engines.trl.adam_moments import log_adam_moments
from setrl.engines.trl.sampling import Sampler
from setrl.errors import ConfigError, DataError, RunError
from setrl.evaluation.sampling import is_adapter, load_tokenizer, refuse_missing_model
from setrl.files.run_folder import Status, TrainingRun, write_status
from setrl.installing import install
from setrl.lm import fields
from setrl.lm.callbacks import Recorder, Steps
from setrl.lm.config import ComparisonConfig
from setrl.lm.trackers import check_trackers, keep_events_in, tracker_names
from setrl.models import sampler
from setrl.runs.pool import Stop
from setrl.serving.reachable import refuse_unreachable
from setrl.tasks import Task
from setrl.tasks.base import Row

# What computes activations again: its name since Transformers 5.23, and before; 6 drops the latter.
RECOMPUTES = ("activation_checkpointing", "gradient_checkpointing")
KEPT_CHECKPOINTS = 2  # the last one, and a complete one while that is written


def train_arm(
    config: ComparisonConfig,
    arm: str,
    seed: int,
    base: str | Path,
    run: TrainingRun,
    on_step: Callable[[int], None],
    stop: Stop,
    draw: Sampler | None = None,
) -> bool:
    """Train an arm with a seed, from its last checkpoint if there is one.

    Args:
        config: The comparison.
        arm: One of its arms.
        seed: One of its seeds.
        base: Folder or name of the model to start from.
        run: Where to write.
        on_step: Called with the number of steps that are done.
        stop: Asked to stop, the training ends early with a checkpoint.
        draw: Gives the samples in the place of the model, such as written demonstrations.

    Returns:
        Whether all steps are done; False if it was stopped.
    """
    if run.final.exists():
        write_status(run.path, "finished", step=config.steps)
        on_step(config.steps)
        return True
    checkpoint = run.usable_checkpoint()
    trainer = make_trainer(config, arm, seed, base, run, draw)
    trainer.add_callback(Steps(on_step, stop, config.num_iterations))
    if trainer.is_world_process_zero():
        run.remove_incomplete()
        write_status(run.path, "running", arm=arm, seed=seed, method=repr(config.method(arm)))
    _train(trainer, checkpoint)
    finished = trainer.state.global_step == config.steps
    if finished:
        _save(trainer, run.final)
    if trainer.is_world_process_zero():
        status: Status = "finished" if finished else "interrupted"
        write_status(run.path, status, step=trainer.state.global_step)
    return finished


def _train(trainer: SetGRPOTrainer, checkpoint: Path | None) -> None:
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except RuntimeError as error:
        if "inline_container" not in str(error):
            raise
        # If a checkpoint does not fit on the disk, PyTorch names only a line of its own sources.
        folder = trainer.args.output_dir
        raise RunError(f"cannot write a checkpoint to {folder}: check the free space") from error


def _save(trainer: SetGRPOTrainer, folder: Path) -> None:
    """Save the model and its tokenizer; all processes take part, the first one writes."""
    writes = trainer.is_world_process_zero()
    with files.writing_folder(folder) if writes else nullcontext(folder) as partial:
        trainer.save_model(str(partial))


def make_trainer(
    config: ComparisonConfig,
    arm: str,
    seed: int,
    base: str | Path,
    run: TrainingRun,
    draw: Sampler | None = None,
) -> SetGRPOTrainer:
    """The trainer of an arm, with its dataset, reward functions and records."""
    task = config.make_task()
    tokenizer = AutoTokenizer.from_pretrained(base, padding_side="left")
    method = config.method(arm)
    spec = config.judge(arm)
    judge = None if spec is None else make_judge(spec, run.path)
    recorder = Recorder(run, method, task.strategy.name_of, config.rollouts_every)
    run.path.mkdir(parents=True, exist_ok=True)
    trainer = SetGRPOTrainer(
        str(base),
        list(config.training_rewards(task)),
        grpo_config(config, arm, seed, run.checkpoints),
        training_prompts(config, seed, is_chat=task.form.is_chat(tokenizer)),
        processing_class=tokenizer,
        callbacks=[recorder],
        peft_config=peft_config(config),
        method=method,
        cluster_func=task.strategy.function if judge is None else None,
        judge=judge,
        schedule=functools.partial(config.method, arm) if config.is_scheduled(arm) else None,
        sampler=draw or (sampler.sample_ids if config.model is None else None),
        on_batch=recorder.on_batch,
        combine=task.combine,
        fields=field_sources(config, arm, task),
        truncated=config.truncation(),
        mask_dead_groups=config.mask_dead_groups,
    )
    if config.adam_moments:
        log_adam_moments(trainer)
    keep_events_in(run.path, trainer)
    trainer.remove_callback(PrinterCallback)  # it prints what the recorder writes
    return trainer


def field_sources(config: ComparisonConfig, arm: str, task: Task) -> dict[str, Any]:
    """Where the fields come from that the method of an arm reads."""
    return fields.sources(config.fields, config.method(arm).reads, task)


def training_prompts(config: ComparisonConfig, seed: int, is_chat: bool = False) -> Dataset:
    """The prompts of every step in order, so that the order does not depend on epochs.

    Problems of a domain are new at every step, or `train_problems` of them come again and again;
    those of a file come again once all have been seen.

    Raises:
        DataError: If a column of a file holds values that no column of a data set can hold.
    """
    task = config.make_task()
    count = math.ceil(config.steps / config.num_iterations) * config.prompts_per_step
    rows = task.training_rows(count, config.train_problems, seed)
    columns = {key: [row.columns.get(key) for row in rows] for key in _columns(rows)}
    for key, values in columns.items():
        try:
            Dataset.from_dict({key: values})
        except (ArrowException, OverflowError) as error:
            raise DataError(
                f"{task.name}: the field {key!r} holds values of several kinds ({error}): make "
                "them all texts, or leave the field out"
            ) from None
    prompts = [task.form.prompt(row.prompt, is_chat) for row in rows]
    return Dataset.from_dict({"prompt": prompts, **columns})


def _columns(rows: list[Row]) -> list[str]:
    """The names of all columns, in the order in which they first appear."""
    return list(dict.fromkeys(key for row in rows for key in row.columns))


def peft_config(config: ComparisonConfig) -> Any:
    """PEFT's LoraConfig by the key `peft`; None without it.

    Raises:
        ConfigError: If PEFT is not installed, or refuses an argument.
    """
    if config.peft is None:
        return None
    try:
        from peft import LoraConfig
    except ImportError:
        raise ConfigError(f"peft needs the package: {install('peft')}") from None
    known = {field.name: field for field in dataclasses.fields(LoraConfig)}
    try:
        for key in config.peft:
            names.look_up("key of LoraConfig", key, known)
        for key in {"r", "lora_alpha", "lora_dropout"} & set(config.peft):
            if not isinstance(value := config.peft[key], int | float):
                raise ValueError(f"{key} must be a number, got {value!r}")
        return LoraConfig(**{"task_type": "CAUSAL_LM", **config.peft})
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {str(error).partition(' Known:')[0]}") from error


def check_adapter(config: ComparisonConfig) -> None:
    """Refuse an adapter that does not fit the model; the model is made without its weights.

    Raises:
        ConfigError: With PEFT's own words.
    """
    adapter = peft_config(config)
    if adapter is None or config.model is None or is_adapter(config.model):
        return
    from peft import inject_adapter_in_model

    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(config.model))
    except ValueError:  # of another kind, which TRL loads by its own class
        return
    bare = dataclasses.replace(adapter, init_lora_weights=False)  # others need the weights
    try:
        with torch.device("meta"):
            inject_adapter_in_model(bare, model)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"peft: {error}") from error


def grpo_config(config: ComparisonConfig, arm: str, seed: int, output: Path) -> GRPOConfig:
    """TRL's arguments for an arm: defaults for the machine, the config's `trainer`, our keys."""
    defaults = _defaults()
    if not set(RECOMPUTES) & config.trainer.keys():
        known = {field.name for field in dataclasses.fields(GRPOConfig)}
        defaults[next(name for name in RECOMPUTES if name in known)] = False
    defaults |= tracker_names(config, arm, seed)
    given = {**defaults, **config.trainer, **_ours(config, arm, seed, output)}
    given["chat_template_kwargs"] = dict(config.form.options) or None
    given["model_init_kwargs"] = {"dtype": config.dtype, **given["model_init_kwargs"]}
    return GRPOConfig(**given)


def check_before_training(config: ComparisonConfig, *, opens_caches: bool = True) -> None:
    """Refuse, before anything is written, what would fail once training has started.

    Args:
        config: The comparison.
        opens_caches: Whether to open the files, too, in which judges keep their judgements; a file
            that is not there is made.
    """
    check_trainer_options(config)
    check_model(config)
    check_adapter(config)
    check_problems(config)
    check_prompts(config)
    check_judges(config, opens_caches)
    check_fields(config)


def check_trainer_options(config: ComparisonConfig) -> None:
    """Refuse keys of `trainer` that TRL does not know, or that a key of ours decides."""
    known = {field.name: field for field in dataclasses.fields(GRPOConfig)}
    ours = _ours(config, next(iter(config.arms)), 0, Path())
    for key in config.trainer:
        try:
            names.look_up("key of GRPOConfig", key, known)
        except ValueError as error:
            raise ConfigError(f"trainer: {str(error).partition(' Known:')[0]}") from error
        if key in ours:
            raise ConfigError(
                f"trainer: {key} is set by the other keys of the config: remove it here"
            )
    check_trackers(config.trainer.get("report_to"))


def check_model(config: ComparisonConfig) -> None:
    """Refuse a model that does not exist before anything is trained."""
    if config.model is None:
        return
    try:
        refuse_missing_model(config.model)
    except ConfigError as error:
        raise ConfigError(f"model: {error}") from error
    if is_adapter(config.model):
        raise ConfigError(
            f"model: {config.model} is an adapter: merge it into its model first "
            "(merge_and_unload of PEFT), and give that folder"
        )


def check_judges(config: ComparisonConfig, opens_caches: bool = True) -> None:
    """Refuse judges that cannot be made before anything is trained."""
    for arm in config.arms:
        spec = config.judge(arm)
        if not opens_caches:
            spec = _without_caches(spec)
        try:
            if spec is not None:
                with tempfile.TemporaryDirectory() as folder:
                    make_judge(spec, Path(folder)).close()
                refuse_unreachable_judge(spec)
        except (ValueError, ImportError) as error:
            raise ConfigError(f"arms.{arm}.judge: {error}") from error


def _without_caches(spec: Any) -> Any:
    """The settings of a judge, and of those that it asks, without files of judgements."""
    if isinstance(spec, Mapping):
        return {key: _without_caches(value) for key, value in spec.items() if key != "cache"}
    return [_without_caches(one) for one in spec] if isinstance(spec, list) else spec


def refuse_unreachable_judge(spec: Any) -> None:
    """Open a connection to the server of a judge, and of those that it asks, and close it again.

    Raises:
        RunError: If there is none, before many requests have waited for it.
    """
    if not isinstance(spec, Mapping):
        return
    if "endpoint" in spec:
        refuse_unreachable(spec["endpoint"])
    for other in (spec.get("of"), *(spec.get("judges") or ())):
        refuse_unreachable_judge(other)


def check_fields(config: ComparisonConfig) -> None:
    """Refuse functions that cannot be loaded, and columns that the problems lack."""
    task = config.make_task()
    found = [field_sources(config, arm, task) for arm in config.arms]
    columns = {one for sources in found for one in sources.values() if isinstance(one, str)}
    if not columns:
        return
    known = training_prompts(config, config.seeds[0]).column_names
    for column in sorted(columns - set(known)):
        raise ConfigError(
            f"fields: the problems of {task.name} have no column {column!r}; they have "
            f"{', '.join(known)}"
        )


def check_problems(config: ComparisonConfig) -> None:
    """Refuse more problems than there are before anything is trained."""
    training_prompts(config, config.seeds[0])
    for split in config.eval_splits or ():
        config.make_task().problems(split, config.eval_problems, 0)


def check_prompts(config: ComparisonConfig) -> None:
    """Refuse prompts that the model cannot read whole, and a chat template that is not there."""
    if config.model is None:
        return
    tokenizer, form = load_tokenizer(config.model), config.form
    form.is_chat(tokenizer)
    context = context_of(config.model)
    if context is None:
        return
    room = context - config.sample_tokens
    around = len(form.token_ids("", tokenizer)) + 1
    for prompt in _prompts(config):
        if len(prompt.encode()) + around <= room:  # a token has at least one byte
            continue
        if (count := len(form.token_ids(prompt, tokenizer))) > room:
            raise ConfigError(
                f"the prompt {prompt[:60]!r}… of {config.make_task().name} has {count} tokens; "
                f"with {config.sample_tokens} new ones that is more than the {context} of the "
                "model's context: leave it out, or set max_new_tokens lower"
            )


def context_of(model: str) -> int | None:
    """The largest number of tokens that a model reads, if its config says so."""
    config = AutoConfig.from_pretrained(model).get_text_config()
    return getattr(config, "max_position_embeddings", None)


def _prompts(config: ComparisonConfig) -> list[str]:
    """The different prompts of training and evaluation."""
    task = config.make_task()
    count = config.steps * config.prompts_per_step
    found = [row.prompt for row in task.training_rows(count, config.train_problems, 0)]
    for split in config.eval_splits or ():
        problems = task.problems(split, config.eval_problems, 0).problems
        found += [problem.prompt for problem in problems]
    return list(dict.fromkeys(found))


def _defaults() -> dict[str, Any]:
    """Defaults for this machine; those of TRL are for large models on GPUs."""
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


def _ours(config: ComparisonConfig, arm: str, seed: int, output: Path) -> dict[str, Any]:
    samples = config.prompts_per_step * config.samples_per_prompt
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    at_once = config.micro_batch_size or samples // processes
    if samples % (at_once * processes):
        raise ConfigError(
            f"micro_batch_size × processes must divide the {samples} samples of a step, got "
            f"{at_once} × {processes}"
        )
    return {
        "output_dir": str(output),
        "max_steps": config.steps,
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": samples // (at_once * processes),
        "num_generations": config.samples_per_prompt,
        "num_iterations": config.num_iterations,
        "max_completion_length": config.sample_tokens,
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
        **config.arm_options(arm),
    }
