"""Pages of docs/ with commands and what they print, run one after another and compared."""

import re
from pathlib import Path

import pytest

from setrl import cli

DOCS = Path(__file__).parents[1] / "docs"
SESSION = re.compile(r"```console\n\$ setrl ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)```", re.DOTALL)


def commands(page):
    """Each command of a page, and what the page shows that it prints."""
    return SESSION.findall((DOCS / page).read_text(encoding="utf-8"))


def printed(capsys, command):
    """What a command prints: first to stderr, then to stdout."""
    with pytest.raises(SystemExit):
        cli.main(command.replace("\\\n", " ").split())
    found = capsys.readouterr()
    return (found.err + found.out).rstrip()


def unwrapped(printed):
    """What a command prints, on one line: where its sentences break depends on their words."""
    return " ".join(printed.split())
