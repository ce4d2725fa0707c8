"""A judge in training: asked while the step is still being sampled, and timed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from setrl.judges import BackgroundJudge, Group, Judge, Judgement
from setrl.judges.config import Config, from_config
from setrl.models.served.endpoint import Prices, Usage
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE, Label, read_label
from setrl.train.scoring.batch import JudgingTimes, Missing, Values
from setrl.train.scoring.credit import with_columns


@dataclass
class _Question:
    """A question to the judge, and when it was asked and answered."""

    answer: Future[Judgement]
    asked_s: float
    answered_s: float | None = None


class JudgeQueue:
    """A queue of questions: asks a judge about each sampled group, and collects the answers later.

    Args:
        judge: Any judge. A `BackgroundJudge` is asked ahead, others when answers are needed.

    Raises:
        TypeError: If it is not a judge, for instance the name of one.
    """

    def __init__(self, judge: Judge):
        if not isinstance(judge, Judge):
            raise TypeError(
                "judge must be a judge, such as setrl.judges.exact.ExactJudge() or "
                f"setrl.judges.config.from_config('exact'), got {judge!r}"
            )
        self.judge = judge
        self._submit = judge.submit if isinstance(judge, BackgroundJudge) else None
        self._questions: dict[Group, _Question] = {}
        self._used = usage_of(judge)

    @property
    def can_ask_ahead(self) -> bool:
        """Whether the judge answers in the background."""
        return self._submit is not None

    def ask(self, group: Group) -> None:
        """Ask without waiting for the answer, if the judge can be asked ahead."""
        if self._submit is None or group in self._questions:
            return
        asked_s = time.perf_counter()
        question = self._questions[group] = _Question(self._submit(group), asked_s)
        question.answer.add_done_callback(lambda _: _record_time(question))

    def collect(self, groups: Sequence[Group]) -> tuple[list[Judgement], JudgingTimes]:
        """Wait for the judgements of groups; ask now about groups that were not asked about."""
        start_s = time.perf_counter()
        if self._submit is None:
            judgements = self.judge.judge(groups)
            open_s = [(start_s, time.perf_counter())]
        else:
            for group in groups:
                self.ask(group)
            judgements = [self._questions[group].answer.result() for group in groups]
            now_s = time.perf_counter()  # an answer may arrive before its time is recorded
            open_s = [
                (question.asked_s, question.answered_s or now_s)
                for question in self._questions.values()
            ]
        judgements = [judgement.read(len(group), self.judge)
                      for group, judgement in zip(groups, judgements, strict=True)]  # fmt: skip
        waited_s = time.perf_counter() - start_s
        self._questions = {}
        before, self._used = self._used, usage_of(self.judge)
        used = {name: value - before.get(name, 0) for name, value in self._used.items()}
        times = JudgingTimes(waited_s, length_of_union(open_s), unknown_share(judgements), used)
        return judgements, times


def with_judgements(
    samples: Samples, judgements: Sequence[Judgement]
) -> tuple[Samples, list[Missing | None]]:
    """Return samples with the strategies of a judge, and why each prompt has none."""
    n = samples.num_samples
    columns: dict[str, Values] = {"strategies": strategies_of(judgements, n)}
    if samples.families is None and any(judgement.families_N for judgement in judgements):
        columns["families"] = families_of(judgements, n)
    return with_columns(samples, columns), [*map(Missing.by_judge, judgements)]


def strategies_of(judgements: Sequence[Judgement], num_samples: int) -> list[Label]:
    """Return the labels of all samples: names where the judge gives them, else its numbers."""
    return [*chain.from_iterable(_read_labels(judgement, num_samples) for judgement in judgements)]


def families_of(judgements: Sequence[Judgement], num_samples: int) -> list[Label]:
    """Return the families of all samples; None where the judge gives none."""
    unknown = (None,) * num_samples
    return [
        family
        for judgement in judgements
        for family in judgement.read(num_samples).families_N or unknown
    ]


def _read_labels(judgement: Judgement, num_samples: int) -> Sequence[Label]:
    numbers = judgement.read(num_samples).labels_N
    if numbers is None:
        return [None] * num_samples
    names = judgement.names_N or [None] * num_samples
    labels = [number if number == DEGENERATE or not name else read_label(name)
              for number, name in zip(numbers, names, strict=True)]  # fmt: skip
    # What the judge compares are its numbers: a name that two of them share says less.
    pairs = set(zip(numbers, labels, strict=True))
    is_named = len(set(labels)) == len(set(numbers)) == len(pairs)
    return labels if is_named and labels.count(DEGENERATE) == numbers.count(DEGENERATE) else numbers


def unknown_share(judgements: Sequence[Judgement]) -> float:
    """Return the share of the prompts that could not be judged; 0 without prompts."""
    return sum(judgement.labels_N is None for judgement in judgements) / max(len(judgements), 1)


def usage_of(judge: Judge) -> dict[str, float]:
    """Return the requests, tokens and cost of a judge so far; empty if it asks no server itself.

    A cost is known only if prices are given. Tokens of failed requests are not known.
    """
    counts = getattr(judge, "counts", None)
    if not isinstance(counts, Usage):
        return {}
    usage = {
        "requests": float(counts.requests),
        "prompt_tokens": float(counts.prompt_tokens),
        "reply_tokens": float(counts.reply_tokens),
    }
    prices = getattr(getattr(judge, "endpoint", None), "prices", None) or Prices()
    return usage if prices == Prices() else {**usage, "cost": counts.cost(prices)}


def _record_time(question: _Question) -> None:
    question.answered_s = time.perf_counter()


def length_of_union(spans: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of spans (from, to).

    >>> length_of_union([(0, 2), (1, 3), (5, 6)])
    4.0
    """
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(stop - max(start, end), 0.0)
        end = max(end, stop)
    return total


def make_judge(spec: Config, folder: Path) -> Judge:
    """Make the judge of an arm, whose cache is in the folder of the run.

    >>> make_judge("oracle:polynomial", Path()).name
    'oracle:polynomial'

    Args:
        spec: A name such as "oracle:quadratic", or a mapping of the judge's name and settings.
        folder: The folder of judge.sqlite, which keeps a language model's judgements, if the
            settings name no other cache.

    Raises:
        ValueError: Naming what is unknown, missing or wrong, and what is known.
    """
    if isinstance(spec, Mapping) and spec.get("judge") == "lm":
        spec = {"cache": folder / "judge.sqlite", **spec}
    return from_config(spec)
