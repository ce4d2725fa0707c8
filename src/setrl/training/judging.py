"""A judge inside a training run: asked while samples are still drawn, and timed."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl import names
from setrl.domains import Domain
from setrl.judges import Endpoint, Group, Judge, Judgement, Limits, LMJudge, Skip, Stop, Wait
from setrl.judges.exact import ExactJudge
from setrl.judges.noisy import NoisyJudge
from setrl.judges.oracle import OracleJudge


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


def _oracle(domain: Domain, folder: Path) -> Judge:
    return OracleJudge(domain)


def _exact(domain: Domain, folder: Path) -> Judge:
    return ExactJudge()


def _noisy(domain: Domain, folder: Path, flips: float, seed: int = 0) -> Judge:
    return NoisyJudge(OracleJudge(domain), flips, seed)


def _lm(
    domain: Domain,
    folder: Path,
    endpoint: str,
    model: str,
    style: str = "mathematics",
    on_failure: str = "skip",
    seed: int = 0,
    max_reply_tokens: int = 4096,
    extra_body: Mapping[str, Any] | None = None,
    **limits: Any,
) -> Judge:
    policies = {"skip": Skip, "wait": Wait, "stop": Stop}
    return LMJudge(
        Endpoint(endpoint, model, max_reply_tokens=max_reply_tokens, extra_body=extra_body or {}),
        style=style,
        cache=folder / "judge.sqlite",
        policy=names.look_up("on_failure", on_failure, policies)(),
        limits=Limits(**limits),
        seed=seed,
    )


_MAKERS: dict[str, Callable[..., Judge]] = {
    "oracle": _oracle,
    "exact": _exact,
    "noisy": _noisy,
    "lm": _lm,
}


def make_judge(spec: str | Mapping[str, Any], domain: Domain, folder: Path) -> Judge:
    """The judge of a config: "oracle", or {name: noisy, flips: 0.2}, {name: lm, endpoint: …}.

    Args:
        spec: Its name, or a mapping of its name and arguments.
        domain: What is judged.
        folder: Where a judge keeps what it was told (judge.sqlite).

    Raises:
        ValueError: Naming what is unknown, missing or wrong, and what is known.
    """
    arguments = {"name": spec} if isinstance(spec, str) else dict(spec)
    name = arguments.pop("name", None)
    if name is None:
        raise ValueError(f"a judge's config needs the key 'name', got {dict(arguments)!r}")
    maker = names.look_up("judge", name, _MAKERS)
    known = dict(inspect.signature(maker).parameters)
    if "limits" in known:
        known |= inspect.signature(Limits).parameters
    for key in arguments:
        names.look_up(f"argument of the judge {name}", key, known)
    try:
        return maker(domain, folder, **arguments)
    except TypeError as error:
        raise ValueError(f"judge {name}: {str(error).partition('() ')[2]}") from error
