"""`setrl train`."""

from __future__ import annotations

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

    loaded = ComparisonConfig.load(config, set)
    page = run_comparison(loaded, run_dir or Path("runs") / loaded.name, overwrite=overwrite)
    print(f"report: {page}")
