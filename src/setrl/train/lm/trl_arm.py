"""One training run that TRL does in this process: an arm with a seed, recorded step by step."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from transformers import (
    AutoTokenizer,
    PrinterCallback,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from setrl.logs.run import Seed
from setrl.models.folder import trusts_code
from setrl.models.small import sampler
from setrl.support import files
from setrl.train.gathering.judging import make_judge
from setrl.train.gathering.metrics import NameOf, batch_metrics, rollout_records, strategy_names
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.trl_arguments import grpo_config, keep_events_in, peft_config, training_prompts
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import mark_complete, train_on, truncate
from setrl.train.scoring import ScoredBatch
from setrl.train.trl import SetGRPOTrainer
from setrl.train.trl.adam_moments import log_adam_moments
from setrl.train.trl.sampling import Sampler


class Recorder(TrainerCallback):
    """Writer of metrics.jsonl and rollouts/ in the folder of one arm and seed.

    Pass its `on_batch` to `SetGRPOTrainer` and itself as a callback; it needs `logging_steps=1`.

    Args:
        run: The folder.
        name_of: Names the strategy of a sample, for people to read.
        is_recorded: Whether the samples of the batch that begins with a step are recorded.
    """

    def __init__(
        self,
        run: Seed,
        name_of: NameOf | None,
        is_recorded: Callable[[int], bool],
    ):
        self.run = run
        self.name_of = name_of
        self.is_recorded = is_recorded
        self._batch: ScoredBatch | None = None
        self._step_began = self._logged = time.perf_counter()
        self._step_seconds = 0.0

    def on_batch(self, batch: ScoredBatch) -> None:
        """Keep a batch of samples until its step is logged."""
        self._batch = batch

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Remove what was recorded after the checkpoint from which this run resumes."""
        if state.is_world_process_zero:
            truncate(self.run, state.global_step)
        self._logged = time.perf_counter()

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        """Note the time."""
        self._step_began = time.perf_counter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Note how long the step took."""
        self._step_seconds = time.perf_counter() - self._step_began

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Write the step's metrics, and its samples if their turn has come."""
        if not state.is_world_process_zero or logs is None or "train_runtime" in logs:
            return
        step, batch = state.global_step, self._batch
        metrics: dict[str, Any] = {"step": step}
        if batch is not None:
            names_BN = strategy_names(batch, self.name_of)
            metrics |= batch_metrics(batch, names_BN)
            if self.is_recorded(step):
                records = rollout_records(batch, names_BN, step)
                files.write_lines(self.run.rollout_file(step), records)
        files.append_line(self.run.metrics_file, metrics | self._name_metrics(logs, batch))
        self._batch = None

    def _name_metrics(self, logs: dict[str, Any], batch: ScoredBatch | None) -> dict[str, Any]:
        """Return what TRL measured, under our names, and the time that each part took."""
        names = {
            "entropy": "policy/entropy",
            "kl": "policy/kl",
            "grad_norm": "policy/gradient_norm",
            "completions/mean_length": "length/mean",
            "completions/clipped_ratio": "length/truncated",
        }
        metrics = {name: logs[trl_name] for trl_name, name in names.items() if trl_name in logs}
        metrics |= {key: value for key, value in logs.items() if _keeps_its_name(key)}
        seconds = batch.seconds if batch is not None else {}
        if batch is not None:
            tokens = logs["completions/mean_length"] * batch.samples.rewards.size
            metrics["speed/tokens_per_second"] = tokens / seconds["generation"]
        now = time.perf_counter()
        metrics |= {f"time/{part}": spent for part, spent in seconds.items()}
        metrics["time/update"] = self._step_seconds - sum(seconds.values())
        metrics["time/step"] = now - self._logged
        self._logged = now
        return metrics

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Record that the checkpoint is complete."""
        if state.is_world_process_zero:
            mark_complete(self.run, state.global_step)


def _keeps_its_name(key: str) -> bool:
    """Whether a metric describes a reward function, the gradient, or the ratios of policies."""
    prefixes = ("time/reward/", "sampling/", "reward/misgraded", "gradient/")
    return key.startswith(prefixes) or key.endswith("/failures")


class Steps(TrainerCallback):
    """Reporter of the steps that are done, which ends the training early if it is asked to.

    Args:
        on_step: Called with the number of finished steps, first the steps of the checkpoint.
        stop: Asked to stop, the training ends with a checkpoint after the last update of a batch.
        num_iterations: Updates from each batch.
    """

    def __init__(self, on_step: Callable[[int], None], stop: Stop, num_iterations: int):
        self.on_step = on_step
        self.stop = stop
        self.num_iterations = num_iterations

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Report the step of the checkpoint from which the training resumes."""
        self.on_step(state.global_step)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Report the step, and save and stop if asked to."""
        self.on_step(state.global_step)
        if self.stop.asked and state.global_step % self.num_iterations == 0:
            control.should_save = control.should_training_stop = True


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
            _save_model(trainer, run.final)
        return trainer.state.global_step

    return train_on(
        run, run.final, steps, on_step, train, os.environ.get("RANK", "0") == "0",
        arm=arm, seed=seed, method=repr(method), correct=resolved.says_right,
    )  # fmt: skip


def _save_model(trainer: SetGRPOTrainer, folder: Path) -> None:
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
    config, task, resolved_arm = resolved.config, resolved.task, resolved.arms[arm]
    trust = trusts_code()
    tokenizer = AutoTokenizer.from_pretrained(base, padding_side="left", trust_remote_code=trust)
    judge = None if resolved_arm.judge is None else make_judge(resolved_arm.judge, run.path)
    recorder = Recorder(run, task.strategy.name_of, config.is_recorded)
    is_chat = task.form.is_chat(tokenizer)
    run.path.mkdir(parents=True, exist_ok=True)
    trainer = SetGRPOTrainer(
        str(base),
        list(resolved.rewards),
        grpo_config(resolved, resolved_arm, seed, run.checkpoint_folder),
        training_prompts(task, resolved.training_problems(seed), is_chat=is_chat),
        processing_class=tokenizer,
        callbacks=[recorder],
        peft_config=peft_config(config.peft),
        method=resolved_arm.method,
        strategy_func=task.strategy.function if judge is None else None,
        judge=judge,
        schedule=resolved_arm.schedule,
        sampler=draw or (sampler.sample_ids if config.model is None else None),
        on_batch=recorder.on_batch,
        combine=task.combine,
        # Evaluation reads it, too.
        correct=task.correct or resolved.rewards[task.combine.outcome_place],
        fields=dict(resolved_arm.fields),
        truncated=resolved.truncation,
        stop_rule=resolved.stop_rule,
        mask_dead_groups=config.mask_dead_groups,
    )
    if config.adam_moments:
        log_adam_moments(trainer)
    keep_events_in(run.path, trainer)
    trainer.remove_callback(PrinterCallback)  # it prints what the recorder writes
    return trainer
