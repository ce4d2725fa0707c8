"""`setrl doctor`; it needs only NumPy, so it also runs where nothing else is installed."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass

from setrl.cli.said import Said, listed
from setrl.support.errors import ConfigError
from setrl.support.files import cache


@dataclass(frozen=True, kw_only=True)
class Doctor(Said):
    """Print what is installed, what is missing, what the machine has, and what is cached.

    It works without any extra, changes nothing without --yes, and sends nothing.

    Attributes:
        clear_cache: List what setrl wrote into the cache and can make again; with --yes, remove it.
        yes: Remove what --clear-cache lists.

    Json:
        setrl: The version.
        python: The version of Python.
        platform: The operating system.
        metadata: The version that the installed package states.
        installed_in: The folder of the package.
        packages: Package → version.
        extras: Extra → what it is for, and which packages are missing.
        machine: Cores, memory and GPUs.
        cache: The folder of the cache and its entries; with --clear-cache, those that are listed.
        removed: Whether --clear-cache removed them.
    """

    clear_cache: bool = False
    yes: bool = False

    def run(self) -> None:
        """Print what was found, or clear the cache."""
        if self.yes and not self.clear_cache:
            raise ConfigError("--yes belongs to --clear-cache")
        if self.clear_cache:
            self._clear()
            return
        from setrl.cli.doctor_facts import facts
        from setrl.cli.doctor_text import doctor_text

        found = facts()
        self.tell(doctor_text(found), **found, removed=False)

    def _clear(self) -> None:
        from setrl.cli.doctor_facts import cache_facts
        from setrl.cli.doctor_text import cleared_text

        found = cache.entries(cache.cache_folder())
        cleared = cache_facts(found)
        if self.yes:
            cache.clear(found)
        blank = dict.fromkeys(listed(Doctor, "Json").keys() - {"schema_version"})
        record = {**blank, "cache": cleared, "removed": self.yes}
        self.tell(cleared_text({"removed": self.yes, **cleared}), **record)


def parsed(arguments: list[str]) -> Doctor:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    help_of = listed(Doctor, "Attributes")
    parser = argparse.ArgumentParser("setrl doctor", allow_abbrev=False)
    for field in dataclasses.fields(Doctor):
        name = f"--{field.name.replace('_', '-')}"
        parser.add_argument(name, action="store_true", help=help_of[field.name])
    return Doctor(**vars(parser.parse_args(arguments)))
