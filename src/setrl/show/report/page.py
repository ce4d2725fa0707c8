"""A run's figures and tables as a page in HTML, and as a folder with a page in Markdown.

The HTML file loads nothing else. Every sentence and number is computed from the run.
"""

from __future__ import annotations

import io
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from setrl.evaluate.outcomes import metric_names
from setrl.evaluate.summary import SplitSummary
from setrl.show.lab import embedded
from setrl.show.report import env_steps, figures_evaluation
from setrl.show.report.drawing import Chart
from setrl.show.report.missing_credit import warnings_of
from setrl.show.report.page_data import page_data
from setrl.show.report.progress import progress_of
from setrl.show.report.run import GIVEN, RunData, read_run
from setrl.show.report.style import LIGHT, WARNING
from setrl.show.report.tables import Table, tables
from setrl.show.report.verdict import verdict_in_words
from setrl.support import files, wording
from setrl.support.files.progress import watched
from setrl.support.files.run_folder import CONFIG, FIGURES
from setrl.train.runs.written import REPORT

NUMBERS = "summary.json"
MARKS = {"above": "▲", "below": "▼"}


def write_page(run_dir: Path, reference: str = "grpo", allow_damaged: bool = False) -> RunData:
    """Write report.html, figures/*.png and summary.json into the folder of a run.

    Args:
        run_dir: The folder; the page leaves out what is missing there.
        reference: The arm that the others are compared with; the first one if it is missing.
        allow_damaged: See `setrl.evaluate.load_evaluation`.

    Returns:
        What the page shows.

    Raises:
        ConfigError: If the folder does not exist.
        DataError: If an evaluation file is invalid.
    """
    data = read_run(Path(run_dir), reference, allow_damaged)
    write_data(data)
    return data


def write_data(data: RunData) -> None:
    """Write report.html, figures/*.png and summary.json of what was read into its folder."""
    said = verdict_in_words(data)
    files.write_json(data.folder / NUMBERS, {**_numbers(data), "verdict": said})
    (data.folder / FIGURES).mkdir(exist_ok=True)
    drawn = charts(data)
    for chart in watched(drawn, "draw", len(drawn), unit="figure"):
        _write_picture(chart, data.folder / FIGURES)
    files.write_text(data.folder / REPORT, render(data))


def publish(
    run_dir: Path, folder: Path, reference: str = "grpo", allow_damaged: bool = False
) -> Path:
    """Write a run's report, and README.md, figures, summary.json and config into a folder.

    Args:
        run_dir: The folder of the run.
        folder: Where to; made if missing.
        reference: The arm that the others are compared with.
        allow_damaged: See `setrl.evaluate.load_evaluation`.

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


def charts(data: RunData) -> list[Chart]:
    """Return the figures that the run has data for; curves over steps are only on the page."""
    if data.kind == "control":
        return figures_evaluation.control_frontier(data)
    kinds = (figures_evaluation.pass_at_k, figures_evaluation.frontier)
    return [kind(data, split) for kind in kinds for split in data.splits]


def render(data: RunData) -> str:
    """Write the page's HTML. Text from the run is escaped, or in the JSON that the script reads."""
    found = page_data(data)
    parts = embedded("report", found)
    shown = tables(data)
    environment = Environment(
        loader=PackageLoader("setrl.show.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(REPORT).render(
        data=data,
        parts=parts,
        is_evaluated=bool(data.splits or data.outcomes),
        progress=progress_of(data),
        warnings=warnings_of(data),
        warning_style=WARNING,
        verdict=found["verdict"],
        marks=MARKS,
        tables=shown,
        measured={name.partition("@")[0] for table in shown for name in table.columns},
        reference=_reference(data),
        views=data.views,
        sampled=lambda split: _sampled(data, split),
        env_steps=env_steps.in_sentence(data),
        facts=facts(data),
        config_text=_config_text(data),
    )


def markdown(data: RunData, shown: Sequence[Chart]) -> str:
    """Verdict, tables and figures; every sentence and number is computed from the run."""
    verdict = [f"- {sentence}" for sentence in verdict_in_words(data)]
    warnings = [f"> **Warning:** {sentence}" for sentence in warnings_of(data)]
    parts = [
        f"# Results: {data.name}",
        *warnings,
        f"Written by `setrl report {data.folder.name} --publish`; do not edit.",
        *(["\n".join(verdict)] if verdict else []),
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
    return wording.markdown_table(["", *table.columns], rows)


def facts(data: RunData) -> dict[str, str]:
    """How a run was made, by its run.json and config; what is unknown is left out."""
    run, config = data.run, data.config
    git = run.get("git") or {}
    known = {
        "status when this page was written": run.get("status"),
        "created": run.get("created"),
        "command": run.get("command"),
        "commit": str(git.get("commit") or "")
        + (" (with changes that are not committed)" if git.get("dirty") else ""),
        "domain": _with_options(config.get("domain")),
        "task": _with_options(config.get("task")),
        "steps": config.get("steps"),
        "environment steps": config.get("total_steps"),
        "samples of a training step": "{prompts_per_step} prompts × {samples_per_prompt} samples"
        .format_map(config) if "samples_per_prompt" in config else "",
        "seeds": ", ".join(map(str, config.get("seeds") or ())),
    }  # fmt: skip
    return {key: str(value) for key, value in known.items() if value}


def _with_options(named: Any) -> str:
    """Write in words what a config names by a string, or by a mapping of name and options."""
    if not isinstance(named, Mapping):
        return str(named or "")
    key = "name" if "name" in named else "data"  # of a domain; of a file of problems
    name = str(named.get(key) or "")
    rest = {k: v for k, v in named.items() if k not in (key, "folder") and v is not None}
    options = ", ".join(f"{other} {value}" for other, value in rest.items())
    return f"{name} ({options})" if options else name


def _config_text(data: RunData) -> str:
    """Return the run's config as in its file; without a file, what is known of it."""
    path = data.folder / CONFIG
    if path.exists():
        return path.read_text(encoding="utf-8")
    return json.dumps(data.config, indent=2) if data.config else ""


def _reference(data: RunData) -> str:
    """Return the label of the arm that the marks of the tables compare with; empty without any."""
    reference = data.summary.reference
    return data.looks[reference].label if reference and len(data.arms) > 1 else ""


def _sampled(data: RunData, split: SplitSummary) -> str:
    """Say which arms' samples, and how many, the numbers of a split come from."""
    together: dict[str, list[str]] = {}
    for arm in split.arms.values():
        is_trained = arm.seeds and split.split != GIVEN
        seeds = f", training seeds {', '.join(map(str, arm.seeds))}" if is_trained else ""
        size = wording.size(arm.problems, "problem", arm.n, arm.most)
        heat = "" if math.isnan(arm.temperature) else f", temperature {arm.temperature:g}"
        how = f"{size}{heat}{seeds}"
        together.setdefault(how, []).append(data.looks[arm.arm].label)
    return "; ".join(f"{', '.join(names)}: {how}" for how, names in together.items()) + "."


def _numbers(data: RunData) -> dict[str, Any]:
    """Return what summary.json holds: each arm's metrics with uncertainty and each seed's value."""
    if data.kind != "control":
        return data.summary.to_json()
    arms = [arm for arm in data.arms if data.evaluations(arm)]
    metrics = metric_names(data.outcomes)
    numbers = {arm: {metric: _outcome(data, arm, metric) for metric in metrics} for arm in arms}
    return {"schema_version": 1, "name": data.name, "arms": numbers}


def _outcome(data: RunData, arm: str, metric: str) -> dict[str, Any]:
    found, runs = data.outcome(arm, metric), [run for run in data.arms[arm] if run.evaluation]
    seeds = {str(run.seed): run.evaluation.get(metric, math.nan) for run in runs}
    return {"mean": found.value, "stderr": found.stderr, "seeds": seeds}


def _write_picture(chart: Chart, folder: Path) -> None:
    """Write a figure as a file, for papers and for readers without scripts."""
    buffer = io.BytesIO()
    chart.draw(LIGHT).savefig(buffer, format="png", metadata={"Title": chart.headline})
    (folder / f"{chart.name}.png").write_bytes(buffer.getvalue())
