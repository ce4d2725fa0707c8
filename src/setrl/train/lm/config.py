"""The config of a comparison: one base model, several arms that differ only in their method, and
which server trains them, if one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le, MultipleOf

from setrl.models.small import HEAD_DIM
from setrl.support.files.sections import (
    Count,
    Natural,
    NotNegative,
    Positive,
    Section,
    blamed_on,
    require,
)
from setrl.support.files.strict_yaml import KeyedError
from setrl.tasks.config import is_of_files, with_folder, written_out
from setrl.train.lm import fields
from setrl.train.runs.config import RunConfig, arms_with_folder

Loss = Literal["importance_sampling", "ppo", "cispo"]

# Keys of a comparison that a server does not know, and the only value that is the same for it.
NO_EFFECT: Mapping[str, Any] = {
    "num_iterations": 1,
    "micro_batch_size": None,
    "loss_type": "dr_grpo",
    "peft": None,
    "trainer": {},
    "dtype": "float32",
    "adam_moments": False,
}

MOST_SAMPLES = 16_384  # of a prompt; each method is tried on so many before the training


@dataclass(frozen=True)
class EngineSpec(Section):
    """A server of the Tinker protocol.

    Attributes:
        tinker: Its URL, such as http://127.0.0.1:8000.
        rank: Rank of the adapter that it trains.
        staleness: By how many steps the weights that write a batch may be older than those that it
            trains; with 1 the next batch is judged while this one is trained.
        loss: Its loss; `ppo` and `cispo` clip as `epsilon` and `epsilon_high` say.
        keep: How many saved weights of one arm and seed stay on the server, at least 1; None:
            all.
        reply_s: Seconds to wait for one answer.
        patience_s: Seconds to try again for when it does not answer.
    """

    tinker: str
    rank: Count = 32
    staleness: Annotated[int, Ge(0)] = 0
    loss: Loss = "importance_sampling"
    keep: Count | None = 2
    reply_s: Positive = 600.0
    patience_s: Positive = 900.0

    def __post_init__(self) -> None:
        super().__post_init__()
        is_url = self.tinker.startswith(("http://", "https://"))
        require(is_url, "engine.tinker", "be a URL such as http://127.0.0.1:8000", self.tinker)


@dataclass(frozen=True, kw_only=True)
class ArmKeys(Section):
    """What an arm may set next to its method.

    Attributes:
        beta: Weight of the KL penalty to the base.
        entropy_coef: Weight of the entropy bonus.
        judge: The judge that names strategies; None: the task's function does.
    """

    beta: NotNegative = 0.0
    entropy_coef: NotNegative = 0.0
    judge: str | Mapping[str, Any] | None = None

    @classmethod
    def split(cls, keys: Mapping[str, Any], at: str = "") -> tuple[Self, dict[str, Any]]:
        """Return these keys of an arm, and the keys of its method."""
        chosen = {key: keys[key] for key in cls.__annotations__ if key in keys}
        return cls.of(chosen, at), {key: value for key, value in keys.items() if key not in chosen}


@dataclass(frozen=True, kw_only=True)
class ComparisonConfig(RunConfig):
    """A comparison of methods: all arms share everything but their method.

    An arm is {method: name, …arguments of the method}. It may also set `beta` (weight of the KL
    penalty to the base) and `entropy_coef` (weight of an entropy bonus), so that these rivals can
    be arms. A schedule can stand for any number of its method: {schedule: linear, first: 8,
    last: 2} as `set_size` moves K from 8 to 2 over the steps. With `judge`, a name or a mapping
    such as {judge: lm, endpoint: http://localhost:8000/v1, model: mine}, that judge decides which
    samples use the same strategy, instead of the task's own reader.
    """

    kind = "comparison"
    command = "setrl train"

    domain: str | Mapping[str, Any] | None = None
    """Name of the domain, or a mapping of name and options: {name: polynomial, strategy: point}."""
    task: str | Mapping[str, Any] | None = None
    """Instead of `domain`, a file of problems: {data: problems.jsonl, reward: math}; or
    module:function, which returns a domain of yours; see docs/your-own-task.md."""
    steps: Count = 200
    """Steps of training; each draws samples, scores them and updates the model."""
    prompts_per_step: Count = 16
    """B, the prompts of a step."""
    samples_per_prompt: Annotated[int, Le(MOST_SAMPLES)] = 16
    """N, the samples of a prompt."""
    train_problems: Count | None = None
    """Different problems to train on, seen again and again; null: of a domain new ones at every
    step, of a file all."""
    max_new_tokens: Count | None = None
    """Length in tokens at which a sample is cut; null: what the domain's samples need, or the
    task's own limit."""
    temperature: Positive = 1.0
    """Divides the logits when sampling, in training and in evaluation."""
    learning_rate: Positive = 1e-3
    """Step size of AdamW."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the learning rate changes over the steps; linear and cosine end at 0."""
    epsilon: Positive = 0.2
    """The probability ratio is clipped below at 1 − epsilon."""
    epsilon_high: Positive | None = None
    """The probability ratio is clipped above at 1 + epsilon_high; null: epsilon."""
    loss_type: Literal["grpo", "dr_grpo", "dapo", "bnpo"] = "dr_grpo"
    """How TRL averages the loss over tokens; dr_grpo divides by a constant."""
    num_iterations: Count = 1
    """Updates from each batch of samples (μ in the GRPO paper)."""
    micro_batch_size: Count | None = None
    """Samples in one forward and backward pass on one device; null: all of the step."""
    truncated: str | Mapping[str, Any] = "count"
    """Samples cut at the length limit: count, mask (out of the sets and the loss), or punish: with
    the lower of 0 and the lowest reward of the group, or with a reward, as in {punish: -1.0}."""
    stop_rule: Mapping[str, Any] | None = field(default_factory=dict)
    """When a training run stops because it learns nothing: {max_unknown: 0.5, window: 32} if more
    than half of the last 32 prompts have no credit, because the judge or a reward fails, and
    {max_without_signal: 256} if all advantages of so many prompts in a row are 0; null: never."""
    wrap_reward: Mapping[str, Any] | None = None
    """{function: module:name, …}: in training, not in evaluation, `name(reward, …)` replaces the
    task's outcome, such as {function: studies.faulty:Misgraded, false_positives: 0.1}. The module
    is in the current folder, or installed."""
    mask_dead_groups: bool = False
    """Whether groups in which all advantages are 0 leave the loss, with their KL and entropy
    terms, instead of a filter on equal rewards."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What methods read besides rewards and strategies: {proxy: {function: module:name}, second:
    {column: name}}; answers are the task's final answers unless they are given here, and
    {proxy: mean_logprob} is the sample's mean log-probability, and {pairs: ngrams} how different
    two samples are as texts."""
    trainer: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of TRL's GRPOConfig for all arms, such as {bf16: true, use_vllm: true}."""

    engine: Mapping[str, Any] | None = None
    """Null: TRL trains in this process. {tinker: URL}: a server of the Tinker protocol trains and
    samples; see docs/engines.md."""
    model: str | None = None
    """Name or path of a transformers model to start from; null: make a small one from scratch,
    which imitates the domain's author, or the gold answers of a generator."""
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "float32"
    """Type of the numbers of the weights of `model`; auto: the type in its file."""
    peft: Mapping[str, Any] | None = None
    """Train an adapter of `model` instead of all weights: arguments of PEFT's LoraConfig, such as
    {r: 16, lora_alpha: 32, target_modules: all-linear}."""
    base_hidden_size: Annotated[Count, MultipleOf(HEAD_DIM)] = 128
    """Width of the model made from scratch; a multiple of 64, the size of its heads."""
    base_layers: Count = 2
    """Number of layers of the model made from scratch."""
    base_mlp_size: Count = 256
    """Width of the feed-forward layers of that model."""
    base_corpus: Count = 80_000
    """Samples of the domain's writer that the model made from scratch learns from."""
    base_epochs: Count = 1
    """How often that model sees each sample of the corpus."""
    base_batch_size: Count = 128
    """Samples of one update of that model."""
    base_learning_rate: Positive = 0.02
    """Largest step size of Muon. Like the step size of AdamW, it falls linearly to 0."""
    base_seed: Natural = 0
    """Decides the corpus and the first weights of that model."""

    adam_moments: bool = False
    """Whether to log how noisy the gradient is, by the moments of Adam: gradient/… in metrics."""
    rollouts_every: Count = 10
    """Steps between records of all samples (rollouts/*.jsonl); the first and the last step are
    recorded, too."""
    checkpoint_every: Count = 50
    """Steps between checkpoints, from which an interrupted run resumes."""
    eval_splits: tuple[str, ...] | None = None
    """Splits on which every arm's last model and the base are evaluated; () for none; null: all but
    train."""
    eval_problems: Count | Mapping[str, Count] = 100
    """Problems of each split; of a file that has fewer, all. {test: 500, shifted: 50} gives each
    split its own number; a split that is not named has 100."""
    eval_samples: Count = 256
    """n, the samples of each problem; metrics at k are measured for k = 1, 2, 4, … up to n."""
    cold_base: Positive | None = None
    """The temperature at which the base is evaluated once more, such as 0.5: a rival that costs no
    training; trained models are, too, to be compared with it fairly; null: none."""

    def is_recorded(self, step: int) -> bool:
        """Whether the samples of the batch that begins with a step are recorded.

        The first and the last batch are, and each batch with a step that rollouts_every divides.
        """
        last = min(step + self.num_iterations - 1, self.steps)
        is_due = last // self.rollouts_every > (step - 1) // self.rollouts_every
        return is_due or step == 1 or last == self.steps

    def _check(self) -> None:
        """Check each key for itself; `resolve` checks what needs the task or a method."""
        with blamed_on("task"):
            object.__setattr__(self, "task", written_out(self.task))
        fields.check(self.fields)
        self._check_model()
        self._check_sizes()
        self._check_engine()

    def _check_engine(self) -> None:
        """Refuse keys that a server would not follow."""
        if self.engine is None:
            return
        EngineSpec.of(self.engine, "engine")
        require(self.model is not None, "model", "name the model of the server", self.model)
        for key, default in NO_EFFECT.items():
            value = getattr(self, key)
            require(value == default, key, f"be {default!r} with the key `engine`", value)
        for name, source in self.fields.items():
            requirement = "be a function or a column with the key `engine`"
            require(source != fields.MEAN_LOGPROB, f"fields.{name}", requirement, source)

    def _check_model(self) -> None:
        """Refuse keys that need a model of transformers, where one is made from scratch."""
        if self.model is not None:
            return
        if is_of_files(self.task):
            raise KeyedError(
                "model must be given for this task: the folder of a model of "
                "transformers, or its name on the Hugging Face hub, such as Qwen/Qwen3-0.6B",
                "model",
            )
        require(self.peft is None, "peft", "go with the key `model`", self.peft)
        require(self.dtype == "float32", "dtype", "be float32 without the key `model`", self.dtype)

    def _check_sizes(self) -> None:
        n, size = self.samples_per_prompt, self.micro_batch_size
        requirement = "be at least 2 (credit compares the samples of a prompt)"
        require(n >= 2, "samples_per_prompt", requirement, n)
        samples = self.prompts_per_step * n
        divides = size is None or samples % size == 0
        requirement = f"divide prompts_per_step × samples_per_prompt = {samples}"
        require(divides, "micro_batch_size", requirement, size)
        every, updates = self.checkpoint_every, self.num_iterations
        requirement = f"be a multiple of num_iterations={updates}, so that no batch is cut in two"
        require(every % updates == 0, "checkpoint_every", requirement, every)

    def _check_arm(self, arm: str) -> None:
        keys, _ = ArmKeys.split(self.arms[arm], f"arms.{arm}")
        for key in ("beta", "entropy_coef"):
            value = getattr(keys, key)
            requirement = "be 0 with the key `engine`: the protocol has no such term"
            require(self.engine is None or value == 0, f"arms.{arm}.{key}", requirement, value)

    @classmethod
    def _with_folder(cls, values: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the values with the folder in which the paths of task and fields start."""
        task, field_specs, folder = values.get("task"), values.get("fields"), path.resolve().parent
        values = {**values, "arms": arms_with_folder(values.get("arms"), str(folder))}
        if field_specs is not None:
            values = {**values, "fields": fields.with_folder(field_specs, path)}
        return values if task is None else {**values, "task": with_folder(task, path)}
