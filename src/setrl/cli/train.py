"""`setrl train`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro


@dataclass(frozen=True, kw_only=True)
class Train:
    """Train the arms of a comparison, evaluate them and write the report; resumes by itself.

    Attributes:
        config: The YAML file of the run; see recipes/.
        run_dir: Where the run is written; runs/<name> by default.
        overwrite: Start anew if the folder holds a run with another config; your own files stay.
        set: KEY=VALUE, changes one key of the config; can be repeated.
    """

    config: Path
    run_dir: Path | None = None
    overwrite: bool = False
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def run(self) -> None:
        """Train on language models."""
        from setrl.lm.config import ComparisonConfig

        config = ComparisonConfig.load(self.config, self.set)  # wrong ones are refused at once
        from setrl.lm.run import run_comparison

        self.train(config, run_comparison)

    def train(self, config: Any, run: Callable[..., Path]) -> None:
        """Do a run of whichever kind, write its report and print where it is."""
        from setrl.report import write_report

        folder = run(config, self.run_dir or Path("runs") / config.name, overwrite=self.overwrite)
        if os.environ.get("RANK", "0") == "0":  # of several processes, the first one writes
            print(f"report: {write_report(folder)}")
