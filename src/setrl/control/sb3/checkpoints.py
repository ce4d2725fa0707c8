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

from setrl.control.checkpoints import POLICY, load_weights, reading, save_weights
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
    """Write a trained model: its policy for every machine, and all of it for this machine."""
    model.save(folder / MODEL)
    save_weights(weights(model), folder / POLICY)
    seal(folder)


def weights(model: Any) -> dict[str, np.ndarray]:
    """Return the weights of a model's policy, by name."""
    return {name: one.cpu().numpy() for name, one in model.policy.state_dict().items()}


def load_policy(model: Any, path: Path) -> None:
    """Load the weights of a model's policy.

    Raises:
        RunError: If the file is damaged, or holds another policy.
    """
    found = load_weights(path, weights(model))
    model.policy.load_state_dict({name: torch.from_numpy(one) for name, one in found.items()})


def load(folder: Path, env: Any, vines: Vines | None) -> PolyPPO:
    """Load the model of a checkpoint; `restore` brings back the rest once it has its logger.

    Raises:
        RunError: If it was not saved on this machine, or by an earlier version of setrl.
    """
    check_seal(folder)
    path = folder / MODEL
    with reading(path):
        return PolyPPO.load(path, env, device="cpu", force_reset=False, vines=vines)


def restore(folder: Path, model: PolyPPO) -> None:
    """Restore generators, environments, and the values that were not yet logged."""
    check_seal(folder)
    path = folder / STATE
    with reading(path):
        state = pickle.loads(path.read_bytes())
    assert model.env is not None
    for env, snapshot in zip(model.env.envs, state["environments"], strict=True):  # type: ignore[attr-defined]
        env.restore(snapshot, rng="keep")
    torch.set_rng_state(state["torch"])
    np.random.set_state(state["numpy"])  # noqa: NPY002 - PPO samples its minibatches from it
    random.setstate(state["python"])
    for name in WAITING:
        getattr(model.logger, name).update(state["log"][name])


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
