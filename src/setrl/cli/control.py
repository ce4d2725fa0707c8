"""`setrl control`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def control(
    config: Path,
    run_dir: Path | None = None,
    overwrite: bool = False,
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
) -> None:
    """Train the arms of a control run, evaluate them and write the report; resumes by itself.

    Args:
        config: The YAML file of the run; see recipes/.
        run_dir: Where the run is written; runs/<name> by default.
        overwrite: Start anew where a run with another config is; your own files stay.
        set: KEY=VALUE, changes one key of the config; can be repeated.
    """
    from setrl.control.config import ControlConfig
    from setrl.control.run import run_control
    from setrl.report import write_report

    loaded = ControlConfig.load(config, set)
    folder = run_control(loaded, run_dir or Path("runs") / loaded.name, overwrite=overwrite)
    print(f"report: {write_report(folder)}")
