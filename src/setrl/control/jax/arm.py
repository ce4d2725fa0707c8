"""One training run of a control config on JAX; `sb3.arm` does the same on Stable-Baselines3."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from typing_extensions import override

from setrl.control import learner, pretrained
from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.checkpoints import POLICY, save_weights
from setrl.control.jax import behaviour_cloning, checkpoints, networks
from setrl.control.jax.networks import Params
from setrl.control.jax.poly_ppo import JaxPolyPPO, Player
from setrl.control.metrics import without_credit
from setrl.support import files
from setrl.support.errors import RunError
from setrl.support.wording import count

if TYPE_CHECKING:
    from setrl.control.resolved import ResolvedControl

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
SAME_BITS = "--xla_gpu_deterministic_ops=true"  # else a GPU adds in any order, by a measured choice
PRECISION = "jax_default_matmul_precision"


def use_one_thread() -> None:
    """Keep this process on one core, as arms work side by side; a GPU repeats and rounds as a CPU.

    A GPU is made to repeat its results, and to multiply in float32: its default, TF32, has ten
    bits. XLA reads its flags when JAX computes for the first time in a process.
    """
    known = os.environ.get("XLA_FLAGS", "")
    new = [flag for flag in (ONE_THREAD, SAME_BITS) if flag not in known]
    os.environ["XLA_FLAGS"] = " ".join([*new, known]).strip()  # of two, the last counts: the user's
    if getattr(jax.config, PRECISION) is None:
        jax.config.update(PRECISION, "highest")


class Learner(learner.Learner):
    """Trains a `JaxPolyPPO`."""

    @override
    def __post_init__(self) -> None:
        self.model = model_of(self.resolved, self.arm)
        first = warm_start(self.model, self.cache, self.resolved.config.pretrain_seed)
        self.training = self.model.init(jax.random.key(self.seed), first)
        if self.checkpoint is not None:
            self.training = checkpoints.load(self.checkpoint, self.training)

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
            record |= self.measured(before)
            files.append_line(self.run.metrics_file, {"step": self.steps, **record})
            ends = self.ends(before)
        sentence = without_credit(self.model.vines, bool(self.training.gave_credit))
        if sentence is not None and self.steps >= self.resolved.steps:
            warnings.warn(sentence, stacklevel=2)

    @override
    def write(self, folder: Path) -> None:
        checkpoints.write(self.training, folder)

    @override
    def write_final(self, folder: Path) -> None:
        save_weights(checkpoints.weights(self.training.params), folder / POLICY)

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


def model_of(resolved: ResolvedControl, arm: str) -> JaxPolyPPO:
    """Return the model of an arm."""
    model = resolved.arms[arm].model
    assert isinstance(model, JaxPolyPPO)
    return model


def warm_start(model: JaxPolyPPO, cache: Path, seed: int) -> Params | None:
    """Return the weights that all arms and seeds start from; None if each starts from its own."""
    task: Any = model.task
    if not task.demonstrations:
        return None
    first = model.init(jax.random.key(seed)).params

    def clone(
        shown: Demonstrations, rng: np.random.Generator
    ) -> tuple[pretrained.Weights, dict[str, float]]:
        params, found = behaviour_cloning.clone(model.policy, first, shown, rng)
        return checkpoints.weights(params), found

    code, weights = [behaviour_cloning, networks], checkpoints.weights(first)
    path = pretrained.kept(cache, task, "JaxPolyPPO", weights, code, seed, clone)
    return checkpoints.load_policy(path, first)


def trained(resolved: ResolvedControl, arm: str, policy: Path) -> Player:
    """Return a player of an arm's trained policy, from its file."""
    model = model_of(resolved, arm)
    like = model.init(jax.random.key(0)).params
    return model.player(checkpoints.load_policy(policy, like))
