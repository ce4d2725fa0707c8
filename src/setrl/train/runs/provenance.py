"""What made a run: versions, the commit of the source, and the command."""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import setrl

PACKAGES = (
    *("torch", "transformers", "trl", "accelerate", "datasets", "numpy"),
    *("stable-baselines3", "gymnasium", "minigrid", "mujoco"),
    *("jax", "jaxlib", "optax", "gymnax", "xminigrid"),
)


def provenance() -> dict[str, Any]:
    """Return the versions of packages, the commit of the source, and the command."""
    return {"versions": _versions(), "git": _git(), "command": _command()}


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "setrl": setrl.__version__}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _git() -> dict[str, Any] | None:
    """Return the commit, and whether files differ from it; None outside a repository."""
    try:
        return {"commit": _ask_git("rev-parse", "HEAD"), "dirty": bool(_ask_git("status", "-s"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def _ask_git(*arguments: str) -> str:
    here = Path(__file__).parent
    done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _command() -> str:
    name = Path(sys.argv[0]).name if sys.argv else "python"
    shown = "python -m setrl" if re.fullmatch(r"__main__\.py", name) else name
    return " ".join([shown, *map(shlex.quote, sys.argv[1:])])
