"""Set credit in verl: estimators of its registry, and trainers that know what samples are.

Written for verl 0.9.1. verl imports `setrl.engines.verl.plugin` in every process, through the entry
point `verl.plugins`; this file imports neither verl nor PyTorch. In verl's config:

    algorithm.adv_estimator=setrl_maxpo +algorithm.setrl.set_size=8
    algorithm.norm_adv_by_std_in_grpo=false

`setrl_NAME` is the method NAME of `setrl.methods`, and `algorithm.setrl` has its arguments; with
the estimator `setrl` it has the whole method, such as {method: sum, of: […]}. verl gives estimators
only rewards. A method that reads clusters or another field, and every session with several outputs,
needs one of the trainers `setrl_sync`, `setrl_colocate_async`, `setrl_separate_async`
(`trainer.v1.trainer_mode`). They are verl's trainers, which also read what the reward function
returned besides the score, and count a session once.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from setrl.core import methods
from setrl.core.grouped import grouped_advantages
from setrl.core.method import AnyMethod
from setrl.errors import ConfigError, RunError, usage_errors

__all__ = ["SetAdvantages"]

WRITTEN_FOR_VERL = "0.9.1"
PREFIX = "setrl"
MODES = ("sync", "colocate_async", "separate_async")
PADDING = re.compile(r"pad[0-9a-f]{32}")  # the uid of rows that verl adds to fill a batch
KEYS = {"clusters": "cluster"}  # field → key of the reward function's result, if it differs
OWN = ("fields", "judge")  # of algorithm.setrl, besides the arguments of the method

Estimator = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Rows:
    """What the rows of a batch are, in their order: a trainer knows it, an estimator does not.

    Attributes:
        method: The method, at this share of the steps.
        sessions: The sample that each row is an output of.
        outputs: The number of the output within it; the last has the reward.
        is_padding: Whether verl added the row to fill the batch.
        fields: Field of the method → its value for each row, None unknown.
        metrics: What is logged about the batch; the estimator fills it.
    """

    method: AnyMethod
    sessions: Sequence[str]
    outputs: Sequence[int]
    is_padding: Sequence[bool]
    fields: Mapping[str, Sequence[Any]]
    metrics: dict[str, float] = field(default_factory=dict)


_known: ContextVar[Rows | None] = ContextVar("rows", default=None)


@functools.cache  # verl refuses a second function of the same name
def estimator(name: str) -> Estimator:
    """Make the estimator that verl finds under this name, `setrl_` and the name of a method.

    verl passes these arguments: `token_level_rewards` and `response_mask` (M, T),
    `index`, the uid of each row, and `config`, the section `algorithm`. It returns the advantages
    (M, T) twice, as verl's own estimators of groups do.
    """

    def estimate(
        token_level_rewards: Any,
        response_mask: Any,
        config: Mapping[str, Any] | None = None,
        index: Sequence[Any] | None = None,
        **_: Any,
    ) -> tuple[Any, Any]:
        if index is None:
            raise ConfigError(f"{name} needs the uid of each row, which verl passes as index")
        rows = _known.get()
        if rows is None:
            method = read_method(name, config or {})
            _refuse_fields(name, method)
            rows = _rows_of_uids(method, index)
        rewards_M = token_level_rewards.double().sum(-1)
        values_M = _credit(rewards_M, index, rows)
        advantages = (values_M[:, None] * response_mask).float()
        return advantages, advantages

    estimate.__name__ = name
    return estimate


def names_of_estimators() -> list[str]:
    """List all names that verl knows with the plug-in."""
    return [PREFIX, *(f"{PREFIX}_{name}" for name in methods.by_name)]


def read_method(name: str, config: Mapping[str, Any], progress: float | None = None) -> AnyMethod:
    """Read the method from an estimator's name and the section `algorithm` of verl's config.

    Args:
        name: `setrl_maxpo`, or `setrl` for a method that `algorithm.setrl` names.
        config: The section.
        progress: The share of the steps that is done; None if it is not known.

    Raises:
        ConfigError: If the section would change advantages or rewards after the method, has a
            schedule although the step is not known, or the method cannot be made.
    """
    _refuse_changes(name, config)
    settings = {key: value for key, value in _settings(config).items() if key not in OWN}
    if name != PREFIX:
        if "method" in settings:
            raise ConfigError(
                f"algorithm.setrl.method and adv_estimator={name} both name a method: leave one "
                f"out (adv_estimator={PREFIX} takes the method of algorithm.setrl)"
            )
        settings = {"method": name.removeprefix(f"{PREFIX}_"), **settings}
    with usage_errors():
        method = methods.from_config(settings, progress or 0.0)
        if progress is None and repr(method) != repr(methods.from_config(settings, 1.0)):
            raise ConfigError(
                f"{name} has a schedule, and estimators do not know the step: use "
                f"trainer.v1.trainer_mode={PREFIX}_sync or another trainer of setrl"
            )
    if "pairs" in method.reads:
        raise ConfigError(f"{name} reads pairs, which rows of verl cannot hold")
    return method


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    settings = _plain(config.get(PREFIX) or {})
    if not isinstance(settings, dict):
        raise ConfigError(f"algorithm.setrl must be a mapping, got {settings!r}")
    return settings


def _plain(value: Any) -> Any:
    """Turn a config of omegaconf into dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value


def _refuse_changes(name: str, config: Mapping[str, Any]) -> None:
    if config.get("norm_adv_by_std_in_grpo", False):
        raise ConfigError(
            f"{name} decides its scale itself: set algorithm.norm_adv_by_std_in_grpo=false (verl's "
            "default is true)"
        )
    if config.get("use_kl_in_reward", False):
        raise ConfigError(
            f"use_kl_in_reward puts the KL penalty into the rewards that {name} scores sets by: "
            "set algorithm.use_kl_in_reward=false and use actor.use_kl_loss"
        )


def _refuse_fields(name: str, method: AnyMethod) -> None:
    for read in method.reads:
        if read not in ("rewards", "correct"):
            raise ConfigError(
                f"{name} reads {read}, and verl gives estimators only rewards: set "
                f"trainer.v1.trainer_mode={PREFIX}_sync (or {PREFIX}_colocate_async, "
                f"{PREFIX}_separate_async), and let the reward function return "
                f"{KEYS.get(read, read)!r} besides 'score'"
            )


def _rows_of_uids(method: AnyMethod, uids: Sequence[Any]) -> Rows:
    """Take each row for a sample: an estimator knows no more."""
    padding = [PADDING.fullmatch(str(uid)) is not None for uid in uids]
    return Rows(method, [str(i) for i in range(len(uids))], [0] * len(uids), padding, {})


def _credit(rewards_M: Any, uids: Sequence[Any], rows: Rows) -> Any:
    """Return the advantage of each row: its session is credited with the last output's reward."""
    if len(rows.sessions) != len(uids):
        raise RunError(f"verl passed {len(uids)} of {len(rows.sessions)} rows: a group was cut")
    last: dict[str, int] = {}
    for row, session in enumerate(rows.sessions):
        if rows.is_padding[row]:
            continue
        if session not in last or rows.outputs[last[session]] < rows.outputs[row]:
            last[session] = row
    members = list(last.values())
    groups = [str(uids[row]) for row in members]
    fields: dict[str, Any] = {
        name: [values[row] for row in members] for name, values in rows.fields.items()
    }
    seed = zlib.crc32("".join(groups).encode())  # uids differ from step to step
    if "correct" in rows.method.reads and "correct" not in fields:
        _refuse_other_scores(rows.method, rewards_M[members])
    found = grouped_advantages(rewards_M[members], groups, rows.method, rng=seed, **fields)
    place = {session: i for i, session in enumerate(last)}
    values_M = rewards_M.new_zeros(len(uids))
    for row, session in enumerate(rows.sessions):
        if not rows.is_padding[row]:
            values_M[row] = found[place[session]]
    rows.metrics.update(_metrics(np.asarray(found), groups, fields))
    return values_M


def _refuse_other_scores(method: AnyMethod, scores_M: Any) -> None:
    others = [score for score in scores_M.tolist() if score not in (0, 1) and score == score]
    if others:
        raise RunError(
            f"{method.name} needs to know which samples are right, and the reward function gave "
            f"the score {others[0]:g}, which is neither right (1) nor wrong (0): let it return "
            f"'correct' besides 'score' (True or False), and train with "
            f"trainer.v1.trainer_mode={PREFIX}_sync or another trainer of setrl"
        )


def _metrics(
    values: np.ndarray, groups: list[str], fields: Mapping[str, list[Any]]
) -> dict[str, float]:
    """Measure a step: groups without a signal, and unknown fields."""
    alive = {group for group, value in zip(groups, values, strict=True) if abs(value) > 1e-12}
    count = max(len(set(groups)), 1)
    found = {"setrl/groups_without_signal": 1 - len(alive) / count}
    for name, column in fields.items():
        unknown = sum(one is None or one != one for one in column)
        found[f"setrl/unknown_{name}"] = unknown / max(len(column), 1)
    return found


@contextmanager
def _knowing(rows: Rows) -> Iterator[None]:
    """Let estimators know what the rows are, inside the block."""
    token = _known.set(rows)
    try:
        yield
    finally:
        _known.reset(token)


class SetAdvantages:
    """A v1 trainer of verl whose estimators know what the rows of a batch are.

    It comes before the class of the trainer, whose `_compute_advantage` still fetches, corrects and
    writes. In between it calls the estimator, which finds here the sessions of the rows and the
    fields of its method. `mode` is verl's own name of the trainer, under which verl reads its other
    settings.
    """

    mode: str
    queue: Any  # the module transfer_queue
    config: Any
    global_steps: int

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
        # verl asks for its own names of modes in five places, and for the section of that name.
        config.trainer.v1.trainer_mode = self.mode
        super().__init__(config, *more, **others)  # type: ignore[call-arg]

    def _make_judging(self, config: Any, method: AnyMethod) -> Any:
        settings = _settings(config.algorithm)
        if "judge" not in settings:
            return None
        if "clusters" not in method.reads:
            raise ConfigError(
                f"algorithm.setrl.judge has no effect: {method.name} reads no clusters"
            )
        from setrl.engines.verl.judging import GroupJudging

        folder = Path(config.trainer.default_local_dir)  # of verl's checkpoints
        return GroupJudging(settings["judge"], folder, self.queue, lambda: self.tokenizer)  # type: ignore[attr-defined]

    def _build_replay_buffer(self) -> Any:
        buffer = super()._build_replay_buffer()  # type: ignore[misc]
        if self.judging is not None:
            self.judging.watch(buffer)
        return buffer

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        rows = self._rows(batch)
        with _knowing(rows):
            done = super()._compute_advantage(batch, metrics)  # type: ignore[misc]
        metrics.update(rows.metrics)
        return done

    def _rows(self, batch: Any) -> Rows:
        """Read what rows are from TransferQueue and the keys of a batch, `uid_session_output`."""
        algorithm = self.config.algorithm
        total = max(getattr(self, "total_training_steps", 0), 1)
        progress = min(getattr(self, "global_steps", 0) / total, 1.0)
        method = read_method(str(algorithm.adv_estimator), algorithm, progress)
        parts = [_parts(key) for key in batch.keys]
        padding = [bool(tag.get("is_padding", False)) for tag in batch.tags]
        fields = self._fields(batch, method, padding)
        if self.judging is not None:
            real = [None if pad else key for key, pad in zip(batch.keys, padding, strict=True)]
            fields["clusters"] = self.judging.clusters(real, batch.partition_id)
        return Rows(
            method,
            [f"{uid}_{session}" for uid, session, _ in parts],
            [output for _, _, output in parts],
            padding,
            fields,
        )

    def _fields(
        self, batch: Any, method: AnyMethod, padding: Sequence[bool]
    ) -> dict[str, list[Any]]:
        """Read the method's fields from what the reward function returned besides the score."""
        wanted = [name for name in method.reads if name not in ("rewards", "correct")]
        if self.judging is not None:
            wanted.remove("clusters")
        if not wanted and "correct" not in method.reads:
            return {}
        named = {**KEYS, **_settings(self.config.algorithm).get("fields", {})}
        data = self.queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=["extra_fields"]
        )
        extras = [_reward_info(one) for one in data["extra_fields"]]
        real = [extra for extra, pad in zip(extras, padding, strict=True) if not pad]
        says = "correct" in method.reads and (
            "correct" in named or any("correct" in extra for extra in real)
        )  # otherwise scores must be 0 and 1
        wanted += ["correct"] if says else []
        return {
            name: _column(method.name, name, named.get(name, name), extras, real) for name in wanted
        }


def _refuse_reward_filter(method: AnyMethod, algorithm: Any) -> None:
    """Refuse a filter of equal rewards if the method learns from strategies."""
    chosen = algorithm.get("filter_groups") or {}
    if not chosen.get("enable", False) or set(method.reads) <= {"rewards", "correct"}:
        return
    raise ConfigError(
        f"algorithm.filter_groups drops groups of equal {chosen.get('metric', 'reward')!r}, from "
        f"which {method.name} still learns: set algorithm.filter_groups.enable=false"
    )


def _parts(key: str) -> tuple[str, str, int]:
    uid, session, output = key.rsplit("_", 2)
    return uid, session, int(output)


def _reward_info(value: Any) -> dict[str, Any]:
    """Read what a reward function returned besides the score, for one row."""
    extra = getattr(value, "data", value)
    found = extra.get("reward_extra_info") if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def _column(
    method: str, name: str, key: str, extras: list[dict[str, Any]], real: list[dict[str, Any]]
) -> list[Any]:
    if real and not any(key in one for one in real):
        known = ", ".join(map(repr, dict.fromkeys(k for one in real for k in one))) or "nothing"
        raise RunError(
            f"{method} reads {name}: the reward function must return {key!r} besides 'score'; it "
            f"returned {known} (algorithm.setrl.fields.{name} names another key)"
        )
    values: list[Any] = [one.get(key) for one in extras]
    return [one.item() if hasattr(one, "item") else one for one in values]


def credited(trainer: type, mode: str, queue: Any) -> type:
    """Make a trainer of verl with set credit.

    Args:
        trainer: A subclass of verl's v1 `PPOTrainer`.
        mode: Its name in verl's registry.
        queue: The module `transfer_queue`.
    """
    own = {"mode": mode, "queue": queue, "__doc__": SetAdvantages.__doc__}
    return type(f"Set{trainer.__name__}", (SetAdvantages, trainer), own)
