"""What a comparison takes, before it is run: samples, tokens, a judge's requests, disk.

Everything follows from the config, the problems and the shape of the model. Each sample counts as
long as the limit, so tokens and disk are the most that the run can take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from setrl.evaluate.sampling import load_tokenizer
from setrl.tasks.models.tokenizer import make_tokenizer
from setrl.train.lm.preflight.disk import Disk, Texts, disk
from setrl.train.lm.preflight.judge_load import JudgeRequests, asked
from setrl.train.lm.preflight.model_size import size_of
from setrl.train.lm.resolved import ResolvedConfig

LOOKED_AT = 512  # prompts whose length is measured


@dataclass(frozen=True)
class Costs:
    """What all arms with all seeds take from the first step to the last evaluation.

    Attributes:
        runs: The number of training runs: arms × seeds.
        prompts, samples: The prompts and samples of all training runs.
        sampled: The most tokens of these samples.
        trained: The most tokens of prompts and samples in all updates.
        evaluated_samples, evaluated: The samples of all evaluations, and the most tokens of these
            samples.
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
    judged: JudgeRequests
    disk: Disk


def costs(resolved: ResolvedConfig, problems: Mapping[str, int]) -> Costs:
    """Return what a comparison takes from its first step; nothing is written or asked.

    Args:
        resolved: The comparison.
        problems: Evaluated split → the number of its problems.

    Raises:
        ConfigError: If the shape of the model cannot be read.
        DataError: If the problems are damaged.
    """
    config, limit = resolved.config, resolved.sample_tokens
    runs = len(resolved.arms) * len(config.seeds)
    prompts = resolved.batches * config.prompts_per_step
    samples = resolved.batches * resolved.samples_per_step
    texts = _texts(resolved, prompts)
    length = texts.prompt_tokens + limit
    evaluated = (runs + config.base_evaluations) * sum(problems.values()) * config.eval_samples
    return Costs(
        runs=runs,
        prompts=runs * prompts,
        samples=runs * samples,
        sampled=runs * samples * limit,
        trained=runs * config.steps * resolved.samples_per_step * length,
        evaluated_samples=evaluated,
        evaluated=evaluated * limit,
        judged=_judged(resolved, texts, prompts),
        disk=disk(resolved, size_of(resolved), texts, problems),
    )


def _texts(resolved: ResolvedConfig, count: int) -> Texts:
    """Return how long prompts are on average, and a sample at the limit."""
    config, base, form = resolved.config, resolved.base, resolved.form
    problems = resolved.task.training_problems(min(count, LOOKED_AT), config.train_problems, 0)
    model = str(config.model)
    tokenizer = load_tokenizer(model) if base is None else make_tokenizer(base.author.vocabulary)
    tokens = float(np.mean([len(form.token_ids(one.prompt, tokenizer)) for one in problems]))
    prompt_bytes = float(np.mean([len(one.prompt.encode()) for one in problems]))
    return Texts(tokens, prompt_bytes, resolved.sample_tokens * prompt_bytes / tokens)


def _judged(resolved: ResolvedConfig, texts: Texts, prompts: int) -> JudgeRequests:
    config = resolved.config
    found = [
        asked(arm.judge, config.samples_per_prompt, texts.prompt_bytes, texts.sample_bytes)
        for arm in resolved.arms.values()
        if arm.judge is not None
    ]
    groups = prompts * len(config.seeds)
    return JudgeRequests(
        groups * sum(one.requests for one in found), groups * sum(o.read for o in found)
    )
