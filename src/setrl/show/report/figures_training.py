"""Figures of the training: curves over steps, shares of strategies, and the time of a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from setrl.evaluate.estimators import Floats
from setrl.evaluate.looks import sweep
from setrl.evaluate.outcomes import diversity_metrics, metric_names
from setrl.show.report import headlines
from setrl.show.report.drawing import Chart, right_legend, rolling_mean, step_curves
from setrl.show.report.run import ArmRun, RunData
from setrl.show.report.style import (
    OTHER_FILL,
    STRATEGY_FILLS,
    VERMILION,
    Theme,
    canvas,
    main_arms,
    numbers,
    percent_axis,
    set_title,
    strategy_fills,
)
from setrl.support.wording import count, in_words, percent

SHARE = "strategies/share/"
TIME_FILLS = {
    "generation": STRATEGY_FILLS[0],
    "verification": STRATEGY_FILLS[1],
    "credit": VERMILION,
    "update": STRATEGY_FILLS[2],
}
MOST_CONTROL_CURVES = 8
CONTROL_RETURN = ("rollout/ep_rew_mean", "mean return of recent episodes")
RESETS = "rollout/resets"  # episodes from a reset so far: vines do not count


def learning(data: RunData) -> list[Chart]:
    """pass@1 and strategies per prompt over the steps; nothing if no step was logged."""
    arms, key = main_arms(list(data.trained)), "strategies/correct_per_prompt"
    if not any(data.series(arm, key) for arm in arms):
        return []
    panels = {
        "reward/pass@1": "pass@1 in training",
        "strategies/per_prompt": "strategies per prompt",
        key: "correct strategies per prompt",
    }
    headline = headlines.change_title(data, key, "Correct strategies per prompt", arms)

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(theme, headline, 3, row_height=2.6, gap=1.15, margins=(0.55, 0.9))
        for ax, (metric, title) in zip(axes, panels.items(), strict=True):
            found = {arm: data.series(arm, metric) for arm in arms}
            smooth = {a: (s[0], rolling_mean(s[1], smoothing(data))) for a, s in found.items() if s}
            step_curves(ax, [(data.looks[arm], *rows) for arm, rows in smooth.items()], theme, 0)
            ax.set_xlabel("step")
            set_title(ax, title, theme)
        percent_axis(axes[0])
        return figure

    samples = data.config.get("samples_per_prompt", "all")
    note = (
        f"Counted over the {samples} samples of a prompt, mean over the prompts of a step. Thin "
        "lines: each seed; thick lines: mean over seeds. All lines are rolling means over "
        f"{count(smoothing(data), 'step')}."
    )
    return [Chart("learning", headline, note, draw)]


def control_curves(data: RunData) -> list[Chart]:
    """Return and diversity over environment steps; nothing if no step was logged."""
    arms = outside_sweeps_or_middle(list(data.trained))
    if not arms:
        return []
    metrics = metric_names(data.outcomes)
    panels = [
        CONTROL_RETURN,
        *((f"evaluation/{name}", in_words(name)) for name in diversity_metrics(metrics)[:1]),
    ]
    if not any(panels[-1][0] in run.metrics for runs in data.arms.values() for run in runs):
        panels[1:] = [("vines/distinct", "different ways among the vines of a state")]
    counts = [("step", "environment steps")] * len(panels)
    if any(RESETS in run.metrics for runs in data.arms.values() for run in runs):
        panels.append(CONTROL_RETURN)
        counts.append((RESETS, "resets"))
    headline = f"{data.name}: training over environment steps"

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(theme, headline, len(panels), gap=1.6, margins=(0.6, 1.5))
        for ax, (key, title), (over, axis) in zip(axes, panels, counts, strict=True):
            found = {arm: on_common_steps(data.arms[arm], key, over) for arm in arms}
            shown = [(data.looks[arm], *rows) for arm, rows in found.items() if rows]
            step_curves(ax, shown, theme, None)
            ax.set_xlim(left=0)
            ax.set_xlabel(axis)
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
            set_title(ax, title, theme)
        return figure

    note = (
        "Thick lines: mean over seeds; thin lines: each seed; all are rolling means over a tenth "
        "of the run, and end where the arm's shortest seed ends. The steps of vines count; vines "
        "need no resets. Of each sweep, the middle arm is shown."
    )
    return [Chart("curves", headline, note, draw)]


def _short(steps: float) -> str:
    """Write a number of steps with k or M.

    >>> _short(0), _short(2500), _short(7.5e6)
    ('0', '2.5k', '7.5M')
    """
    unit, sign = (1e6, "M") if steps >= 1e6 else (1e3, "k")
    return f"{steps / unit:g}{sign}" if steps else "0"


def outside_sweeps_or_middle(arms: Sequence[str]) -> list[str]:
    """Return the arms outside sweeps, and the middle one of each sweep."""
    sweeps: dict[str, list[str]] = {}
    for arm in arms:
        sweeps.setdefault(sweep(arm), []).append(arm)
    middle = [sorted(members, key=numbers)[len(members) // 2] for members in sweeps.values()]
    return middle[:MOST_CONTROL_CURVES]


def on_common_steps(
    runs: Sequence[ArmRun], key: str, over: str = "step"
) -> tuple[Floats, Floats] | None:
    """Return steps (T,) and smooth values (R, T) on a common grid; None if no run has the key.

    The runs of a control arm log at different steps: an update ends when its episodes do. `over`
    names another count that grows with the steps, such as resets.
    """
    known = []
    for metrics in (run.metrics for run in runs if {key, over} <= set(run.metrics)):
        defined = ~np.isnan(metrics[key])
        if defined.any():
            known.append((metrics[over][defined], metrics[key][defined]))
    if not known:
        return None
    first, last = max(steps[0] for steps, _ in known), min(steps[-1] for steps, _ in known)
    points = min(200, *(len(steps) for steps, _ in known))
    steps_T = np.linspace(first, last, max(points, 2))
    rows = [rolling_mean(np.interp(steps_T, *row), max(points // 10, 1)) for row in known]
    return steps_T, np.array(rows)


def share_fills(data: RunData) -> dict[str, str]:
    """Strategy → fill, for the commonest strategies of the run, in all figures and tables."""
    runs = [run for runs in data.trained.values() for run in runs if run.metrics]
    means = {
        key.removeprefix(SHARE): float(np.mean([_share(run, key).mean() for run in runs]))
        for key in _share_keys(runs)
    }
    return strategy_fills(means)


def _share(run: ArmRun, key: str) -> Floats:
    """Return a strategy's share at each step: 0 where it was not logged."""
    return np.nan_to_num(run.metrics.get(key, np.zeros(len(run.metrics["step"]))))


def _share_keys(runs: Sequence[ArmRun]) -> list[str]:
    return list(dict.fromkeys(key for run in runs for key in run.metrics if key.startswith(SHARE)))


def strategy_shares(data: RunData) -> list[Chart]:
    """Shares of the strategies over the steps, stacked; nothing if none were logged."""
    arms = [arm for arm in main_arms(list(data.trained)) if _share_keys(data.arms[arm])]
    if not arms:
        return []
    fills = share_fills(data)
    headline = headlines.change_title(
        data, "strategies/top_share", "Share of a prompt's commonest strategy", arms, percent
    )

    def draw(theme: Theme) -> Figure:
        columns = min(len(arms), 4)
        rows = -(-len(arms) // columns)
        figure, axes = canvas(theme, headline, columns, rows, 2.4, margins=(0.6, 1.35), gap=0.35)
        for ax, arm in zip(axes, arms, strict=False):
            _draw_stack(ax, data, arm, fills, theme)
        for place, ax in enumerate(axes):
            ax.tick_params(labelleft=place % columns == 0)
            ax.set_visible(place < len(arms))
        patches = axes[0].collections[::-1]
        right_legend(figure, patches, [str(patch.get_label()) for patch in patches], theme)
        return figure

    note = (
        "Share of all samples of a step that use each strategy; blank: samples whose strategy "
        f"cannot be read. Mean over seeds, rolling mean over {count(smoothing(data), 'step')}."
    )
    return [Chart("strategy_shares", headline, note, draw)]


def _draw_stack(ax: Axes, data: RunData, arm: str, fills: dict[str, str], theme: Theme) -> None:
    """One arm's shares; strategies without a fill are added up as "other"."""
    steps, stack = stacked_shares(data, arm, fills)
    colors = [*fills.values(), OTHER_FILL]
    ax.stackplot(steps, *stack.values(), labels=list(stack), colors=colors,
                 edgecolor=theme.paper, linewidth=0.4)  # fmt: skip
    ax.set_xlim(steps[0], max(steps[-1], steps[0] + 1))
    percent_axis(ax)
    ax.set_ylim(0, 1)
    ax.grid(visible=False)
    ax.set_xlabel("step")
    set_title(ax, data.looks[arm].label, theme)


def stacked_shares(
    data: RunData, arm: str, fills: dict[str, str]
) -> tuple[Floats, dict[str, Floats]]:
    """Return steps (T,), and strategy → smooth share (T,), mean over seeds; empty if not logged.

    Strategies without a fill are added up as "other".
    """
    runs = [run for run in data.arms[arm] if run.metrics]
    keys = _share_keys(runs)
    if not keys:
        return np.array([]), {}
    steps = runs[0].metrics["step"]
    stack = {name: np.zeros(len(steps)) for name in [*fills, "other"]}
    for key in keys:
        name = key.removeprefix(SHARE)
        for run in runs:
            smooth = rolling_mean(_share(run, key), smoothing(data))
            row = np.interp(steps, run.metrics["step"], smooth)
            stack[name if name in fills else "other"] += row / len(runs)
    return steps, stack


def time(data: RunData) -> list[Chart]:
    """How the seconds of a step are spent; nothing if times were not logged."""
    arms = [arm for arm in data.trained if data.series(arm, "time/step")]
    if not arms:
        return []
    headline = headlines.time_title(data)

    def draw(theme: Theme) -> Figure:
        height = 0.3 + 0.3 * len(arms)
        figure, [ax] = canvas(theme, headline, 1, 1, height, margins=(1.4, 1.4), title_height=0)
        for place, arm in enumerate(arms):
            _draw_time_bar(ax, data, arm, len(arms) - place, theme)
        ax.set_yticks(range(len(arms), 0, -1), [data.looks[arm].label for arm in arms])
        ax.tick_params(axis="y", length=0, labelcolor=theme.ink)
        ax.grid(visible=False, axis="y")
        ax.grid(axis="x", color=theme.grid, linewidth=0.8)
        ax.set_xlabel("seconds per step, mean over steps and seeds")
        parts, names = ax.get_legend_handles_labels()
        once = len(TIME_FILLS) + 1
        right_legend(figure, parts[:once], names[:once], theme)
        return figure

    note = "Mean seconds of a step and how they are spent; the rest is logging and similar work."
    return [Chart("time", headline, note, draw)]


def _draw_time_bar(ax: Axes, data: RunData, arm: str, place: int, theme: Theme) -> None:
    left = 0.0
    for name, fill in TIME_FILLS.items():
        seconds = _mean_of(data, arm, f"time/{name}")
        ax.barh(place, seconds, left=left, color=fill, label=name, height=0.62,
                edgecolor=theme.paper, linewidth=0.8)  # fmt: skip
        left += seconds
    rest = max(_mean_of(data, arm, "time/step") - left, 0)
    ax.barh(place, rest, left=left, color=OTHER_FILL, label="rest", height=0.62)


def _mean_of(data: RunData, arm: str, key: str) -> float:
    series = data.series(arm, key)
    return 0.0 if series is None or np.isnan(series[1]).all() else float(np.nanmean(series[1]))


def smoothing(data: RunData) -> int:
    """Return the steps of the rolling mean: about a twentieth of the longest run, and odd."""
    runs = [run for runs in data.trained.values() for run in runs if run.metrics]
    return 2 * (max((len(run.metrics["step"]) for run in runs), default=1) // 40) + 1
