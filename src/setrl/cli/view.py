"""`setrl view`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.log_fields import EvaluatedFields


@dataclass(frozen=True, kw_only=True)
class View(EvaluatedFields):
    """Look at runs in the browser: why each sample got its credit, live metrics, evaluations.

    Shows the runs of a folder, output folders of TRL's trainers (log_completions=True), logs of
    verl, of tinker-cookbook and of evaluation tools, evaluation files, and audits of judges. It
    only reads.

    Attributes:
        path: The folder, or one file of samples.
        port: Of the server; by default the first free one from 8710 on. 0 is any free one.
        host: The address that is listened on. Beyond 127.0.0.1, others in the network can reach the
            page, and the address that is printed holds a token that they need.
        open: Open the page in the browser; --no-open only prints its address.
    """

    path: Positional[Path] = Path("runs")
    port: int | None = None
    host: str = "127.0.0.1"
    open: bool = True

    def run(self) -> None:
        """Serve the pages until Ctrl-C."""
        from setrl.lab.view.catalogue import Catalogue
        from setrl.lab.view.serve import serve

        serve(Catalogue(self.path.absolute(), self.log_options), self.host, self.port, self.open)
