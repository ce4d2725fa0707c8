"""One group of samples, drawn from the model before it is trained: scored, judged and credited."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TrainerState

from setrl import Advantages
from setrl.core import methods
from setrl.evaluate.sampling import LocalModel
from setrl.judges import Judgement
from setrl.rewards.grading import stated_answer
from setrl.rewards.guarded import GuardedReward
from setrl.samples.values import DEGENERATE, shown_label, was_cut
from setrl.support.errors import RunError
from setrl.tasks.visible import escaped, from_here
from setrl.train.gathering.gather import Sources, arguments_of, completion_of, judged
from setrl.train.gathering.judging import JudgeQueue, make_judge
from setrl.train.gathering.timing import timed
from setrl.train.lm.preflight.checks import refuse_unreachable_judge
from setrl.train.lm.prompts import training_prompts
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.resolved_arm import ResolvedArm
from setrl.train.scoring import Columns, ScoredBatch, score
from setrl.train.scoring.batch import Column
from setrl.train.trl import MeanLogprob

ONE_WORD = re.compile(r"\W*[\w.,/-]*\W*")  # or one number: it is the answer itself


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
    return _GroupChecking(resolved).done()


class _GroupChecking:
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
        columns = self._columns(rows[0])
        batches = self._batches(columns)
        self._look(list(batches.values()))
        self._probe(next((row for row in rows if row["prompt"] != rows[0]["prompt"]), rows[0]))
        samples = [self._sample(i, columns, batches) for i in range(self.n)]
        return GroupCheck(self.prompt, where, samples, self.seconds, self.problems, self.warnings)

    def _sample(self, i: int, columns: Columns, batches: Mapping[str, ScoredBatch]) -> SampleCheck:
        found = {arm: one.samples.labels("strategies") for arm, one in batches.items()}
        kinds = {arm: labels_BN[0][i] for arm, labels_BN in found.items() if labels_BN}
        return SampleCheck(
            text=self.texts[i],
            tokens=len(self.ids[i]),
            cut=self.cut[i],
            rewards={
                name: None if isinstance(column, Exception) else _known(column[i])
                for name, column in zip(columns.names_R, columns.rewards_R, strict=True)
            },
            reward=next((_known(one.samples.rewards[0, i]) for one in batches.values()), None),
            strategies={arm: shown_label(label) for arm, label in kinds.items()},
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
        self.cut = [was_cut(ids, model.ends) for ids in self.ids]

    def _arguments(
        self, row: Mapping[str, Any], texts: list[str], ids: list[list[int]]
    ) -> dict[str, Any]:
        """Make what training passes to functions about samples of a row."""
        return arguments_of(
            [row["prompt"]] * self.n,
            [completion_of(text, row["prompt"]) for text in texts],
            ids,
            [row] * self.n,
            trainer_state=TrainerState(),
            log_extra=lambda *_: None,
            log_metric=lambda *_: None,
        )

    def _columns(self, row: Mapping[str, Any]) -> Columns:
        """Ask what training asks about the group; each function is called once."""
        arms = self.resolved.arms.values()
        names_strategies = any(arm.judge is None for arm in arms)
        fields = {name: one for arm in arms for name, one in arm.fields.items()}
        sources = Sources.of(
            self.task.rewards,
            self.task.strategy.function if names_strategies else None,
            self.task.combine.place() if self.task.correct is None else self.task.correct,
            {name: one for name, one in fields.items() if not isinstance(one, MeanLogprob)},
        )
        asked = sources.ask(self._arguments(row, self.texts, self.ids), self.n, goes_on=True)
        columns = asked.columns(cut=self.cut)
        self.seconds |= asked.seconds
        for function in self.task.rewards:
            self._note_failures(function)
        return columns

    def _note_failures(self, function: Any) -> None:
        if isinstance(function, GuardedReward) and (failed := function.record.failures):
            kinds = ", ".join(f"{kind} {count}×" for kind, count in failed.items())
            self.problems.append(
                f"{function.where} failed on {failed.total()} of {self.n} samples: {kinds}"
            )

    def _batches(self, columns: Columns) -> dict[str, ScoredBatch]:
        """Credit the group with the method of each arm."""
        found, judge = {}, functools.cache(lambda spec: self._judged(specs[spec], columns))
        specs = {repr(arm.judge): arm.judge for arm in self.resolved.arms.values()}
        for arm, own in self.resolved.arms.items():
            strategies = columns.strategies if own.judge is None else judge(repr(own.judge))
            fields = self._fields(own, columns)
            try:
                found[arm] = score(
                    replace(columns, strategies=strategies, fields=fields),
                    own.method,
                    combine=self.task.combine,
                    truncated=self.resolved.truncation,
                    rng=0,
                    goes_on=True,
                )
                self._note(*found[arm].problems)
            except ValueError as error:
                self._note(str(error))
        return found

    def _probe(self, other: Mapping[str, Any]) -> None:
        """Look for values between 0 and 1 in a function that says which samples are right.

        A good model shows only its 1s. Here an empty sample and the samples of the group answer
        another problem.
        """
        function = self.task.rewards[self.task.combine.place() or 0]
        if self.task.correct is not None or not isinstance(function, GuardedReward):
            return
        if self.problems:
            return
        arguments = self._arguments(other, ["", *self.texts[1:]], [[], *self.ids[1:]])
        try:
            columns = Sources.of([function], correct=0).ask(arguments, self.n).columns()
            score(columns, methods.dr_grpo())
        except RunError as error:
            self._note(str(error))

    def _note(self, *problems: str) -> None:
        """Add problems that no other arm had."""
        self.problems += [one for one in problems if one not in self.problems]

    def _judged(self, spec: Any, columns: Columns) -> list[Judgement] | Exception:
        """Ask a judge about the group; return the error if it cannot judge it."""
        try:
            refuse_unreachable_judge(spec)
            with tempfile.TemporaryDirectory() as folder:
                judge = make_judge(spec, Path(folder))
                with closing(judge), timed(self.seconds, f"judge {judge.name}"):
                    given: Any = judged(columns, JudgeQueue(judge))[0].strategies
                    [found] = given
        except (RunError, ValueError) as error:
            return error
        if found.labels_N is None:
            return RunError(f"the judge {judge.name} could not judge the group: {found.reason}")
        return [found]

    def _fields(self, arm: ResolvedArm, columns: Columns) -> dict[str, Column]:
        """Return the further fields that the method of an arm reads."""
        for name in [name for name in arm.fields if name not in columns.fields]:
            self.warnings.append(
                f"{arm.name} gets no credit here: only training computes mean_logprob, its {name}"
            )
        return {name: columns.fields.get(name, [None] * self.n) for name in arm.fields}

    def _look(self, batches: list[ScoredBatch]) -> None:
        """Warn of a group that says little about training."""
        if all(self.cut):
            self.warnings.append(
                f"all {self.n} samples were cut at {self.resolved.sample_tokens} tokens: set "
                "max_new_tokens higher, or the model does not end its answers"
            )
        if batches and not self.problems:
            self._look_at_rewards(batches[0].samples.rewards)
        labels = [found[0] for one in batches if (found := one.samples.labels("strategies"))]
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


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
