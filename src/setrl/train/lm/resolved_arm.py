"""One arm of a comparison, made from its keys once: method, judge and fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from setrl.core import schedules
from setrl.core.advantages import AnyMethod
from setrl.tasks import Task
from setrl.train import method_config
from setrl.train.gathering.checks import check_method
from setrl.train.lm import fields
from setrl.train.lm.config import ArmKeys
from setrl.train.scoring.batch import STRATEGIES


@dataclass(frozen=True)
class ResolvedArm:
    """What sets an arm apart from the others of its comparison.

    Attributes:
        name: The name of the arm and of its folder.
        method: The method of the first step.
        schedule: Share of the steps that are done → method; None if the method stays the same.
        judge: The settings of the judge that names strategies; None: the task's function does.
        fields: What the method reads besides rewards and strategies: name → where it comes from.
        beta: Weight of the KL penalty to the base.
        entropy_coef: Weight of the entropy bonus.
    """

    name: str
    method: AnyMethod
    schedule: Callable[[float], AnyMethod] | None
    judge: str | Mapping[str, Any] | None
    fields: Mapping[str, Any]
    beta: float
    entropy_coef: float

    def method_at(self, progress: float) -> AnyMethod:
        """Return the method when this share of the steps is done."""
        return self.method if self.schedule is None else self.schedule(progress)


def resolve_arm(
    name: str,
    keys: Mapping[str, Any],
    task: Task,
    field_specs: Mapping[str, Any],
    num_samples: int,
) -> ResolvedArm:
    """Make an arm from its keys, and try its method on samples without rewards.

    Args:
        name: The arm.
        keys: Its keys in the config.
        task: What all arms train on.
        field_specs: The key `fields` of the config.
        num_samples: N, the samples of a prompt.

    Raises:
        ValueError: If the method does not fit the task, the fields or N.
    """
    own, spec = ArmKeys.split(keys)
    schedule = partial(method_config.from_config, spec)
    method = schedule()
    judge = task.strategy.judge if own.judge is None else own.judge
    given = fields.available(field_specs, task)
    given |= {STRATEGIES} if judge is not None or task.strategy.is_known else set()
    given |= {"families"} if isinstance(judge, Mapping) and judge.get("families") else set()
    for progress in (0.0, 1.0):
        _try_method(schedule(progress), num_samples, given)
    return ResolvedArm(
        name,
        method,
        schedule if schedules.has_schedule(method_config.with_schedules(spec)) else None,
        judge,
        fields.sources(field_specs, method.reads, task),
        own.beta,
        own.entropy_coef,
    )


def _by_key(name: str) -> str:
    """Return the key of a config that gives a field, for messages."""
    if name == STRATEGIES:
        return "add the key `judge` to the arm, or the key `strategy` to the task"
    return f"add fields: {{{name}: …}}, with {fields.FORMS}"


def _try_method(method: AnyMethod, num_samples: int, given: set[str]) -> None:
    """Give the method one prompt's samples, so that an error shows before the training."""
    check_method(method, num_samples, "samples_per_prompt", given, _by_key)
    zeros = np.zeros((1, num_samples))
    made: dict[str, Any] = {name: zeros for name in method.reads if name != "rewards"}
    if "pairs" in made:
        made["pairs"] = np.zeros((1, num_samples, num_samples))
    method.advantages(zeros, rng=0, **made)
