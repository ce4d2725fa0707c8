"""The files that setrl writes in a run's folder, so that no other file is ever removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from setrl.logs.run import BASE, CONFIG, FIGURES, RECORD
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import json_lines, read_json
from setrl.support.files.written import SAVED_MODEL, Tree

REPORT = "report.html"
COMPLETE = "complete"  # the last file of a checkpoint: fingerprints of all that it continues
GIVEN_UP = "given_up"  # its name in a checkpoint that is damaged
CARDS = ("# Model Card for Model ID\n", "It has been trained using [TRL]")  # of peft, of TRL
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


def _is_model_card(path: Path) -> bool:
    """Return whether a library wrote a README.md when it saved a model."""
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    return any(words in text for words in CARDS)


def _has_name(pattern: str) -> Callable[[Path], bool]:
    return lambda path: path.is_file() and re.fullmatch(pattern, path.name) is not None


def _is_of_complete(path: Path) -> bool:
    """Return whether a complete checkpoint says that this file belongs to it."""
    try:
        return path.is_file() and path.name in read_json(path.parent / COMPLETE).get("files", {})
    except DataError:
        return False


EVALUATION: Tree = {
    "*.jsonl": _has_our_records,
    "summary.json": Path.is_file,
    "samples": {"*.jsonl": _has_our_records},
}
MODEL_FILES = (
    *SAVED_MODEL,
    *("base.json", "task.json", "training_args.bin", "model.zip", "policy.safetensors", "seal"),
)
MODEL: Tree = {
    **dict.fromkeys(MODEL_FILES, Path.is_file),
    "README.md": _is_model_card,
    "evaluation": EVALUATION,
}
CHECKPOINT_FILES = (  # as a process leaves them that is killed while it saves
    *(*SAVED_MODEL, "training_args.bin", "trainer_state.json", "optimizer.pt", "scheduler.pt"),
    *("rng_state.pth", "rng_state_[0-9]*.pth", "model.zip", "state.pkl", "seal", "training.npz"),
    *(COMPLETE, GIVEN_UP),
)
CHECKPOINT: Tree = {
    **dict.fromkeys(CHECKPOINT_FILES, Path.is_file),
    "README.md": _is_model_card,
    "*": _is_of_complete,
}
PARTIAL = dict.fromkeys([".*.partial"], Path.exists)  # files that a killed process did not finish
TRAINING: Tree = {
    **dict.fromkeys((RECORD, "metrics.jsonl", "evaluation.json", "traceback.txt"), Path.is_file),
    "judge.sqlite*": _has_name(r"judge\.sqlite(-wal|-shm|-journal)?"),
    "rollouts": {"step_*": _has_name(r"step_\d{6,}\.jsonl")},
    # Training itself removes old checkpoints, and TRL writes its README.md. An arm that a server
    # trains has its state here; models.json stays, which says what is to be freed on the server.
    "checkpoints": {
        "checkpoint-[0-9]*": CHECKPOINT,
        **dict.fromkeys(("README.md", "state.json"), Path.is_file),
        "batches": {"step_*": _has_name(r"step_\d{6,}\.json")},
    },
    "tensorboard": {"events.out.tfevents.*": Path.is_file},
    "final": MODEL,
    "evaluation": EVALUATION,
    **PARTIAL,
}
PICTURES = ("frontier.png", "frontier_*.png", "pass_at_k_*.png", "support_*.png", "watch_*.gif")


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
