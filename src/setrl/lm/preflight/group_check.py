"""One group of samples, drawn from the model before it is trained: scored, judged and credited."""

from __future__ import annotations

import asyncio
import inspect
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TrainerState

from setrl.core.samples import DEGENERATE
from setrl.engines.fields import PAIRS, as_array, column, read_matrix
from setrl.engines.functions import checked_field, checked_labels, checked_rewards
from setrl.engines.judging import make_judge
from setrl.engines.labels import Label, numbered, shown
from setrl.engines.texts import prompt_text
from setrl.errors import RunError
from setrl.evaluation.sampling import LocalModel
from setrl.judges import Group
from setrl.lm.arm import field_sources, refuse_unreachable_judge, training_prompts
from setrl.lm.config import ComparisonConfig
from setrl.rewards.guarded import GuardedReward

TASK = ""  # the strategy by the function of the task, beside those by judges


@dataclass(frozen=True)
class SampleCheck:
    """One sample of the group.

    Attributes:
        text: What the model wrote, without special tokens.
        tokens: Its length.
        cut: Whether it was cut at the limit of tokens.
        rewards: Reward function → its value; None if unknown.
        reward: What methods read: all of these as the config combines them.
        strategies: Arm → the name of its strategy; None if unknown.
        advantages: Arm → what its method credits the sample with.
    """

    text: str
    tokens: int
    cut: bool
    rewards: Mapping[str, float | None]
    reward: float | None
    strategies: Mapping[str, str | None]
    advantages: Mapping[str, float | None]


@dataclass(frozen=True)
class GroupCheck:
    """The samples of one prompt, and what it cost to get and to score them.

    Attributes:
        prompt: The prompt, before any chat template.
        samples: The samples.
        seconds: Part → its seconds; of each reward function, judge and field that of one call.
        problems: What failed, in sentences.
        warnings: What people should look at, in sentences.
    """

    prompt: str
    samples: list[SampleCheck]
    seconds: dict[str, float]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_group(config: ComparisonConfig) -> GroupCheck:
    """Draw the samples of the first prompt of training, and do with them what training does."""
    return _Checking(config).done()


class _Checking:
    """The steps in their order; what fails is written down, and the others go on."""

    def __init__(self, config: ComparisonConfig):
        self.config, self.task = config, config.make_task()
        self.n = config.samples_per_prompt
        self.seconds: dict[str, float] = {}
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def done(self) -> GroupCheck:
        row: dict[str, Any] = training_prompts(self.config, self.config.seeds[0])[0]
        self.prompt = str(row["prompt"])
        self._draw()
        self.inputs = self._inputs(row)
        rewards = self._rewards()
        reward_BN = self._combined(rewards)
        labels = self._labels()
        advantages = self._advantages(reward_BN, labels)
        self._look(reward_BN, labels)
        samples = [
            SampleCheck(
                text=self.texts[i],
                tokens=self.tokens[i],
                cut=self.cut[i],
                rewards={name: values[i] for name, values in rewards.items()},
                reward=None if reward_BN is None else _known(reward_BN[0, i]),
                strategies={arm: shown(found[i]) for arm, found in labels.items()},
                advantages={arm: _known(found[0, i]) for arm, found in advantages.items()},
            )
            for i in range(self.n)
        ]
        return GroupCheck(self.prompt, samples, self.seconds, self.problems, self.warnings)

    def _draw(self) -> None:
        config = self.config
        assert config.model is not None
        model = LocalModel(
            config.model, config.temperature, config.sample_tokens, config.form, config.dtype
        )
        self.is_chat = model.is_chat
        with self._timed("sampling"):
            self.ids, tokenizer = model.ids(self.prompt, self.n, config.seeds[0])
        self.texts = list(tokenizer.batch_decode(self.ids, skip_special_tokens=True))
        self.tokens = [len(ids) for ids in self.ids]
        self.cut = [
            len(ids) == config.sample_tokens and ids[-1] not in _ends(tokenizer) for ids in self.ids
        ]

    def _inputs(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What training passes to functions: a list of each column, and TRL's own."""
        columns = {key: [value] * self.n for key, value in row.items() if key != "prompt"}
        messages = [[{"role": "assistant", "content": text}] for text in self.texts]
        return columns | {
            "prompts": [self.config.form.prompt(self.prompt, self.is_chat)] * self.n,
            "completions": messages if self.is_chat else self.texts,
            "completion_ids": self.ids,
            "trainer_state": TrainerState(),
            "log_extra": lambda *_: None,
            "log_metric": lambda *_: None,
        }

    def _rewards(self) -> dict[str, list[float | None]]:
        found: dict[str, list[float | None]] = {}
        for function in self.task.rewards:
            name = function.__name__
            found[name] = [None] * self.n
            with self._noted(), self._timed(name):
                found[name] = _call(checked_rewards(function), self.inputs)
            if isinstance(function, GuardedReward) and (failed := function.record.failures):
                kinds = ", ".join(f"{kind} {count}×" for kind, count in failed.items())
                self.problems.append(
                    f"{function.where} failed on {failed.total()} of {self.n} samples: {kinds}"
                )
        return found

    def _combined(self, rewards: Mapping[str, list[float | None]]) -> np.ndarray | None:
        if self.problems:
            return None
        columns = np.array(list(rewards.values()), dtype=np.float64).T[None]
        cut_BN = np.array([self.cut])
        return self.config.truncation()(self.task.combine(columns), cut_BN)

    def _labels(self) -> dict[str, list[Label]]:
        """Arm → the strategies of the samples, each function and each judge asked once."""
        known: dict[str, list[Label]] = {}
        found = {}
        for arm in self.config.arms:
            judge = self.config.judge(arm)
            if judge is None and self.task.strategy.function is None:
                continue
            key = TASK if judge is None else repr(judge)
            if key not in known:
                known[key] = [None] * self.n
                with self._noted():
                    known[key] = self._named() if judge is None else self._judged(judge)
            found[arm] = known[key]
        return found

    def _named(self) -> list[Label]:
        with self._timed("strategy"):
            found: list[Label] = _call(checked_labels(self.task.strategy.function), self.inputs)
        return found

    def _judged(self, spec: Any) -> list[Label]:
        group = Group(prompt_text(self.inputs["prompts"][0]), tuple(self.texts))
        refuse_unreachable_judge(spec)
        with tempfile.TemporaryDirectory() as folder:
            judge = make_judge(spec, Path(folder))
            with closing(judge), self._timed(f"judge {judge.name}"):
                [judgement] = judge.judge([group])
        if judgement.clusters_N is None:
            raise RunError(f"the judge {judge.name} could not judge the group: {judgement.reason}")
        names = judgement.strategies or [None] * self.n
        pairs = zip(names, judgement.clusters_N, strict=True)
        return [label if label == DEGENERATE else name or label for name, label in pairs]

    def _advantages(
        self, reward_BN: np.ndarray | None, labels: Mapping[str, list[Label]]
    ) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for arm in self.config.arms if reward_BN is not None else ():
            with self._noted():
                clusters_BN = numbered(labels[arm])[None] if arm in labels else None
                found[arm] = np.asarray(
                    self.config.method(arm)
                    .advantages(
                        reward_BN, rng=0, clusters=clusters_BN, abstain=True, **self._fields(arm)
                    )
                    .values_BN
                )
        return found

    def _fields(self, arm: str) -> dict[str, np.ndarray]:
        """The further fields that the method of an arm reads."""
        found = {}
        for name, source in field_sources(self.config, arm, self.task).items():
            if isinstance(source, str):
                rows = [{source: value} for value in self.inputs.get(source, [])]
                found[name] = as_array(name, column(rows, source, name), self.n)
                continue
            with self._timed(f"fields.{name}"):
                values = _call(checked_field(source, name), self.inputs)
            if name == PAIRS:
                found[name] = read_matrix(values, self.n, "the pairs function")[None]
            else:
                found[name] = as_array(name, values, self.n)
        return found

    def _look(self, reward_BN: np.ndarray | None, labels: Mapping[str, list[Label]]) -> None:
        """Warn of a group that says little about the training that is to come."""
        if all(self.cut):
            self.warnings.append(
                f"all {self.n} samples were cut at {self.config.sample_tokens} tokens: set "
                "max_new_tokens higher, or the model does not end its answers"
            )
        if reward_BN is not None and np.ptp(np.nan_to_num(reward_BN, nan=-1.0)) == 0:
            value = _known(reward_BN[0, 0])
            what = "no reward" if value is None else f"the reward {value:g}"
            self.warnings.append(
                f"all {self.n} samples have {what}: from such a group a method that reads rewards "
                "alone learns nothing"
            )
        if labels and all(one in (DEGENERATE, None) for found in labels.values() for one in found):
            self.warnings.append(f"no strategy was found in any of the {self.n} samples")

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[part] = time.perf_counter() - start

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Inside it, what fails is a problem that is written down."""
        try:
            yield
        except (RunError, ValueError) as error:
            self.problems.append(str(error))


def _call(function: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
    found = function(**inputs)
    return asyncio.run(found) if inspect.iscoroutine(found) else found


def _ends(tokenizer: Any) -> set[int]:
    return {tokenizer.eos_token_id, tokenizer.pad_token_id}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
