"""`setrl evaluate`: sample a checkpoint, then print its metrics."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from setrl import domains
from setrl.domains import Split
from setrl.errors import ConfigError
from setrl.evaluation.intervals import Estimate
from setrl.evaluation.records import load_evaluation
from setrl.evaluation.sampling import evaluate_checkpoint
from setrl.evaluation.summary import ArmSummary, powers_of_two, summarise, write_checkpoint_summary

COLUMNS = {"pass": 100, "majority": 100, "strategies": 1, "correct_strategies": 1}
WIDTH = 22


def evaluate_and_print(
    checkpoint: Path, domain: str, split: str, problems: int, samples: int, seed: int, path: Path
) -> None:
    """Draw what is missing of an evaluation file, print its metrics, and summarise its folder.

    Args:
        checkpoint: The folder of a model and its tokenizer.
        domain: Name of a domain.
        split: One of its splits.
        problems: P.
        samples: n, samples a problem.
        seed: Of the problems and the samples.
        path: The evaluation file.

    Raises:
        ConfigError: When an argument is wrong.
    """
    if split not in get_args(Split):
        raise ConfigError(f"split must be one of {', '.join(get_args(Split))}, got {split!r}")
    if min(problems, samples) < 1:
        raise ConfigError(f"problems and samples must be at least 1, got {problems} and {samples}")
    try:
        task = domains.by_name(domain)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    evaluate_checkpoint(checkpoint, task, split, problems, samples, seed, path)  # type: ignore[arg-type]
    summary = summarise({split: {"model": {0: load_evaluation(path)}}}, reference=None)
    print(f"{checkpoint} on {domain}, {split} split")
    print(table(summary.splits[split].arms["model"]))
    if path.parent.name == "evaluation":
        write_checkpoint_summary(path.parent)


def table(arm: ArmSummary) -> str:
    """The metrics of one model, a line for each k; shares as per cent."""
    rows = [["k", *(f"{name}@k" for name in COLUMNS)]]
    for k in powers_of_two(arm.n):
        cells = [_cell(arm.metrics[f"{name}@{k}"], scale) for name, scale in COLUMNS.items()]
        rows.append([str(k), *cells])
    return "\n".join([
        f"{arm.problems} problems × {arm.n} samples, temperature {arm.temperature:g}, "
        "95% intervals over problems",
        "",
        *("".join(f"{cell:<{WIDTH}}" for cell in row).rstrip() for row in rows),
        "",
        f"effective number of strategies  {_cell(arm.metrics['effective_number'], 1)}",
        f"share of the commonest          {_cell(arm.metrics['top_share'], 100)}",
        f"strategy cannot be read         {_cell(arm.metrics['degenerate'], 100)}",
    ])  # fmt: skip


def _cell(estimate: Estimate, scale: int) -> str:
    unit = "%" if scale == 100 else ""
    low, high = scale * estimate.low, scale * estimate.high
    return f"{scale * estimate.value:.1f}{unit} [{low:.1f}, {high:.1f}]"
