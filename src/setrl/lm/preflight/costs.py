"""What a comparison takes, before it is run: tokens, a judge's requests, disk, memory, GPU hours.

Counts follow from the config. What they cost rests on `Assumptions`, each of which can be given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from setrl.errors import ConfigError
from setrl.evaluation.sampling import load_tokenizer
from setrl.lm.config import ComparisonConfig
from setrl.lm.preflight.assumptions import Assumptions
from setrl.lm.preflight.disk import BYTES, MOMENTS, Disk, Texts, disk, open_batches
from setrl.lm.preflight.judge_load import JudgeLoad, Shown, loads
from setrl.lm.preflight.measured import Measured, measured
from setrl.lm.preflight.model_size import ModelSize, size_in, size_of
from setrl.models.tokenizer import make_tokenizer
from setrl.serving.usage import BYTES_PER_TOKEN
from setrl.tasks import FileTask

LOOKED_AT = 512  # prompts whose length is measured
FORWARD, TRAIN, TRAIN_ADAPTER = 2, 6, 4  # FLOPs of a weight and a token
CACHE_BYTES = 2  # of a number in the cache of keys and values, and of a weight that only samples


@dataclass(frozen=True)
class Judged:
    """What judges are asked for in all training runs.

    Attributes:
        requests: If none must be repeated.
        read, written: Tokens of the requests, and of the replies.
        cost: By the prices; 0 without.
        models: The judges' names.
    """

    requests: int
    read: float
    written: float
    cost: float
    models: tuple[str, ...]


@dataclass(frozen=True)
class Memory:
    """Bytes of one process; activations are not counted.

    Attributes:
        weights, gradients, moments: Of the model that is trained; with a reference's weights.
        sampler: The weights of vLLM beside it.
        logits: Of the samples of one forward pass, in float32, once; of one sample with a server.
        cache: Keys and values of this process' part of a batch, all samples at their limit at once;
            with less, samplers let some wait.
    """

    weights: float
    gradients: float
    moments: float
    sampler: float
    logits: float
    cache: float

    @property
    def held(self) -> float:
        """What is held throughout, and can be divided among processes (ZeRO, FSDP)."""
        return self.weights + self.gradients + self.moments

    @property
    def least(self) -> float:
        """All but the cache."""
        return self.held + self.sampler + self.logits


@dataclass(frozen=True)
class Work:
    """Arithmetic, and how long it takes on the assumed GPUs.

    Attributes:
        sampling, training, evaluation, judge: FLOPs; None for a judge of unknown size.
        sampling_s, training_s, evaluation_s: Seconds on all GPUs together.
        least_sampling_s: What sampling takes at least, however many GPUs there are: a batch waits
            for its longest sample, and each token of it reads all weights once.
        judge_s: Seconds of one GPU.
    """

    sampling: float
    training: float
    evaluation: float
    judge: float | None
    sampling_s: float
    training_s: float
    evaluation_s: float
    least_sampling_s: float
    judge_s: float | None

    @property
    def wall_s(self) -> float:
        """One part after the other; that of a judge comes in addition if nothing hides it."""
        return self.sampling_s + self.training_s + self.evaluation_s


@dataclass(frozen=True)
class Costs:
    """What all arms with all seeds take from their first step to the last evaluation.

    Attributes:
        config: The comparison.
        runs: Its training runs: arms × seeds.
        size: Of its model.
        texts: Means of a sample and a prompt.
        prompts, samples: Of all training runs.
        sampled: Tokens of these samples.
        read: Tokens of these prompts, each counted once.
        trained: Tokens of prompts and samples in all updates.
        evaluated_samples, evaluated: Samples of all evaluations, and their tokens.
        judged: What judges are asked for.
        disk: What is written.
        open_batches: Bytes of batches that wait for a server, at most, of one training run.
        memory: Of one process.
        work: Arithmetic and GPUs.
        engine_cost, gpu_cost: By the prices.
        measured: The run whose speeds hold; None without.
        measured_s: Seconds by them: of one training run, and of all with the config's workers.
        assumed: What all this rests on, in sentences.
        assumptions: And as numbers.
    """

    config: ComparisonConfig = field(repr=False)
    runs: int
    size: ModelSize
    texts: Texts
    prompts: int
    samples: int
    sampled: float
    read: float
    trained: float
    evaluated_samples: int
    evaluated: float
    judged: Judged
    disk: Disk
    open_batches: float
    memory: Memory
    work: Work
    engine_cost: float
    gpu_cost: float
    measured: Measured | None
    measured_s: tuple[float, float] | None
    assumed: tuple[str, ...]
    assumptions: Assumptions = field(repr=False)

    @property
    def gpu_hours(self) -> float:
        """Of sampling, training and evaluation; those of a judge are not among them."""
        return self.work.wall_s * self.assumptions.gpus / 3600


def costs(config: ComparisonConfig, assumptions: Assumptions) -> Costs:
    """What a comparison takes, from its first step.

    Nothing is written and no server is asked; the model itself need not be on this machine.

    Args:
        config: The comparison.
        assumptions: What the config does not say.

    Raises:
        ConfigError: If the sizes of the model cannot be read, or an assumption is out of range.
        DataError: If the problems, or the run that is to be like it, are damaged.
    """
    return _Costing(config, assumptions).done()


class _Costing:
    """What all parts share, and the sentences that they add."""

    def __init__(self, config: ComparisonConfig, assumptions: Assumptions):
        self.config, self.given = config, assumptions
        self.assumed: list[str] = []
        self.like = None if assumptions.like is None else measured(assumptions.like)
        self.size = size_of(config, assumptions.model_sizes)
        self.runs = len(config.arms) * len(config.seeds)
        self.batches = math.ceil(config.steps / config.num_iterations)
        self.texts = self._texts()

    def done(self) -> Costs:
        config, texts, runs = self.config, self.texts, self.runs
        per_step = config.prompts_per_step * config.samples_per_prompt
        prompts = runs * self.batches * config.prompts_per_step
        samples = runs * self.batches * per_step
        problems = self._problems()
        evaluated_samples = (runs + 1) * sum(problems.values()) * config.eval_samples
        sampled, read = samples * texts.sample_tokens, prompts * texts.prompt_tokens
        trained = runs * config.steps * per_step * (texts.prompt_tokens + texts.sample_tokens)
        evaluated = evaluated_samples * texts.sample_tokens
        judged = self._judged()
        work = self._work(sampled + read, trained, evaluated, judged)
        return Costs(
            config=config,
            runs=runs,
            size=self.size,
            texts=texts,
            prompts=prompts,
            samples=samples,
            sampled=sampled,
            read=read,
            trained=trained,
            evaluated_samples=evaluated_samples,
            evaluated=evaluated,
            judged=judged,
            disk=disk(config, self.size, texts, problems),
            open_batches=open_batches(config, texts),
            memory=self._memory(),
            work=work,
            engine_cost=self._engine_cost(sampled + evaluated, trained, read),
            gpu_cost=work.wall_s * self.given.gpus / 3600 * self.given.gpu_price,
            measured=self.like,
            measured_s=self._measured_s(evaluated),
            assumed=tuple(self.assumed),
            assumptions=self.given,
        )

    def _texts(self) -> Texts:
        """Prompts by the tokenizer where it is here; samples as given, as in `like`, or at most."""
        config, given, like = self.config, self.given, self.like
        count = min(self.batches * config.prompts_per_step, LOOKED_AT)
        rows = config.make_task().training_rows(count, config.train_problems, 0)
        prompts = [row.prompt for row in rows]
        prompt_bytes = float(np.mean([len(prompt.encode()) for prompt in prompts]))
        prompt_tokens = self._prompt_tokens(prompts, prompt_bytes)
        limit = config.sample_tokens
        if given.sample_tokens is not None:
            tokens, why = given.sample_tokens, "as given"
        elif like is not None:
            tokens, why = like.sample_tokens, f"as in {like.run}"
        else:
            tokens, why = float(limit), "the limit, which is the most: --sample-tokens or --like"
        if tokens > limit:
            raise ConfigError(f"--sample-tokens {tokens:g} is above max_new_tokens, {limit:,}")
        self.assumed.insert(0, f"a sample has {tokens:,.4g} tokens ({why})")
        if like is not None and not math.isnan(like.sample_bytes):
            bytes_of_token = like.sample_bytes / like.sample_tokens
        else:
            bytes_of_token = prompt_bytes / prompt_tokens
        return Texts(tokens, prompt_tokens, tokens * bytes_of_token, prompt_bytes)

    def _prompt_tokens(self, prompts: list[str], prompt_bytes: float) -> float:
        tokenizer = self._tokenizer()
        if tokenizer is None:
            self.assumed.append(
                f"the model's tokenizer is not here: a token is {BYTES_PER_TOKEN} bytes of text"
            )
            return prompt_bytes / BYTES_PER_TOKEN
        lengths = [len(self.config.form.token_ids(prompt, tokenizer)) for prompt in prompts]
        return float(np.mean(lengths))

    def _tokenizer(self) -> Any:
        config = self.config
        if config.model is None:
            return make_tokenizer(config.make_domain().vocabulary)
        if self.given.model_sizes is not None and not Path(config.model).is_dir():
            return None
        return load_tokenizer(config.model)

    def _problems(self) -> dict[str, int]:
        config, task = self.config, self.config.make_task()
        return {
            split: min(config.eval_problems, len(task.usable(split)))
            if isinstance(task, FileTask)
            else config.eval_problems
            for split in config.eval_splits or ()
        }

    def _judged(self) -> Judged:
        config, texts, given = self.config, self.texts, self.given
        judges = [spec for arm in config.arms if (spec := config.judge(arm)) is not None]
        per_token, written = self._judge_tokens(judges)
        shown = Shown(
            config.samples_per_prompt, texts.prompt_bytes, texts.sample_bytes, per_token, written
        )
        found = [load for spec in judges for load in loads(spec, shown)]
        groups = self.batches * config.prompts_per_step * len(config.seeds)
        if found:
            self.assumed.append(
                f"a token of the judge is {per_token:.3g} bytes of text; every reply can be read, "
                "and no request is repeated"
            )
        if any(load.requests > 1 for load in found):
            self.assumed.append("a judge of pairs is asked about all pairs, which is the most")
        return Judged(
            requests=sum(groups * load.requests for load in found),
            read=sum(groups * load.requests * load.read for load in found),
            written=sum(groups * load.requests * load.written for load in found),
            cost=sum(groups * load.requests * _price(load, given) for load in found),
            models=tuple(dict.fromkeys(load.model for load in found)),
        )

    def _judge_tokens(self, judges: Sequence[Any]) -> tuple[float, float | None]:
        """Bytes of a judge's token, and tokens of its reply: as given, as in `like`, or neither."""
        given, like, texts = self.given, self.like, self.texts
        per_token, written = given.judge_bytes, given.judge_reply_tokens
        if like is not None and not math.isnan(like.judge_read):
            # The bytes of its requests, from those of a request of one-byte tokens.
            shown = Shown(like.samples_per_prompt, texts.prompt_bytes, like.sample_bytes, 1.0)
            asked = [load for spec in judges for load in loads(spec, shown)]
            if asked and all(load.requests == 1 for load in asked):
                mean = sum(load.read for load in asked) / len(asked)
                per_token = per_token or mean / like.judge_read
                longer = self.config.samples_per_prompt / like.samples_per_prompt
                written = written or like.judge_written * longer
        return per_token or float(BYTES_PER_TOKEN), written

    def _work(self, sampled: float, trained: float, evaluated: float, judged: Judged) -> Work:
        config, given, size = self.config, self.given, self.size
        training = trained * self._operations_of_training()
        sampling, evaluation = (FORWARD * size.used * one for one in (sampled, evaluated))
        peak = given.tflops * 1e12 * given.gpus
        token_s = CACHE_BYTES * size.used / (given.bandwidth * 1e12)  # all weights are read
        least = self.runs * self._waits() * config.sample_tokens * token_s
        judge, judge_s = self._judge_work(judged)
        return Work(
            sampling=sampling,
            training=training,
            evaluation=evaluation,
            judge=judge,
            sampling_s=max(sampling / (peak * given.sampling_utilisation), least),
            training_s=training / (peak * given.training_utilisation),
            evaluation_s=evaluation / (peak * given.sampling_utilisation),
            least_sampling_s=least,
            judge_s=judge_s,
        )

    def _waits(self) -> float:
        """Batches of a training run; each may make several steps."""
        samples = self.config.prompts_per_step * self.config.samples_per_prompt
        at_once = self.config.trainer.get("generation_batch_size") or samples
        return self.batches * samples / max(at_once, samples)

    def _operations_of_training(self) -> float:
        """FLOPs of a token in an update, with what is computed beside the update."""
        size, further = self.size, self._further_forwards()
        is_adapter = size.trained < size.weights
        update = TRAIN * size.used
        if is_adapter:  # the other weights need no gradient
            update = TRAIN_ADAPTER * size.used + TRAIN * size.trained
        self._say_work(TRAIN_ADAPTER if is_adapter else TRAIN, list(further))
        return update + FORWARD * size.used * sum(further.values())

    def _further_forwards(self) -> dict[str, float]:
        """Why the samples of an update are read once more: reason → the share of the arms."""
        config, trainer = self.config, self.config.trainer
        if config.engine is not None:
            return {}
        step = config.prompts_per_step * config.samples_per_prompt
        several = config.num_iterations > 1 or (trainer.get("generation_batch_size") or 0) > step
        references = sum(config.arm_options(arm)["beta"] > 0 for arm in config.arms)
        found = {
            "log-probabilities of the sampled policy": bool(several or trainer.get("use_vllm")),
            "activations that are computed again": self._recomputes(),
            "log-probabilities of the reference, in arms with beta": references / len(config.arms),
        }
        return {reason: float(share) for reason, share in found.items() if share}

    def _recomputes(self) -> bool:
        names = ("activation_checkpointing", "gradient_checkpointing")
        return any(self.config.trainer.get(name) for name in names)

    def _say_work(self, rule: int, further: list[str]) -> None:
        given = self.given
        added = f", and {FORWARD} each for {', '.join(further)}" if further else ""
        self.assumed += [
            f"operations of a weight and a token: {FORWARD} for sampling, {rule} for training"
            f"{added}; attention over the context is not counted",
            f"{given.gpus} GPU{'s' * (given.gpus > 1)} of {given.tflops:g} TFLOPS and "
            f"{given.bandwidth:g} TB/s, of which sampling reaches {given.sampling_utilisation:.0%} "
            f"and training {given.training_utilisation:.0%}: assumed, not measured",
            "memory: Adam's two moments of each trained weight; no activations; weights in the "
            f"config's dtype, a cache of {CACHE_BYTES} bytes a number",
        ]

    def _judge_work(self, judged: Judged) -> tuple[float | None, float | None]:
        """FLOPs, and seconds of one GPU: reading is as dense as training, writing as sampling."""
        given = self.given
        if given.judge_sizes is None or not judged.requests:
            return None, None
        used = size_in(given.judge_sizes).used
        read, written = FORWARD * used * judged.read, FORWARD * used * judged.written
        peak = given.tflops * 1e12
        seconds = read / (peak * given.training_utilisation)
        return read + written, seconds + written / (peak * given.sampling_utilisation)

    def _memory(self) -> Memory:
        config, size, trainer = self.config, self.size, self.config.trainer
        weight = CACHE_BYTES if config.engine is not None else BYTES[config.dtype]
        trained = BYTES["float32"] if size.trained < size.weights else weight
        samples = config.prompts_per_step * config.samples_per_prompt
        at_once = math.ceil((trainer.get("generation_batch_size") or samples) / self.given.gpus)
        micro = config.micro_batch_size or math.ceil(samples / self.given.gpus)
        if config.engine is not None:
            micro = 1  # a server decides it itself
        references = any(config.arm_options(arm)["beta"] > 0 for arm in config.arms)
        has_vllm = trainer.get("use_vllm") and trainer.get("vllm_mode") != "server"
        length = self.texts.prompt_tokens + config.sample_tokens
        has_reference = references and config.peft is None
        return Memory(
            weights=float(weight * size.weights * (2 if has_reference else 1)),
            gradients=float(trained * size.trained),
            moments=float(MOMENTS * trained * size.trained),
            sampler=float(CACHE_BYTES * size.weights if has_vllm else 0),
            logits=float(micro * config.sample_tokens * size.vocabulary * BYTES["float32"]),
            cache=at_once * length * size.cached * CACHE_BYTES,
        )

    def _engine_cost(self, sampled: float, trained: float, read: float) -> float:
        given = self.given
        whole = sampled * given.sample_price + trained * given.train_price
        return (whole + read * given.prompt_price) / 1e6

    def _measured_s(self, evaluated: float) -> tuple[float, float] | None:
        config, like = self.config, self.like
        if like is None:
            return None
        samples = config.prompts_per_step * config.samples_per_prompt
        sampled = self.batches * samples * self.texts.sample_tokens
        longer = (self.texts.prompt_tokens + self.texts.sample_tokens) / (
            self.texts.prompt_tokens + like.sample_tokens
        )
        one = sampled / like.sampled_per_s
        one += config.steps * (samples * like.update_s * longer + like.rest_s)
        whole = self.runs * one + evaluated / like.sampled_per_s
        side_by_side = min(config.workers, self.runs) if config.engine is None else 1
        self.assumed.append(
            f"seconds as measured in {like.run}, which had the same model on the same machine; "
            "without starting, loading and the report"
        )
        return one, whole / side_by_side


def _price(load: JudgeLoad, given: Assumptions) -> float:
    """What one request costs."""
    prices = given.judge_prices or (load.price_read, load.price_written)
    return (load.read * prices[0] + load.written * prices[1]) / 1e6


def as_json(found: Costs) -> Mapping[str, Any]:
    """All numbers as nested mappings."""
    from dataclasses import asdict

    left_out = ("config", "assumptions")
    parts = {key: value for key, value in vars(found).items() if key not in left_out}
    plain = {
        key: asdict(value) if hasattr(value, "__dataclass_fields__") else value
        for key, value in parts.items()
    }
    whole = {
        "schema_version": 1,
        "name": found.config.name,
        **plain,
        "gpu_hours": found.gpu_hours,
        "assumptions": asdict(found.assumptions),
    }
    return {key: _plain(value) for key, value in whole.items()}


def _plain(value: Any) -> Any:
    """Paths as texts."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return str(value) if isinstance(value, Path) else value
