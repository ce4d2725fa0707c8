"""How set size and window move diversity: a figure from a published summary.json.

python recipes/control_sizes/figure.py SUMMARY.json FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from setrl.show.report.style import BLUE, GREY

METRICS = {
    "effective_goals": "effective goals (of 5)",
    "success": "success",
    "path_length": "path length (steps)",
}
WHOLE = 60  # where whole vines stand on the axis of windows


def main(summary: Path, folder: Path) -> None:
    """Draw sizes.png: a column for each metric, K above and W below."""
    arms = json.loads(summary.read_text())["arms"]
    figure, axes = plt.subplots(2, len(METRICS), figsize=(10.5, 5.6), layout="constrained")
    for column, (metric, name) in enumerate(METRICS.items()):
        draw(axes[0, column], arms, metric, "k", "K, set size (N = 32, W = 5)")
        draw(axes[1, column], arms, metric, "w", "W, window (N = 8, K = 4)")
        axes[0, column].set_title(name)
    figure.savefig(folder / "sizes.png", dpi=150)


def draw(ax: Axes, arms: dict[str, Any], metric: str, letter: str, label: str) -> None:
    """Draw mean and standard error over seeds, and each seed, against K or W."""
    found = sorted((place(name), arm[metric]) for name, arm in arms.items() if name[0] == letter)
    xs = [x for x, _ in found]
    means, errors = ([one[key] for _, one in found] for key in ("mean", "stderr"))
    ax.errorbar(xs, means, yerr=errors, marker="o", color=BLUE, capsize=2)
    for x, one in found:
        ax.plot([x] * len(one["seeds"]), list(one["seeds"].values()), ".", color=GREY)
    ax.set_xscale("symlog" if letter == "w" else "log", base=2)
    ax.set_xticks(xs, ["whole" if letter == "w" and x == WHOLE else str(x) for x in xs])
    ax.minorticks_off()
    ax.set_xlabel(label)


def place(arm: str) -> int:
    """Return the place on the axis: k8 → 8, w_whole → where whole vines stand."""
    return WHOLE if arm == "w_whole" else int(arm[1:])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
