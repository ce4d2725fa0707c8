"""How noisy the gradient is, from the moments that Adam keeps anyway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from setrl.support.errors import RunError


@dataclass(frozen=True)
class Moments:
    """Sums over all P parameters of what Adam knows about their gradients.

    Attributes:
        variance: Σ(v̂ − m̂²), the proxy of MaxPO (arXiv:2606.06080, Fig. 3) for the trace of the
            gradient's covariance. If the policy does not change, its mean tends to
            2β₁/(1 + β₁) = 18/19 of the trace; it is 0 at the first step, and one value may be
            negative.
        mean_square: Σ m̂², for the squared norm of the mean gradient.
    """

    variance: float
    mean_square: float


def moments(optimizer: Any) -> Moments:
    """Read the moments of PyTorch's Adam or AdamW, corrected for their start at 0.

    Args:
        optimizer: It, or what Accelerate wraps around it, after its first step.

    Raises:
        RunError: If it keeps no such moments.
    """
    variance = mean_square = 0.0
    for (first, second), state in _find_states(optimizer):
        steps = float(state["step"])
        mean = _raise_precision(state["exp_avg"]) / (1 - first**steps)
        square = _raise_precision(state["exp_avg_sq"]) / (1 - second**steps)
        sums = torch.stack([(square - mean**2).sum(), (mean**2).sum()]).tolist()
        variance, mean_square = variance + sums[0], mean_square + sums[1]
    return Moments(variance, mean_square)


def _find_states(optimizer: Any) -> list[tuple[tuple[float, float], dict[str, Any]]]:
    """List the betas and the state of each parameter that has had a gradient."""
    states = [
        (group.get("betas"), optimizer.state.get(weight))
        for group in optimizer.param_groups
        for weight in group["params"]
    ]
    used = [(betas, state) for betas, state in states if state]
    if used and all({"step", "exp_avg", "exp_avg_sq"} <= set(state) for _, state in used):
        return used
    kind = type(getattr(optimizer, "optimizer", optimizer)).__name__
    raise RunError(
        f"adam_moments reads the moments of PyTorch's Adam, and the optimiser is {kind}: leave out "
        "adam_moments, or train with the optimiser adamw_torch"
    )


def _raise_precision(values: torch.Tensor) -> torch.Tensor:
    """Raise the precision to float32 or more: the difference of two moments is small."""
    return values if values.dtype == torch.float64 else values.float()


class AdamMoments(TrainerCallback):
    """Logs `gradient/adam_variance` and `gradient/adam_mean_square` after each update.

    The optimiser gets the gradients after they are clipped to `max_grad_norm`.

    Args:
        log: Takes a metric's name and its value.
    """

    def __init__(self, log: Callable[[str, float], None]):
        self.log = log

    def on_optimizer_step(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        optimizer: Any = None,
        **_: Any,
    ) -> None:
        """Read the moments."""
        measured = moments(optimizer)
        self.log("gradient/adam_variance", measured.variance)
        self.log("gradient/adam_mean_square", measured.mean_square)


def log_adam_moments(trainer: Any) -> None:
    """Make a trainer of TRL log the moments of its optimiser with its own metrics.

    Args:
        trainer: A `SetGRPOTrainer`, or another trainer of TRL that averages metrics by step.
    """
    logged = trainer._metrics["train"]
    trainer.add_callback(AdamMoments(lambda name, value: logged[name].append(value)))
