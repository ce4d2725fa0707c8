"""From the folder of `cpu.sh` to what the repository keeps, and to the page about it.

    python -m recipes.smollm2.results pretrained

It copies small numbers to docs/results/smollm2, as far as there are any, and makes
docs/pretrained.md of them. Without a folder it only makes the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from recipes.smollm2.rate import chosen, of_run
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.summary import summarise
from setrl.show.report import publish_report
from setrl.support import files
from setrl.support.wording import markdown_table

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, PAGE = DOCS / "results" / "smollm2", DOCS / "pretrained.md"
TEMPLATE = Path(__file__).with_name("pretrained.template")
COLUMNS = {  # metric → its title, and whether it is a share
    "pass@1": ("pass@1 (%)", True),
    "pass@8": ("pass@8 (%)", True),
    "pass@64": ("pass@64 (%)", True),
    "majority@32": ("majority@32 (%)", True),
    "correct_strategies@32": ("right strategies in 32", False),
}
LABELS = {
    "base": "base",
    "grpo": "GRPO",
    "maxpo": "MaxPO, K = 4",
    "poly_epo": "Poly-EPO, K = 4",
    "concave_0": "concave counts, α = 0",
}
RUN = "countdown"
NOT_YET = "**Not run yet.**"


def gather(folder: Path, results: Path = RESULTS) -> None:
    """Copy the numbers of a folder that may be unfinished."""
    results.mkdir(parents=True, exist_ok=True)
    files.write_json(results / "warmup.json", warm_up(folder / "warmup"))
    sweep = dict(of_run(run) for run in folder.glob("runs/sweep_*/") if _is_whole(run))
    if sweep:
        found = {np.format_float_positional(rate, trim="-"): sweep[rate] for rate in sorted(sweep)}
        files.write_json(results / "sweep.json", {"schema_version": 1, "pass@1": found})
    run = folder / "runs" / RUN
    if _is_whole(run):
        publish_report(run, results / RUN)
    heats = sorted((folder / "runs" / "temperatures").glob("*.jsonl"))
    if heats:
        found = {"schema_version": 1, "models": _measured(heats)}
        files.write_json(results / "temperatures.json", files.plain_json(found))


def _is_whole(run: Path) -> bool:
    return (run / "summary.json").exists()


def warm_up(folder: Path) -> dict[str, Any]:
    """Return the price of a warm-up so far, and what the model could do along the way."""
    lines = files.read_lines(folder / "metrics.jsonl")
    losses = [one["loss"] for one in lines]
    return {
        "schema_version": 1,
        "done": (folder / "model").exists(),
        "updates": len(lines),
        "tokens": sum(one["tokens"] for one in lines),
        "loss_of_ten_updates": [
            round(float(np.mean(losses[start : start + 10])), 4)
            for start in range(0, len(losses), 10)
        ],
        "looks": files.read_lines(folder / "looks.jsonl"),
    }


def _measured(paths: Sequence[Path]) -> dict[str, dict[str, dict[str, float]]]:
    """Return model → metric → value, low, high; files NAME_seed_0, … are seeds of one model."""
    models: dict[str, dict[int, Any]] = {}
    for path in paths:
        name, _, seed = path.stem.partition("_seed_")
        models.setdefault(name, {})[int(seed or 0)] = load_evaluation(path)
    split = summarise({"test": models}, None, ks=(1, 8, 32, 64)).splits["test"]
    return {
        name: {
            metric: {key: getattr(one.metrics[metric], key) for key in ("value", "low", "high")}
            for metric in COLUMNS
            if metric in one.metrics
        }
        for name, one in split.arms.items()
    }


def page(results: Path = RESULTS) -> str:
    """Return the page: every number is from the files in `results`."""
    warm = files.read_json(results / "warmup.json")
    return TEMPLATE.read_text(encoding="utf-8").format(
        updates=warm["updates"],
        state="finished" if warm["done"] else "**not finished**",
        tokens=f"{warm['tokens']:,}",
        answers=f"{32 * warm['updates']:,}",
        looks=_looks(warm["looks"]),
        losses=", ".join(f"{one:.2f}" for one in warm["loss_of_ten_updates"][::10]),
        sweep=_sweep(results / "sweep.json"),
        arms=_arms(results / RUN),
        temperatures=_temperatures(results / "temperatures.json"),
    )


def _looks(looks: list[dict[str, Any]]) -> str:
    if not looks:
        return NOT_YET
    head = ["updates", *(name for name in looks[0] if name != "step")]
    return markdown_table(head, [[str(one["step"]), *_shown(one)] for one in looks])


def _shown(look: Mapping[str, float]) -> Iterator[str]:
    for name, value in look.items():
        if name != "step":
            yield f"{value:.1f}" if "strategies" in name else f"{100 * value:.1f}%"


def _sweep(path: Path) -> str:
    if not path.exists():
        return NOT_YET
    found = files.read_json(path)["pass@1"]
    arms = ["base", "grpo", "poly_epo"]
    rows = [[rate, *(f"{100 * of[arm]:.1f}" for arm in arms)] for rate, of in found.items()]
    table = markdown_table(["learning rate", *(LABELS[arm] for arm in arms)], rows)
    rate = chosen({float(rate): of for rate, of in found.items()})
    return (
        f"{table}\n\nThe plan's rule takes {rate:g}, the largest rate that is not below the base."
    )


def _arms(run: Path) -> str:
    if not _is_whole(run):
        return NOT_YET
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    split = files.read_json(run / "summary.json")["splits"]["test"]
    whole = _table({LABELS[arm]: one["metrics"] for arm, one in split["arms"].items()})
    differences = {
        f"{LABELS[one['arm']]} − {LABELS[one['against']]}": one["metrics"]
        for one in split["differences"]
    }
    seeds = len(config["seeds"])
    return (
        f"Learning rate {config['learning_rate']:g}, {seeds} seed{'s' * (seeds > 1)}; 95% "
        f"intervals. [Figures and curves](results/smollm2/{RUN}/README.md).\n\n{whole}\n\n"
        f"Differences, paired by problem:\n\n{_table(differences)}"
    )


def _temperatures(path: Path) -> str:
    return _table(files.read_json(path)["models"]) if path.exists() else NOT_YET


def _table(models: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    head = ["", *(title for title, _ in COLUMNS.values())]
    rows = [[name, *(_cell(found, metric) for metric in COLUMNS)] for name, found in models.items()]
    return markdown_table(head, rows)


def _cell(found: Mapping[str, Mapping[str, float]], metric: str) -> str:
    one, share = found.get(metric), COLUMNS[metric][1]
    if one is None:
        return "—"
    digits, times = (1, 100) if share else (2, 1)
    value, low, high = (f"{times * one[key]:.{digits}f}" for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]".replace("-", "−")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        gather(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
