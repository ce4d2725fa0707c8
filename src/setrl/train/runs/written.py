"""The files that setrl writes in a run's folder, so that no other file is ever removed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from setrl.logs.run import BASE, CONFIG, FIGURES, RECORD
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import json_lines
from setrl.support.files.written import SAVED_MODEL, Tree

REPORT = "report.html"
MARK = '<meta name="generator" content="setrl">'


def is_our_page(path: Path) -> bool:
    """Whether setrl wrote an HTML page."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4096).decode(errors="replace")
    return MARK in head


def refuse_page_of_others(path: Path) -> None:
    """Refuse to replace a page that setrl did not write.

    Raises:
        ConfigError: If there is one.
    """
    if path.exists() and not is_our_page(path):
        raise ConfigError(
            f"{path} was not written by setrl, and would be overwritten: move it elsewhere"
        )


def _has_our_records(path: Path) -> bool:
    try:
        first = next(json_lines.read(path), None)
    except DataError:
        return False
    return first is not None and "schema_version" in first.record


EVALUATION: Tree = {
    "*.jsonl": _has_our_records,
    "summary.json": Path.is_file,
    "samples": {"*.jsonl": _has_our_records},
}
MODEL_FILES = (
    *SAVED_MODEL,
    *("base.json", "task.json", "training_args.bin", "model.zip", "policy.safetensors"),
    *("seal", "README.md"),
)
MODEL: Tree = {**dict.fromkeys(MODEL_FILES, Path.is_file), "evaluation": EVALUATION}
PARTIAL = dict.fromkeys([".*.partial"], Path.exists)  # files that a killed process did not finish
TRAINING: Tree = {
    **dict.fromkeys((RECORD, "metrics.jsonl", "evaluation.json", "traceback.txt"), Path.is_file),
    "judge.sqlite*": Path.is_file,
    "rollouts": {"step_[0-9]*.jsonl": Path.is_file},
    # Training itself removes old checkpoints, and TRL writes its README.md. An arm that a server
    # trains has its state here; models.json stays, which says what is to be freed on the server.
    "checkpoints": {
        "checkpoint-[0-9]*": Path.is_dir,
        **dict.fromkeys(("README.md", "state.json"), Path.is_file),
        "batches": {"step_[0-9]*.json": Path.is_file},
    },
    "tensorboard": {"events.out.tfevents.*": Path.is_file},
    "final": MODEL,
    "evaluation": EVALUATION,
    **PARTIAL,
}
PICTURES = (
    *("learning.png", "strategy_shares.png", "time.png", "curves.png", "frontier.png"),
    *("frontier_*.png", "pass_at_k_*.png", "watch_*.gif", "watch_*.mp4", "watch_*.png"),
)


def run_tree(arms: Iterable[str]) -> Tree:
    """Return the files that a run with these arms writes in its folder."""
    return {
        **dict.fromkeys((RECORD, CONFIG, "summary.json"), Path.is_file),
        REPORT: is_our_page,
        FIGURES: dict.fromkeys(PICTURES, Path.is_file),
        BASE: {
            **MODEL,
            **dict.fromkeys(("evaluation.json", "traceback.txt"), Path.is_file),
            "temperature_*": {"evaluation": EVALUATION},
        },
        **{arm: {"seed_[0-9]*": TRAINING} for arm in arms},
        **PARTIAL,
    }
