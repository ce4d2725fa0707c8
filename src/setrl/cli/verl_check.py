"""`setrl verl check`."""

from __future__ import annotations

from dataclasses import dataclass

from setrl.cli.output import Said


@dataclass(frozen=True)
class VerlCheck(Said):
    """Check that verl loads setrl's plug-in, which verl itself says only in a log.

    The exit code is 2, with the reason, if verl would not find setrl's estimators or trainers.

    Json:
        found: What verl finds, in sentences.
    """

    def run(self) -> None:
        """Print what verl finds."""
        from setrl.train.verl.check import check_verl

        sentences = check_verl()
        self.tell("\n".join(sentences), found=sentences)
