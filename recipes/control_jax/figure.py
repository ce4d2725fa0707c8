"""Draw the effective number of 60 goals against N and K, with what the invasion criterion allows.

python recipes/control_jax/figure.py SCALING.json FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from setrl.show.report.style import BLUE, GREY, VERMILION
from setrl.theory.survival import critical_success

GOALS = 60  # of 64: the corners lie behind other goals
SIZES = {4: VERMILION, 16: GREY, 64: BLUE, 256: "black"}


def main(scaling: Path, folder: Path) -> None:
    """Draw scaling.png."""
    arms = json.loads(scaling.read_text())["arms"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for size, colour in SIZES.items():
        rows = measured(arms, size)
        if rows:
            xs, means, errors = zip(*rows, strict=True)
            left.errorbar(xs, means, errors, marker="o", color=colour, label=f"K = {size}")
        counts = np.arange(2, GOALS, 2)
        edges = [needed(count, size) for count in counts]
        right.plot(counts, np.maximum(edges, 0.0), color=colour, label=f"K = {size}")
    left.set_xscale("log", base=2)
    left.set_ylim(0, GOALS + 2)
    left.axhline(GOALS, color=GREY, linewidth=0.8)
    left.set_xlabel("N, vines from the first state")
    left.set_title("effective goals of 60, 3 seeds")
    right.set_xlabel("goals that the policy reaches already")
    right.set_title("success from which one more goal is worth a visit")
    left.legend(frameon=False)
    right.legend(frameon=False)
    figure.savefig(folder / "scaling.png", dpi=150)


def measured(arms: dict[str, Any], size: int) -> list[tuple[int, float, float]]:
    """Return N, mean and standard error of the effective goals, for one K."""
    found = []
    for name, arm in arms.items():
        match = re.fullmatch(rf"n(\d+)_k{size}", name)
        if match:
            one = arm["effective_goals"]
            found.append((int(match[1]), one["mean"], one["stderr"]))
    return sorted(found)


def needed(count: int, size: int) -> float:
    """s_crit of `count` goals that are equally probable and always reached."""
    return float(critical_success(np.full(count, 1 / count), np.ones(count), size))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
