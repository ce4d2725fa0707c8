"""`python -m studies predictions`: forecasts made from the base models, against the trained arms.

The base side is results/bases/*.json (`python -m studies bases`), the trained side the summaries of
the recorded runs. Two numbers of the miniature are fitted to one arm, Poly-EPO with K = 4 on
`polynomial`; everything else is forecast with them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl import methods
from setrl.core.advantages import Method
from setrl.show.report.style import BLUE, GREEN, GREY, VERMILION, axes_grid
from studies.bases import read
from studies.miniature import Miniature, Strategies, forecast
from studies.summaries import Numbers, title, write_numbers

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SAMPLES = 32  # in which right strategies are counted


@dataclass(frozen=True)
class Recorded:
    """Arms of one recorded run.

    Attributes:
        folder: Of docs/results.
        domain: Whose base model they start from.
        steps: Of training.
        arms: Name of the arm → its method.
    """

    folder: str
    domain: str
    steps: int
    arms: dict[str, Method]


FITTED = ("polynomial", "poly_epo")
THREE = {
    "grpo": methods.grpo(),
    "maxpo": methods.maxpo(set_size=4),
    "poly_epo": methods.poly_epo(set_size=4),
}
RECORDED = (
    Recorded("polynomial", "polynomial", 200, {**THREE, "grpo_div": methods.grpo_div()}),
    Recorded(
        "set_size",
        "polynomial",
        200,
        {f"poly_epo_k{k}": methods.poly_epo(set_size=k) for k in (2, 8, 15)},
    ),
    Recorded(
        "polynomial_longer",
        "polynomial",
        800,
        {"grpo": methods.grpo(), "poly_epo": methods.poly_epo(set_size=4)},
    ),
    Recorded("multiplication", "multiplication", 100, THREE),
    Recorded("quadratic", "quadratic", 100, THREE),
)

UNTRAINED = {
    "concave_counts_0": methods.concave_counts(alpha=0.0),
    "concave_counts_0.25": methods.concave_counts(alpha=0.25),
    "grpo_div_0.25": methods.grpo_div(0.25),
}


@dataclass(frozen=True)
class PredictionsConfig:
    """What is tried in the fit.

    Attributes:
        step: Lengths of a step.
        skill: Speeds of success relative to choice.
        runs: Runs of each forecast.
    """

    step: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
    skill: tuple[float, ...] = (0.0, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0)
    runs: int = 4


@dataclass(frozen=True)
class Point:
    """One arm: what was forecast, and what its training came to.

    Attributes:
        folder, domain, arm: Which.
        forecast, measured: pass@1, right strategies in 32 samples, share of the most frequent one.
            An arm that was not trained yet has no measured numbers.
    """

    folder: str
    domain: str
    arm: str
    forecast: dict[str, float]
    measured: dict[str, float] | None


def base_strategies(domain: str, results: Path = RESULTS) -> Strategies:
    """Return the strategies of a base model over all problems of its file."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for problem in read(results / "bases" / f"{domain}.json")["problems"]:
        for label, (num_right, num_wrong) in problem.items():
            right[label] += num_right
            wrong[label] += num_wrong
    counts = {label: (right[label], wrong[label]) for label in {*right, *wrong} - {""}}
    ordered = dict(sorted(counts.items()))
    return Strategies.of_counts(ordered, degenerate=right[""] + wrong[""])


def numbers(found: Any) -> dict[str, float]:
    """Return the three numbers of a forecast, or of strategies."""
    return {
        "pass@1": found.pass_1,
        f"correct_strategies@{SAMPLES}": found.right_strategies(SAMPLES),
        "top_share": found.top_share,
    }


def measured(folder: str, arm: str, results: Path = RESULTS) -> dict[str, float]:
    """Return the same numbers of a trained arm, on the test split."""
    summary = json.loads((results / folder / "summary.json").read_text(encoding="utf-8"))
    found = summary["splits"]["test"]["arms"][arm]["metrics"]
    return {name: found[name]["value"] for name in NAMES}


LOST = "pass@1 lost"
NAMES = ("pass@1", f"correct_strategies@{SAMPLES}", "top_share")


def fit(config: PredictionsConfig) -> Miniature:
    """Return the step and skill whose forecast is nearest to the one arm."""
    return fit_to(config, *FITTED)


def fit_to(config: PredictionsConfig, folder: str, arm: str) -> Miniature:
    """Return the step and skill whose forecast is nearest to an arm.

    A point of pass@1 counts as much as half a strategy.
    """
    [run] = [run for run in RECORDED if run.folder == folder]
    base, truth = base_strategies(run.domain), measured(folder, arm)

    def distance(training: Miniature) -> float:
        found = numbers(forecast(base, run.arms[arm], training))
        points = 100 * (found["pass@1"] - truth["pass@1"])
        halves = 2 * (found[NAMES[1]] - truth[NAMES[1]])
        return points**2 + halves**2

    tried = [
        Miniature(steps=run.steps, step=step, skill=skill, runs=config.runs)
        for step, skill in product(config.step, config.skill)
    ]
    return min(tried, key=distance)


def with_losses(points: list[Point]) -> list[Point]:
    """Draw the points with what each arm loses in pass@1 against GRPO, after as many steps."""

    def lost(point: Point, side: str) -> dict[str, float] | None:
        mine = getattr(point, side)
        folder = "polynomial" if point.folder == "set_size" else point.folder
        [grpo] = [p for p in points if (p.folder, p.arm) == (folder, "grpo")]
        return mine and {**mine, LOST: getattr(grpo, side)["pass@1"] - mine["pass@1"]}

    return [
        replace(p, forecast=lost(p, "forecast"), measured=lost(p, "measured"))  # type: ignore[arg-type]
        for p in points
    ]


def compare(training: Miniature) -> Iterator[Point]:
    """Return forecast and training of recorded arms, and forecasts of arms without training."""
    for run in RECORDED:
        base, steps = base_strategies(run.domain), replace(training, steps=run.steps)
        for arm, method in run.arms.items():
            found = numbers(forecast(base, method, steps))
            yield Point(run.folder, run.domain, arm, found, measured(run.folder, arm))
        for arm, method in UNTRAINED.items() if run.folder == run.domain else ():
            yield Point(run.folder, run.domain, arm, numbers(forecast(base, method, steps)), None)


def agreement(points: list[Point], name: str) -> dict[str, float]:
    """Return the mean error and the correlation for the trained arms but the fitted one."""
    trained = [p for p in points if p.measured and (p.folder, p.arm) != FITTED]
    if name == LOST:  # against itself GRPO loses nothing, whatever the forecast
        trained = [p for p in trained if p.arm != "grpo"]
    pairs = np.array([(p.forecast[name], p.measured[name]) for p in trained if p.measured])
    return {
        "mean_absolute_error": float(np.abs(pairs[:, 0] - pairs[:, 1]).mean()),
        "correlation": float(np.corrcoef(pairs.T)[0, 1]),
    }


HUES = {"polynomial": BLUE, "multiplication": VERMILION, "quadratic": GREEN}
MARKERS = {"grpo": "s", "maxpo": "^", "grpo_div": "D"}
PANELS = {
    "pass@1": "pass@1 after training",
    NAMES[1]: f"right strategies in {SAMPLES} samples",
    LOST: "pass@1 lost against GRPO",
}


def draw(found: Numbers) -> Figure:
    """Draw forecast against training, with a panel for each number."""
    points = [Point(**arm) for arm in found["arms"] if arm["measured"]]
    figure, axes = axes_grid(1, 3, 12, 4.6)
    for ax, (name, text) in zip(axes, PANELS.items(), strict=True):
        _draw_panel(ax, points, name)
        title(ax, text, "forecast from the base model")
    axes[0].set_ylabel("trained model")
    handles, labels = _legend(axes[0])
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _draw_panel(ax: Axes, points: list[Point], name: str) -> None:
    for point in points:
        assert point.measured is not None
        fitted = (point.folder, point.arm) == FITTED
        ax.plot(
            point.forecast[name],
            point.measured[name],
            MARKERS.get(point.arm, "o"),
            color=HUES[point.domain],
            markerfacecolor="none" if fitted else HUES[point.domain],
            markersize=8 if "longer" in point.folder else 6,
        )
        if point.arm.startswith("poly_epo_k") and name != LOST:
            at = point.forecast[name], point.measured[name]
            ax.annotate(f"K={point.arm[10:]}", at, xytext=(5, -9), textcoords="offset points")
    low, high = min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.plot([low, high], [low, high], color=GREY, linewidth=1, zorder=0)
    ax.set(xlim=(low, high), ylim=(low, high))


def _legend(ax: Axes) -> tuple[list[Any], list[str]]:
    kinds = {"GRPO": "s", "MaxPO, K=4": "^", "GRPO+DIV": "D", "Poly-EPO, K=4 unless written": "o"}
    of_kinds = [ax.plot([], [], mark, color=GREY)[0] for mark in kinds.values()]
    of_domains = [ax.plot([], [], "o", color=hue)[0] for hue in HUES.values()]
    fitted = ax.plot([], [], "o", color=BLUE, markerfacecolor="none")[0]
    names = [*kinds, *HUES, "the arm of the fit"]
    return [*of_kinds, *of_domains, fitted], names


def run(out_dir: Path | str) -> Path:
    """Fit, forecast, compare; write predictions.json and return its path."""
    config = PredictionsConfig()
    training = fit(config)
    points = with_losses(list(compare(training)))
    bases = {run.domain: numbers(base_strategies(run.domain)) for run in RECORDED}
    return write_numbers(
        Path(out_dir) / "predictions.json",
        config,
        fitted=asdict(training),
        bases=bases,
        agreement={name: agreement(points, name) for name in (*NAMES, LOST)},
        arms=[asdict(point) for point in points],
    )
