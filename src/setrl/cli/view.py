"""`setrl view`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import EvaluatedFields


@dataclass(frozen=True, kw_only=True)
class View(EvaluatedFields, Said):
    """Show samples in the browser: problems, who gets credit, live metrics.

    It shows any log of samples, a folder of logs, runs, output folders of TRL's trainers
    (log_completions=True), logs of verl, of tinker-cookbook and of evaluation tools, and evaluation
    files. It only reads.

    Attributes:
        path: The folder, or one log of samples.
        port: The port of the server; by default the first free port from 8710 on. 0 takes any free
            port.
        host: The address on which the server listens. With another one than 127.0.0.1, other
            machines can reach the page with a token of the printed address.
        open: Open the page in the browser; --no-open only prints its address.

    Json:
        address: The address of the page, with its token if it needs one; printed at the start.
    """

    path: Positional[Path] = Path("runs")
    port: int | None = None
    host: str = "127.0.0.1"
    open: bool = True

    def run(self) -> None:
        """Serve the pages until Ctrl-C."""
        from setrl.show.lab.view.catalogue import Catalogue
        from setrl.show.lab.view.serve import serve

        def tell_address(address: str) -> None:
            self.tell(f"{address}\nCtrl-C ends it.", address=address)

        catalogue = Catalogue(self.path.absolute(), self.log_options)
        serve(catalogue, self.host, self.port, self.open, tell_address)
