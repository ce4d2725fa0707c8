"""`setrl validate-data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def validate_data(
    file: Annotated[Path, tyro.conf.Positional],
    gold: str = "answer",
    units: bool = False,
    workers: int = 2,
    time_limit_s: float = 10.0,
    good: Path | None = None,
) -> None:
    """Check that every gold answer of a JSONL file can be parsed and accepts itself.

    Prints line, id and reason of every row that does not; the exit code is 3 if there is one.

    Args:
        file: One JSON object a line.
        gold: The field that holds the gold answer.
        units: Whether a unit may be missing, see docs/rewards.md.
        workers: Processes for golds that take algebra.
        time_limit_s: Processor seconds a gold.
        good: Where the good rows go, unchanged (JSONL).
    """
    from setrl.errors import ConfigError
    from setrl.rewards import math_answer
    from setrl.rewards.validation import validate_and_print

    try:
        grader = math_answer(gold=gold, units=units, workers=workers, time_limit_s=time_limit_s)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    validate_and_print(file, grader, good)
