"""The folder of a run: which file is where, and the folders of its training runs.

<run>/run.json, config.yaml, summary.json, figures/, report.html
<run>/base/                    what every arm starts from, and its evaluation/<split>.jsonl
<run>/base/temperature_0.5/    the same model sampled at another temperature: evaluation/
<run>/<arm>/seed_<s>/          a training run: one arm with one seed
    run.json, metrics.jsonl, rollouts/step_000010.jsonl, checkpoints/, final/,
    evaluation/<split>.jsonl
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from setrl.support import files
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.support.files import json_lines, strict_yaml
from setrl.support.files.digests import changed_file, digest, digests

SCHEMA_VERSION = 1
BASE = "base"  # the model that every arm starts from: its folder, and its name in figures
FIGURES = "figures"
RECORD = "run.json"
CONFIG = "config.yaml"
COMPLETE = "complete"  # the last file of a checkpoint: fingerprints of all that it continues

log = logging.getLogger(__name__)

RunKind = Literal["comparison", "control"]
Status = Literal["running", "finished", "failed", "interrupted"]


@dataclass(frozen=True)
class TrainingRun:
    """The folder of one training run: one arm with one seed."""

    path: Path

    @property
    def metrics(self) -> Path:
        """The metrics: one JSON object per step."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints, from which an interrupted run resumes."""
        return self.path / "checkpoints"

    @property
    def final(self) -> Path:
        """The last model and its tokenizer; exists once the run is finished."""
        return self.path / "final"

    @property
    def evaluation(self) -> Path:
        """The evaluation of a finished control policy."""
        return self.path / "evaluation.json"

    def rollouts(self, step: int) -> Path:
        """Return the file of a step's samples: one JSON object per prompt."""
        return self.path / "rollouts" / f"step_{step:06d}.jsonl"

    def rollout_files(self) -> dict[int, Path]:
        """Return step → file of its samples, for the steps that have one."""
        found = (self.path / "rollouts").glob("step_*.jsonl")
        return dict(sorted((int(path.stem.removeprefix("step_")), path) for path in found))

    def checkpoint(self, step: int) -> Path:
        """Return the folder of the checkpoint after a step."""
        return self.checkpoints / f"checkpoint-{step}"

    def checkpoint_folders(self) -> dict[int, Path]:
        """Return step → folder of every checkpoint, complete or not."""
        found = self.checkpoints.glob("checkpoint-*")
        return dict(sorted((_step_of(path), path) for path in found))

    def last_checkpoint(self) -> Path | None:
        """Return the latest complete checkpoint, or None."""
        complete = [path for path in self.checkpoint_folders().values() if _is_complete(path)]
        return complete[-1] if complete else None

    def usable_checkpoint(self) -> Path | None:
        """Return the latest complete checkpoint that can be resumed, or None.

        Its files, and the metrics until its step, are what they were when it was written. Later
        checkpoints are given up, with a warning that says what is wrong.
        """
        whole, damaged = self._newest_whole()
        for folder, file in damaged.items():
            (folder / COMPLETE).unlink(missing_ok=True)
            after = whole.name if whole else "the start"
            log.warning("%s is damaged: training repeats the steps after %s", file, after)
        return whole

    def _newest_whole(self) -> tuple[Path | None, dict[Path, Path]]:
        """Return the latest checkpoint without damage, and for each later one a damaged file."""
        damaged: dict[Path, Path] = {}
        for folder in reversed(self.checkpoint_folders().values()):
            if not _is_complete(folder):
                continue
            if (file := self._damaged_by(folder)) is None:
                return folder, damaged
            damaged[folder] = file
        return None, damaged

    def _damaged_by(self, checkpoint: Path) -> Path | None:
        """Return the first file that is not what it was when a checkpoint was written."""
        try:
            written = files.read_json(checkpoint / COMPLETE)
            rows = written["metrics"]
            if (name := changed_file(checkpoint, written["files"])) is not None:
                return checkpoint / name
            is_whole = digest(self.metrics, rows["bytes"]) == rows["digest"]
        except (OSError, DataError, KeyError, TypeError):
            return checkpoint / COMPLETE if self.metrics.is_file() else self.metrics
        return None if is_whole else self.metrics

    def end(self, finished: bool, step: int) -> None:
        """Record that training ended; of a finished run, also what it wrote, to notice damage."""
        if not finished:
            write_status(self.path, "interrupted", step=step)
            return
        ours = [path for path in self.final.rglob("*") if path.is_file() and path.suffix != ".md"]
        ours += [path for path in (self.metrics, self.evaluation) if path.is_file()]
        write_status(self.path, "finished", step=step, wrote=digests(self.path, ours))

    def is_done(self, mark: Path, step: int) -> bool:
        """Return whether training is done, and its files are what they were.

        If a file is damaged, the steps after the last usable checkpoint are to be done again, which
        writes it again.

        Args:
            mark: What is there once training is done.
            step: The last step.

        Raises:
            RunError: Naming the damaged file, if no checkpoint is left.
        """
        if not mark.exists():
            return False
        wrote = files.read_json(self.path / RECORD).get("wrote")
        damaged = None if wrote is None else changed_file(self.path, wrote)
        if damaged is None:  # a process may have been killed between the last file and the record
            if wrote is None:
                self.end(True, step)
            else:
                write_status(self.path, "finished", step=step)
            return True
        said = f"{self.path / damaged} is missing, or is not what this run wrote"
        checkpoint, _ = self._newest_whole()
        if checkpoint is None:
            raise RunError(
                f"{said}, and no checkpoint is left: put the file back, or remove {self.path} to "
                "train this arm with this seed again"
            )
        log.warning("%s: it is made again from %s", said, checkpoint.name)
        return False

    def remove_incomplete(self) -> None:
        """Remove the checkpoints that were not written completely."""
        for folder in self.checkpoint_folders().values():
            if not _is_complete(folder):
                shutil.rmtree(folder)

    def mark_complete(self, step: int) -> None:
        """Record that the checkpoint of a step was written completely, and what belongs to it."""
        folder = self.checkpoint(step)
        rows = {"bytes": self.metrics.stat().st_size, "digest": digest(self.metrics)}
        ours = digests(folder, filter(_is_ours, folder.iterdir()))
        files.write_json(folder / COMPLETE, {"files": ours, "metrics": rows})

    def truncate(self, step: int) -> None:
        """Remove the records of later steps, so that a resumed run records them once."""
        self.metrics.touch()
        for line in json_lines.read(self.metrics, torn="cut"):
            if line.record["step"] > step:
                os.truncate(self.metrics, line.start)
                break
        for later, path in self.rollout_files().items():
            if later > step:
                path.unlink()


def _step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _is_complete(checkpoint: Path) -> bool:
    return (checkpoint / COMPLETE).exists()


def _is_ours(path: Path) -> bool:
    """Return whether the process that completes a checkpoint wrote this file of it."""
    return path.is_file() and path.name != COMPLETE and not path.match("rng_state_*.pth")


def training_run(run_dir: Path, arm: str, seed: int) -> TrainingRun:
    """Return the training run of an arm with a seed."""
    return TrainingRun(run_dir / arm / f"seed_{seed}")


@dataclass(frozen=True)
class ArmFolders:
    """One arm of a run, and the folders of its training runs.

    Attributes:
        arm: Name of the arm; "base" for the model that every arm starts from, and
            "base_temperature_0.5" for its samples at another temperature.
        seeds: Seed → folder of that training run; the base has no seed and is under 0.
    """

    arm: str
    seeds: dict[int, Path]


def find_arms(run_dir: Path) -> list[ArmFolders]:
    """List the arms of a run: the base first, then in the order of the config, then by name.

    Raises:
        ConfigError: If the folder does not exist.
    """
    if not run_dir.is_dir():
        raise ConfigError(f"{run_dir} is not a run directory: the folder does not exist")
    order = list(read_config(run_dir).get("arms") or ())
    names = [folder.name for folder in run_dir.iterdir() if seed_folders(folder)]
    names.sort(key=lambda name: (order.index(name) if name in order else len(order), name))
    arms = [ArmFolders(name, seed_folders(run_dir / name)) for name in names]
    folders = [run_dir / BASE, *sorted((run_dir / BASE).glob("temperature_*"))]
    base = [ArmFolders("_".join(folder.relative_to(run_dir).parts), {0: folder})
            for folder in folders if folder.is_dir()]  # fmt: skip
    return base + arms


def is_base(arm: str) -> bool:
    """Whether an arm is the base, at whatever temperature: nothing trained it."""
    return arm == BASE or arm.startswith(f"{BASE}_temperature_")


def seed_folders(folder: Path) -> dict[int, Path]:
    """Return seed → training run for an arm's folder; empty for any other folder."""
    if not folder.is_dir() or folder.name == BASE:
        return {}
    found = {int(m[1]): p for p in folder.iterdir() if (m := re.fullmatch(r"seed_(\d+)", p.name))}
    return dict(sorted(found.items()))


def evaluation_files(folder: Path) -> dict[str, Path]:
    """Return split → evaluation file for the folder of one model."""
    return {path.stem: path for path in sorted((folder / "evaluation").glob("*.jsonl"))}


def read_config(run_dir: Path) -> dict[str, Any]:
    """Read the config of a run, with every default; empty if the file is missing.

    Raises:
        DataError: If the file is damaged.
    """
    path = run_dir / CONFIG
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        config, _ = strict_yaml.parse(text, str(path))
    except (ConfigError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: is damaged: {error}") from None
    return config if isinstance(config, dict) else {}


def kind_of(run_dir: str | Path) -> RunKind | None:
    """Return the kind of a run; None if the folder is not a run of setrl.

    Raises:
        ConfigError: If the run was written by a later version of setrl.
        DataError: If its run.json is damaged.
    """
    path = Path(run_dir) / RECORD
    try:
        record = files.read_json(path)
    except (OSError, ValueError):
        if path.is_file() and b'"schema_version"' in path.read_bytes()[:64]:
            raise  # our file, cut off
        return None
    if not isinstance(record.get("schema_version"), int):
        return None
    kind = record.get("kind")  # a training run has none
    if kind is not None and record["schema_version"] != SCHEMA_VERSION:
        raise ConfigError(
            f"{path} has schema version {record['schema_version']}, and this version of setrl "
            f"reads {SCHEMA_VERSION}: use the version of setrl that wrote it"
        )
    return kind if kind in get_args(RunKind) else None


def write_status(folder: Path, status: Status, **about: Any) -> None:
    """Write a folder's run.json: when it was created, its status, and further facts."""
    path = folder / RECORD
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known = files.read_json(path)
    created = {"schema_version": SCHEMA_VERSION, "created": known.get("created", now)}
    error = {} if status == "failed" else {"error": None}
    files.write_json(path, {**known, **created, "status": status, "changed": now, **error, **about})
