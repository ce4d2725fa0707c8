"""The samples of an evaluation: what metrics, comparisons and pages compute with."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.logs.options import Fate
from setrl.logs.recording import Graded
from setrl.logs.settings import Settings
from setrl.samples.columns import KEYS
from setrl.samples.samples import Samples
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE
from setrl.support.errors import DataError
from setrl.support.wording import count

VERIFY = "--verify grades each sample by the right answer in the log"


@dataclass(frozen=True)
class Evaluation:
    """The samples of a model on the P problems of a split, all with a grade.

    Attributes:
        samples: The samples, with the texts of each problem's first few, where the file has kept
            them; rewards are NaN where the file has none.
        ungraded_P: Samples of each problem that had no grade; None where all had one.
        ungraded_are: Whether samples without a grade are left out or counted as wrong.
        as_wrong_PN: Which samples count as wrong because they have no grade; None if none do.
        options: What the user can give to grade samples of a log: "--ungraded wrong", "--verify".
        settings: What the samples were drawn with, where the file says it.
        repeated: Rows of a log that are equal to an earlier one, in texts or in several samples.
        reading: Lines that say how the fields of a log were read, and what was noticed.
        is_log: Whether another program wrote the file.
        labels: The fields of a log that have no role and may hold strategies.
        tasks: The task of each problem; empty where the file has only one.
    """

    samples: Samples
    ungraded_P: NDArray[np.int64] | None = None
    ungraded_are: Fate = "left-out"
    as_wrong_PN: NDArray[np.bool_] | None = None
    options: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)
    repeated: int = 0
    reading: tuple[str, ...] = ()
    is_log: bool = False
    labels: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.samples.rewards)

    @property
    def ids(self) -> Sequence[str]:
        """What names each problem: its id, or its prompt if it has no id."""
        return self.samples.ids or self.samples.prompts

    @cached_property
    def correct_PN(self) -> NDArray[np.bool_]:
        """Whether each sample is correct."""
        return self.samples.correct == 1

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a column of the samples; all unknown where nobody gave it."""
        values_PN = getattr(self.samples, name)
        return np.full(self.samples.rewards.shape, np.nan) if values_PN is None else values_PN

    def knows(self, name: str) -> bool:
        """Return whether a column has a value of any sample."""
        return not np.isnan(self.column(name)).all()

    def counted(self, name: str) -> NDArray[np.int64]:
        """Return labels as integers for counting; −1 for a sample that counts for none of them."""
        values_PN = self.column(name)
        return np.where(np.isnan(values_PN), DEGENERATE, values_PN).astype(np.int64)

    @property
    def prompts(self) -> Sequence[str]:
        """P prompts. Problems may share one."""
        return self.samples.prompts

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
        return int(self.size_P.min())

    @property
    def most(self) -> int:
        """Samples of the problem with the most."""
        return int(self.size_P.max())

    @cached_property
    def size_P(self) -> NDArray[np.int64]:
        """Samples of each problem."""
        return self.present_PN.sum(axis=1)

    @property
    def drawn_P(self) -> NDArray[np.int64]:
        """Samples of each problem, also those that are left out because they have no grade."""
        if self.ungraded_P is None or self.ungraded_are == "wrong":
            return self.size_P
        return self.size_P + self.ungraded_P

    @cached_property
    def present_PN(self) -> NDArray[np.bool_]:
        """Where there is a sample, and not what pads a row."""
        mask = self.samples.mask
        return np.ones(self.samples.rewards.shape, dtype=bool) if mask is None else mask

    @property
    def texts_kept(self) -> int:
        """How many texts there are of every problem."""
        return min(map(len, self.samples.texts), default=0)

    @cached_property
    def correct_count_P(self) -> NDArray[np.int64]:
        """Correct samples of each problem."""
        return self.correct_PN.sum(axis=1)

    @property
    def has_rewards(self) -> bool:
        """Whether the file has rewards besides grades."""
        return self.knows("rewards")

    @property
    def graded_PN(self) -> NDArray[np.float64]:
        """The graded rewards; without rewards, 1 for a correct sample and 0 for another."""
        return self.samples.rewards if self.has_rewards else self.correct_PN.astype(np.float64)

    def choose(self, rows: Sequence[int]) -> Evaluation:
        """Return the same of some problems, in this order."""
        rows = list(rows)
        counted = {name: value[rows] for name in ("ungraded_P", "as_wrong_PN")
                   if (value := getattr(self, name)) is not None}  # fmt: skip
        tasks = tuple(self.tasks[row] for row in rows) if self.tasks else ()
        return replace(self, samples=self.samples.of_prompts(rows), tasks=tasks, **counted)

    def on(self, ids: Sequence[str]) -> Evaluation:
        """Return the same for the problems with these ids, in this order."""
        if ids == self.ids:
            return self
        row_of = {name: row for row, name in enumerate(self.ids)}
        return self.choose([row_of[name] for name in ids])


def evaluation_of(groups: Iterable[Graded], where: str, columns: Collection[str]) -> Evaluation:
    """Return the samples of groups that figures count.

    Args:
        groups: At least one; one is in memory at a time.
        where: The source of the samples, for errors.
        columns: What samples have, such as reward and proxy.

    Raises:
        DataError: If there is no group.
    """
    heads: list[tuple[Any, ...]] = []

    def counted() -> Iterator[Group]:
        for graded in groups:
            group = graded.group
            # An evaluation of up to 0.7 lacks samples, which no option brings back.
            had_dropped = "ungraded" in group.more
            heads.append(
                (tuple(graded.texts), graded.ungraded, graded.are, graded.as_wrong, had_dropped,
                 group.step, str(group.more.get("task") or ""))
            )  # fmt: skip
            is_whole = graded.samples is group.samples
            yield group if is_whole else replace(group, samples=tuple(graded.samples))

    optional = [name for name in ("rewards", "proxy") if KEYS[name] in columns]
    samples = Samples.of(counted(), ["correct", "strategies", "answers", *optional])
    if not heads:
        raise DataError(f"{where}: holds no complete line")
    texts, ungraded, ares, as_wrong, had_dropped, steps, tasks = zip(*heads, strict=True)
    is_training = None not in steps and len({*samples.prompts}) == len(heads)
    # In a log of training, ids name a group of one run.
    ids = samples.prompts if is_training else samples.ids
    return Evaluation(
        replace(samples, ids=ids, texts=texts),
        np.array(ungraded) if any(ungraded) else None,
        next(compress(ares, ungraded), "left-out"),
        _mark_places(as_wrong, samples.num_samples) if any(map(len, as_wrong)) else None,
        options=() if any(had_dropped) else ("--ungraded wrong",),
        tasks=tasks if len({*tasks}) > 1 else (),
    )


def _mark_places(places: Sequence[Sequence[int]], num_samples: int) -> NDArray[np.bool_]:
    """Return which samples of each group are at these places, (P, N)."""
    return np.stack([np.isin(np.arange(num_samples), of_group) for of_group in places])


def contradiction(evaluation: Evaluation) -> str:
    """Say how many answers the log marks both right and wrong, with an example; empty for 0.

    A sample that only counts as wrong, because it has no grade, contradicts nothing.
    """
    names = evaluation.samples.names.get("answers", ())
    answers_PN = evaluation.counted("answers")
    problem, sample = np.nonzero(answers_PN >= 0)
    key = problem * len(names) + answers_PN[problem, sample]
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
        f"{str(names[label])!r} of {evaluation.ids[row][:60]!r}; votes take it as right, so "
        f"majority@1 is not pass@1{verify}"
    )
