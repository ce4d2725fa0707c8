"""Checkpoints of a model of Stable-Baselines3: all that later steps depend on.

checkpoint-<steps>/model.zip      weights, optimiser, counters, bonus counts: SB3's own file
checkpoint-<steps>/state.pkl      generators, environments, values not yet logged
checkpoint-<steps>/seal           all were written on this machine: two of them hold pickles

final/policy.safetensors          the weights of the policy: readable on every machine
final/model.zip, final/seal       as above, to continue from
"""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger

from setrl.control.checkpoints import reading
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.sb3.seals import check_seal, seal
from setrl.control.sb3.vines import Vines

MODEL, STATE = "model.zip", "state.pkl"


def write(model: PolyPPO, folder: Path) -> None:
    """Write a checkpoint of a model between two updates."""
    model.save(folder / MODEL)
    (folder / STATE).write_bytes(pickle.dumps(_state(model)))
    seal(folder)


def write_final(model: PolyPPO, folder: Path) -> None:
    """Write all of a trained model, for this machine; its policy is there already."""
    model.save(folder / MODEL)
    seal(folder)


def load(folder: Path, env: Any, vines: Vines | None, logger: Logger) -> PolyPPO:
    """Load the model of a checkpoint, with generators, environments and values not yet logged.

    Raises:
        RunError: If it was not saved on this machine, or by an earlier version of setrl.
    """
    check_seal(folder)
    with reading(folder / MODEL):
        model = PolyPPO.load(folder / MODEL, env, device="cpu", force_reset=False, vines=vines)
    model.set_logger(logger)
    with reading(folder / STATE):
        state = pickle.loads((folder / STATE).read_bytes())
    for each, snapshot in zip(env.envs, state["environments"], strict=True):
        each.restore(snapshot, rng="keep")
    torch.set_rng_state(state["torch"])
    np.random.set_state(state["numpy"])  # noqa: NPY002 - PPO samples its minibatches from it
    random.setstate(state["python"])
    for name in WAITING:
        getattr(logger, name).update(state["log"][name])
    return model


WAITING = ("name_to_value", "name_to_count", "name_to_excluded")


def _state(model: PolyPPO) -> dict[str, Any]:
    assert model.env is not None
    return {
        "torch": torch.get_rng_state(),
        "numpy": np.random.get_state(),  # noqa: NPY002
        "python": random.getstate(),
        "environments": [env.snapshot() for env in model.env.envs],  # type: ignore[attr-defined]
        "log": {name: dict(getattr(model.logger, name)) for name in WAITING},
    }
