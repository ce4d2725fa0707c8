"""The command `setrl`, one file a command; here is what happens before and after one of them.

Exit codes: 0 all is well, 1 a run failed, 2 wrong usage or config, or a package is missing, 3 bad
data, 10 or 11 an answer that is wrong or unreadable (grade), 130 interrupted by Ctrl-C, 143 by
SIGTERM, as from batch systems and containers.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from setrl import __version__
from setrl.cli import doctor
from setrl.cli.extras import COMMANDS, needs
from setrl.cli.said import only_json
from setrl.cli.streams import harmless_output, speak_utf8, warnings_as_notes
from setrl.support import names
from setrl.support.errors import ConfigError, DataError, RunError, Terminated, explain, usage_errors
from setrl.support.files.progress import looked_at
from setrl.support.installing import install
from setrl.support.wording import printable

RESUMES = "what is written is kept, and the same command resumes from it"
STARTS_AGAIN = "the same command starts again from the beginning"
EXIT_CODES = {ConfigError: 2, DataError: 3, RunError: 1, OSError: 1}


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = None
    speak_utf8()
    try:
        with _sigterm_as_ctrl_c(), looked_at(), warnings_as_notes():
            command = _parsed(arguments)
            with harmless_output(), only_json(command):
                command.run()
    except KeyboardInterrupt as error:
        what, code = ("terminated", 143) if isinstance(error, Terminated) else ("interrupted", 130)
        _leave(code, f"{what}; {RESUMES if getattr(command, 'resumes', False) else STARTS_AGAIN}")
    except BrokenPipeError:  # of `setrl credit … | head`: nobody reads the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except ImportError as error:
        sentence = needs(error, arguments[0])
        if sentence is None:
            raise
        _leave(2, sentence)
    except tuple(EXIT_CODES) as error:
        code = next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
        _leave(code, explain(error))
    sys.exit(0)


def _parsed(arguments: list[str]) -> Any:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    first = arguments[0] if arguments else "--help"
    if first == "--version":
        print(f"setrl {__version__}")
        sys.exit(0)
    if not first.startswith("-"):
        with usage_errors():
            names.look_up("command", first, COMMANDS)
    try:
        from setrl.cli.parser import help_of, parsed
    except ModuleNotFoundError:
        if first == "doctor":
            return doctor.parsed(arguments[1:])
        if not {"-h", "--help"} & {first}:
            raise
        print(_help_without_packages())
        sys.exit(0)
    asked = help_of(arguments)
    if asked is not None:
        print(asked)
        sys.exit(0)
    return doctor.parsed(arguments[1:]) if first == "doctor" else parsed(arguments)


def _help_without_packages() -> str:
    """Return the help without the package that prints options."""
    needed = {name: extra for name, extra in COMMANDS.items() if extra}
    lines = [f"  setrl {name:<14} {extra}" for name, extra in needed.items()]
    return "\n".join(
        [
            "usage: setrl COMMAND OPTIONS",
            "",
            "The commands need packages that are not installed. Each needs one of the extras:",
            "",
            *lines,
            "",
            f"For cli: {install('cli')}.",
            "",
            "`setrl doctor` needs none and says what is installed.",
            "`setrl COMMAND --help` then prints the options.",
        ]
    )


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Raise an error at SIGTERM, inside the context, that ends the work as Ctrl-C does."""

    def terminate(*_: object) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # only it may handle signals
        yield
        return
    usual = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def _leave(code: int, message: str) -> NoReturn:
    print(f"setrl: {printable(message)}", file=sys.stderr)
    sys.exit(code)
