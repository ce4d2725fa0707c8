"""One training run of a comparison: one arm with one seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from transformers import AutoTokenizer, PrinterCallback

from setrl.logs.run import Seed
from setrl.models.folder import trusts_code
from setrl.models.small import sampler
from setrl.support import files
from setrl.train.gathering.judging import make_judge
from setrl.train.lm.adapter import peft_config
from setrl.train.lm.callbacks import Recorder, Steps
from setrl.train.lm.prompts import training_prompts
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.trackers import keep_events_in
from setrl.train.lm.trl_arguments import grpo_config
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import train_on
from setrl.train.trl import SetGRPOTrainer
from setrl.train.trl.adam_moments import log_adam_moments
from setrl.train.trl.sampling import Sampler


def train_arm(
    resolved: ResolvedConfig,
    arm: str,
    seed: int,
    base: str | Path,
    run: Seed,
    on_step: Callable[[int], None],
    stop: Stop,
    draw: Sampler | None = None,
) -> bool:
    """Train an arm with a seed, from its last checkpoint if there is one.

    Args:
        resolved: The comparison.
        arm: One of its arms.
        seed: One of its seeds.
        base: Folder or name of the model to start from.
        run: Where to write.
        on_step: Called with the number of steps that are done.
        stop: Asked to stop, the training ends early with a checkpoint.
        draw: Gives the samples instead of the model, such as written demonstrations.

    Returns:
        Whether all steps are done; False if it was stopped.
    """
    steps, method = resolved.config.steps, resolved.arms[arm].method

    def train(checkpoint: Path | None) -> int:
        trainer = make_trainer(resolved, arm, seed, base, run, draw)
        trainer.add_callback(Steps(on_step, stop, resolved.config.num_iterations))
        with files.disk_errors(run.checkpoint_folder):
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        if trainer.state.global_step == steps:
            _save(trainer, run.final)
        return trainer.state.global_step

    return train_on(
        run, run.final, steps, on_step, train, os.environ.get("RANK", "0") == "0",
        arm=arm, seed=seed, method=repr(method), correct=resolved.says_right,
    )  # fmt: skip


def _save(trainer: SetGRPOTrainer, folder: Path) -> None:
    """Save the model and its tokenizer; all processes take part, the first one writes."""
    writes = trainer.is_world_process_zero()
    with files.writing_folder(folder) if writes else nullcontext(folder) as partial:
        trainer.save_model(str(partial))


def make_trainer(
    resolved: ResolvedConfig,
    arm: str,
    seed: int,
    base: str | Path,
    run: Seed,
    draw: Sampler | None = None,
) -> SetGRPOTrainer:
    """Return the trainer of an arm, with its data set, reward functions and records."""
    config, task, own = resolved.config, resolved.task, resolved.arms[arm]
    trust = trusts_code()
    tokenizer = AutoTokenizer.from_pretrained(base, padding_side="left", trust_remote_code=trust)
    judge = None if own.judge is None else make_judge(own.judge, run.path)
    recorder = Recorder(run, task.strategy.name_of, config.is_recorded)
    is_chat = task.form.is_chat(tokenizer)
    run.path.mkdir(parents=True, exist_ok=True)
    trainer = SetGRPOTrainer(
        str(base),
        list(resolved.rewards),
        grpo_config(resolved, own, seed, run.checkpoint_folder),
        training_prompts(task, resolved.training_problems(seed), is_chat=is_chat),
        processing_class=tokenizer,
        callbacks=[recorder],
        peft_config=peft_config(config.peft),
        method=own.method,
        strategy_func=task.strategy.function if judge is None else None,
        judge=judge,
        schedule=own.schedule,
        sampler=draw or (sampler.sample_ids if config.model is None else None),
        on_batch=recorder.on_batch,
        combine=task.combine,
        # Evaluation reads it, too.
        correct=task.correct or resolved.rewards[task.combine.place() or 0],
        fields=dict(own.fields),
        truncated=resolved.truncation,
        stop_rule=resolved.stop_rule,
        mask_dead_groups=config.mask_dead_groups,
    )
    if config.adam_moments:
        log_adam_moments(trainer)
    keep_events_in(run.path, trainer)
    trainer.remove_callback(PrinterCallback)  # it prints what the recorder writes
    return trainer
