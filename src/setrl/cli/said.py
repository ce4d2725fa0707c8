"""What a command prints with `--json`: one object on stdout, whose keys its docstring states."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from setrl.support.files import plain_json, read_json

SCHEMA_VERSION = 1
ITEM = re.compile(r"^ {4}(\w+): (.+(?:\n {5,}\S.*)*)", re.MULTILINE)  # of a list in a docstring
STDOUT: ContextVar[TextIO | None] = ContextVar("STDOUT", default=None)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A command that can print one JSON object.

    Everything else that it says goes to stderr then. The list `Json` of its docstring has the keys
    of the object. A key is removed or changes its meaning only with another `schema_version`.

    Attributes:
        json: Print one JSON object instead of text; --help-json lists its keys.

    Json:
        schema_version: The version of these keys: 1.
    """

    json: bool = False

    def tell(self, text: str, **record: Any) -> None:
        """Print the object with --json, and otherwise the text.

        Args:
            text: The text.
            record: The keys of the object.
        """
        if self.json:
            self.say_json(**record)
        else:
            print(text, flush=True)

    def say_json(self, **record: Any) -> None:
        """Print the object.

        Args:
            record: Its keys, all that the docstring states.
        """
        said = {"schema_version": SCHEMA_VERSION, **record}
        stated = listed(type(self), "Json").keys()
        assert said.keys() == stated, f"not in both: {said.keys() ^ stated}"
        text = json.dumps(plain_json(said), indent=2, ensure_ascii=False, allow_nan=False)
        print(text, file=STDOUT.get(), flush=True)


def about_report(page: Path) -> dict[str, Any]:
    """Return what the object says of a report: its page, its numbers, and what they show."""
    summary = page.with_name("summary.json")
    verdict = read_json(summary).get("verdict", [])
    return {"report": str(page), "summary": str(summary), "verdict": verdict}


@contextmanager
def only_json(command: Any) -> Iterator[None]:
    """Inside the context, a command that was given --json prints all but its object to stderr."""
    if not getattr(command, "json", False):
        yield
        return
    token = STDOUT.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        STDOUT.reset(token)


def listed(command: type[Any], section: str) -> dict[str, str]:
    """Return name → meaning of a list in the docstring of a command.

    Args:
        command: The class, which overrules its base classes.
        section: The title of the list: Attributes for the options, or Json for the keys.
    """
    return {
        name: " ".join(text.split())
        for kind in reversed(command.__mro__[:-1])
        for name, text in ITEM.findall(_part(kind, section))
    }


def _part(kind: type[Any], section: str) -> str:
    after = inspect.cleandoc(kind.__doc__ or "").partition(f"\n{section}:\n")[2]
    return re.split(r"^\w+:$", after, flags=re.MULTILINE)[0]
