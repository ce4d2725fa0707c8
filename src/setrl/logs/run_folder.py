"""Where things are in a comparison's run directory.

<run>/base/evaluation/<split>.jsonl              the model that every arm starts from
<run>/<arm>/seed_<s>/evaluation/<split>.jsonl    an arm's last model, one training seed
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from setrl.errors import ConfigError

BASE = "base"


@dataclass(frozen=True)
class ArmFolders:
    """One arm of a comparison.

    Attributes:
        arm: Its name; "base" for the base model.
        seeds: Training seed → folder of that training run; the base has none and stands under 0.
    """

    arm: str
    seeds: dict[int, Path]


def find_arms(run_dir: Path) -> list[ArmFolders]:
    """The arms of a run directory: the base first, then in the config's order, then by name.

    Raises:
        ConfigError: When there is no such folder.
    """
    if not run_dir.is_dir():
        raise ConfigError(f"{run_dir} is not a run directory: there is no such folder")
    order = list(read_config(run_dir).get("arms") or ())
    names = [folder.name for folder in run_dir.iterdir() if seed_folders(folder)]
    names.sort(key=lambda name: (order.index(name) if name in order else len(order), name))
    arms = [ArmFolders(name, seed_folders(run_dir / name)) for name in names]
    base = [ArmFolders(BASE, {0: run_dir / BASE})] if (run_dir / BASE).is_dir() else []
    return base + arms


def read_config(run_dir: Path) -> dict[str, Any]:
    """The resolved config of a run; empty where there is none."""
    path = run_dir / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    return config if isinstance(config, dict) else {}


def evaluation_files(folder: Path) -> dict[str, Path]:
    """Split → evaluation file, of one model's folder."""
    return {path.stem: path for path in sorted((folder / "evaluation").glob("*.jsonl"))}


def seed_folders(folder: Path) -> dict[int, Path]:
    """Training seed → its folder, of an arm's folder; empty where it is none."""
    if not folder.is_dir() or folder.name == BASE:
        return {}
    found = {int(m[1]): p for p in folder.iterdir() if (m := re.fullmatch(r"seed_(\d+)", p.name))}
    return dict(sorted(found.items()))
