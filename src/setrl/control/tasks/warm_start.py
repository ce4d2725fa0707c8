"""Warm starts: a policy is pretrained once, as its task says, and kept on disk."""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from setrl.control.sb3 import behaviour_cloning
from setrl.control.tasks.base import ControlTask, Pretrain
from setrl.support import files

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

STREAM = 0xBC  # in the seeds that decide demonstrations and batches


def warm_start(model: BaseAlgorithm, task: ControlTask, cache: Path, seed: int = 0) -> Path | None:
    """Pretrain a model's policy as its task says, or load the result of an earlier call.

    The file's name is a hash of everything that decides the weights: the task, its source, the
    policy and the seed of its first weights. The same seed gives every arm the same start.

    Returns:
        The folder of the weights, `policy.pt` and `pretrain.json`; None for a task without
        pretraining.
    """
    if task.pretrain is None:
        return None
    about = _describe(model, task, seed)
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache / f"policy-{task.name}-{digest}"
    if not folder.exists():
        found = _pretrained(model, task.pretrain, seed)
        with files.writing_folder(folder) as partial:
            torch.save(model.policy.state_dict(), partial / "policy.pt")
            files.write_json(partial / "pretrain.json", {**about, "found": found})
    model.policy.load_state_dict(torch.load(folder / "policy.pt", weights_only=True))
    return folder


def _pretrained(model: BaseAlgorithm, pretrain: Pretrain, seed: int) -> dict[str, float]:
    """Pretrain from first weights of the pretraining seed, not of the model's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = type(model.policy)(
            model.observation_space,
            model.action_space,
            model.lr_schedule,
            **model.policy_kwargs,
        )
        model.policy.load_state_dict(fresh.state_dict())
        return dict(pretrain(model, np.random.default_rng([STREAM, seed])))


def _describe(model: BaseAlgorithm, task: ControlTask, seed: int) -> dict[str, Any]:
    sources = [Path(inspect.getfile(each)) for each in (type(task), behaviour_cloning)]
    source = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    shapes = {name: list(weight.shape) for name, weight in model.policy.state_dict().items()}
    return {
        "schema_version": 1,
        "task": repr(task),
        "source": source,
        "policy": type(model.policy).__name__,
        "shapes": shapes,
        "seed": seed,
    }
