"""The samples of an evaluation as arrays: what metrics, comparisons and pages compute with."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.samples.options import Fate
from setrl.samples.recording import Graded
from setrl.samples.settings import Settings
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE
from setrl.support.errors import DataError
from setrl.support.wording import count

NUMBERS = ("reward", "proxy")
VERIFY = "--verify grades each sample by the right answer in the log"


@dataclass(frozen=True)
class Evaluation:
    """The samples of a model on the problems of a split, as arrays.

    Attributes:
        prompts: P prompts. Problems may share a prompt.
        correct_PN: Whether each sample is correct.
        strategies_PN: Integer label of each sample's strategy; −1 where none can be read.
        answers_PN: Integer label of each sample's final answer; −1 where there is none.
        strategy_names, answer_names: What the labels stand for.
        rewards_PN: Graded rewards, NaN where one is missing; None where the file has none.
        proxy_PN: Scores of a selector, in the same way.
        texts_P: The texts of each problem's first few samples, where the file has kept them.
        n_P: Samples of each problem, where problems differ: they come first in a row, and what
            pads it is neither correct nor has a label. None where every problem has N.
        ids: What names each problem: its id, or its prompt if it has no id. By default the prompts.
        ungraded_P: Samples of each problem that had no grade; None where all had one.
        ungraded_are: Whether samples without a grade are left out or counted as wrong.
        as_wrong_PN: Which samples count as wrong because they have no grade; None if none do.
        options: What the user can give to grade samples of a log: "--ungraded wrong", "--verify".
        settings: What the samples were drawn with, where the file says it.
        golds_P: The right answer of each problem; None where it is not known.
        repeated: Rows of a log that are equal to an earlier one, in texts or in several samples.
    """

    prompts: tuple[str, ...]
    correct_PN: NDArray[np.bool_]
    strategies_PN: NDArray[np.int64]
    answers_PN: NDArray[np.int64]
    strategy_names: tuple[str, ...] = ()
    rewards_PN: NDArray[np.float64] | None = None
    proxy_PN: NDArray[np.float64] | None = None
    texts_P: tuple[tuple[str, ...], ...] = ()
    n_P: NDArray[np.int64] | None = None
    ids: tuple[str, ...] = ()
    ungraded_P: NDArray[np.int64] | None = None
    ungraded_are: Fate = "left-out"
    answer_names: tuple[str, ...] = ()
    as_wrong_PN: NDArray[np.bool_] | None = None
    options: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)
    golds_P: tuple[str | None, ...] = ()
    repeated: int = 0

    def __post_init__(self) -> None:
        if not self.ids:
            object.__setattr__(self, "ids", self.prompts)

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def temperature(self) -> float:
        """The temperature of sampling; NaN if the file does not say it, or has several."""
        values = [*self.settings.get("temperature", ())]
        try:
            return float(values[0]) if len(values) == 1 else math.nan
        except ValueError:
            return math.nan

    @property
    def n(self) -> int:
        """Samples that every problem has: the largest k of a curve over all of them."""
        return int(np.min(self.sizes))

    @property
    def most(self) -> int:
        """Samples of the problem with the most."""
        return int(np.max(self.sizes))

    @property
    def sizes(self) -> int | NDArray[np.int64]:
        """Samples of a problem: one number, or one for each problem where they differ."""
        return self.correct_PN.shape[1] if self.n_P is None else self.n_P

    @property
    def size_P(self) -> NDArray[np.int64]:
        """Samples of each problem."""
        return np.broadcast_to(self.sizes, len(self))

    @property
    def drawn_P(self) -> NDArray[np.int64]:
        """Samples of each problem, also those that are left out because they have no grade."""
        if self.ungraded_P is None or self.ungraded_are == "wrong":
            return self.size_P
        return self.size_P + self.ungraded_P

    @cached_property
    def present_PN(self) -> NDArray[np.bool_]:
        """Where there is a sample, and not what pads a row."""
        return np.arange(self.correct_PN.shape[1]) < self.size_P[:, None]

    @property
    def texts_kept(self) -> int:
        """How many texts there are of every problem."""
        return min(map(len, self.texts_P), default=0)

    @cached_property
    def correct_count_P(self) -> NDArray[np.int64]:
        """Correct samples of each problem."""
        return self.correct_PN.sum(axis=1)

    @property
    def graded_PN(self) -> NDArray[np.float64]:
        """The graded rewards; where there are none, 1 for a correct sample and 0 for another."""
        return self.correct_PN.astype(np.float64) if self.rewards_PN is None else self.rewards_PN

    def choose(self, rows: Sequence[int]) -> Evaluation:
        """Return the same of some problems, in this order."""
        chosen: dict[str, Any] = {}
        for name in ("prompts", "ids", *(f.name for f in fields(self) if "_P" in f.name)):
            values = getattr(self, name)
            if isinstance(values, tuple):
                chosen[name] = tuple(values[row] for row in rows) if values else ()
            elif values is not None:
                chosen[name] = values[list(rows)]
        return replace(self, **chosen)

    def on(self, ids: tuple[str, ...]) -> Evaluation:
        """Return the same for the problems with these ids, in this order."""
        if ids == self.ids:
            return self
        row_of = {name: row for row, name in enumerate(self.ids)}
        return self.choose([row_of[name] for name in ids])

    def with_texts(self, count: int) -> Evaluation:
        """Return the same with at most `count` texts of each problem."""
        few = tuple(texts[:count] for texts in self.texts_P)
        return self if few == self.texts_P else replace(self, texts_P=few)


def evaluation_of(groups: Iterable[Graded], where: str, columns: Collection[str]) -> Evaluation:
    """Return groups as arrays; rows of problems with fewer samples are padded.

    Args:
        groups: At least one; one is in memory at a time.
        where: The source of the samples, for errors.
        columns: What samples have, such as reward and proxy.

    Raises:
        DataError: If there is no group.
    """
    names: dict[str, dict[Any, int]] = {
        "strategy": {None: -1, DEGENERATE: -1},
        "answer": {None: -1},
    }
    rows: dict[str, list[NDArray[Any]]] = {name: [] for name in ("correct", *names, *NUMBERS)}
    heads, texts = [], []
    for one in groups:
        heads.append(one._replace(group=replace(one.group, samples=()), samples=()))
        texts.append(tuple(one.texts))
        rows["correct"].append(np.array([bool(s.correct) for s in one.samples], dtype=bool))
        for name, known in names.items():
            rows[name].append(_numbered([getattr(s, name) for s in one.samples], known))
        if "reward" in columns:
            rows["reward"].append(_floats(s.reward for s in one.samples))
        if "proxy" in columns:
            rows["proxy"].append(_floats((s.more or {}).get("proxy") for s in one.samples))
    if not heads:
        raise DataError(f"{where}: holds no complete line")
    n_P = np.array(list(map(len, rows["correct"])))
    ungraded_P = np.array([one.ungraded for one in heads])
    is_as_wrong = any(len(one.as_wrong) for one in heads)
    strategies, answers = (tuple(str(one) for one, at in of.items() if at >= 0)
                           for of in names.values())  # fmt: skip
    return Evaluation(
        prompts=tuple(one.group.prompt for one in heads),
        correct_PN=_padded(rows["correct"], False),
        strategies_PN=_padded(rows["strategy"], -1),
        answers_PN=_padded(rows["answer"], -1),
        strategy_names=strategies,
        answer_names=answers,
        rewards_PN=_padded(rows["reward"], np.nan) if rows["reward"] else None,
        proxy_PN=_padded(rows["proxy"], np.nan) if rows["proxy"] else None,
        texts_P=tuple(texts),
        golds_P=tuple(one.group.gold for one in heads),
        n_P=n_P if np.ptp(n_P) else None,
        ids=_ids([one.group for one in heads]),
        ungraded_P=ungraded_P if ungraded_P.any() else None,
        ungraded_are=next((one.are for one in heads if one.ungraded), "left-out"),
        as_wrong_PN=_padded([np.isin(np.arange(n), one.as_wrong) for n, one in
                             zip(n_P, heads, strict=True)], False) if is_as_wrong else None,
    )  # fmt: skip


def _ids(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return what names the problems: in a log of training, ids name a group of one run."""
    prompts = tuple(one.prompt for one in groups)
    is_training = all(one.step is not None for one in groups)
    if is_training and len(set(prompts)) == len(prompts):
        return prompts
    return tuple(one.id for one in groups)


def _numbered(values: Iterable[Any], known: dict[Any, int]) -> NDArray[np.int64]:
    """Return integer labels of values, in the order of first appearance."""
    none = sum(at < 0 for at in known.values())
    return np.array([known.setdefault(one, len(known) - none) for one in values], dtype=np.int64)


def _floats(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array(list(values), dtype=np.float64)  # None becomes NaN


def _padded(rows: Sequence[NDArray[Any]], padding: float) -> NDArray[Any]:
    """Rows of numbers as one array; those that are shorter end with the padding."""
    found = np.full((len(rows), max(map(len, rows))), padding, dtype=rows[0].dtype)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found


def contradiction(evaluation: Evaluation) -> str:
    """Say how many answers the log marks both right and wrong, with one; empty if there are none.

    A sample that only counts as wrong, because it has no grade, contradicts nothing.
    """
    names = evaluation.answer_names
    problem, sample = np.nonzero(evaluation.answers_PN >= 0)
    key = problem * len(names) + evaluation.answers_PN[problem, sample]
    is_right = evaluation.correct_PN[problem, sample]
    is_wrong = ~is_right
    if evaluation.as_wrong_PN is not None:
        is_wrong &= ~evaluation.as_wrong_PN[problem, sample]
    both = np.intersect1d(key[is_right], key[is_wrong])
    if not len(both):
        return ""
    row, label = divmod(int(both[0]), len(names))
    verify = f"; {VERIFY}" if "--verify" in evaluation.options else ""
    return (
        f"{count(len(both), 'answer')} of a problem marked both right and wrong, the first: "
        f"{names[label]!r} of {evaluation.ids[row][:60]!r}; votes take it as right, so "
        f"majority@1 is not pass@1{verify}"
    )
