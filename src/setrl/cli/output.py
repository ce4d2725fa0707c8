"""What commands print: text or one JSON object, readable in every locale, harmless to a terminal.

The docstring of a command states the keys of its object.
"""

from __future__ import annotations

import inspect
import io
import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from setrl.support.files import plain_json, read_json
from setrl.support.wording import printable

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
        printed = {"schema_version": SCHEMA_VERSION, **record}
        stated = listed(type(self), "Json").keys()
        assert printed.keys() == stated, f"not in both: {printed.keys() ^ stated}"
        text = json.dumps(plain_json(printed), indent=2, ensure_ascii=False, allow_nan=False)
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
        for name, text in ITEM.findall(_docstring_section(kind, section))
    }


def _docstring_section(kind: type[Any], section: str) -> str:
    after = inspect.cleandoc(kind.__doc__ or "").partition(f"\n{section}:\n")[2]
    return re.split(r"^\w+:$", after, flags=re.MULTILINE)[0]


class Printable:
    """A stream that shows control characters instead of sending them to the terminal.

    Samples, names of files and fields, and replies of servers are printed; a terminal obeys the
    escape codes in them. Everything else is passed on to the stream.

    Args:
        stream: Where to write.
        keep: Further control characters that may pass.
    """

    def __init__(self, stream: TextIO, keep: str = ""):
        self._stream, self._keep = stream, keep

    def write(self, text: str) -> int:
        """Write text, with its control characters visible."""
        self._stream.write(printable(text, self._keep))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def speak_utf8() -> None:
    """Print UTF-8 where the locale knows only ASCII, as Python does unless it is forbidden."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_ascii = stream.encoding.lower() in ("ascii", "us-ascii", "ansi_x3.4-1968")
            encoding = "utf-8" if is_ascii else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Inside the context, print a warning as a note, without the place in the code."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **kwargs: Any) -> None:
        if issubclass(category, UserWarning):
            print(f"note: {message}", file=sys.stderr)
        else:
            usual(message, category, *where, **kwargs)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual


@contextmanager
def harmless_output() -> Iterator[None]:
    """Print only visible characters inside the context; a progress bar may return to its line."""
    out, err = Printable(sys.stdout), Printable(sys.stderr, keep="\r")
    with redirect_stdout(out), redirect_stderr(err):
        yield
