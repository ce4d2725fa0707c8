"""How much a comparison writes: checkpoints, last models, and the texts of samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from setrl.samples.records import TEXTS_KEPT
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.preflight.model_size import ModelSize
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.trl_arguments import KEPT_CHECKPOINTS

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "auto": 2}
MOMENTS = 2  # numbers that Adam keeps of a weight
# Bytes besides the weights and the texts, as small runs of this version wrote them.
CHECKPOINT_FILES = 30_000  # states of random numbers, of the trainer, arguments
FINAL_FILES = 10_000
RECORDED_SAMPLE = 200  # its reward, strategy and advantages
EVALUATED_SAMPLE = 110  # its place and its finish, whether it is right, its strategy, its answer
WAITING_TOKEN = 28  # its number and log-probability, in a batch that a server has not saved yet


@dataclass(frozen=True)
class Texts:
    """How long texts are.

    Attributes:
        prompt_tokens, prompt_bytes: The mean length of a prompt, in tokens and in bytes.
        sample_bytes: The bytes of a sample.
    """

    prompt_tokens: float
    prompt_bytes: float
    sample_bytes: float


@dataclass(frozen=True)
class Disk:
    """Bytes that all training runs and evaluations leave; metrics and the report take a few MB.

    Attributes:
        checkpoints: The checkpoints that are kept; with a server, the batches that it has not
            saved yet.
        models: The last model of each run, and a base that is made from scratch.
        samples: The recorded samples of training and evaluations.
        on_server: What a server writes on its own disk, and keeps.
    """

    checkpoints: float
    models: float
    samples: float
    on_server: float

    @property
    def here(self) -> float:
        """Return the bytes on this machine."""
        return self.checkpoints + self.models + self.samples


def disk(
    resolved: ResolvedConfig, size: ModelSize, texts: Texts, problems: Mapping[str, int]
) -> Disk:
    """Return what a comparison leaves on the disk.

    Args:
        resolved: The comparison.
        size: The size of its model.
        texts: The lengths of its prompts and samples.
        problems: Evaluated split → the number of its problems.
    """
    config = resolved.config
    runs = len(config.arms) * len(config.seeds)
    made = 0 if resolved.base is None else size.weights * BYTES["float32"] + FINAL_FILES
    evaluated = (
        (runs + config.base_evaluations)
        * sum(problems.values())
        * _evaluated_problem(config, texts)
    )
    return Disk(
        checkpoints=runs * _checkpoints(resolved, size, texts),
        models=runs * _final(config, size) + made,
        samples=runs * _recorded(resolved, texts) + evaluated,
        on_server=runs * _on_server(config, size),
    )


def _final(config: ComparisonConfig, size: ModelSize) -> float:
    if config.engine is not None:
        return 200  # the name of the weights on the server
    kept = size.trained if config.peft is not None else size.weights
    return kept * BYTES[config.dtype] + FINAL_FILES


def _checkpoints(resolved: ResolvedConfig, size: ModelSize, texts: Texts) -> float:
    """Return the bytes of one training run."""
    config = resolved.config
    if resolved.engine is not None:
        open_steps = config.checkpoint_every + 1 + resolved.engine.staleness
        length = texts.prompt_tokens + resolved.sample_tokens
        return open_steps * resolved.samples_per_step * length * WAITING_TOKEN
    written = math.ceil(config.steps / config.checkpoint_every)
    kept = min(config.trainer.get("save_total_limit") or KEPT_CHECKPOINTS, written)
    moments = MOMENTS * size.trained * BYTES[config.dtype]
    return kept * (_final(config, size) + moments + CHECKPOINT_FILES)


def _on_server(config: ComparisonConfig, size: ModelSize) -> float:
    """Return the bytes of all adapters that a server keeps, with their moments in float32."""
    if config.engine is None:
        return 0.0
    saved = 1 + math.ceil(config.steps / config.checkpoint_every)
    return (saved * (1 + MOMENTS) + 1) * size.trained * BYTES["float32"]


def _recorded(resolved: ResolvedConfig, texts: Texts) -> float:
    """Return the bytes of the recorded samples of one training run."""
    config = resolved.config
    batches = sum(map(config.is_recorded, range(1, config.steps + 1, config.num_iterations)))
    group = config.samples_per_prompt * (texts.sample_bytes + RECORDED_SAMPLE)
    return batches * config.prompts_per_step * (texts.prompt_bytes + group)


def _evaluated_problem(config: ComparisonConfig, texts: Texts) -> float:
    """Return the bytes of a problem: its samples, and its line with the first of their texts."""
    n = config.eval_samples
    samples = n * (texts.sample_bytes + EVALUATED_SAMPLE)
    return samples + texts.prompt_bytes + min(n, TEXTS_KEPT) * texts.sample_bytes
