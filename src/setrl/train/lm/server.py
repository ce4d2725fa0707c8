"""Arms that a server trains by the Tinker protocol: the key `engine` of a comparison."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setrl.logs.run import Seed
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.train.lm.batch_maker import BatchMaker
from setrl.train.lm.engine import EngineSpec
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.resolved_arm import ResolvedArm
from setrl.train.lm.served_model import SAVED, ServedPolicy, connector
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import train_on, truncate

if TYPE_CHECKING:
    from setrl.train.tinker.client import ClientSettings
    from setrl.train.tinker.journal import JournalBatch


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

    steps, own, engine = resolved.config.steps, resolved.arms[arm], engine_of(resolved)

    def train(_: Path | None) -> int:
        recorder = _Recorder(run, on_step)
        with contextlib.closing(BatchMaker(resolved, own, seed, run)) as maker:
            trainer = SetTinkerTrainer(
                connect or connector(engine.tinker),
                server_settings(resolved, seed),
                journal(resolved, own, seed, run),
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
        arm=arm, seed=seed, method=repr(own.method), correct=resolved.says_right,
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
    check_server(connector(engine.tinker)(), model, engine.tinker)


def server_settings(resolved: ResolvedConfig, seed: int) -> ClientSettings:
    """Return what the server is asked to do."""
    from setrl.train.tinker.client import ClientSettings

    config, own = resolved.config, engine_of(resolved)
    clip: dict[str, float] = {}
    if own.loss != "importance_sampling":
        high = config.epsilon if config.epsilon_high is None else config.epsilon_high
        clip = {"clip_low_threshold": 1 - config.epsilon, "clip_high_threshold": 1 + high}
    rates = learning_rates(config.lr_schedule, config.learning_rate, config.steps)
    return ClientSettings(
        str(config.model),
        config.steps,
        rates,
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
        held = {record["step"] for record in files.read_lines(self.run.metrics_file)}
        missing = [one for one in range(1, step + 1) if one not in held]
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
