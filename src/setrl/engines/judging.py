"""A judge inside a training run: asked while the step is still being sampled, and timed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from setrl import DEGENERATE
from setrl.engines.labels import Label
from setrl.judges import BackgroundJudge, Group, Judge, Judgement
from setrl.judges.config import Config, from_config
from setrl.serving.endpoint import Prices
from setrl.serving.usage import Usage


@dataclass(frozen=True)
class JudgingTimes:
    """What judging cost a step.

    Attributes:
        waited_s: Seconds for which training stood still, on this process.
        worked_s: Seconds for which at least one question of this process was open.
        unknown: Share of the prompts that could not be judged.
        used: What the judge asked of its server since the last step, where it asks one: names of
            metrics and numbers.
    """

    waited_s: float
    worked_s: float
    unknown: float
    used: Mapping[str, float] = field(default_factory=dict)

    @property
    def hidden(self) -> float:
        """The share of the judge's time that passed during other work; NaN if it took none."""
        if self.worked_s <= 0:
            return float("nan")
        return max(0.0, 1 - self.waited_s / self.worked_s)  # waiting takes a little more than work


@dataclass
class _Question:
    """A question to the judge, and when it was asked and answered."""

    answer: Future[Judgement]
    asked_s: float
    answered_s: float | None = None


class JudgeQueue:
    """Asks a judge about groups as soon as they are sampled, and collects the answers later.

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
        """The judgements of groups, asked now if not before; waits for all of them."""
        start_s = time.perf_counter()
        if self._submit is None:
            judgements = self.judge.judge(groups)
            open_s = [(start_s, time.perf_counter())]
        else:
            for group in groups:
                self.ask(group)
            judgements = [self._questions[group].answer.result() for group in groups]
            now_s = time.perf_counter()  # an answer may arrive before its time is recorded
            open_s = [(one.asked_s, one.answered_s or now_s) for one in self._questions.values()]
        waited_s = time.perf_counter() - start_s
        self._questions = {}
        before, self._used = self._used, usage_of(self.judge)
        used = {name: value - before.get(name, 0) for name, value in self._used.items()}
        times = JudgingTimes(waited_s, covered(open_s), unknown_share(judgements), used)
        return judgements, times


def unknown_share(judgements: Sequence[Judgement]) -> float:
    """The share of the prompts that could not be judged; 0 of none."""
    return sum(one.clusters_N is None for one in judgements) / max(len(judgements), 1)


def usage_of(judge: Judge) -> dict[str, float]:
    """Requests, tokens and cost of a judge so far; nothing of one that asks no server itself.

    A cost is known only where prices are given. Tokens of failed requests are not known.
    """
    counts = getattr(judge, "counts", None)
    if not isinstance(counts, Usage):
        return {}
    found = {
        "requests": float(counts.requests),
        "prompt_tokens": float(counts.prompt_tokens),
        "reply_tokens": float(counts.reply_tokens),
    }
    prices = getattr(getattr(judge, "endpoint", None), "prices", None) or Prices()
    return found if prices == Prices() else {**found, "cost": counts.cost(prices)}


def _record_time(question: _Question) -> None:
    question.answered_s = time.perf_counter()


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of spans (from, to).

    >>> covered([(0, 2), (1, 3), (5, 6)])
    4.0
    """
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(stop - max(start, end), 0.0)
        end = max(end, stop)
    return total


def clusters_array(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """The labels of judgements, (B, N); NaN for the samples of a prompt that was not judged."""
    unknown = (np.nan,) * num_samples
    rows = [unknown if one.clusters_N is None else one.clusters_N for one in judgements]
    return np.array(rows, dtype=np.float64).reshape(-1, num_samples)


def labels_of(judgement: Judgement, num_samples: int) -> list[Label]:
    """What a judge called the strategies of a prompt's samples; numbers where it gave no names."""
    if judgement.clusters_N is None:
        return [None] * num_samples
    names = judgement.strategies or [None] * num_samples
    pairs = zip(names, judgement.clusters_N, strict=True)
    return [label if label == DEGENERATE else name or label for name, label in pairs]


def make_judge(spec: Config, folder: Path) -> Judge:
    """The judge of an arm: that of `setrl.judges.config`, with its cache in the run's folder.

    >>> make_judge({"judge": "noisy", "of": "oracle:polynomial", "flips": 0.2}, Path()).name
    'oracle:polynomial with 20% flips'

    Args:
        spec: A text such as "oracle:quadratic", or a mapping of the judge's name and settings.
        folder: The folder of judge.sqlite, which keeps a language model's judgements, if the
            settings name no other cache.

    Raises:
        ValueError: Naming what is unknown, missing or wrong, and what is known.
    """
    if isinstance(spec, Mapping) and spec.get("judge") == "lm":
        spec = {"cache": folder / "judge.sqlite", **spec}
    return from_config(spec)
