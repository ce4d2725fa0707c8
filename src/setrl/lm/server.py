"""Arms that a server trains by the Tinker protocol: the key `engine` of a comparison."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setrl import files
from setrl.engines.judging import make_judge
from setrl.engines.metrics import batch_metrics, rollout_records
from setrl.engines.scorer import SampledGroup, Scorer
from setrl.errors import ConfigError, RunError
from setrl.evaluation.sampling import load_tokenizer
from setrl.files.run_folder import Status, TrainingRun, write_status
from setrl.lm import fields
from setrl.lm.engine import EngineSpec
from setrl.runs.pool import Stop
from setrl.serving.generators import Ask, Sample, problem_seed

if TYPE_CHECKING:
    from setrl.engines.tinker import Settings
    from setrl.engines.tinker.journal import Batch, CreditedSample
    from setrl.engines.tinker.server import Sampler, TinkerSampler
    from setrl.lm.config import ComparisonConfig

SAVED = "server.json"  # in the folder `final`: what the server calls the last weights


def train_on_server(
    config: ComparisonConfig,
    arm: str,
    seed: int,
    run: TrainingRun,
    on_step: Callable[[int], None],
    stop: Stop,
    connect: Callable[[], Any] | None = None,
) -> bool:
    """Train an arm with a seed on the server of the config, from its last saved step.

    Args:
        config: The comparison; its key `engine` names the server.
        arm: One of its arms.
        seed: One of its seeds.
        run: Where to write.
        on_step: Called with the number of steps that are done.
        stop: Asked to stop, the training ends early with saved weights.
        connect: Makes a client in the place of that of the server's URL.

    Returns:
        Whether all steps are done; False if it was stopped.
    """
    from setrl.engines.tinker import SetTinkerTrainer

    if run.final.exists():
        write_status(run.path, "finished", step=config.steps)
        on_step(config.steps)
        return True
    write_status(run.path, "running", arm=arm, seed=seed, method=repr(config.method(arm)))
    settings = server_settings(config, seed)
    maker = BatchMaker(config, arm, seed, run)
    recorder = _Recorder(run, on_step)
    connect = connect or connector(config)
    with contextlib.closing(maker):
        trainer = SetTinkerTrainer(
            connect,
            settings,
            journal(config, arm, seed, run),
            maker.make,
            lambda client: sampler(config, client),
            on_batch=recorder.on_batch,
            on_restored=recorder.on_restored,
            stop=lambda: stop.asked,
        )
        saved = trainer.train()
    finished = saved.step == config.steps
    if finished:
        _write_final(trainer.final_sampler(), saved.path, run.final)
    status: Status = "finished" if finished else "interrupted"
    write_status(run.path, status, step=saved.step)
    return finished


def _write_final(sampler_path: str, state_path: str, folder: Path) -> None:
    about = {"schema_version": 1, "sampler": sampler_path, "state": state_path}
    with files.writing_folder(folder) as partial:
        files.write_json(partial / SAVED, about)


def spec(config: ComparisonConfig) -> EngineSpec:
    """The engine of a config that has one."""
    assert config.engine is not None
    return EngineSpec.of(config.engine)


def connector(config: ComparisonConfig) -> Callable[[], Any]:
    """Makes a client of the server, as often as it is called."""
    from setrl.engines.tinker.server import connect_to

    return lambda: connect_to(spec(config).tinker)


def check_server_of(config: ComparisonConfig) -> None:
    """Refuse a server that does not answer, or serves another model, before anything is written.

    Raises:
        ConfigError: Naming the server.
    """
    try:
        from setrl.engines.tinker.server import check_server, refuse_silence
    except ImportError as error:
        raise ConfigError(f"engine: {error}") from error
    refuse_silence(spec(config).tinker)
    check_server(connector(config)(), str(config.model), spec(config).tinker)


def server_settings(config: ComparisonConfig, seed: int) -> Settings:
    """What the server is asked to do."""
    from setrl.engines.tinker import Settings

    own = spec(config)
    clip: dict[str, float] = {}
    if own.loss != "importance_sampling":
        high = config.epsilon if config.epsilon_high is None else config.epsilon_high
        clip = {"clip_low_threshold": 1 - config.epsilon, "clip_high_threshold": 1 + high}
    return Settings(
        str(config.model),
        config.steps,
        lambda step: learning_rate(config, step),
        rank=own.rank,
        seed=seed,
        staleness=own.staleness,
        loss=own.loss,
        loss_config=clip,
        save_every=config.checkpoint_every,
        keep=own.keep,
        reply_s=own.reply_s,
        patience_s=own.patience_s,
    )


def learning_rate(config: ComparisonConfig, step: int) -> float:
    """The step size of a step, from 1: as TRL's schedules without warm-up."""
    done = (step - 1) / config.steps
    if config.lr_schedule == "linear":
        return config.learning_rate * (1 - done)
    if config.lr_schedule == "cosine":
        return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
    return config.learning_rate


def journal(config: ComparisonConfig, arm: str, seed: int, run: TrainingRun) -> Any:
    """Where the state and the batches of a training run are kept."""
    from setrl.engines.tinker.journal import Journal

    own = spec(config)
    identity = {
        "model": config.model,
        "method": repr(config.method(arm)),
        "seed": seed,
        "rank": own.rank,
        "prompts_per_step": config.prompts_per_step,
        "samples_per_prompt": config.samples_per_prompt,
    }
    return Journal(run.checkpoints, identity)


def sampler(config: ComparisonConfig, client: Any) -> TinkerSampler:
    """Samples of a sampling client, as the config wants them."""
    from setrl.engines.tinker.server import TinkerSampler

    ends = (int(load_tokenizer(str(config.model)).eos_token_id),)
    own = spec(config)
    return TinkerSampler(client, config.sample_tokens, ends, config.temperature, own.reply_s)


@dataclass
class BatchMaker:
    """Makes the batch of a step: its prompts, samples, rewards, strategies and advantages.

    Attributes:
        config: The comparison.
        arm: One of its arms.
        seed: One of its seeds.
        run: Whose folder keeps a judge's answers.
    """

    config: ComparisonConfig
    arm: str
    seed: int
    run: TrainingRun
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        config, arm = self.config, self.arm
        task = self.task = config.make_task()
        wanted = config.judge(arm)
        self.judge = None if wanted is None else make_judge(wanted, self.run.path)
        own = fields.sources(config.fields, config.method(arm).reads, task)
        rewards = config.training_rewards(task)
        self.scorer = Scorer(task, self.judge, own, config.truncation(), rewards)
        self.tokenizer = load_tokenizer(str(config.model))
        self.is_chat = task.form.is_chat(self.tokenizer)
        count = config.steps * config.prompts_per_step
        self.rows = task.training_rows(count, config.train_problems, self.seed)

    def close(self) -> None:
        """Close the judge."""
        if self.judge is not None:
            self.judge.close()

    def make(self, step: int, version: int, source: Sampler) -> Batch:
        """The batch of a step, sampled from the weights of a version.

        The prompts and the seeds of the samples depend on the seed and the step alone.
        """
        from setrl.engines.tinker.journal import Batch

        config, began = self.config, time.perf_counter()
        first = (step - 1) * config.prompts_per_step
        rows = self.rows[first : first + config.prompts_per_step]
        prompts = [config.form.token_ids(row.prompt, self.tokenizer) for row in rows]
        seeds = np.random.SeedSequence([self.seed, step]).generate_state(len(rows)) >> 1
        with self._lock:
            sampled, groups = [], []
            drawn = source.sample(prompts, config.samples_per_prompt, list(map(int, seeds)))
            for row, one in zip(rows, drawn, strict=True):
                group = self._group(row, one)
                self.scorer.ask_ahead(group)
                sampled.append(one)
                groups.append(group)
            sampled_s = time.perf_counter() - began
            method = config.method(self.arm, (step - 1) / config.steps)
            rng = np.random.default_rng([self.seed, step])
            batch = self.scorer.score(groups, method, rng)
        names_BN = self._names(batch)
        keeps = step == 1 or step % config.rollouts_every == 0
        return Batch(
            step,
            version,
            _credited(prompts, sampled, batch.advantages.values_BN),
            {"step": step, **batch_metrics(batch, names_BN), **_times(batch, sampled_s, sampled)},
            rollout_records(batch, names_BN, step, method) if keeps else (),
        )

    def _group(self, row: Any, one: Any) -> SampledGroup:
        texts = self.tokenizer.batch_decode(one.tokens_N, skip_special_tokens=True)
        prompt = self.config.form.prompt(row.prompt, self.is_chat)
        return SampledGroup(row, prompt, texts, one.tokens_N, one.cut_N)

    def _names(self, batch: Any) -> Any:
        name_of = self.task.strategy.name_of
        if name_of is None:
            return None
        groups = zip(batch.prompts_B, batch.texts_BN, strict=True)
        return [[name_of(prompt, text) for text in texts] for prompt, texts in groups]


def _credited(
    prompts: Sequence[Sequence[int]], sampled: Sequence[Any], advantages_BN: np.ndarray
) -> list[CreditedSample]:
    """The samples with their advantages, in the order of prompts."""
    from setrl.engines.tinker.journal import CreditedSample

    return [
        CreditedSample(list(prompt), tokens, logprobs, float(advantage))
        for prompt, one, advantages_N in zip(prompts, sampled, advantages_BN, strict=True)
        for tokens, logprobs, advantage in zip(
            one.tokens_N, one.logprobs_N, advantages_N, strict=True
        )
    ]


def _times(batch: Any, sampled_s: float, sampled: Sequence[Any]) -> dict[str, float]:
    lengths = [len(tokens) for one in sampled for tokens in one.tokens_N]
    cut = [value for one in sampled for value in one.cut_N]
    return {
        "length/mean": float(np.mean(lengths)),
        "length/truncated": float(np.mean(cut)),
        "speed/tokens_per_second": sum(lengths) / sampled_s,
        "time/generation": sampled_s,
        **{f"time/{part}": spent for part, spent in batch.seconds.items()},
    }


@dataclass
class _Recorder:
    """Writes metrics.jsonl and rollouts/ of a training run, once for each step."""

    run: TrainingRun
    on_step: Callable[[int], None]
    _logged: float = field(default_factory=time.perf_counter)

    def on_restored(self, step: int) -> None:
        """Remove the records of the steps that are done again."""
        self.run.path.mkdir(parents=True, exist_ok=True)
        self.run.truncate(step)
        self.on_step(step)

    def on_batch(self, batch: Batch, measured: Mapping[str, float]) -> None:
        """Record a step."""
        now = time.perf_counter()
        times = {"time/step": now - self._logged}
        self._logged = now
        if batch.rollouts:
            files.write_lines(self.run.rollouts(batch.step), [dict(one) for one in batch.rollouts])
        files.append_line(self.run.metrics, {**batch.metrics, **measured, **times})
        self.on_step(batch.step)


@dataclass(frozen=True)
class ServedModel:
    """A model of a server as a generator of samples for evaluation.

    Attributes:
        config: The comparison.
        path: What the server calls the weights; None for the model that arms start from.
        connect: Makes a client in the place of that of the server's URL.
    """

    config: ComparisonConfig
    path: str | None = None
    connect: Callable[[], Any] | None = None

    @classmethod
    def of(cls, config: ComparisonConfig, final: Path | None) -> ServedModel:
        """The model whose record lies in the folder `final`; None: where arms start from."""
        if final is None:
            return cls(config)
        return cls(config, str(files.read_json(final / SAVED)["state"]))

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on."""
        return {"temperature": self.config.temperature, "max_tokens": self.config.sample_tokens}

    @property
    def is_chat(self) -> bool:
        """Whether the model gets messages."""
        return self.config.form.is_chat(load_tokenizer(str(self.config.model)))

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Sample]:
        """The samples of each problem in turn.

        Raises:
            RunError: If the server fails; what was drawn is kept.
        """
        from setrl.engines.tinker.server import LostError

        tokenizer = load_tokenizer(str(self.config.model))
        try:
            with self._sampler() as source:
                for ask in asks:
                    prompt = self.config.form.token_ids(ask.prompt, tokenizer)
                    [one] = source.sample([prompt], ask.n, [problem_seed(seed, ask.problem) >> 1])
                    texts = tokenizer.batch_decode(one.tokens_N, skip_special_tokens=True)
                    for number in ask.numbers:
                        finish = "length" if one.cut_N[number] else "stop"
                        yield Sample(ask.problem, number, texts[number], finish)
        except LostError as error:
            raise RunError(
                f"{spec(self.config).tinker}: {error}; what was drawn is kept"
            ) from error

    @contextlib.contextmanager
    def _sampler(self) -> Iterator[TinkerSampler]:
        from setrl.engines.tinker.places import sampling_client
        from setrl.engines.tinker.server import may_be_lost

        own, base = spec(self.config), str(self.config.model)
        with contextlib.ExitStack() as stack:
            with may_be_lost(f"sampling from {self.path or base}"):
                client = (self.connect or connector(self.config))()
                drawing = sampling_client(client, base, self.path, own.reply_s)
                source = stack.enter_context(drawing)
            yield sampler(self.config, source)
