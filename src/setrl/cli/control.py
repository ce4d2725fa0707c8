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
        from setrl.control.resolved import ResolvedControl

        resolved = ResolvedControl.load(self.config, self.set)  # wrong ones are refused at once
        from setrl.control.run import run_control

        self.train(resolved, run_control)
