"""`python -m studies bandits`: how good estimators of the max@K gradient are.

A reconstruction of the bandit study of MaxPO (arXiv:2606.06080, §5.1), whose settings are not
public: rewards of the arms uniform in [0, 1], logits N(0, 1), B = 8 samples and K = 4 unless they
vary. Measured against the exact gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from setrl.show.report.style import axes_grid
from studies import adam_proxy
from studies.adam_proxy import WINDOW
from studies.bandit import (
    ESTIMATORS,
    REWARDS,
    Bandit,
    draw_bandit,
    max_gradient,
    relative_variance,
    running_means,
)
from studies.summaries import (
    ON_DARK,
    ON_LIGHT,
    Interval,
    Numbers,
    draw_interval,
    geometric_interval,
    legend_below,
    title,
    write_numbers,
)

REWARD_NAMES = {
    "uniform": "rewards uniform in [0, 1]",
    "normal": "rewards N(0, 1)",
    "sparse": "one arm in ten pays 1",
}
COMPARED = ("raw", "s_loo", "l2o", "ei", "mixture")


@dataclass(frozen=True)
class BanditsConfig:
    """Sizes of the study; the defaults take about two minutes on one core.

    Attributes:
        seeds: Random bandits in each setting; intervals are over them.
        batches: Batches of each bandit from which a variance is measured.
        num_samples: N.
        set_size: K.
        arms: A.
        arms_grid: A, where it varies.
        samples_grid: N, where it varies.
        checkpoints: Numbers of batches over which gradients are averaged for the error.
        map_arms: A in the maps of leave-two-out against EI.
        map_sizes: K in those maps.
        map_samples: N in those maps.
        map_seeds: Bandits a cell of those maps.
        adam_seeds: Policies trained with each estimator for the Adam-moment variance proxy.
        adam_steps: Updates of each.
        seed: Of everything.
    """

    seeds: int = 20
    batches: int = 4_000
    num_samples: int = 8
    set_size: int = 4
    arms: int = 30
    arms_grid: tuple[int, ...] = (5, 10, 30, 100, 300)
    samples_grid: tuple[int, ...] = (5, 6, 8, 12, 16, 32, 64)
    checkpoints: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000, 30_000)
    map_arms: tuple[int, ...] = (3, 5, 10, 30, 100)
    map_sizes: tuple[int, ...] = (1, 2, 4, 8, 12, 15)
    map_samples: int = 16
    map_seeds: int = 24
    adam_seeds: int = 8
    adam_steps: int = 400
    seed: int = 0


Curves = dict[str, Interval]  # estimator → its values over the grid of a study
Setting = tuple[int, int, int]  # A, K, N


def estimation_error(config: BanditsConfig) -> Curves:
    """‖mean gradient − ∇J‖/‖∇J‖ over growing numbers of batches; of the biased estimator after the
    best scaling, so that what is left is its direction.
    """
    checkpoints = list(config.checkpoints)

    def of_bandit(bandit: Bandit, name: str, seed: int) -> list[float]:
        truth_A = max_gradient(bandit, config.set_size)
        means_TA = running_means(
            bandit,
            ESTIMATORS[name],
            config.set_size,
            config.num_samples,
            checkpoints,
            np.random.default_rng(seed),
        )
        if ESTIMATORS[name].biased:
            means_TA *= ((means_TA @ truth_A) / (means_TA**2).sum(axis=1))[:, None]
        return (np.linalg.norm(means_TA - truth_A, axis=1) / np.linalg.norm(truth_A)).tolist()

    bandits = _bandits(config, config.arms)
    names = (*COMPARED, "standardised")
    return {
        name: geometric_interval([of_bandit(b, name, r) for r, b in enumerate(bandits)])
        for name in names
    }


# What varies in each study of variance: its settings (A, K, N), and the estimators compared.
VARIANCES: dict[str, tuple[Callable[[BanditsConfig], list[Setting]], Sequence[str]]] = {
    "variance_by_arms": (
        lambda c: [(arms, c.set_size, c.num_samples) for arms in c.arms_grid],
        COMPARED,
    ),
    "variance_by_set_size": (
        lambda c: [(c.arms, size, c.num_samples) for size in range(1, c.num_samples)],
        COMPARED,
    ),
    "variance_by_samples": (
        lambda c: [(c.arms, c.set_size, num) for num in c.samples_grid],
        (*COMPARED, "sampled", "regression"),
    ),
}


def relative_variances(
    config: BanditsConfig, settings: Sequence[Setting], names: Sequence[str]
) -> Curves:
    """Return the relative variance in each setting; all estimators see the same batches."""
    bandits = {arms: _bandits(config, arms) for arms, _, _ in settings}
    return {
        name: geometric_interval(
            np.transpose(
                [
                    _variances(bandits[arms], name, set_size, num_samples, config.batches)
                    for arms, set_size, num_samples in settings
                ]
            )
        )
        for name in names
    }


def _variances(
    bandits: Sequence[Bandit], name: str, set_size: int, num_samples: int, num_batches: int
) -> list[float]:
    """Return an estimator's relative variance with each bandit."""
    return [
        relative_variance(
            bandit,
            ESTIMATORS[name],
            set_size,
            num_samples,
            num_batches,
            np.random.default_rng(seed),
        )
        for seed, bandit in enumerate(bandits)
    ]


def leave_two_out_map(config: BanditsConfig, rewards: str) -> Interval:
    """Return the variance with leave-two-out over the variance with EI: (A, K) arrays."""
    rows = []
    for arms in config.map_arms:
        bandits = _bandits(config, arms, rewards, config.map_seeds)
        sizes = [(size, config.map_samples, config.batches // 4) for size in config.map_sizes]
        ours, theirs = (
            [_variances(bandits, each, *size) for size in sizes] for each in ("l2o", "ei")
        )
        rows.append(np.divide(ours, theirs))
    return geometric_interval(np.moveaxis(np.array(rows), -1, 0))


def _bandits(
    config: BanditsConfig, arms: int, rewards: str = "uniform", seeds: int | None = None
) -> list[Bandit]:
    """Return the random bandits of a setting, the same at every call."""
    count = config.seeds if seeds is None else seeds
    key = list(REWARDS).index(rewards)
    return [
        draw_bandit(arms, np.random.default_rng([config.seed, key, arms, r]), rewards)
        for r in range(count)
    ]


def run(config: BanditsConfig, out_dir: Path | str) -> Path:
    """Run the study; write bandits.json and return its path."""
    curves = {"estimation_error": estimation_error(config)} | {
        name: relative_variances(config, settings(config), names)
        for name, (settings, names) in VARIANCES.items()
    }
    maps = {rewards: leave_two_out_map(config, rewards) for rewards in REWARDS}
    training = adam_proxy.study(config.adam_seeds, config.adam_steps, config.seed)
    return write_numbers(
        Path(out_dir) / "bandits.json",
        config,
        curves={
            study: {name: interval.as_lists() for name, interval in found.items()}
            for study, found in curves.items()
        },
        leave_two_out_over_ei={name: found.as_lists() for name, found in maps.items()},
        adam=adam_proxy.as_numbers(training),
    )


def draw_curves(found: Numbers) -> Figure:
    """Draw the estimation error, and the variance against A, K and N."""
    config = BanditsConfig(**found["config"])
    figure, axes = axes_grid(2, 2, 10.0, 7.8)
    usual = f"A = {config.arms}, N = {config.num_samples}, K = {config.set_size}"
    panels = (
        ("estimation_error", config.checkpoints, "batches averaged", f"Estimation error, {usual}"),
        ("variance_by_arms", config.arms_grid, "arms A", "Variance against the number of arms"),
        ("variance_by_set_size", range(1, config.num_samples), "set size K", "Variance against K"),
        ("variance_by_samples", config.samples_grid, "samples N", "Variance against N"),
    )
    for ax, (study, grid, label, name) in zip(axes, panels, strict=True):
        _curves(ax, np.array(list(grid)), found["curves"][study], ticks=study != "estimation_error")
        title(ax, name, label)
    axes[0].set_ylabel("‖mean gradient − ∇J‖ / ‖∇J‖")
    for ax in axes[1:]:
        ax.set_ylabel("variance of a batch / ‖∇J‖²")
    axes[2].set_xscale("linear")
    legend_below(figure, axes)
    return figure


def _curves(ax: Axes, grid: np.ndarray, found: Numbers, ticks: bool) -> None:
    for name, record in found.items():
        draw_interval(ax, grid, Interval.read(record), name, ESTIMATORS[name].label)
    ax.set(xscale="log", yscale="log")
    if ticks:
        ax.xaxis.set_major_locator(FixedLocator(grid.tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(ScalarFormatter())


def draw_maps(found: Numbers) -> Figure:
    """Draw where leave-two-out lowers the variance of EI and where it raises it."""
    config, maps = BanditsConfig(**found["config"]), found["leave_two_out_over_ei"]
    figure, axes = axes_grid(1, len(maps), 11.5, 4.3)
    for ax, (rewards, record) in zip(axes, maps.items(), strict=True):
        ax.grid(False)
        ratios = Interval.read(record)
        image = ax.pcolormesh(np.log2(ratios.mean), cmap="RdBu_r", vmin=-2, vmax=2)
        ax.invert_yaxis()
        _cells(ax, ratios)
        ax.set_xticks(np.arange(len(config.map_sizes)) + 0.5, [str(k) for k in config.map_sizes])
        ax.set_yticks(np.arange(len(config.map_arms)) + 0.5, [str(a) for a in config.map_arms])
        title(ax, REWARD_NAMES[rewards], f"set size K (N = {config.map_samples})")
    axes[0].set_ylabel("arms A")
    bar = figure.colorbar(image, ax=axes, shrink=0.9, ticks=[-2, -1, 0, 1, 2])
    bar.ax.set_yticklabels(["¼", "½", "1", "2", "4"])
    bar.set_label("variance of EI + leave-two-out / variance of EI")
    figure.suptitle(
        "Leave-two-out helps in blue cells and hurts in red ones "
        "(in brackets: the interval over bandits holds 1)",
        x=0.01,
        ha="left",
        fontsize=11,
    )
    return figure


def _cells(ax: Axes, found: Interval) -> None:
    for (row, column), ratio in np.ndenumerate(found.mean):
        unsure = found.low[row, column] <= 1 <= found.high[row, column]
        text = f"({ratio:.2f})" if unsure else f"{ratio:.2f}"
        dark = abs(np.log2(ratio)) > 1.3
        colour = ON_DARK if dark else ON_LIGHT
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, color=colour)


def draw_training(found: Numbers) -> Figure:
    """Draw the variance proxy and the value during training."""
    figure, axes = axes_grid(1, 2, 10.5, 4.4)
    for name, training in found["adam"].items():
        for ax, quantity in zip(axes, ("proxy", "value"), strict=True):
            interval = Interval.read(training[quantity])
            steps = WINDOW * np.arange(1, len(interval.mean) + 1)
            draw_interval(ax, steps, interval, name, ESTIMATORS[name].label)
    axes[0].set(yscale="log", ylabel="Σ (v̂ − m̂²) of Adam's moments")
    axes[1].set_ylabel("E max of K draws, mean over prompts")
    title(axes[0], "Adam-moment variance proxy", "updates")
    title(axes[1], "What was trained for", "updates")
    legend_below(figure, axes)
    return figure
