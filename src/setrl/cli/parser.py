"""Arguments → the command with its options; the only module that knows tyro and all commands.

A command is a frozen dataclass: its fields are the options, its docstring their help, and `run()`
does it. Everything heavy is imported in `run()`, so that `setrl --help` stays quick.
"""

from __future__ import annotations

import io
import pkgutil
import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr
from itertools import pairwise
from pathlib import Path
from typing import Any

import tyro

from setrl.cli.audit import AuditEstimator
from setrl.cli.check_task import CheckTask
from setrl.cli.compare import Compare
from setrl.cli.control import Control
from setrl.cli.control_watch import Watch
from setrl.cli.credit import CreditLog
from setrl.cli.doctor import Doctor
from setrl.cli.evaluate import Evaluate
from setrl.cli.grade import GradeAnswer
from setrl.cli.help import FIELDS, JSON, fields_text, help_text, keys_text, list_text, sentences
from setrl.cli.import_log import ImportLog
from setrl.cli.judge import JudgeLog
from setrl.cli.judge_audit import JudgeAudit
from setrl.cli.method_options import MethodOptions, gathered
from setrl.cli.playground import Playground
from setrl.cli.recommend import Recommend
from setrl.cli.report import Report
from setrl.cli.sample import SampleModel
from setrl.cli.tasks import Tasks
from setrl.cli.train import Train
from setrl.cli.train_judge import TrainJudge
from setrl.cli.validate_data import ValidateData
from setrl.cli.verl_check import VerlCheck
from setrl.cli.view import View
from setrl.support.errors import ConfigError

COMMANDS: dict[str, Any] = {
    "train": Train,
    "sample": SampleModel,
    "evaluate": Evaluate,
    "compare": Compare,
    "report": Report,
    "credit": CreditLog,
    "grade": GradeAnswer,
    "judge": JudgeLog,
    "judge-audit": JudgeAudit,
    "train-judge": TrainJudge,
    "import": ImportLog,
    "validate-data": ValidateData,
    "tasks": Tasks,
    "check-task": CheckTask,
    "recommend": Recommend,
    "audit": AuditEstimator,
    "playground": Playground,
    "view": View,
    "doctor": Doctor,  # which reads its own options: it works without tyro
}
CONTROL: dict[str, Any] = {"train": Control, "watch": Watch}  # what follows `setrl control`
VERL: dict[str, Any] = {"check": VerlCheck}
GROUPS = {
    "control": "Train the arms of a control run, or watch one.",
    "verl": "Check that verl loads setrl.",
}
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
    "{tools}": "setrl.samples.importers.tools:READERS",
    "{trainers}": "setrl.theory.audit.shapes:TRAINERS",
}


def parsed(arguments: list[str]) -> Any:
    """Return the command with its options; wrong ones end the process with exit code 2."""
    app, control, verl = (tyro.extras.SubcommandApp() for _ in range(3))
    named = [name for name in COMMANDS if name in arguments[:1]]  # the others need no parser then
    for name in named or COMMANDS:
        if named:
            name_what_is_known(COMMANDS[name])
        app.command(COMMANDS[name], name=name)
    for name, command in CONTROL.items():
        control.command(command, name=name, is_default=name == "train")
    app.command(control, name="control", help=GROUPS["control"])
    for name, command in VERL.items():
        verl.command(command, name=name)
    app.command(verl, name="verl", help=GROUPS["verl"])
    _refuse_commas(arguments)
    command = COMMANDS.get(arguments[0]) if arguments else None
    if command is not None and issubclass(command, MethodOptions):
        arguments = gathered(arguments, command)
    return _read(app, arguments)


def help_of(arguments: list[str]) -> str | None:
    """Return the help that a command line asks for; None if it asks for none."""
    given = arguments[: arguments.index("--")] if "--" in arguments else arguments
    asked = next((one for one in given if one in HELP), None)
    if asked is None and given:
        return None
    words = [one for one in given[:2] if not one.startswith("-")]
    groups = {"control": CONTROL, "verl": VERL}
    if not words:
        return list_text("setrl", _purposes(COMMANDS | GROUPS), [AGENTS])
    group = groups.get(words[0])
    if group is not None and words[-1] not in group:
        return list_text(f"setrl {words[0]}", _purposes(group))
    name, command = words[0], COMMANDS.get(words[0])
    if group is not None:
        name, command = " ".join(words), group[words[1]]
    assert command is not None
    name_what_is_known(command)
    if asked == FIELDS:
        return fields_text()
    return keys_text(name, command) if asked == JSON else help_text(name, command)


def _purposes(commands: Mapping[str, Any]) -> dict[str, str]:
    """Return command → the first sentence of its docstring."""
    return {
        name: kind if isinstance(kind, str) else sentences(kind)[0]
        for name, kind in commands.items()
    }


def _refuse_commas(arguments: list[str]) -> None:
    split = [part for each in arguments for part in each.split("=", 1)]
    for option, value in pairwise(split):
        if option.startswith("--") and re.fullmatch(r"\d+(,\d*)+", value):
            spaced = " ".join(filter(None, value.split(",")))
            raise ConfigError(
                f"{option} takes numbers with spaces between them: {option} {spaced}, not {value}"
            )


def _read(app: Any, arguments: list[str]) -> Any:
    """Return the command; what is given beyond its arguments is named, and all else tyro says."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        with redirect_stderr(said):
            return app.cli(prog="setrl", args=arguments, config=(tyro.conf.OmitArgPrefixes,))
    except SystemExit:
        said.seek(0)
        text = said.read()
        found = re.search(r"Unrecognized options: (?!-)(\S.*?)\s*│?$", text, re.MULTILINE)
        if found and ", -" not in found[1]:
            raise ConfigError(
                f"setrl {arguments[0]} takes fewer arguments: {found[1]} is too much; see setrl "
                f"{arguments[0]} --help"
            ) from None
        sys.stderr.write(text)
        raise


def name_what_is_known(command: type[Any]) -> None:
    """Put the names of domains, judges, … in the help; only now, since registries load slowly."""
    for kind in command.__mro__[:-1]:
        for mark, registry in REGISTRIES.items():
            if mark in (kind.__doc__ or ""):
                known = ", ".join(pkgutil.resolve_name(registry))
                kind.__doc__ = str(kind.__doc__).replace(mark, known)
