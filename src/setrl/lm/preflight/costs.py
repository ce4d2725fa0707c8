"""What a comparison takes, before it is run: samples, tokens, a judge's requests, disk.

Everything follows from the config, the problems and the shape of the model. Each sample counts as
long as the limit, so tokens and disk are the most that the run can take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from setrl.evaluation.sampling import load_tokenizer
from setrl.lm.config import ComparisonConfig
from setrl.lm.preflight.disk import Disk, Texts, disk
from setrl.lm.preflight.judge_load import Asked, asked
from setrl.lm.preflight.model_size import size_of
from setrl.models.tokenizer import make_tokenizer

LOOKED_AT = 512  # prompts whose length is measured


@dataclass(frozen=True)
class Costs:
    """What all arms with all seeds take from the first step to the last evaluation.

    Attributes:
        runs: The number of training runs: arms × seeds.
        prompts, samples: The prompts and samples of all training runs.
        sampled: The most tokens of these samples.
        trained: The most tokens of prompts and samples in all updates.
        evaluated_samples, evaluated: The samples of all evaluations, and the most of their tokens.
        judged: The requests of judges, and the most tokens that these requests hold.
        disk: The most bytes that are written.
    """

    runs: int
    prompts: int
    samples: int
    sampled: int
    trained: float
    evaluated_samples: int
    evaluated: int
    judged: Asked
    disk: Disk


def costs(config: ComparisonConfig, problems: Mapping[str, int]) -> Costs:
    """Return what a comparison takes from its first step; nothing is written or asked.

    Args:
        config: The comparison.
        problems: Evaluated split → the number of its problems.

    Raises:
        ConfigError: If the shape of the model cannot be read.
        DataError: If the problems are damaged.
    """
    runs = len(config.arms) * len(config.seeds)
    prompts = math.ceil(config.steps / config.num_iterations) * config.prompts_per_step
    samples = prompts * config.samples_per_prompt
    per_step = config.prompts_per_step * config.samples_per_prompt
    texts = _texts(config, prompts)
    length = texts.prompt_tokens + config.sample_tokens
    evaluated = (runs + 1) * sum(problems.values()) * config.eval_samples
    return Costs(
        runs=runs,
        prompts=runs * prompts,
        samples=runs * samples,
        sampled=runs * samples * config.sample_tokens,
        trained=runs * config.steps * per_step * length,
        evaluated_samples=evaluated,
        evaluated=evaluated * config.sample_tokens,
        judged=_judged(config, texts, prompts),
        disk=disk(config, size_of(config), texts, problems),
    )


def _texts(config: ComparisonConfig, count: int) -> Texts:
    """Return how long prompts are on average, and a sample at the limit."""
    rows = config.make_task().training_rows(min(count, LOOKED_AT), config.train_problems, 0)
    if config.model is None:
        tokenizer = make_tokenizer(config.make_domain().vocabulary)
    else:
        tokenizer = load_tokenizer(config.model)
    tokens = float(np.mean([len(config.form.token_ids(row.prompt, tokenizer)) for row in rows]))
    prompt_bytes = float(np.mean([len(row.prompt.encode()) for row in rows]))
    return Texts(tokens, prompt_bytes, config.sample_tokens * prompt_bytes / tokens)


def _judged(config: ComparisonConfig, texts: Texts, prompts: int) -> Asked:
    found = [
        asked(spec, config.samples_per_prompt, texts.prompt_bytes, texts.sample_bytes)
        for arm in config.arms
        if (spec := config.judge(arm)) is not None
    ]
    groups = prompts * len(config.seeds)
    return Asked(groups * sum(one.requests for one in found), groups * sum(o.read for o in found))
