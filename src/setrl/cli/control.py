"""`setrl control` and `setrl control watch`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.train import RunOptions


@dataclass(frozen=True, kw_only=True)
class Control(RunOptions):
    """Train the arms of a control run, evaluate them and write the report.

    Run the same command again to resume.
    """

    def run(self) -> None:
        """Train on environments."""
        from setrl.control.resolved import ResolvedControl

        resolved = ResolvedControl.load(self.config, self.set)  # wrong ones are refused at once
        from setrl.control.run import run_control

        self.train(resolved, run_control)


@dataclass(frozen=True)
class Watch(Said):
    """Render rollouts of a finished arm side by side, one rollout for each strategy.

    Attributes:
        run_dir: The folder of a control run.
        arm: The arm to show; by default the last one of the run.
        seed: The training seed to show; by default the first one of the arm.
        output: The film, .gif; by default in RUN/figures.
        strategies: The largest number of strategies to show, the most frequent first.
        episodes: The number of sampled episodes in which strategies are found.
        frames_per_second: The speed of the film.

    Json:
        film: The film.
    """

    run_dir: Positional[Path]
    arm: str | None = None
    seed: int | None = None
    output: Path | None = None
    strategies: int = 6
    episodes: int = 128
    frames_per_second: float = 8.0

    def run(self) -> None:
        """Write the film and print where it is."""
        from setrl.control.watch import watch

        film = watch(
            self.run_dir,
            self.arm,
            self.seed,
            self.output,
            most=self.strategies,
            episodes=self.episodes,
            frames_per_second=self.frames_per_second,
        )
        self.tell(f"film: {film}", film=str(film))
