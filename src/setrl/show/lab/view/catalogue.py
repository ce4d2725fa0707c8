"""What a folder holds: runs, logs of other tools, files of samples; each under an id.

A client names things only by these ids, so no path from a client reaches the disk.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from setrl.logs.credit_record import credit_record
from setrl.logs.importers import tinker_cookbook
from setrl.logs.importers.tools import READERS, for_tool
from setrl.logs.log import open_log
from setrl.logs.options import LogOptions
from setrl.logs.records import is_evaluation_file
from setrl.show.lab.view.index import LogIndex
from setrl.show.lab.view.logs import FileLog, GroupLog, Rollouts, ToolLog
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, explain
from setrl.support.files.run_folder import (
    RECORD,
    TrainingRun,
    evaluation_files,
    find_arms,
    kind_of,
    read_config,
)

DEEPEST = 6  # folders below the one that is shown
MOST_FOLDERS = 20_000
LOGS = (".jsonl", ".jsonl.gz", ".json", ".parquet")  # how names of files end that may be logs
LONGEST_JSON = 64_000_000  # bytes of an array that is read as a whole to see if it is a log
RECOGNISED = 50  # rows that tell whether a file is a log
METRICS = "metrics.jsonl"

Kind = Literal["comparison", "control", "log", "files"]


@dataclass(frozen=True)
class Seed:
    """One training run.

    Attributes:
        metrics: Its metrics.jsonl; None for a log that has none.
        index: Its groups; None where none are logged.
    """

    metrics: Path | None = None
    index: LogIndex | None = None


@dataclass(frozen=True)
class CatalogueEntry:
    """A run, a log or some files.

    Attributes:
        id: What clients call it.
        name: What people call it.
        where: Its place in the folder that is shown.
        kind: What it is.
        path: Its folder or file.
        about: run.json of a run.
        config: The config of a run.
        arms: Arm → seed → training run.
        evaluations: Split → arm → seed → its groups.
    """

    id: str
    name: str
    where: str
    kind: Kind
    path: Path
    about: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    arms: Mapping[str, Mapping[int, Seed]] = field(default_factory=dict)
    evaluations: Mapping[str, Mapping[str, Mapping[int, LogIndex]]] = field(default_factory=dict)

    def training_run(self, arm: str, seed: int) -> Seed:
        """Return a training run.

        Raises:
            LookupError: If the run has no such arm or seed.
        """
        return self.arms[arm][seed]

    def indexes(self, split: str) -> dict[tuple[str, int], LogIndex]:
        """Return (arm, seed) → groups: of a split, or of training if it is ""."""
        if split:
            found = self.evaluations.get(split, {})
            return {(arm, seed): one for arm, seeds in found.items() for seed, one in seeds.items()}
        return {
            (arm, seed): one.index
            for arm, seeds in self.arms.items()
            for seed, one in seeds.items()
            if one.index is not None
        }

    @property
    def all_arms(self) -> list[str]:
        """Every arm of the entry, the arms of training first, and steps of arms last."""
        given = (*self.arms, *(arm for split in self.evaluations.values() for arm in split))
        return sorted(dict.fromkeys(given), key=lambda arm: ", step " in arm)

    @property
    def splits(self) -> list[str]:
        """The splits that have samples; training is ""."""
        return [split for split in ("", *self.evaluations) if self.indexes(split)]


@dataclass(frozen=True)
class Found:
    """What a folder holds now.

    Attributes:
        entries: Id → run, log or files, the newest run first.
        notes: What could not be read, in sentences.
    """

    entries: Mapping[str, CatalogueEntry]
    notes: tuple[str, ...]


class Catalogue:
    """Looks for runs in a folder; indexes of groups are kept from one look to the next.

    Args:
        root: The folder, or a file of samples.
        options: How logs are read.
    """

    def __init__(self, root: Path, options: LogOptions | None = None) -> None:
        self.root = root
        self.options = options or LogOptions()
        self._indexes: dict[tuple[Path, str], LogIndex] = {}
        self._known: dict[tuple[Path, int, int], Literal["samples", "credited", ""]] = {}

    def look(self) -> Found:
        """Return what the folder holds now."""
        entries: list[CatalogueEntry] = []
        notes: list[str] = []
        for folder, names in self._folders():
            try:
                entries += self._entries(folder, names)
            except (ConfigError, DataError, OSError) as error:
                notes.append(explain(error))
        entries.sort(key=lambda entry: str(entry.about.get("created", "")), reverse=True)
        return Found({entry.id: entry for entry in entries}, tuple(notes))

    def _folders(self) -> Iterator[tuple[Path, list[str]]]:
        """Folders and the names of their files; what is inside a run belongs to the run."""
        if self.root.is_file():
            yield self.root.parent, [self.root.name]
            return
        depth = len(self.root.parts)
        walk = os.walk(self.root)  # follows no links
        for number, (path, folders, names) in enumerate(walk):
            folder = Path(path)
            is_deep = len(folder.parts) - depth >= DEEPEST
            if number >= MOST_FOLDERS or is_deep or RECORD in names:
                folders.clear()
            hidden = set(folders) if _is_tinker(folder, folders) else set()
            folders[:] = sorted({name for name in folders if not name.startswith(".")} - hidden)
            yield folder, sorted(names)
            if number >= MOST_FOLDERS:
                return

    def _entries(self, folder: Path, names: list[str]) -> Iterator[CatalogueEntry]:
        kind = kind_of(folder) if RECORD in names else None
        if kind is not None:
            yield self._run(folder, kind)
            return
        if steps := tinker_cookbook.iterations(folder):
            yield self._tinker_log(folder, steps, METRICS in names)
            return
        for tool, reader in READERS.items():
            found = [match for name in names if (match := reader.knows(name))]
            if found:
                yield self._tool_log(folder, tool, found)
                return
        given = [folder / name for name in names if self._holds(folder / name)]
        if given:
            yield self._files(folder, given)

    def _run(self, folder: Path, kind: Literal["comparison", "control"]) -> CatalogueEntry:
        about = files.read_json(folder / RECORD)
        arms: dict[str, dict[int, Seed]] = {}
        evaluations: dict[str, dict[str, dict[int, LogIndex]]] = {}
        config = read_config(folder)
        for arm in find_arms(folder):
            for seed, path in arm.seeds.items():
                run = TrainingRun(path)
                if run.metrics.exists():
                    arms.setdefault(arm.arm, {})[seed] = self._seed(run, kind, config)
                for name, model in _evaluated(arm.arm, run).items():
                    for split, file in evaluation_files(model).items():
                        of_split = evaluations.setdefault(split, {})
                        of_split.setdefault(name, {})[seed] = self._file_index(file)
        return CatalogueEntry(
            id=self._id(folder),
            name=str(about.get("name") or folder.name),
            where=self._where(folder),
            kind=kind,
            path=folder,
            about=about,
            config=config,
            arms=arms,
            evaluations=evaluations,
        )

    def _seed(self, run: TrainingRun, kind: Kind, config: Mapping[str, Any]) -> Seed:
        if kind == "control":  # its rollouts are trunks and vines, which have no prompts
            return Seed(run.metrics)
        method = (config.get("arms") or {}).get(run.path.parent.name)
        log = Rollouts(run.rollout_files(), method if isinstance(method, dict) else {})
        return Seed(run.metrics, self._index(run.path, log))

    def _tool_log(self, folder: Path, tool: str, found: list[re.Match[str]]) -> CatalogueEntry:
        name = folder.parent.name if folder.name == "completions" else folder.name
        name = self.root.stem if self.root.is_file() else name
        arms: dict[str, dict[int, Seed]] = {}
        if READERS[tool].by_step and found[0].re.groups:
            steps = {int(match[1]): folder / match[0] for match in found}
            named = for_tool(tool, self.options.fields)
            options = replace(self.options, fields=named)
            log = ToolLog(dict(sorted(steps.items())), READERS[tool], options)
            arms = {name: {0: Seed(index=self._index(folder, log))}}
        given = self.root if self.root.is_file() else folder
        evaluations = {tool: {name: {0: self._file_index(given, tool)}}}
        about = {"command": f"a log of {tool}"}
        where = self._where(folder)
        return CatalogueEntry(
            self._id(folder), name, where, "log", given, about, {}, arms, evaluations
        )

    def _tinker_log(
        self, folder: Path, steps: dict[int, Path], has_metrics: bool
    ) -> CatalogueEntry:
        """Return a log_path of tinker-cookbook: its groups, metrics, and rollouts of test sets."""
        name = folder.name
        index = self._index(folder, ToolLog(steps, READERS["tinker"], self.options))
        seed = Seed(folder / METRICS if has_metrics else None, index)
        last = tuple(steps.values())[-1]
        evaluations = {"tinker": {name: {0: self._file_index(last, "tinker")}}}
        for split, of_steps in tinker_cookbook.evaluations(folder).items():
            evaluations[split] = {
                f"iteration {step}": {0: self._file_index(path, "tinker")}
                for step, path in of_steps.items()
            }
        about = {"command": "a log of tinker-cookbook"}
        return CatalogueEntry(self._id(folder), name, self._where(folder), "log", folder, about, {},
                     {name: {0: seed}}, evaluations)  # fmt: skip

    def _files(self, folder: Path, paths: list[Path]) -> CatalogueEntry:
        """Return files of samples, one arm each; credited files next to other files are not arms.

        What `setrl credit` writes are the samples of another file: to compare the two says nothing.
        """
        credited = [path for path in paths if self._holds(path) == "credited"]
        others = [path for path in paths if path not in credited]
        splits = {"given": others, "credited": credited} if others else {"given": credited}
        named = folder / paths[0].name if self.root.is_file() else folder
        arms = {split: self._arms(of) for split, of in splits.items() if of}
        return CatalogueEntry(self._id(named), named.name, self._where(named), "files", named,
                     evaluations=arms)  # fmt: skip

    def _arms(self, paths: list[Path]) -> dict[str, dict[int, LogIndex]]:
        return {name: {0: self._file_index(path)} for name, path in _named(paths).items()}

    def _holds(self, path: Path) -> Literal["samples", "credited", ""]:
        """Return what the first rows of a file are; empty if they are not samples."""
        if path == self.root:
            return "samples"
        if not path.name.endswith(LOGS) or not path.is_file():
            return ""
        about = path.stat()
        key = (path, about.st_size, about.st_mtime_ns)
        if key not in self._known:
            is_long = path.suffix == ".json" and about.st_size > LONGEST_JSON
            if is_evaluation_file(path):
                self._known[key] = "samples"
            else:
                self._known[key] = "" if is_long else _samples_of(path)
        return self._known[key]

    def _index(self, path: Path, log: Rollouts | ToolLog) -> LogIndex | None:
        """Return the index of a training run; of a known one only the list of files is renewed."""
        if not log.files:
            return None
        index = self._kept(path, "", log)
        if index.log.files != log.files:
            index.log = log
        return index

    def _file_index(self, path: Path, tool: str | None = None) -> LogIndex:
        return self._kept(path, f"file {tool}", FileLog(path, self.options, tool))

    def _kept(self, path: Path, kind: str, log: GroupLog) -> LogIndex:
        """Return the index that is kept from one look to the next."""
        return self._indexes.setdefault((path, kind), LogIndex(log))

    def _where(self, path: Path) -> str:
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else path.name

    def _id(self, path: Path) -> str:
        return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _evaluated(arm: str, run: TrainingRun) -> dict[str, Path]:
    """Name → folder of the models of a training run that may have been evaluated."""
    steps = run.checkpoint_folders()
    return {arm: run.path} | {f"{arm}, step {step}": path for step, path in steps.items()}


def _named(paths: list[Path]) -> dict[str, Path]:
    """Name → file: what is before the first dot, or the whole name where that is not unique."""
    stems = [path.name.partition(".")[0] for path in paths]
    return {
        stem if stems.count(stem) == 1 else path.name: path
        for stem, path in zip(stems, paths, strict=True)
    }


def _samples_of(path: Path) -> Literal["samples", "credited", ""]:
    """Return whether the first rows of a file are samples with texts, and who credited them."""
    with suppress(ConfigError, DataError, OSError):
        log = open_log(path, first=RECOGNISED)
        if "text" in log.reader.columns:
            return "credited" if credit_record(log.rows.record(0)) else "samples"
    return ""


def _is_tinker(folder: Path, folders: list[str]) -> bool:
    """Return whether a folder's folders are the iterations of a log of tinker-cookbook."""
    named = any(map(tinker_cookbook.ITERATION.fullmatch, folders))
    return named and bool(tinker_cookbook.iterations(folder))
