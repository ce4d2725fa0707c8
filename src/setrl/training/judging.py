"""A judge inside a training run: asked while samples are still drawn, and timed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from setrl.judges import Group, Judge, Judgement
from setrl.judges.config import Config, from_config


@dataclass(frozen=True)
class JudgingTimes:
    """What judging cost a step, on this process.

    Attributes:
        waited_s: Seconds for which training stood still.
        worked_s: Seconds from the first question to the last answer.
        unknown: Share of the prompts whose clusters nobody knows.
    """

    waited_s: float
    worked_s: float
    unknown: float

    @property
    def hidden(self) -> float:
        """The share of the judge's time that passed behind other work; NaN where it took none."""
        return 1 - self.waited_s / self.worked_s if self.worked_s > 0 else float("nan")


class JudgeDesk:
    """Asks a judge about groups as soon as they are drawn, and collects the answers later.

    Args:
        judge: Any judge; one that has `submit` is asked ahead, others when answers are wanted.
    """

    def __init__(self, judge: Judge):
        self.judge = judge
        self._submit = getattr(judge, "submit", None)
        self._asked: dict[Group, Future[Judgement]] = {}
        self._first_question = float("inf")
        self._last_answer = 0.0

    @property
    def can_ask_ahead(self) -> bool:
        """Whether the judge answers in the background."""
        return self._submit is not None

    def ask(self, group: Group) -> None:
        """Put a question without waiting, where the judge can be asked ahead."""
        if self._submit is None or group in self._asked:
            return
        self._first_question = min(self._first_question, time.perf_counter())
        self._asked[group] = self._submit(group)
        self._asked[group].add_done_callback(self._answered)

    def _answered(self, _: Future[Judgement]) -> None:
        self._last_answer = time.perf_counter()

    def collect(self, groups: Sequence[Group]) -> tuple[list[Judgement], JudgingTimes]:
        """The judgements of groups, asked now if they were not before; waits for all of them."""
        began = time.perf_counter()
        for group in groups:
            self.ask(group)
        if self._submit is None:
            self._first_question = began
            judgements = self.judge.judge(groups)
            self._last_answer = time.perf_counter()
        else:
            judgements = [self._asked[group].result() for group in groups]
        waited = time.perf_counter() - began
        worked = self._last_answer - self._first_question if groups else 0.0
        unknown = [judgement.clusters_N is None for judgement in judgements]
        self._asked, self._first_question = {}, float("inf")
        return judgements, JudgingTimes(waited, worked, sum(unknown) / max(len(unknown), 1))


def clusters_array(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """The labels of judgements, (B, N); NaN for every sample of a prompt that is unknown."""
    unknown = (np.nan,) * num_samples
    rows = [unknown if one.clusters_N is None else one.clusters_N for one in judgements]
    return np.array(rows, dtype=np.float64).reshape(-1, num_samples)


def make_judge(spec: Config, folder: Path) -> Judge:
    """The judge of an arm: that of `setrl.judges.config`, with its cache in the run's folder.

    >>> make_judge({"judge": "noisy", "of": "oracle:polynomial", "flips": 0.2}, Path()).name
    'oracle:polynomial with 20% flips'

    Args:
        spec: A text such as "oracle:quadratic", or a mapping of the judge's name and settings.
        folder: Where a language model's judgements are kept (judge.sqlite), if the settings name
            no other cache.

    Raises:
        ValueError: Naming what is unknown, missing or wrong, and what is known.
    """
    if isinstance(spec, Mapping) and spec.get("judge") == "lm":
        spec = {"cache": folder / "judge.sqlite", **spec}
    return from_config(spec)
