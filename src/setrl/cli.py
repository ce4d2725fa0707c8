"""The command `setrl`: its commands are in `setrl.commands`.

Exit codes: 0 all is well, 1 a run failed, 2 wrong usage or config, 3 bad data, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import tyro

from setrl import commands
from setrl.errors import ConfigError, DataError, RunError

app = tyro.extras.SubcommandApp()
for _command in (
    commands.train,
    commands.evaluate,
    commands.compare,
    commands.report,
    commands.credit,
    commands.judge,
    commands.judge_audit,
    commands.train_judge,
    commands.verify,
    commands.experiments,
    commands.validate_data,
):
    app.command(_command)
_control = tyro.extras.SubcommandApp()  # `setrl control --config …`, `setrl control watch RUN`
_control.command(commands.control, name="train", is_default=True)
_control.command(commands.watch)
app.command(_control, name="control", help="Train the arms of a control run, or watch one.")
app.command(commands.import_samples, name="import")  # a word that no function can have


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code."""
    try:
        app.cli(prog="setrl", args=arguments, config=(tyro.conf.OmitArgPrefixes,))
    except KeyboardInterrupt:
        _leave(130, "interrupted; the same command goes on from the last checkpoint")
    except ConfigError as error:
        _leave(2, str(error))
    except DataError as error:
        _leave(3, str(error))
    except RunError as error:
        _leave(1, str(error))
    sys.exit(0)


def _leave(code: int, message: str) -> NoReturn:
    print(f"setrl: {message}", file=sys.stderr)
    sys.exit(code)
