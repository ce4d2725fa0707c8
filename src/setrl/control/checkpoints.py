"""Checkpoints of a control run, which resumes from them to the same weights.

checkpoint-<steps>/    all that later steps depend on: see `sb3.arm` and `jax.arm`
final/policy.safetensors   the weights of the policy: readable on every machine
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from setrl.logs.run import Seed
from setrl.support.errors import RunError
from setrl.train.runs.resume import mark_complete, remove_older

POLICY = "policy.safetensors"
Weights = Mapping[str, np.ndarray]
KEPT = 2  # the last one, and a complete one while the last is written


def save_checkpoint(run: Seed, step: int, write: Callable[[Path], None]) -> None:
    """Write the checkpoint of a step, unless it is there, and remove those that it replaces."""
    folder = run.checkpoint(step)
    if (folder / "complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    write(folder)
    mark_complete(run, step)
    remove_older(run, KEPT)


@contextmanager
def explain_unreadable(path: Path) -> Iterator[None]:
    """Explain a file that cannot be read as the weights or the state of this config."""
    try:
        yield
    except (ModuleNotFoundError, AttributeError) as error:  # a pickle names modules of classes
        raise RunError(
            f"{path} was written by another version of setrl ({error}): use that version, or train "
            "this arm again in another folder"
        ) from error
    except (SafetensorError, RuntimeError, ValueError, KeyError, OSError) as error:
        raise RunError(
            f"{path} is damaged, or belongs to another config ({error}): train this arm again in "
            "another folder"
        ) from error


def save_weights(weights: Weights, path: Path) -> None:
    """Write the weights of a policy, by name."""
    save_file(dict(weights), path)


def load_weights(path: Path, like: Weights) -> dict[str, np.ndarray]:
    """Load weights that `save_weights` wrote.

    Raises:
        RunError: If the file is damaged, or the weights have other names or shapes.
    """
    with explain_unreadable(path):
        weights = load_file(path)
        refuse_unlike(
            *({name: weight.shape for name, weight in named.items()} for named in (weights, like))
        )
    return weights


def refuse_unlike(found: object, wanted: object) -> None:
    """Refuse, inside `explain_unreadable`, what another config has written."""
    if found != wanted:
        raise ValueError(f"it holds {found}, and not {wanted}")
