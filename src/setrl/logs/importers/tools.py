"""The tools whose logs are read: one file and one line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from setrl.logs.importers import inspect_ai, lighteval, lm_eval, tinker_cookbook, trl, verl
from setrl.logs.importers.importing import LogReader, choose_steps, log_files, merged, of_one_size
from setrl.logs.options import LogOptions
from setrl.logs.recognition import SNIFFED
from setrl.logs.roles import FieldNames
from setrl.samples.types import Group, Sample
from setrl.support import names
from setrl.support.errors import ConfigError, DataError, usage_errors

READERS: dict[str, LogReader] = {
    "trl": trl.READER,
    "verl": verl.READER,
    "tinker": tinker_cookbook.READER,
    "lighteval": lighteval.READER,
    "lm-eval": lm_eval.READER,
    "inspect": inspect_ai.READER,
}
OPENING = 4096  # bytes of a file that tell its tool


def tool_of(path: Path) -> str | None:
    """Return the tool whose log a folder holds, or a file that only this tool writes."""
    if path.is_file():
        return _tool_of_file(path)
    if not path.is_dir():
        return None
    if trl.completions_folder(path) is not None:
        return "trl"
    if tinker_cookbook.iterations(path):
        return "tinker"
    files = [file.name for file in path.iterdir()]
    return next((tool for tool, reader in READERS.items() if any(map(reader.knows, files))), None)


def command_for(path: Path) -> str:
    """Return the end of an error: how to read a file that a tool may have written; or nothing."""
    tool = next((tool for tool, reader in READERS.items() if reader.knows(path.name)), None)
    return f"; if {tool} wrote it: setrl import {tool} {path} --output FILE" if tool else ""


def _tool_of_file(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(OPENING)
    return next((tool for tool, reader in READERS.items() if reader.opens(path, start)), None)


def tool_groups(tool: str, path: Path, options: LogOptions, notes: list[str]) -> list[Group]:
    """Return the groups of a tool's log, a file or a folder of files.

    Args:
        tool: A name in `READERS`.
        path: The file or folder; of TRL also the trainer's output folder.
        options: How the log is read.
        notes: Gets sentences about what was noticed.

    Raises:
        ConfigError: If the tool is unknown, or an option does not fit the log.
        DataError: If the log does not hold what the tool writes.
    """
    parts = list(_read_parts(tool, path, options, notes))
    reader = READERS[tool]
    if reader.by_step:
        parts = choose_steps(parts, options.steps, notes)
    notes += reader.notice(parts)
    if not parts:
        raise DataError(f"{path}: the log holds no samples")
    return of_one_size(merged(parts), notes, options.verify is not None)


def _read_parts(tool: str, path: Path, options: LogOptions, notes: list[str]) -> Iterator[Group]:
    """Return the groups of a tool's log as its files hold them, in parts."""
    with usage_errors():
        reader = names.look_up("tool", tool, READERS)
    options = replace(options, fields=for_tool(tool, options.fields))
    if reader is trl.READER:
        path = trl.completions_folder(path) or path
    return reader.read(log_files(path, reader.patterns), options, notes)


def rows_of(
    tool: str, path: Path, options: LogOptions, notes: list[str], as_logged: bool = False
) -> tuple[Iterator[dict[str, Any]], FieldNames]:
    """Return the groups of a tool's log as rows, and what their fields are.

    Args:
        tool: A name in `READERS`.
        path: The file or folder.
        options: How the log is read.
        notes: Gets sentences about what was noticed, the last ones with the last row.
        as_logged: Keep groups of all sizes, and read rows of an evaluation only when they are
            asked for. A group may then come in several rows.

    Raises:
        ConfigError, DataError: See `tool_groups`.
    """
    is_whole = READERS[tool].by_step or not as_logged  # the last step is known at the end
    groups = (tool_groups if is_whole else _read_parts)(tool, path, options, notes)
    each = map(_row_of_group, groups)
    rows = list(each if is_whole else islice(each, SNIFFED))
    keys = {key for row in rows for key in row} | {
        f"samples.{key}" for row in rows for sample in row["samples"] for key in sample
    }
    if "samples.correct" in keys:  # where it is unknown, it is null
        for sample in (sample for row in rows for sample in row["samples"]):
            sample.setdefault("correct", None)
    paths = {role: f"samples.{role}" for role in Sample._fields} | {"gold": "gold", "step": "step"}
    present = {role: path for role, path in paths.items() if path in keys}
    named = FieldNames.__dataclass_fields__.keys() & present.keys()
    fields = {role: present[role] for role in named if role != "correct"}
    if "reward" in fields:
        fields["correct"] = present.get("correct", fields["reward"])
    return chain(rows, each), FieldNames(rows="samples", group=("id",), prompt="prompt", **fields)


def _row_of_group(group: Group) -> dict[str, Any]:
    about = {"id": group.id, "prompt": group.prompt, "gold": group.gold, "step": group.step}
    about["task"] = group.more.get("task")
    row = {key: value for key, value in about.items() if value is not None}
    return {**row, "samples": [dict(_known_fields(sample)) for sample in group.samples]}


def _known_fields(sample: Sample) -> Iterator[tuple[str, Any]]:
    """Yield what is known about a sample; a reward is null where it is not known."""
    yield "text", list(sample.turns) or sample.text
    yield "reward", sample.reward
    for key in ("correct", "strategy", "answer", "advantage", "tokens"):
        if (value := getattr(sample, key)) is not None:
            yield key, value


def for_tool(tool: str, fields: FieldNames) -> FieldNames:
    """Return the fields that the user names for a tool's log; if it has one score, that is reward.

    Raises:
        ConfigError: If fields are named that the reader does not read.
    """
    readable = READERS[tool].fields
    if fields.correct and not fields.reward and "correct" not in readable:
        fields = replace(fields, correct=None, reward=fields.correct)
    if given := [role for role in fields.named() if role not in readable]:
        wrong, right = (
            ", ".join(f"--{role.replace('_', '-')}" for role in roles)
            for roles in (given, readable)
        )
        raise ConfigError(f"the fields of a log of {tool} are known: leave out {wrong}"
                          + (f"; only {right} can be named" if right else ""))  # fmt: skip
    return fields
