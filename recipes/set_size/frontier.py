"""Draw accuracy against diversity over K and N, from the runs of config.yaml, n8.yaml and n32.yaml.

python recipes/set_size/frontier.py runs/set_size_n8 runs/set_size_n16 runs/set_size_n32
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import yaml
from matplotlib.axes import Axes

from setrl.evaluate.looks import SPARE, label
from setrl.show.report.style import BLUE, GREEN, GREY, VERMILION
from setrl.support import files

ACROSS, UP = "correct_strategies@32", "pass@1"
HUES = (VERMILION, BLUE, GREEN)
TITLES = {"test": "test split", "shifted": "shifted split: favourites forbidden"}


def main(runs: list[Path], output: Path) -> None:
    """Draw one panel a split, one line an N."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.6), dpi=150)
    for panel, split in zip(panels, TITLES, strict=True):
        for run, hue in zip(runs, HUES, strict=False):
            draw_run(panel, run, split, hue)
        panel.set(title=TITLES[split], xlabel="right strategies in 32 samples", ylabel="pass@1, %")
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(output)


def draw_run(panel: Axes, run: Path, split: str, hue: str) -> None:
    """Draw sets of one size as a line over K; mixed or changing sizes as single points."""
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    n = config["samples_per_prompt"]
    arms = files.read_json(run / "summary.json")["splits"][split]["arms"]
    line = sorted((int(arm.rpartition("_k")[2]), arm) for arm in arms if re.search(r"_k\d+$", arm))
    points = [point(arms[arm]["metrics"]) for _, arm in line]
    panel.plot(*zip(*points, strict=True), "o-", color=hue, label=f"Poly-EPO, N = {n}, by K")
    for (k, _), at in zip(line, points, strict=True):
        panel.annotate(f"K={k}", at, xytext=(5, 4), textcoords="offset points", fontsize=7)
    others = [arm for arm in arms if arm not in dict(map(reversed, line))]
    spare = iter([HUES[name] for name in SPARE] * 2)
    for arm in (arm for arm in others if arm.startswith("poly_epo")):
        at = point(arms[arm]["metrics"])
        panel.plot(*at, "D", ms=5, color=next(spare), label=f"{label(arm)}, N = {n}")
    for arm, mark in (("base", "X"), ("grpo", "s")):
        if arm in arms and arm in others and "grpo" in arms:
            at = point(arms[arm]["metrics"])
            panel.plot(*at, mark, color=GREY, ms=7)
            panel.annotate(label(arm), at, xytext=(6, -3), textcoords="offset points", fontsize=8)


def point(metrics: dict[str, Any]) -> tuple[float, float]:
    """Return where an arm stands: mean over problems and seeds."""
    return metrics[ACROSS]["value"], 100 * metrics[UP]["value"]


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]], Path("docs/results/set_size/frontier_by_n.png"))
