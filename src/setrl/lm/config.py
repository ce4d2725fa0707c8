"""The config of a comparison: one base model, several arms that differ only in their method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from setrl import domains, names, tasks
from setrl.core import methods, schedules
from setrl.core.advantages import AnyMethod
from setrl.domains import Domain
from setrl.errors import ConfigError, DataError
from setrl.files.strict_yaml import KeyedError
from setrl.judges.settings import build
from setrl.lm import fields
from setrl.lm.engine import check_engine
from setrl.models import HEAD_DIM
from setrl.rewards import Reward, Truncation
from setrl.rewards.loading import load_function
from setrl.rewards.truncation import truncation_from_config
from setrl.runs.config import RunConfig, require
from setrl.scoring.check import check_method
from setrl.tasks.base import TRAIN
from setrl.tasks.config import located
from setrl.tasks.spec import TaskSpec

ARM_OPTIONS = {"beta": 0.0, "entropy_coef": 0.0}  # what an arm may set beside its method
LAST_SET_SIZE = "last_set_size"  # and the K that its sets grow or shrink to over the steps
MOST_SAMPLES = 16_384  # of a prompt; each method is tried on so many before the training
JUDGE = "judge"  # and the judge that sorts its samples into clusters


@dataclass(frozen=True, kw_only=True)
class ComparisonConfig(RunConfig):
    """A comparison of methods: all arms share everything but their method.

    An arm is {method: name, …arguments of the method}. It may also set `beta` (weight of the KL
    penalty to the base) and `entropy_coef` (weight of an entropy bonus), so that these rivals can
    be arms. A schedule can stand for any number of its method: {schedule: linear, first: 8,
    last: 2} as `set_size` moves K from 8 to 2 over the steps, and `last_set_size: 2` is short for
    that. With `judge`, a name or a mapping such as {judge: lm, endpoint: http://localhost:8000/v1,
    model: mine}, that judge decides which samples use the same strategy, in place of the task's own
    reader.
    """

    kind = "comparison"
    gone: ClassVar = {
        "grader_errors": "write wrap_reward: {function: studies.faulty:Misgraded, …} with the same "
        "keys, in a clone of setrl's repository"
    }

    domain: str | Mapping[str, Any] | None = None
    """Name of the domain, or a mapping of name and options: {name: polynomial, strategy: point}."""
    task: Mapping[str, Any] | None = None
    """Or a file of problems: {data: problems.jsonl, reward: math}; see docs/your-own-task.md."""
    steps: int = 200
    """Steps of training; each draws samples, scores them and updates the model."""
    prompts_per_step: int = 16
    """B, the prompts of a step."""
    samples_per_prompt: int = 16
    """N, the samples of a prompt."""
    train_problems: int | None = None
    """Different problems to train on, seen again and again; null: of a domain new ones at every
    step, of a file all."""
    max_new_tokens: int | None = None
    """Length in tokens at which a sample is cut; null: what the domain's samples need, or the
    task's own limit."""
    temperature: float = 1.0
    """Divides the logits when sampling, in training and in evaluation."""
    learning_rate: float = 1e-3
    """Step size of AdamW."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the learning rate changes over the steps; linear and cosine end at 0."""
    epsilon: float = 0.2
    """The probability ratio is clipped below at 1 − epsilon."""
    epsilon_high: float | None = None
    """The probability ratio is clipped above at 1 + epsilon_high; null: epsilon."""
    loss_type: Literal["grpo", "dr_grpo", "dapo", "bnpo"] = "dr_grpo"
    """How TRL averages the loss over tokens; dr_grpo divides by a constant."""
    num_iterations: int = 1
    """Updates from each batch of samples (μ in the GRPO paper)."""
    micro_batch_size: int | None = None
    """Samples in one forward and backward pass on one device; null: all of the step."""
    truncated: str | Mapping[str, Any] = "count"
    """Samples cut at the length limit: count, mask (out of the sets and the loss), or punish: with
    the lower of 0 and the lowest reward of the group, or with a reward, as in {punish: -1.0}."""
    wrap_reward: Mapping[str, Any] | None = None
    """{function: module:name, …}: in training, not in evaluation, `name(reward, …)` replaces the
    task's outcome, such as {function: studies.faulty:Misgraded, false_positives: 0.1}. The module
    is in the current folder, or installed."""
    mask_dead_groups: bool = False
    """Whether groups in which all advantages are 0 leave the loss, with their KL and entropy
    terms, in the place of a filter on equal rewards."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What methods read beside rewards and clusters: {proxy: {function: module:name}, second:
    {column: name}}; answers are the task's final answers unless they are given here, and
    {proxy: mean_logprob} is the sample's mean log-probability."""
    trainer: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of TRL's GRPOConfig for all arms, such as {bf16: true, use_vllm: true}."""

    engine: Mapping[str, Any] | None = None
    """Null: TRL trains in this process. {tinker: URL}: a server of the Tinker protocol trains and
    samples; see docs/engines.md."""
    model: str | None = None
    """Name or path of a transformers model to start from; null: make a small one from scratch."""
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "float32"
    """Numbers of the weights of `model`; auto: those of its file."""
    peft: Mapping[str, Any] | None = None
    """Train an adapter of `model` instead of all weights: arguments of PEFT's LoraConfig, such as
    {r: 16, lora_alpha: 32, target_modules: all-linear}."""
    base_hidden_size: int = 128
    """Width of the model made from scratch; a multiple of 64, the size of its heads."""
    base_layers: int = 2
    """Its layers."""
    base_mlp_size: int = 256
    """Width of its feed-forward layers."""
    base_corpus: int = 80_000
    """Samples of the domain's writer that it learns from."""
    base_epochs: int = 1
    """How often it sees each of them."""
    base_batch_size: int = 128
    """Samples an update."""
    base_learning_rate: float = 0.02
    """Largest step size of Muon, which falls linearly to 0, as does AdamW's."""
    base_seed: int = 0
    """Decides the corpus and the first weights of that model."""

    adam_moments: bool = False
    """Whether to log how noisy the gradient is, by the moments of Adam: gradient/… in metrics."""
    rollouts_every: int = 10
    """Steps between records of all samples (rollouts/*.jsonl)."""
    checkpoint_every: int = 50
    """Steps between checkpoints, from which an interrupted run resumes."""
    eval_splits: tuple[str, ...] | None = None
    """Splits on which every arm's last model and the base are evaluated; () for none; null: all but
    that of training."""
    eval_problems: int = 100
    """Problems of each split; of a file that has fewer, all."""
    eval_samples: int = 256
    """n, the samples of each problem; metrics at k are measured for k = 1, 2, 4, … up to n."""

    def _check(self) -> None:
        try:
            task = self.make_task()
            known, _, _ = task.splits, task.rewards, task.strategy  # missing functions show here
        except DataError:
            raise
        except ValueError as error:
            raise KeyedError(str(error), "domain" if self.task is None else "task") from error
        if self.task is not None:
            object.__setattr__(self, "task", TaskSpec.of(self.task).values)
        usual = tuple(split for split in known if split != TRAIN)
        for split in self.eval_splits or ():
            require(split in known, "eval_splits", f"be of {', '.join(known)}", split)
        object.__setattr__(
            self, "eval_splits", usual if self.eval_splits is None else self.eval_splits
        )
        try:
            self.truncation()
        except ValueError as error:
            raise KeyedError(str(error), "truncated") from error
        try:
            self.training_rewards(task)
        except (ValueError, TypeError) as error:
            raise KeyedError(f"wrap_reward: {error}", "wrap_reward") from error
        fields.check(self.fields)
        self._check_model()
        self._check_sizes()
        check_engine(self)

    def _check_model(self) -> None:
        """Refuse keys that need a model of transformers, where one is made from scratch."""
        if self.model is not None:
            return
        must = "name a model of transformers where the task is a file"
        require(self.task is None, "model", must, self.model)
        require(self.peft is None, "peft", "go with the key `model`", self.peft)
        require(self.dtype == "float32", "dtype", "be float32 without the key `model`", self.dtype)

    def truncation(self) -> Truncation:
        """What samples count that were cut at the length limit.

        Raises:
            ConfigError: If `trainer` contradicts it.
        """
        chosen = truncation_from_config(self.truncated)
        if not self.trainer.get("mask_truncated_completions"):
            return chosen
        if chosen.policy == "punish":
            raise ConfigError("truncated is punish, and trainer.mask_truncated_completions masks")
        return Truncation("mask")

    def training_rewards(self, task: tasks.Task) -> tuple[Reward, ...]:
        """Return the reward functions of a task for training, its outcome wrapped."""
        if self.wrap_reward is None:
            return task.rewards
        settings = dict(self.wrap_reward)
        reference, outcome = settings.pop("function", None), task.combine.outcome
        make = partial(load_function(reference, ".").function, task.rewards[outcome])
        wrapped: Reward = build(str(reference), make, settings)
        return (*task.rewards[:outcome], wrapped, *task.rewards[outcome + 1 :])

    def _check_sizes(self) -> None:
        n, size = self.samples_per_prompt, self.micro_batch_size
        must = "be at least 2 (credit compares the samples of a prompt)"
        require(n >= 2, "samples_per_prompt", must, n)
        require(n <= MOST_SAMPLES, "samples_per_prompt", f"be at most {MOST_SAMPLES:,}", n)
        samples = self.prompts_per_step * n
        divides = size is None or samples % size == 0
        must = f"divide prompts_per_step × samples_per_prompt = {samples}"
        require(divides, "micro_batch_size", must, size)
        width, every, updates = self.base_hidden_size, self.checkpoint_every, self.num_iterations
        require(width % HEAD_DIM == 0, "base_hidden_size", f"be a multiple of {HEAD_DIM}", width)
        must = f"be a multiple of num_iterations={updates}, so that no batch is cut in two"
        require(every % updates == 0, "checkpoint_every", must, every)

    def _check_arm(self, arm: str) -> None:
        for option in ARM_OPTIONS:
            value = self.arms[arm].get(option, 0.0)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            require(is_number and value >= 0, f"arms.{arm}.{option}", "be at least 0", value)
        judge = self.judge(arm)
        is_judge = judge is None or isinstance(judge, str | Mapping)
        require(is_judge, f"arms.{arm}.judge", "be a name or a mapping", judge)
        self._check_fields(arm)
        self._try_method(arm, 0.0)
        self._try_method(arm, 1.0)
        if "clusters" in self.method(arm).reads and judge is None:
            is_known = self.make_task().strategy.is_known
            must = "come with a judge, or the task with a `strategy`: the method reads clusters"
            require(is_known, f"arms.{arm}", must, dict(self.arms[arm]))
        if self.make_task().combine.normalize:
            self._check_normalized(arm)

    def _check_normalized(self, arm: str) -> None:
        """Refuse a method that reads more of rewards than how they differ in a group."""
        method, key = self.method(arm), f"arms.{arm}"
        if set(method.reads) - {"rewards", "clusters"}:
            return
        places_BN = np.arange(self.samples_per_prompt)[None]
        signs_BN = np.where(places_BN % 2, 1.0, -1.0)
        try:
            low, high = (
                method.advantages(size * signs_BN, clusters=places_BN, rng=0).values_BN
                for size in (0.1, 1.0)
            )
        except ValueError as error:
            raise KeyedError(
                f"arm {arm!r} cannot be trained with normalised rewards, which may be below 0: "
                f"{error}",
                key,
            ) from error
        if high.any() and not low.any():
            raise KeyedError(
                f"arm {arm!r}: {method.name} counts rewards above a threshold as correct, which "
                "normalised rewards do not have: leave out normalize",
                key,
            )

    def _try_method(self, arm: str, progress: float) -> None:
        """Give the method one prompt's samples, so that an error shows before the training."""
        method, num_samples = self.method(arm, progress), self.samples_per_prompt
        check_method(method, num_samples, "samples_per_prompt", known=method.reads)
        zeros = np.zeros((1, num_samples))
        given: dict[str, Any] = {name: zeros for name in method.reads if name != "rewards"}
        if "pairs" in given:
            given["pairs"] = np.zeros((1, num_samples, num_samples))
        method.advantages(zeros, rng=0, **given)

    def _check_fields(self, arm: str) -> None:
        """Refuse a method that reads a field that nothing gives."""
        method = self.method(arm)
        known = {"rewards", "clusters", *fields.available(self.fields, self.make_task())}
        for name in method.reads:
            if name not in known:
                raise ValueError(
                    f"{method.name} reads {name}, which nothing gives: add fields: {{{name}: …}}, "
                    f"with {fields.FORMS}"
                )

    @classmethod
    def _located(cls, values: dict[str, Any], path: Path) -> dict[str, Any]:
        """The task and the fields with the folder in which their paths start."""
        task, own = values.get("task"), values.get("fields")
        if own is not None:
            values = {**values, "fields": fields.located(own, path)}
        return values if task is None else {**values, "task": located(task, path)}

    def make_task(self) -> tasks.Task:
        """What is trained on: the domain, or the file of problems."""
        return tasks.from_config(self.domain, self.task)

    @property
    def form(self) -> tasks.PromptForm:
        """How models see prompts; the trainer's own `chat_template_kwargs` come first."""
        form = self.make_task().form
        options = {**form.options, **(self.trainer.get("chat_template_kwargs") or {})}
        return replace(form, options=options)

    def make_domain(self) -> Domain:
        """The domain that `domain` names."""
        assert self.domain is not None
        return names.make("domain", self.domain, domains.DOMAINS)

    def method(self, arm: str, progress: float = 0.0) -> AnyMethod:
        """The method of an arm, when that share of its steps is done."""
        return methods.from_config(self._method_spec(arm), progress)

    def is_scheduled(self, arm: str) -> bool:
        """Whether the method of an arm changes over its steps."""
        return schedules.has_schedule(schedules.read(self._method_spec(arm)))

    def _method_spec(self, arm: str) -> dict[str, Any]:
        """The keys of an arm that name its method; `last_set_size` as a schedule of `set_size`."""
        others = {*ARM_OPTIONS, LAST_SET_SIZE, JUDGE}
        spec = {key: value for key, value in self.arms[arm].items() if key not in others}
        if LAST_SET_SIZE not in self.arms[arm]:
            return spec
        if isinstance(spec.get("set_size"), Mapping):
            raise ValueError("last_set_size needs a number as set_size, and set_size is a mapping")
        first = methods.from_config(spec).set_size
        return spec | {"set_size": schedules.Linear(first, self.arms[arm][LAST_SET_SIZE])}

    def judge(self, arm: str) -> str | Mapping[str, Any] | None:
        """The judge that sorts an arm's samples into clusters; None: the task's own reader."""
        own: str | Mapping[str, Any] | None = self.arms[arm].get(JUDGE)
        return self.make_task().strategy.judge if own is None else own

    def arm_options(self, arm: str) -> dict[str, float]:
        """The weights of an arm's KL penalty (`beta`) and entropy bonus (`entropy_coef`)."""
        return {key: float(self.arms[arm].get(key, usual)) for key, usual in ARM_OPTIONS.items()}

    @property
    def sample_tokens(self) -> int:
        """The length, in tokens, at which samples are cut; the end token counts."""
        return self.max_new_tokens or self.make_task().max_new_tokens
