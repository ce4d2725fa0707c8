"""The figure of support dynamics: problems that each arm keeps, loses and gains."""

from __future__ import annotations

from matplotlib.figure import Figure

from setrl.evaluate.problems import on_common
from setrl.evaluate.summary import SplitSummary
from setrl.evaluate.support import STATES, SupportAt, support_of
from setrl.show.report.drawing import Chart
from setrl.show.report.run import ReportedRun, shown_split
from setrl.show.report.style import (
    AXIS_SIZE,
    GREEN,
    LABEL_SIZE,
    OTHER_FILL,
    Theme,
    canvas,
    main_arms,
)
from setrl.support.wording import count, plain


def support_charts(run: ReportedRun, split: SplitSummary) -> list[Chart]:
    """Draw how many problems each arm preserves, loses and gains; nothing where none changed."""
    reference = run.summary.reference
    rows = {} if reference is None else _rows(run, split, reference)
    if reference is None or all(max(row.lost, row.gained) < 0.05 for row in rows.values()):
        return []
    k = next(iter(rows.values())).k
    headline = "; ".join(
        f"{run.looks[arm].label} loses {_number(row.lost)} of {run.looks[reference].label}'s "
        f"{_number(row.preserved + row.lost)} problems and gains {_number(row.gained)}"
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
        f"{run.looks[reference].label} and in the arm; lost, only in {run.looks[reference].label}; "
        "gained, only in the arm; outside, in neither. Expected numbers of problems, mean over "
        "seeds. What is lost with so many samples may still have a small success rate."
    )
    return [Chart(f"support_{split.split}", headline, note, draw)]


def _rows(run: ReportedRun, split: SplitSummary, reference: str) -> dict[str, SupportAt]:
    """Return the support dynamics from the reference to each other arm, at the largest k."""
    given = run.evaluations.get(split.split, {})  # a published run has only numbers
    if reference not in given:
        return {}
    arms = [arm for arm in main_arms(list(split.arms)) if arm != reference]
    found = on_common({arm: list(given[arm].values()) for arm in (reference, *arms)}).arms
    k = min(one.n for seeds in found.values() for one in seeds)
    return {
        arm: support_of(found[reference], found[arm], [k]).rows[0] for arm in arms if arm in found
    }


def _number(problems: float) -> str:
    return plain(problems, 1 if abs(problems - round(problems)) > 0.05 else 0)
