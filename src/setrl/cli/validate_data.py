"""`setrl validate-data`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from setrl.cli.said import Said
from setrl.support.errors import usage_errors


@dataclass(frozen=True)
class ValidateData(Said):
    """Check that every gold answer of a JSONL file can be parsed and accepts itself.

    Print the line, the id and the reason of every bad row; the exit code is 3 if there is one.

    Attributes:
        file: The file, with one JSON object in each line.
        gold: The field that holds the gold answer.
        units: Accept answers without the unit, see docs/rewards.md.
        workers: The number of processes for golds that need algebra.
        time_limit_s: The limit of processor seconds for one gold.
        good: A file for the good rows, unchanged (JSONL).

    Json:
        path: The file.
        rows: The number of rows.
        bad: The bad rows: line, id, gold and reason; then the exit code is 3.
    """

    file: Positional[Path]
    gold: str = "answer"
    units: bool = False
    workers: int = 2
    time_limit_s: float = 10.0
    good: Path | None = None

    def run(self) -> None:
        """Print the bad rows and write the good ones."""
        from setrl.rewards import math_answer
        from setrl.tasks.validation import refuse_bad, validate_file

        with usage_errors():
            grader = math_answer(
                gold=self.gold,
                units=self.units,
                workers=self.workers,
                time_limit_s=self.time_limit_s,
            )
        lines, bad = validate_file(self.file, grader, self.good)
        if self.json:
            rows = [dataclasses.asdict(row) for row in bad]
            self.say_json(path=str(self.file), rows=len(lines) + len(bad), bad=rows)
        else:
            for row in bad:
                print(row)
        refuse_bad(self.file, len(lines) + len(bad), bad)
        print(f"{self.file}: all {len(lines)} golds can be parsed and accept themselves")
