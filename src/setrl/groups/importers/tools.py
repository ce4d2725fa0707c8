"""The tools whose logs are read: one file and one line each."""

from __future__ import annotations

from pathlib import Path

from setrl import names
from setrl.errors import usage_errors
from setrl.groups.fields import log_files
from setrl.groups.importers import inspect_ai, lighteval, lm_eval, tinker_cookbook, trl, verl
from setrl.groups.importers.importing import (
    Imported,
    ImportOptions,
    LogReader,
    Verify,
    choose_steps,
    to_records,
)

READERS: dict[str, LogReader] = {
    "trl": trl.READER,
    "verl": verl.READER,
    "tinker": tinker_cookbook.READER,
    "lighteval": lighteval.READER,
    "lm-eval": lm_eval.READER,
    "inspect": inspect_ai.READER,
}


def read_log(
    tool: str, path: Path, options: ImportOptions, verify: Verify | None = None
) -> Imported:
    """The samples of a tool's log, a file or a folder of files, as evaluation records.

    Args:
        tool: A name in `READERS`.
        path: The file or folder; of TRL also the trainer's output folder.
        options: How the log is read.
        verify: See `to_records`.

    Raises:
        ConfigError: If the tool is unknown, or an option does not fit the log.
        DataError: If the log does not hold what the tool writes.
    """
    with usage_errors():
        reader = names.look_up("tool", tool, READERS)
    if reader is trl.READER:
        path = trl.completions_folder(path) or path
    notes: list[str] = []
    samples = [
        sample
        for file in log_files(path, reader.patterns)
        for sample in reader.samples(file, options, notes)
    ]
    if reader.by_step:
        samples = choose_steps(samples, options.steps, notes)
    notes += reader.notice(samples)
    return to_records(samples, tool, options, notes, verify)
