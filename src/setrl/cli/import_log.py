"""`setrl import`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional
from tyro.constructors import PrimitiveConstructorSpec

from setrl import files
from setrl.logs.importing import ImportOptions
from setrl.logs.tools import read_log


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
class ImportLog(ImportOptions):
    """Turn another tool's log into an evaluation file, for `setrl evaluate --samples`.

    Attributes:
        tool: The tool that wrote it: {tools}. docs/importing.md says what each one's log holds.
        path: Its file, or the folder of its files.
        output: The evaluation file to write (JSONL).
        steps: FIRST:LAST, the training steps to read (trl, verl); the last one by default.
    """

    tool: Positional[str]
    path: Positional[Path]
    output: Path
    steps: Annotated[tuple[int, int] | None, STEPS] = None

    def run(self) -> None:
        """Write the evaluation file, and print to stderr what it holds and what was left out."""
        files.refuse_own_input(self.output, self.path)
        imported = read_log(self.tool, self.path, self)
        files.write_lines(self.output, imported.records)
        for note in imported.notes:
            print(f"note: {note}", file=sys.stderr)
        size = f"{len(imported.records)} problems × {imported.records[0]['n']} samples"
        print(f"{self.output}: {size} from {self.tool}", file=sys.stderr)
