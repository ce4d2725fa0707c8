"""Evaluation files: one JSON object a problem, with what was read from each of its samples.

    {"schema_version": 1, "prompt": "y=2x^2+3x+7, x!=4:", "kind": "quadratic", "split": "test",
     "n": 256, "seed": 0, "temperature": 1.0, "correct": [1, 0, …], "strategies": ["x=2", null, …],
     "answers": ["(2, 21)", null, …], "texts": [the first few samples]}

`correct`, `strategies` and `answers` have n entries; problems may differ in n. A strategy or an
answer that cannot be read is null, never a value. `correct` has no null: samples that were not
judged are not in the file. There may be two further lists: graded `rewards`, and `proxy`, the
scores of a selector that cannot see the rewards; there null is missing. `ungraded` is how many
samples of the problem had no grade; they are left out, or, if `ungraded_are` is "wrong", counted as
wrong.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.errors import DataError
from setrl.files import json_lines
from setrl.groups.fields import label
from setrl.groups.options import Ungraded
from setrl.groups.strategies import names_of, strategy_of
from setrl.groups.types import Group, Sample, Strategy

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
TEXTS_KEPT = 8  # samples of a problem whose text is in its record
PER_SAMPLE = ("correct", "strategies", "answers")
GRADED = ("rewards", "proxy")
NUMBERS = {int, float, bool, type(None)}
LABELS = NUMBERS | {str}  # labels may be numbers, too
ONE_VALUE = (
    ("prompt", str, "a text"),
    ("n", int, "a whole number"),
    ("temperature", int | float | None, "a number or null"),
    ("ungraded", int, "a whole number"),
    ("ungraded_are", str, "a text"),
)


@dataclass(frozen=True)
class Evaluation:
    """The samples of a model on the problems of a split, as arrays.

    Attributes:
        prompts: P prompts.
        correct_PN: Whether each sample is correct.
        strategies_PN: Integer label of each sample's strategy; −1 where none can be read.
        answers_PN: Integer label of each sample's final answer; −1 where there is none.
        temperature: At which the samples were drawn; NaN where the file does not say.
        strategy_names: What the labels of strategies stand for.
        rewards_PN: Graded rewards, NaN where one is missing; None where the file has none.
        proxy_PN: Scores of a selector, in the same way.
        texts_P: The texts of each problem's first few samples, where the file has kept them.
        n_P: Samples of each problem, where problems differ: they come first in a row, and what
            pads it is neither correct nor has a label. None where every problem has N.
        ids: What names each problem, where that is not its prompt.
        ungraded_P: Samples of each problem that had no grade; None where all had one.
        ungraded_are: Whether those are left out, or are among the samples, as wrong ones.
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

    @property
    def n(self) -> int:
        """Samples that every problem has: the largest k of a curve over all of them."""
        return self.correct_PN.shape[1] if self.n_P is None else int(self.n_P.min())

    @property
    def most(self) -> int:
        """Samples of the problem with the most."""
        return self.correct_PN.shape[1] if self.n_P is None else int(self.n_P.max())

    @property
    def sizes(self) -> int | NDArray[np.int64]:
        """Samples of a problem: one number, or one for each problem where they differ."""
        return self.correct_PN.shape[1] if self.n_P is None else self.n_P

    @cached_property
    def present_PN(self) -> NDArray[np.bool_]:
        """Where there is a sample, and not what pads a row."""
        column_N = np.arange(self.correct_PN.shape[1])
        return column_N < np.broadcast_to(self.sizes, len(self.prompts))[:, None]

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

    def choose(self, rows: list[int]) -> Evaluation:
        """Return the same of some problems, in this order."""
        return replace(
            self,
            prompts=tuple(self.prompts[row] for row in rows),
            correct_PN=self.correct_PN[rows],
            strategies_PN=self.strategies_PN[rows],
            answers_PN=self.answers_PN[rows],
            rewards_PN=None if self.rewards_PN is None else self.rewards_PN[rows],
            proxy_PN=None if self.proxy_PN is None else self.proxy_PN[rows],
            texts_P=tuple(self.texts_P[row] for row in rows) if self.texts_P else (),
            n_P=None if self.n_P is None else self.n_P[rows],
            ids=tuple(self.ids[row] for row in rows) if self.ids else (),
            ungraded_P=None if self.ungraded_P is None else self.ungraded_P[rows],
        )

    def with_samples(self, least: int) -> Evaluation:
        """Return the problems that have this many samples.

        Raises:
            DataError: If there are none.
        """
        enough_P = np.broadcast_to(self.sizes, len(self.prompts)) >= least
        if not enough_P.any():
            raise DataError(f"no problem has {least} samples: the most that one has is {self.most}")
        return self if enough_P.all() else self.choose(np.flatnonzero(enough_P).tolist())

    def on(self, prompts: Sequence[str]) -> Evaluation:
        """Return the same for some of the prompts, in this order."""
        row_of = {prompt: row for row, prompt in enumerate(self.prompts)}
        return self.choose([row_of[prompt] for prompt in prompts])

    def with_texts(self, count: int) -> Evaluation:
        """Return the same with at most `count` texts of each problem."""
        return replace(self, texts_P=tuple(texts[:count] for texts in self.texts_P))


def read_records(path: Path, torn: json_lines.Torn = "leave_out") -> list[dict[str, Any]]:
    """Return the records of an evaluation file.

    Args:
        path: The file.
        torn: What becomes of a last line that was cut off; see `setrl.files.json_lines.read`.

    Raises:
        DataError: When the file cannot be read, or a whole line is not an evaluation record.
    """
    return [record for _, record in _numbered(path, torn)]


def _numbered(path: Path, torn: json_lines.Torn) -> list[tuple[int, dict[str, Any]]]:
    return [
        (number, _checked(record, f"{path}:{number}"))
        for number, _, record in json_lines.read(path, torn)
    ]


def load_evaluation(path: Path, allow_damaged: bool = False) -> Evaluation:
    """Read an evaluation file into arrays.

    Args:
        path: The file.
        allow_damaged: Leave out a last line that was cut off, and problems that were there before,
            with a warning; otherwise they are errors.

    Raises:
        DataError: When the file is empty, a line is not a record, or the file is damaged.
    """
    records = _undamaged(path, allow_damaged)
    if not records:
        raise DataError(f"{path}: holds no complete line")
    return evaluation_of(records, str(path))


def evaluation_of(records: Sequence[dict[str, Any]], where: str) -> Evaluation:
    """Return records as arrays; rows of problems with fewer samples than the most are padded.

    Args:
        records: At least one, of the form of an evaluation file.
        where: What they are of, for errors.
    """
    n_P = np.array([record["n"] for record in records])
    ungraded_P = np.array([record.get("ungraded", 0) for record in records])
    wrong = any(record.get("ungraded_are") == "wrong" for record in records)
    strategies_PN, strategy_names = _labels([_strategy_names(record) for record in records])
    return Evaluation(
        prompts=tuple(record["prompt"] for record in records),
        correct_PN=_padded([record["correct"] for record in records], 0).astype(bool),
        strategies_PN=strategies_PN,
        answers_PN=_labels([record["answers"] for record in records])[0],
        temperature=_number(records[0].get("temperature")),
        strategy_names=strategy_names,
        rewards_PN=_graded("rewards", records, where),
        proxy_PN=_graded("proxy", records, where),
        texts_P=tuple(_texts(record) for record in records),
        n_P=n_P if len(set(n_P.tolist())) > 1 else None,
        ungraded_P=ungraded_P if ungraded_P.any() else None,
        ungraded_are="wrong" if wrong else "left-out",
    )


def _padded(rows: Sequence[Any], padding: float) -> NDArray[Any]:
    """Rows of numbers as one array; those that are shorter end with the padding."""
    width = max(map(len, rows))
    if all(len(row) == width for row in rows):
        return np.array(rows)
    return np.array([[*row, *[padding] * (width - len(row))] for row in rows])


def _undamaged(path: Path, allow_damaged: bool) -> list[dict[str, Any]]:
    """Return the records of a file without damage, or what is left of a file with damage."""
    try:
        lines = _numbered(path, "refuse")
    except json_lines.TornError as error:
        lines = _numbered(path, "leave_out")
        cut_off = f"line {error.number} was cut off, after {len(lines)} whole lines"
        _report_damage(path, cut_off, allow_damaged)
    line_of: dict[tuple[str, str], int] = {}
    again = [
        f"line {number} has the problem of line {line_of[key]}"
        for number, record in lines
        if line_of.setdefault(key := _problem(record), number) != number
    ]
    if again:
        more = f" and {len(again) - 1} more lines do so" if len(again) > 1 else ""
        _report_damage(path, again[0] + more, allow_damaged)
    first_lines = set(line_of.values())
    return [record for number, record in lines if number in first_lines]


def _problem(record: dict[str, Any]) -> tuple[str, str]:
    """Return what makes two records the same problem: the id, if it has one, and the prompt."""
    return json.dumps(record.get("id")), record["prompt"]


def _report_damage(path: Path, damage: str, allow: bool) -> None:
    if not allow:
        raise DataError(
            f"{path}: {damage}: repair the file, or allow the damage (--allow-damaged) to leave "
            "such lines out"
        )
    log.warning("%s: %s; such lines are left out", path, damage)


def _checked(record: dict[str, Any], where: str) -> dict[str, Any]:
    if record.get("schema_version") != SCHEMA_VERSION:
        raise DataError(f"{where}: must be an object with schema_version {SCHEMA_VERSION}")
    for key in ("prompt", "split", "n", *PER_SAMPLE):
        if key not in record:
            raise DataError(f"{where}: has no {key!r}")
    for key, kind, what in ONE_VALUE:
        if key in record and not isinstance(record[key], kind):
            raise DataError(f"{where}: {key!r} must be {what}, got {json.dumps(record[key])}")
    if record["n"] < 1:
        raise DataError(f"{where}: n must be 1 or more, got {record['n']}")
    for key in (*PER_SAMPLE, *(key for key in GRADED if key in record)):
        _check_values(key, record[key], record["n"], where)
    return record


def _check_values(key: str, values: Any, n: int, where: str) -> None:
    """Return a list of n values, each of a kind that the key may have."""
    if not isinstance(values, list) or len(values) != n:
        found = len(values) if isinstance(values, list) else json.dumps(values)
        raise DataError(f"{where}: {key!r} must have n = {n} entries, got {found}")
    if key == "correct":
        what, wrong = "0 and 1", [value for value in values if value not in (0, 1)]
    else:
        kinds, what = (NUMBERS, "numbers and null") if key in GRADED else (LABELS, "text and null")
        unknown = set(map(type, values)) - kinds
        wrong = [value for value in values if type(value) in unknown] if unknown else []
    if wrong:
        raise DataError(f"{where}: {key!r} must hold {what}, got {json.dumps(wrong[0])}")


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _texts(record: dict[str, Any]) -> tuple[str, ...]:
    return tuple(text for text in record.get("texts") or () if isinstance(text, str))


def _labels(names_PN: list[list[str | None]]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Integer labels of names, equal for equal names in all problems, −1 for None; the names."""
    label_of: dict[str | None, int] = {None: -1}
    for name in dict.fromkeys(chain.from_iterable(names_PN)):
        label_of.setdefault(name, len(label_of) - 1)
    labels_PN = [list(map(label_of.__getitem__, row)) for row in names_PN]
    return _padded(labels_PN, -1).astype(np.int64), tuple(
        name for name in label_of if name is not None
    )


def _graded(key: str, records: Sequence[dict[str, Any]], where: str) -> NDArray[np.float64] | None:
    """Numbers that some files have for each sample; NaN for null."""
    holders = [record for record in records if key in record]
    if holders and len(holders) < len(records):
        raise DataError(f"{where}: {len(holders)} of {len(records)} problems have {key!r}: "
                        "all or none must")  # fmt: skip
    if not holders:
        return None
    rows = [np.array(record[key], dtype=np.float64) for record in records]  # null becomes NaN
    return _padded(rows, np.nan)


def is_record(record: Mapping[str, Any]) -> bool:
    """Return whether an object is a line of an evaluation file, of any version."""
    return {"schema_version", "prompt", "n"} <= record.keys()


def _judged_key(record: Mapping[str, Any]) -> str | None:
    """Return the key of the labels that `setrl judge` has added."""
    judged = record.get("judged")
    return next(iter(judged), None) if isinstance(judged, dict) else None


def _is_unknown(record: Mapping[str, Any], key: str) -> bool:
    by = record["judged"][key]
    return isinstance(by, dict) and by.get("unknown") is not None


def _strategies(record: Mapping[str, Any]) -> list[Strategy]:
    """Return the strategies of a record: a judge's labels, otherwise its own labels."""
    key = _judged_key(record)
    if key is not None and _is_unknown(record, key):
        return [None] * record["n"]
    values = record.get(f"{key}s", record["strategies"]) if key else record["strategies"]
    unknown = set(record.get("unjudged") or ())
    return [None if i in unknown else strategy_of(value) for i, value in enumerate(values)]


def _strategy_names(record: dict[str, Any]) -> list[str | None]:
    return names_of(_strategies(record)) if _judged_key(record) else record["strategies"]


class EvaluationReader:
    """Reads the groups of an evaluation file.

    Args:
        path: The file.
        where: The file and line of a row, by its number.
        needs: What the command cannot do without.
    """

    def __init__(self, path: Path, where: Callable[[int], str], needs: Collection[str]):
        self._path, self._where, self._needs = path, where, needs
        self._seen: set[int] = set()
        self._rows = 0
        self._has_strategies = False
        self._keys: set[str] = set()

    @property
    def list_path(self) -> str | None:
        """None: the row is the object."""
        return None

    @property
    def columns(self) -> frozenset[str]:
        """What samples have."""
        found = {"answer"} | ({"proxy"} & self._keys) | ({"reward"} if "rewards" in self._keys else
                                                         set())  # fmt: skip
        return frozenset(found | ({"strategy"} if self._has_strategies else set()))

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the file does not hold → what the user can do."""
        if self._has_strategies:
            return {}
        return {"strategy": "this evaluation file has no strategies: `setrl judge` adds them"}

    def items(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the record itself: a row is a problem."""
        return [record]

    def name(self, item: dict[str, Any], row: int) -> str:
        """Return what tells problems apart: the id and the prompt."""
        return "".join(_problem(_checked(item, self._where(row))))

    def check(self, item: dict[str, Any]) -> None:
        """Refuse a problem that comes again."""
        self._rows += 1
        self._keys.update(item.keys() & set(GRADED))
        self._seen.add(hash(_problem(item)))
        if len(self._seen) < self._rows:
            again = f"row {self._rows} has the problem of an earlier one"
            raise DataError(f"{self._path}: {again}: repair the file")
        self._has_strategies |= any(one is not None for one in _strategy_names(item))

    def size(self, item: dict[str, Any]) -> int | None:
        """Return how many samples a problem has."""
        return int(item["n"])

    def group(self, items: Sequence[tuple[int, dict[str, Any]]]) -> Group:
        """Return the samples of a problem.

        Raises:
            DataError: If texts are needed, and the file has not kept all of them.
        """
        row, record = items[0]
        texts = _texts(record)
        if "text" in self._needs and len(texts) < record["n"]:
            raise DataError(
                f"{self._where(row)}: holds the texts of {len(texts)} of its {record['n']} samples:"
                " give the log that it was made from"
            )
        strategies = _strategies(record) if self._has_strategies else [None] * record["n"]
        rewards, proxies = record.get("rewards") or record["correct"], record.get("proxy")
        samples = tuple(
            Sample(
                texts[i] if i < len(texts) else "",
                bool(record["correct"][i]),
                None if rewards[i] is None else float(rewards[i]),
                strategies[i],
                label(record["answers"][i]),
                more={"proxy": proxies[i]} if proxies else None,
            )
            for i in range(record["n"])
        )
        name, gold = record.get("id"), record.get("gold")
        name = record["prompt"] if name is None else str(name)
        return Group(name, record["prompt"], samples, gold, record.get("step"), (row,))

    def notes(self) -> list[str]:
        """Return nothing: the file says all that it holds."""
        return []
