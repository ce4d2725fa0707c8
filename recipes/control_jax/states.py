"""Where vines should go: what the states of each rule teach, for a trained policy.

python recipes/control_jax/states.py RUN [ARM] [SEED]

For each rule: the share of states whose vines all have the same score, so that scores teach nothing
there; the different strategies among a state's vines; the size of the set advantages; and the
environment steps of a family.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from setrl.control.checkpoints import POLICY
from setrl.control.jax import families
from setrl.control.jax.advantages import vine_advantages
from setrl.control.jax.arm import load_policy, use_one_thread
from setrl.control.jax.poly_ppo import JaxPolyPPO
from setrl.control.resolved import ResolvedControl
from setrl.logs.run import Run

FAMILIES, KEY = 64, 7
RULES: dict[str, dict[str, Any]] = {
    "inner, p = 2 (the paper's)": {},
    "equal, p = 2": {"where": "equal"},
    "first state only, p = 1": {"where": "equal", "num_states": 1},
    "uniform, p = 2": {"where": "uniform"},
    "inner, four vines": {"num_vines": 4, "set": 2},
}
COLUMNS = ("all_equal", "distinct", "advantage_size", "score")


def main(folder: Path, arm: str = "ppo", seed: int = 0) -> None:
    """Print a table of the rules."""
    use_one_thread()
    resolved = ResolvedControl.load(folder / "config.yaml")
    model = resolved.arms["poly"].model
    like = model.init(jax.random.key(0)).params
    params = load_policy(Run(folder).seed(arm, seed).final / POLICY, like)
    print("| states | all equal | strategies | size of advantages | score | steps of a family |")
    print("|---|---|---|---|---|---|")
    for name, changes in RULES.items():
        found = measured(model, params, dict(changes))
        cells = [f"{found[column]:.3f}" for column in COLUMNS]
        print("|", " | ".join([name, *cells, f"{found['steps']:.0f}"]), "|", flush=True)


def measured(model: JaxPolyPPO, params: Any, changes: dict[str, Any]) -> dict[str, float]:
    """Sample families by one rule; return what they teach."""
    size = changes.pop("set", model.method.set_size)
    method, vines = replace(model.method, set_size=size), replace(model.vines, **changes)
    own = replace(model, method=method, vines=vines)

    def sample(params: Any, key: jax.Array) -> Any:
        sampled = families.sample_families(own.task, own.policy, params, vines, FAMILIES, key)
        advantages = vine_advantages(method, vines, sampled.columns, sampled.actions_BN, key)
        steps = sampled.vines.steps.alive.sum() + sampled.trunks.steps.alive.sum()
        return families.metrics_of_families(sampled, advantages), steps

    metrics, steps = jax.jit(sample)(params, jax.random.key(KEY))
    found = {name.removeprefix("vines/"): float(value) for name, value in metrics.items()}
    return {**found, "steps": float(np.asarray(steps)) / FAMILIES}


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3], *map(int, sys.argv[3:4]))
