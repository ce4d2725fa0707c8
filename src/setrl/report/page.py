"""The page: figures, tables and samples of a run in one HTML file that asks the network nothing."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from setrl import files
from setrl.evaluation.summary import SplitSummary
from setrl.report import tables, wording
from setrl.report.data import RunData, read_run
from setrl.report.drawing import Plate
from setrl.report.figures import plates
from setrl.report.headlines import headlines, ordered_splits
from setrl.report.samples import samples_by_step
from setrl.report.style import DARK, LIGHT, Theme

MARKS = {"above": "▲", "below": "▼", "unclear": "◇", "fact": "●"}


@dataclass(frozen=True)
class Picture:
    """A figure as the page shows it: in both themes, as data URIs."""

    plate: Plate
    light: str
    dark: str


def write_page(run_dir: Path, reference: str = "grpo") -> Path:
    """Write report.html, figures/*.png and summary.json into a run directory.

    Args:
        run_dir: The comparison's folder; whatever it lacks is left out of the page.
        reference: The arm that the others are compared with; the first one where it is absent.

    Returns:
        The path of the page.

    Raises:
        ConfigError: When there is no such folder.
        DataError: When an evaluation file does not hold what it should.
    """
    data = read_run(Path(run_dir), reference)
    files.write_json(data.folder / "summary.json", data.summary.to_json())
    (data.folder / "figures").mkdir(exist_ok=True)
    pictures = [picture(plate, data.folder / "figures") for plate in plates(data)]
    page = data.folder / "report.html"
    files.write_text(page, render(data, pictures))
    return page


def render(data: RunData, pictures: list[Picture]) -> str:
    """The page's HTML. All text from the run is escaped."""
    splits = ordered_splits(data.summary)
    found = [tables.evaluation_table(data, split) for split in splits]
    found += [t for split in splits if (t := tables.difference_table(data, split))]
    return filled(
        "report.html",
        data=data,
        headlines=headlines(data),
        marks=MARKS,
        pictures=pictures,
        tables=found,
        training=tables.training_table(data),
        steps=samples_by_step(data),
        splits=splits,
        facts=_facts(data),
        sampled=lambda split: _sampled(data, split),
        config_text=config_text(data.folder, data.config),
        wording=wording,
    )


def filled(template: str, **values: Any) -> str:
    """A page of a template, with all text escaped."""
    environment = Environment(
        loader=PackageLoader("setrl.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(template).render(**values)


def picture(plate: Plate, folder: Path) -> Picture:
    """A figure in both themes; the light one is also written into a folder."""
    light = _png(plate, LIGHT)
    (folder / f"{plate.name}.png").write_bytes(light)
    return Picture(plate, _data_uri(light), _data_uri(_png(plate, DARK)))


def _png(plate: Plate, theme: Theme) -> bytes:
    buffer = io.BytesIO()
    plate.draw(theme).savefig(buffer, format="png", metadata={"Title": plate.headline})
    return buffer.getvalue()


def _data_uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _sampled(data: RunData, split: SplitSummary) -> str:
    """How many samples of which arms the split's numbers come from."""
    together: dict[str, list[str]] = {}
    for arm in split.arms.values():
        seeds = f", training seeds {', '.join(map(str, arm.seeds))}" if arm.seeds else ""
        how = f"{arm.problems} problems × {arm.n} samples, temperature {arm.temperature:g}{seeds}"
        together.setdefault(how, []).append(data.looks[arm.arm].label)
    return "; ".join(f"{', '.join(names)}: {how}" for how, names in together.items()) + "."


def _facts(data: RunData) -> dict[str, str]:
    """What a reader needs in order to know what was run."""
    config = data.config
    return known_facts(
        data.run,
        {
            "domain": with_options(config.get("domain")),
            "steps": config.get("steps"),
            "samples of a training step": _product(
                config, "prompts_per_step", "samples_per_prompt"
            ),
            "seeds": ", ".join(map(str, config.get("seeds") or ())),
        },
    )


def known_facts(run: dict[str, Any], about: dict[str, Any]) -> dict[str, str]:
    """How and with what a run was made, by its run.json; what is not known is left out."""
    git = run.get("git") or {}
    commit = str(git.get("commit") or "")
    facts = {
        "status when this page was written": run.get("status"),
        "begun": run.get("created"),
        "command": run.get("command"),
        "commit": commit + (" (with changes that are not in it)" if git.get("dirty") else ""),
        **about,
    }
    return {key: str(value) for key, value in facts.items() if value}


def with_options(named: Any) -> str:
    """What a config names by a text, or by a mapping of name and options, in words."""
    if not isinstance(named, Mapping):
        return str(named or "")
    name = str(named.get("name", ""))
    options = ", ".join(f"{key} {value}" for key, value in named.items() if key != "name")
    return f"{name} ({options})" if options else name


def _product(config: dict[str, Any], first: str, second: str) -> str:
    if first not in config or second not in config:
        return ""
    return f"{config[first]} prompts × {config[second]} samples"


def config_text(folder: Path, config: dict[str, Any]) -> str:
    """A run's config as it stands in its folder, or else as it is known."""
    path = folder / "config.yaml"
    if path.exists():
        return path.read_text(encoding="utf-8")
    return json.dumps(config, indent=2) if config else ""
