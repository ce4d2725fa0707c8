"""Figures of the training: learning curves, shares of strategies, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl.evaluation.estimators import Floats
from setrl.report import headlines
from setrl.report.data import RunData, TrainingRun
from setrl.report.drawing import (
    EndLabel,
    Plate,
    canvas,
    label_ends,
    percent_axis,
    right_legend,
    rolling_mean,
    set_title,
)
from setrl.report.style import OTHER_FILL, Theme, main_arms, strategy_fills
from setrl.report.wording import count, percent

SHARE = "strategies/share/"
TIMES = ("generation", "verification", "credit", "update")
TIME_FILLS = ("#77AADD", "#EEDD88", "#D55E00", "#44BB99")


def learning(data: RunData) -> list[Plate]:
    """pass@1 and strategies per prompt over the steps; nothing when no step was logged."""
    arms = main_arms(list(data.arms))
    key = "strategies/correct_per_prompt"
    if not any(data.series(arm, key) for arm in arms):
        return []
    headline = headlines.change_title(data, key, "Correct strategies per prompt", arms)
    window = _window(data)

    def draw(theme: Theme) -> Figure:
        sheet = canvas(theme, headline, 3, row_height=2.6, gap=1.15, margins=(0.55, 0.9))
        _draw_metric(sheet.axes[0], data, "reward/pass@1", "pass@1 in training", theme)
        percent_axis(sheet.axes[0])
        _draw_metric(sheet.axes[1], data, "strategies/per_prompt", "strategies per prompt", theme)
        _draw_metric(sheet.axes[2], data, key, "correct strategies per prompt", theme)
        return sheet.figure

    samples = data.config.get("samples_per_prompt", "all")
    note = (
        f"Counted over the {samples} samples of a prompt, mean over the prompts of a step. Thin: "
        f"each seed; thick: mean over seeds. All lines: rolling mean over {count(window, 'step')}."
    )
    return [Plate("learning", headline, note, draw)]


def _draw_metric(ax: Axes, data: RunData, key: str, title: str, theme: Theme) -> None:
    """A training metric of all arms over the steps."""
    ends, last = [], 1.0
    for arm in main_arms(list(data.arms)):
        series, look = data.series(arm, key), data.looks[arm]
        if series is None:
            continue
        steps, values_ST = series
        smooth_ST = rolling_mean(values_ST, _window(data))
        for seed_T in smooth_ST:
            ax.plot(steps, seed_T, color=look.hue, linewidth=0.7, alpha=0.45)
        mean_T = smooth_ST.mean(axis=0)
        ax.plot(steps, mean_T, color=look.hue, linewidth=2, marker=look.marker, markersize=5,
                markevery=max(1, len(steps) // 5), markeredgecolor=theme.paper)  # fmt: skip
        ends.append(EndLabel(float(mean_T[-1]), look))
        last = max(last, float(steps[-1]))
    ax.set_ylim(bottom=0)
    ax.set_xlim(right=last)
    ax.set_xlabel("step")
    set_title(ax, title, theme)
    label_ends(ax, last, ends, theme)


def share_fills(data: RunData) -> dict[str, str]:
    """Strategy → fill, for the commonest strategies of the run, in all figures and tables."""
    runs = [run for runs in data.arms.values() for run in runs if run.metrics]
    means = {
        key.removeprefix(SHARE): float(np.mean([_share(run, key).mean() for run in runs]))
        for key in _share_keys(runs)
    }
    return strategy_fills(means)


def _share(run: TrainingRun, key: str) -> Floats:
    """A strategy's share at each step: 0 where it was not written down."""
    return np.nan_to_num(run.metrics.get(key, np.zeros(len(run.metrics["step"]))))


def _share_keys(runs: Sequence[TrainingRun]) -> list[str]:
    return list(dict.fromkeys(key for run in runs for key in run.metrics if key.startswith(SHARE)))


def strategy_shares(data: RunData) -> list[Plate]:
    """Shares of the strategies over the steps, stacked; nothing when none were logged."""
    arms = [arm for arm in main_arms(list(data.arms)) if any(_share_keys(data.arms[arm]))]
    if not arms:
        return []
    fills, window = share_fills(data), _window(data)
    headline = headlines.change_title(
        data, "strategies/top_share", "Share of a prompt's commonest strategy", arms, percent
    )

    def draw(theme: Theme) -> Figure:
        columns = min(len(arms), 4)
        rows = -(-len(arms) // columns)
        sheet = canvas(theme, headline, columns, rows, 2.4, margins=(0.6, 1.35), gap=0.35)
        for ax, arm in zip(sheet.axes, arms, strict=False):
            _draw_stack(ax, data, arm, fills, theme)
        for place, ax in enumerate(sheet.axes):
            ax.tick_params(labelleft=place % columns == 0)
            ax.set_visible(place < len(arms))
        patches = sheet.axes[0].collections[::-1]
        names = [str(patch.get_label()) for patch in patches]
        right_legend(sheet.figure, patches, names, theme)
        return sheet.figure

    note = (
        "Share of all samples of a step that use each strategy; blank: samples whose strategy "
        f"cannot be read. Mean over seeds, rolling mean over {count(window, 'step')}."
    )
    return [Plate("strategy_shares", headline, note, draw)]


def _draw_stack(ax: Axes, data: RunData, arm: str, fills: dict[str, str], theme: Theme) -> None:
    """One arm's shares; what is in no named strategy is "other"."""
    runs = [run for run in data.arms[arm] if run.metrics]
    steps = runs[0].metrics["step"]
    stack = {name: np.zeros(len(steps)) for name in [*fills, "other"]}
    for key in _share_keys(runs):
        name = key.removeprefix(SHARE)
        for run in runs:
            smooth = rolling_mean(_share(run, key), _window(data))
            row = np.interp(steps, run.metrics["step"], smooth)
            stack[name if name in fills else "other"] += row / len(runs)
    colors = [*fills.values(), OTHER_FILL]
    ax.stackplot(steps, *stack.values(), labels=list(stack), colors=colors,
                 edgecolor=theme.paper, linewidth=0.4)  # fmt: skip
    ax.set_xlim(steps[0], max(steps[-1], steps[0] + 1))
    percent_axis(ax)
    ax.set_ylim(0, 1)
    ax.grid(visible=False)
    ax.set_xlabel("step")
    set_title(ax, data.looks[arm].label, theme)


def time(data: RunData) -> list[Plate]:
    """Seconds of a step by what they were spent on; nothing when times were not logged."""
    arms = [arm for arm in data.arms if data.series(arm, "time/step")]
    if not arms:
        return []
    headline = headlines.time_title(data)

    def draw(theme: Theme) -> Figure:
        height = 0.3 + 0.3 * len(arms)
        sheet = canvas(theme, headline, 1, 1, height, margins=(1.4, 1.4), title_height=0)
        ax = sheet.axes[0]
        for place, arm in enumerate(arms):
            _draw_time_bar(ax, data, arm, len(arms) - place, theme)
        ax.set_yticks(range(len(arms), 0, -1), [data.looks[arm].label for arm in arms])
        ax.tick_params(axis="y", length=0, labelcolor=theme.ink)
        ax.grid(visible=False, axis="y")
        ax.grid(axis="x", color=theme.grid, linewidth=0.8)
        ax.set_xlabel("seconds a step, mean over steps and seeds")
        parts, names = ax.get_legend_handles_labels()
        once = len(TIMES) + 1
        right_legend(sheet.figure, parts[:once], names[:once], theme)
        return sheet.figure

    note = "Mean seconds of a step by what they were spent on; the rest is logging and the like."
    return [Plate("time", headline, note, draw)]


def _draw_time_bar(ax: Axes, data: RunData, arm: str, place: int, theme: Theme) -> None:
    left = 0.0
    for name, fill in zip(TIMES, TIME_FILLS, strict=True):
        seconds = _mean_of(data, arm, f"time/{name}")
        ax.barh(place, seconds, left=left, color=fill, label=name, height=0.62,
                edgecolor=theme.paper, linewidth=0.8)  # fmt: skip
        left += seconds
    rest = max(_mean_of(data, arm, "time/step") - left, 0)
    ax.barh(place, rest, left=left, color=OTHER_FILL, label="rest", height=0.62)


def _mean_of(data: RunData, arm: str, key: str) -> float:
    series = data.series(arm, key)
    return 0.0 if series is None or np.isnan(series[1]).all() else float(np.nanmean(series[1]))


def _window(data: RunData) -> int:
    """Steps of the rolling mean: about a twentieth of the longest run, and odd."""
    runs = [run for runs in data.arms.values() for run in runs if run.metrics]
    return 2 * (max((len(run.metrics["step"]) for run in runs), default=1) // 40) + 1
