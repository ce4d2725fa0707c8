"""Figures of the evaluation: curves over k with paired differences, frontiers, kept problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from setrl.evaluate.comparison import STATES, SupportAt, support_of
from setrl.evaluate.intervals import WithInterval
from setrl.evaluate.outcomes import diversity_metrics, metric_names, quality_metric
from setrl.evaluate.problems import on_common
from setrl.evaluate.summary import ArmDifference, ArmSummary, SplitSummary
from setrl.logs.run import BASE
from setrl.show.report import headlines
from setrl.show.report.drawing import (
    Chart,
    EndLabel,
    draw_front,
    front_legend,
    interval_curves,
    label_ends,
)
from setrl.show.report.run import ReportedRun, shown_split, titled
from setrl.show.report.run_state import env_steps_in_words
from setrl.show.report.style import (
    AXIS_SIZE,
    GREEN,
    LABEL_SIZE,
    OTHER_FILL,
    Theme,
    canvas,
    k_axis,
    main_arms,
    percent_axis,
    points_axis,
    set_title,
)
from setrl.support.wording import count, in_words, percent_tick, plain

SWEEPS = (
    "Lines join the arms of a sweep; the names at their ends are the first and the last settings."
)


def pass_at_k(run: ReportedRun, split: SplitSummary) -> Chart:
    """pass@k of every arm, and its paired difference to the reference."""
    headline = headlines.pass_at_k_title(run, split)

    def draw(theme: Theme) -> Figure:
        figure, (left, right) = canvas(theme, headline, columns=2)
        _draw_pass_curves(left, run, split, theme)
        _draw_differences(right, run, split, theme)
        return figure

    sizes, problems = (
        " or ".join(map(str, sorted({getattr(arm, count) for arm in split.arms.values()})))
        for count in ("n", "problems")
    )
    level = f"{100 * run.summary.intervals.level:g}%"
    note = (
        f"Left: unbiased pass@k from n = {sizes} samples of {problems} problems, mean over seeds. "
        f"The bands are {run.summary.intervals.in_words(split.seeds)}, for each single k; "
        f"the dotted lines hold for all k at once ({level}). Beyond k = n/2 few of "
        f"the subsets are independent. Right: the difference on the same problems. The title says "
        f"“above” or “below” only where the dotted lines exclude 0."
    )
    return Chart(f"pass_at_k_{split.split}", headline, note, draw)


def _draw_pass_curves(ax: Axes, run: ReportedRun, split: SplitSummary, theme: Theme) -> None:
    arms = {arm: split.arms[arm] for arm in main_arms(list(split.arms))}
    ks, ends = _draw_pass_with_band(ax, run, arms, theme)
    ax.set_ylim(top=min(1.02, ax.get_ylim()[1]))
    percent_axis(ax)
    set_title(ax, titled("pass@k", split.split), theme)
    label_ends(ax, ks[-1], ends, theme)


def _draw_differences(ax: Axes, run: ReportedRun, split: SplitSummary, theme: Theme) -> None:
    reference = run.summary.reference
    arms = main_arms(list(split.arms))
    differences = {arm: d for arm in arms if (d := difference_to(split, arm, reference))}
    if not differences or reference is None:
        ax.set_axis_off()
        return
    ks, ends = _draw_pass_with_band(ax, run, differences, theme)
    ax.axhline(0, color=theme.muted, linewidth=1)
    points_axis(ax)
    set_title(ax, f"paired difference to {run.looks[reference].label}, points", theme)
    label_ends(ax, ks[-1], ends, theme)


def difference_to(split: SplitSummary, arm: str, reference: str | None) -> ArmDifference | None:
    """Arm minus reference; for the base, the reference's difference to it with the sign changed."""
    if reference is None or arm == reference:
        return None
    if arm != BASE:
        return split.difference(arm, reference)
    difference = split.difference(reference, BASE)
    return difference and difference.negated()


def _draw_pass_with_band(
    ax: Axes, run: ReportedRun, of: Mapping[str, ArmSummary] | Mapping[str, ArmDifference],
    theme: Theme,
) -> tuple[list[int], list[EndLabel]]:  # fmt: skip
    """Draw pass@k, and as dotted lines the band for all k at once; return the k, and the names."""
    ks = {arm: headlines.pass_ks(measured.metrics) for arm, measured in of.items()}
    curves = [(ks[arm], [measured.metrics[f"pass@{k}"] for k in ks[arm]], run.looks[arm])
              for arm, measured in of.items()]  # fmt: skip
    ends = interval_curves(ax, curves, theme)
    for arm, measured in of.items():
        if (band := measured.band) is not None:
            both = list(zip(band.low, band.high, strict=True))
            ax.plot(band.ks, both, color=run.looks[arm].hue, linestyle=":", linewidth=0.9)
    longest = max(ks.values(), key=len)
    k_axis(ax, longest)
    return longest, ends


@dataclass(frozen=True)
class _FrontierPanel:
    """One axis of a frontier: what is up, and the place of each arm."""

    title: str
    points: Mapping[str, tuple[WithInterval, WithInterval]]
    is_pass: bool = False


def frontier(run: ReportedRun, split: SplitSummary) -> Chart:
    """Every arm's pass@1 against its strategies and its pass@k."""
    k = headlines.headline_k(split)
    right = f"correct strategies in {count(k, 'sample')}"
    titles = {f"correct_strategies@{k}": right, f"pass@{k}": ""}
    panels = [
        _FrontierPanel(
            titled(titles[metric] or metric, split.split),
            {arm: (s.metrics["pass@1"], s.metrics[metric]) for arm, s in split.arms.items()
             if metric in s.metrics},
            is_pass=metric.startswith("pass@"),
        )
        for metric in titles
        if any(metric in arm.metrics for arm in split.arms.values())
        and headlines.is_over_all(split, metric)
    ]  # fmt: skip
    headline = headlines.frontier_title(run, split, k)
    intervals = run.summary.intervals.in_words(split.seeds)
    note = f"Means with {intervals}. Up and to the right is better. {SWEEPS}"
    return _frontier_chart(run, f"frontier_{split.split}", headline, note, "pass@1", panels)


def control_frontier(run: ReportedRun) -> list[Chart]:
    """Success against diversity in the environment; nothing if either was not evaluated."""
    evaluated = list(run.outcomes)
    names = metric_names(run.outcomes)
    quality = quality_metric(names)
    diversity = diversity_metrics(names)
    if quality is None or not diversity:
        return []
    panels = [
        _FrontierPanel(
            in_words(metric),
            {arm: (run.outcome(arm, quality), run.outcome(arm, metric)) for arm in evaluated},
        )
        for metric in diversity
    ]
    headline = f"{run.name}: {in_words(quality)} against {' and '.join(map(in_words, diversity))}"
    note = (
        "Each point is an arm: the mean over seeds, with bars of one standard error. "
        f"{env_steps_in_words(run)}. Up and to the right is better; compare arms of the same "
        "success. "
        f"{SWEEPS}"
    )
    return [_frontier_chart(run, "frontier", headline, note, in_words(quality), panels)]


def _frontier_chart(
    run: ReportedRun,
    name: str,
    headline: str,
    note: str,
    across: str,
    panels: Sequence[_FrontierPanel],
) -> Chart:
    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(
            theme, headline, len(panels), row_height=3.2, gap=0.7, margins=(0.6, 1.9)
        )
        for ax, panel in zip(axes, panels, strict=True):
            most = 1.0 if panel.is_pass else np.inf
            draw_front(ax, panel.points, run.looks, theme, most)
            set_title(ax, panel.title, theme)
            ax.set_xlabel(across)
            for axis in (ax.xaxis, ax.yaxis)[: 1 + panel.is_pass]:
                axis.set_major_formatter(FuncFormatter(_percent_tick_up_to_all))
        shown = {arm: run.looks[arm] for panel in panels for arm in panel.points}
        front_legend(figure, shown, theme)
        return figure

    return Chart(name, headline, note, draw)


def _percent_tick_up_to_all(share: float, _position: int | None = None) -> str:
    """Write a tick as a percentage; "" beyond 100%, where the axis only has room for markers."""
    return percent_tick(share) if share <= 1 + 1e-9 else ""


def support_charts(run: ReportedRun, split: SplitSummary) -> list[Chart]:
    """Draw how many problems each arm preserves, loses and gains; nothing where none changed."""
    reference = run.summary.reference
    rows = {} if reference is None else _support_of_arms(run, split, reference)
    if reference is None or all(max(row.lost, row.gained) < 0.05 for row in rows.values()):
        return []
    k = next(iter(rows.values())).k
    reference_label = run.looks[reference].label
    headline = "; ".join(
        f"{run.looks[arm].label} loses {_problems_text(row.lost)} of {reference_label}'s "
        f"{_problems_text(row.preserved + row.lost)} problems "
        f"and gains {_problems_text(row.gained)}"
        for arm, row in rows.items()
    )

    def draw(theme: Theme) -> Figure:
        figure, (ax,) = canvas(theme, headline, 1, 0.5 * len(rows) + 0.6, margins=(2.2, 0.4))
        labels = [run.looks[arm].label for arm in rows]
        start = [0.0] * len(rows)
        for state, fill in zip(STATES, (theme.plus, theme.minus, GREEN, OTHER_FILL), strict=True):
            width = [getattr(row, state) for row in rows.values()]
            ax.barh(labels, width, left=start, color=fill, label=state, edgecolor=theme.paper)
            start = [a + b for a, b in zip(start, width, strict=True)]
        ax.invert_yaxis()
        ax.grid(visible=False)
        ax.set_xlabel(f"{shown_split(split.split)} problems", fontsize=AXIS_SIZE)
        ax.legend(
            ncols=4, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=LABEL_SIZE,
            labelcolor=theme.ink,
        )  # fmt: skip
        return figure

    note = (
        f"With {count(k, 'sample')} of each problem: preserved, right in "
        f"{reference_label} and in the arm; lost, only in {reference_label}; "
        "gained, only in the arm; outside, in neither. Expected numbers of problems, mean over "
        "seeds. What is lost with so many samples may still have a small success rate."
    )
    return [Chart(f"support_{split.split}", headline, note, draw)]


def _support_of_arms(run: ReportedRun, split: SplitSummary, reference: str) -> dict[str, SupportAt]:
    """Return the support dynamics from the reference to each other arm, at the largest k."""
    given = run.evaluations.get(split.split, {})  # a published run has only numbers
    if reference not in given:
        return {}
    arms = [arm for arm in main_arms(list(split.arms)) if arm != reference]
    evaluations = on_common({arm: list(given[arm].values()) for arm in (reference, *arms)}).arms
    k = min(evaluation.n for seeds in evaluations.values() for evaluation in seeds)
    return {
        arm: support_of(evaluations[reference], evaluations[arm], [k]).rows[0]
        for arm in arms
        if arm in evaluations
    }


def _problems_text(problems: float) -> str:
    return plain(problems, 1 if abs(problems - round(problems)) > 0.05 else 0)
