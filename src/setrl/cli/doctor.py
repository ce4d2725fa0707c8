"""`setrl doctor`; it needs only NumPy, so it also runs where nothing else is installed."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass

from setrl.cli.said import Said, listed


@dataclass(frozen=True, kw_only=True)
class Doctor(Said):
    """Print what is installed, what is missing, and which GPUs can be used.

    It works without any extra, changes nothing, and sends nothing.

    Json:
        setrl: The version.
        python: The version of Python.
        platform: The operating system.
        metadata: The version that the installed package states.
        installed_in: The folder of the package.
        packages: Package → version.
        extras: Extra → what it is for, and which packages are missing.
        gpus: The GPUs that PyTorch can use.
        no_gpu: Why it can use no GPU; null if it can.
    """

    def run(self) -> None:
        """Print what was found."""
        from setrl.cli.doctor_facts import facts
        from setrl.cli.doctor_text import doctor_text

        found = facts()
        self.tell(doctor_text(found), **found)


def parsed(arguments: list[str]) -> Doctor:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    help_of = listed(Doctor, "Attributes")
    parser = argparse.ArgumentParser("setrl doctor", allow_abbrev=False)
    for field in dataclasses.fields(Doctor):
        name = f"--{field.name.replace('_', '-')}"
        parser.add_argument(name, action="store_true", help=help_of[field.name])
    return Doctor(**vars(parser.parse_args(arguments)))
