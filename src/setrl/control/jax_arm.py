"""One training run of a control config on JAX; `arm` does the same on Stable-Baselines3.

checkpoint-<steps>/training.npz   weights, optimiser, random numbers, counters: arrays, no pickles
final/policy.safetensors          the weights of the policy
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from setrl.control.checkpoints import POLICY, complete
from setrl.control.jax import behaviour_cloning, networks
from setrl.control.jax.environment import JaxTask
from setrl.control.jax.families import Families
from setrl.control.jax.networks import Params
from setrl.control.jax.poly_ppo import JaxPolyPPO, Player, Training
from setrl.control.jax.rollouts import Grown
from setrl.control.records import EVALUATION, is_due
from setrl.control.resolved import ResolvedControl
from setrl.control.tasks.warm_start import STREAM
from setrl.support import files
from setrl.support.errors import RunError
from setrl.support.files.run_folder import TrainingRun
from setrl.support.wording import count
from setrl.train.runs.pool import Stop

STATE = "training.npz"
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def use_one_thread() -> None:
    """Keep this process on one core: the arms of a run work side by side."""
    known = os.environ.get("XLA_FLAGS", "")
    if ONE_THREAD not in known:  # read when JAX computes for the first time in a process
        os.environ["XLA_FLAGS"] = f"{known} {ONE_THREAD}".strip()


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
    """Do what `setrl.control.arm.learn` does."""
    model = model_of(resolved, arm)
    training = model.init(jax.random.key(seed), base_policy(resolved, cache))
    if checkpoint is not None:
        training = _load(checkpoint / STATE, training)
    run.truncate(int(training.steps))
    training = _Loop(resolved, model, run, seed, on_step, stop).run(training)
    done = int(training.steps)
    if done >= resolved.steps:
        with files.writing_folder(run.final) as partial:
            save_file(_flat(training.params), partial / POLICY)
        write_evaluation(model, training.params, run, {"arm": arm, "seed": seed, "steps": done})
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
            before, (training, metrics, shown) = done, self.update(training)
            done = int(training.steps)
            self._refuse_what_teaches_nothing(metrics, training.params)
            record = {name: float(value) for name, value in sorted(metrics.items())}
            if is_due(self.every.eval_every, before, done):
                found = evaluation(self.model, training.params, self.seed, done)
                record |= {f"evaluation/{name}": value for name, value in found.items()}
            files.append_line(self.run_folder.metrics, {"step": done, **record})
            if shown[0] is not None and is_due(self.every.rollouts_every, before, done):
                files.write_lines(self.run_folder.rollouts(done), records(*shown))
            ends = self.stop.asked
            if ends or is_due(self.every.checkpoint_every, before, done):
                _save(training, self.run_folder)
            self.on_step(done)
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
    write_evaluation(model, params, run, {"arm": arm, "seed": None, "steps": 0})


def model_of(resolved: ResolvedControl, arm: str) -> JaxPolyPPO:
    """Return the model of an arm."""
    model = resolved.arms[arm].model
    assert isinstance(model, JaxPolyPPO)
    return model


def base_policy(resolved: ResolvedControl, cache: Path) -> Params | None:
    """Return the weights that all arms and seeds start from; None if each starts from its own.

    They are kept on disk, in a folder named by a hash of everything that decides them.
    """
    model, seed = model_of(resolved, next(iter(resolved.arms))), resolved.config.pretrain_seed
    task = model.task
    if not task.demonstrations:
        return None
    first = model.init(jax.random.key(seed)).params
    about = _describe(task, first, seed)
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache / f"policy-{task.name}-{digest}"
    if not folder.exists():
        rng = np.random.default_rng([STREAM, seed])
        shown = task.demonstrate(rng)
        params, found = behaviour_cloning.clone(model.policy, first, shown, rng)
        with files.writing_folder(folder) as partial:
            save_file(_flat(params), partial / POLICY)
            files.write_json(partial / "pretrain.json", {**about, "found": found})
    return load_policy(folder / POLICY, first)


def _describe(task: JaxTask, params: Params, seed: int) -> dict[str, Any]:
    # All of our code that decides what is demonstrated, and what is cloned from it.
    bases = [one for one in type(task).__mro__[1:] if one.__module__.startswith("setrl.")]
    parts: list[Any] = [type(task), *bases, behaviour_cloning, networks]
    sources = dict.fromkeys(map(inspect.getfile, parts))
    content = b"\0".join(Path(source).read_bytes() for source in sources)
    source = hashlib.sha256(content).hexdigest()[:12]
    shapes = {name: list(weight.shape) for name, weight in _flat(params).items()}
    known = {"schema_version": 1, "task": repr(task), "source": source}
    return {**known, "policy": "JaxPolyPPO", "shapes": shapes, "seed": seed}


def write_evaluation(
    model: JaxPolyPPO, params: Params, run: TrainingRun, about: dict[str, Any]
) -> None:
    """Write evaluation.json: the task's metrics for weights."""
    found = evaluation(model, params, about["seed"] or 0, about["steps"])
    files.write_json(run.evaluation, {"schema_version": 1, **about, "metrics": found})


def evaluation(model: JaxPolyPPO, params: Params, seed: int, steps: int) -> dict[str, float]:
    """Compute the task's metrics of weights, without effect on further training."""
    rng = np.random.default_rng([EVALUATION, seed, steps])
    found = model.task.evaluate(model.player(params), rng)
    return {name: float(value) for name, value in found.items()}


def trained(resolved: ResolvedControl, arm: str, final: Path) -> Player:
    """Return a player of the trained policy of an arm, from its folder `final`."""
    model = model_of(resolved, arm)
    return model.player(load_policy(final / POLICY, model.init(jax.random.key(0)).params))


def load_policy(path: Path, like: Params) -> Params:
    """Load the weights of a policy.

    Raises:
        RunError: If the file is damaged, or holds another policy.
    """
    try:
        found = load_file(path)
        wanted = _flat(like)
        if {k: v.shape for k, v in found.items()} != {k: v.shape for k, v in wanted.items()}:
            raise RunError(f"it has the weights {sorted(found)}, and not {sorted(wanted)}")
    except (SafetensorError, OSError, RunError) as error:
        raise RunError(
            f"{path} is damaged, or belongs to another config ({error}): train this arm again in "
            "another folder"
        ) from error
    names = [_name(where) for where, _ in jax.tree_util.tree_leaves_with_path(like)]
    return jax.tree.unflatten(jax.tree.structure(like), [found[name] for name in names])


def _flat(params: Params) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(params)
    return {_name(where): np.asarray(weight) for where, weight in leaves}


def _name(where: Any) -> str:
    return jax.tree_util.keystr(where, simple=True, separator=".")


def _save(training: Training, run: TrainingRun) -> None:
    """Write a checkpoint between two updates."""
    steps = int(training.steps)
    folder = run.checkpoint(steps)
    if (folder / "complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    leaves = jax.tree.leaves(_plain(training))
    named: Any = {f"{index:04d}": np.asarray(leaf) for index, leaf in enumerate(leaves)}
    np.savez(folder / STATE, **named)
    complete(run, steps)


def _load(path: Path, like: Training) -> Training:
    """Load a checkpoint into a state of the same config."""
    wanted, tree = jax.tree.flatten(_plain(like))
    with np.load(path, allow_pickle=False) as found:
        leaves = [found[name] for name in sorted(found.files)]
    if [leaf.shape for leaf in leaves] != [np.shape(leaf) for leaf in wanted]:
        raise RunError(
            f"{path} belongs to another config or version: train this arm again in another folder"
        )
    plain = jax.tree.unflatten(tree, [jax.numpy.asarray(leaf) for leaf in leaves])
    return plain._replace(key=jax.random.wrap_key_data(plain.key))


def _plain(training: Training) -> Training:
    return training._replace(key=jax.random.key_data(training.key))


def records(sampled: Families, advantages_BN: Any) -> list[dict[str, Any]]:
    """Make one record per trunk: its actions, and the actions of the vines from its states."""
    sampled = jax.device_get(sampled._replace(trunks=sampled.trunks._replace(states=None)))
    advantages_BN, num_states = np.asarray(advantages_BN), sampled.times.shape[1]
    return [
        {
            **_outcome(sampled.trunks, f),
            "states": [
                {
                    "time": int(sampled.times[f, p]),
                    "vines": _vines(sampled, advantages_BN, f * num_states + p),
                }
                for p in range(num_states)
                if sampled.wanted[f, p]
            ],
        }
        for f in range(len(sampled.times))
    ]


def _vines(sampled: Families, advantages_BN: np.ndarray, row: int) -> list[dict[str, Any]]:
    each = len(sampled.vines.done) // len(sampled.scores_BN)
    return [
        {
            **_outcome(sampled.vines, row * each + n),
            "score": float(sampled.scores_BN[row, n]),
            "cluster": int(sampled.labels_BN[row, n]),
            "advantage": float(advantages_BN[row, n]),
        }
        for n in range(each)
    ]


def _outcome(grown: Grown, index: int) -> dict[str, Any]:
    alive = grown.steps.alive[:, index]
    return {
        "return": float(grown.steps.rewards[:, index].sum()),
        "terminated": bool(grown.done[index]),
        "actions": grown.steps.actions[alive, index].tolist(),
    }
