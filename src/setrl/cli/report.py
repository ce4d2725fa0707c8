"""`setrl report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass(frozen=True)
class Report:
    """Write the report of a run: one self-contained page, and figures.

    Attributes:
        run_dir: The folder of the run.
        publish: Also write a page in Markdown, with figures and numbers, into this folder.
        reference: The arm that the others are compared with.
        allow_damaged: Leave out lines of evaluation files that were cut off or hold a problem
            again, rather than stop.
    """

    run_dir: Positional[Path]
    publish: Path | None = None
    reference: str = "grpo"
    allow_damaged: bool = False

    def run(self) -> None:
        """Write the pages and print where they are."""
        from setrl.report import publish_report, write_report

        how = (self.reference, self.allow_damaged)
        if self.publish is None:
            print(write_report(self.run_dir, *how))
        else:
            print(publish_report(self.run_dir, self.publish, *how))
