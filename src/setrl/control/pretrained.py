"""Pretrained policies: made once from demonstrations, and kept on disk for all arms and seeds."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from setrl.control import behaviour_cloning
from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.checkpoints import POLICY, Weights, save_weights
from setrl.support import files

STREAM = 0xBC  # in the seeds that decide demonstrations and batches


def kept(
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
    sources = dict.fromkeys(map(_source, [*bases, *code, behaviour_cloning]))
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


def _source(code: Any) -> bytes:
    try:
        return Path(inspect.getfile(code)).read_bytes()
    except (TypeError, OSError):  # defined where no file is, such as in a notebook
        return b""
