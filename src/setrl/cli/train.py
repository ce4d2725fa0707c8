"""`setrl train`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import tyro


def train(
    config: Path,
    run_dir: Path | None = None,
    overwrite: bool = False,
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
) -> None:
    """Train the arms of a comparison, evaluate them and write the report; resumes by itself.

    Args:
        config: The YAML file of the comparison; see recipes/.
        run_dir: Where the run is written; runs/<name> by default.
        overwrite: Start anew where a run with another config is; your own files stay.
        set: KEY=VALUE, changes one key of the config; can be repeated.
    """
    from setrl.lm.config import ComparisonConfig
    from setrl.lm.run import run_comparison
    from setrl.report import write_report

    loaded = ComparisonConfig.load(config, set)
    folder = run_comparison(loaded, run_dir or Path("runs") / loaded.name, overwrite=overwrite)
    if os.environ.get("RANK", "0") == "0":  # of several processes, the first one writes
        print(f"report: {write_report(folder)}")
