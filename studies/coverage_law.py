"""`python -m studies coverage_law`: does pass@k grow with k by a law, for the base and for arms?

    pass@k ≈ exp(−a·kᵇ),   a > 0, b < 0

Large Language Monkeys (arXiv:2407.21787) fits this law to models that it does not train. Here it is
fitted to models before and after training, from the committed summaries. −b says what more samples
are worth: a hundred times more samples divide −log pass@k by 100⁻ᵇ. A forecast takes only the
small k, and is compared with the measured pass@k at the largest k.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import curve_fit

from setrl.show.report.style import BLACK, BLUE, GREEN, ORANGE, axes_grid
from setrl.support import files
from studies.summaries import Numbers, legend_below, title, write_numbers

LOOKS = {
    "base": ("base", BLACK, "s"),
    "grpo": ("GRPO", BLUE, "o"),
    "maxpo": ("MaxPO, K = 4", ORANGE, "^"),
    "poly_epo": ("Poly-EPO, K = 4", GREEN, "D"),
}


@dataclass(frozen=True)
class CoverageLawConfig:
    """What is fitted.

    Attributes:
        runs: Folders of docs/results.
        results: Where they are.
        split: The split of their evaluations.
        largest: The largest k of the forecast's samples.
        certain: A curve that starts above it has no shape left to fit.
    """

    runs: tuple[str, ...] = (
        "polynomial", "multiplication", "quadratic", "polynomial_longer", "quadratic_longer",
    )  # fmt: skip
    results: str = "docs/results"
    split: str = "shifted"
    largest: int = 8
    certain: float = 0.9


@dataclass(frozen=True, eq=False)
class Law:
    """exp(−a·kᵇ).

    Attributes:
        a: −log pass@1.
        b: The exponent, < 0 where more samples help.
    """

    a: float
    b: float

    def __call__(self, k_M: np.ndarray) -> np.ndarray:
        """Return pass@k at each k."""
        return np.exp(-self.a * np.asarray(k_M, dtype=float) ** self.b)


def fit(k_M: np.ndarray, coverage_M: np.ndarray) -> Law:
    """Return the law with the least squared error in pass@k; it needs two different k.

    >>> law = fit(np.array([1, 4, 16]), Law(a=2.0, b=-0.5)(np.array([1, 4, 16])))
    >>> round(law.a, 6), round(law.b, 6)
    (2.0, -0.5)
    """
    start = (-np.log(np.clip(coverage_M[0], 1e-9, 1 - 1e-9)), -0.5)
    (log_a, b), _ = curve_fit(
        lambda k, log_a, b: np.exp(-np.exp(log_a + b * np.log(k))),
        k_M.astype(float),
        coverage_M,
        p0=(np.log(start[0]), start[1]),
        maxfev=10_000,
    )
    return Law(float(np.exp(log_a)), float(b))


def curves(config: CoverageLawConfig, run: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return arm → (k, pass@k) of a run, for the base and the arms of the three papers."""
    arms = files.read_json(Path(config.results, run, "summary.json"))["splits"][config.split][
        "arms"
    ]
    found = {}
    for arm in (one for one in LOOKS if one in arms):
        metrics = arms[arm]["metrics"]
        k_M = np.array(sorted(int(one.split("@")[1]) for one in metrics if one[:5] == "pass@"))
        found[arm] = (k_M, np.array([metrics[f"pass@{k}"]["value"] for k in k_M]))
    return found


def measure(k_M: np.ndarray, coverage_M: np.ndarray, config: CoverageLawConfig) -> dict[str, Any]:
    """Return the law of all k, its worst error, and the error of the forecast; none if certain."""
    if coverage_M[0] > config.certain:
        return {"pass@1": round(float(coverage_M[0]), 4)}
    few_M = k_M <= config.largest
    law, forecast = fit(k_M, coverage_M), fit(k_M[few_M], coverage_M[few_M])
    last = f"forecast_error@{k_M[-1]}"
    numbers = {
        "pass@1": coverage_M[0],
        "a": law.a,
        "b": law.b,
        "worst_error": np.abs(law(k_M) - coverage_M).max(),
        "forecast_b": forecast.b,
        last: forecast(k_M[-1:])[0] - coverage_M[-1],
    }
    return {name: round(float(value), 4) for name, value in numbers.items()}


def run(config: CoverageLawConfig, out_dir: Path | str) -> Path:
    """Run the study; write coverage_law.json and return its path."""
    fits = {
        name: {arm: measure(*curve, config) for arm, curve in curves(config, name).items()}
        for name in config.runs
    }
    return write_numbers(Path(out_dir) / "coverage_law.json", config, fits=fits)


def draw(found: Numbers) -> Figure:
    """Draw −log pass@k over k on logarithmic axes, where the law is a straight line."""
    config, fits = CoverageLawConfig(**found["config"]), found["fits"]
    names = [name for name in config.runs if not name.endswith("_longer")]
    figure, axes = axes_grid(1, len(names), 12.0, 4.2)
    for ax, name in zip(axes, names, strict=True):
        for arm, (k_M, coverage_M) in curves(config, name).items():
            label, colour, marker = LOOKS[arm]
            seen = coverage_M < 0.999  # −log of the others is noise
            ax.plot(
                k_M[seen], -np.log(coverage_M[seen]), marker, color=colour, label=label,
                markersize=5, linestyle="none",
            )  # fmt: skip
            if "b" in fits[name][arm]:
                law = Law(fits[name][arm]["a"], fits[name][arm]["b"])
                ax.plot(k_M[seen], -np.log(law(k_M[seen])), color=colour, linewidth=1.2)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        title(ax, f"−log pass@k, {name}, {config.split}", "k")
    legend_below(figure, axes)
    return figure
