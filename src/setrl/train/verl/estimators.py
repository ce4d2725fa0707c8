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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from setrl.core import methods
from setrl.core.inputs import check_given
from setrl.core.method import AnyMethod
from setrl.samples.columns import KEYS
from setrl.samples.samples import Samples
from setrl.samples.values import no_outcomes
from setrl.support.errors import ConfigError, RunError, usage_errors
from setrl.train import method_config
from setrl.train.scoring import ScoredBatch, samples_of, score
from setrl.train.scoring.batch import Missing
from setrl.train.scoring.credit import stack_rewards, with_columns

WRITTEN_FOR_VERL = "0.9.1"
PREFIX = "setrl"
MODES = ("sync", "colocate_async", "separate_async")
PADDING = re.compile(r"pad[0-9a-f]{32}")  # the uid of rows that verl adds to fill a batch
OWN = ("fields", "judge", "stop_rule")  # of algorithm.setrl; what only our trainers follow

AdvantageEstimator = Callable[..., tuple[Any, Any]]


@dataclass
class VerlRows:
    """Samples, and where verl's rows have them: a trainer knows it, an estimator does not.

    Attributes:
        method: The method, at this share of the steps.
        samples: What is known of the samples but their rewards; their prompts are uids.
        row_BN: The row with each sample's reward, that of its last output; −1 where a group lacks
            samples.
        sample_M: The sample of each row, counted through all groups; −1 for padding.
        unjudged_B: Why the judge gave each group no strategies, if there is a judge.
        batch: The samples with their credit, once the estimator has made it.
    """

    method: AnyMethod
    samples: Samples
    row_BN: np.ndarray
    sample_M: Sequence[int]
    unjudged_B: Sequence[Missing | None] = ()
    batch: ScoredBatch | None = None

    @classmethod
    def of(
        cls,
        method: AnyMethod,
        uids: Sequence[str | None],
        sessions: Sequence[str],
        outputs: Sequence[int],
        fields: Mapping[str, Sequence[Any]],
        unjudged_M: Sequence[Missing | None] = (),
    ) -> Self:
        """Find the samples of rows.

        Args:
            method: The method.
            uids: The group of each row; None if verl added the row to fill the batch.
            sessions: The sample that each row is an output of.
            outputs: The number of the output within it; the last has the reward.
            fields: Field of the method → its value for each row, None unknown.
            unjudged_M: Why the judge gave the group of each row no strategies.
        """
        uid_of = {row: uid for row, uid in enumerate(uids) if uid is not None}
        last = _find_last_outputs(uid_of, sessions, outputs)
        groups: dict[str, list[int]] = {}
        for row in last.values():
            groups.setdefault(uid_of[row], []).append(row)
        width = max(method.fewest_samples, *map(len, groups.values()))
        row_BN = np.array([(group + [-1] * width)[:width] for group in groups.values()])
        place = {row: i for i, row in enumerate(row_BN.ravel().tolist())}
        return cls(
            method,
            _read_rows(row_BN, fields, [*groups]),
            row_BN,
            [place[last[sessions[row]]] if row in uid_of else -1 for row in range(len(uids))],
            [unjudged_M[group[0]] for group in groups.values()] if unjudged_M else (),
        )

    def credit(self, rewards_M: Any) -> Any:
        """Return the advantage of each row; padding has 0."""
        if len(self.sample_M) != len(rewards_M):
            raise RunError(
                f"verl passed {len(rewards_M)} of {len(self.sample_M)} rows: a group was cut"
            )
        self._refuse_groups_of_one()
        rewards_BN = np.where(self.row_BN < 0, np.nan, np.array(rewards_M.tolist())[self.row_BN])
        if "correct" in self.method.reads and self.samples.correct is None:
            _refuse_scores_but_0_and_1(self.method, rewards_BN)
        self.batch = score(
            replace(self.samples, components=stack_rewards([rewards_BN.ravel()], rewards_BN.shape)),
            self.method,
            unjudged_B=self.unjudged_B,
            rng=zlib.crc32("".join(self.samples.prompts).encode()),  # uids differ at each step
        )
        values = np.append(self.batch.advantages.values_BN, 0.0)
        return rewards_M.new_tensor(values[self.sample_M])

    def _refuse_groups_of_one(self) -> None:
        """Refuse rows that all have different uids: nothing would be compared or learned."""
        compares = getattr(self.method, "baseline", None) != "none"
        if len(self.row_BN) > 1 and (self.row_BN[:, 1:] < 0).all() and compares:
            raise RunError(
                f"each of {len(self.row_BN)} rows has a uid of its own, so that every group has "
                f"one sample, and {self.method.name} gives no credit: the samples of a prompt must "
                "share its uid, and actor_rollout_ref.rollout.n must be at least 2"
            )


def _find_last_outputs(
    rows: Iterable[int], sessions: Sequence[str], outputs: Sequence[int]
) -> dict[str, int]:
    """Return the row of the last output of each session, which has its reward."""
    last = {sessions[row]: row for row in rows}  # in the order of the first outputs
    return last | {sessions[row]: row for row in sorted(rows, key=outputs.__getitem__)}


def _read_rows(
    row_BN: np.ndarray, fields: Mapping[str, Sequence[Any]], uids: Sequence[str]
) -> Samples:
    """Return the samples whose fields are in these rows; −1 is a sample that is unknown."""
    rows, num_samples = row_BN.ravel().tolist(), row_BN.shape[1]
    columns = {name: [None if row < 0 else values[row] for row in rows]
               for name, values in fields.items()}  # fmt: skip
    return with_columns(samples_of([[None] * len(rows)], num_samples, prompts=uids), columns)


_rows_in_work: ContextVar[VerlRows | None] = ContextVar("rows", default=None)


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
        values_M = rows.credit(token_level_rewards.double().sum(-1))
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


def _make_rows(method: AnyMethod, index: Sequence[Any]) -> VerlRows:
    """Take each row for a sample: an estimator knows no more."""
    uids = [None if PADDING.fullmatch(uid) else uid for uid in map(str, index)]
    return VerlRows.of(method, uids, [*map(str, range(len(uids)))], [0] * len(uids), {})


def _refuse_scores_but_0_and_1(method: AnyMethod, rewards_BN: np.ndarray) -> None:
    if (others := no_outcomes(rewards_BN)).size:
        raise RunError(
            f"{method.name} needs to know which samples are right, and the reward function gave "
            f"the score {others[0]:g}, which is neither right (1) nor wrong (0): let it return "
            f"'correct' besides 'score' (True or False), and train with "
            f"trainer.v1.trainer_mode={PREFIX}_sync or another trainer of setrl"
        )


@contextmanager
def rows_known(rows: VerlRows) -> Iterator[None]:
    """Let estimators know what the rows are, inside the block."""
    token = _rows_in_work.set(rows)
    try:
        yield
    finally:
        _rows_in_work.reset(token)
