"""`setrl import`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional
from tyro.constructors import PrimitiveConstructorSpec

from setrl import files, names
from setrl.cli.log_fields import FieldNames, own_log
from setrl.errors import ConfigError, usage_errors
from setrl.groups.importers.importing import Imported, ImportOptions
from setrl.groups.importers.tools import READERS, read_log
from setrl.groups.jsonl import is_evaluation_file, open_log, read_own_log
from setrl.wording import between

OWN = "jsonl"  # the tool's name of a log of one's own


def _steps(text: str) -> tuple[int, int]:
    first, _, last = text.partition(":")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise ValueError(f"--steps must be FIRST:LAST, got {text!r}") from None


STEPS = PrimitiveConstructorSpec(
    nargs=1,
    metavar="FIRST:LAST",
    instance_from_str=lambda texts: _steps(texts[0]),
    is_instance=lambda value: value is None or isinstance(value, tuple),
    str_from_instance=lambda value: [str(value)],
)


@dataclass(frozen=True, kw_only=True)
class ImportLog(ImportOptions, FieldNames):
    """Turn a log into an evaluation file; `setrl evaluate FILE` reads one without this step.

    Attributes:
        tool: jsonl for a log of your own (JSON Lines, a JSON array or Parquet), or the tool that
            wrote it: {tools}. docs/importing.md says what each one's log holds.
        path: Its file, or the folder of its files.
        output: The evaluation file to write (JSONL).
        steps: FIRST:LAST, the training steps to read (trl, verl, tinker); the last one by default.
    """

    tool: Positional[str]
    path: Positional[Path]
    output: Path
    steps: Annotated[tuple[int, int] | None, STEPS] = None

    def run(self) -> None:
        """Write the evaluation file, and print to stderr what it holds and what was left out."""
        files.refuse_own_input(self.output, self.path)
        files.refuse_file_of_others(self.output, is_evaluation_file, "an evaluation file")
        if self.tool == OWN:
            imported = self._own()
        else:
            with usage_errors():
                names.look_up("tool", self.tool, {OWN: None, **READERS})
            self._refuse_names()
            imported = read_log(self.tool, self.path, self)
        files.write_lines(self.output, imported.records)
        for note in imported.notes:
            print(f"note: {note}", file=sys.stderr)
        sizes = [record["n"] for record in imported.records]
        samples = between(min(sizes), max(sizes))
        size = f"{len(sizes)} {'problem' if len(sizes) == 1 else 'problems'} × {samples} samples"
        print(f"{self.output}: {size} from {self.tool}", file=sys.stderr)

    def _own(self) -> Imported:
        """The records of a log of one's own; which fields are read is printed first."""
        if self.steps or self.filter:
            raise ConfigError("--steps and --filter are of other tools' logs, not of jsonl")
        how = own_log(self)
        recognised, rows = open_log(self.path, how)
        print(f"{self.path}: {recognised.shape}\n{recognised.table()}", file=sys.stderr)
        return read_own_log(self.path, how, recognised, rows)

    def _refuse_names(self) -> None:
        """Refuse the options of one's own log beside another tool."""
        given = [name for name in (f.name for f in fields(FieldNames)) if getattr(self, name)]
        if given:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise ConfigError(f"{options} is of a log of your own: `setrl import jsonl`")
