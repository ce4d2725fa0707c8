"""Write a file or a folder whole: readers see the old one or the new one, never a part."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from setrl.support.errors import ConfigError, DataError, RunError

OF_A_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


@contextmanager
def writing_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to fill; it takes the name `folder` once all of it is written, or never."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial_path(folder)
    partial.mkdir()
    mode = _hide_partial(partial)
    try:
        with disk_errors(folder):
            yield partial
        partial.chmod(mode)
        if folder.exists():
            _replace_folder(folder, partial)
        else:
            partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Inside it, what is raised on a full disk is an OSError that names the file or folder.

    Python names no file that was open already, `shutil.copytree` gives a list of tuples,
    safetensors its own class, and PyTorch only a line of its sources.
    """
    try:
        yield
    except Exception as error:
        if (number := _disk_error_number(error)) is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


def _disk_error_number(error: Exception) -> int | None:
    """Return the number of an error of the disk that names no file; None for any other error."""
    if isinstance(error, OSError) and error.errno in OF_A_DISK:
        return error.errno if error.filename is None else None
    if isinstance(error, RunError) or not isinstance(error, _errors_of_libraries()):
        return None
    if match := re.search(r"(?:os error|Errno) (\d+)", str(error)):
        return int(match[1])
    return errno.ENOSPC if "inline_container" in str(error) else None


def _errors_of_libraries() -> tuple[type[Exception], ...]:
    """Return the classes of such errors; a library that was not imported raises none."""
    safetensors: Any = sys.modules.get("safetensors")
    of_safetensors = () if safetensors is None else (safetensors.SafetensorError,)
    return (shutil.Error, RuntimeError, *of_safetensors)


def _partial_path(path: Path) -> Path:
    """Return where a file or folder is written before it takes its name: same file system."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")


def _hide_partial(partial: Path) -> int:
    """Hide what is only partly written, as a killed process leaves it; return its usual mode."""
    mode = stat.S_IMODE(partial.stat().st_mode)
    partial.chmod(mode & stat.S_IRWXU)
    return mode


def _replace_folder(folder: Path, partial: Path) -> None:
    """Replace an old folder by a new one; files that only the old folder has are kept."""
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
    """Refuse to write over a file that is also an input, by any of its names or links.

    Args:
        output: The file to write; None for standard output.
        inputs: The files that are read; a folder stands for all files in it.

    Raises:
        ConfigError: If the output is one of them.
    """
    if output is None or not output.exists():
        return
    for source in filter(None, inputs):
        for path in source.rglob("*") if source.is_dir() else [source]:
            if path.exists() and path.samefile(output):
                raise ConfigError(
                    f"the output {output} is the file that is read: give another output"
                )


def refuse_file_of_others(output: Path | None, is_ours: Callable[[Path], bool], what: str) -> None:
    """Refuse to overwrite a file that the same command did not write: it may be the only copy.

    Args:
        output: The file to write; None for standard output.
        is_ours: Whether a file that is there is an earlier output.
        what: What such an output is, in words, such as "a report of setrl".

    Raises:
        ConfigError: If another file is there.
    """
    if output is None or not output.exists() or is_ours(output):
        return
    if not (output.is_file() and output.stat().st_size == 0):
        raise ConfigError(f"{output} exists already and is not {what}: give another output")


def refuse_other_settings(
    path: Path, before: Mapping[str, Any], now: Mapping[str, Any], repair: str
) -> None:
    """Refuse to go on with what was made with other settings; a missing one is None.

    Args:
        path: The file or folder.
        before: What it was made with, as its record says.
        now: What it would be continued with.
        repair: What the user can do.

    Raises:
        ConfigError: Naming the first setting that differs, and both values.
    """
    settings = plain_json(dict(now))
    for key in {**settings, **before}:
        if before.get(key) != settings.get(key):
            raise ConfigError(
                f"{path} was made with {key} = {before.get(key)}, not {settings.get(key)}: {repair}"
            )


def write_text(path: Path, text: str) -> None:
    """Write a whole file; if that fails, the old file stays."""
    with writing_text(path) as file:
        file.write(text)


@contextmanager
def writing_text(path: Path) -> Iterator[TextIO]:
    """Yield a file to fill, which takes the name `path` once all of it is written, or never."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial_path(path)
    try:
        # JSON reads back halves of characters, as in file names that are not UTF-8, from this form.
        with disk_errors(path):
            with partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
                mode = _hide_partial(partial)
                yield file
            partial.chmod(stat.S_IMODE(path.stat().st_mode) if path.is_file() else mode)
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write one JSON object as a whole file; NaN and infinity become null."""
    write_text(path, json_text(value, indent=2) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; {} if there is no file.

    Raises:
        DataError: If the file is damaged: it does not hold one whole object.
    """
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_bytes())
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply to be read") from None
    except ValueError as error:
        raise DataError(f"{path}: is damaged: it is not complete JSON ({error})") from None
    if not isinstance(value, dict):
        raise DataError(f"{path}: must hold an object, got {type(value).__name__}")
    return value


def json_text(value: dict[str, Any], indent: int | None = None) -> str:
    """Write an object as JSON; NaN and infinity, which JSON cannot hold, become null."""
    encode = _json_encoder(indent).encode
    try:
        return encode(value)
    except ValueError:
        return encode(plain_json(value))


@cache
def _json_encoder(indent: int | None) -> json.JSONEncoder:
    return json.JSONEncoder(indent=indent, ensure_ascii=False, allow_nan=False)


def plain_json(value: Any) -> Any:
    """Convert to plain objects, lists and numbers; undefined ones (NaN, infinity) become None."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: plain_json(item) for key, item in value.items()}
    return [plain_json(item) for item in value] if isinstance(value, list | tuple) else value
