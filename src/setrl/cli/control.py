"""`setrl control`."""

from __future__ import annotations

from dataclasses import dataclass

from setrl.cli.train import RunOptions


@dataclass(frozen=True, kw_only=True)
class Control(RunOptions):
    """Train the arms of a control run, evaluate them and write the report.

    Run the same command again to resume.
    """

    def run(self) -> None:
        """Train on environments."""
        from setrl.control.config import ControlConfig

        config = ControlConfig.load(self.config, self.set)  # refuses a wrong config at once
        from setrl.control.run import run_control

        self.train(config, run_control)
