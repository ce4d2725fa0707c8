"""What a folder holds: runs, logs of other tools, files of samples; each under an id.

A client names things only by these ids, so no path from a client reaches the disk.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from setrl.logs.importers import tinker_cookbook
from setrl.logs.importers.tools import READERS, for_tool
from setrl.logs.log import open_log
from setrl.logs.options import LogOptions
from setrl.logs.records import is_own_file
from setrl.logs.run import RECORD, Arm, Run, Seed
from setrl.logs.writing import credit_record
from setrl.show.lab.view.index import LogIndex
from setrl.show.lab.view.logs import FileLog, GroupLog, Rollouts, ToolLog
from setrl.support.errors import ConfigError, DataError, explain
from setrl.support.wording import short_names

DEEPEST = 6  # folders below the one that is shown
MOST_FOLDERS = 20_000
# How names of files end that may be logs.
LOGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".csv", ".csv.gz", ".parquet")
NO_TEXTS = "its samples have no texts"
SHOWN = 3  # files that are left out, in a sentence
LONGEST_JSON = 64_000_000  # bytes of an array that is read as a whole to see if it is a log
RECOGNISED = 50  # rows that tell whether a file is a log


LogKey = tuple[str, str, int]
"""Split, arm and seed; the split of training is ""."""


@dataclass(frozen=True)
class Entry:
    """A run; or a log or files of another program, which `run` then describes as one.

    Attributes:
        id: What clients call it.
        where: Its place in the folder that is shown.
        run: Its record, config and arms; the kind is "log" or "files" where setrl did not write it.
        logs: Where there are groups. A step of an arm that was evaluated is an arm here.
    """

    id: str
    where: str
    run: Run
    logs: Mapping[LogKey, LogIndex]

    def of_split(self, split: str) -> dict[tuple[str, int], LogIndex]:
        """Return (arm, seed) → groups."""
        return {(arm, seed): log for (name, arm, seed), log in self.logs.items() if name == split}

    @cached_property
    def with_metrics(self) -> set[tuple[str, int]]:
        """The (arm, seed) whose metrics are logged."""
        arms = self.run.arms.values()
        seeds = ((arm.name, seed) for arm in arms for seed in arm.seeds.values())
        return {(arm, seed.number) for arm, seed in seeds if seed.metrics_file.exists()}

    @property
    def trained(self) -> list[tuple[str, int]]:
        """The (arm, seed) whose metrics or groups of training are logged."""
        seeds = [(name, seed) for name, arm in self.run.arms.items() for seed in arm.seeds]
        return [key for key in seeds if key in self.with_metrics or ("", *key) in self.logs]

    @property
    def arms(self) -> list[str]:
        """Every arm, the arms of training first, and steps of arms last."""
        names = (*(arm for arm, _ in self.trained), *(arm for _, arm, _ in self.logs))
        return sorted(dict.fromkeys(names), key=lambda arm: ", step " in arm)

    @property
    def splits(self) -> list[str]:
        """The splits that have samples, training first."""
        return sorted(dict.fromkeys(split for split, _, _ in self.logs), key=bool)


@dataclass(frozen=True)
class Found:
    """What a folder holds now.

    Attributes:
        entries: Id → run, log or files, the newest run first.
        notes: What could not be read, in sentences.
    """

    entries: Mapping[str, Entry]
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
        self._kinds: dict[tuple[Path, int, int], Literal["samples", "credited", ""]] = {}
        self._why_left_out: dict[Path, str] = {}  # a file that is left out → why

    def look(self) -> Found:
        """Return what the folder holds now."""
        entries: list[Entry] = []
        notes: list[str] = []
        for folder, names in self._walk_folders():
            try:
                folder_entries = list(self._entries_in_folder(folder, names))
                entries += folder_entries
                is_of_files = any(entry.run.kind == "files" for entry in folder_entries)
                if is_of_files or (folder == self.root and not folder_entries):
                    notes += self._left_out_notes(folder, names)
            except (ConfigError, DataError, OSError) as error:
                notes.append(explain(error))
        entries.sort(key=lambda entry: str(entry.run.record.get("created", "")), reverse=True)
        return Found({entry.id: entry for entry in entries}, tuple(notes))

    def _left_out_notes(self, folder: Path, names: list[str]) -> list[str]:
        """Say which files with names of logs are not shown, and why."""
        paths = [folder / name for name in names if folder / name in self._why_left_out]
        if not paths:
            return []
        reasons = [f"{path.name} ({self._why_left_out[path]})" for path in paths[:SHOWN]]
        rest = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
        return [f"{folder}: left out: {', '.join(reasons)}{rest}; `setrl view FILE` with options "
                "that name its fields may read one"]  # fmt: skip

    def _walk_folders(self) -> Iterator[tuple[Path, list[str]]]:
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
            hidden = set(folders) if _is_tinker_log(folder, folders) else set()
            folders[:] = sorted({name for name in folders if not name.startswith(".")} - hidden)
            yield folder, sorted(names)
            if number >= MOST_FOLDERS:
                return

    def _entries_in_folder(self, folder: Path, names: list[str]) -> Iterator[Entry]:
        if RECORD in names and (run := Run(folder)).kind is not None:
            yield self._run_entry(run)
            return
        if steps := tinker_cookbook.iterations(folder):
            yield self._tinker_entry(folder, steps)
            return
        for tool, reader in READERS.items():
            matches = [match for name in names if (match := reader.knows(name))]
            if matches:
                yield self._tool_entry(folder, tool, matches)
                return
        given = [folder / name for name in names if self._kind_of_file(folder / name)]
        if given:
            yield self._files_entry(folder, given)

    def _run_entry(self, run: Run) -> Entry:
        logs: dict[LogKey, LogIndex] = {}
        for name, arm in run.arms.items():
            for number, seed in arm.seeds.items():
                logs |= self._rollout_logs(run, name, seed)
                steps = {f"{name}, step {step}": Seed(at) for step, at in seed.checkpoints.items()}
                for shown, model in {name: seed, **steps}.items():
                    for split, file in model.evaluations.items():
                        logs[split, shown, number] = self._index_of_file(file)
        return self._make_entry(run, logs)

    def _rollout_logs(self, run: Run, arm: str, seed: Seed) -> dict[LogKey, LogIndex]:
        if run.kind == "control":  # its rollouts are trunks and vines, which have no prompts
            return {}
        method = (run.config.get("arms") or {}).get(arm)
        log = Rollouts(seed.rollouts, method if isinstance(method, dict) else {})
        return self._training_log(arm, seed, log)

    def _training_log(self, arm: str, seed: Seed, log: GroupLog) -> dict[LogKey, LogIndex]:
        return {("", arm, seed.number): self._kept_index(seed.path, "", log)} if log.files else {}

    def _make_entry(self, run: Run, logs: Mapping[LogKey, LogIndex]) -> Entry:
        path = run.path
        where = str(path.relative_to(self.root)) if path.is_relative_to(self.root) else path.name
        name = str(path).encode("utf-8", "surrogateescape")
        return Entry(hashlib.sha256(name).hexdigest()[:12], where, run, logs)

    def _tool_entry(self, folder: Path, tool: str, matches: list[re.Match[str]]) -> Entry:
        name = folder.parent.name if folder.name == "completions" else folder.name
        name = self.root.stem if self.root.is_file() else name
        given = self.root if self.root.is_file() else folder
        logs = {(tool, name, 0): self._index_of_file(given, tool)}
        if READERS[tool].by_step and matches[0].re.groups:
            steps = {int(match[1]): folder / match[0] for match in matches}
            options = replace(self.options, fields=for_tool(tool, self.options.fields))
            log = ToolLog(dict(sorted(steps.items())), READERS[tool], options)
            logs |= self._training_log(name, Seed(folder), log)
        return self._make_entry(_foreign_run(given, "log", name, f"a log of {tool}", folder), logs)

    def _tinker_entry(self, folder: Path, steps: dict[int, Path]) -> Entry:
        """Return a log_path of tinker-cookbook: its groups, metrics, and rollouts of test sets."""
        name, last = folder.name, tuple(steps.values())[-1]
        log = ToolLog(steps, READERS["tinker"], self.options)
        logs = self._training_log(name, Seed(folder), log)
        logs["tinker", name, 0] = self._index_of_file(last, "tinker")
        for split, of_steps in tinker_cookbook.evaluations(folder).items():
            for step, path in of_steps.items():
                logs[split, f"iteration {step}", 0] = self._index_of_file(path, "tinker")
        return self._make_entry(
            _foreign_run(folder, "log", name, "a log of tinker-cookbook", folder), logs
        )

    def _files_entry(self, folder: Path, paths: list[Path]) -> Entry:
        """Return files of samples, one arm each; credited files next to other files are not arms.

        What `setrl credit` writes are the samples of another file: to compare the two says nothing.
        """
        credited = [path for path in paths if self._kind_of_file(path) == "credited"]
        others = [path for path in paths if path not in credited]
        splits = {"given": others, "credited": credited} if others else {"given": credited}
        named = folder / paths[0].name if self.root.is_file() else folder
        logs = {
            (split, name, 0): self._index_of_file(path)
            for split, of_split in splits.items()
            for name, path in zip(
                short_names([Path(path.name) for path in of_split]), of_split, strict=True
            )
        }
        return self._make_entry(_foreign_run(named, "files", named.name), logs)

    def _kind_of_file(self, path: Path) -> Literal["samples", "credited", ""]:
        """Return what the first rows of a file are; empty if they are not samples."""
        if path == self.root:
            return "samples"
        if not path.name.endswith(LOGS) or not path.is_file():
            return ""
        about = path.stat()
        key = (path, about.st_size, about.st_mtime_ns)
        if key not in self._kinds:
            is_long = path.suffix == ".json" and about.st_size > LONGEST_JSON
            if is_own_file(path):
                self._kinds[key] = "samples"
            else:
                self._kinds[key], why = ("", "it is long") if is_long else _kind_by_first_rows(path)
                self._why_left_out |= {path: why} if why else {}
        return self._kinds[key]

    def _index_of_file(self, path: Path, tool: str | None = None) -> LogIndex:
        return self._kept_index(path, f"file {tool}", FileLog(path, self.options, tool))

    def _kept_index(self, path: Path, kind: str, log: GroupLog) -> LogIndex:
        """Return the index that is kept from one look to the next, with the files of now."""
        index = self._indexes.setdefault((path, kind), LogIndex(log))
        if index.log.files != log.files:
            index.log = log
        return index


def _foreign_run(
    path: Path, kind: str, name: str, command: str = "", trained: Path | None = None
) -> Run:
    """Return what another program wrote, described as a run; `trained` may have its metrics."""
    record = {"name": name, "command": command} if command else {"name": name}
    arms = {} if trained is None else {name: Arm(trained, name)}
    return Run(path).knowing(kind=kind, record=record, config={}, arms=arms)


def _kind_by_first_rows(path: Path) -> tuple[Literal["samples", "credited", ""], str]:
    """Return what the first rows of a file are, and why they are no samples with texts."""
    try:
        log = open_log(path, first=RECOGNISED)
        if "text" not in log.reader.columns:
            return "", NO_TEXTS
        return ("credited" if credit_record(log.rows.record(0)) else "samples"), ""
    except (ConfigError, DataError, OSError) as error:
        return "", explain(error).removeprefix(f"{path}: ")


def _is_tinker_log(folder: Path, folders: list[str]) -> bool:
    """Return whether a folder's folders are the iterations of a log of tinker-cookbook."""
    named = any(map(tinker_cookbook.ITERATION.fullmatch, folders))
    return named and bool(tinker_cookbook.iterations(folder))
