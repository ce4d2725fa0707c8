"""Arguments → the command with its options; the only module that knows tyro.

A command is a frozen dataclass: its fields are the options, its docstring their help, and `run()`
does it. Only the command that is given is imported, and what is heavy only in its `run()`.
"""

from __future__ import annotations

import io
import pkgutil
import re
import sys
from contextlib import redirect_stderr
from itertools import pairwise
from pathlib import Path
from typing import Any

import tyro

from setrl.cli.extras import COMMANDS
from setrl.cli.help import FIELDS, JSON, fields_text, help_text, keys_text, list_text, sentences
from setrl.support.errors import ConfigError

HELP = ("-h", "--help", FIELDS, JSON)
SKILL = Path(__file__).parents[1] / ".agents" / "skills" / "setrl" / "SKILL.md"
AGENTS = f"A guide for agents, with scripts and a config to copy: {SKILL}"

# Placeholder in a command's help → the registry that has the names.
REGISTRIES = {
    "{benchmarks}": "setrl.tasks.benchmarks:BENCHMARKS",
    "{domains}": "setrl.tasks.domains:DOMAINS",
    "{judges}": "setrl.judges.config:by_name",
    "{methods}": "setrl.core.methods:by_name",
    "{metrics}": "setrl.evaluate.metrics:METRICS",
    "{styles}": "setrl.judges.rendering:STYLES",
    "{tools}": "setrl.logs.importers.tools:READERS",
    "{trainers}": "setrl.theory.audit.shapes:TRAINERS",
}


def command_of(name: str) -> Any:
    """Return the class of a command, whose help names all that is registered."""
    command = pkgutil.resolve_name(f"setrl.cli.{COMMANDS[name][0]}")
    for kind in command.__mro__[:-1]:
        for mark, registry in REGISTRIES.items():
            if mark in (kind.__doc__ or ""):
                names = ", ".join(pkgutil.resolve_name(registry))
                kind.__doc__ = str(kind.__doc__).replace(mark, names)
    return command


def parsed(name: str, arguments: list[str]) -> Any:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    _refuse_commas(arguments)
    return _read_options(name, command_of(name), arguments)


def help_of(name: str, arguments: list[str]) -> str | None:
    """Return the help that a command line asks for; None if it asks for none.

    Args:
        name: The command; empty for all.
        arguments: What follows it.
    """
    if not name:
        purposes = {name: sentences(command_of(name))[0] for name in COMMANDS}
        return list_text("setrl", purposes, [AGENTS])
    given = arguments[: arguments.index("--")] if "--" in arguments else arguments
    asked = next((argument for argument in given if argument in HELP), None)
    if asked is None:
        return None
    if asked == FIELDS:
        return fields_text()
    command = command_of(name)
    return keys_text(name, command) if asked == JSON else help_text(name, command)


def _refuse_commas(arguments: list[str]) -> None:
    split = [part for each in arguments for part in each.split("=", 1)]
    for option, value in pairwise(split):
        if option.startswith("--") and re.fullmatch(r"\d+(,\d*)+", value):
            spaced = " ".join(filter(None, value.split(",")))
            raise ConfigError(
                f"{option} takes numbers with spaces between them: {option} {spaced}, not {value}"
            )


def _read_options(name: str, command: type[Any], arguments: list[str]) -> Any:
    """Return the command; what is given beyond its arguments is named, and all else tyro says."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        with redirect_stderr(printed):
            return tyro.cli(
                command,
                prog=f"setrl {name}",
                args=arguments,
                config=(tyro.conf.OmitArgPrefixes,),
            )
    except SystemExit:
        printed.seek(0)
        text = printed.read()
        match = re.search(r"Unrecognized options: (?!-)(\S.*?)\s*│?$", text, re.MULTILINE)
        if match and ", -" not in match[1]:
            raise ConfigError(
                f"setrl {name} takes fewer arguments: {match[1]} is too much; see setrl {name} "
                "--help"
            ) from None
        sys.stderr.write(text)
        raise
