"""A file of problems, looked at before an hour is spent on it: what the model will read, what
cannot be graded, what is too long or there twice, and what one group of samples is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setrl.rewards.answers import MathAnswer
from setrl.samples.conversation import Conversation
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import are, count
from setrl.tasks import FileTask, Problem
from setrl.tasks.base import TRAIN
from setrl.tasks.duplicates import LikePair, contradicting, repeated, shared
from setrl.tasks.splits import place_of
from setrl.tasks.visible import escaped, from_here, special_ids, visible
from setrl.train.lm.resolved import ResolvedConfig

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from setrl.train.lm.preflight.group_check import GroupCheck

SHOWN = 3  # examples in a sentence
PARSED = 2_000  # golds of a split that are parsed as mathematics; of the others the text is read
MANY_UNFIT = 0.1  # share of golds that cannot be used above which it is a problem


@dataclass(frozen=True)
class Shown:
    """A prompt as the model reads it: its place, its length, and its text with visible tokens."""

    where: str
    length: int
    text: str


@dataclass(frozen=True)
class Unfit:
    """A gold that cannot be used for grading, and why."""

    where: str
    gold: str | None
    why: str


@dataclass(frozen=True)
class SplitCheck:
    """What was found in a split.

    Attributes:
        split: Its name.
        problems: How many it has.
        unfit: Those whose gold cannot be used for grading.
        repeated: How many ask what another of the split asks.
        in_train: How many are also in the split of training; None for that itself.
        median: The median length of a prompt.
        most_95: The length that 95 % of the prompts do not exceed.
        longest: The longest.
        too_long: How many do not fit into the context.
    """

    split: str
    problems: int
    unfit: list[Unfit]
    repeated: int
    in_train: int | None
    median: float
    most_95: int
    longest: int
    too_long: int


@dataclass(frozen=True)
class TaskCheck:
    """All that was found.

    Attributes:
        task: The name of the task.
        model: The name or folder of the model; None without one.
        unit: What lengths count: tokens, or characters without a model.
        context: The largest number of tokens that the model reads; None if it is not known.
        max_new_tokens: The length at which a sample is cut.
        splits: What was found in each split.
        prompts: Some prompts of training as the model reads them.
        group: One group of samples; None if none was drawn.
        problems: What must be put right, in sentences.
        warnings: What people should look at, in sentences.
    """

    task: str
    model: str | None
    unit: str
    context: int | None
    max_new_tokens: int
    splits: list[SplitCheck]
    prompts: list[Shown]
    group: GroupCheck | None
    problems: list[str]
    warnings: list[str]


def check_task(
    task: FileTask, resolved: ResolvedConfig | None, *, prompts: int = 10, sample: bool = True
) -> TaskCheck:
    """Look at all problems of a task, and draw one group of samples from the model.

    Args:
        task: The task.
        resolved: The comparison that it belongs to; None for a task without a model.
        prompts: How many prompts are shown.
        sample: Whether to draw a group.

    Raises:
        ConfigError: If the model, the task or an option of theirs is wrong.
        DataError: If a field is missing, or no problem of a split can be used.
    """
    return _TaskChecking(task, resolved).done(prompts, sample)


class _TaskChecking:
    """What all parts of the check share, and the sentences that they add."""

    def __init__(self, task: FileTask, resolved: ResolvedConfig | None):
        self.task, self.resolved = task, resolved
        self.model = None if resolved is None else resolved.config.model
        self.problems: list[str] = []
        self.warnings = [] if resolved is None else resolved.ignored_rewards
        self.tokenizer: PreTrainedTokenizerBase | None = None
        self.context: int | None = None
        self.form = task.form if resolved is None else resolved.form
        if self.model is not None:
            self._read_model(self.model)

    def _read_model(self, model: str) -> None:
        from setrl.evaluate.sampling import load_tokenizer
        from setrl.train.lm.preflight.checks import check_model, context_of

        check_model(model)
        self.tokenizer, self.context = load_tokenizer(model), context_of(model)
        if not self.form.is_chat(self.tokenizer):
            self.warnings.append(
                "the model reads plain text and no messages, because "
                + ("chat is false" if self.tokenizer.chat_template else "it has no chat template")
            )

    @property
    def max_new_tokens(self) -> int:
        return self.task.max_new_tokens if self.resolved is None else self.resolved.sample_tokens

    def done(self, prompts: int, sample: bool) -> TaskCheck:
        splits = [self._split(split) for split in self.task.splits]
        shown = self._shown(prompts)
        group = self._group() if sample else None
        return TaskCheck(
            task=self.task.name,
            model=self.model,
            unit="characters" if self.tokenizer is None else "tokens",
            context=self.context,
            max_new_tokens=self.max_new_tokens,
            splits=splits,
            prompts=shown,
            group=group,
            problems=self.problems,
            warnings=self.warnings,
        )

    def _split(self, split: str) -> SplitCheck:
        found = self._graded(self.task.all_problems(split), split)
        usable = [one for one in found if one.unfit is None]
        if split == TRAIN:
            self.task.check_columns(found)
        elif self.resolved is None or split in self.resolved.eval_splits:
            self.task.check_evaluated()
        twice = repeated(found)
        self._look_at_repeated(split, twice)
        lengths = self._lengths(split, usable)
        in_train = None if split == TRAIN else self._in_train(split, usable)
        too_long = 0 if self.context is None else int((lengths > self._room).sum())
        return SplitCheck(
            split=split,
            problems=len(found),
            unfit=[
                Unfit(from_here(one.where), one.gold, str(one.unfit)) for one in found if one.unfit
            ],
            repeated=len(twice),
            in_train=in_train,
            median=float(np.median(lengths)),
            most_95=int(np.quantile(lengths, 0.95, method="inverted_cdf")),
            longest=int(lengths.max()),
            too_long=too_long,
        )

    def _graded(self, found: list[Problem], split: str) -> list[Problem]:
        """Return the problems with why their golds cannot be used; some golds are parsed, too."""
        if isinstance(self.task.reward_set.outcome, MathAnswer):
            usable = [place for place, one in enumerate(found) if one.unfit is None]
            chosen = sorted(usable, key=lambda place: place_of(found[place].prompt))[:PARSED]
            why = self.task.reward_set.gold_problems([found[place].gold for place in chosen])
            found = list(found)
            for place, reason in zip(chosen, why, strict=True):
                found[place] = replace(found[place], unfit=reason)
        unfit = [one for one in found if one.unfit is not None]
        if len(unfit) == len(found):
            raise DataError(
                f"no gold of the split {split!r} can be used for grading; the first: "
                f"{from_here(unfit[0].where)}, {str(unfit[0].gold)[:80]!r}: {unfit[0].unfit}"
            )
        if unfit:
            shown = "; ".join(
                f"{from_here(one.where)}, {escaped(str(one.gold), '')[:40]!r}: {one.unfit}"
                for one in unfit[:SHOWN]
            )
            sentence = (
                f"{len(unfit):,} of {len(found):,} golds of {split} cannot be graded, and training "
                f"leaves them out: {shown}{'; …' if len(unfit) > SHOWN else ''}"
            )
            many = len(unfit) > MANY_UNFIT * len(found)
            (self.problems if many else self.warnings).append(sentence)
        return found

    def _look_at_repeated(self, split: str, twice: Sequence[LikePair]) -> None:
        others = contradicting(twice)
        if others:
            self.problems.append(
                f"{len(others):,} of the problems of {split} ask what another asks, and have "
                "another gold: " + _places(others, with_golds=True)
            )
        if len(twice) > len(others):
            same = [pair for pair in twice if pair not in others]
            self.warnings.append(
                f"written twice in {split} ({count(len(same), 'problem')}): {_places(same)}"
            )

    def _in_train(self, split: str, usable: Sequence[Problem]) -> int | None:
        if TRAIN not in self.task.splits:
            return None
        pairs = shared(usable, self.task.usable(TRAIN))
        if pairs:
            self.problems.append(
                f"{len(pairs):,} of {count(len(usable), 'problem')} of {split} {are(len(pairs))} "
                f"also in {TRAIN}, so "
                f"that an evaluation on {split} is not on new problems: {_places(pairs)}"
            )
        return len(pairs)

    @property
    def _room(self) -> int:
        assert self.context is not None
        return self.context - self.max_new_tokens

    def _lengths(self, split: str, usable: Sequence[Problem]) -> np.ndarray:
        """Return the lengths of the prompts as the model reads them, and note special tokens."""
        if self.tokenizer is None:
            return np.array([len(one.prompt) for one in usable])
        special = special_ids(self.tokenizer)
        lengths, marked = [], []
        for one in usable:
            ids, around = (
                self.form.token_ids(text, self.tokenizer)
                for text in (one.prompt, _bare(one.prompt))
            )
            lengths.append(len(ids))
            if sum(map(special.__contains__, ids)) > sum(map(special.__contains__, around)):
                marked.append(one)
        if marked:
            self.warnings.append(
                f"special tokens of the model in the text of {count(len(marked), 'prompt')} of "
                f"{split}, the first: {from_here(marked[0].where)}"
            )
        if self.context is not None and max(lengths) > self._room:
            self._too_long(split, usable, lengths)
        return np.array(lengths)

    def _too_long(self, split: str, usable: Sequence[Problem], lengths: list[int]) -> None:
        long = [one for one, length in zip(usable, lengths, strict=True) if length > self._room]
        first, length = from_here(long[0].where), lengths[usable.index(long[0])]
        self.problems.append(
            f"too long: {count(len(long), 'prompt')} of {split}; with {self.max_new_tokens:,} new "
            f"tokens there is room for {max(self._room, 0):,} of the model's context of "
            f"{self.context:,}, and {first} has {length:,}: leave them out, or set max_new_tokens "
            "lower"
        )

    def _shown(self, number: int) -> list[Shown]:
        """Return the first prompts of training as the model reads them."""
        usable = self.task.usable(TRAIN)
        chosen = sorted(usable, key=lambda one: place_of(one.prompt))[:number]
        found = []
        for one in chosen:
            if self.tokenizer is None:
                found.append(Shown(from_here(one.where), len(one.prompt), escaped(one.prompt)))
                continue
            ids = self.form.token_ids(one.prompt, self.tokenizer)
            found.append(Shown(from_here(one.where), len(ids), visible(ids, self.tokenizer)))
        return found

    def _group(self) -> GroupCheck | None:
        if self.resolved is None or self.model is None:
            raise ConfigError(
                "the config has no model to draw samples from: add the key `model`, or give "
                "--no-sample"
            )
        from setrl.train.lm.preflight.group_check import check_group

        group = check_group(self.resolved)
        self.problems += group.problems
        self.warnings += group.warnings
        return group


def _bare(prompt: str) -> str:
    """Return a prompt with as many turns, and x for the text of each."""
    if not isinstance(prompt, Conversation):
        return "x"
    return Conversation({**message, "content": "x"} for message in prompt.messages)


def _places(pairs: Sequence[LikePair], with_golds: bool = False) -> str:
    """Return where the first pairs are, for a sentence."""

    def shown(problem: Any) -> str:
        gold = f" ({str(problem.gold)[-40:]!r})" if with_golds else ""
        return f"{from_here(problem.where)}{gold}"

    listed = "; ".join(f"{shown(two)} = {shown(one)}" for one, two in pairs[:SHOWN])
    return listed + ("; …" if len(pairs) > SHOWN else "")
