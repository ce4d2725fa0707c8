"""One training run of a control config on JAX; `sb3.arm` does the same on Stable-Baselines3.

checkpoint-<steps>/training.npz   weights, optimiser, random numbers, counters: arrays, no pickles
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from setrl.control import arm
from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.checkpoints import Weights, explain_unreadable, load_weights, refuse_unlike
from setrl.control.jax import behaviour_cloning, networks
from setrl.control.jax.networks import Params
from setrl.control.jax.poly_ppo import JaxPolyPPO, Player, Training
from setrl.control.vines import note_without_credit
from setrl.support import files
from setrl.support.errors import RunError
from setrl.support.wording import count

STATE = "training.npz"
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
SAME_BITS = "--xla_gpu_deterministic_ops=true"  # else a GPU adds in any order, by a measured choice
PRECISION = "jax_default_matmul_precision"


def use_one_thread() -> None:
    """Keep this process on one core, as arms work side by side; a GPU repeats and rounds as a CPU.

    A GPU is made to repeat its results, and to multiply in float32: its default, TF32, has ten
    bits. XLA reads its flags when JAX computes for the first time in a process.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    new = [flag for flag in (ONE_THREAD, SAME_BITS) if flag not in flags]
    os.environ["XLA_FLAGS"] = " ".join([*new, flags]).strip()  # of two, the last counts: the user's
    if getattr(jax.config, PRECISION) is None:
        jax.config.update(PRECISION, "highest")


class Learner(arm.Learner):
    """Trains a `JaxPolyPPO`."""

    policy_name = "JaxPolyPPO"
    cloning = (behaviour_cloning, networks)

    @override
    def begin(self) -> None:
        model = self.resolved.arms[self.arm].model
        assert isinstance(model, JaxPolyPPO)
        self.model = model
        self._begin_with_weights(None)

    def _begin_with_weights(self, params: Params | None) -> None:
        self.training = self.model.init(jax.random.key(self.seed), params)

    @override
    def resume(self, folder: Path) -> None:
        self.begin()
        needed, tree = jax.tree.flatten(_with_plain_key(self.training))
        with explain_unreadable(folder / STATE):
            with np.load(folder / STATE, allow_pickle=False) as archive:
                leaves = [archive[name] for name in sorted(archive.files)]
            refuse_unlike(_describe_leaves(leaves), _describe_leaves(needed))
        plain = jax.tree.unflatten(tree, [jax.numpy.asarray(leaf) for leaf in leaves])
        self.training = plain._replace(key=jax.random.wrap_key_data(plain.key))

    @override
    def weights(self) -> Weights:
        return weights_of(self.training.params)

    @override
    def load_policy(self, path: Path) -> None:
        self._begin_with_weights(load_policy(path, self.training.params))

    @override
    def clone(self, shown: Demonstrations, rng: np.random.Generator) -> dict[str, float]:
        first = self.model.init(jax.random.key(self.resolved.config.pretrain_seed)).params
        params, measured = behaviour_cloning.clone(self.model.policy, first, shown, rng)
        self._begin_with_weights(params)
        return measured

    @property
    @override
    def steps(self) -> int:
        return int(self.training.steps)

    @property
    @override
    def policy(self) -> Player:
        return self.model.player(self.training.params)

    @override
    def learn(self) -> None:
        ends = False
        while self.steps < self.resolved.steps and not ends:
            before = self.steps
            self.training, metrics, _ = self.model.compiled(self.training)
            self._refuse_what_teaches_nothing(metrics, self.training.params)
            record = {name: float(value) for name, value in sorted(metrics.items())}
            record |= self.evaluation_if_due(before)
            files.append_line(self.run.metrics_file, {"step": self.steps, **record})
            ends = self.ends_or_saves(before)
        sentence = note_without_credit(self.model.vines, bool(self.training.gave_credit))
        if sentence is not None and self.steps >= self.resolved.steps:
            warnings.warn(sentence, stacklevel=2)

    @override
    def write(self, folder: Path) -> None:
        leaves = jax.tree.leaves(_with_plain_key(self.training))
        named: Any = {f"{index:04d}": np.asarray(leaf) for index, leaf in enumerate(leaves)}
        np.savez(folder / STATE, **named)

    def _refuse_what_teaches_nothing(self, metrics: dict[str, Any], params: Params) -> None:
        missing = int(metrics["rollout/without_reward"])
        if self.model.vines is None and missing:
            raise RunError(
                f"{count(missing, 'episode')} had a reward that is NaN or infinite: without vines "
                "this is an error"
            )
        if missing == self.model.num_trunks and np.isnan(float(metrics["vines/score"])):
            raise RunError("every episode and every vine had a reward that is NaN or infinite")
        # The loss is measured before each step of the optimiser: the last step is seen in weights.
        weights = [np.isfinite(weight).all() for weight in jax.tree.leaves(params)]
        if not (np.isfinite(float(metrics["train/loss"])) and all(weights)):
            raise RunError(
                "the loss or a weight is not finite: take a smaller learning_rate, or check "
                "rewards and observations"
            )


def _with_plain_key(training: Training) -> Training:
    return training._replace(key=jax.random.key_data(training.key))


def _describe_leaves(leaves: Any) -> list[str]:
    return [f"{np.asarray(leaf).dtype}{np.shape(leaf)}" for leaf in leaves]


def load_policy(path: Path, like: Params) -> Params:
    """Load the weights of a policy.

    Raises:
        RunError: If the file is damaged, or holds another policy.
    """
    needed = weights_of(like)
    weights_by_name = load_weights(path, needed)
    return jax.tree.unflatten(jax.tree.structure(like), [weights_by_name[name] for name in needed])


def weights_of(params: Params) -> dict[str, np.ndarray]:
    """Return name → weight, in the order of the leaves."""
    return {
        jax.tree_util.keystr(where, simple=True, separator="."): np.asarray(weight)
        for where, weight in jax.tree_util.tree_leaves_with_path(params)
    }
