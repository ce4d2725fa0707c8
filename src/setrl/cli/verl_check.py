"""`setrl verl check`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VerlCheck:
    """Check that verl loads setrl's plug-in; verl itself reports a failure only in its debug log.

    The exit code is 2, with the reason, if verl would not find setrl's estimators or trainers.
    """

    def run(self) -> None:
        """Print what verl finds."""
        from setrl.engines.verl.check import check

        for line in check():
            print(line)
