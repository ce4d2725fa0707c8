"""Behaviour cloning: a policy imitates demonstrations before it is trained.

    loss = −mean log π(a|s) − entropy_coef · mean H(π(·|s))

The policy learns from four fifths of the demonstrated episodes; the loss on the other fifth decides
when to stop (arXiv:2509.25424, App. A). `sb3` and `jax` each have the loss and its steps: `clone`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from setrl.control.checkpoints import POLICY, Weights, save_weights
from setrl.support import files

PATIENCE = 5  # epochs without a better loss on held-out episodes
ENTROPY_COEF, LEARNING_RATE = 0.01, 1e-3  # the paper's weight of the entropy; step size of Adam
STREAM = 0xBC  # in the seeds that decide demonstrations and batches
Learnt = TypeVar("Learnt")


@dataclass(frozen=True)
class Demonstrations:
    """Steps of an expert, episode after episode.

    Attributes:
        observations: (T, …), or a mapping of such arrays, as the environment gives them.
        actions: (T, …).
        episodes: (T,) the episode of each step, ascending.
        epochs: Largest number of passes over them.
    """

    observations: Any
    actions: np.ndarray
    episodes: np.ndarray
    epochs: int = 40

    def split(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the episodes to learn from, and a random fifth to hold out, at least one."""
        names = np.unique(self.episodes)
        if len(names) < 2:
            raise ValueError(f"behaviour cloning needs at least 2 episodes, got {len(names)}")
        order, held_out = rng.permutation(names), max(len(names) // 5, 1)
        return order[held_out:], order[:held_out]


def best_weights(
    first: Learnt, epochs: int, learn: Callable[[], tuple[Learnt, float]]
) -> tuple[Learnt, dict[str, float]]:
    """Learn until the held-out loss no longer falls; return the best weights, and how good.

    Args:
        first: The weights before the first epoch.
        epochs: Largest number of epochs.
        learn: Passes once over the demonstrations; returns the weights and the held-out loss, in
            nats.
    """
    best, best_loss, best_epoch = first, np.inf, 0
    for epoch in range(1, epochs + 1):
        weights, loss = learn()
        if loss < best_loss:
            best, best_loss, best_epoch = weights, loss, epoch
        elif epoch - best_epoch >= PATIENCE:
            break
    return best, {"held_out_loss": best_loss, "epochs": float(best_epoch)}


def kept_policy(
    cache: Path,
    task: Any,
    policy: str,
    first: Weights,
    code: Sequence[Any],
    seed: int,
    clone: Callable[[Demonstrations, np.random.Generator], tuple[Weights, Mapping[str, float]]],
) -> Path:
    """Return the file of a pretrained policy, made unless it is there.

    Its folder is named by a hash of everything that decides the weights, and has `pretrain.json`
    next to it.

    Args:
        cache: Where policies are kept.
        task: The task; its `repr` and its source are hashed.
        policy: Name of the policy's class.
        first: Weights of its first policy, by name: their shapes are hashed.
        code: Modules that decide what is learned.
        seed: Seed of the first weights, and of the batches.
        clone: Learns from demonstrations; returns the weights, and how good they are.
    """
    bases = [base for base in type(task).__mro__ if base.__module__ not in ("builtins", "abc")]
    sources = dict.fromkeys(map(_read_source, [*bases, *code, Demonstrations]))
    digest = hashlib.sha256(b"\0".join(filter(None, sources)))
    about = {
        **{"schema_version": 1, "task": repr(task), "source": digest.hexdigest()[:12]},
        **{"policy": policy, "shapes": {k: list(v.shape) for k, v in first.items()}},
        "seed": seed,
    }
    name = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache / f"policy-{task.name}-{name}"
    if not folder.exists():
        rng = np.random.default_rng([STREAM, seed])
        weights, measured = clone(task.demonstrate(rng), rng)
        with files.writing_folder(folder) as partial:
            save_weights(weights, partial / POLICY)
            files.write_json(partial / "pretrain.json", {**about, "found": dict(measured)})
    return folder / POLICY


def _read_source(code: Any) -> bytes:
    try:
        return Path(inspect.getfile(code)).read_bytes()
    except (TypeError, OSError):  # defined where no file is, such as in a notebook
        return b""
