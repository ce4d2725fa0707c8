"""What the studies share: means over runs with intervals, and how they are written and drawn.

A study writes numbers; `studies.figures` draws them in the report's style.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from setrl.evaluate.intervals import t_quantile
from setrl.evaluate.looks import Look
from setrl.evaluate.summary import Summary
from setrl.show.report import style
from setrl.show.report.drawing import band

SCHEMA_VERSION = 1
LEVEL = 0.95
SHOWN = (
    "pass@1",
    "pass@32",
    "correct_strategies@32",
    "majority@32",
)  # of a model

# The colour of text on a fill, which is the same in light and in dark figures.
ON_DARK, ON_LIGHT = style.DARK.ink, style.DARK.back
Numbers = Mapping[str, Any]  # a JSON file that `write_numbers` wrote, or a part of it

STYLES: dict[str, tuple[str, str]] = {
    "raw": (style.BLACK, "dotted"),
    "reinforce": (style.VERMILION, "solid"),
    "s_loo": (style.PINK, "dashdot"),
    "ei": (style.ORANGE, "dashed"),
    "l2o": (style.BLUE, "solid"),
    "mixture": (style.GREEN, "dashdot"),
    "poly": (style.SKY, "long"),
    "sampled": (style.SKY, "dotted"),
    "regression": (style.BROWN, "dashdotdot"),
    "standardised": (style.GREY, "long"),
}


@dataclass(frozen=True)
class Interval:
    """A mean over runs and its 95% t-interval; arrays of one shape."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Interval:
        """Return what `as_lists` wrote."""
        return cls(*(np.array(record[name]) for name in ("mean", "low", "high")))

    def as_lists(self) -> dict[str, list]:
        """Return plain data, to four significant digits."""
        return {
            name: np.vectorize(lambda v: float(f"{v:.4g}"))(value).tolist()
            for name, value in vars(self).items()
        }


def mean_interval(values_R: ArrayLike, within: tuple[float, float] = (-np.inf, np.inf)) -> Interval:
    """Return the mean over the first axis, with a t-interval over runs; it needs two runs.

    The interval ends where the quantity does: `within` is (0, 1) for a share, (0, ∞) for a count.

    >>> mean_interval([0.7, 0.9, 1.0], within=(0, 1)).as_lists()["high"]
    1.0
    """
    values = np.asarray(values_R, dtype=np.float64)
    if len(values) < 2:
        raise ValueError(f"an interval needs at least 2 runs, got {len(values)}")
    mean, stderr = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    reach = t_quantile(len(values) - 1, LEVEL) * stderr
    return Interval(mean, *np.clip([mean - reach, mean + reach], *within))


def geometric_interval(values_R: ArrayLike) -> Interval:
    """Return geometric mean over the first axis with its interval, for positive numbers and ratios.

    >>> float(geometric_interval([1.0, 4.0]).mean)
    2.0
    """
    of_logs = mean_interval(np.log(values_R))
    return Interval(*(np.exp(part) for part in (of_logs.mean, of_logs.low, of_logs.high)))


def write_numbers(path: Path, config: Any, **numbers: Any) -> Path:
    """Write a study's JSON: its schema version, its config (a dataclass) and its numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {"schema_version": SCHEMA_VERSION, "config": asdict(config), **numbers}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return path


def by_arm(
    summary: Summary,
    metrics: Sequence[str],
    kept: Sequence[str] = ("value", "per_seed"),
) -> dict[str, Any]:
    """Return split → arm → metric → {value, …}, of those metrics that an evaluation has.

    Args:
        summary: The evaluations.
        metrics: Names; "pass@" is pass@k at every k.
        kept: Attributes of an estimate, which are rounded.
    """
    return {
        split: {
            arm: {
                name: rounded(one, kept)
                for name, one in found.metrics.items()
                if name in metrics or name.partition("@")[0] + "@" in metrics
            }
            for arm, found in of_split.arms.items()
        }
        for split, of_split in summary.splits.items()
    }


def rounded(found: Any, kept: Sequence[str]) -> dict[str, Any]:
    """Return attributes of an estimate or a difference, in five decimals."""
    return {name: np.round(getattr(found, name), 5).tolist() for name in kept}


def moving_average(values: ArrayLike, window: int) -> np.ndarray:
    """Return mean of the last `window` values along the last axis; fewer at the start.

    >>> moving_average([2, 4, 6, 8], 2)
    array([2., 3., 5., 7.])
    """
    total = np.cumsum(np.asarray(values, dtype=np.float64), axis=-1)
    lagged = np.concatenate([np.zeros((*total.shape[:-1], window)), total], axis=-1)
    counts = np.minimum(np.arange(1, total.shape[-1] + 1), window)
    return (total - lagged[..., : total.shape[-1]]) / counts


def draw_interval(ax: Axes, x: np.ndarray, interval: Interval, name: str, label: str = "") -> None:
    """Draw a mean as a line and its interval as a band, in the hue and line style of `name`."""
    look = Look(label, *STYLES[name], "")
    band(ax, x, (interval.mean, interval.low, interval.high), look)


def title(ax: Axes, text: str, xlabel: str) -> None:
    """Write a small title on the left, and what the x axis shows."""
    ax.set_title(text, loc="left", fontsize=10.5)
    ax.set_xlabel(xlabel)


def legend_below(figure: Figure, axes: Sequence[Axes]) -> None:
    """Draw one legend below the panels, each label once."""
    lines = {
        str(line.get_label()): line for ax in axes for line in ax.get_legend_handles_labels()[0]
    }
    figure.legend(
        list(lines.values()), list(lines), loc="outside lower center", ncols=3, frameon=False
    )
