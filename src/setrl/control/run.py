"""`run_control`: every arm of a control task with every seed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from typing_extensions import override

from setrl.control.arm import make_model, train_arm, write_evaluation
from setrl.control.resolved import ResolvedControl
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.files.run_folder import BASE, TrainingRun
from setrl.runs.pool import OnProgress, Stop
from setrl.runs.run import Arms, cache_folder, run_arms


def run_control(
    resolved: ResolvedControl,
    run_dir: str | Path,
    *,
    overwrite: bool = False,
    cache: str | Path | None = None,
    show_progress: bool = True,
) -> Path:
    """Train and evaluate all arms of a control run with all its seeds, as `run_arms` does.

    Args:
        resolved: The run.
        run_dir: The run's folder; made if missing.
        overwrite: Remove the run that is in the folder, and start from the beginning.
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
    return run_arms(arms, resolved.config, overwrite=overwrite, show_progress=show_progress)


@dataclass(frozen=True)
class ControlArms(Arms):
    """Arms that learn one control task in the same number of environment steps."""

    resolved: ResolvedControl
    run_dir: Path
    cache: Path

    @override
    def prepare(self, show_progress: bool) -> bool:
        """Pretrain the policy that all arms start from, if the task has one."""
        if self.resolved.task.pretrain is None:
            return False
        if show_progress:
            print(
                f"pretraining the policy that all arms start from, unless {self.cache} has it",
                file=sys.stderr,
            )
        self._base_policy()
        return True

    def _base_policy(self) -> PolyPPO:
        """Return the pretrained policy, the same for all arms and seeds."""
        seed = self.resolved.config.pretrain_seed
        return make_model(self.resolved, next(iter(self.resolved.arms)), seed, self.cache)

    @override
    def cost(self, arm: str | None) -> float:
        """Return environment steps; the evaluation of the base is short."""
        return self.resolved.steps * (1 if arm is not None else 0.02)

    @override
    def train(
        self, arm: str, seed: int, run: TrainingRun, on_progress: OnProgress, stop: Stop
    ) -> None:
        torch.set_num_threads(1)
        steps = self.resolved.steps

        def on_step(done: int) -> None:
            on_progress(min(done, steps))  # the last update exceeds the budget a little

        train_arm(self.resolved, arm, seed, self.cache, run, on_step, stop)

    @override
    def evaluate_base(self, run: TrainingRun, on_progress: OnProgress, stop: Stop) -> None:
        torch.set_num_threads(1)
        if not run.evaluation.exists():
            about = {"arm": BASE, "seed": None}
            write_evaluation(self.resolved.task, self._base_policy(), run, about)
        on_progress(self.cost(None))
