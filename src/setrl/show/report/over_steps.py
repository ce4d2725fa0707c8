"""What a run logged over its steps, smoothed: metrics, and shares of strategies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setrl.evaluate.estimators import Floats
from setrl.evaluate.looks import sweep
from setrl.logs.run import Seed
from setrl.show.report.run import ReportedRun
from setrl.show.report.style import numbers, strategy_fills

SHARE = "strategies/share/"
MOST_CONTROL_CURVES = 8
CONTROL_RETURN = ("rollout/ep_rew_mean", "mean return of recent episodes")
RESETS = "rollout/resets"  # episodes from a reset so far: vines do not count


def outside_sweeps_or_middle(arms: Sequence[str]) -> list[str]:
    """Return the arms outside sweeps, and the middle one of each sweep."""
    sweeps: dict[str, list[str]] = {}
    for arm in arms:
        sweeps.setdefault(sweep(arm), []).append(arm)
    middle = [sorted(members, key=numbers)[len(members) // 2] for members in sweeps.values()]
    return middle[:MOST_CONTROL_CURVES]


def smooth_on_common_steps(
    seeds: Sequence[Seed], key: str, over: str = "step"
) -> tuple[Floats, Floats] | None:
    """Return steps (T,) and smooth values (R, T) on a common grid; None if no run has the key.

    The runs of a control arm log at different steps: an update ends when its episodes do. `over`
    names another count that grows with the steps, such as resets.
    """
    logged = []
    for metrics in (seed.metrics for seed in seeds if {key, over} <= set(seed.metrics)):
        defined = ~np.isnan(metrics[key])
        if defined.any():
            logged.append((metrics[over][defined], metrics[key][defined]))
    if not logged:
        return None
    first, last = max(steps[0] for steps, _ in logged), min(steps[-1] for steps, _ in logged)
    points = min(200, *(len(steps) for steps, _ in logged))
    steps_T = np.linspace(first, last, max(points, 2))
    rows = [rolling_mean(np.interp(steps_T, *row), max(points // 10, 1)) for row in logged]
    return steps_T, np.array(rows)


def share_fills(run: ReportedRun) -> dict[str, str]:
    """Strategy → fill, for the commonest strategies of the run, in all figures and tables."""
    seeds = [seed for seeds in run.trained.values() for seed in seeds if seed.metrics]
    means = {
        key.removeprefix(SHARE): float(
            np.mean([_share_at_steps(seed, key).mean() for seed in seeds])
        )
        for key in _logged_share_keys(seeds)
    }
    return strategy_fills(means)


def _share_at_steps(seed: Seed, key: str) -> Floats:
    """Return a strategy's share at each step: 0 where it was not logged."""
    return np.nan_to_num(seed.metrics.get(key, np.zeros(len(seed.steps))))


def _logged_share_keys(seeds: Sequence[Seed]) -> list[str]:
    return list(
        dict.fromkeys(key for seed in seeds for key in seed.metrics if key.startswith(SHARE))
    )


def stacked_shares(
    run: ReportedRun, arm: str, fills: dict[str, str]
) -> tuple[Floats, dict[str, Floats]]:
    """Return steps (T,), and strategy → smooth share (T,), mean over seeds; empty if not logged.

    Strategies without a fill are added up as "other".
    """
    seeds = [seed for seed in run.seeds(arm) if seed.metrics]
    keys = _logged_share_keys(seeds)
    if not keys:
        return np.array([]), {}
    steps = seeds[0].metrics["step"]
    stack = {name: np.zeros(len(steps)) for name in [*fills, "other"]}
    for key in keys:
        name = key.removeprefix(SHARE)
        for seed in seeds:
            smooth = rolling_mean(_share_at_steps(seed, key), smoothing(run))
            row = np.interp(steps, seed.steps, smooth)
            stack[name if name in fills else "other"] += row / len(seeds)
    return steps, stack


def smoothing(run: ReportedRun) -> int:
    """Return the steps of the rolling mean: about a twentieth of the longest run, and odd."""
    seeds = [seed for seeds in run.trained.values() for seed in seeds if seed.metrics]
    return 2 * (max((len(seed.steps) for seed in seeds), default=1) // 40) + 1


def rolling_mean(values: Floats, window: int) -> Floats:
    """Mean of each value and its neighbours within window // 2 on both sides, along the last axis.

    At the ends there are fewer neighbours; NaN is left out.

    >>> rolling_mean(np.array([0.0, 3.0, 6.0, 9.0]), 3)
    array([1.5, 3. , 6. , 7.5])
    """
    length, reach = values.shape[-1], window // 2
    place = np.arange(length)
    start, stop = np.maximum(place - reach, 0), np.minimum(place + reach + 1, length)

    def over_window(row: Floats) -> Floats:
        upto = np.concatenate([np.zeros((*row.shape[:-1], 1)), row.cumsum(axis=-1)], axis=-1)
        return upto[..., stop] - upto[..., start]

    total = over_window(np.nan_to_num(values))
    count = over_window((~np.isnan(values)).astype(np.float64))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def mean_of_known(values: Floats) -> float:
    """Return the mean of all values but NaN; NaN without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")
