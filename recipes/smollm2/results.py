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
from matplotlib import pyplot

from recipes.smollm2.rate import chosen, of_run
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.looks import looks
from setrl.evaluate.summary import summarise
from setrl.show.report import publish_report
from setrl.support import files
from setrl.support.wording import interval, markdown_table, points, signed
from website.pictures import make_small

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, PAGE = DOCS / "results" / "smollm2", DOCS / "pretrained.md"
TEMPLATE = Path(__file__).with_name("pretrained.template")
Columns = Mapping[str, tuple[str, bool]]
Metrics = Mapping[str, Mapping[str, float]]
COLUMNS: Columns = {  # metric → its title, and whether it is a share
    "pass@1": ("pass@1 (%)", True),
    "pass@8": ("pass@8 (%)", True),
    "pass@64": ("pass@64 (%)", True),
    "majority@32": ("majority@32 (%)", True),
    "correct_strategies@32": ("right strategies in 32", False),
}
WORD_COLUMNS: Columns = {  # of word problems before any training
    "pass@1": ("pass@1 (%)", True),
    "pass@8": ("pass@8 (%)", True),
    "majority@8": ("majority@8 (%)", True),
    "strategies@8": ("forms of equations in 8", False),
    "degenerate": ("no equation (%)", True),
}
LABELS = {
    "base": "base",
    "grpo": "GRPO",
    "maxpo": "MaxPO, K = 4",
    "poly_epo": "Poly-EPO, K = 4",
    "concave_0": "concave counts, α = 0",
}
RUN = "countdown"
HEATS, WORDS = "temperatures.json", "svamp.json"
STEPS, PICTURE = "steps.json", "steps.png"
OVER_STEPS = {  # what a log of training has → its title
    "reward/mean": "pass@1 of training samples",
    "strategies/correct_per_prompt": "right strategies among 8 samples",
}
MEAN_OF = 10  # steps
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
    if any(run.glob("*/seed_*/evaluation/summary.json")):
        publish_report(run, results / RUN)
        files.write_json(results / RUN / STEPS, {"schema_version": 1, "arms": over_steps(run)})
        draw(results / RUN)
        _tidy(results / RUN, folder)
    heats = sorted((folder / "runs" / "temperatures").glob("*.jsonl"))
    if heats:
        _write(results / HEATS, _measured(heats, COLUMNS, ks=(1, 8, 32, 64)))
    words = folder / "runs" / "svamp" / "base_0.7.jsonl"
    if words.exists():
        _write(results / WORDS, _measured([words], WORD_COLUMNS, ks=(1, 8)))


def _write(path: Path, models: Mapping[str, Any]) -> None:
    files.write_json(path, files.plain_json({"schema_version": 1, "models": models}))


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


def over_steps(run: Path) -> dict[str, dict[str, list[float]]]:
    """Return arm → quantity → its means over ten steps each, of the finished arms with seed 0."""
    found = {}
    for arm in LABELS:
        folder = run / arm / "seed_0"
        if (folder / "evaluation" / "summary.json").exists():
            lines = files.read_lines(folder / "metrics.jsonl")
            found[arm] = {
                name: [
                    round(float(np.mean([one[name] for one in lines[start : start + MEAN_OF]])), 4)
                    for start in range(0, len(lines), MEAN_OF)
                ]
                for name in OVER_STEPS
            }
    return found


def draw(results: Path) -> None:
    """Draw what training did to each arm, over its steps; arms look as in the other pictures."""
    arms = files.read_json(results / STEPS)["arms"]
    look_of = looks(list(LABELS))
    figure, axes = pyplot.subplots(1, len(OVER_STEPS), figsize=(8, 3), layout="constrained")
    for axis, (name, title) in zip(axes, OVER_STEPS.items(), strict=True):
        for arm, found in arms.items():
            steps = MEAN_OF * (np.arange(len(found[name])) + 0.5)
            look = {"color": look_of[arm].hue, "linestyle": look_of[arm].line}
            axis.plot(steps, found[name], label=LABELS[arm], linewidth=2, **look)
        axis.set(title=title, xlabel="step", ylim=(0, None))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    figure.savefig(results / PICTURE, dpi=120)
    pyplot.close(figure)


def _tidy(published: Path, folder: Path) -> None:
    """Name no place outside of the folder of the runs, and keep pictures small."""
    for name in ("README.md", "config.yaml"):
        text = (published / name).read_text(encoding="utf-8")
        files.write_text(published / name, text.replace(f"{folder.resolve().parent}/", ""))
    for picture in published.glob("*.png"):
        make_small(picture)


def _measured(
    paths: Sequence[Path], columns: Columns, ks: Sequence[int]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return model → metric → value, low, high; files NAME_seed_0, … are seeds of one model."""
    models: dict[str, dict[int, Any]] = {}
    for path in paths:
        name, _, seed = path.stem.partition("_seed_")
        models.setdefault(name, {})[int(seed or 0)] = load_evaluation(path)
    split = summarise({"test": models}, None, ks=ks).splits["test"]
    return {
        name: {
            metric: {key: getattr(one.metrics[metric], key) for key in ("value", "low", "high")}
            for metric in columns
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
        headline=_headline(results / RUN),
        sweep=_sweep(results / "sweep.json"),
        arms=_arms(results / RUN),
        temperatures=_models(results / HEATS, COLUMNS),
        words=_models(results / WORDS, WORD_COLUMNS),
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


def _headline(run: Path) -> str:
    """Say first what came out: each arm against GRPO, and against the base."""
    if not _is_whole(run):
        return (
            "**What this does not show yet: whether set methods win.** A table below that has no "
            "numbers was not run."
        )
    split = files.read_json(run / "summary.json")["splits"]["test"]
    return "\n".join(
        f"- **{_name(one['arm'])} against {LABELS[one['against']]}**: {_said(one['metrics'])}"
        for one in split["differences"]
    )


def _name(arm: str) -> str:
    return LABELS[arm][0].upper() + LABELS[arm][1:]


def _said(metrics: Mapping[str, Mapping[str, float]]) -> str:
    """Say a difference of two arms, with its 95% intervals."""
    said = []
    for metric, (title, is_share) in COLUMNS.items():
        if metric in metrics:
            value, *ends = (metrics[metric][key] for key in ("value", "low", "high"))
            low, high = ends
            text = (
                points(value, (low, high))
                if is_share
                else f"{signed(value, 2)} {interval((low, high), digits=2)}"
            )
            said.append(f"{title.removesuffix(' (%)')} {text}")
    return ", ".join(said) + "."


def _arms(run: Path) -> str:
    if not _is_whole(run):
        return NOT_YET
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    split = files.read_json(run / "summary.json")["splits"]["test"]
    whole = _table({LABELS[arm]: one["metrics"] for arm, one in split["arms"].items()}, COLUMNS)
    differences = {
        f"{LABELS[one['arm']]} − {LABELS[one['against']]}": one["metrics"]
        for one in split["differences"]
    }
    seeds = max(len(one["seeds"]) for one in split["arms"].values())
    missing = [LABELS[arm] for arm in config["arms"] if arm not in split["arms"]]
    not_run = f" Not run yet: {', '.join(missing)}." if missing else ""
    return (
        f"Learning rate {config['learning_rate']:g}, {seeds} seed{'s' * (seeds > 1)}; 95% "
        f"intervals.{not_run} [More figures](results/smollm2/{RUN}/README.md).\n\n{whole}\n\n"
        f"Differences, paired by problem:\n\n{_table(differences, COLUMNS)}\n\n"
        f"![pass@k of the base and of each arm](results/smollm2/{RUN}/pass_at_k_test.png)\n\n"
        f"![Training: pass@1 rises, and right strategies](results/smollm2/{RUN}/{PICTURE})\n\n"
        f"Means of {MEAN_OF} steps each, of the samples that the arms were trained on."
    )


def _models(path: Path, columns: Columns) -> str:
    return _table(files.read_json(path)["models"], columns) if path.exists() else NOT_YET


def _table(models: Mapping[str, Metrics], columns: Columns) -> str:
    head = ["", *(title for title, _ in columns.values())]
    rows = [
        [name, *(_cell(found.get(metric), share) for metric, (_, share) in columns.items())]
        for name, found in models.items()
    ]
    return markdown_table(head, rows)


def _cell(one: Mapping[str, float] | None, share: bool) -> str:
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
