"""The config of a comparison: one base model, several arms that differ only in their method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from setrl import domains, names
from setrl.core import methods
from setrl.core.advantages import Method
from setrl.domains import SPLITS, Domain
from setrl.engines.batch import check_method
from setrl.files.strict_yaml import KeyedError
from setrl.models import HEAD_DIM
from setrl.runs.config import RunConfig, require

ARM_OPTIONS = {"beta": 0.0, "entropy_coef": 0.0}  # what an arm may set beside its method
LAST_SET_SIZE = "last_set_size"  # and the K that its sets grow or shrink to over the steps
JUDGE = "judge"  # and the judge that sorts its samples into clusters


@dataclass(frozen=True, kw_only=True)
class ComparisonConfig(RunConfig):
    """A comparison of methods: all arms share everything but their method.

    An arm is {method: name, …arguments of the method}. It may also set `beta` (weight of the KL
    penalty to the base) and `entropy_coef` (weight of an entropy bonus), so that these rivals can
    be arms. With `last_set_size: K`, its sets grow or shrink to K over the steps. With `judge`, a
    name or a mapping such as {judge: lm, endpoint: http://localhost:8000/v1, model: mine}, that
    judge decides which samples use the same strategy, in place of the domain's own reader.
    """

    kind = "comparison"

    domain: str | Mapping[str, Any]
    """Name of the domain, or a mapping of name and options: {name: polynomial, strategy: point}."""
    steps: int = 200
    """Steps of training; each draws samples, scores them and updates the model."""
    prompts_per_step: int = 16
    """B, the prompts of a step."""
    samples_per_prompt: int = 16
    """N, the samples of a prompt."""
    train_problems: int | None = None
    """Different problems to train on, seen again and again; null: new ones at every step."""
    max_new_tokens: int | None = None
    """Length in tokens at which a sample is cut; null: what the domain's samples need."""
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
    trainer: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of TRL's GRPOConfig for all arms, such as {bf16: true, use_vllm: true}."""

    model: str | None = None
    """Name or path of a transformers model to start from; null: make a small one from scratch."""
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

    rollouts_every: int = 10
    """Steps between records of all samples (rollouts/*.jsonl)."""
    checkpoint_every: int = 50
    """Steps between checkpoints, from which an interrupted run resumes."""
    eval_splits: tuple[str, ...] = ("test", "shifted")
    """Splits on which every arm's last model and the base are evaluated; () for none."""
    eval_problems: int = 100
    """Problems of each split."""
    eval_samples: int = 256
    """n, the samples of each problem; metrics at k are measured for k = 1, 2, 4, … up to n."""

    def _check(self) -> None:
        for split in self.eval_splits:
            require(split in SPLITS, "eval_splits", f"be of {', '.join(SPLITS)}", split)
        try:
            self.make_domain()
        except ValueError as error:
            raise KeyedError(str(error), "domain") from error
        self._check_sizes()

    def _check_sizes(self) -> None:
        n, size = self.samples_per_prompt, self.micro_batch_size
        must = "be at least 2 (credit compares the samples of a prompt)"
        require(n >= 2, "samples_per_prompt", must, n)
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
        self._try_method(arm, 0.0)
        self._try_method(arm, 1.0)

    def _try_method(self, arm: str, progress: float) -> None:
        """Give the method one prompt's samples, so that an error shows before the training."""
        method, num_samples = self.method(arm, progress), self.samples_per_prompt
        check_method(method, num_samples, "samples_per_prompt")
        zeros = np.zeros((1, num_samples))
        method.advantages(zeros, clusters=zeros, rng=0)

    def make_domain(self) -> Domain:
        """The domain that `domain` names."""
        return names.make("domain", self.domain, domains.DOMAINS)

    def method(self, arm: str, progress: float = 0.0) -> Method:
        """The method of an arm, when that share of its steps is done.

        With `last_set_size`, K moves from `set_size` to it, linearly and rounded.
        """
        others = {*ARM_OPTIONS, LAST_SET_SIZE, JUDGE}
        spec = {key: value for key, value in self.arms[arm].items() if key not in others}
        method = methods.from_config(spec)
        if not self.is_scheduled(arm):
            return method
        first, last = method.set_size, self.arms[arm][LAST_SET_SIZE]
        return replace(method, set_size=round(first + progress * (last - first)))

    def is_scheduled(self, arm: str) -> bool:
        """Whether the method of an arm changes over its steps."""
        return LAST_SET_SIZE in self.arms[arm]

    def judge(self, arm: str) -> str | Mapping[str, Any] | None:
        """The judge that sorts an arm's samples into clusters; None: the domain's own reader."""
        return self.arms[arm].get(JUDGE)

    def arm_options(self, arm: str) -> dict[str, float]:
        """The weights of an arm's KL penalty (`beta`) and entropy bonus (`entropy_coef`)."""
        return {key: float(self.arms[arm].get(key, usual)) for key, usual in ARM_OPTIONS.items()}

    @property
    def sample_tokens(self) -> int:
        """The length, in tokens, at which samples are cut; the end token counts."""
        return self.max_new_tokens or self.make_domain().max_new_tokens + 1
