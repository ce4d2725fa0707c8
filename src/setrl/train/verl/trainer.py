"""Trainers of verl with set credit: they know which rows are one sample, and the method's fields.

`setrl_sync`, `setrl_colocate_async` and `setrl_separate_async` (`trainer.v1.trainer_mode`) are
verl's trainers, which also read what the reward function returned besides the score, count a
session once, and stop when nothing is learned. This file imports neither verl nor PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setrl.core.method import AnyMethod
from setrl.samples.columns import KEYS, READER_OF
from setrl.support import names
from setrl.support.errors import ConfigError, RunError, usage_errors
from setrl.train.gathering.metrics import batch_metrics
from setrl.train.scoring import CreditWatch, StopRule
from setrl.train.scoring.batch import read_column
from setrl.train.verl.estimators import (
    PREFIX,
    VerlRows,
    names_of_estimators,
    read_method,
    rows_known,
    settings_of,
)

__all__ = ["SetAdvantages"]


class SetAdvantages:
    """A v1 trainer of verl whose estimators know what the rows of a batch are.

    It comes before the class of the trainer, whose `_compute_advantage` still fetches, corrects and
    writes. In between it calls the estimator, which finds here the sessions of the rows and the
    fields of its method. `mode` is verl's own name of the trainer, under which verl reads its other
    settings.

    Raises:
        ConfigError: At construction, naming a setting that cannot work.
        RunError: While training, if the training stops by `algorithm.setrl.stop_rule`; verl's
            checkpoints stay.
    """

    mode: str
    queue: Any  # the module transfer_queue
    config: Any
    global_steps: int = 1
    total_training_steps: int = 0
    _began_at: int | None = None

    def __init__(self, config: Any, *more: Any, **others: Any):
        name = str(config.algorithm.adv_estimator)
        if name not in names_of_estimators():
            raise ConfigError(
                f"trainer_mode={PREFIX}_{self.mode} needs algorithm.adv_estimator={PREFIX} or "
                f"{PREFIX}_ and the name of a method, got {name!r}"
            )
        method = read_method(name, config.algorithm, 0.0)
        rollouts = config.actor_rollout_ref.rollout.n
        with usage_errors():
            method.check_samples(rollouts, "actor_rollout_ref.rollout.n")
        _refuse_reward_filter(method, config.algorithm)
        self.judging = self._make_judging(config, method)
        self.credit_watch = CreditWatch(_read_stop_rule(config.algorithm), self._had_signal)
        # verl asks for its own names of modes in five places, and for the section of that name.
        config.trainer.v1.trainer_mode = self.mode
        super().__init__(config, *more, **others)  # type: ignore[call-arg]

    def _make_judging(self, config: Any, method: AnyMethod) -> Any:
        settings = settings_of(config.algorithm)
        if "judge" not in settings:
            return None
        if "strategies" not in method.reads:
            raise ConfigError(
                f"algorithm.setrl.judge has no effect: {method.name} reads no strategies"
            )
        from setrl.train.verl.judging import GroupJudging

        folder = Path(config.trainer.default_local_dir)  # of verl's checkpoints
        return GroupJudging(settings["judge"], folder, self.queue, lambda: self.tokenizer)  # type: ignore[attr-defined]

    def _build_replay_buffer(self) -> Any:
        buffer = super()._build_replay_buffer()  # type: ignore[misc]
        if self.judging is not None:
            self.judging.watch(buffer)
        return buffer

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        rows = self._read_rows(batch)
        with rows_known(rows):
            done = super()._compute_advantage(batch, metrics)  # type: ignore[misc]
        credited = rows.batch
        assert credited is not None
        metrics.update({f"setrl/{key}": value for key, value in batch_metrics(credited).items()})
        self._began_at = self._began_at or self.global_steps
        self.credit_watch.see(credited, 0 < self.total_training_steps <= self.global_steps)
        return done

    def _had_signal(self) -> bool:
        """Take a run that resumes for a run that had a signal: verl keeps no log to look at."""
        return (self._began_at or 1) > 1

    def _read_rows(self, batch: Any) -> VerlRows:
        """Read what rows are from TransferQueue and the keys of a batch, `uid_session_output`."""
        algorithm = self.config.algorithm
        progress = min(self.global_steps / max(self.total_training_steps, 1), 1.0)
        method = read_method(str(algorithm.adv_estimator), algorithm, progress)
        parts = [_split_key(key) for key in batch.keys]
        padding = [bool(tag.get("is_padding", False)) for tag in batch.tags]
        fields, unjudged_M = self._read_fields(batch, method, padding), []
        if self.judging is not None:
            real = [None if pad else key for key, pad in zip(batch.keys, padding, strict=True)]
            judged, unjudged_M = self.judging.labels_of_rows(real)
            fields |= {name: judged[name] for name in judged if name in method.reads}
        return VerlRows.of(
            method,
            [None if pad else uid for (uid, _, _), pad in zip(parts, padding, strict=True)],
            [f"{uid}_{session}" for uid, session, _ in parts],
            [output for _, _, output in parts],
            fields,
            unjudged_M,
        )

    def _read_fields(
        self, batch: Any, method: AnyMethod, padding: Sequence[bool]
    ) -> dict[str, list[Any]]:
        """Read the method's fields from what the reward function returned besides the score."""
        judged = self.judging.gives if self.judging is not None else set()
        field_names = [name for name in method.reads if name not in {"rewards", "correct", *judged}]
        if not field_names and "correct" not in method.reads:
            return {}
        given_keys = settings_of(self.config.algorithm).get("fields", {})
        data = self.queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=["extra_fields"]
        )
        extras = [_read_reward_info(extra) for extra in data["extra_fields"]]
        real = [extra for extra, pad in zip(extras, padding, strict=True) if not pad]
        says = "correct" in method.reads and (
            "correct" in given_keys or any("correct" in extra for extra in real)
        )  # otherwise scores must be 0 and 1
        field_names += ["correct"] if says else []
        named = {**KEYS, **given_keys}
        return {
            name: _read_column(method.name, name, named[name], extras, real) for name in field_names
        }


def _read_stop_rule(algorithm: Any) -> StopRule | None:
    rule = settings_of(algorithm).get("stop_rule", {})
    with usage_errors(TypeError):
        return None if rule is None else names.call("algorithm.setrl.stop_rule", StopRule, rule)


def _refuse_reward_filter(method: AnyMethod, algorithm: Any) -> None:
    """Refuse a filter of equal rewards if the method learns from strategies."""
    chosen = algorithm.get("filter_groups") or {}
    if not chosen.get("enable", False) or set(method.reads) <= {"rewards", "correct"}:
        return
    raise ConfigError(
        f"algorithm.filter_groups drops groups of equal {chosen.get('metric', 'reward')!r}, from "
        f"which {method.name} still learns: set algorithm.filter_groups.enable=false"
    )


def _split_key(key: str) -> tuple[str, str, int]:
    uid, session, output = key.rsplit("_", 2)
    return uid, session, int(output)


def _read_reward_info(value: Any) -> dict[str, Any]:
    """Read what a reward function returned besides the score, for one row."""
    extra = getattr(value, "data", value)
    info = extra.get("reward_extra_info") if isinstance(extra, dict) else None
    return info if isinstance(info, dict) else {}


def _read_column(
    method: str, name: str, key: str, extras: list[dict[str, Any]], real: list[dict[str, Any]]
) -> list[Any]:
    if real and not any(key in extra for extra in real):
        keys = ", ".join(map(repr, dict.fromkeys(k for extra in real for k in extra))) or "nothing"
        raise RunError(
            f"{method} reads {name}: the reward function must return {key!r} besides 'score'; it "
            f"returned {keys} (algorithm.setrl.fields.{name} names another key)"
        )
    values = (extra.get(key) for extra in extras)
    return read_column(f"{key!r} of the reward function", READER_OF[name], values, "be")


def trainer_with_credit(trainer: type, mode: str, queue: Any) -> type:
    """Make a trainer of verl with set credit.

    Args:
        trainer: A subclass of verl's v1 `PPOTrainer`.
        mode: Its name in verl's registry.
        queue: The module `transfer_queue`.
    """
    attributes = {"mode": mode, "queue": queue, "__doc__": SetAdvantages.__doc__}
    return type(f"Set{trainer.__name__}", (SetAdvantages, trainer), attributes)
