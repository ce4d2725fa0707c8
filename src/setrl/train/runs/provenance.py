"""What made a run: its inputs besides the config, versions, the source's commit, and the command.

The record of a run keeps a fingerprint of the code that its config names, of its model and of its
problems. A run that went on after one of them changed would mix the results of both.
"""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import setrl
from setrl.logs.run import RECORD
from setrl.models.folder import model_digests
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.support.files.digests import Digests, digest
from setrl.support.files.loading import code_of

INPUTS, ACCEPTED = "inputs", "accepted_changes"  # in the record of a run

PACKAGES = (
    *("torch", "transformers", "trl", "accelerate", "datasets", "numpy"),
    *("stable-baselines3", "gymnasium", "minigrid", "mujoco"),
    *("jax", "jaxlib", "optax", "gymnax", "xminigrid"),
)


def check_inputs(
    run_dir: Path, found: Digests, *, accept: bool = False, keep: bool = False
) -> None:
    """Refuse to go on with other inputs than those that a run began with.

    Args:
        run_dir: The folder of the run.
        found: The fingerprints of the inputs now.
        accept: Go on nevertheless.
        keep: Write the fingerprints into the record; then an input that is missing is refused, too.

    Raises:
        ConfigError: Naming what changed.
    """
    record = files.read_json(run_dir / RECORD)
    inputs = record.get(INPUTS, {})
    changed = [
        name for name, old in inputs.items() if found.get(name, None if keep else old) != old
    ]
    if changed and not accept:
        raise ConfigError(
            f"{run_dir} holds a run that began with something else:\n  "
            + "\n  ".join(f"{name} {'changed' if name in found else 'is gone'}" for name in changed)
            + "\nput it back, give another --run-dir, or go on with what is there now by "
            "--accept-changes, which the record of the run then says"
        )
    if keep:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        accepted = [*record.get(ACCEPTED, []), *({"time": now, "what": name} for name in changed)]
        later = {ACCEPTED: accepted} if accepted else {}
        files.write_json(run_dir / RECORD, {**record, INPUTS: dict(found), **later})


def inputs_of(config: Any) -> Digests:
    """Return the fingerprints of the code that a config names, and of its judges' files."""
    inputs = code_of(vars(config))
    for text in _find_texts(config.arms):
        path = Path(text)
        if path.suffix and path.is_file():  # the instructions of a judge
            inputs[f"file {text}"] = digest(path)
        elif (path / "config.json").is_file():
            inputs |= model_digests(text, path)
    return inputs


def _find_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a config, but not where a judge keeps what it said."""
    if isinstance(value, Mapping):
        value = [part for key, part in value.items() if key != "cache"]
    if isinstance(value, list | tuple):
        for item in value:
            yield from _find_texts(item)
    elif isinstance(value, str):
        yield value


def provenance() -> dict[str, Any]:
    """Return the versions of packages, the commit of the source, and the command."""
    return {
        "versions": _read_versions(),
        "git": _read_commit(),
        "command": _format_command(),
    }


def _read_versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "setrl": setrl.__version__}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _read_commit() -> dict[str, Any] | None:
    """Return the commit, and whether files differ from it; None outside a repository."""
    try:
        return {"commit": _ask_git("rev-parse", "HEAD"), "dirty": bool(_ask_git("status", "-s"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def _ask_git(*arguments: str) -> str:
    folder = Path(__file__).parent
    process = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return process.stdout.strip()


def _format_command() -> str:
    name = Path(sys.argv[0]).name if sys.argv else "python"
    shown = "python -m setrl" if re.fullmatch(r"__main__\.py", name) else name
    return " ".join([shown, *map(shlex.quote, sys.argv[1:])])
