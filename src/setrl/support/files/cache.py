"""The cache: what runs start from, made once and kept for later runs; how to list and clear it.

base-<domain>-<hash>/     a base model, with base.json, which says how it was made
problems-<name>-<hash>/   the problems of a generator, with problems.json
policy-<task>-<hash>/     a pretrained policy of a control task, with pretrain.json
.<name>.<number>.partial  one of these folders, which a killed process did not finish
seal.key                  the key with which checkpoints of control runs are sealed
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from setrl.support.errors import DataError
from setrl.support.files.atomic import read_json
from setrl.support.files.written import SAVED_MODEL, Tree, remove_written, written

CACHE = "SETRL_CACHE"  # the environment variable that names this folder
ABANDONED_S = 3600  # a folder is filled in seconds: after an hour nobody is writing it

# What setrl can make again: name → what it is, its record, and the files in it.
NAME = r"-.+-[0-9a-f]{12}"
MADE_AGAIN = {
    f"base{NAME}": ("base model", "base.json", (*SAVED_MODEL, "base.json")),
    f"problems{NAME}": (
        "problems of a generator",
        "problems.json",
        ("problems.json", "problems.jsonl"),
    ),
    f"policy{NAME}": (
        "pretrained policy",
        "pretrain.json",
        ("policy.safetensors", "pretrain.json"),
    ),
}
UNFINISHED = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{32}\.(partial|old)")


@dataclass(frozen=True)
class Entry:
    """A file or folder in the cache.

    Attributes:
        path: Where it is.
        what: What it is, in words.
        size: Size of its files, in bytes.
        tree: The files in it that setrl wrote and can make again; None if the entry must stay.
    """

    path: Path
    what: str
    size: int
    tree: Tree | None


def cache_folder(cache: str | Path | None = None) -> Path:
    """Return `cache`, or else $SETRL_CACHE, or else ~/.cache/setrl."""
    return Path(cache or os.environ.get(CACHE) or Path.home() / ".cache" / "setrl")


def entries(folder: Path) -> list[Entry]:
    """List what is in a cache, by name; empty if there is no such folder."""
    return [_entry(path) for path in sorted(folder.iterdir())] if folder.is_dir() else []


def clear(found: list[Entry]) -> None:
    """Remove what setrl wrote and can make again; all other files stay, also inside folders."""
    for entry in found:
        if entry.tree is not None:
            remove_written(entry.path.parent, {entry.path.name: entry.tree})


def _entry(path: Path) -> Entry:
    what, tree = _known(path)
    found = _files(path) if tree is None else written(path, tree)
    return Entry(path, what, sum(one.lstat().st_size for one in found), tree)


def _known(path: Path) -> tuple[str, Tree | None]:
    """Return what an entry of the cache is, and which of its files can be made again."""
    if path.name == "seal.key":
        return "the key of seals, without which no control run can be resumed", None
    unfinished = UNFINISHED.fullmatch(path.name)
    name = unfinished["name"] if unfinished else path.name
    for pattern, (what, record, names) in MADE_AGAIN.items():
        if re.fullmatch(pattern, name) and path.is_dir() and not path.is_symlink():
            tree = dict.fromkeys(names, Path.is_file)
            if unfinished:
                is_abandoned = time.time() - path.stat().st_mtime > ABANDONED_S
                return f"unfinished {what}", tree if is_abandoned else None
            if _is_our_record(path / record):
                return what, tree
    return "not recognised as written by setrl", None


def _is_our_record(path: Path) -> bool:
    """Return whether a file is the record that setrl writes next to weights, with their source."""
    try:
        return {"schema_version", "source"} <= read_json(path).keys()
    except (DataError, OSError):
        return False


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or all files in a folder; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        for inside in path.iterdir():
            yield from _files(inside)
    else:
        yield path
