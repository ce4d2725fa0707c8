"""`setrl import`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional
from tyro.constructors import PrimitiveConstructorSpec

from setrl.cli.output import Said
from setrl.cli.shared_options import EvaluatedFields
from setrl.logs.importers.tools import READERS
from setrl.logs.log import Log, open_log
from setrl.logs.recording import log_records
from setrl.logs.records import is_record
from setrl.support import files, names
from setrl.support.errors import ConfigError, usage_errors
from setrl.support.files import json_lines
from setrl.support.wording import size

OWN = "jsonl"  # the tool's name of a log whose fields are recognised


def _read_steps(text: str) -> tuple[int, int]:
    first, _, last = text.partition(":")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise ValueError(f"--steps must be FIRST:LAST, got {text!r}") from None


def _is_import(path: Path, log: Log) -> bool:
    """Return whether a file begins with the first record of a log, as other options may read it.

    Options change grades and columns, but no texts. Without texts, grades tell logs apart.
    """
    first = json_lines.first_record(path)
    record = json.loads(files.json_text(next(log_records(log), {})))
    same = ("id", "prompt", "texts") if record.get("texts") else record
    return is_record(first) and all(first.get(key) == record[key] for key in same)


STEPS = PrimitiveConstructorSpec(
    nargs=1,
    metavar="FIRST:LAST",
    instance_from_str=lambda texts: _read_steps(texts[0]),
    is_instance=lambda value: value is None or isinstance(value, tuple),
    str_from_instance=lambda value: [str(value)],
)


@dataclass(frozen=True, kw_only=True)
class ImportLog(EvaluatedFields, Said):
    """Turn a log into an evaluation file; `setrl evaluate` reads logs, too.

    Attributes:
        tool: jsonl for a log whose fields are recognised, or the tool that wrote it: {tools}
            (docs/importing.md).
        path: The file of the log, or the folder of its files.
        output: The evaluation file to write (JSONL).
        steps: The training steps to read, FIRST:LAST (trl, verl, tinker); the last one by default.
        filter: The filter to read (lm-eval); the first one by default.

    Json:
        output: The evaluation file.
        tool: The tool that wrote the log.
        problems: The number of problems.
        samples: The smallest and the largest number of samples of a problem.
        notes: What was left out or noticed, in sentences.
    """

    tool: Positional[str]
    path: Positional[Path]
    output: Path
    steps: Annotated[tuple[int, int] | None, STEPS] = None
    filter: str | None = None

    def run(self) -> None:
        """Write the evaluation file, and print to stderr what it holds and what was left out."""
        files.refuse_own_input(self.output, self.path)
        with usage_errors():
            names.look_up("tool", self.tool, {OWN: None, **READERS})
        if self.tool == OWN and (self.steps or self.filter):
            raise ConfigError("--steps and --filter are for other tools' logs, not for jsonl")
        options = replace(self.log_options, steps=self.steps, filter=self.filter)
        log = open_log(
            self.path, options, ["correct"], tool=None if self.tool == OWN else self.tool
        )
        if log.is_own:
            raise ConfigError(f"{self.path} is a file of setrl's own already: use it as it is")
        files.refuse_file_of_others(
            self.output, lambda path: _is_import(path, log), "an evaluation file of this log"
        )
        self.say([log.head])
        sizes: list[int] = []

        def counted() -> Iterator[dict[str, Any]]:  # one record is in memory at a time
            for record in log_records(log):
                sizes.append(record["n"])
                yield record

        files.write_lines(self.output, counted())
        notes = list(log.notes())
        self.note(notes)
        written = size(len(sizes), "problem", min(sizes), max(sizes))
        self.say([f"{self.output}: {written} from {self.tool}"])
        if self.json:
            self.say_json(
                output=str(self.output),
                tool=self.tool,
                problems=len(sizes),
                samples=[min(sizes), max(sizes)],
                notes=notes,
            )
