"""The samples of an evaluation as arrays: what metrics, comparisons and pages compute with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setrl.groups.options import Ungraded
from setrl.groups.records import Record, problem_of, strategy_names, texts_of
from setrl.support.errors import DataError
from setrl.support.wording import count

VERIFY = "--verify grades each sample by the right answer in the log"


@dataclass(frozen=True)
class Evaluation:
    """The samples of a model on the problems of a split, as arrays.

    Attributes:
        prompts: P prompts. Problems may share a prompt.
        correct_PN: Whether each sample is correct.
        strategies_PN: Integer label of each sample's strategy; −1 where none can be read.
        answers_PN: Integer label of each sample's final answer; −1 where there is none.
        temperature: The temperature of sampling; NaN if the file does not say it.
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
    """

    prompts: tuple[str, ...]
    correct_PN: NDArray[np.bool_]
    strategies_PN: NDArray[np.int64]
    answers_PN: NDArray[np.int64]
    temperature: float
    strategy_names: tuple[str, ...] = ()
    rewards_PN: NDArray[np.float64] | None = None
    proxy_PN: NDArray[np.float64] | None = None
    texts_P: tuple[tuple[str, ...], ...] = ()
    n_P: NDArray[np.int64] | None = None
    ids: tuple[str, ...] = ()
    ungraded_P: NDArray[np.int64] | None = None
    ungraded_are: Ungraded = "left-out"
    answer_names: tuple[str, ...] = ()
    as_wrong_PN: NDArray[np.bool_] | None = None
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.ids:
            object.__setattr__(self, "ids", self.prompts)

    def __len__(self) -> int:
        return len(self.prompts)

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

    def on(self, ids: Sequence[str]) -> Evaluation:
        """Return the same for the problems with these ids, in this order."""
        row_of = {name: row for row, name in enumerate(self.ids)}
        return self.choose([row_of[name] for name in ids])

    def with_texts(self, count: int) -> Evaluation:
        """Return the same with at most `count` texts of each problem."""
        return replace(self, texts_P=tuple(texts[:count] for texts in self.texts_P))


class _Problem(NamedTuple):
    """The record of one problem, as arrays; most logs have far more samples than memory."""

    prompt: str
    name: str
    correct_N: NDArray[np.bool_]
    strategies_N: NDArray[np.int64]
    answers_N: NDArray[np.int64]
    rewards_N: NDArray[np.float64] | None
    proxy_N: NDArray[np.float64] | None
    texts: tuple[str, ...]
    ungraded: int
    ungraded_are: Ungraded
    temperature: float
    step: int | None
    as_wrong: tuple[int, ...]


def evaluation_of(records: Iterable[Record], where: str) -> Evaluation:
    """Return records as arrays; rows of problems with fewer samples are padded.

    Args:
        records: At least one, of the form of an evaluation file; one is in memory at a time.
        where: The source of the samples, for errors.

    Raises:
        DataError: If there is no record, or only some have rewards or a selector's scores.
    """
    strategies, answers = _Labels(), _Labels()
    found = [_problem(record, strategies, answers) for record in records]
    if not found:
        raise DataError(f"{where}: holds no complete line")
    n_P = np.array([len(one.correct_N) for one in found])
    ungraded_P = np.array([one.ungraded for one in found])
    return Evaluation(
        prompts=tuple(one.prompt for one in found),
        correct_PN=_padded([one.correct_N for one in found], False),
        strategies_PN=_padded([one.strategies_N for one in found], -1),
        answers_PN=_padded([one.answers_N for one in found], -1),
        temperature=found[0].temperature,
        strategy_names=tuple(strategies),
        answer_names=tuple(answers),
        rewards_PN=_graded("rewards", [one.rewards_N for one in found], where),
        proxy_PN=_graded("proxy", [one.proxy_N for one in found], where),
        texts_P=tuple(one.texts for one in found),
        n_P=n_P if np.ptp(n_P) else None,
        ids=_ids(found),
        ungraded_P=ungraded_P if ungraded_P.any() else None,
        ungraded_are=next((one.ungraded_are for one in found if one.ungraded), "left-out"),
        as_wrong_PN=_as_wrong(found),
    )


def _as_wrong(found: Sequence[_Problem]) -> NDArray[np.bool_] | None:
    if not any(one.as_wrong for one in found):
        return None
    return _padded([np.isin(np.arange(len(one.correct_N)), one.as_wrong) for one in found], False)


def _ids(found: Sequence[_Problem]) -> tuple[str, ...]:
    """Return what names the problems: in a log of training, ids name a group of one run."""
    prompts = tuple(one.prompt for one in found)
    is_training = all(one.step is not None for one in found)
    if is_training and len(set(prompts)) == len(prompts):
        return prompts
    return tuple(one.name for one in found)


class _Labels(dict[str, int]):
    """Names → integer labels in the order of first appearance."""

    def of(self, names: Iterable[str | None]) -> NDArray[np.int64]:
        """Return the labels of names; −1 for None."""
        return np.array([-1 if one is None else self.setdefault(one, len(self)) for one in names],
                        dtype=np.int64)  # fmt: skip


def _problem(record: Record, strategies: _Labels, answers: _Labels) -> _Problem:
    rewards_N, proxy_N = (
        np.array(record[key], dtype=np.float64) if key in record else None  # null becomes NaN
        for key in ("rewards", "proxy")
    )
    heat = record.get("temperature")
    return _Problem(
        record["prompt"],
        problem_of(record),
        np.array(record["correct"], dtype=bool),
        strategies.of(strategy_names(record)),
        answers.of(record["answers"]),
        rewards_N,
        proxy_N,
        texts_of(record),
        record.get("ungraded", 0),
        record.get("ungraded_are", "left-out"),
        float("nan") if heat is None else float(heat),
        record.get("step"),
        tuple(record.get("as_wrong", ())),
    )


def _padded(rows: Sequence[NDArray[Any]], padding: float) -> NDArray[Any]:
    """Rows of numbers as one array; those that are shorter end with the padding."""
    found = np.full((len(rows), max(map(len, rows))), padding, dtype=rows[0].dtype)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found


def _graded(
    key: str, rows: Sequence[NDArray[np.float64] | None], where: str
) -> NDArray[np.float64] | None:
    """Numbers that some files have for each sample."""
    known = [row for row in rows if row is not None]
    if known and len(known) < len(rows):
        raise DataError(f"{where}: {len(known)} of {len(rows)} problems have {key!r}: "
                        "all or none must")  # fmt: skip
    return _padded(known, np.nan) if known else None


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
