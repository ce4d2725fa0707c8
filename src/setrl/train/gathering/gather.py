"""Texts → the `Samples` that `score` takes: all engines ask functions and judges here.

An engine makes the arguments of functions, asks the sources about the samples of a step, may do
other work, and takes the answers:

    asked = sources.ask(arguments_of(prompts, completions, ids, rows), num_samples)
    samples = asked.samples(cut=[was_cut(one, ends) for one in ids])
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from setrl.judges import Group
from setrl.rewards.interface import is_async
from setrl.samples.conversation import Text, prompt_text, sample_text
from setrl.samples.samples import Samples
from setrl.train.gathering import functions
from setrl.train.gathering.checks import Correct, Outcome, outcome_of
from setrl.train.gathering.functions import Source
from setrl.train.gathering.judging import JudgeQueue, unknown_share, with_judgements
from setrl.train.scoring import samples_of
from setrl.train.scoring.batch import PAIRS, JudgingTimes, Missing, Values

T = TypeVar("T")
Function = Callable[..., Any]
Arguments = dict[str, Any]

STRATEGY, CORRECT = "strategy", "correct"  # parts of a gathering
OF_A_ROW = ("prompt", "completion", "completion_ids")  # of TRL's rows; functions get the plural
OF_A_PROCESS = ("environments",)  # lists that stay in their process


def arguments_of(
    prompts: Sequence[Text],
    completions: Sequence[Text],
    ids: Sequence[Sequence[int]] | None,
    rows: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> Arguments:
    """Make what functions receive in TRL's interface: lists with one value for each sample.

    >>> arguments_of(["p"], ["1"], [[7]], [{"prompt": "p", "gold": "1"}])["gold"]
    ['1']

    Args:
        prompts: The prompt of each sample.
        completions: The samples.
        ids: Their tokens; None if functions get none.
        rows: The row of the data for each sample, whose columns functions get, too.
        **more: What functions get besides, such as `trainer_state`.
    """
    keys = dict.fromkeys(key for row in rows for key in row if key not in OF_A_ROW)
    arguments: Arguments = {key: [row.get(key) for row in rows] for key in keys}
    arguments |= {"prompts": list(prompts), "completions": list(completions)}
    return arguments | ({} if ids is None else {"completion_ids": [*map(list, ids)]}) | more


@dataclass(frozen=True)
class Processes:
    """The processes among which the samples of a step are divided; by default one has them all.

    Attributes:
        count: How many they are.
        index: The number of this one, from 0.
        exchange: Rows of this process → the rows of all processes, in their order.
    """

    count: int = 1
    index: int = 0
    exchange: Callable[[list[Any]], list[Any]] = list

    def share(self, groups: list[T]) -> list[T]:
        """Return the groups that this process asks about."""
        size = math.ceil(len(groups) / self.count)
        return groups[size * self.index :][:size]


ALONE = Processes()


@dataclass(frozen=True)
class Sources:
    """What says something about samples, as functions that check what they return.

    Attributes:
        rewards: The reward functions; empty where the engine calls them itself.
        strategies: The strategy of each sample; None without one.
        correct: What says which samples are right: a function, or the place of a reward. None: the
            outcome of `combine`, or the only reward.
        fields: The function of each further field.
        names_R: What messages call the rewards.
    """

    rewards: Sequence[Function] = ()
    strategies: Function | None = None
    correct: Outcome | None = None
    fields: Mapping[str, Function] = field(default_factory=dict)
    names_R: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        rewards: Sequence[Function],
        strategies: Function | None = None,
        correct: Correct | Outcome | None = None,
        fields: Mapping[str, Source] | None = None,
    ) -> Self:
        """Return sources that check what functions of a user return.

        Args:
            rewards: The reward functions.
            strategies: The strategy of each sample; None without one.
            correct: What says which samples are right, as `SetCredit` takes it, or the place of a
                reward.
            fields: The source of each further field.

        Raises:
            TypeError: If one of them is not what it must be; the message says what that is.
            ValueError: If the name of a field is not known, or `correct` names two functions.
        """
        names_R = [functions.name_of(function) for function in rewards]
        return cls(
            [functions.checked_rewards(function) for function in rewards],
            None if strategies is None else functions.checked_labels(strategies),
            correct if isinstance(correct, int) else outcome_of(correct, rewards, names_R),
            functions.functions_of(fields or {}),
            names_R,
        )

    @property
    def has_async(self) -> bool:
        """Whether a function works in an event loop."""
        return any(is_async(function) for _, function in self.parts())

    def parts(self) -> list[tuple[str, Function]]:
        """Return all functions, in the order of their calls, with the parts that they give."""
        named = [*zip(self.names_R, self.rewards, strict=False)]
        named += [(STRATEGY, self.strategies)] if self.strategies is not None else []
        named += [(f"fields.{name}", function) for name, function in self.fields.items()]
        return [*named, (CORRECT, self.correct)] if callable(self.correct) else named

    def ask(
        self,
        arguments: Arguments,
        num_samples: int,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        among: Processes = ALONE,
    ) -> Asked:
        """Ask about samples: asynchronous functions start now, the others when samples are taken.

        Args:
            arguments: What functions receive about the samples of this process.
            num_samples: N, the samples of a prompt.
            loop: Where asynchronous functions work; None: each in its own loop, in turn.
            among: The processes that have the other samples.
        """
        return Asked(self, arguments, num_samples, loop, among)


@dataclass
class Asked:
    """What sources were asked about the samples of a step; see `Sources.ask`."""

    sources: Sources
    arguments: Arguments
    num_samples: int
    loop: asyncio.AbstractEventLoop | None
    among: Processes

    def __post_init__(self) -> None:
        self._answers = [(part, self._ask_part(part, f)) for part, f in self.sources.parts()]

    def _ask_part(self, part: str, function: Function) -> Callable[[], list[Any]]:
        of_pairs = part == f"fields.{PAIRS}"
        return self._ask_by_prompt(function) if of_pairs else self._ask_by_row(function)

    def samples(
        self,
        components_R: Sequence[Values] | None = None,
        *,
        cut: Sequence[bool] | None = None,
    ) -> Samples:
        """Wait for all answers, and return the samples of all processes.

        Args:
            components_R: The column of each reward, where the engine has called the functions.
            cut: Which samples of this process were cut at the length limit.
        """
        parts = [(part, answer()) for part, answer in self._answers]
        num_rewards = len(self.sources.rewards)
        named: dict[str, Any] = dict(parts[num_rewards:])
        prompts, texts, tokens, is_cut = zip(*self._exchange_samples(cut), strict=True)
        n = self.num_samples
        return samples_of(
            [answer for _, answer in parts[:num_rewards]] if components_R is None else components_R,
            n,
            strategies=named.get(STRATEGY),
            correct=named.get(CORRECT, self.sources.correct),
            names_R=self.sources.names_R,
            fields={name: named[f"fields.{name}"] for name in self.sources.fields},
            cut=None if cut is None else is_cut,
            tokens=None if None in tokens else tokens,
            prompts=list(prompts[::n]),
            texts=[list(texts[start : start + n]) for start in range(0, len(texts), n)],
        )

    def _exchange_samples(self, cut: Sequence[bool] | None) -> list[tuple[Any, ...]]:
        """Return the prompt, the text, the length and the end of each sample."""
        lists = self.arguments
        size = len(lists["completions"])
        lengths = map(len, lists["completion_ids"]) if "completion_ids" in lists else [None] * size
        texts = map(prompt_text, lists["prompts"]), map(sample_text, lists["completions"])
        is_cut = [None] * size if cut is None else cut
        return self.among.exchange([*zip(*texts, lengths, is_cut, strict=True)])

    def _ask_by_row(self, function: Function) -> Callable[[], list[Any]]:
        answer = self._start_call(function, self.arguments)
        return lambda: self.among.exchange(list(answer()))

    def _start_call(self, function: Function, arguments: Arguments) -> Callable[[], Any]:
        """Return a call that gives the values; an asynchronous function starts now."""
        if not is_async(function):
            return lambda: function(**arguments)
        if self.loop is None:
            return lambda: asyncio.run(function(**arguments))
        return asyncio.run_coroutine_threadsafe(function(**arguments), self.loop).result

    def _ask_by_prompt(self, function: Function) -> Callable[[], list[Any]]:
        """Return a call that gives a matrix for each prompt; it is asked about whole prompts.

        The samples are exchanged first, because a prompt's may lie in two processes.
        """

        def matrices() -> list[Any]:
            groups = self.among.share(self._group_arguments())
            return self.among.exchange([self._start_call(function, group)() for group in groups])

        return matrices

    def _group_arguments(self) -> list[Arguments]:
        """Return the arguments of each prompt, over all processes."""
        lists, n = self.arguments, self.num_samples
        keys = [k for k, v in lists.items() if isinstance(v, list) and k not in OF_A_PROCESS]
        own_rows = [{key: lists[key][i] for key in keys} for i in range(len(lists["completions"]))]
        rows = self.among.exchange(own_rows)
        state = {key: lists[key] for key in ("trainer_state",) if key in lists}
        return [
            {key: [row[key] for row in rows[start : start + n]] for key in keys} | state
            for start in range(0, len(rows), n)
        ]


def judged(
    samples: Samples, queue: JudgeQueue, among: Processes = ALONE
) -> tuple[Samples, list[Missing | None], JudgingTimes]:
    """Add the strategies of a judge; each process asks about its share of the prompts.

    Returns:
        The samples, why the judge gave each prompt no strategies, and what it cost.
    """
    groups = [
        Group.of_texts(prompt, tuple(texts))
        for prompt, texts in zip(samples.prompts, samples.texts, strict=True)
    ]
    judgements, times = queue.collect(among.share(groups))
    if among.count > 1:
        parts = among.exchange([(judgements, times.used)])
        judgements = [judgement for part, _ in parts for judgement in part]
        used = {name: sum(counts[name] for _, counts in parts) for name in times.used}
        times = replace(times, unknown=unknown_share(judgements), used=used)
    return *with_judgements(samples, judgements), times


@contextmanager
def timed(seconds: MutableMapping[str, float], part: str) -> Iterator[None]:
    """Note how long the block takes as the seconds of a part."""
    start = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - start
