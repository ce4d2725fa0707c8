"""The trackers of experiments that `report_to` names, with one run for each arm and seed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers.integrations import integration_utils as integrations

from setrl.support import names
from setrl.support.errors import ConfigError
from setrl.support.installing import install

if TYPE_CHECKING:
    from transformers import Trainer


def check_trackers(report_to: Any) -> None:
    """Refuse, before anything is written, trackers that do not exist or are not installed."""
    listed = [report_to] if isinstance(report_to, str) else list(report_to or [])
    for name in listed if listed not in (["none"], ["all"]) else []:
        try:
            names.look_up("tracker", name, integrations.INTEGRATION_TO_CALLBACK)
        except ValueError as error:
            raise ConfigError(f"trainer: report_to: {error}") from error
        if name not in integrations.get_available_reporting_integrations():
            how = install(name) if name == "tensorboard" else f"pip install {name}"
            raise ConfigError(f"trainer: report_to: {name} is not installed: {how}")


def tracker_names(name: str, arm: str, seed: int) -> dict[str, str]:
    """Return what trackers call one arm and seed: a name, in a project for the whole config.

    W&B reads its project only from the variable WANDB_PROJECT.
    """
    return {"run_name": f"{name}, {arm}, seed {seed}", "project": name}


def keep_events_in(folder: Path, trainer: Trainer) -> None:
    """Let TensorBoard write into the training run's folder, unless TENSORBOARD_LOGGING_DIR is set.

    TensorBoard's default is a folder among the checkpoints.
    """
    for callback in trainer.callback_handler.callbacks:
        is_board = isinstance(callback, integrations.TensorBoardCallback)
        if is_board and "TENSORBOARD_LOGGING_DIR" not in os.environ:
            callback.logging_dir = str(folder / "tensorboard")
