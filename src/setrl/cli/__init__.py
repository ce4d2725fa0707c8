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
from setrl.cli.output import harmless_output, only_json, speak_utf8, warnings_as_notes
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
    command, name = None, ""
    speak_utf8()
    try:
        with _sigterm_as_ctrl_c(), looked_at(), warnings_as_notes():
            name, rest = _split_command_name(arguments)
            command = _parse_options(name, rest)
            with harmless_output(), only_json(command):
                code = _run_command(command)
    except KeyboardInterrupt as error:
        what, code = ("terminated", 143) if isinstance(error, Terminated) else ("interrupted", 130)
        _exit_with_message(
            code, f"{what}; {RESUMES if getattr(command, 'resumes', False) else STARTS_AGAIN}"
        )
    except BrokenPipeError:  # of `setrl credit … | head`: nobody reads the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except ImportError as error:
        sentence = needs(error, name)
        if sentence is None:
            raise
        _exit_with_message(2, sentence)
    except tuple(EXIT_CODES) as error:
        code = next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
        _exit_with_message(code, explain(error))
    sys.exit(code)


def _run_command(command: Any) -> int:
    """Run the command and return its exit code; code of a user that it calls must not choose it."""
    try:
        return command.run() or 0
    except SystemExit as error:
        raise RunError(
            f"code that the command runs called sys.exit({error.code!r}) before it was done"
        ) from error


def _split_command_name(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the command of a command line, of two words or one, and what follows it.

    Help and the version are asked of no command, which is "".
    """
    if not arguments or arguments[0] in ("-h", "--help", "--version"):
        return "", arguments
    if arguments[:2] == ["control", "train"]:  # the long name
        return "control", arguments[2:]
    two = " ".join(arguments[:2])
    if two in COMMANDS:
        return two, arguments[2:]
    with usage_errors():
        names.look_up("command", arguments[0], COMMANDS)
    return arguments[0], arguments[1:]


def _parse_options(name: str, arguments: list[str]) -> Any:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    if "--version" in arguments[:1] and not name:
        _print_and_leave(f"setrl {__version__}")
    try:
        from setrl.cli.parser import help_of, parsed

        asked = help_of(name, arguments)
    except ModuleNotFoundError:
        if name == "doctor":
            return doctor.parsed(arguments)
        if name:
            raise
        asked = _help_without_packages()
    if asked is not None:
        _print_and_leave(asked)
    return doctor.parsed(arguments) if name == "doctor" else parsed(name, arguments)


def _print_and_leave(text: str) -> NoReturn:
    print(text)
    sys.exit(0)


def _help_without_packages() -> str:
    """Return the help without the package that prints options."""
    needed = {name: extra for name, (_, extra) in COMMANDS.items() if extra}
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


def _exit_with_message(code: int, message: str) -> NoReturn:
    print(f"setrl: {printable(message)}", file=sys.stderr)
    sys.exit(code)
