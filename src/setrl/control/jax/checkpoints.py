"""Checkpoints of a model of JAX: all that later updates depend on.

checkpoint-<steps>/training.npz   weights, optimiser, random numbers, counters: arrays, no pickles
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

from setrl.control.checkpoints import load_weights, must_be_like, reading
from setrl.control.jax.networks import Params
from setrl.control.jax.poly_ppo import Training

STATE = "training.npz"


def write(training: Training, folder: Path) -> None:
    """Write a checkpoint between two updates."""
    leaves = jax.tree.leaves(_plain(training))
    named: Any = {f"{index:04d}": np.asarray(leaf) for index, leaf in enumerate(leaves)}
    np.savez(folder / STATE, **named)


def load(folder: Path, like: Training) -> Training:
    """Load a checkpoint into a state of the same config.

    Raises:
        RunError: If the file is damaged, or holds another state.
    """
    wanted, tree = jax.tree.flatten(_plain(like))
    with reading(folder / STATE):
        with np.load(folder / STATE, allow_pickle=False) as written:
            leaves = [written[name] for name in sorted(written.files)]
        must_be_like(_kinds(leaves), _kinds(wanted))
    plain = jax.tree.unflatten(tree, [jax.numpy.asarray(leaf) for leaf in leaves])
    return plain._replace(key=jax.random.wrap_key_data(plain.key))


def _plain(training: Training) -> Training:
    return training._replace(key=jax.random.key_data(training.key))


def _kinds(leaves: Any) -> list[str]:
    return [f"{np.asarray(leaf).dtype}{np.shape(leaf)}" for leaf in leaves]


def load_policy(path: Path, like: Params) -> Params:
    """Load the weights of a policy.

    Raises:
        RunError: If the file is damaged, or holds another policy.
    """
    wanted = weights(like)
    weights_by_name = load_weights(path, wanted)
    return jax.tree.unflatten(jax.tree.structure(like), [weights_by_name[name] for name in wanted])


def weights(params: Params) -> dict[str, np.ndarray]:
    """Return name → weight, in the order of the leaves."""
    leaves = jax.tree_util.tree_leaves_with_path(params)
    return {
        jax.tree_util.keystr(where, simple=True, separator="."): np.asarray(weight)
        for where, weight in leaves
    }
