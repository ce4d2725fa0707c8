"""How far credit is from the credit of very many vines: of 8 and 16 vines, and of the set critic.

    python -m studies.set_critic.credit_error RUN ARM OUT.json --trunks 8 --vines 256

From states of new trunks of the arm's trained policy, many vines are sampled. The credit of each
vine among all of them stands for the exact one, A. The same vines are credited in groups of 8 and
of 16, and against outcomes that the arm's set critic draws. All credit is u − v, so that all
estimate the same A♯. Two rows show where the critic's error comes from: "perfect_critic" draws from
the outcomes of the state's many vines, and "pooled_critic" from the mean over all states, as a
critic would that cannot tell states apart.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from setrl.control.resolved import ResolvedControl
from setrl.control.sb3 import checkpoints
from setrl.control.sb3.arm import environments
from setrl.control.sb3.families import Family, FamilySampler
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.core.advantages import Method
from setrl.logs.run import Run
from studies.set_critic import outcomes as set_critic
from studies.set_critic.learned import joined_steps, steps_of


def main() -> None:
    """Print the table of one arm, mean over its seeds, and write it with each seed's numbers."""
    options = argparse.ArgumentParser(description=__doc__)
    for name in ("run", "arm", "out"):
        options.add_argument(name)
    options.add_argument("--trunks", type=int, default=8)
    options.add_argument("--vines", type=int, default=256)
    options.add_argument("--seeds", type=int, nargs="+", help="by default those of the run")
    asked = options.parse_args()
    torch.set_num_threads(1)
    resolved = ResolvedControl.load(Path(asked.run) / "config.yaml")
    found = {
        str(seed): measure(resolved, Path(asked.run), asked.arm, seed, asked.trunks, asked.vines)
        for seed in asked.seeds or resolved.config.seeds
    }
    names = next(iter(found.values()))
    means = {name: float(np.mean([one[name] for one in found.values()])) for name in names}
    shape = {"arm": asked.arm, "trunks": asked.trunks, "vines": asked.vines}
    Path(asked.out).write_text(json.dumps({**shape, "mean": means, "seeds": found}, indent=1))
    for name, value in means.items():
        print(f"{name:28} {value:.3f}")


def measure(
    resolved: ResolvedControl, run: Path, arm: str, seed: int, trunks: int, num_vines: int
) -> dict[str, float]:
    """Measure one seed's critic, and small groups of vines, against many vines."""
    own = resolved.arms[arm]
    assert own.vines is not None
    folder = Run(run).seed(arm, seed).final
    env = environments(resolved, own.ppo)
    model = checkpoints.load(folder, env, own.vines, own.model)
    many = replace(own.vines, num_vines=num_vines)
    families = sample(model, many, trunks, np.random.default_rng(seed))
    return compare(model, families)


def sample(model: PolyPPO, vines: Any, trunks: int, rng: np.random.Generator) -> list[Family]:
    """Sample families from the model's policy."""
    model.policy.set_training_mode(False)
    torch.manual_seed(int(rng.integers(2**31)))
    sampler = FamilySampler(vines, model._pool(vines), rng)
    return sampler.families(trunks, model._act)


def compare(model: PolyPPO, families: list[Family]) -> dict[str, float]:
    """Compare the estimates of credit at all states of the families."""
    vines, method, rng = model.vines, model.method, model.vine_rng
    critic = model.credit.learner  # type: ignore[attr-defined]  # a `SetCriticPPO`
    assert vines is not None
    assert isinstance(method, Method)
    method = replace(method, baseline="leave_one_out")
    outcomes, label = critic.outcomes, vines.label if "strategies" in method.reads else None
    step = critic.options.score_step
    taken_BN = np.array(
        [
            [outcomes.number(set_critic.outcome_of(vines, one, method.reads, step)) for one in row]
            for family in families
            for row in family.episodes_BN()
        ]
    )
    trunks = [steps_of(one.trunk.seen_T, one.trunk, 0, label, outcomes) for one in families]
    states = joined_steps(
        [steps.at(np.array(one.times)) for steps, one in zip(trunks, families, strict=True)]
    )
    chances_BV = critic.chances(model.policy, states)
    truth_BV = np.stack([np.bincount(row, minlength=len(outcomes)) for row in taken_BN])
    truth_BV = truth_BV / taken_BN.shape[1]
    exact_BN = among(method, outcomes, taken_BN, taken_BN.shape[1])
    pooled_BV = np.broadcast_to(truth_BV.mean(axis=0), truth_BV.shape)
    found = {"states": float(len(taken_BN)), "outcomes": float(len(outcomes))}
    found["total_variation"] = float(np.abs(chances_BV - truth_BV).sum(axis=1).mean() / 2)
    found["total_variation_pooled"] = float(np.abs(pooled_BV - truth_BV).sum(axis=1).mean() / 2)
    found["exact_size"] = float(np.sqrt((exact_BN**2).mean()))
    draws = critic.options.num_draws
    rows = {
        "vines_8": among(method, outcomes, taken_BN, 8) if method.set_size < 8 else None,
        "vines_16": among(method, outcomes, taken_BN, 16) if method.set_size < 16 else None,
        "critic": drawn(method, outcomes, taken_BN, chances_BV, draws, rng),
        "perfect_critic": drawn(method, outcomes, taken_BN, truth_BV, draws, rng),
        "pooled_critic": drawn(method, outcomes, taken_BN, pooled_BV, draws, rng),
    }
    for name, estimate_BN in rows.items():
        if estimate_BN is not None:
            found |= agreement(name, estimate_BN, exact_BN)
    return found


def agreement(name: str, estimate_BN: np.ndarray, exact_BN: np.ndarray) -> dict[str, float]:
    """Return the correlation, and the root of the mean squared error relative to A's."""
    error = np.sqrt(((estimate_BN - exact_BN) ** 2).mean() / (exact_BN**2).mean())
    correlation = np.corrcoef(estimate_BN.ravel(), exact_BN.ravel())[0, 1]
    return {f"{name}/correlation": float(correlation), f"{name}/relative_error": float(error)}


def among(method: Any, outcomes: Any, taken_BN: np.ndarray, size: int) -> np.ndarray:
    """Credit vines in groups of `size`, (B, N)."""
    groups = taken_BN[:, : taken_BN.shape[1] // size * size].reshape(-1, size)
    fields = outcomes.fields(groups, method.reads)
    credit = method.advantages(outcomes.scores(groups), **fields).values_BN
    return credit.reshape(len(taken_BN), -1)


def drawn(
    method: Any,
    outcomes: Any,
    taken_BN: np.ndarray,
    chances_BV: np.ndarray,
    num_draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Credit vines as a set critic does, (B, N)."""
    chances_RV = np.repeat(chances_BV, taken_BN.shape[1], axis=0)
    found = set_critic.set_advantages(
        method, outcomes, taken_BN.ravel(), chances_RV, num_draws, rng
    )
    return found.reshape(taken_BN.shape)


if __name__ == "__main__":
    main()
