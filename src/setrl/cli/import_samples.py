"""`setrl import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro


def import_samples(
    source: Annotated[
        Literal["trl", "verl", "lighteval", "lm-eval", "inspect"], tyro.conf.Positional
    ],
    path: Annotated[Path, tyro.conf.Positional],
    output: Path,
    reward: str | None = None,
    strategy: str | None = None,
    answer: str | None = None,
    gold: str | None = None,
    steps: str | None = None,
    filter: str | None = None,
    verify: bool = False,
    correct_above: float | None = None,
) -> None:
    """Turn another tool's log into an evaluation file, for `setrl evaluate --samples`.

    Args:
        source: The tool that wrote it. docs/importing.md says what each one's log holds.
        path: Its file, or the folder of its files.
        output: The evaluation file to write (JSONL).
        reward: Which of the log's scores counts, where there are several.
        strategy: The column or key of each sample's strategy or cluster (trl, verl).
        answer: The column or key of each sample's answer (trl, verl).
        gold: The column or key of the right answer, where it is not the tool's usual one.
        steps: FIRST:LAST, the training steps to read (trl, verl); the last one by default.
        filter: The filter to read (lm-eval); the first one by default.
        verify: Hold the samples against the gold answer, whatever score they have.
        correct_above: Samples of a higher score are correct; by default only scores of 0 and 1
            say what is correct.
    """
    from setrl.cli.import_log import import_and_write
    from setrl.logs.importing import ImportOptions

    options = ImportOptions(
        reward=reward,
        strategy=strategy,
        answer=answer,
        gold=gold,
        steps=_range(steps),
        answer_filter=filter,
        verify=verify,
        correct_above=correct_above,
    )
    import_and_write(source, path, output, options)


def _range(steps: str | None) -> tuple[int, int] | None:
    from setrl.errors import ConfigError

    if steps is None:
        return None
    first, _, last = steps.partition(":")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise ConfigError(f"--steps must be FIRST:LAST, got {steps!r}") from None
