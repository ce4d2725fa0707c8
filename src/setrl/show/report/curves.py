"""The curves of a report as data: what the page draws, lets readers point at, and saves as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setrl.evaluate.bands import Band
from setrl.evaluate.estimators import Floats
from setrl.evaluate.intervals import Difference, Estimate
from setrl.evaluate.looks import CONTROL_OVER_STEPS, OVER_STEPS
from setrl.evaluate.metrics import METRICS
from setrl.evaluate.summary import SplitSummary
from setrl.logs.run import base_as_cold, is_base
from setrl.show.report.figures_evaluation import difference_to
from setrl.show.report.headlines import is_over_all, time_title
from setrl.show.report.over_steps import (
    CONTROL_RETURN,
    RESETS,
    mean_of_known,
    rolling_mean,
    share_fills,
    smooth_on_common_steps,
    smoothing,
    stacked_shares,
)
from setrl.show.report.run import ReportedRun, shown_split
from setrl.show.report.style import OTHER_FILL, main_arms
from setrl.support.wording import in_words, percent, plain

OVER_K = ("pass", "majority", "vote_share", "correct_strategies")
MOST_POINTS = 240  # of a curve over steps
MOST_POINTS_OF_MANY = 80  # where a run has more arms than one sees at once
MANY_ARMS = 10
PARTS = ("generation", "verification", "judging", "credit", "update")

CurveRows = list[list[float]]


def evaluation_curves(run: ReportedRun, split: SplitSummary) -> dict[str, Any]:
    """Return metrics over k of each arm on a split, and paired differences to the reference."""
    arms = main_arms(list(split.arms))
    reference = run.summary.reference
    curves = [_metric_over_k(split, arms, reference, name) for name in OVER_K]
    return {
        "split": shown_split(split.split),
        "reference": reference,
        "metrics": [metric for metric in curves if metric],
    }


def _metric_over_k(
    split: SplitSummary, arms: Sequence[str], reference: str | None, name: str
) -> dict[str, Any] | None:
    """Return one metric; None if no arm has a value above 0."""
    values = {arm: _rows_over_k(split.arms[arm].metrics, name) for arm in arms}
    values = {arm: rows for arm, rows in values.items() if rows}
    shows_something = any(row[1] > 0 for rows in values.values() for row in rows)
    if not values or not (shows_something or name == "pass"):
        return None
    to = {arm: d for arm in arms if (d := difference_to(split, arm, reference))}
    differences = {arm: rows for arm, d in to.items() if (rows := _rows_over_k(d.metrics, name))}
    is_pass = name == "pass"
    return {
        "name": name,
        "label": METRICS[name].title,
        "share": METRICS[name].share,
        "values": values,
        "differences": differences,
        "bands": _band_rows({arm: split.arms[arm].band for arm in arms}) if is_pass else {},
        "difference_bands": _band_rows({arm: to[arm].band for arm in differences})
        if is_pass
        else {},
    }


def _rows_over_k(
    metrics: Mapping[str, Estimate] | Mapping[str, Difference], name: str
) -> CurveRows:
    """[k, value, low, high] of a metric over k, smallest k first."""
    ks = sorted(int(key.partition("@")[2]) for key in metrics if key.partition("@")[0] == name)
    estimates = [(k, metrics[f"{name}@{k}"]) for k in ks]
    return [[k, estimate.value, estimate.low, estimate.high] for k, estimate in estimates]


def _band_rows(bands: Mapping[str, Band | None]) -> dict[str, CurveRows]:
    """[k, low, high] of the bands that hold for all k at once; where there are many k, some."""
    rows_of = {}
    for arm, band in bands.items():
        if band is not None and band.is_known:
            at_k = zip(band.ks, band.low, band.high, strict=True)
            rows_of[arm] = [list(row) for row in at_k if _is_shown_k(row[0])]
    return rows_of


def _is_shown_k(k: int) -> bool:
    """Every k up to 32, then ever fewer: about 16 for each factor of 2."""
    return k <= 32 or k % 2 ** max(k.bit_length() - 5, 0) == 0


def training_curves(run: ReportedRun) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the training metrics over steps, and those that never changed, in words.

    Each seed is smoothed; then there is the mean over seeds.
    """
    arms = main_arms(list(run.trained))
    panels, constant = [], []
    for key, (title, share) in OVER_STEPS.items():
        panel, values = _panel_over_steps(run, arms, key, title, share)
        if len(values) > 1:
            panels.append(panel)
        elif values:
            always = min(values)
            constant.append(f"{title} ({percent(always) if share else plain(always)})")
    return panels, constant


def _panel_over_steps(
    run: ReportedRun, arms: Sequence[str], key: str, title: str, share: bool
) -> tuple[dict[str, Any], set[float]]:
    """Return one panel, and all values in it."""
    curves: dict[str, Any] = {}
    shown_values: set[float] = set()
    for arm in arms:
        series = run.series(arm, key)
        if series is None or not len(series[0]):
            continue
        steps_T, values_RT = series
        smooth_RT = rolling_mean(values_RT, smoothing(run))
        at = thinned(len(steps_T))
        mean_T = _mean_over_seeds(smooth_RT)
        shown_values |= set(np.unique(mean_T[~np.isnan(mean_T)]).tolist())
        seeds = smooth_RT[:, at].tolist() if len(smooth_RT) > 1 else []
        curves[arm] = {"steps": steps_T[at].tolist(), "mean": mean_T[at].tolist(), "seeds": seeds}
    return {"key": key, "label": title, "share": share, "curves": curves}, shown_values


def _mean_over_seeds(values_RT: Floats) -> Floats:
    """Return the mean over the seeds that have a value; NaN without any."""
    known_RT = ~np.isnan(values_RT)
    number_T = known_RT.sum(axis=0)
    total_T = np.where(known_RT, values_RT, 0.0).sum(axis=0)
    return np.where(number_T > 0, total_T / np.maximum(number_T, 1), np.nan)


def thinned(length: int) -> list[int]:
    """At most MOST_POINTS places of a curve, the first and the last among them.

    >>> thinned(3), len(thinned(10_000)), thinned(10_000)[-1]
    ([0, 1, 2], 240, 9999)
    """
    return np.unique(np.linspace(0, length - 1, min(length, MOST_POINTS)).astype(int)).tolist()


def control_curves(run: ReportedRun) -> list[dict[str, Any]]:
    """Return the metrics of a control run's training over its environment steps, of every arm."""
    keys = {key for seeds in run.trained.values() for seed in seeds for key in seed.metrics}
    evaluated = {key: in_words(key.partition("/")[2]) for key in sorted(keys)
                 if key.startswith("evaluation/")}  # fmt: skip
    titles = {**evaluated, **CONTROL_OVER_STEPS}
    panels = [_panel_over_environment_steps(run, key, titles[key]) for key in titles if key in keys]
    # What limits a user may be steps or resets: a vine needs no reset.
    counted = [key for key in (*evaluated, CONTROL_RETURN[0]) if RESETS in keys and key in keys]
    panels += [_panel_over_environment_steps(run, key, titles[key], RESETS) for key in counted[-1:]]
    return [panel for panel in panels if panel is not None]


def _panel_over_environment_steps(
    run: ReportedRun, key: str, title: str, over: str = "step"
) -> dict[str, Any] | None:
    """One panel; None if nothing was logged. All arms share a grid, so that one place tells all."""
    by_arm = {arm: smooth_on_common_steps(seeds, key, over) for arm, seeds in run.trained.items()}
    logged = {arm: curve for arm, curve in by_arm.items() if curve is not None}
    if not logged:
        return None
    first, last = (pick(s[end] for s, _ in logged.values()) for pick, end in ((min, 0), (max, -1)))
    most = MOST_POINTS_OF_MANY if len(logged) > MANY_ARMS else MOST_POINTS
    longest = max(len(steps_T) for steps_T, _ in logged.values())
    grid = np.linspace(first, last, max(2, min(most, longest)))
    curves = {arm: _curve_on_grid(grid, *curve) for arm, curve in logged.items()}
    panel = {"key": key, "label": title, "share": False, "curves": curves}
    if over == RESETS:
        panel |= {"key": f"{key} over resets", "x": {"label": "resets", "name": "reset"}}
    return panel


def _curve_on_grid(grid: Floats, steps_T: Floats, values_RT: Floats) -> dict[str, Any]:
    """Return a curve at the places of a grid that lie within its steps."""
    inside = grid[(grid >= steps_T[0]) & (grid <= steps_T[-1])]
    rows = np.array([np.interp(inside, steps_T, row) for row in values_RT])
    return {
        "steps": np.round(inside).tolist(),
        "mean": rows.mean(axis=0).tolist(),
        "seeds": rows.tolist() if len(rows) > 1 else [],
    }


def control_times(run: ReportedRun) -> list[dict[str, Any]]:
    """Environment steps and seconds of each arm's training, all seeds together."""
    times = []
    for arm, seeds in run.trained.items():
        clocks = [seed.metrics["time/time_elapsed"] for seed in seeds
                  if "time/time_elapsed" in seed.metrics]  # fmt: skip
        times.append({
            "arm": arm,
            "runs": len(seeds),
            "steps": float(sum(seed.last_step for seed in seeds)),
            "seconds": sum(map(_elapsed_time, clocks)) if len(clocks) == len(seeds) else math.nan,
        })  # fmt: skip
    return times


def _elapsed_time(seconds_T: Floats) -> float:
    """Return the time of a training run, whose clock restarts at 0 whenever it is resumed.

    >>> _elapsed_time(np.array([1.0, 5.0, 2.0, 3.0]))
    8.0
    """
    logged_T = seconds_T[~np.isnan(seconds_T)]
    if not logged_T.size:
        return math.nan
    ends = logged_T[:-1][np.diff(logged_T) < 0]
    return float(ends.sum() + logged_T[-1])


def share_curves(run: ReportedRun) -> list[dict[str, Any]]:
    """Shares of the strategies over the steps of each arm, in the order of the stack."""
    fills = share_fills(run)
    arms = []
    for arm in main_arms(list(run.trained)):
        steps_T, stack = stacked_shares(run, arm, fills)
        if not stack:
            continue
        at = thinned(len(steps_T))
        rows = {name: np.round(shares_T[at], 5).tolist() for name, shares_T in stack.items()}
        arms.append({"arm": arm, "steps": steps_T[at].tolist(), "shares": rows})
    return [{"fills": {**fills, "other": OTHER_FILL}, "arms": arms}] if arms else []


def step_times(run: ReportedRun) -> dict[str, Any] | None:
    """How the seconds of a step are spent; None if unknown.

    Parts that a run logged under other names are shown, too; the rest is what no part explains.
    """
    arms = []
    for arm in main_arms(list(run.trained)):
        step = _mean_seconds(run, arm, "time/step")
        if math.isnan(step):
            continue
        names = dict.fromkeys([*PARTS, *_logged_step_parts(run, arm)])
        parts = {name: _mean_seconds(run, arm, f"time/{name}") for name in names}
        parts = {name: seconds for name, seconds in parts.items() if not math.isnan(seconds)}
        parts["rest"] = max(step - sum(parts.values()), 0.0)
        arms.append({"arm": arm, "step": step, "parts": parts})
    return {"headline": time_title(run), "arms": arms} if arms else None


def _logged_step_parts(run: ReportedRun, arm: str) -> list[str]:
    """Names of the parts of a step that were timed; parts of parts ("reward/…") are left out."""
    names = {key.removeprefix("time/") for seed in run.seeds(arm) for key in seed.metrics
             if key.startswith("time/")}  # fmt: skip
    return sorted(name for name in names - {"step"} if "/" not in name)


def _mean_seconds(run: ReportedRun, arm: str, key: str) -> float:
    """Return the mean over all steps of all seeds; NaN if it was not logged."""
    rows = [seed.metrics[key] for seed in run.seeds(arm) if key in seed.metrics]
    return mean_of_known(np.concatenate(rows)) if rows else math.nan


def frontier_points(run: ReportedRun, split: SplitSummary, k: int) -> dict[str, Any]:
    """Every arm's pass@1 against its correct strategies and its pass@k, with intervals.

    Of samples at another temperature only the base's: they would hide what training did.
    """
    names = [name for name in ("pass@1", f"correct_strategies@{k}", f"pass@{k}")
             if is_over_all(split, name)]  # fmt: skip
    metrics = {arm: summary.metrics for arm, summary in split.arms.items()}
    points = {
        arm: {
            n: [arm_metrics[n].value, arm_metrics[n].low, arm_metrics[n].high]
            for n in names
            if n in arm_metrics
        }
        for arm, arm_metrics in metrics.items()
        if is_base(arm) or base_as_cold(arm) is None
    }
    return {"split": shown_split(split.split), "k": k, "points": points}
