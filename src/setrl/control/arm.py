"""One arm of a control config with one seed: what both paths share, and what each must have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setrl.control.behaviour_cloning import Demonstrations, kept_policy
from setrl.control.checkpoints import POLICY, Weights, save_checkpoint, save_weights
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
        start: File of the weights at the start; None: the pretrained ones, or new ones.
    """

    resolved: ResolvedControl
    arm: str
    seed: int
    cache: Path
    run: Seed
    checkpoint: Path | None = None
    on_step: Callable[[int], None] = lambda _: None
    stop: Stop = field(default_factory=Stop)
    start: Path | None = None

    cloning: ClassVar[tuple[ModuleType, ...]]  # what decides the weights of pretrained policies

    def __post_init__(self) -> None:
        if self.checkpoint is not None:
            self.resume(self.checkpoint)
            return
        self.begin()
        if (path := self.start or self._make_pretrained_policy()) is not None:
            self.load_policy(path)

    def _make_pretrained_policy(self) -> Path | None:
        """Return the file of the weights that all arms and seeds start from, made if missing."""
        task: Any = self.resolved.task
        if not task.demonstrations:
            return None
        about = (task, self.policy_name, self.weights(), self.cloning)
        return kept_policy(
            self.cache, *about, self.resolved.config.pretrain_seed, self._clone_first_weights
        )

    def _clone_first_weights(
        self, shown: Demonstrations, rng: np.random.Generator
    ) -> tuple[Weights, dict[str, float]]:
        measured = self.clone(shown, rng)
        return self.weights(), measured

    @abstractmethod
    def begin(self) -> None:
        """Make the model with its first weights."""

    @abstractmethod
    def resume(self, folder: Path) -> None:
        """Make the model as it was when the checkpoint was written.

        Raises:
            RunError: If the checkpoint is damaged, or of another config.
        """

    @property
    @abstractmethod
    def steps(self) -> int:
        """Environment steps done so far."""

    @property
    @abstractmethod
    def policy_name(self) -> str:
        """Name of the class of policies, for the folder of pretrained ones."""

    @property
    @abstractmethod
    def policy(self) -> Any:
        """What the task evaluates."""

    @abstractmethod
    def weights(self) -> Weights:
        """Return the weights of the policy, by name."""

    @abstractmethod
    def load_policy(self, path: Path) -> None:
        """Load the weights of the policy, before any step.

        Raises:
            RunError: If the file is damaged, or holds another policy.
        """

    @abstractmethod
    def clone(self, shown: Demonstrations, rng: np.random.Generator) -> dict[str, float]:
        """Clone demonstrations into first weights of the pretraining seed; return how good."""

    @abstractmethod
    def learn(self) -> None:
        """Train until all steps are done, or a step `ends_or_saves` it."""

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write a checkpoint."""

    def write_final(self, folder: Path) -> None:
        """Write the trained policy, for every machine."""
        save_weights(self.weights(), folder / POLICY)

    def evaluation(self) -> dict[str, float]:
        """Compute the task's metrics of the policy now, without effect on further training."""
        rng = np.random.default_rng([EVALUATION, self.seed, self.steps])
        measured = self.resolved.task.evaluate(self.policy, rng)
        return {name: float(value) for name, value in measured.items()}

    def evaluation_if_due(self, before: int) -> dict[str, float]:
        """Return an evaluation, if one was due since `before` steps."""
        if not is_due(self.resolved.config.eval_every, before, self.steps):
            return {}
        return {f"evaluation/{name}": value for name, value in self.evaluation().items()}

    def ends_or_saves(self, before: int) -> bool:
        """Return whether training stops; write a checkpoint if it does, or if one was due.

        It is asked between two updates: only there does a checkpoint hold all that matters.
        """
        steps, stops = self.steps, self.stop.asked
        self.on_step(steps)
        # After the last step, too: a longer run goes on from there.
        last = steps >= self.resolved.steps
        if steps and (
            stops or last or is_due(self.resolved.config.checkpoint_every, before, steps)
        ):
            save_checkpoint(self.run, steps, self.write)
        return stops
