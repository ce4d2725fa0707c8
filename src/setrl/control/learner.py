"""One training run of a control config: what both paths share, and what each must have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setrl.control.checkpoints import save
from setrl.logs.run import Seed
from setrl.train.runs.pool import Stop

if TYPE_CHECKING:
    from setrl.control.resolved import ResolvedControl

EVALUATION = 0xE7A1  # in evaluations' seeds, which share no random numbers with training


def is_due(interval: int | None, before: int, done: int) -> bool:
    """Return whether a multiple of the interval lies in the steps of the last update.

    >>> is_due(100, 90, 110), is_due(100, 110, 190), is_due(None, 90, 110)
    (True, False, False)
    """
    return interval is not None and done // interval > before // interval


@dataclass
class Learner(ABC):
    """An arm with a seed: new, pretrained if its task is, or from a checkpoint.

    `sb3.arm` has the learner of Stable-Baselines3, and `jax.arm` that of JAX.

    Attributes:
        resolved: The comparison.
        arm: Name of one of its arms.
        seed: One of its seeds.
        cache: Folder of pretrained policies.
        run: Folder to write to.
        checkpoint: Where to go on; None: at the start.
        on_step: Called with the number of environment steps done so far.
        stop: When it asks to stop, training ends early with a checkpoint.
    """

    resolved: ResolvedControl
    arm: str
    seed: int
    cache: Path
    run: Seed
    checkpoint: Path | None = None
    on_step: Callable[[int], None] = lambda _: None
    stop: Stop = field(default_factory=Stop)

    @abstractmethod
    def __post_init__(self) -> None:
        """Make the model."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Environment steps done so far."""

    @property
    @abstractmethod
    def policy(self) -> Any:
        """What the task evaluates."""

    @abstractmethod
    def learn(self) -> None:
        """Train until all steps are done, or a step `ends` it."""

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write a checkpoint."""

    @abstractmethod
    def write_final(self, folder: Path) -> None:
        """Write the trained policy."""

    def evaluation(self) -> dict[str, float]:
        """Compute the task's metrics of the policy now, without effect on further training."""
        rng = np.random.default_rng([EVALUATION, self.seed, self.steps])
        found = self.resolved.task.evaluate(self.policy, rng)
        return {name: float(value) for name, value in found.items()}

    def measured(self, before: int) -> dict[str, float]:
        """Return an evaluation, if one was due since `before` steps."""
        is_now = is_due(self.resolved.config.eval_every, before, self.steps)
        found = self.evaluation() if is_now else {}
        return {f"evaluation/{name}": value for name, value in found.items()}

    def ends(self, before: int) -> bool:
        """Return whether training stops; write a checkpoint if it does, or if one was due.

        It is asked between two updates: only there does a checkpoint hold all that matters.
        """
        steps, asked = self.steps, self.stop.asked
        self.on_step(steps)
        if steps and (asked or is_due(self.resolved.config.checkpoint_every, before, steps)):
            save(self.run, steps, self.write)
        return asked
