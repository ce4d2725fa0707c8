"""`setrl playground`."""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass
from pathlib import Path

from setrl.cli.output import Said
from setrl.support import files
from setrl.support.errors import ConfigError

DEFAULT = Path("setrl-playground.html")


@dataclass(frozen=True)
class Playground(Said):
    """Write the playground, a page that explains the credit of samples, and open it.

    The page is one file, which works offline and can be sent by mail.

    Attributes:
        output: The file of the page.
        open: Open it in the browser; --no-open only writes it.

    Json:
        page: The file of the page.
    """

    output: Path = DEFAULT
    open: bool = True

    def run(self) -> None:
        """Write the page, print where it is, and open it."""
        from setrl.show.lab import is_page, playground

        if self.output.exists() and not is_page(self.output):
            raise ConfigError(
                f"{self.output} exists and is not a page of setrl: choose another --output"
            )
        files.write_text(self.output, playground().html())
        self.tell(str(self.output), page=str(self.output))
        if self.open and not webbrowser.open(self.output.resolve().as_uri()):
            print("no browser was found: open the file in one")
