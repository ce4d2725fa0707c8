"""What commands print: readable in every locale, and harmless to the terminal that shows it."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from setrl.support.wording import printable


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

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, UserWarning):
            print(f"note: {message}", file=sys.stderr)
        else:
            usual(message, category, *where, **more)

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
