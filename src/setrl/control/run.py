"""`run_control`: every arm of a control task with every seed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from typing_extensions import override

from setrl.control.arm import Learner
from setrl.control.resolved import ResolvedControl
from setrl.logs.run import BASE, Run, Seed
from setrl.support import files
from setrl.support.files.digests import Digests
from setrl.train.runs.pool import OnProgress, Stop
from setrl.train.runs.provenance import inputs_of
from setrl.train.runs.resume import train_on, truncate
from setrl.train.runs.run import Arms, cache_folder, run_arms


def run_control(
    resolved: ResolvedControl,
    run_dir: str | Path,
    *,
    overwrite: bool = False,
    accept_changes: bool = False,
    cache: str | Path | None = None,
    show_progress: bool = True,
) -> Path:
    """Train and evaluate all arms of a control run with all its seeds, as `run_arms` does.

    Args:
        resolved: The run.
        run_dir: The run's folder; made if missing.
        overwrite: Remove the run that is in the folder, and start from the beginning.
        accept_changes: Go on although code that the config names has changed.
        cache: Folder of pretrained policies; by default $SETRL_CACHE, or ~/.cache/setrl.
        show_progress: Whether to draw a progress bar.

    Returns:
        The run's folder.

    Raises:
        ConfigError: If the folder holds a run with another config, or something else.
        RunError: If an arm failed; the other arms were trained nevertheless.
        KeyboardInterrupt: After Ctrl-C, once all checkpoints are written.
    """
    arms = ControlArms(resolved, Path(run_dir), cache_folder(cache))
    options = {"overwrite": overwrite, "accept_changes": accept_changes}
    return run_arms(arms, resolved.config, **options, show_progress=show_progress)


@dataclass(frozen=True)
class ControlArms(Arms):
    """Arms that learn one control task in the same number of environment steps."""

    resolved: ResolvedControl
    run_dir: Path
    cache: Path

    @override
    def inputs(self) -> Digests:
        return inputs_of(self.resolved.config)

    @override
    def prepare(self, show_progress: bool) -> bool:
        """Pretrain the policy that all arms start from, if the task has one."""
        if not self.resolved.task.demonstrations:
            return False
        if show_progress:
            print(
                f"pretraining the policy that all arms start from, unless {self.cache} has it",
                file=sys.stderr,
            )
        self._base_learner()
        return True

    def _base_learner(self) -> Learner:
        """Return an arm that has the policy that all arms start from, made if it is missing."""
        first, seed = next(iter(self.resolved.arms)), self.resolved.config.pretrain_seed
        run = Run(self.run_dir).base
        return module_of_path(self.resolved).Learner(self.resolved, first, seed, self.cache, run)

    @override
    def cost(self, arm: str | None) -> float:
        """Return environment steps; the evaluation of the base is short."""
        return self.resolved.steps * (1 if arm is not None else 0.02)

    @override
    def train(self, arm: str, seed: int, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        steps = self.resolved.steps

        def on_step(done: int) -> None:
            on_progress(min(done, steps))  # the last update exceeds the budget a little

        train_arm(self.resolved, arm, seed, self.cache, run, on_step, stop)

    @override
    def evaluate_base(self, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        if not run.outcome_file.exists():
            _write_evaluation(self._base_learner(), BASE, None)
        on_progress(self.cost(None))


def train_arm(
    resolved: ResolvedControl,
    arm: str,
    seed: int,
    cache: Path,
    run: Seed,
    on_step: Callable[[int], None],
    stop: Stop,
) -> bool:
    """Train an arm with a seed, from its last checkpoint if there is one, and evaluate it.

    Args:
        resolved: The comparison.
        arm: Name of one of its arms.
        seed: One of its seeds.
        cache: Folder of pretrained policies.
        run: Folder to write to.
        on_step: Called with the number of environment steps done so far.
        stop: When it asks to stop, training ends early with a checkpoint.

    Returns:
        Whether all steps are done; False if training was stopped.
    """

    def train(checkpoint: Path | None) -> int:
        arguments = (resolved, arm, seed, cache, run, checkpoint, on_step, stop)
        learner: Learner = module_of_path(resolved).Learner(*arguments)
        truncate(run, learner.steps)
        learner.learn()
        if learner.steps >= resolved.steps:
            with files.writing_folder(run.final) as folder:
                learner.write_final(folder)
            _write_evaluation(learner, arm, seed)
            on_step(learner.steps)
        return learner.steps

    resolved_arm = resolved.arms[arm]
    about: dict[str, Any] = {
        "arm": arm,
        "seed": seed,
        "task": repr(resolved.task),
        "method": repr(resolved_arm.method),
    }
    about |= {"ppo": dict(resolved_arm.ppo), "policy": repr(dict(resolved.task.policy_kwargs))}
    return train_on(run, run.outcome_file, resolved.steps, on_step, train, **about)


def _write_evaluation(learner: Learner, arm: str, seed: int | None) -> None:
    """Write evaluation.json: the metrics of an arm's last policy, or of the base."""
    about = {"schema_version": 1, "arm": arm, "seed": seed, "steps": learner.steps}
    files.write_json(learner.run.outcome_file, {**about, "metrics": learner.evaluation()})


def module_of_path(resolved: ResolvedControl) -> ModuleType:
    """Return the module that trains the arms on one thread: `sb3.arm` or `jax.arm`."""
    arm = import_module(f"setrl.control.{'jax' if resolved.on_jax else 'sb3'}.arm")
    arm.use_one_thread()
    return arm
