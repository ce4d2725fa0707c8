"""`setrl doctor`; it needs only NumPy, so it also runs where nothing else is installed."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from dataclasses import dataclass

from setrl.errors import ConfigError
from setrl.files import cache


@dataclass(frozen=True)
class Doctor:
    """Print what is installed, what is missing, what the machine has, and what is cached.

    It works without any extra, changes nothing without --yes, and sends nothing.

    Attributes:
        json: Print JSON instead of text.
        clear_cache: List what setrl wrote into the cache and can make again; with --yes, remove it.
        yes: Remove what --clear-cache lists.
    """

    json: bool = False
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
        print(json.dumps(found, indent=2, ensure_ascii=False) if self.json else doctor_text(found))

    def _clear(self) -> None:
        from setrl.cli.doctor_facts import cache_facts
        from setrl.cli.doctor_text import cleared_text

        found = cache.entries(cache.cache_folder())
        about = {"removed": self.yes, **cache_facts(found)}
        if self.yes:
            cache.clear(found)
        print(json.dumps(about, indent=2, ensure_ascii=False) if self.json else cleared_text(about))


def parsed(arguments: list[str]) -> Doctor:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    summary, _, options = str(Doctor.__doc__).partition("Attributes:")
    help_of = dict(re.findall(r"^ +(\w+): (.+)$", options, re.MULTILINE))
    parser = argparse.ArgumentParser("setrl doctor", description=summary, allow_abbrev=False)
    for field in dataclasses.fields(Doctor):
        name = f"--{field.name.replace('_', '-')}"
        parser.add_argument(name, action="store_true", help=help_of[field.name])
    return Doctor(**vars(parser.parse_args(arguments)))
