"""The results of a run as a folder to commit: a Markdown page, its figures and its numbers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from setrl import files
from setrl.evaluation.wording import markdown_table
from setrl.logs.run_folder import CONFIG, FIGURES
from setrl.report.drawing import Chart
from setrl.report.figures import charts
from setrl.report.headlines import headlines
from setrl.report.page import MARKS, NUMBERS, facts, write_page
from setrl.report.run import RunData
from setrl.report.tables import Table, tables


def publish(
    run_dir: Path, folder: Path, reference: str = "grpo", allow_damaged: bool = False
) -> Path:
    """Write a run's report, and README.md, figures, summary.json and config into a folder.

    Args:
        run_dir: The folder of the run.
        folder: Where to; made if missing.
        reference: The arm that the others are compared with.
        allow_damaged: See `setrl.logs.records.load_evaluation`.

    Returns:
        The path of README.md.
    """
    data = write_page(run_dir, reference, allow_damaged)
    folder.mkdir(parents=True, exist_ok=True)
    shown = charts(data)
    pictures = [data.folder / FIGURES / f"{chart.name}.png" for chart in shown]
    for path in (*pictures, data.folder / NUMBERS, data.folder / CONFIG):
        if path.exists():
            shutil.copyfile(path, folder / path.name)
    page = folder / "README.md"
    files.write_text(page, markdown(data, shown))
    return page


def markdown(data: RunData, shown: Sequence[Chart]) -> str:
    """Headlines, tables and figures; every sentence and number is computed from the run."""
    lines = [f"- {MARKS[line.verdict]} {line.text}" for line in headlines(data)]
    legend = "▲ above, ▼ below, ◇ cannot be distinguished with these problems, ● a fact."
    parts = [
        f"# Results: {data.name}",
        f"Written by `setrl report {data.folder.name} --publish`; do not edit.",
        *(["\n".join(lines), legend] if lines else []),
        *(f"**{table.caption}**\n\n{_table(table)}" for table in tables(data)),
        *(f"![{chart.headline}]({chart.name}.png)\n\n{chart.note}" for chart in shown),
        "\n".join(f"- {name}: {value}" for name, value in facts(data).items()),
    ]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    rows = [
        [name, *("<br>".join((cell.text, *cell.details)) for cell in cells)]
        for name, cells in table.rows
    ]
    return markdown_table(["", *table.columns], rows)
