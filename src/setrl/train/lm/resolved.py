"""What a config means: its task, arms and rewards are made here, once, and handed down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from setrl import tasks
from setrl.rewards import Reward, Truncation
from setrl.rewards.truncation import truncation_from_config
from setrl.support import names
from setrl.support.files import strict_yaml
from setrl.support.files.loading import load_function
from setrl.support.files.sections import blamed_on, require
from setrl.support.wording import in_a_row
from setrl.tasks import Problem, PromptForm, Task
from setrl.tasks.base import TRAIN
from setrl.train.lm.base_spec import BaseSpec
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.engine import EngineSpec
from setrl.train.lm.resolved_arm import ResolvedArm, resolve_arm
from setrl.train.scoring.stop_rule import StopRule

EVAL_PROBLEMS = 100  # of a split that eval_problems does not name


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
        says = self.task.correct or self.task.rewards[self.task.combine.place() or 0]
        return str(getattr(says, "__name__", says))

    @property
    def ignored_rewards(self) -> list[str]:
        """Which arms read none of the further rewards, in sentences."""
        further = [one.__name__ for one in self.task.rewards]
        if self.task.correct is None:
            del further[self.task.combine.place() or 0]
        ignoring = {
            arm: ", ".join(f"{key}: {value}" for key, value in self.config.arms[arm].items())
            for arm, one in self.arms.items()
            if "correct" in one.method.reads and "rewards" not in one.method.reads
        }
        return [
            f"arm {arm}: {self.arms[arm].method.name} reads only which samples are right: "
            f"{in_a_row(further)} {'has' if len(further) == 1 else 'have'} no effect on "
            f"advantages. To pay for more, write {arm}: {{method: sum, of: [{{{keys}}}, "
            "{method: dr_grpo, weight: 0.1}]}, and gate: sample at a further reward, so that it "
            "pays no wrong sample"
            for arm, keys in ignoring.items()
            if further
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
    task = _task(config)
    splits = _eval_splits(config.eval_splits, task)
    for split in config.eval_problems if isinstance(config.eval_problems, Mapping) else ():
        require(split in splits, "eval_problems", f"name splits of {', '.join(splits)}", split)
    return ResolvedConfig(
        config=replace(config, eval_splits=splits),
        task=task,
        truncation=_truncation(config),
        stop_rule=_stop_rule(config.stop_rule),
        rewards=_training_rewards(config, task),
        form=_form(config, task.form),
        sample_tokens=config.max_new_tokens or task.max_new_tokens,
        eval_splits=splits,
        engine=None if config.engine is None else EngineSpec.of(config.engine, "engine"),
        base=_base(config, task),
        arms={arm: _arm(arm, config, task) for arm in config.arms},  # need most time, so last
    )


def _task(config: ComparisonConfig) -> Task:
    with blamed_on("domain" if config.task is None else "task"):
        task = tasks.from_config(config.domain, config.task)
        _ = task.splits, task.rewards, task.strategy  # a missing file or function shows here
    return task


def _eval_splits(wanted: tuple[str, ...] | None, task: Task) -> tuple[str, ...]:
    known = task.splits
    for split in wanted or ():
        require(split in known, "eval_splits", f"be of {', '.join(known)}", split)
    return tuple(split for split in known if split != TRAIN) if wanted is None else wanted


def _arm(arm: str, config: ComparisonConfig, task: Task) -> ResolvedArm:
    with blamed_on(f"arms.{arm}", f"arm {arm!r}: "):
        return resolve_arm(arm, config.arms[arm], task, config.fields, config.samples_per_prompt)


def _training_rewards(config: ComparisonConfig, task: Task) -> tuple[Reward, ...]:
    """Return the reward functions of a task for training, its outcome wrapped."""
    if config.wrap_reward is None:
        return task.rewards
    settings = dict(config.wrap_reward)
    reference, outcome = settings.pop("function", None), task.combine.place() or 0
    with blamed_on("wrap_reward", "wrap_reward: "):
        make = partial(load_function(reference, ".").value, task.rewards[outcome])
        wrapped: Reward = names.call(str(reference), make, settings)
    return (*task.rewards[:outcome], wrapped, *task.rewards[outcome + 1 :])


def _truncation(config: ComparisonConfig) -> Truncation:
    with blamed_on("truncated"):
        return truncation_from_config(config.truncated)


def _stop_rule(settings: Mapping[str, Any] | None) -> StopRule | None:
    with blamed_on("stop_rule", "stop_rule: "):
        return None if settings is None else names.call("stop_rule", StopRule, settings)


def _form(config: ComparisonConfig, form: PromptForm) -> PromptForm:
    """Return how models see prompts; the trainer's own `chat_template_kwargs` come first."""
    own = config.trainer.get("chat_template_kwargs") or {}
    return replace(form, options={**form.options, **own})


def _base(config: ComparisonConfig, task: Task) -> BaseSpec | None:
    if config.model is not None:
        return None
    with blamed_on("task"):
        author = task.author
    assert author is not None  # a file needs the key `model`
    keys = {key: value for key, value in vars(config).items() if key.startswith("base_")}
    return BaseSpec(author, **{key.removeprefix("base_"): one for key, one in keys.items()})
