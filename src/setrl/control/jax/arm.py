"""One training run of a control config on JAX; `sb3.arm` does the same on Stable-Baselines3."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from setrl.control import pretrained, records
from setrl.control.checkpoints import POLICY, save
from setrl.control.jax import behaviour_cloning, checkpoints, networks
from setrl.control.jax.networks import Params
from setrl.control.jax.poly_ppo import JaxPolyPPO, Player, Training
from setrl.control.metrics import without_credit
from setrl.control.records import is_due
from setrl.support import files
from setrl.support.errors import RunError
from setrl.support.files.run_folder import TrainingRun
from setrl.support.wording import count
from setrl.train.runs.pool import Stop

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


def learn(
    resolved: ResolvedControl,
    arm: str,
    seed: int,
    cache: Path,
    run: TrainingRun,
    checkpoint: Path | None,
    on_step: Callable[[int], None],
    stop: Stop,
) -> int:
    """Do what `setrl.control.sb3.arm.learn` does."""
    model = model_of(resolved, arm)
    training = model.init(jax.random.key(seed), base_policy(resolved, cache))
    if checkpoint is not None:
        training = checkpoints.load(checkpoint, training)
    run.truncate(int(training.steps))
    training = _Loop(resolved, model, run, seed, on_step, stop).run(training)
    done = int(training.steps)
    if done >= resolved.steps:
        with files.writing_folder(run.final) as folder:
            checkpoints.save_policy(training.params, folder / POLICY)
        found = records.evaluation(model.task, model.player(training.params), seed, done)
        records.write_evaluation(run, arm, seed, done, found)
    return done


class _Loop:
    """Updates until all steps are done, with the records and checkpoints of a run."""

    def __init__(
        self,
        resolved: ResolvedControl,
        model: JaxPolyPPO,
        run: TrainingRun,
        seed: int,
        on_step: Callable[[int], None],
        stop: Stop,
    ) -> None:
        self.model, self.run_folder, self.seed = model, run, seed
        self.every, self.total = resolved.config, resolved.steps
        self.on_step, self.stop = on_step, stop
        self.update = model.compiled

    def run(self, training: Training) -> Training:
        """Return the state after the last update, or after the one in which it was stopped."""
        done, ends = int(training.steps), False
        while done < self.total and not ends:
            before, (training, metrics, _) = done, self.update(training)
            done = int(training.steps)
            self._refuse_what_teaches_nothing(metrics, training.params)
            record = {name: float(value) for name, value in sorted(metrics.items())}
            if is_due(self.every.eval_every, before, done):
                player = self.model.player(training.params)
                found = records.evaluation(self.model.task, player, self.seed, done)
                record |= {f"evaluation/{name}": value for name, value in found.items()}
            files.append_line(self.run_folder.metrics, {"step": done, **record})
            ends = self.stop.asked
            if ends or is_due(self.every.checkpoint_every, before, done):
                save(self.run_folder, done, partial(checkpoints.write, training))
            self.on_step(done)
        sentence = without_credit(self.model.vines, bool(training.gave_credit))
        if sentence is not None and done >= self.total:
            warnings.warn(sentence, stacklevel=2)
        return training

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


def evaluate_base(resolved: ResolvedControl, cache: Path, run: TrainingRun, arm: str) -> None:
    """Write evaluation.json of the policy that all arms start from."""
    params = base_policy(resolved, cache)
    assert params is not None
    model = model_of(resolved, next(iter(resolved.arms)))
    found = records.evaluation(model.task, model.player(params), None, 0)
    records.write_evaluation(run, arm, None, 0, found)


def model_of(resolved: ResolvedControl, arm: str) -> JaxPolyPPO:
    """Return the model of an arm."""
    model = resolved.arms[arm].model
    assert isinstance(model, JaxPolyPPO)
    return model


def base_policy(resolved: ResolvedControl, cache: Path) -> Params | None:
    """Return the weights that all arms and seeds start from; None if each starts from its own."""
    model, seed = model_of(resolved, next(iter(resolved.arms))), resolved.config.pretrain_seed
    task: Any = model.task
    if not task.demonstrations:
        return None
    first = model.init(jax.random.key(seed)).params

    def make(path: Path) -> dict[str, float]:
        rng = pretrained.generator(seed)
        params, found = behaviour_cloning.clone(model.policy, first, task.demonstrate(rng), rng)
        checkpoints.save_policy(params, path)
        return found

    shapes = {name: weight.shape for name, weight in checkpoints.flat(first).items()}
    code = [behaviour_cloning, networks]
    path = pretrained.kept(cache, task, "JaxPolyPPO", shapes, code, seed, make)
    return checkpoints.load_policy(path, first)


def trained(resolved: ResolvedControl, arm: str, final: Path) -> Player | None:
    """Return a player of an arm's trained policy from its folder `final`; None without it."""
    if not (final / POLICY).exists():
        return None
    model = model_of(resolved, arm)
    like = model.init(jax.random.key(0)).params
    return model.player(checkpoints.load_policy(final / POLICY, like))
