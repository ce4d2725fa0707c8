"""The folder of a comparison, and the folders of its training runs.

<run>/run.json, config.yaml, base/, figures/, report.html
<run>/<arm>/seed_<s>/run.json, metrics.jsonl, rollouts/step_000010.jsonl, checkpoints/, final/,
                     evaluation/<split>.jsonl
"""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from setrl import files

SCHEMA_VERSION = 1
PACKAGES = (
    *("setrl", "torch", "transformers", "trl", "accelerate", "datasets", "numpy"),
    *("stable-baselines3", "gymnasium", "minigrid", "mujoco"),
)

Status = Literal["running", "finished", "failed", "interrupted"]


@dataclass(frozen=True)
class TrainingRun:
    """The folder of one training run: one arm with one seed."""

    path: Path

    @property
    def metrics(self) -> Path:
        """One JSON object a step."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """What an interrupted run goes on from."""
        return self.path / "checkpoints"

    @property
    def final(self) -> Path:
        """The last model and its tokenizer; there when the run is finished."""
        return self.path / "final"

    def rollouts(self, step: int) -> Path:
        """The samples of a step, one JSON object a prompt."""
        return self.path / "rollouts" / f"step_{step:06d}.jsonl"

    def last_checkpoint(self) -> Path | None:
        """The latest checkpoint that was written to its end."""
        whole = [folder for folder in self._checkpoints() if (folder / "complete").exists()]
        return max(whole, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)

    def remove_incomplete(self) -> None:
        """Remove checkpoints that were not written to their end."""
        for folder in self._checkpoints():
            if not (folder / "complete").exists():
                shutil.rmtree(folder)

    def _checkpoints(self) -> list[Path]:
        return list(self.checkpoints.glob("checkpoint-*"))

    def mark_complete(self, step: int) -> None:
        """Note that the checkpoint of a step was written to its end."""
        (self.checkpoints / f"checkpoint-{step}" / "complete").touch()

    def truncate(self, step: int) -> None:
        """Drop what was recorded after a step, so that a resumed run records it once."""
        kept = [record for record in files.read_lines(self.metrics) if record["step"] <= step]
        files.write_lines(self.metrics, kept)
        for path in (self.path / "rollouts").glob("step_*.jsonl"):
            if int(path.stem.removeprefix("step_")) > step:
                path.unlink()


def training_run(run_dir: Path, arm: str, seed: int) -> TrainingRun:
    """The folder of an arm's run with a seed."""
    return TrainingRun(run_dir / arm / f"seed_{seed}")


def write_status(folder: Path, status: Status, **about: Any) -> None:
    """Write a folder's run.json: when it was begun, how it stands, and what else is known."""
    path = folder / "run.json"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    known = files.read_json(path)
    created = {"schema_version": SCHEMA_VERSION, "created": known.get("created", now)}
    error = {} if status == "failed" else {"error": None}
    files.write_json(path, {**known, **created, "status": status, "changed": now, **error, **about})


def provenance() -> dict[str, Any]:
    """What made a run: versions, the commit of the source, and the command."""
    return {"versions": _versions(), "git": _git(), "command": _command()}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _git() -> dict[str, Any] | None:
    """Commit, and whether files differ from it; None where the source is in no repository."""
    try:
        return {"commit": _ask_git("rev-parse", "HEAD"), "dirty": bool(_ask_git("status", "-s"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def _ask_git(*arguments: str) -> str:
    here = Path(__file__).parent
    asked = subprocess.run(
        ["git", *arguments], cwd=here, capture_output=True, text=True, check=True
    )
    return asked.stdout.strip()


def _command() -> str:
    name = Path(sys.argv[0]).name if sys.argv else "python"
    shown = "python -m setrl" if re.fullmatch(r"__main__\.py", name) else name
    return " ".join([shown, *map(shlex.quote, sys.argv[1:])])
