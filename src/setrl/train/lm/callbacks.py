"""Callbacks of TRL's trainer around each step: the recorder, progress, and the end on request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from setrl.logs.run import Seed
from setrl.support import files
from setrl.train.gathering.metrics import NameOf, batch_metrics, rollout_records, strategy_names
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import mark_complete, truncate
from setrl.train.scoring import ScoredBatch


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
        files.append_line(self.run.metrics_file, metrics | self._from_trainer(logs, batch))
        self._batch = None

    def _from_trainer(self, logs: dict[str, Any], batch: ScoredBatch | None) -> dict[str, Any]:
        """Return what TRL measured, under our names, and the time that each part took."""
        names = {
            "entropy": "policy/entropy",
            "kl": "policy/kl",
            "grad_norm": "policy/gradient_norm",
            "completions/mean_length": "length/mean",
            "completions/clipped_ratio": "length/truncated",
        }
        found = {ours: logs[theirs] for theirs, ours in names.items() if theirs in logs}
        found |= {key: value for key, value in logs.items() if _keeps_its_name(key)}
        seconds = batch.seconds if batch is not None else {}
        if batch is not None:
            tokens = logs["completions/mean_length"] * batch.samples.rewards.size
            found["speed/tokens_per_second"] = tokens / seconds["generation"]
        now = time.perf_counter()
        found |= {f"time/{part}": spent for part, spent in seconds.items()}
        found["time/update"] = self._step_seconds - sum(seconds.values())
        found["time/step"] = now - self._logged
        self._logged = now
        return found

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Record that the checkpoint is complete."""
        if state.is_world_process_zero:
            mark_complete(self.run, state.global_step)


def _keeps_its_name(key: str) -> bool:
    """Whether a metric describes a reward function, the gradient, or the ratios of policies."""
    ours = ("time/reward/", "sampling/", "reward/misgraded", "gradient/")
    return key.startswith(ours) or key.endswith("/failures")


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
