"""`python -m studies.late RUN FILE`: strategies that a run finds late, or that are rare and grow.

From the recorded samples of the steps: a right strategy is *late* if it is first seen after half of
the steps, and it *grows* if it makes less than a share `RARE` of the samples in the first tenth of
the records and at least `LARGE` in the last tenth.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import tyro

from setrl.logs.run import BASE, Run, Seed
from setrl.support import files

RARE, LARGE = 0.001, 0.01  # shares of all samples


def right_strategies(path: Path) -> Counter[str]:
    """Return how often each strategy is right in one record of samples."""
    found: Counter[str] = Counter()
    for group in files.read_lines(path):
        for sample in group["samples"]:
            found[""] += 1  # all samples
            if sample["reward"] > 0.5 and sample["strategy"]:
                found[sample["strategy"]] += 1
    return found


def late_and_growing(by_step: dict[int, Counter[str]]) -> dict[str, Any]:
    """Return what a training run finds late, and what grows.

    Args:
        by_step: Step → `right_strategies` of its record, in order.
    """
    steps = list(by_step)
    early = {name for step in steps if 2 * step <= steps[-1] for name in by_step[step]}
    tenth = max(1, len(steps) // 10)
    first, last = (_shares(by_step, part) for part in (steps[:tenth], steps[-tenth:]))
    return {
        "late": sorted({name for found in by_step.values() for name in found} - early),
        "late_share_at_the_end": sum(share for name, share in last.items() if name not in early),
        "growing": sorted(
            n for n, share in last.items() if share >= LARGE > RARE > first.get(n, 0)
        ),
    }


def _shares(by_step: dict[int, Counter[str]], steps: list[int]) -> dict[str, float]:
    total = sum((by_step[step] for step in steps), Counter[str]())
    return {name: count / total[""] for name, count in total.items() if name}


def run(run_dir: Path, path: Path) -> Path:
    """Write arm → seed → what is found late and what grows.

    Args:
        run_dir: Its folder.
        path: The JSON file to write.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, arm in Run(run_dir).arms.items():
        if name != BASE:
            found[name] = {
                str(number): late_and_growing(_records(seed)) for number, seed in arm.seeds.items()
            }
    files.write_json(path, {"schema_version": 1, "run": run_dir.name, "arms": found})
    return path


def _records(seed: Seed) -> dict[int, Counter[str]]:
    return {step: right_strategies(file) for step, file in seed.rollouts.items()}


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
