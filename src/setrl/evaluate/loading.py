"""A file of samples → arrays, and what was noticed on the way."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import cast

from setrl.evaluate.disputes import Disputes
from setrl.evaluate.samples import Evaluation, contradiction, evaluation_of
from setrl.logs.log import Log, open_log
from setrl.logs.options import Fate, LogOptions
from setrl.logs.recording import graded_groups
from setrl.logs.row_reader import RowReader
from setrl.support.errors import ConfigError, DataError

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
    found = replace(_evaluation(log), options=())  # it takes none
    if log.rows.damage:
        warnings.warning("%s; such lines are left out", log.rows.damage_note)
    return found


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
    evaluation = _evaluation(log, keep_bare, disputes)
    if log.is_own:
        _refuse_left_out(options.ungraded, evaluation, path)
        return replace(evaluation, reading=_notes(*log.notes(), contradiction(evaluation)))
    recognised = cast("RowReader", log.reader).recognised
    can_verify = ("--verify",) if recognised.fields.gold and not options.verify else ()
    evaluation = replace(evaluation, options=(*evaluation.options, *can_verify))
    said = disputes.note() if can_verify else ""
    reading = (log.head, *_notes(*log.notes(), contradiction(evaluation), said))
    return replace(evaluation, reading=reading, is_log=True, labels=recognised.labels)


def _evaluation(log: Log, keep_bare: bool = False, disputes: Disputes | None = None) -> Evaluation:
    groups = graded_groups(log, keep_bare)
    watched = groups if disputes is None else disputes.watch(groups)
    found = evaluation_of(watched, str(log.path), log.reader.columns)
    return replace(found, settings=log.reader.settings, repeated=log.repeated)


def _notes(*found: str) -> tuple[str, ...]:
    return tuple(f"note: {note}" for note in found if note)


def _refuse_left_out(ungraded: Fate, found: Evaluation, path: Path) -> None:
    """Refuse an evaluation file that lacks the samples that must count as wrong."""
    if ungraded == "wrong" and found.ungraded_P is not None and found.ungraded_are == "left-out":
        raise ConfigError(f"{path}: {found.ungraded_P.sum():,} samples without a grade were left "
                          "out at its import: --ungraded wrong needs the log itself")  # fmt: skip
