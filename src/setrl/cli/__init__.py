"""The command `setrl`, one file a command: parse → config → call.

A command's signature is its options and its docstring their help. Everything heavy is imported in
the body, so that `setrl --help` stays quick.

Exit codes: 0 all is well, 1 a run failed, 2 wrong usage or config, 3 bad data, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn, cast

import tyro

from setrl.cli.compare import compare
from setrl.cli.control import control
from setrl.cli.control_watch import watch
from setrl.cli.credit import credit
from setrl.cli.evaluate import evaluate
from setrl.cli.import_samples import import_samples
from setrl.cli.judge import judge
from setrl.cli.judge_audit import judge_audit
from setrl.cli.report import report
from setrl.cli.train import train
from setrl.cli.train_judge import train_judge
from setrl.cli.validate_data import validate_data
from setrl.errors import ConfigError, DataError, RunError, explain

COMMANDS: dict[str, Any] = {
    "train": train,
    "evaluate": evaluate,
    "compare": compare,
    "report": report,
    "credit": credit,
    "judge": judge,
    "judge-audit": judge_audit,
    "train-judge": train_judge,
    "import": import_samples,
    "validate-data": validate_data,
}

app = tyro.extras.SubcommandApp()
for _name, _command in COMMANDS.items():
    app.command(_command, name=_name)
_control = tyro.extras.SubcommandApp()  # `setrl control --config …`, `setrl control watch RUN`
for _name, _command in {"train": control, "watch": watch}.items():
    _control.command(cast(Any, _command), name=_name, is_default=_name == "train")
app.command(_control, name="control", help="Train the arms of a control run, or watch one.")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code."""
    try:
        app.cli(prog="setrl", args=arguments, config=(tyro.conf.OmitArgPrefixes,))
    except KeyboardInterrupt:
        _leave(130, "interrupted; what is written is kept, and the same command goes on from it")
    except ConfigError as error:
        _leave(2, str(error))
    except DataError as error:
        _leave(3, str(error))
    except RunError as error:
        _leave(1, str(error))
    except BrokenPipeError:  # of `setrl credit … | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _leave(1, explain(error))
    sys.exit(0)


def _leave(code: int, message: str) -> NoReturn:
    print(f"setrl: {message}", file=sys.stderr)
    sys.exit(code)
