"""The results of a run as a folder to commit: a Markdown page, its figures and its numbers."""

from __future__ import annotations

import shutil
from pathlib import Path

from setrl.report.data import RunData, read_run
from setrl.report.headlines import headlines, ordered_splits
from setrl.report.page import MARKS, write_page
from setrl.report.tables import Cell, Table, difference_table, evaluation_table

CONFIG = "config.yaml"


def publish(run_dir: Path, folder: Path, reference: str = "grpo") -> Path:
    """Write a run's report, and README.md, figures, summary.json and config into a folder.

    Args:
        run_dir: The comparison's folder.
        folder: Where to; made if missing.
        reference: The arm that the others are compared with.

    Returns:
        The path of README.md.
    """
    write_page(run_dir, reference)
    data = read_run(run_dir, reference)
    folder.mkdir(parents=True, exist_ok=True)
    figures = sorted((data.folder / "figures").glob("*.png"))
    for path in (*figures, data.folder / "summary.json", data.folder / CONFIG):
        if path.exists():
            shutil.copyfile(path, folder / path.name)
    page = folder / "README.md"
    page.write_text(markdown(data, [path.name for path in figures]), encoding="utf-8")
    return page


def markdown(data: RunData, figures: list[str]) -> str:
    """Headlines, tables and figures; every sentence and number is computed from the run."""
    splits = ordered_splits(data.summary)
    tables = [evaluation_table(data, split) for split in splits]
    tables += [table for split in splits if (table := difference_table(data, split))]
    parts = [
        f"# Results: {data.run.get('name') or data.folder.name}",
        f"Written by `setrl report {data.folder.name} --publish`; do not edit. The run:",
        f"    {data.run.get('command', '')}",
        "\n".join(f"- {MARKS[line.verdict]} {line.text}" for line in headlines(data)),
        "▲ above, ▼ below, ◇ not to be told apart at this many problems, ● a fact.",
        *(_table(table) for table in tables),
        *(f"![{name.removesuffix('.png')}]({name})" for name in figures),
    ]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    head = ["", *table.columns]
    rows = [[name, *map(_cell, cells)] for name, cells in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return f"**{table.caption}**\n\n" + "\n".join(lines)


def _cell(cell: Cell) -> str:
    return "<br>".join((cell.text, *cell.details)).replace("|", "\\|")
