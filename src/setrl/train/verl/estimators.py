"""Set credit in verl: the estimators of its registry.

Written for verl 0.9.1. verl imports `setrl.train.verl.plugin` in every process, through the entry
point `verl.plugins`; this file imports neither verl nor PyTorch. In verl's config:

    algorithm.adv_estimator=setrl_maxpo +algorithm.setrl.set_size=8
    algorithm.norm_adv_by_std_in_grpo=false

`setrl_NAME` is the method NAME of `setrl.methods`, and `algorithm.setrl` has its arguments; with
the estimator `setrl` it has the whole method, such as {method: sum, of: […]}. verl gives estimators
only rewards. A method that reads strategies or another field, and every session with several
outputs, needs one of the trainers of `setrl.train.verl.trainer`.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from typing import Any

from setrl.core import methods
from setrl.core.inputs import check_given
from setrl.core.method import AnyMethod
from setrl.samples.columns import KEYS
from setrl.samples.values import is_outcome
from setrl.support.errors import ConfigError, RunError, usage_errors
from setrl.train import method_config
from setrl.train.scoring import Columns, ScoredBatch, score

WRITTEN_FOR_VERL = "0.9.1"
PREFIX = "setrl"
MODES = ("sync", "colocate_async", "separate_async")
PADDING = re.compile(r"pad[0-9a-f]{32}")  # the uid of rows that verl adds to fill a batch
OWN = ("fields", "judge", "stop_rule")  # of algorithm.setrl; what only our trainers follow

AdvantageEstimator = Callable[..., tuple[Any, Any]]


@dataclass
class BatchRows:
    """What the rows of a batch are, in their order: a trainer knows it, an estimator does not.

    Attributes:
        method: The method, at this share of the steps.
        sessions: The sample that each row is an output of.
        outputs: The number of the output within it; the last has the reward.
        is_padding: Whether verl added the row to fill the batch.
        fields: Field of the method → its value for each row, None unknown.
        batch: The samples with their credit, once the estimator has made it.
    """

    method: AnyMethod
    sessions: Sequence[str]
    outputs: Sequence[int]
    is_padding: Sequence[bool]
    fields: Mapping[str, Sequence[Any]]
    batch: ScoredBatch | None = None


_rows_in_work: ContextVar[BatchRows | None] = ContextVar("rows", default=None)


@functools.cache  # verl refuses a second function of the same name
def make_estimator(name: str) -> AdvantageEstimator:
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
        rows = _rows_in_work.get()
        if rows is None:
            method = read_method(name, config or {})
            _refuse_what_trainers_do(name, method, config or {})
            rows = _make_rows(method, index)
        rewards_M = token_level_rewards.double().sum(-1)
        values_M = _credit_rows(rewards_M, index, rows)
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
    settings = {key: value for key, value in settings_of(config).items() if key not in OWN}
    if name != PREFIX:
        if "method" in settings:
            raise ConfigError(
                f"algorithm.setrl.method and adv_estimator={name} both name a method: leave one "
                f"out (adv_estimator={PREFIX} takes the method of algorithm.setrl)"
            )
        settings = {"method": name.removeprefix(f"{PREFIX}_"), **settings}
    with usage_errors():
        method = method_config.from_config(settings, progress or 0.0)
        if progress is None and repr(method) != repr(method_config.from_config(settings, 1.0)):
            raise ConfigError(
                f"{name} has a schedule, and estimators do not know the step: use "
                f"trainer.v1.trainer_mode={PREFIX}_sync or another trainer of setrl"
            )
    if "pairs" in method.reads:
        raise ConfigError(f"{name} reads pairs, which rows of verl cannot hold")
    return method


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `algorithm.setrl`, as dicts and lists."""
    settings = _to_plain_data(config.get(PREFIX) or {})
    if not isinstance(settings, dict):
        raise ConfigError(f"algorithm.setrl must be a mapping, got {settings!r}")
    return settings


def _to_plain_data(value: Any) -> Any:
    """Turn a config of omegaconf into dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): _to_plain_data(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_to_plain_data(item) for item in value]
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


def _refuse_what_trainers_do(name: str, method: AnyMethod, config: Mapping[str, Any]) -> None:
    if only := [key for key in OWN if key in settings_of(config)]:
        raise ConfigError(
            f"algorithm.setrl.{only[0]} has no effect with verl's own trainers: set "
            f"trainer.v1.trainer_mode={PREFIX}_sync or another trainer of setrl"
        )
    with usage_errors():
        check_given(method.reads, (), name, _name_remedy)


def _name_remedy(field: str) -> str:
    return (
        f"verl gives estimators only rewards, so set trainer.v1.trainer_mode={PREFIX}_sync (or "
        f"{PREFIX}_colocate_async, {PREFIX}_separate_async), and let the reward function return "
        f"{KEYS[field]!r} besides 'score'"
    )


def _make_rows(method: AnyMethod, uids: Sequence[Any]) -> BatchRows:
    """Take each row for a sample: an estimator knows no more."""
    padding = [PADDING.fullmatch(str(uid)) is not None for uid in uids]
    return BatchRows(method, [str(i) for i in range(len(uids))], [0] * len(uids), padding, {})


def _credit_rows(rewards_M: Any, uids: Sequence[Any], rows: BatchRows) -> Any:
    """Return the advantage of each row: its session is credited with the last output's reward."""
    if len(rows.sessions) != len(uids):
        raise RunError(f"verl passed {len(uids)} of {len(rows.sessions)} rows: a group was cut")
    members = _find_reward_rows(rows)
    groups: dict[str, list[int]] = {}
    for row in members.values():
        groups.setdefault(str(uids[row]), []).append(row)
    _refuse_groups_of_one(groups, rows.method)
    seed = zlib.crc32("".join(groups).encode())  # uids differ from step to step
    rows.batch = score(_make_columns(rewards_M.tolist(), groups, rows), rows.method, rng=seed)
    values_BN = rows.batch.advantages.values_BN
    places = ((i, b, n) for b, group in enumerate(groups.values()) for n, i in enumerate(group))
    value_of = {row: values_BN[b, n] for row, b, n in places}
    return rewards_M.new_tensor(
        [value_of[members[session]] if session in members else 0.0 for session in rows.sessions]
    )


def _refuse_groups_of_one(groups: Mapping[str, list[int]], method: AnyMethod) -> None:
    """Refuse rows that all have different uids: nothing would be compared, and nothing learned."""
    compares = getattr(method, "baseline", None) != "none"
    if len(groups) > 1 and max(map(len, groups.values())) == 1 and compares:
        raise RunError(
            f"each of {len(groups)} rows has a uid of its own, so that every group has one sample, "
            f"and {method.name} gives no credit: the samples of a prompt must share its uid, and "
            "actor_rollout_ref.rollout.n must be at least 2"
        )


def _find_reward_rows(rows: BatchRows) -> dict[str, int]:
    """Return the row of each session that has its reward: the row of its last output."""
    last: dict[str, int] = {}
    for row, session in enumerate(rows.sessions):
        if rows.is_padding[row]:
            continue
        if session not in last or rows.outputs[last[session]] < rows.outputs[row]:
            last[session] = row
    return last


def _make_columns(
    rewards_M: Sequence[float], groups: Mapping[str, list[int]], rows: BatchRows
) -> Columns:
    """Return the columns of all groups; a group that lacks samples has unknown ones instead."""
    width = max(rows.method.fewest_samples, *map(len, groups.values()))
    if "correct" in rows.method.reads and "correct" not in rows.fields:
        _refuse_scores_but_0_and_1(rows.method, [rewards_M[i] for i in chain(*groups.values())])

    def column(values: Sequence[Any]) -> list[Any]:
        padded = ([values[i] for i in group] + [None] * width for group in groups.values())
        return [value for group in padded for value in group[:width]]

    fields = {name: column(values) for name, values in rows.fields.items()}
    return Columns(
        [*groups],
        [[""] * width] * len(groups),
        [column(rewards_M)],
        strategies=fields.pop("strategies", None),
        correct=fields.pop("correct", None),
        fields=fields,
    )


def _refuse_scores_but_0_and_1(method: AnyMethod, scores: Sequence[float]) -> None:
    graded = [number for number in scores if number == number and not is_outcome(number)]
    if graded:
        raise RunError(
            f"{method.name} needs to know which samples are right, and the reward function gave "
            f"the score {graded[0]:g}, which is neither right (1) nor wrong (0): let it return "
            f"'correct' besides 'score' (True or False), and train with "
            f"trainer.v1.trainer_mode={PREFIX}_sync or another trainer of setrl"
        )


@contextmanager
def rows_known(rows: BatchRows) -> Iterator[None]:
    """Let estimators know what the rows are, inside the block."""
    token = _rows_in_work.set(rows)
    try:
        yield
    finally:
        _rows_in_work.reset(token)
