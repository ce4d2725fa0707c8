"""Train all seeds of each arm with one compilation: small tasks, many seeds, one core.

python recipes/control_jax/seeds.py CONFIG OUT.json [KEY=VALUE …]

`setrl control` gives each seed a process, checkpoints and a report, and compiles for each seed. A
task that trains in seconds spends most of its time there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from setrl.control.arm import EVALUATION
from setrl.control.jax.arm import use_one_thread
from setrl.control.resolved import ResolvedControl


def main(config: Path, out: Path, *overrides: str) -> None:
    """Write {arm: {metric: {mean, stderr, seeds}}}, after each arm."""
    use_one_thread()
    resolved = ResolvedControl.load(config, overrides)
    found: dict[str, Any] = {"config": config.name, "set": list(overrides)}
    found |= {"steps": resolved.steps, "arms": {}}
    for arm in resolved.arms:
        begun = time.perf_counter()
        rows = train(resolved, arm)
        found["arms"][arm] = {name: summary([row[name] for row in rows]) for name in rows[0]}
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        shown = {
            name: f"{one['mean']:.3f} ± {one['stderr']:.3f}"
            for name, one in found["arms"][arm].items()
        }
        print(arm, f"{time.perf_counter() - begun:.0f} s", shown, flush=True)


def train(resolved: ResolvedControl, arm: str) -> list[dict[str, float]]:
    """Train the seeds of an arm, one after the other; return the metrics of each."""
    model, rows = resolved.arms[arm].model, []
    update = jax.jit(model.update)
    for seed in resolved.config.seeds:
        training = model.init(jax.random.key(seed))
        while int(training.steps) < resolved.steps:
            training, _ = update(training)
        rng = np.random.default_rng([EVALUATION, seed, 0])
        metrics = model.task.evaluate(model.player(training.params), rng)
        rows.append({**metrics, "steps": int(training.steps), "resets": int(training.resets)})
    return rows


def summary(values: list[float]) -> dict[str, Any]:
    """Return mean, standard error and values of a metric over seeds."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return {"mean": float(np.mean(values)), "stderr": float(error), "seeds": values}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
