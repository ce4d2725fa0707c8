"""A file of samples, or a folder with one for each training seed → arrays, and what was noticed.

The path of a side is an evaluation file, a log, the folder of a model (with
evaluation/<split>.jsonl in it), or the folder of an arm (with seed_*/evaluation/<split>.jsonl),
whose seeds are averaged.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import cast

from setrl.evaluate.samples import VERIFY, Evaluation, contradiction, evaluation_of
from setrl.logs.importers.tools import tool_of
from setrl.logs.log import Log, open_log
from setrl.logs.options import Fate, LogOptions
from setrl.logs.recording import Graded, graded_groups
from setrl.logs.row_reader import RowReader
from setrl.logs.run import Arm, Run
from setrl.samples.values import is_same, written_number
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import are, count, first_of

MOST = 1_000  # different answers that are compared: an evaluation must stay quick
warnings = logging.getLogger(__name__)


def load_evaluation(path: str | Path, allow_damaged: bool = False) -> Evaluation:
    """Read an evaluation file into arrays.

    Args:
        path: The file.
        allow_damaged: Leave out lines that cannot be read, and problems that were there before,
            with a warning; otherwise they are errors.

    Raises:
        DataError: When the file is empty, a line is not a record, or the file is damaged.
    """
    log = open_log(path, LogOptions(allow_damaged=allow_damaged), ["correct"])
    if not log.is_own:
        raise DataError(f"{path} is not an evaluation file")
    evaluation = replace(_evaluation_of_log(log), options=())  # it takes none
    if log.rows.damage:
        warnings.warning("%s; such lines are left out", log.rows.damage_note)
    return evaluation


def load_samples(
    path: str | Path,
    options: LogOptions | None = None,
    tool: str | None = None,
    *,
    keep_bare: bool = False,
) -> Evaluation:
    """Return the samples of an evaluation file, or of the log of any program.

    Args:
        path: The file, or the folder of another tool's log.
        options: How a log is read; by default its fields are recognised.
        tool: The tool that wrote it; by default recognised.
        keep_bare: Keep the problems of a log whose samples all lack a grade, with 0 samples:
            `on_common` counts them and leaves them out. By default they are left out here.

    Raises:
        ConfigError: When a field that is needed cannot be recognised, or options do not fit.
        DataError: When the file cannot be read.
    """
    path, options = Path(path), options or LogOptions()
    log = open_log(path, options, ["correct"], tool=tool)
    disputes = Disputes()
    evaluation = _evaluation_of_log(log, keep_bare, None if log.is_own else disputes)
    if log.is_own:
        _refuse_left_out(options.ungraded, evaluation, path)
        return replace(evaluation, reading=_prefix_notes(*log.notes(), contradiction(evaluation)))
    recognised = cast("RowReader", log.reader).recognised
    can_verify = ("--verify",) if recognised.fields.gold and not options.verify else ()
    evaluation = replace(evaluation, options=(*evaluation.options, *can_verify))
    disputed = disputes.note() if can_verify else ""
    reading = (log.head, *_prefix_notes(*log.notes(), contradiction(evaluation), disputed))
    return replace(evaluation, reading=reading, is_log=True, labels=recognised.labels)


def _evaluation_of_log(
    log: Log, keep_bare: bool = False, disputes: Disputes | None = None
) -> Evaluation:
    groups = graded_groups(log, keep_bare)
    watched = groups if disputes is None else disputes.watch(groups)
    evaluation = evaluation_of(watched, str(log.path), log.reader.columns)
    return replace(evaluation, settings=log.reader.settings, repeated=log.repeated)


def _prefix_notes(*texts: str) -> tuple[str, ...]:
    return tuple(f"note: {note}" for note in texts if note)


def _refuse_left_out(ungraded: Fate, evaluation: Evaluation, path: Path) -> None:
    """Refuse an evaluation file that lacks the samples that must count as wrong."""
    if (
        ungraded == "wrong"
        and evaluation.ungraded_P is not None
        and evaluation.ungraded_are == "left-out"
    ):
        raise ConfigError(
            f"{path}: {evaluation.ungraded_P.sum():,} samples without a grade were left "
            "out at its import: --ungraded wrong needs the log itself"
        )


class Disputes:
    """Compares grades with right answers while groups pass by.

    An answer that is the text or number of the right one, and is marked wrong, disagrees; so does
    another number that is marked right. Anything else needs a grader, which `--verify` asks for.
    """

    def __init__(self) -> None:
        self._compared = self._disputed = 0
        self._first = ""

    def watch(self, groups: Iterable[Graded]) -> Iterator[Graded]:
        """Yield the same groups, and compare the first answers."""
        for graded in groups:
            if graded.group.gold is not None and self._compared < MOST:
                self._count_disputes(graded, graded.group.gold)
            yield graded

    def note(self) -> str:
        """Say how many grades are disputed, with the first; empty for 0."""
        if not self._disputed:
            return ""
        of = "of the first" if self._compared >= MOST else "of"
        return (
            f"{self._disputed:,} {of} {count(self._compared, 'different answer')} "
            f"{are(self._disputed)} graded otherwise than the right answer says, the first: "
            f"{self._first}; pass@k and majority@k follow the log; {VERIFY}"
        )

    def _count_disputes(self, graded: Graded, gold: str) -> None:
        answers = {
            (s.answer, s.correct) for s in graded.samples if s.answer and s.correct is not None
        }
        for answer, right in sorted(answers):
            self._compared += 1
            if is_same(answer, gold) != right and (not right or _are_all_numbers(answer, gold)):
                self._disputed += 1
                self._first = self._first or (
                    f"{answer[:60]!r} of {graded.group.id[:60]!r} is marked "
                    f"{'right' if right else 'wrong'}, and the right answer is {gold[-60:]!r}"
                )


def _are_all_numbers(*texts: str) -> bool:
    return not any(map(isnan, map(written_number, texts)))


@dataclass(frozen=True)
class Side:
    """The evaluations of a path, such as one side of a comparison.

    Attributes:
        name: Its path.
        split: Which evaluation file was read.
        evaluations: One for each training seed.
        reading: How the fields of a log were read, and what was noticed.
        seeds: The training seed of each evaluation; 0 outside the folder of an arm.
        is_log: Whether it is a log, and neither an evaluation file nor a folder of them.
    """

    name: str
    split: str
    evaluations: tuple[Evaluation, ...]
    reading: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    is_log: bool = False

    @property
    def n(self) -> int:
        """Samples that every problem has of each seed."""
        return min(evaluation.n for evaluation in self.evaluations)

    @property
    def most(self) -> int:
        """Samples of the problem with the most."""
        return max(evaluation.most for evaluation in self.evaluations)


def load_side(
    path: str | Path,
    split: str = "test",
    allow_damaged: bool = False,
    log: LogOptions | None = None,
) -> Side:
    """Read the evaluations of a path.

    Args:
        path: An evaluation file, a log, a model's folder or an arm's folder.
        split: Which evaluation file of a folder.
        allow_damaged: See `setrl.evaluate.load_evaluation`.
        log: How a log is read.

    Raises:
        ConfigError: When the path holds evaluations, and none of this split.
        DataError: When the path holds no samples, a file is not an evaluation, or the seeds do not
            match.
    """
    path = Path(path)
    if is_samples(path):
        options = replace(log or LogOptions(), allow_damaged=allow_damaged)
        loaded = load_samples(path, options, keep_bare=True)
        return Side(str(path), path.stem, (loaded,), loaded.reading, is_log=loaded.is_log)
    arm = Arm(path)
    files = {seed: model.evaluations.get(split) for seed, model in arm.seeds.items()}
    by_seed = {seed: load_evaluation(file, allow_damaged) for seed, file in files.items() if file}
    if not by_seed:
        raise _no_evaluation_error(arm, split)
    sizes = sorted({evaluation.n for evaluation in by_seed.values()})
    if len(sizes) > 1:
        raise DataError(f"{path}: all seeds must have the same n on {split}, got {sizes}")
    return Side(str(path), split, tuple(by_seed.values()), seeds=tuple(by_seed))


def common_split(*paths: Path) -> str:
    """Choose the split to read: a given file, "test", or the only split that all paths have."""
    for path in paths:
        if is_samples(path):
            return path.stem
    splits_by_path = {path: _splits_of_arm(Arm(path)) for path in paths}
    for path, splits in splits_by_path.items():
        if not splits:
            raise _no_evaluation_error(Arm(path), "test")
    common = set.intersection(*splits_by_path.values())
    if "test" in common or len(common) == 1:
        return "test" if "test" in common else common.pop()
    have = [
        f"{path} has evaluations of {', '.join(sorted(of))}" for path, of in splits_by_path.items()
    ]
    raise ConfigError(f"{'; '.join(have)}: choose one with --split")


def other_splits(split: str, *paths: Path) -> list[str]:
    """List the other splits on which all paths were evaluated; none of files of samples."""
    if any(is_samples(path) for path in paths):
        return []
    return sorted(set.intersection(*(_splits_of_arm(Arm(path)) for path in paths)) - {split})


def is_samples(path: Path) -> bool:
    """Return whether a path holds samples, and is not the folder of a run, an arm or a model."""
    return (path.exists() and not path.is_dir()) or tool_of(path) is not None


def _splits_of_arm(arm: Arm) -> set[str]:
    return {split for seed in arm.seeds.values() for split in seed.evaluations}


def _no_evaluation_error(arm: Arm, split: str) -> ConfigError | DataError:
    """Return the error for a path without samples, or without samples of this split."""
    path = arm.path
    if not path.exists():
        return DataError(f"{path}: no such file or folder; give samples, or a folder with them")
    if splits := sorted(_splits_of_arm(arm)):
        return ConfigError(f"{path} holds no evaluation of {split!r}, only of {', '.join(splits)}")
    if arms := [name for name, inner_arm in Run(path).arms.items() if _splits_of_arm(inner_arm)]:
        return DataError(f"{path} is a run with several arms: give one, {path / first_of(arms)}")
    return DataError(
        f"{path} is neither a file of samples, nor the folder of another tool's log, nor a folder "
        f"with evaluation/{split}.jsonl or seed_*/evaluation/{split}.jsonl in it"
    )
