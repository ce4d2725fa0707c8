"""Choose the learning rate of all arms by the rule of PLAN.md, from the runs of the sweep.

python -m recipes.smollm2.rate RUN…
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from setrl.support import files

NEAR = 0.02  # of pass@1: rates that differ by less for all arms are as good


def chosen(found: Mapping[float, Mapping[str, float]]) -> float:
    """Return the largest rate that is not below the base; of two as good, the smaller one.

    Args:
        found: Rate → arm → pass@1; `base` is an arm.

    Raises:
        SystemExit: If every rate makes an arm worse than the base.
    """
    fit = [rate for rate, arms in sorted(found.items()) if min(arms.values()) >= arms["base"]]
    if not fit:
        raise SystemExit("every learning rate makes an arm worse than the base: see PLAN.md")
    best = fit.pop()
    while fit and all(abs(found[best][arm] - found[fit[-1]][arm]) < NEAR for arm in found[best]):
        best = fit.pop()
    return best


def of_run(run: Path) -> tuple[float, dict[str, float]]:
    """Return the rate of a run, and arm → pass@1."""
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    [split] = files.read_json(run / "summary.json")["splits"].values()
    arms = {arm: one["metrics"]["pass@1"]["value"] for arm, one in split["arms"].items()}
    return float(config["learning_rate"]), arms


if __name__ == "__main__":
    print(chosen(dict(of_run(Path(name)) for name in sys.argv[1:])))
