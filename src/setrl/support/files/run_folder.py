"""The folder of a run: which file is where, and the folders of its training runs.

<run>/run.json, config.yaml, summary.json, figures/, report.html
<run>/base/                    what every arm starts from, and its evaluation/<split>.jsonl
<run>/base/temperature_0.5/    the same model sampled at another temperature: evaluation/
<run>/<arm>/seed_<s>/          a training run: one arm with one seed
    run.json, metrics.jsonl, rollouts/step_000010.jsonl, checkpoints/, final/,
    evaluation/<split>.jsonl
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from setrl.support import files
from setrl.support.errors import ConfigError, DataError, RunError

SCHEMA_VERSION = 1
BASE = "base"  # the model that every arm starts from: its folder, and its name in figures
FIGURES = "figures"
RECORD = "run.json"
CONFIG = "config.yaml"
COMPLETE = "complete"  # the last file of a checkpoint: checksums of the other files

log = logging.getLogger(__name__)

Kind = Literal["comparison", "control"]
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
        """Return the latest complete checkpoint; None if there is none."""
        complete = [path for path in self.checkpoint_folders().values() if _is_complete(path)]
        return complete[-1] if complete else None

    def usable_checkpoint(self) -> Path | None:
        """Return the latest complete checkpoint that can be resumed; None if there is none.

        Its files are undamaged, and the metrics hold its step. Later checkpoints are skipped, with
        a warning that says what is wrong.
        """
        last = self.last_step()
        while (folder := self.last_checkpoint()) is not None:
            step, damaged = _step_of(folder), _damaged_file(folder)
            if damaged is None and last >= step:
                return folder
            (folder / COMPLETE).unlink(missing_ok=True)
            before = self.last_checkpoint()
            log.warning(
                "%s: training repeats the steps after %s",
                f"{folder / damaged} is damaged" if damaged else self._cut(last, step),
                before.name if before else "the start",
            )
        return None

    def last_step(self) -> int:
        """Return the last step that the metrics hold; 0 if they hold none."""
        return max((record["step"] for record in files.read_lines(self.metrics)), default=0)

    def refuse_cut_metrics(self, step: int) -> None:
        """Refuse metrics that lack a step that is done, because nothing would repeat it.

        Raises:
            RunError: Naming the file, and what to do.
        """
        last = self.last_step()
        if last < step:
            raise RunError(
                f"{self._cut(last, step)}: put the whole file back, or remove {self.path} to train "
                "this arm with this seed again"
            )

    def _cut(self, last: int, step: int) -> str:
        held = f"ends at step {last}" if last else "holds no step"
        return f"{self.metrics} {held}, but step {step} is done"

    def remove_incomplete(self) -> None:
        """Remove the checkpoints that were not written completely."""
        for folder in self.checkpoint_folders().values():
            if not _is_complete(folder):
                shutil.rmtree(folder)

    def mark_complete(self, step: int) -> None:
        """Record that the checkpoint of a step was written completely, with its checksums."""
        folder = self.checkpoint(step)
        sums = {path.name: _checksum(path) for path in sorted(folder.iterdir()) if _is_ours(path)}
        files.write_json(folder / COMPLETE, sums)

    def truncate(self, step: int) -> None:
        """Remove the records of later steps, so that a resumed run records them once.

        Raises:
            RunError: If the metrics lack the step.
        """
        self.refuse_cut_metrics(step)
        kept = [record for record in files.read_lines(self.metrics) if record["step"] <= step]
        files.write_lines(self.metrics, kept)
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


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            checksum = zlib.crc32(part, checksum)
    return checksum


def _damaged_file(checkpoint: Path) -> str | None:
    """Return the name of a file that changed since it was written; None if all are unchanged."""
    try:
        sums = json.loads((checkpoint / COMPLETE).read_bytes() or "{}")  # earlier versions: empty
    except (OSError, ValueError):
        return COMPLETE
    for name, wanted in sums.items():
        path = checkpoint / name
        if not path.is_file() or _checksum(path) != wanted:
            return str(name)
    return None


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
        config = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise DataError(f"{path}: is damaged: it is not YAML ({why})") from None
    return config if isinstance(config, dict) else {}


def kind_of(run_dir: str | Path) -> Kind | None:
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
    # The first comparisons did not record their kind; a training run has neither kind nor name.
    kind = record.get("kind", "comparison" if "name" in record else None)
    if kind is not None and record["schema_version"] != SCHEMA_VERSION:
        raise ConfigError(
            f"{path} has schema version {record['schema_version']}, and this version of setrl "
            f"reads {SCHEMA_VERSION}: use the version of setrl that wrote it"
        )
    return kind if kind in get_args(Kind) else None


def write_status(folder: Path, status: Status, **about: Any) -> None:
    """Write a folder's run.json: when it was created, its status, and further facts."""
    path = folder / RECORD
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known = files.read_json(path)
    created = {"schema_version": SCHEMA_VERSION, "created": known.get("created", now)}
    error = {} if status == "failed" else {"error": None}
    files.write_json(path, {**known, **created, "status": status, "changed": now, **error, **about})
