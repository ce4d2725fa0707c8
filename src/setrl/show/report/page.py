"""A run's figures and tables as a page in HTML, and as a folder with a page in Markdown.

The HTML file loads nothing else; its script reads curves, examples and words as JSON. Every
sentence and number is computed from the run.
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
from setrl.logs.run import CONFIG, FIGURES
from setrl.show.lab import embedded
from setrl.show.report import figures_evaluation
from setrl.show.report.curves import (
    control_curves,
    control_times,
    evaluation_curves,
    frontier_points,
    share_curves,
    step_times,
    training_curves,
)
from setrl.show.report.drawing import Chart
from setrl.show.report.figures_evaluation import support_charts
from setrl.show.report.headlines import headline_k, pass_at_k_title
from setrl.show.report.over_steps import outside_sweeps_or_middle, smoothing
from setrl.show.report.run import GIVEN, ReportedRun
from setrl.show.report.run_state import env_steps_in_words, progress_of, warnings_of
from setrl.show.report.solved import solved_by_one
from setrl.show.report.style import LETTERS, LIGHT, WARNING
from setrl.show.report.tables import Table, tables
from setrl.show.report.verdict import outcomes_of, verdict_in_words
from setrl.support import files, wording
from setrl.support.errors import ConfigError
from setrl.support.files.atomic import plain_json
from setrl.support.files.progress import watched
from setrl.support.secrets import without_secrets
from setrl.train.runs.written import REPORT

DIGITS = 6  # significant ones: more than a plot or a table of a page shows
PAGE, NUMBERS = "README.md", "summary.json"  # in the folder where a report is published
PUBLISHED = "Written by `setrl report "  # every published README.md contains it
MARKS = {"above": "▲", "below": "▼"}


def write_page(run_dir: Path, reference: str = "grpo", allow_damaged: bool = False) -> ReportedRun:
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
    run = ReportedRun(Path(run_dir), reference, allow_damaged)
    write_data(run)
    return run


def write_data(run: ReportedRun) -> None:
    """Write report.html, figures/*.png and summary.json of what was read into its folder."""
    verdict = verdict_in_words(run)
    files.write_json(run.path / NUMBERS, {**_summary_numbers(run), "verdict": verdict})
    (run.path / FIGURES).mkdir(exist_ok=True)
    drawn = charts(run)
    for chart in watched(drawn, "draw", len(drawn), unit="figure"):
        _write_picture(chart, run.path / FIGURES)
    files.write_text(run.path / REPORT, render(run))


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

    Raises:
        ConfigError: If the folder has files of these names that setrl did not write.
    """
    run = ReportedRun(Path(run_dir), reference, allow_damaged)
    shown = charts(run)
    pictures = [run.path / FIGURES / f"{chart.name}.png" for chart in shown]
    page = folder / PAGE
    _refuse_to_replace(page, (PAGE, NUMBERS, CONFIG, *(path.name for path in pictures)))
    write_data(run)
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*pictures, run.path / NUMBERS):
        if path.exists():
            shutil.copyfile(path, folder / path.name)
    if (config := run.path / CONFIG).exists():
        files.write_text(folder / CONFIG, without_secrets(config.read_text(encoding="utf-8")))
    files.write_text(page, markdown(run, shown))
    return page


def _refuse_to_replace(page: Path, names: Sequence[str]) -> None:
    """Refuse to publish over files that no earlier call of `publish` wrote."""
    if page.is_file() and PUBLISHED in page.read_text(encoding="utf-8", errors="replace"):
        return
    for name in names:
        if (page.parent / name).exists():
            raise ConfigError(
                f"{page.parent / name} was not written by setrl report: publish to another "
                "folder, or move the file"
            )


def charts(run: ReportedRun) -> list[Chart]:
    """Return the figures that the run has data for; curves over steps are only on the page."""
    if run.kind == "control":
        return figures_evaluation.control_frontier(run)
    kinds = (figures_evaluation.pass_at_k, figures_evaluation.frontier)
    drawn = [kind(run, split) for kind in kinds for split in run.splits]
    return drawn + [chart for split in run.splits for chart in support_charts(run, split)]


def render(run: ReportedRun) -> str:
    """Write the page's HTML. Text from the run is escaped, or in the JSON that the script reads."""
    on_page = page_data(run)
    parts = embedded("report", on_page)
    shown = tables(run)
    environment = Environment(
        loader=PackageLoader("setrl.show.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(REPORT).render(
        run=run,
        parts=parts,
        is_evaluated=bool(run.splits or run.outcomes),
        progress=progress_of(run),
        warnings=warnings_of(run),
        warning_style=WARNING,
        verdict=on_page["verdict"],
        marks=MARKS,
        tables=shown,
        measured={name.partition("@")[0] for table in shown for name in table.columns},
        reference=_reference_label(run),
        views=run.views,
        sampled=lambda split: _samples_in_words(run, split),
        env_steps=env_steps_in_words(run),
        facts=facts(run),
        config_text=_config_text(run),
    )


def markdown(run: ReportedRun, shown: Sequence[Chart]) -> str:
    """Verdict, tables and figures; every sentence and number is computed from the run."""
    verdict = [f"- {sentence}" for sentence in verdict_in_words(run)]
    warnings = [f"> **Warning:** {sentence}" for sentence in warnings_of(run)]
    parts = [
        f"# Results: {run.name}",
        *warnings,
        f"Written by `setrl report {run.path.name} --publish`; do not edit.",
        *(["\n".join(verdict)] if verdict else []),
        *(f"**{table.caption}**\n\n{_table_in_markdown(table)}" for table in tables(run)),
        *(f"![{chart.headline}]({chart.name}.png)\n\n{chart.note}" for chart in shown),
        "\n".join(f"- {name}: {value}" for name, value in facts(run).items()),
    ]
    return "\n\n".join(parts) + "\n"


def _table_in_markdown(table: Table) -> str:
    rows = [
        [name, *("<br>".join((cell.text, *cell.details)) for cell in cells)]
        for name, cells in table.rows
    ]
    return wording.markdown_table(["", *table.columns], rows)


def facts(run: ReportedRun) -> dict[str, str]:
    """How a run was made, by its run.json and config; what is unknown is left out."""
    seed, config = run.record, run.config
    git = seed.get("git") or {}
    entries = {
        "status when this page was written": seed.get("status"),
        "created": seed.get("created"),
        "command": seed.get("command"),
        "commit": str(git.get("commit") or "")
        + (" (with changes that are not committed)" if git.get("dirty") else ""),
        "domain": _named_with_options(config.get("domain")),
        "task": _named_with_options(config.get("task")),
        "steps": config.get("steps"),
        "environment steps": config.get("total_steps"),
        "samples of a training step": "{prompts_per_step} prompts × {samples_per_prompt} samples"
        .format_map(config) if "samples_per_prompt" in config else "",
        "seeds": ", ".join(map(str, config.get("seeds") or ())),
    }  # fmt: skip
    return {key: without_secrets(str(value)) for key, value in entries.items() if value}


def _named_with_options(named: Any) -> str:
    """Write in words what a config names by a string, or by a mapping of name and options."""
    if not isinstance(named, Mapping):
        return str(named or "")
    key = "name" if "name" in named else "data"  # of a domain; of a file of problems
    name = str(named.get(key) or "")
    rest = {k: v for k, v in named.items() if k not in (key, "folder") and v is not None}
    options = ", ".join(f"{option} {value}" for option, value in rest.items())
    return f"{name} ({options})" if options else name


def _config_text(run: ReportedRun) -> str:
    """Return the run's config as in its file; without a file, what is known of it."""
    path = run.path / CONFIG
    if path.exists():
        return without_secrets(path.read_text(encoding="utf-8"))
    return without_secrets(json.dumps(run.config, indent=2)) if run.config else ""


def _reference_label(run: ReportedRun) -> str:
    """Return the label of the arm that the marks of the tables compare with; empty without any."""
    reference = run.summary.reference
    return run.looks[reference].label if reference and len(run.arms) > 1 else ""


def _samples_in_words(run: ReportedRun, split: SplitSummary) -> str:
    """Say which arms' samples, and how many, the numbers of a split come from."""
    together: dict[str, list[str]] = {}
    for arm in split.arms.values():
        is_trained = arm.seeds and split.split != GIVEN
        seeds = f", training seeds {', '.join(map(str, arm.seeds))}" if is_trained else ""
        size = wording.size(arm.problems, "problem", arm.n, arm.most)
        heat = "" if math.isnan(arm.temperature) else f", temperature {arm.temperature:g}"
        how = f"{size}{heat}{seeds}"
        together.setdefault(how, []).append(run.looks[arm.arm].label)
    return "; ".join(f"{', '.join(names)}: {how}" for how, names in together.items()) + "."


def _summary_numbers(run: ReportedRun) -> dict[str, Any]:
    """Return what summary.json holds: each arm's metrics with uncertainty and each seed's value."""
    if run.kind != "control":
        return run.summary.to_json()
    arms, metrics = run.outcomes, metric_names(run.outcomes)
    numbers = {
        arm: {metric: _outcome_numbers(run, arm, metric) for metric in metrics} for arm in arms
    }
    return {"schema_version": 1, "name": run.name, "arms": numbers}


def _outcome_numbers(run: ReportedRun, arm: str, metric: str) -> dict[str, Any]:
    mean, outcomes = run.outcome(arm, metric), run.outcomes[arm].items()
    seeds = {str(seed): outcome.get(metric, math.nan) for seed, outcome in outcomes}
    return {"mean": mean.value, "stderr": mean.stderr, "seeds": seeds}


def _write_picture(chart: Chart, folder: Path) -> None:
    """Write a figure as a file, for papers and for readers without scripts."""
    buffer = io.BytesIO()
    chart.draw(LIGHT).savefig(buffer, format="png", metadata={"Title": chart.headline})
    (folder / f"{chart.name}.png").write_bytes(buffer.getvalue())


def page_data(run: ReportedRun) -> dict[str, Any]:
    """Everything that the page draws; numbers are rounded to six significant digits."""
    if run.kind == "control":
        return _round_numbers(plain_json(_control_page_data(run)))
    panels, constant = training_curves(run)
    data = {
        "kind": "comparison",
        "name": run.name,
        "reference": run.summary.reference,
        "level": run.summary.intervals.level,
        "verdict": verdict_in_words(run),
        "arms": [{"key": arm, **look.on_page()} for arm, look in run.looks.items()],
        "splits": [
            {"title": pass_at_k_title(run, split), **evaluation_curves(run, split)}
            for split in run.splits
        ],
        "training": panels,
        "constant": constant,
        "smoothing": smoothing(run),
        "shares": share_curves(run),
        "time": step_times(run),
        "frontiers": [frontier_points(run, s, headline_k(s)) for s in run.splits],
        "solved": [solved for split in run.splits if (solved := solved_by_one(run, split))],
        "letters": LETTERS,
        "views": run.views,
    }
    return _round_numbers(plain_json(data))


def _control_page_data(run: ReportedRun) -> dict[str, Any]:
    """Return what the page of a control run draws."""
    table = outcomes_of(run)
    return {
        "kind": "control",
        "name": run.name,
        "verdict": table.pop("verdict"),
        "arms": [{"key": arm, **look.on_page()} for arm, look in run.looks.items()],
        "outcomes": table,
        "training": control_curves(run),
        "shown_at_first": outside_sweeps_or_middle(list(run.trained)),
        "time": control_times(run),
    }


def _round_numbers(value: Any) -> Any:
    """Round every number in a value.

    >>> _round_numbers({"a": [0.12345678, 1234567.5, 3, None]})
    {'a': [0.123457, 1234570.0, 3, None]}
    """
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _round_numbers(item) for key, item in value.items()}
    return [_round_numbers(item) for item in value] if isinstance(value, list | tuple) else value
