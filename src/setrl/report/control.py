"""The report of a control run: frontier, curves and numbers in one HTML file, or in Markdown."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from setrl import files
from setrl.report.control_data import ControlArm, ControlData, read_control
from setrl.report.control_figures import plates
from setrl.report.page import config_text, filled, known_facts, picture, with_options
from setrl.report.tables import Cell, Table
from setrl.report.wording import MISSING


def write_control_page(run_dir: Path) -> Path:
    """Write report.html, figures/*.png and summary.json into a control run's directory."""
    data = read_control(Path(run_dir))
    (data.folder / "figures").mkdir(exist_ok=True)
    files.write_json(data.folder / "summary.json", summary(data))
    pictures = [picture(plate, data.folder / "figures") for plate in plates(data)]
    html = filled(
        "control.html",
        data=data,
        pictures=pictures,
        table=table(data),
        facts=facts(data),
        config_text=config_text(data.folder, data.config),
    )
    page = data.folder / "report.html"
    files.write_text(page, html)
    return page


def publish_control(run_dir: Path, folder: Path) -> Path:
    """Write the page, and a page in Markdown with figures and numbers into a folder."""
    write_control_page(run_dir)
    data = read_control(Path(run_dir))
    folder.mkdir(parents=True, exist_ok=True)
    found = plates(data)
    for plate in found:
        shutil.copy(data.folder / "figures" / f"{plate.name}.png", folder)
    for name in ("summary.json", "config.yaml"):
        shutil.copy(data.folder / name, folder)
    lines = [f"# {data.name}", ""]
    lines += [f"Written by `setrl report {data.folder.name} --publish`; do not edit.", ""]
    for plate in found:
        lines += [f"![{plate.headline}]({plate.name}.png)", "", plate.note, ""]
    lines += [*markdown_table(table(data)), ""]
    lines += [f"- {name}: {value}" for name, value in facts(data).items()]
    page = folder / "README.md"
    files.write_text(page, "\n".join(lines) + "\n")
    return page


def summary(data: ControlData) -> dict[str, object]:
    """Every arm's metrics: mean, standard error and each seed's value."""
    return {"schema_version": 1, "name": data.name, "arms": {
        arm.name: {metric: _numbers(arm, metric) for metric in data.metrics}
        for arm in data.evaluated
    }}  # fmt: skip


def _numbers(arm: ControlArm, metric: str) -> dict[str, object]:
    found = arm.outcome(metric)
    seeds = {str(seed): _known(row.get(metric, math.nan)) for seed, row in arm.evaluations.items()}
    return {"mean": _known(found.mean), "stderr": _known(found.stderr), "seeds": seeds}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def table(data: ControlData) -> Table:
    """Mean ± standard error of every metric of every arm."""
    rows = tuple(
        (arm.name.replace("_", " "), tuple(_cell(arm, metric) for metric in data.metrics))
        for arm in data.evaluated
    )
    caption = "Evaluation of the last policy: mean ± standard error over seeds, and how many"
    columns = (*(metric.replace("_", " ") for metric in data.metrics), "seeds")
    counted = tuple(
        (name, (*cells, Cell(str(len(arm.evaluations)))))
        for (name, cells), arm in zip(rows, data.evaluated, strict=True)
    )
    return Table(caption, columns, counted)


def _cell(arm: ControlArm, metric: str) -> Cell:
    found = arm.outcome(metric)
    if math.isnan(found.mean):
        return Cell(MISSING)
    error = () if math.isnan(found.stderr) else (f"± {_digits(found.stderr)}",)
    return Cell(_digits(found.mean), error)


def _digits(value: float) -> str:
    """Three decimals, fewer for large numbers."""
    digits = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{value:.{digits}f}"


def facts(data: ControlData) -> dict[str, str]:
    """What a reader needs in order to know what was run."""
    config = data.config
    return known_facts(
        data.run,
        {
            "task": with_options(config.get("task")),
            "environment steps of each arm": config.get("total_steps"),
            "seeds": ", ".join(map(str, config.get("seeds") or ())),
        },
    )


def markdown_table(shown: Table) -> list[str]:
    """A table as lines of Markdown."""
    head = "| arm | " + " | ".join(shown.columns) + " |"
    lines = [head, "|---" * (len(shown.columns) + 1) + "|"]
    for name, cells in shown.rows:
        texts = [" ".join([cell.text, *cell.details]) for cell in cells]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return lines
