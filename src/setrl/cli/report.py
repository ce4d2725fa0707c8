"""`setrl report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def report(
    run_dir: Annotated[Path, tyro.conf.Positional],
    publish: Path | None = None,
    reference: str = "grpo",
) -> None:
    """Write the report of a run: one self-contained page, and figures.

    Args:
        run_dir: The folder of the run.
        publish: Also write a page in Markdown, with figures and numbers, into this folder.
        reference: The arm that the others are compared with.
    """
    from setrl.report import publish_report, write_report

    if publish is None:
        print(write_report(run_dir, reference))
    else:
        print(publish_report(run_dir, publish, reference))
