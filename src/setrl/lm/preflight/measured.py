"""What a small run measured, for the plan of a larger one: lengths of samples, and speeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl import files
from setrl.errors import ConfigError, DataError
from setrl.files.run_folder import TrainingRun, find_arms, read_config


@dataclass(frozen=True)
class Measured:
    """Means over the training runs of a run.

    Attributes:
        run: Its folder.
        sample_tokens: Tokens of a sample.
        sample_bytes: Bytes of its text.
        sampled_per_s: Tokens sampled in a second.
        update_s: Seconds of the updates for each sample.
        rest_s: Seconds of a step for neither: rewards, waiting for a judge, credit, records.
        samples_per_prompt: N.
        judge_read, judge_written: Tokens of a request to a judge and of its reply, as the server
            counted them; NaN where no judge asked one.
    """

    run: Path
    sample_tokens: float
    sample_bytes: float
    sampled_per_s: float
    update_s: float
    rest_s: float
    samples_per_prompt: int
    judge_read: float
    judge_written: float


def measured(run: Path) -> Measured:
    """What was measured in a run, or in a training run of it; its first steps warm up and count.

    Raises:
        ConfigError: If the folder is no run of a language model.
        DataError: If no step of it is recorded.
    """
    folders = _training_runs(run)
    config = read_config(run)
    try:
        num_samples = int(config["samples_per_prompt"])
        per_step = int(config["prompts_per_step"]) * num_samples
    except (KeyError, TypeError, ValueError):
        raise ConfigError(f"{run} is no run of `setrl train`: it has no such config.yaml") from None
    steps = [step for folder in folders for step in files.read_lines(folder.metrics)]
    sampled = [step for step in steps if "time/generation" in step]
    if not sampled:
        raise DataError(f"{run}: no step is recorded whose samples were measured")
    samples = per_step * len(steps) / len(sampled)  # of a batch, which may make several updates
    lengths = np.array([step["length/mean"] for step in sampled])
    generation_s = _sum(sampled, "time/generation")
    update_s = _sum(steps, "time/update")
    whole_s = _sum(steps, "time/step")
    return Measured(
        run=run,
        sample_tokens=float(lengths.mean()),
        sample_bytes=_bytes(folders, lengths.mean(), sampled),
        sampled_per_s=float(lengths.sum()) * samples / generation_s,
        update_s=update_s / (per_step * len(steps)),
        rest_s=max(whole_s - generation_s - update_s, 0.0) / len(steps),
        samples_per_prompt=num_samples,
        judge_read=_of_a_request(steps, "judge/prompt_tokens"),
        judge_written=_of_a_request(steps, "judge/reply_tokens"),
    )


def _training_runs(run: Path) -> list[TrainingRun]:
    found = [
        TrainingRun(path)
        for arm in find_arms(run)
        for path in arm.seeds.values()
        if TrainingRun(path).metrics.exists()
    ]
    if not found:
        raise ConfigError(f"{run} holds no training run: give the folder that setrl train wrote")
    return found


def _sum(steps: list[dict[str, Any]], key: str) -> float:
    return float(sum(step.get(key) or 0.0 for step in steps))


def _of_a_request(steps: list[dict[str, Any]], key: str) -> float:
    requests = _sum(steps, "judge/requests")
    return _sum(steps, key) / requests if requests else float("nan")


def _bytes(folders: list[TrainingRun], length: float, sampled: list[dict[str, Any]]) -> float:
    """The bytes of a sample: those of the recorded steps, by the lengths of their samples."""
    lengths = {step["step"]: step["length/mean"] for step in sampled}
    bytes_of, tokens_of = 0.0, 0.0
    for folder in folders:
        for step, path in folder.rollout_files().items():
            texts = [one["text"] for group in files.read_lines(path) for one in group["samples"]]
            bytes_of += sum(len(text.encode()) for text in texts)
            tokens_of += lengths.get(step, length) * len(texts)
    return length * bytes_of / tokens_of if tokens_of else float("nan")
