"""`python -m studies bandits`: how good estimators of the max@K gradient are.

A reconstruction of the bandit study of MaxPO (arXiv:2606.06080, §5.1), whose settings are not
public: rewards of the arms uniform in [0, 1], logits N(0, 1), B = 8 samples and K = 4 unless they
vary. Measured against the exact gradient.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from studies.bandit import (
    ESTIMATORS,
    REWARDS,
    Bandit,
    draw_bandit,
    max_gradient,
    relative_variance,
    running_means,
)
from studies.summaries import Interval, geometric_interval

SCHEMA_VERSION = 1
COMPARED = ("raw", "s_loo", "l2o", "ei", "mixture")
WITH_SAMPLED = (*COMPARED, "sampled", "regression")


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

    def __post_init__(self) -> None:
        if self.seeds < 2 or self.map_seeds < 2 or self.adam_seeds < 2:
            raise ValueError("intervals need at least 2 seeds, map_seeds and adam_seeds")
        if not 1 <= self.set_size < min(self.num_samples, *self.samples_grid):
            raise ValueError(
                f"set_size must be in [1, {min(self.num_samples, *self.samples_grid) - 1}], below "
                f"every number of samples, got {self.set_size}"
            )
        if max(self.map_sizes) >= self.map_samples:
            raise ValueError(
                f"map_sizes must lie below map_samples={self.map_samples}, got {self.map_sizes}"
            )


Curves = dict[str, Interval]  # estimator → its values over the grid of a study


def estimation_error(config: BanditsConfig) -> Curves:
    """‖mean gradient − ∇J‖/‖∇J‖ over growing numbers of batches; of the biased estimator after the
    best scaling, so that what is left is its direction.
    """
    checkpoints = list(config.checkpoints)

    def of_bandit(bandit: Bandit, name: str, seed: int) -> list[float]:
        truth_A = max_gradient(bandit, config.set_size)
        means_CA = running_means(
            bandit,
            ESTIMATORS[name],
            config.set_size,
            config.num_samples,
            checkpoints,
            np.random.default_rng(seed),
        )
        if ESTIMATORS[name].biased:
            means_CA *= ((means_CA @ truth_A) / (means_CA**2).sum(axis=1))[:, None]
        return (np.linalg.norm(means_CA - truth_A, axis=1) / np.linalg.norm(truth_A)).tolist()

    bandits = _bandits(config, config.arms)
    names = (*COMPARED, "standardised")
    return {
        name: geometric_interval([of_bandit(b, name, r) for r, b in enumerate(bandits)])
        for name in names
    }


def variance_by_arms(config: BanditsConfig) -> Curves:
    """Variance against the number of arms."""
    settings = [(arms, config.set_size, config.num_samples) for arms in config.arms_grid]
    return _variances(config, settings, COMPARED)


def variance_by_set_size(config: BanditsConfig) -> Curves:
    """Variance against K = 1…N−1."""
    sizes = range(1, config.num_samples)
    return _variances(config, [(config.arms, k, config.num_samples) for k in sizes], COMPARED)


def variance_by_samples(config: BanditsConfig) -> Curves:
    """Variance against N."""
    settings = [(config.arms, config.set_size, n) for n in config.samples_grid]
    return _variances(config, settings, WITH_SAMPLED)


def leave_two_out_map(config: BanditsConfig, rewards: str) -> Interval:
    """Variance with leave-two-out over that of EI, for every (A, K) of the maps: (A, K) arrays."""
    rows = []
    for arms in config.map_arms:
        bandits = _bandits(config, arms, rewards, config.map_seeds)
        rows.append([_ratios(config, bandits, size) for size in config.map_sizes])
    return geometric_interval(np.moveaxis(np.array(rows), -1, 0))


def _ratios(config: BanditsConfig, bandits: Sequence[Bandit], set_size: int) -> list[float]:
    ratios = []
    for seed, bandit in enumerate(bandits):
        found = [
            relative_variance(
                bandit,
                ESTIMATORS[name],
                set_size,
                config.map_samples,
                config.batches // 4,
                np.random.default_rng(seed),
            )
            for name in ("l2o", "ei")
        ]
        ratios.append(found[0] / found[1])
    return ratios


def _variances(
    config: BanditsConfig, settings: Sequence[tuple[int, int, int]], names: Sequence[str]
) -> Curves:
    """The relative variance in each setting (A, K, N); all estimators see the same batches."""

    def one(name: str, setting: tuple[int, int, int], bandit: Bandit, seed: int) -> float:
        _, set_size, num_samples = setting
        rng = np.random.default_rng(seed)
        return relative_variance(
            bandit, ESTIMATORS[name], set_size, num_samples, config.batches, rng
        )

    bandits = {arms: _bandits(config, arms) for arms, _, _ in settings}
    return {
        name: geometric_interval(
            [
                [one(name, setting, bandits[setting[0]][r], r) for setting in settings]
                for r in range(config.seeds)
            ]
        )
        for name in names
    }


def _bandits(
    config: BanditsConfig, arms: int, rewards: str = "uniform", seeds: int | None = None
) -> list[Bandit]:
    """The random bandits of a setting, the same ones whenever they are asked for."""
    count = config.seeds if seeds is None else seeds
    key = list(REWARDS).index(rewards)
    return [
        draw_bandit(arms, np.random.default_rng([config.seed, key, arms, r]), rewards)
        for r in range(count)
    ]


STUDIES: dict[str, Callable[[BanditsConfig], Curves]] = {
    "estimation_error": estimation_error,
    "variance_by_arms": variance_by_arms,
    "variance_by_set_size": variance_by_set_size,
    "variance_by_samples": variance_by_samples,
}


def run(config: BanditsConfig, out_dir: Path | str) -> Path:
    """Run the study; write bandits.json, bandits.png, bandits_l2o.png and bandits_adam.png.

    Returns:
        The path of bandits.json.
    """
    from studies import adam_proxy, bandit_figures

    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    curves = {name: study(config) for name, study in STUDIES.items()}
    maps = {rewards: leave_two_out_map(config, rewards) for rewards in REWARDS}
    training = adam_proxy.study(config.adam_seeds, config.adam_steps, config.seed)
    numbers = {
        "schema_version": SCHEMA_VERSION,
        "config": asdict(config),
        "curves": {
            study: {name: interval.as_lists() for name, interval in found.items()}
            for study, found in curves.items()
        },
        "leave_two_out_over_ei": {name: found.as_lists() for name, found in maps.items()},
        "adam": adam_proxy.as_numbers(training),
    }
    path = out / "bandits.json"
    path.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    bandit_figures.draw_curves(config, curves, out / "bandits.png")
    bandit_figures.draw_maps(config, maps, out / "bandits_l2o.png")
    bandit_figures.draw_training(training, out / "bandits_adam.png")
    return path
