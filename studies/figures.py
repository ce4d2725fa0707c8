"""What draws each picture of docs/results from the committed numbers.

`make docs` draws those that a page names (`website.pictures`).
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from setrl.show.report.drawing import Chart
from setrl.show.report.style import BLACK, DARK, LIGHT
from setrl.support import files
from studies import (
    bandits,
    biased_maze,
    coverage_law,
    credit_direction,
    dynamics,
    front,
    published,
    rare_strategies,
    recorded,
    refinement,
    rollout_trees,
    theory_figures,
)
from studies.summaries import Numbers

RESULTS = Path(__file__).parents[1] / "docs" / "results"


@dataclass(frozen=True)
class Picture:
    """A picture that has no file.

    Attributes:
        draw: Draws it.
        numbers: The files of docs/results that it reads.
    """

    draw: Callable[[], Figure]
    numbers: tuple[str, ...] = ()

    def svg(self) -> str:
        """Return it as an SVG that is the same each time, and follows light and dark colours."""
        with mpl.rc_context(DRAWN):
            buffer = io.StringIO()
            self.draw().savefig(buffer, format="svg", metadata={"Date": None, "Creator": "setrl"})
        return themed(buffer.getvalue()).replace("<svg ", f"<!-- {self.digest()} -->\n<svg ", 1)

    def digest(self) -> str:
        """Return a digest of the numbers."""
        found = hashlib.sha256()
        for name in self.numbers:
            found.update((RESULTS / name).read_bytes())
        return found.hexdigest()


FONT = "DejaVu Sans, Verdana, sans-serif"  # the layout's, one as wide, and what is there
DRAWN: Any = {  # matplotlib has its own type for these keys
    "svg.hashsalt": "setrl",
    "svg.fonttype": "none",  # text stays text: small, and can be found
    "text.color": LIGHT.ink,
    "axes.labelcolor": LIGHT.ink,
    "xtick.color": LIGHT.ink,
    "ytick.color": LIGHT.ink,
}
FAMILIES = re.compile(r"'DejaVu Sans'(, [^;\"]*)?(?=[;\"])")
ROLES = ("paper", "ink", "muted", "grid")  # of a theme's colours


def themed(svg: str) -> str:
    """Return an SVG of the light theme that takes the dark one's colours where a reader has it.

    White and black are the paper and the ink: what keeps its colour in the dark has another one.
    Matplotlib leaves out a fill that is black.
    """
    named = {getattr(LIGHT, role): f"var(--{role})" for role in ROLES}
    named[BLACK] = "var(--ink)"
    svg = re.sub("|".join(named), lambda found: named[found[0]], FAMILIES.sub(FONT, svg))
    colours = [
        " ".join(f"--{role}: {getattr(theme, role)};" for role in ROLES) for theme in (LIGHT, DARK)
    ]
    light, dark = (f":root {{ {those} }}" for those in colours)
    rules = f"svg {{ fill: var(--ink) }} {light} @media (prefers-color-scheme: dark) {{ {dark} }}"
    return svg.replace('<style type="text/css">', f'<style type="text/css">{rules} ', 1)


def _of(draw: Callable[[Numbers], Figure], numbers: str, also: Sequence[str] = ()) -> Picture:
    """Return a picture of what a JSON file holds; `also` names others that drawing it reads."""
    return Picture(lambda: draw(files.read_json(RESULTS / numbers)), (numbers, *also))


LAW = tuple(f"{run}/summary.json" for run in coverage_law.CoverageLawConfig().runs)
FRONT = tuple(f"front/{kind}{name}.json" for name in front.FINALS for kind in ("", "ceiling_"))
PICTURES: dict[str, Picture] = {
    "bandits": _of(bandits.draw_curves, "bandits.json"),
    "bandits_l2o": _of(bandits.draw_maps, "bandits.json"),
    "bandits_adam": _of(bandits.draw_training, "bandits.json"),
    "biased_maze": _of(biased_maze.draw_learning, "biased_maze.json"),
    "biased_maze_decoys": _of(biased_maze.draw_decoys, "biased_maze.json"),
    "coverage_law": _of(coverage_law.draw, "coverage_law.json", also=LAW),
    "dynamics": Picture(dynamics.both_rows),
    "rare_strategies": _of(rare_strategies.draw_paths, "rare_strategies.json"),
    "refinement": _of(refinement.draw, "refinement.json"),
    "rollout_trees": _of(rollout_trees.draw, "rollout_trees.json"),
    "control_sizes/sizes": _of(recorded.sizes, "control_sizes/summary.json"),
    "control_jax/scaling": _of(recorded.scaling, "control_jax/scaling.json"),
    "judge_faults/faults": _of(recorded.faults, "judge_faults/counts.json"),
    "front/front": Picture(front.in_short, tuple(f"front/{name}.json" for name in front.FINALS)),
    "front/finalists": Picture(front.finals, FRONT),
    "front/credit_direction": _of(credit_direction.figure, "front/credit_direction.json"),
    **{f"theory/{name}": Picture(draw) for name, draw in theory_figures.FIGURES.items()},
}
"""Address below docs/results, without ending → picture. Published runs have further pictures."""
COMMITTED = ("front/front", "front/credit_direction")  # GitHub shows docs/front.md, too


def picture(name: str) -> Picture | None:
    """Return a picture by its address below docs/results; None if nothing draws it."""
    folder, _, chart = name.rpartition("/")
    if name in PICTURES or chart not in _charts(folder):
        return PICTURES.get(name)
    return Picture(
        lambda: _charts(folder)[chart].draw(LIGHT),
        tuple(f"{folder}/{one}" for one in published.NUMBERS),
    )


@cache
def _charts(folder: str) -> dict[str, Chart]:
    return {chart.name: chart for chart in published.charts(RESULTS / folder)}
