"""What the readers of other tools' logs share: each yields groups, one sample after another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import translate
from pathlib import Path
from typing import Any

from setrl.logs.options import LogOptions
from setrl.samples.types import Group
from setrl.samples.values import read_count, read_score
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import count

TIME = re.compile(r"_\d{4}-\d\d-\d\d(T[\d.-]+)?$")  # in the name of a file
ALL_FIELDS = ("reward", "strategy", "answer", "gold")  # that an option can name


def _stem_of_file(path: Path) -> str:
    return path.stem


def without_time(path: Path) -> str:
    """Return a file's name without the time of its run.

    >>> without_time(Path("samples_gsm8k_2026-05-01T10-00-00.123.jsonl"))
    'samples_gsm8k'
    """
    return TIME.sub("", path.stem)


def nothing(groups: list[Group]) -> list[str]:
    """Return no notes."""
    return []


def unknown(_path: Path, _start: bytes) -> bool:
    """Return that a file may be any tool's."""
    return False


@dataclass(frozen=True)
class LogReader:
    """How the log of one tool is read.

    Attributes:
        patterns: The names of its files in a folder.
        groups: A file, the options, and a list for notes → its groups. A group may come in several
            parts, which have one id.
        by_step: Whether it is a log of training, whose samples come from policies of many steps.
        notice: All parts of groups that are read → notes.
        fields: Which of reward, strategy, answer and gold `groups` reads from `options.fields`. A
            user who names another one is refused.
        shared_ids: Whether equal ids in different files are one group. Otherwise an id gets the
            name of its `source`.
        source: A file → the name of its task, which its ids get: without the time of the run, so
            that the same problems of two runs have the same ids. Two runs of one task are refused.
        opens: A file and its first bytes → whether only this tool writes such a file, so that a
            single file is read without naming the tool.
        known: A regular expression of the names that tell the tool, if patterns also match files of
            other tools. If it has a group, the group is the step of a file.
    """

    patterns: tuple[str, ...]
    groups: Callable[[Path, LogOptions, list[str]], Iterable[Group]]
    by_step: bool = False
    notice: Callable[[list[Group]], list[str]] = nothing
    fields: tuple[str, ...] = ("reward",)
    shared_ids: bool = False
    source: Callable[[Path], str] = _stem_of_file
    opens: Callable[[Path, bytes], bool] = unknown
    known: str | None = None

    def knows(self, name: str) -> re.Match[str] | None:
        """Return the match of a file's name, if only this tool writes such names."""
        named = [translate(Path(pattern).name) for pattern in self.patterns]
        return re.fullmatch("|".join(named) if self.known is None else self.known, name)

    def read(self, files: Sequence[Path], options: LogOptions, notes: list[str]) -> Iterator[Group]:
        """Yield the groups of all files, with ids that only the parts of one group share."""
        self._refuse_two_runs(files)
        for file, name in zip(files, self._names_of_files(files), strict=True):
            for group in self.groups(file, options, notes):
                extra = {"task": name, **group.more}
                yield (
                    group
                    if self.shared_ids
                    else replace(group, id=f"{name}/{group.id}", more=extra)
                )

    def _refuse_two_runs(self, files: Sequence[Path]) -> None:
        """Refuse two files of one task, whose samples are of two runs, or of two models.

        Raises:
            DataError: Naming both files.
        """
        first: dict[str, Path] = {}
        for file in files if self.source is not _stem_of_file else ():
            task = self.source(file)
            if (earlier := first.setdefault(task, file)) is not file:
                raise DataError(
                    f"{earlier} and {file} are two runs of {task}: give one file, or a folder with "
                    "one run of each task"
                )

    def _names_of_files(self, files: Sequence[Path]) -> list[str]:
        names = (self.source, lambda path: str(path.with_suffix("")))
        ways = [(way, Counter(map(way, files))) for way in names]
        return [
            next((name for way, times in ways if times[name := way(file)] == 1), str(file))
            for file in files
        ]


def merged(parts: Iterable[Group]) -> list[Group]:
    """Return the groups whose parts these are, in the order of their first parts."""
    by_id: dict[str, list[Group]] = {}
    for part in parts:
        by_id.setdefault(part.id, []).append(part)
    return [
        replace(parts[0], samples=tuple(sample for part in parts for sample in part.samples))
        for parts in by_id.values()
    ]


def of_one_size(groups: list[Group], notes: list[str], verify: bool) -> list[Group]:
    """Return the groups with the commonest number n of samples, of two the smaller.

    The surplus of larger groups and all smaller groups are left out, and counted: a log of a tool
    may hold one group for two problems, or end within a group. A sample without a score makes no
    group small, and is not a surplus: what becomes of such samples is the same for every log.

    Args:
        groups: The groups.
        notes: Gets sentences about what was left out.
        verify: Whether all samples are scored later.
    """
    counts = Counter(map(len, groups))
    n = max(counts, key=lambda size: (counts[size], -size), default=0)
    large = [sum(verify or sample.reward is not None for sample in g.samples) > n for g in groups]
    if surplus := sum(len(group) - n for group, cut in zip(groups, large, strict=True) if cut):
        notes.append(f"left out: {count(surplus, 'sample')} beyond n = {n} of their group")
    if small := sum(times for size, times in counts.items() if size < n):
        notes.append(f"left out: {count(small, 'group')} of fewer than n = {n} samples")
    return [
        replace(group, samples=group.samples[:n]) if cut else group
        for group, cut in zip(groups, large, strict=True)
        if len(group) >= n
    ]


def choose_steps(
    groups: list[Group], steps: tuple[int, int] | None, notes: list[str]
) -> list[Group]:
    """Return the groups of the last step, or of a range of steps; then each prompt's latest group.

    The groups of one prompt at several steps are samples of different policies: only the latest
    one is kept.
    """
    there = sorted({group.step for group in groups if group.step is not None})
    if not there:
        return groups
    first, last = steps or (there[-1], there[-1])
    if steps is None and len(there) > 1:
        notes.append(f"only step {last} is read, of steps {there[0]} to {last}; "
                     "setrl import reads more with --steps FIRST:LAST")  # fmt: skip
    chosen = [group for group in groups if group.step is not None and first <= group.step <= last]
    if not chosen:
        raise ConfigError(f"the log has no steps {first} to {last}: it has {there[0]} to "
                          f"{there[-1]}")  # fmt: skip
    latest: dict[str, int] = {}
    for group in chosen:
        latest[group.prompt] = max(latest.get(group.prompt, 0), group.step or 0)
    kept = [group for group in chosen if group.step == latest[group.prompt]]
    if len(kept) < len(chosen):
        left_out = sum(map(len, chosen)) - sum(map(len, kept))
        notes.append(
            f"left out: {count(left_out, 'sample')} of prompts that come again at a later step"
        )
    return kept


def log_files(path: Path, patterns: Sequence[str]) -> list[Path]:
    """Return a file, or the files of a folder that match one of the patterns.

    Raises:
        DataError: When no file matches.
    """
    if not path.is_dir():
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
        return [path]
    files = sorted({file for pattern in patterns for file in path.glob(pattern)})
    if not files:
        raise DataError(f"{path}: no {' or '.join(patterns)} in it")
    return files


def field(record: Any, key: str, where: str) -> Any:
    """Return a field that must be there.

    Raises:
        DataError: Naming the fields that the record has.
    """
    try:
        return record[key]
    except (KeyError, TypeError):
        keys = ", ".join(record) if isinstance(record, dict) else type(record).__name__
        raise DataError(f"{where}: has no {key!r}; it has {keys}") from None


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn the error of a record that its tool would not write into a data error.

    Raises:
        DataError: Instead of the error that Python raises.
    """
    try:
        yield
    except (ConfigError, DataError):
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(
            f"{where}: is not of the form that the tool writes ({type(error).__name__}: {error})"
        ) from error


def whole(record: Any, key: str, where: str) -> int:
    """Return a whole number that must be there, such as a step.

    Raises:
        DataError: When it is not there, or something else.
    """
    value = read_count(field(record, key, where))
    if value is None:
        raise DataError(f"{where}: {key} must be a whole number, got {record[key]!r}")
    return value


def choose_score(names: Sequence[str], named: str | None, where: str) -> str:
    """Return the one score of a log, or the one that is wanted.

    Raises:
        ConfigError: When there are several and none is named, or the named one is not there.
    """
    if named is not None:
        if named not in names:
            raise ConfigError(f"{where} has no score {named!r}; it has {', '.join(names)}")
        return named
    if len(names) != 1:
        scores = f"has the scores {', '.join(names)}" if names else "has no scores"
        raise ConfigError(f"{where} {scores}: name one with --reward")
    return names[0]


def number(value: Any, where: str) -> float | None:
    """Return a score as a number, or a verdict as 1 or 0; None if it is unknown.

    Raises:
        DataError: When it is neither.
    """
    try:
        return read_score(value)
    except ValueError as error:
        raise DataError(f"{where}: a score must be {error}") from None
