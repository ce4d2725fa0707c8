"""`setrl import`: a log → an evaluation file, and what was noticed on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from setrl import files
from setrl.logs import inspect_ai, lighteval, lm_eval, trl, verl
from setrl.logs.importing import Imported, ImportOptions

READERS: dict[str, Callable[[Path, ImportOptions], Imported]] = {
    "trl": trl.read,
    "verl": verl.read,
    "lighteval": lighteval.read,
    "lm-eval": lm_eval.read,
    "inspect": inspect_ai.read,
}


def import_and_write(source: str, path: Path, output: Path, options: ImportOptions) -> None:
    """Write the evaluation file, and say on stderr what is in it and what was left out.

    Raises:
        ConfigError: When an option does not fit the log.
        DataError: When the log does not hold what the tool writes.
    """
    files.refuse_own_input(output, path)
    imported = READERS[source](path, options)
    files.write_lines(output, imported.records)
    for note in imported.notes:
        print(f"note: {note}", file=sys.stderr)
    n = imported.records[0]["n"]
    print(f"{output}: {len(imported.records)} problems × {n} samples from {source}",
          file=sys.stderr)  # fmt: skip
