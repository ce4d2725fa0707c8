"""`setrl verl check`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VerlCheck:
    """Check that verl loads setrl's plug-in; verl itself reports a failure in its debug log alone.

    It ends with exit code 2 and the reason if verl would not find setrl's estimators or trainers.
    """

    def run(self) -> None:
        """Print what verl finds."""
        from setrl.engines.verl.check import check

        for line in check():
            print(line)
