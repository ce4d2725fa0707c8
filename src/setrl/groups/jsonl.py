"""A log of anybody's, in JSON Lines, a JSON array or Parquet → evaluation records.

A row is a sample, or a problem with lists or counts of its samples (`setrl.groups.recognition` says
which). Problems keep all their samples, however many each has: a curve over k then ends at the
smallest n, or leaves out the problems with fewer samples than it needs, and counts them. Of a text
only the first few of a problem are kept in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import isnan, nan
from pathlib import Path
from typing import Any

from setrl.errors import ConfigError, DataError
from setrl.files import json_lines
from setrl.groups.field_values import group_name, verdict
from setrl.groups.fields import DEGENERATE_NOTE, label, plain, seems_to_mark_degenerate
from setrl.groups.importers.importing import Imported, Verify, math_verifier
from setrl.groups.recognition import (
    SNIFFED,
    Fields,
    Recognised,
    recognise,
    unrolled,
    value_at,
)
from setrl.groups.records import (
    SCHEMA_VERSION,
    TEXTS_KEPT,
    Evaluation,
    Ungraded,
    evaluation_of,
    load_evaluation,
)
from setrl.groups.rows import Row, read_rows

SHARED = ("prompt", "gold")  # one value for a whole problem
MOST_COUNTED = 1_000_000  # samples of a problem given by counts: each takes memory


@dataclass(frozen=True)
class OwnLog:
    """How the log is read.

    Attributes:
        fields: The fields that the user names; the others are recognised.
        correct_above: Samples of a higher score are correct; without it scores must be 0 and 1.
        degenerate: The strategy that stands for none; null and −1 always do.
        verify: Compare each answer, or else each text, with the gold, and ignore `correct`.
        allow_damaged: Leave out a last line that was cut off.
        ungraded: Whether samples without a score are left out, or count as wrong.
    """

    fields: Fields = field(default_factory=Fields)
    correct_above: float | None = None
    degenerate: str | None = None
    verify: bool = False
    allow_damaged: bool = False
    ungraded: Ungraded = "left-out"


@dataclass
class _Problem:
    """What has been read of one problem."""

    prompt: str | None = None
    gold: str | None = None
    scores: list[float] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    strategies: list[str | None] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    ungraded: int = 0


def open_log(path: Path, how: OwnLog) -> tuple[Recognised, Iterator[Row]]:
    """The roles of a file's fields, and its rows from the first one on.

    Raises:
        ConfigError: When a field that is needed cannot be recognised.
        DataError: When the file holds no rows.
    """
    rows = read_rows(path, how.allow_damaged)
    first = list(islice(rows, SNIFFED))
    if not first:
        raise DataError(f"{path}: holds no rows")
    try:
        recognised = recognise([row.record for row in first], how.fields, how.verify)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    return recognised, chain(first, rows)


def read_own_log(
    path: Path, how: OwnLog, recognised: Recognised, rows: Iterator[Row],
    verify: Verify | None = None,
) -> Imported:  # fmt: skip
    """The evaluation records of a file, and what was noticed.

    Args:
        path: The file, for messages.
        how: How it is read.
        recognised: The roles of its fields.
        rows: Its rows, as `open_log` gives them.
        verify: Gold and texts → readings; by default `setrl.rewards.verifier.MathVerifier`.

    Raises:
        ConfigError: When scores are graded and no threshold says which samples are correct.
        DataError: When a row cannot be read, or no sample is left.
    """
    reader = _Reader(path, how, recognised)
    for row in rows:
        reader.add(row)
    return reader.result(verify)


@dataclass(frozen=True)
class Loaded:
    """The samples of a file.

    Attributes:
        evaluation: As arrays.
        reading: How its fields were read, and what was noticed; empty for an evaluation file.
        is_log: Whether it is a log of one's own, and not an evaluation file.
    """

    evaluation: Evaluation
    reading: tuple[str, ...] = ()
    is_log: bool = False


def load_samples(path: Path, how: OwnLog) -> Loaded:
    """The samples of an evaluation file, or of a log of anybody's.

    Raises:
        ConfigError: When a field that is needed cannot be recognised, or options do not fit.
        DataError: When the file cannot be read.
    """
    if is_evaluation_file(path):
        if how.fields.named():
            given = ", ".join(f"--{role.replace('_', '-')}" for role in how.fields.named())
            raise ConfigError(f"{path} is an evaluation file, whose fields are known: {given} is "
                              "of a log of your own")  # fmt: skip
        return Loaded(_counted_as(how.ungraded, load_evaluation(path, how.allow_damaged), path))
    _refuse_packed_records(path)
    recognised, rows = open_log(path, how)
    head = f"{path}: {recognised.shape}\n{recognised.table()}"
    imported = read_own_log(path, how, recognised, rows)
    evaluation = evaluation_of(imported.records, str(path))
    evaluation = replace(evaluation, ids=tuple(one["id"] for one in imported.records))
    return Loaded(evaluation, (head, *(f"note: {note}" for note in imported.notes)), is_log=True)


def _counted_as(ungraded: Ungraded, found: Evaluation, path: Path) -> Evaluation:
    """The samples of an evaluation file, unless those without a grade are wanted and not in it."""
    if ungraded == "wrong" and found.ungraded_P is not None and found.ungraded_are == "left-out":
        raise ConfigError(f"{path}: {found.ungraded_P.sum():,} samples without a grade were left "
                          "out at its import: --ungraded wrong needs the log itself")  # fmt: skip
    return found


def _refuse_packed_records(path: Path) -> None:
    """Refuse an evaluation file that is compressed or an array, with the sentence of its reader."""
    first = next(read_rows(path, allow_damaged=True), None)
    if first is not None and {"schema_version", "prompt", "n"} <= first.record.keys():
        for _ in json_lines.read(path):
            pass


def is_evaluation_file(path: Path) -> bool:
    """Whether the first line of a file is a record of setrl."""
    with suppress(DataError, OSError):
        first = next(json_lines.read(path, "leave_out"), None)
        return first is not None and "schema_version" in first.record
    return False


class _Reader:
    """Collects the samples of each problem, row by row."""

    def __init__(self, path: Path, how: OwnLog, recognised: Recognised):
        self.path, self.how, self.recognised = path, how, recognised
        self.roles = recognised.fields
        self.problems: dict[str, _Problem] = {}
        self.by_verifier = how.verify
        self.by_answer = not (self.roles.correct or self.roles.num_correct or how.verify)
        self.counts_as_wrong = how.ungraded == "wrong"
        self.texts_kept = None if how.verify and self.roles.answer is None else TEXTS_KEPT
        self.seen: set[int] = set()
        self.names: dict[str, str] = {}
        self.kinds: set[str] = set()
        self.counted: Counter[str] = Counter()
        if how.verify and self.roles.gold is None:
            raise ConfigError(f"{path}: --verify needs a right answer: name its field with --gold")

    def add(self, row: Row) -> None:
        """Read the samples of one row."""
        if row.digest in self.seen:
            if self.roles.sample_number is not None:
                self.counted["the same"] += 1
                return
            self.counted["equal"] += 1
        self.seen.add(row.digest)
        try:
            for item in unrolled(row.record, self.roles.rows):
                self._add_item(item)
        except (KeyError, TypeError, ValueError) as error:
            what = f"has no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
            mark = ":" if self.path.suffix in (".jsonl", ".gz") else ", row "
            raise DataError(f"{self.path}{mark}{row.number}: {what}") from None

    def _add_item(self, item: dict[str, Any]) -> None:
        values = [value_at(item, path) for path in self.roles.group]
        self.kinds.update(type(value).__name__ for value in values)
        name = group_name(values)
        problem = self.problems.setdefault(name, _Problem())
        self._share(problem, item, name)
        if self.roles.num_correct and not self.roles.correct and not self.by_answer:
            self._add_counts(problem, item)
        else:
            self._add_samples(problem, item)

    def _share(self, problem: _Problem, item: dict[str, Any], name: str) -> None:
        for role in SHARED:
            path = getattr(self.roles, role)
            value = None if path is None else _optional(item, path)
            if value is None:
                continue
            text = plain(value) if role == "prompt" and not isinstance(value, int | float) else (
                label(value) or "")  # fmt: skip
            known = getattr(problem, role)
            if known is None:
                setattr(problem, role, text)
            elif known != text:
                self._refuse_different(role, name, known, text)

    def _refuse_different(self, role: str, name: str, known: str, text: str) -> None:
        """One problem has one prompt and one right answer."""
        if role == "prompt" and "group" not in self.recognised.why.get("group", ""):
            raise ValueError(
                f"the samples of {name!r} have different prompts ({known[:40]!r}, {text[:40]!r}): "
                f"name the field that the samples of one problem share with --group; "
                f"{' and '.join(self.roles.group)} is not it"
            )
        self.counted[role] += 1

    def _add_counts(self, problem: _Problem, item: dict[str, Any]) -> None:
        right, size = (
            value_at(item, str(path)) for path in (self.roles.num_correct, self.roles.num_samples)
        )
        if not (isinstance(right, int) and isinstance(size, int) and 0 <= right <= size and size):
            raise ValueError(f"{self.roles.num_correct} must be a whole number from 0 to "
                             f"{self.roles.num_samples}, got {right} of {size}")  # fmt: skip
        if size > MOST_COUNTED:
            raise ValueError(
                f"{self.roles.num_samples} must be at most {MOST_COUNTED:,}, got {size:,}"
            )
        if problem.scores:
            raise ValueError("the counts of a problem come twice: name what identifies a problem "
                             "with --group")  # fmt: skip
        problem.scores = [1.0] * right + [0.0] * (size - right)
        problem.answers, problem.strategies = [None] * size, [None] * size

    def _add_samples(self, problem: _Problem, item: dict[str, Any]) -> None:
        named = {
            role: path
            for role in ("correct", "answer", "text", "strategy", "reward")
            if (path := getattr(self.roles, role)) is not None
        }
        found = {
            role: value_at(item, path)
            if role == "correct" and not self.by_verifier
            else _optional(item, path)
            for role, path in named.items()
        }
        lists = {r: v for r, v in found.items() if isinstance(v, list) and not _is_messages(v)}
        sizes = {named[role]: len(value) for role, value in lists.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"lists of one problem must be equally long, got {sizes}")
        if self.recognised.lists and not lists:
            raise ValueError("the samples must be lists, as in the first rows")
        if lists and not self.recognised.lists:
            wrong = next(iter(lists))
            raise ValueError(f"{named[wrong]} is a list here, and one value in the first rows")
        for place in range(next(iter(sizes.values()), 1)):
            one = {r: lists[r][place] if r in lists else value for r, value in found.items()}
            self._add_sample(problem, one)

    def _add_sample(self, problem: _Problem, one: Mapping[str, Any]) -> None:
        answer = self._known(label(one.get("answer")))
        if self.by_verifier:
            score = None if problem.gold is None else 0.0  # the verifier says it at the end
        elif self.by_answer:
            score = None if problem.gold is None else float(_same(answer, problem.gold))
        else:
            try:
                score = verdict(one.get("correct"))
            except ValueError as error:
                raise ValueError(f"{self.roles.correct}: {error}") from None
        if score is None:
            problem.ungraded += 1
            if not self.counts_as_wrong:
                return
            score = nan  # not above any threshold, and no reward
        problem.scores.append(score)
        if self.roles.reward:
            reward = verdict(one.get("reward"))
            problem.rewards.append(nan if reward is None else reward)
        problem.answers.append(answer)
        strategy = label(one.get("strategy"))
        strategy = None if strategy == self.how.degenerate else strategy
        problem.strategies.append(self._known(strategy))
        if self.roles.text and (self.texts_kept is None or len(problem.texts) < self.texts_kept):
            text = one.get("text")
            problem.texts.append("" if text is None else plain(text))

    def _known(self, name: str | None) -> str | None:
        """The same text, kept once for all samples that have it."""
        return None if name is None else self.names.setdefault(name, name)

    def result(self, verify: Verify | None) -> Imported:
        """The records of all problems that have samples."""
        if self.by_verifier:
            self._verify(verify or math_verifier())
        kept = {name: problem for name, problem in self.problems.items() if problem.scores}
        if not kept:
            raise DataError(f"{self.path}: holds no sample that is scored")
        scores = {s for problem in kept.values() for s in problem.scores if not isnan(s)}
        graded = bool(scores - {0.0, 1.0})
        if graded and self.how.correct_above is None:
            raise ConfigError(
                f"{self.path}: {self.roles.correct} is graded ({min(scores):g} to "
                f"{max(scores):g}): --correct-above X says which samples are correct; the scores "
                "are kept as rewards"
            )
        records = [self._record(name, problem, graded) for name, problem in kept.items()]
        return Imported(records, self._notes(kept))

    def _record(self, name: str, problem: _Problem, graded: bool) -> dict[str, Any]:
        above = 0.5 if self.how.correct_above is None else self.how.correct_above
        rewards = problem.rewards or (problem.scores if graded else None)
        return {
            "schema_version": SCHEMA_VERSION,
            "id": name,
            "prompt": name if problem.prompt is None else problem.prompt,
            "split": self.path.name.partition(".")[0],
            "source": "jsonl",
            "n": len(problem.scores),
            **({} if problem.gold is None else {"gold": problem.gold}),
            "correct": [int(score > above) for score in problem.scores],
            **({"rewards": [None if x != x else x for x in rewards]} if rewards else {}),
            "strategies": problem.strategies,
            "answers": problem.answers,
            "texts": problem.texts[:TEXTS_KEPT],
            **({"ungraded": problem.ungraded} if problem.ungraded else {}),
            **({"ungraded_are": "wrong"} if problem.ungraded and self.counts_as_wrong else {}),
        }

    def _verify(self, verify: Verify) -> None:
        unfit = []
        for problem in self.problems.values():
            if not problem.scores or problem.gold is None:
                continue
            texts = [f"\\boxed{{{a}}}" if a is not None else "" for a in problem.answers]
            try:
                readings = verify(str(problem.gold), texts if self.roles.answer else problem.texts)
            except DataError:
                unfit.append(problem.gold)
                problem.ungraded = len(problem.scores) if self.counts_as_wrong else 0
                problem.scores = [nan] * problem.ungraded
                continue
            problem.ungraded = 0 if self.counts_as_wrong else problem.ungraded
            problem.scores = [float(reading.correct) for reading in readings]
            problem.answers = [reading.answer for reading in readings]
        if unfit:
            self.counted["unfit"] = len(unfit)

    def _notes(self, kept: Mapping[str, _Problem]) -> list[str]:
        empty = len(self.problems) - len(kept)
        sizes = sorted(len(problem.scores) for problem in kept.values())
        notes = list(self.recognised.notes)
        fate = "count as wrong" if self.counts_as_wrong else "are left out"
        if ungraded := sum(problem.ungraded for problem in self.problems.values()):
            notes.append(f"{ungraded:,} samples without a score (null or NaN) {fate}")
        for what, text in (
            ("the same", "rows that are equal to an earlier one, sample number and all, are left "
                         "out"),
            ("equal", "rows that are equal to an earlier one count as further samples; with "
                      "--sample-number they are left out"),
            ("unfit", "problems have a right answer that cannot be used for grading: "
                      + ("their samples count as wrong" if self.counts_as_wrong else "left out")),
            ("prompt", "rows have another prompt than the first of their group"),
            ("gold", "rows have another right answer than the first of their group"),
        ):  # fmt: skip
            if self.counted[what]:
                notes.append(f"{self.counted[what]:,} {text}")
        if empty and not self.counted["unfit"]:
            notes.append(f"{empty:,} problems have no sample that is scored: left out")
        if len(self.kinds) > 1 and len(self.roles.group) == 1:
            kinds = " and ".join(sorted(self.kinds))
            notes.append(f"{self.roles.group[0]} holds {kinds}: numbers and texts of equal digits "
                         '(7, 7.0, "7") are one problem')  # fmt: skip
        if self.by_answer:
            notes.append("a sample is correct if its answer is the text or number of the right "
                         "one; --verify compares them as mathematics")  # fmt: skip
        if sizes[-1] == 1 and len(sizes) > 1:
            notes.append("every problem has one sample: if that is not so, name the field that the "
                         "samples of one problem share with --group")  # fmt: skip
        strategies = (problem.strategies for problem in kept.values())
        if self.how.degenerate is None and seems_to_mark_degenerate(strategies):
            notes.append(DEGENERATE_NOTE)
        return notes


def _optional(item: dict[str, Any], path: str) -> Any:
    try:
        return value_at(item, path)
    except KeyError:
        return None


def _is_messages(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(one, dict) and "role" in one for one in value)


def _same(answer: str | None, gold: str) -> bool:
    """Whether two short answers are one number or one text."""
    if answer is None:
        return False
    try:
        return float(answer.replace(",", "")) == float(gold.replace(",", ""))
    except ValueError:
        return answer.strip() == gold.strip()
