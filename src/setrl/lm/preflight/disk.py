"""How much a comparison writes: checkpoints, last models, logs, samples of evaluations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl import files
from setrl.engines.metrics import NAMES_SHOWN, batch_metrics, rollout_records
from setrl.engines.tinker.journal import CreditedSample
from setrl.groups.records import TEXTS_KEPT
from setrl.lm.arm import KEPT_CHECKPOINTS
from setrl.lm.config import ComparisonConfig
from setrl.lm.preflight.model_size import ModelSize
from setrl.scoring import Columns, ScoredBatch, score
from setrl.scoring.check import FIELDS
from setrl.scoring.fields import PAIRS

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "auto": 2}
MOMENTS = 2  # numbers that Adam keeps of a weight
# Bytes beside the weights and the samples, as small runs of this version wrote them.
CHECKPOINT_FILES = 30_000  # states of random numbers, of the trainer, arguments
FINAL_FILES = 10_000
STEP_OF_TRAINER = 470  # of metrics.jsonl, beside what a batch measures
STEP_IN_CHECKPOINT = 1_000  # of trainer_state.json
EVALUATED_SAMPLE = 110  # its place and its finish, whether it is right, its strategy, its answer
EVALUATED_PROBLEM = 450
EVALUATION, EVALUATION_AT_K = 3_300, 3_000  # its summary: for the split, and for each k
NAME = 45  # the share of a strategy in the metrics of a step
JUDGEMENT = 250
REPORT = 600_000  # with its figures and the summary of the run


@dataclass(frozen=True)
class Texts:
    """What a sample and a prompt are, on average.

    Attributes:
        sample_tokens, prompt_tokens: Tokens.
        sample_bytes, prompt_bytes: Bytes of their texts.
    """

    sample_tokens: float
    prompt_tokens: float
    sample_bytes: float
    prompt_bytes: float


@dataclass(frozen=True)
class Disk:
    """Bytes that all training runs and evaluations of a comparison leave.

    Attributes:
        checkpoints: Those that are kept, from which runs resume; with a server, the batches that it
            has not saved yet.
        models: The last model of each run, and a base that was made from scratch.
        samples: Recorded samples of training, and judgements.
        metrics: Records of all steps.
        evaluations: Samples and records of evaluations.
        report: The report, with its figures.
        on_server: What the server writes on its own disk, which it keeps.
    """

    checkpoints: float
    models: float
    samples: float
    metrics: float
    evaluations: float
    report: float
    on_server: float

    @property
    def here(self) -> float:
        """All of it on this machine."""
        parts = vars(self).items()
        return sum(value for name, value in parts if name != "on_server")


def disk(config: ComparisonConfig, size: ModelSize, texts: Texts, problems: dict[str, int]) -> Disk:
    """What a comparison leaves on the disk.

    Args:
        config: The comparison.
        size: Of its model.
        texts: Its prompts and samples.
        problems: Evaluated split → its problems.
    """
    runs = len(config.arms) * len(config.seeds)
    records = sum(_records(config, arm, texts) for arm in config.arms) * len(config.seeds)
    judged = sum(config.judge(arm) is not None for arm in config.arms) * len(config.seeds)
    groups = math.ceil(config.steps / config.num_iterations) * config.prompts_per_step
    evaluated = (runs + 1) * sum(_evaluation(config, texts, n) for n in problems.values())
    made = 0 if config.model is not None else size.weights * BYTES["float32"] + FINAL_FILES
    return Disk(
        checkpoints=runs * _checkpoints(config, size, texts),
        models=runs * _final(config, size) + made,
        samples=records + judged * groups * (JUDGEMENT + 3 * config.samples_per_prompt),
        metrics=runs * config.steps * STEP_OF_TRAINER + _measured(config, texts),
        evaluations=evaluated,
        report=REPORT,
        on_server=runs * _on_server(config, size),
    )


def _final(config: ComparisonConfig, size: ModelSize) -> float:
    if config.engine is not None:
        return 200  # the name of the weights on the server
    kept = size.trained if config.peft is not None else size.weights
    return kept * BYTES[config.dtype] + _tokenizer(config) + FINAL_FILES


def _checkpoints(config: ComparisonConfig, size: ModelSize, texts: Texts) -> float:
    """Those of one training run that are kept at its end."""
    if config.engine is not None:
        return 500.0  # at the end all batches are in saved weights
    every = config.checkpoint_every
    written = math.ceil(config.steps / every)
    kept = min(config.trainer.get("save_total_limit") or KEPT_CHECKPOINTS, written)
    moments = MOMENTS * size.trained * BYTES[config.dtype]
    one = _final(config, size) + moments + CHECKPOINT_FILES
    last_steps = [config.steps, *((written - back) * every for back in range(1, kept))]
    return kept * one + STEP_IN_CHECKPOINT * sum(last_steps)


def open_batches(config: ComparisonConfig, texts: Texts) -> float:
    """The most that a client of a server keeps: the batches that are in no saved weights yet."""
    if config.engine is None:
        return 0.0
    prompt, tokens = round(texts.prompt_tokens), round(texts.sample_tokens)
    logprobs = np.random.default_rng(0).normal(size=tokens).tolist()
    sample = CreditedSample([12345] * prompt, [12345] * tokens, logprobs, 0.1234567890123456)
    bytes_of_sample = len(files.json_text(vars(sample)))
    samples = config.prompts_per_step * config.samples_per_prompt
    staleness = int(config.engine.get("staleness", 0))
    return float(bytes_of_sample * samples * (config.checkpoint_every + 1 + staleness))


def _on_server(config: ComparisonConfig, size: ModelSize) -> float:
    """Adapters with their moments in float32; the server keeps all of a run."""
    if config.engine is None:
        return 0.0
    saved = 1 + math.ceil(config.steps / config.checkpoint_every)
    return (saved * (1 + MOMENTS) + 1) * size.trained * BYTES["float32"]


def _tokenizer(config: ComparisonConfig) -> float:
    """Its files, which are in every checkpoint; 0 where they are not on this machine."""
    folder = Path(config.model or "")
    if config.model is None or not folder.is_dir():
        return 0.0
    return float(sum(path.stat().st_size for path in folder.glob("*token*.json")))


def _records(config: ComparisonConfig, arm: str, texts: Texts) -> float:
    """The recorded samples of one training run of an arm, by what writes them."""
    batches = math.ceil(config.steps / config.num_iterations)
    recorded = len({1, *range(config.rollouts_every, config.steps + 1, config.rollouts_every)})
    batch = _batch(config, arm, texts)
    names = [["a" * 8] * config.samples_per_prompt] if _has_names(config) else None
    [record] = rollout_records(batch, names, config.steps, config.method(arm))
    whole = len(files.json_text(record).encode())
    return float(whole * min(recorded, batches) * config.prompts_per_step)


def _measured(config: ComparisonConfig, texts: Texts) -> float:
    """What batches measure, in the records of all steps of all training runs."""
    batches = math.ceil(config.steps / config.num_iterations)
    lengths = [
        len(files.json_text(batch_metrics(_batch(config, arm, texts)))) for arm in config.arms
    ]
    names = 0  # of about half as many strategies as a prompt has samples
    if _has_names(config):
        names = NAME * min(NAMES_SHOWN, config.samples_per_prompt // 2)
    return float(sum(length + names for length in lengths) * len(config.seeds) * batches)


def _has_names(config: ComparisonConfig) -> bool:
    return config.make_task().strategy.name_of is not None


def _batch(config: ComparisonConfig, arm: str, texts: Texts) -> ScoredBatch:
    """A batch of one prompt with random rewards, as long as those of the run."""
    rng, n = np.random.default_rng(0), config.samples_per_prompt
    rewards, strategies = rng.random(n) > 0.5, rng.integers(0, max(n // 2, 1), n).tolist()
    method = config.method(arm)
    fields: dict[str, Any] = {name: rng.random(n) for name in method.reads if name not in FIELDS}
    if PAIRS in fields:
        fields[PAIRS] = [rng.random((n, n))]
    has_clusters = config.judge(arm) is not None or config.make_task().strategy.is_known
    prompt, text = "x" * round(texts.prompt_bytes), "x" * round(texts.sample_bytes)
    known = strategies if has_clusters else None
    columns = Columns([prompt], [[text] * n], [rewards], None, known, fields)
    return score(columns, method, rng=0)


def _evaluation(config: ComparisonConfig, texts: Texts, problems: int) -> float:
    """An evaluation of one model on a split."""
    n = config.eval_samples
    kept = min(n, TEXTS_KEPT)
    problem = EVALUATED_PROBLEM + texts.prompt_bytes + kept * texts.sample_bytes
    sample = EVALUATED_SAMPLE + texts.sample_bytes
    summary = EVALUATION + EVALUATION_AT_K * n.bit_length()  # k = 1, 2, 4, … up to n
    return summary + problems * (problem + n * sample)
