"""Writing files so that whatever is there is whole, whenever the process ends."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setrl.errors import ConfigError


@contextmanager
def writing_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, which takes the name `folder` when all of it is written, or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
    partial.mkdir()
    try:
        yield partial
        if folder.exists():
            _replace(folder, partial)
        else:
            partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _replace(folder: Path, partial: Path) -> None:
    """Put a new folder in the place of an old one; what only the old one had is kept."""
    old = partial.with_suffix(".old")
    folder.rename(old)
    partial.replace(folder)
    if old.is_symlink():
        old.unlink()
        return
    for path in old.iterdir():
        if not (folder / path.name).exists():
            path.rename(folder / path.name)
    shutil.rmtree(old)


def refuse_own_input(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to write over a file that is read, by any of its names or links.

    Args:
        output: The file to write; None for standard output.
        inputs: The files that are read; of a folder, all that is in it.

    Raises:
        ConfigError: If the output is one of them.
    """
    if output is None or not output.exists():
        return
    for one in filter(None, inputs):
        for path in one.rglob("*") if one.is_dir() else [one]:
            if path.exists() and path.samefile(output):
                raise ConfigError(
                    f"the output {output} is the file that is read: give another output"
                )


def write_text(path: Path, text: str) -> None:
    """Write a whole file, or leave the old one as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write one JSON object to a file of its own; NaN and infinity become null."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; {} where there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write one JSON object a line."""
    write_text(path, "".join(f"{json_line(record)}\n" for record in records))


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Add one JSON object to a file, in one write."""
    with path.open("ab") as file:
        file.write(f"{json_line(record)}\n".encode())


def json_line(record: dict[str, Any]) -> str:
    """One line of JSON; NaN and infinity, which JSON has not, become null."""
    return json.dumps(_finite(record), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, up to the first line that was cut off."""
    records: list[dict[str, Any]] = []
    # JSON may hold other separators, such as U+2028, at which splitlines() would cut.
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.removesuffix("\n").split("\n") if text else []:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return records
