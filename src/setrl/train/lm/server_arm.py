"""Arms that a server trains by the Tinker protocol: the key `engine` of a comparison.

The batches of such an arm are samples of the server, with our credit.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setrl.judges import Judge
from setrl.logs.run import Seed
from setrl.models.local import load_tokenizer
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.tasks import Problem
from setrl.train.gathering.judging import make_judge
from setrl.train.gathering.metrics import batch_metrics, had_signal, rollout_records, strategy_names
from setrl.train.gathering.scorer import SampledGroup, Scorer
from setrl.train.lm.config import EngineSpec
from setrl.train.lm.resolved import ResolvedArm, ResolvedConfig
from setrl.train.lm.served_policy import SAVED, ServedPolicy, client_maker
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import train_on, truncate

if TYPE_CHECKING:
    from setrl.train.tinker.client import ClientSettings
    from setrl.train.tinker.journal import CreditedSample, JournalBatch
    from setrl.train.tinker.server import ServerSampler


def scorer_of(
    resolved: ResolvedConfig, arm: ResolvedArm, judge: Judge | None, **more: Any
) -> Scorer:
    """Return what scores the samples of an arm; `correct` is what evaluation reads, too."""
    task = resolved.task
    return Scorer(
        task,
        judge,
        arm.fields,
        resolved.truncation,
        resolved.rewards,
        correct=task.correct or task.combine.place(),
        **more,
    )


@dataclass
class BatchMaker:
    """Maker of the batch of a step: its prompts, samples, rewards, strategies and advantages.

    Attributes:
        resolved: The comparison.
        arm: One of its arms.
        seed: One of its seeds.
        run: Whose folder keeps a judge's answers, and the metrics of the steps before.
    """

    resolved: ResolvedConfig
    arm: ResolvedArm
    seed: int
    run: Seed
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        resolved, arm = self.resolved, self.arm
        self.judge = None if arm.judge is None else make_judge(arm.judge, self.run.path)
        self.scorer = scorer_of(
            resolved,
            arm,
            self.judge,
            stop_rule=resolved.stop_rule,
            had_signal=lambda: had_signal(files.read_lines(self.run.metrics_file)),
        )
        self.tokenizer = load_tokenizer(str(resolved.config.model))
        self.is_chat = resolved.form.is_chat(self.tokenizer)
        self.problems = resolved.training_problems(self.seed)

    def close(self) -> None:
        """Close the judge."""
        if self.judge is not None:
            self.judge.close()

    def make(self, step: int, version: int, source: ServerSampler) -> JournalBatch:
        """Return the batch of a step, sampled from the weights of a version.

        The prompts and the seeds of the samples depend only on the seed and the step.
        """
        from setrl.train.tinker.journal import JournalBatch

        config, began = self.resolved.config, time.perf_counter()
        method = self.arm.method_at((step - 1) / config.steps)
        problems = self._list_problems(step)
        prompts = [
            self.resolved.form.token_ids(problem.prompt, self.tokenizer) for problem in problems
        ]
        with self._lock:
            sampled, groups = self._sample_groups(step, problems, prompts, source)
            sampled_s = time.perf_counter() - began
            rng, is_last = np.random.default_rng([self.seed, step]), step == config.steps
            batch = self.scorer.score(groups, method, rng, is_last=is_last)
        names_BN = strategy_names(batch, self.resolved.task.strategy.name_of)
        return JournalBatch(
            step,
            version,
            _credit_samples(prompts, sampled, batch.advantages.values_BN),
            {
                "step": step,
                **batch_metrics(batch, names_BN),
                **_measure_lengths_and_times(batch, sampled_s, sampled),
            },
            rollout_records(batch, names_BN, step) if config.is_recorded(step) else (),
        )

    def _list_problems(self, step: int) -> list[Problem]:
        first = (step - 1) * self.resolved.config.prompts_per_step
        return self.problems[first : first + self.resolved.config.prompts_per_step]

    def _sample_groups(
        self, step: int, problems: list[Problem], prompts: list[list[int]], source: ServerSampler
    ) -> tuple[list[Any], list[SampledGroup]]:
        """Return the samples of each problem; a judge is asked while the others are drawn."""
        seeds = np.random.SeedSequence([self.seed, step]).generate_state(len(problems)) >> 1
        n, sampled, groups = self.resolved.config.samples_per_prompt, [], []
        drawn = source.sample(prompts, n, list(map(int, seeds)))
        for problem, samples in zip(problems, drawn, strict=True):
            group = self._make_group(problem, samples)
            self.scorer.ask_ahead(group)
            sampled.append(samples)
            groups.append(group)
        return sampled, groups

    def _make_group(self, problem: Problem, samples: Any) -> SampledGroup:
        texts = self.tokenizer.batch_decode(samples.tokens_N, skip_special_tokens=True)
        prompt = self.resolved.form.prompt(problem.prompt, self.is_chat)
        return SampledGroup(problem, prompt, texts, samples.tokens_N, samples.cut_N)


def _credit_samples(
    prompts: Sequence[Sequence[int]], sampled: Sequence[Any], advantages_BN: np.ndarray
) -> list[CreditedSample]:
    """Return the samples with their advantages, in the order of prompts."""
    from setrl.train.tinker.journal import CreditedSample

    return [
        CreditedSample(list(prompt), tokens, logprobs, float(advantage))
        for prompt, samples, advantages_N in zip(prompts, sampled, advantages_BN, strict=True)
        for tokens, logprobs, advantage in zip(
            samples.tokens_N, samples.logprobs_N, advantages_N, strict=True
        )
    ]


def _measure_lengths_and_times(
    batch: Any, sampled_s: float, sampled: Sequence[Any]
) -> dict[str, float]:
    lengths = [len(tokens) for samples in sampled for tokens in samples.tokens_N]
    cut = [value for samples in sampled for value in samples.cut_N]
    return {
        "length/mean": float(np.mean(lengths)),
        "length/truncated": float(np.mean(cut)),
        "speed/tokens_per_second": sum(lengths) / sampled_s,
        "time/generation": sampled_s,
        **{f"time/{part}": spent for part, spent in batch.seconds.items()},
    }


def train_on_server(
    resolved: ResolvedConfig,
    arm: str,
    seed: int,
    run: Seed,
    on_step: Callable[[int], None],
    stop: Stop,
    connect: Callable[[], Any] | None = None,
) -> bool:
    """Train an arm with a seed on the server of the config, from its last saved step.

    Args:
        resolved: The comparison; its key `engine` names the server.
        arm: One of its arms.
        seed: One of its seeds.
        run: Where to write.
        on_step: Called with the number of steps that are done.
        stop: Asked to stop, the training ends early with saved weights.
        connect: Makes a client, instead of one of the server's URL.

    Returns:
        Whether all steps are done; False if it was stopped.
    """
    from setrl.train.tinker.client import SetTinkerTrainer

    steps, resolved_arm, engine = resolved.config.steps, resolved.arms[arm], engine_of(resolved)

    def train(_: Path | None) -> int:
        recorder = _Recorder(run, on_step)
        with contextlib.closing(BatchMaker(resolved, resolved_arm, seed, run)) as maker:
            trainer = SetTinkerTrainer(
                connect or client_maker(engine.tinker),
                server_settings(resolved, seed),
                journal(resolved, resolved_arm, seed, run),
                maker.make,
                ServedPolicy.of(resolved).sampler,
                on_batch=recorder.on_batch,
                on_restored=recorder.on_restored,
                stop=lambda: stop.asked,
            )
            saved = trainer.train()
        if saved.step == steps:
            _write_final(trainer.final_sampler(), saved.path, run.final)
        return saved.step

    return train_on(
        run, run.final, steps, on_step, train,
        arm=arm, seed=seed, method=repr(resolved_arm.method), correct=resolved.says_right,
    )  # fmt: skip


def engine_of(resolved: ResolvedConfig) -> EngineSpec:
    """Return the server of a comparison that has one."""
    assert resolved.engine is not None
    return resolved.engine


def _write_final(sampler_path: str, state_path: str, folder: Path) -> None:
    about = {"schema_version": 1, "sampler": sampler_path, "state": state_path}
    with files.writing_folder(folder) as partial:
        files.write_json(partial / SAVED, about)


def check_server_of(engine: EngineSpec, model: str) -> None:
    """Refuse a server that does not answer, or serves another model, before anything is written.

    Raises:
        ConfigError: Naming the server.
    """
    try:
        from setrl.train.tinker.server import check_server, refuse_silence
    except ImportError as error:
        raise ConfigError(f"engine: {error}") from error
    refuse_silence(engine.tinker)
    check_server(client_maker(engine.tinker)(), model, engine.tinker)


def server_settings(resolved: ResolvedConfig, seed: int) -> ClientSettings:
    """Return what the server is asked to do."""
    from setrl.train.tinker.client import ClientSettings

    config, engine = resolved.config, engine_of(resolved)
    clip: dict[str, float] = {}
    if engine.loss != "importance_sampling":
        high = config.epsilon if config.epsilon_high is None else config.epsilon_high
        clip = {"clip_low_threshold": 1 - config.epsilon, "clip_high_threshold": 1 + high}
    rates = learning_rates(config.lr_schedule, config.learning_rate, config.steps)
    return ClientSettings(
        str(config.model),
        config.steps,
        rates,
        rank=engine.rank,
        seed=seed,
        staleness=engine.staleness,
        loss=engine.loss,
        loss_config=clip,
        save_every=config.checkpoint_every,
        keep=engine.keep,
        reply_s=engine.reply_s,
        patience_s=engine.patience_s,
    )


def learning_rates(schedule: str, largest: float, steps: int) -> Callable[[int], float]:
    """Return step → step size, from step 1: TRL's schedules without warm-up."""

    def rate(step: int) -> float:
        done = (step - 1) / steps
        if schedule == "linear":
            return largest * (1 - done)
        if schedule == "cosine":
            return largest * 0.5 * (1 + math.cos(math.pi * done))
        return largest

    return rate


def journal(resolved: ResolvedConfig, arm: ResolvedArm, seed: int, run: Seed) -> Any:
    """Return where the state and the batches of one arm and seed are kept."""
    from setrl.train.tinker.journal import Journal

    config = resolved.config
    identity = {
        "model": config.model,
        "method": repr(arm.method),
        "seed": seed,
        "rank": engine_of(resolved).rank,
        "prompts_per_step": config.prompts_per_step,
        "samples_per_prompt": config.samples_per_prompt,
    }
    return Journal(run.checkpoint_folder, identity)


@dataclass
class _Recorder:
    """Writer of metrics.jsonl and rollouts/ in the folder of one arm and seed."""

    run: Seed
    on_step: Callable[[int], None]
    _logged: float = field(default_factory=time.perf_counter)

    def on_restored(self, step: int) -> None:
        """Remove the records of the steps that are done again."""
        self.run.path.mkdir(parents=True, exist_ok=True)
        truncate(self.run, step)
        self._refuse_gap(step)
        self.on_step(step)

    def _refuse_gap(self, step: int) -> None:
        """Refuse metrics that lack a step: the server keeps the weights, and repeats none."""
        logged_steps = {record["step"] for record in files.read_lines(self.run.metrics_file)}
        missing = [number for number in range(1, step + 1) if number not in logged_steps]
        if missing:
            raise RunError(
                f"{self.run.metrics_file} lacks step {missing[0]}, but step {step} is done: put "
                f"the whole file back, or remove {self.run.path} to train this arm with this seed "
                "again"
            )

    def on_batch(self, batch: JournalBatch, measured: Mapping[str, float]) -> None:
        """Record a step."""
        now = time.perf_counter()
        times = {"time/step": now - self._logged}
        self._logged = now
        if batch.rollouts:
            rollouts = [dict(group) for group in batch.rollouts]
            files.write_lines(self.run.rollout_file(batch.step), rollouts)
        files.append_line(self.run.metrics_file, {**batch.metrics, **measured, **times})
        self.on_step(batch.step)
