"""How large advantages and gradients are with each method, and what a factor changes.

python recipes/trl/sizes.py

It prints the figures of docs/trl.md, The learning rate: twelve steps of the tiny model for each
line, N = 8, AdamW, one seed.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pilot import TOTALS, trainer_of
from tiny import tiny_model
from transformers import AutoModelForCausalLM

from setrl import Method, methods

STEPS, PROMPTS, N = 12, 4, 8
UNCLIPPED = 1e9  # a limit that no gradient reaches; at 0, TRL would not log the norm
BETA, FACTOR = 0.4, 10
POLY = methods.poly_epo(2)
METHODS = {
    "GRPO": methods.grpo(),
    "Poly-EPO, K = 2": POLY,
    "Poly-EPO, K = 4": methods.poly_epo(4),
    "concave counts, α = 0.25": methods.concave_counts(0.25),
    "concave counts, α = 0": methods.concave_counts(0.0),
}


@dataclass(frozen=True)
class Measured:
    """The result of a training run: mean |advantage|, gradient norms, weights at the end."""

    size: float
    norms: list[float]
    weights: torch.Tensor


def weights_of(model: torch.nn.Module) -> torch.Tensor:
    return torch.cat([weight.detach().flatten().clone() for weight in model.parameters()])


def measured(base: str, method: Method, limit: float = UNCLIPPED, beta: float = 0.0) -> Measured:
    """Train for some steps."""
    sizes: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        changes = {"max_steps": STEPS, "max_grad_norm": limit, "beta": beta, "seed": 1}
        trainer = trainer_of(folder, base, TOTALS, method, N, PROMPTS, **changes)
        trainer.on_batch = lambda batch: sizes.append(np.abs(batch.advantages.values_BN).mean())
        trainer.train()
    norms = [float(one["grad_norm"]) for one in trainer.state.log_history if "grad_norm" in one]
    return Measured(float(np.mean(sizes)), norms, weights_of(trainer.model))


def moved(start: torch.Tensor, one: Measured, other: Measured) -> float:
    """Return how far apart two ends are, as a share of the way to the first."""
    return float((other.weights - one.weights).norm() / (one.weights - start).norm())


def main() -> None:
    """Print both tables."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        base = tiny_model(Path(folder), TOTALS)
        start = weights_of(AutoModelForCausalLM.from_pretrained(base))
        print("method                     mean |A|   median grad_norm")
        for name, method in METHODS.items():
            found = measured(base, method)
            print(f"{name:26} {found.size:8.3f}   {np.median(found.norms):.2f}", flush=True)
        print(f"\n{FACTOR} × Poly-EPO, K = 2: how far its end is from that without the factor")
        for name, limit, beta, factor in (
            ("no clipping", UNCLIPPED, 0.0, 1),
            ("max_grad_norm = 1", 1.0, 0.0, 1),
            (f"beta = {BETA}", UNCLIPPED, BETA, 1),
            (f"beta = {BETA}, then {FACTOR * BETA:g}", UNCLIPPED, BETA, FACTOR),
        ):
            one = measured(base, POLY, limit, beta)
            other = measured(base, FACTOR * POLY, limit, factor * beta)
            print(f"{name:26} {moved(start, one, other):7.0%}", flush=True)


if __name__ == "__main__":
    main()
