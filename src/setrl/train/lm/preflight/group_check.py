"""One group of samples, drawn from the model before it is trained: scored, judged and credited."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TrainerState

from setrl import Advantages
from setrl.core.samples import DEGENERATE
from setrl.evaluate.sampling import LocalModel
from setrl.grading.conversation import prompt_text
from setrl.grading.stated import stated_answer
from setrl.judges import Group, Judgement
from setrl.rewards.guarded import GuardedReward
from setrl.support.errors import RunError
from setrl.tasks.visible import escaped, from_here
from setrl.train.gathering.functions import (
    checked_labels,
    checked_outcome,
    checked_rewards,
    functions_of,
)
from setrl.train.gathering.judging import make_judge
from setrl.train.gathering.scorer import called
from setrl.train.gathering.timing import timed
from setrl.train.lm.preflight.checks import refuse_unreachable_judge
from setrl.train.lm.prompts import training_prompts
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.resolved_arm import ResolvedArm
from setrl.train.scoring import Columns, ScoredBatch, score
from setrl.train.scoring.batch import Column
from setrl.train.scoring.correct import correct_by_reward
from setrl.train.scoring.fields import PAIRS
from setrl.train.scoring.labels import shown
from setrl.train.trl import MeanLogprob

ONE_WORD = re.compile(r"\W*[\w.,/-]*\W*")  # or one number: it is the answer itself
TASK = ""  # the key of the task's own function among the judges


@dataclass(frozen=True)
class SampleCheck:
    """One sample of the group.

    Attributes:
        text: What the model wrote, without special tokens.
        tokens: Its length.
        cut: Whether it was cut at the limit of tokens.
        rewards: Reward function → its value; None if unknown.
        reward: What methods read: the rewards as the config combines them; None if unknown.
        strategies: Arm → the name of its strategy; None if unknown.
        advantages: Arm → the credit by its method; None if the sample was left out.
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
        where: Where the problem is written.
        samples: The samples.
        seconds: Part → its seconds; for a reward function, a judge or a field the time of one call.
        problems: What failed, in sentences.
        warnings: What people should look at, in sentences.
    """

    prompt: str
    where: str
    samples: list[SampleCheck]
    seconds: dict[str, float]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_group(resolved: ResolvedConfig) -> GroupCheck:
    """Draw the samples of the first prompt of training, and do with them what training does."""
    return _Checking(resolved).done()


class _Checking:
    """The steps in their order; what fails is written down, and the others go on."""

    def __init__(self, resolved: ResolvedConfig):
        self.resolved, self.config, self.task = resolved, resolved.config, resolved.task
        self.n = self.config.samples_per_prompt
        self.seconds: dict[str, float] = {}
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def done(self) -> GroupCheck:
        problems = self.resolved.training_problems(self.config.seeds[0])
        self.prompt, where = problems[0].prompt, from_here(problems[0].where)
        self._draw()
        rows = training_prompts(self.task, problems, is_chat=self.is_chat)
        self.inputs = self._inputs(rows[0], self.texts, self.ids)
        rewards = self._rewards()
        batches = self._batches(list(rewards.values()))
        self._look(list(batches.values()))
        self._probe(next((row for row in rows if row["prompt"] != rows[0]["prompt"]), rows[0]))
        samples = [self._sample(i, rewards, batches) for i in range(self.n)]
        return GroupCheck(self.prompt, where, samples, self.seconds, self.problems, self.warnings)

    def _sample(
        self, i: int, rewards: Mapping[str, Column], batches: Mapping[str, ScoredBatch]
    ) -> SampleCheck:
        kinds = {arm: one.labels_BN[0][i] for arm, one in batches.items() if one.labels_BN}
        return SampleCheck(
            text=self.texts[i],
            tokens=self.tokens[i],
            cut=self.cut[i],
            rewards={
                name: None if isinstance(column, Exception) else _known(column[i])
                for name, column in rewards.items()
            },
            reward=next((_known(one.rewards_BN[0, i]) for one in batches.values()), None),
            strategies={arm: shown(label) for arm, label in kinds.items()},
            advantages={arm: _advantage(one.advantages, i) for arm, one in batches.items()},
        )

    def _draw(self) -> None:
        config, most, form = self.config, self.resolved.sample_tokens, self.resolved.form
        assert config.model is not None
        model = LocalModel(config.model, config.temperature, most, form, config.dtype)
        self.is_chat = model.is_chat
        with timed(self.seconds, "sampling"):
            self.ids, tokenizer = model.ids(self.prompt, self.n, config.seeds[0])
        self.texts = list(tokenizer.batch_decode(self.ids, skip_special_tokens=True))
        self.tokens = [len(ids) for ids in self.ids]
        ends = _ends(tokenizer)
        self.cut = [len(ids) == most and ids[-1] not in ends for ids in self.ids]

    def _inputs(
        self, row: Mapping[str, Any], texts: list[str], ids: list[list[int]]
    ) -> dict[str, Any]:
        """Make what training passes to functions: a list for each column, and TRL's arguments."""
        columns = {key: [value] * self.n for key, value in row.items() if key != "prompt"}
        messages = [[{"role": "assistant", "content": text}] for text in texts]
        return columns | {
            "prompts": [row["prompt"]] * self.n,
            "completions": messages if self.is_chat else texts,
            "completion_ids": ids,
            "trainer_state": TrainerState(),
            "log_extra": lambda *_: None,
            "log_metric": lambda *_: None,
        }

    def _rewards(self) -> dict[str, Column]:
        found: dict[str, Column] = {}
        for function in self.task.rewards:
            name = function.__name__
            found[name] = self._column(name, checked_rewards(function))
            if isinstance(function, GuardedReward) and (failed := function.record.failures):
                kinds = ", ".join(f"{kind} {count}×" for kind, count in failed.items())
                self.problems.append(
                    f"{function.where} failed on {failed.total()} of {self.n} samples: {kinds}"
                )
        return found

    def _column(self, part: str, function: Callable[..., Any]) -> Column:
        """Call a function; return its values, or the error that it ended in."""
        try:
            with timed(self.seconds, part):
                found: Column = called(function, self.inputs)
        except RunError as error:
            return error
        return found

    def _batches(self, rewards: list[Column]) -> dict[str, ScoredBatch]:
        """Credit the group with the method of each arm."""
        strategies, correct, found = self._strategies(), self._correct(), {}
        prompts_B, texts_BN = [self._question().prompt], [self.texts]
        rules: dict[str, Any] = {
            "combine": self.task.combine,
            "truncated": self.resolved.truncation,
            "rng": 0,
            "goes_on": True,
        }
        for arm, own in self.resolved.arms.items():
            columns = Columns(
                prompts_B,
                texts_BN,
                rewards,
                self.cut,
                strategies.get(arm),
                self._fields(own),
                correct,
                [function.__name__ for function in self.task.rewards],
            )
            try:
                found[arm] = score(columns, own.method, **rules)
                self._note(*found[arm].problems)
            except ValueError as error:
                self._note(str(error))
        return found

    def _correct(self) -> Column | int:
        """Return what says in training which samples are right: a function, or a reward."""
        function = self.task.correct
        if function is None:
            return self.task.combine.outcome
        return self._column("correct", checked_outcome(function))

    def _probe(self, other: Mapping[str, Any]) -> None:
        """Look for values between 0 and 1 in a function that says which samples are right.

        A good model shows only its 1s. Here an empty sample and the samples of the group answer
        another problem.
        """
        function = self.task.rewards[self.task.combine.outcome]
        if self.task.correct is not None or not isinstance(function, GuardedReward):
            return
        if self.problems:
            return
        inputs = self._inputs(other, ["", *self.texts[1:]], [[], *self.ids[1:]])
        name = function.__name__
        try:
            values = called(checked_rewards(function), inputs)
            values_BNR = np.array(values, dtype=float).reshape(1, -1, 1)
            correct_by_reward(values_BNR, 0, [name], needed_by="", stated=True)
        except RunError as error:
            self._note(str(error))

    def _note(self, *problems: str) -> None:
        """Add problems that no other arm had."""
        self.problems += [one for one in problems if one not in self.problems]

    def _strategies(self) -> dict[str, Any]:
        """Return the strategies for each arm; the function and each judge are asked once."""
        known: dict[str, Any] = {}
        found = {}
        for arm, own in self.resolved.arms.items():
            judge = own.judge
            if judge is None and self.task.strategy.function is None:
                continue
            key = TASK if judge is None else repr(judge)
            if key not in known:
                known[key] = self._judged(judge) if judge is not None else self._named()
            found[arm] = known[key]
        return found

    def _named(self) -> Column:
        return self._column("strategy", checked_labels(self.task.strategy.function))

    def _judged(self, spec: Any) -> list[Judgement] | Exception:
        try:
            refuse_unreachable_judge(spec)
            with tempfile.TemporaryDirectory() as folder:
                judge = make_judge(spec, Path(folder))
                with closing(judge), timed(self.seconds, f"judge {judge.name}"):
                    [found] = judge.judge([self._question()])
        except (RunError, ValueError) as error:
            return error
        if found.clusters_N is None:
            return RunError(f"the judge {judge.name} could not judge the group: {found.reason}")
        return [found]

    def _question(self) -> Group:
        return Group.of_texts(prompt_text(self.inputs["prompts"][0]), tuple(self.texts))

    def _fields(self, arm: ResolvedArm) -> dict[str, Column]:
        """Return the further fields that the method of an arm reads."""
        sources = dict(arm.fields)
        found: dict[str, Column] = {}
        for name in [name for name, one in sources.items() if isinstance(one, MeanLogprob)]:
            del sources[name]
            found[name] = [None] * self.n
            self.warnings.append(
                f"{arm.name} gets no credit here: only training computes mean_logprob, its {name}"
            )
        for name, function in functions_of(sources).items():
            found[name] = self._column(f"fields.{name}", function)
        if PAIRS in found and not isinstance(found[PAIRS], Exception):
            found[PAIRS] = [found[PAIRS]]  # the matrix of each prompt, and there is one
        return found

    def _look(self, batches: list[ScoredBatch]) -> None:
        """Warn of a group that says little about training."""
        if all(self.cut):
            self.warnings.append(
                f"all {self.n} samples were cut at {self.resolved.sample_tokens} tokens: set "
                "max_new_tokens higher, or the model does not end its answers"
            )
        if batches and not self.problems:
            self._look_at_rewards(batches[0].rewards_BN)
        labels = [one.labels_BN[0] for one in batches if one.labels_BN]
        if labels and all(one in (DEGENERATE, None) for found in labels for one in found):
            self.warnings.append(f"no strategy was found in any of the {self.n} samples")
        self._look_at_answers()

    def _look_at_answers(self) -> None:
        """Warn if nothing in the samples says what they answer, and their last lines are more."""
        rewards = getattr(self.task, "reward_set", None)  # a task of a user may not have it
        outcome = None if rewards is None else rewards.outcome
        if not isinstance(outcome, GuardedReward) or hasattr(outcome.function, "read_answer"):
            return
        if getattr(outcome.function, "__module__", "").startswith("setrl."):  # not the user's
            return
        found = [one for text in self.texts if (one := stated_answer(text)) is not None]
        longer = [one.text for one in found if not ONE_WORD.fullmatch(one.text)]
        if longer and all(one.place == "end" for one in found):
            self.warnings.append(
                "majority@k will vote on whole last lines, such as "
                f"{escaped(longer[0], '')[:40]!r}: give the function {outcome.name!r} the "
                "attribute read_answer, a function that returns the answer of a text"
            )

    def _look_at_rewards(self, rewards_BN: np.ndarray) -> None:
        if np.ptp(np.nan_to_num(rewards_BN, nan=-1.0)) == 0:
            value = _known(rewards_BN[0, 0])
            what = "no reward" if value is None else f"the reward {value:g}"
            self.warnings.append(
                f"all {self.n} samples have {what}: from such a group a method that reads only "
                "rewards learns nothing"
            )


def _advantage(advantages: Advantages, i: int) -> float | None:
    """Return the credit of a sample; None if the sample was left out of all sets."""
    return float(advantages.values_BN[0, i]) if advantages.usable_BN[0, i] else None


def _ends(tokenizer: Any) -> set[int]:
    return {tokenizer.eos_token_id, tokenizer.pad_token_id}


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
