"""What a config means: its task, arms, rewards and base model are decided here, once, and handed
down.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from setrl import tasks
from setrl.core import schedules
from setrl.core.advantages import AnyMethod
from setrl.rewards import Reward, Truncation
from setrl.rewards.truncation import truncation_from_config
from setrl.support import names
from setrl.support.files import strict_yaml
from setrl.support.files.loading import load_function
from setrl.support.files.sections import blamed_on, require
from setrl.support.wording import in_a_row
from setrl.tasks import Problem, PromptForm, Task
from setrl.tasks.base import TRAIN, source_hash
from setrl.tasks.domains import Author
from setrl.train import method_config
from setrl.train.gathering.checks import check_method
from setrl.train.lm import fields
from setrl.train.lm.config import ArmKeys, ComparisonConfig, EngineSpec
from setrl.train.scoring.batch import STRATEGIES
from setrl.train.scoring.stop_rule import StopRule

EVAL_PROBLEMS = 100  # of a split that eval_problems does not name


@dataclass(frozen=True)
class BaseSpec:
    """A small model from scratch: the keys `base_…` of a config, which document each value."""

    author: Author
    hidden_size: int = 128
    layers: int = 2
    mlp_size: int = 256
    corpus: int = 80_000
    epochs: int = 1
    batch_size: int = 128
    learning_rate: float = 0.02
    seed: int = 0

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Width of the model, width of its feed-forward layers, and number of its layers."""
        return self.hidden_size, self.mlp_size, self.layers

    def as_record(self) -> dict[str, Any]:
        """Return the record in the model's folder: these values, and a hash of the domains."""
        keys = {f"base_{key}": value for key, value in vars(self).items() if key != "author"}
        domain = {"domain": repr(self.author), "source": source_hash(self.author)}
        return {"schema_version": 1, **domain, **keys}

    @property
    def fingerprint(self) -> str:
        """A hash of the record."""
        return hashlib.sha256(json.dumps(self.as_record()).encode()).hexdigest()[:12]

    def folder(self, cache: Path) -> Path:
        """Return the folder of this model in a cache, whether the model was made or not."""
        return cache / f"base-{self.author.name}-{self.fingerprint}"


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
    arm_keys, spec = ArmKeys.split(keys)
    schedule = partial(method_config.from_config, spec)
    method = schedule()
    judge = task.strategy.judge if arm_keys.judge is None else arm_keys.judge
    field_names = fields.fields_with_source(field_specs, task)
    field_names |= {STRATEGIES} if judge is not None or task.strategy.is_known else set()
    field_names |= {"families"} if isinstance(judge, Mapping) and judge.get("families") else set()
    for progress in (0.0, 1.0):
        _try_method(schedule(progress), num_samples, field_names)
    return ResolvedArm(
        name,
        method,
        schedule if schedules.has_schedule(method_config.with_schedules(spec)) else None,
        judge,
        fields.sources(field_specs, method.reads, task),
        arm_keys.beta,
        arm_keys.entropy_coef,
    )


def _key_of_field(name: str) -> str:
    """Return the key of a config that gives a field, for messages."""
    if name == STRATEGIES:
        return "add the key `judge` to the arm, or the key `strategy` to the task"
    return f"add fields: {{{name}: …}}, with {fields.FORMS}"


def _try_method(method: AnyMethod, num_samples: int, field_names: set[str]) -> None:
    """Give the method one prompt's samples, so that an error shows before the training."""
    check_method(method, num_samples, "samples_per_prompt", field_names, _key_of_field)
    zeros = np.zeros((1, num_samples))
    columns: dict[str, Any] = {name: zeros for name in method.reads if name != "rewards"}
    if "pairs" in columns:
        columns["pairs"] = np.zeros((1, num_samples, num_samples))
    method.advantages(zeros, rng=0, **columns)


@dataclass(frozen=True, eq=False)
class ResolvedConfig:
    """A config whose keys were all checked, with everything that was made from them.

    Functions below the command take this value, or parts of it, and make nothing from keys again.
    It is pickled as its keys, because a task may hold tables and functions of a user: a worker
    process makes the same value when it receives it.

    Attributes:
        config: The keys, with every default written out; a run's folder keeps them.
        task: What is trained on: problems, reward functions, the reader of strategies.
        arms: Arm name → its method, judge and fields.
        rewards: The task's reward functions for training, the outcome wrapped by `wrap_reward`.
        truncation: The rule for samples that were cut at the length limit.
        stop_rule: When a training run stops because it learns nothing; None: never.
        form: How the model sees a prompt.
        sample_tokens: The length in tokens at which a sample is cut; the end token counts.
        eval_splits: The splits that every last model and the base are evaluated on.
        engine: The server that trains; None if this process does.
        base: The model that is made from scratch; None if the config names a model.
    """

    config: ComparisonConfig
    task: Task
    arms: Mapping[str, ResolvedArm]
    rewards: tuple[Reward, ...]
    truncation: Truncation
    stop_rule: StopRule | None
    form: PromptForm
    sample_tokens: int
    eval_splits: tuple[str, ...]
    engine: EngineSpec | None
    base: BaseSpec | None

    def __reduce__(self) -> tuple[Any, ...]:
        return resolve, (self.config,)

    @staticmethod
    def load(path: str | Path, overrides: Sequence[str] = ()) -> ResolvedConfig:
        """Read a YAML file and resolve it.

        Args:
            path: The file.
            overrides: Assignments that replace keys, such as "arms.poly_epo.set_size=8".

        Raises:
            ConfigError: Naming the file, the line and the key; for an unknown key, the nearest one.
            DataError: If the problems of the task are damaged.
        """
        config = ComparisonConfig.load(path, overrides)
        with strict_yaml.placed(path, overrides):
            return resolve(config)

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.config.name

    @property
    def samples_per_step(self) -> int:
        """The number of samples of a step."""
        return self.config.prompts_per_step * self.config.samples_per_prompt

    @property
    def batches(self) -> int:
        """The number of batches that one arm and seed samples; each may make several updates."""
        return math.ceil(self.config.steps / self.config.num_iterations)

    @property
    def used_splits(self) -> tuple[str, ...]:
        """The splits of training and evaluation."""
        return TRAIN, *self.eval_splits

    @property
    def notes(self) -> list[str]:
        """What people should know about the problems and the arms before training."""
        return [*self.task.notes(self.used_splits), *self.ignored_rewards]

    @property
    def says_right(self) -> str:
        """The name of the function that says which samples are right."""
        says = self.task.correct or self.task.rewards[self.task.combine.outcome_place]
        return str(getattr(says, "__name__", says))

    @property
    def ignored_rewards(self) -> list[str]:
        """Which arms read none of the further rewards, in sentences."""
        reward_names = [reward.__name__ for reward in self.task.rewards]
        if self.task.correct is None:
            del reward_names[self.task.combine.outcome_place]
        ignoring = {
            arm: ", ".join(f"{key}: {value}" for key, value in self.config.arms[arm].items())
            for arm, resolved_arm in self.arms.items()
            if "correct" in resolved_arm.method.reads and "rewards" not in resolved_arm.method.reads
        }
        return [
            f"arm {arm}: {self.arms[arm].method.name} reads only which samples are right: "
            f"{in_a_row(reward_names)} {'has' if len(reward_names) == 1 else 'have'} no effect on "
            f"advantages. To pay for more, write {arm}: {{method: sum, of: [{{{keys}}}, "
            "{method: dr_grpo, weight: 0.1}]}, and gate: sample at a further reward, so that it "
            "pays no wrong sample"
            for arm, keys in ignoring.items()
            if reward_names
        ]

    def eval_problems(self, split: str) -> int:
        """Return how many problems of a split are evaluated, at most."""
        number = self.config.eval_problems
        return number.get(split, EVAL_PROBLEMS) if isinstance(number, Mapping) else number

    def training_problems(self, seed: int) -> list[Problem]:
        """Return the problems of all steps of one arm and seed, in order.

        Raises:
            ConfigError: If the task has fewer different problems.
        """
        count = self.batches * self.config.prompts_per_step
        return self.task.training_problems(count, self.config.train_problems, seed)


def resolve(config: ComparisonConfig) -> ResolvedConfig:
    """Make everything that a config describes, and check that its keys fit together.

    No model is loaded and no server is asked.

    Raises:
        ConfigError: Naming what is wrong; a `KeyedError` where one key is.
        DataError: If the problems of the task are damaged.
    """
    task = _make_task(config)
    splits = _choose_splits(config.eval_splits, task)
    for split in config.eval_problems if isinstance(config.eval_problems, Mapping) else ():
        require(split in splits, "eval_problems", f"name splits of {', '.join(splits)}", split)
    return ResolvedConfig(
        config=replace(config, eval_splits=splits),
        task=task,
        truncation=_make_truncation(config),
        stop_rule=_make_stop_rule(config.stop_rule),
        rewards=_make_training_rewards(config, task),
        form=_make_prompt_form(config, task.form),
        sample_tokens=config.max_new_tokens or task.max_new_tokens,
        eval_splits=splits,
        engine=None if config.engine is None else EngineSpec.of(config.engine, "engine"),
        base=_make_base_spec(config, task),
        arms={arm: _make_arm(arm, config, task) for arm in config.arms},  # need most time, so last
    )


def _make_task(config: ComparisonConfig) -> Task:
    with blamed_on("domain" if config.task is None else "task"):
        task = tasks.from_config(config.domain, config.task)
        _ = task.splits, task.rewards, task.strategy  # a missing file or function shows here
    return task


def _choose_splits(chosen: tuple[str, ...] | None, task: Task) -> tuple[str, ...]:
    splits = task.splits
    for split in chosen or ():
        require(split in splits, "eval_splits", f"be of {', '.join(splits)}", split)
    return tuple(split for split in splits if split != TRAIN) if chosen is None else chosen


def _make_arm(arm: str, config: ComparisonConfig, task: Task) -> ResolvedArm:
    with blamed_on(f"arms.{arm}", f"arm {arm!r}: "):
        return resolve_arm(arm, config.arms[arm], task, config.fields, config.samples_per_prompt)


def _make_training_rewards(config: ComparisonConfig, task: Task) -> tuple[Reward, ...]:
    """Return the reward functions of a task for training, its outcome wrapped."""
    if config.wrap_reward is None:
        return task.rewards
    settings = dict(config.wrap_reward)
    reference, outcome = settings.pop("function", None), task.combine.outcome_place
    with blamed_on("wrap_reward", "wrap_reward: "):
        make = partial(load_function(reference, ".").value, task.rewards[outcome])
        wrapped: Reward = names.call(str(reference), make, settings)
    return (*task.rewards[:outcome], wrapped, *task.rewards[outcome + 1 :])


def _make_truncation(config: ComparisonConfig) -> Truncation:
    with blamed_on("truncated"):
        return truncation_from_config(config.truncated)


def _make_stop_rule(settings: Mapping[str, Any] | None) -> StopRule | None:
    with blamed_on("stop_rule", "stop_rule: "):
        return None if settings is None else names.call("stop_rule", StopRule, settings)


def _make_prompt_form(config: ComparisonConfig, form: PromptForm) -> PromptForm:
    """Return how models see prompts; the trainer's own `chat_template_kwargs` come first."""
    options = config.trainer.get("chat_template_kwargs") or {}
    return replace(form, options={**form.options, **options})


def _make_base_spec(config: ComparisonConfig, task: Task) -> BaseSpec | None:
    if config.model is not None:
        return None
    with blamed_on("task"):
        author = task.author
    assert author is not None  # a file needs the key `model`
    keys = {key: value for key, value in vars(config).items() if key.startswith("base_")}
    return BaseSpec(author, **{key.removeprefix("base_"): value for key, value in keys.items()})
