"""How options of both paths are checked, and what rivals of set credit add to PPO.

    loss + kl_coef · mean KL(anchor ‖ π),   reward + ucb_coef · N(s, a)^−½

The anchor is the policy that sampled the trajectories ("behaviour"), or the policy at the start of
training ("start"). N counts the visits so far, this one included (arXiv:2509.25424). The bonus is
in the critic's rewards, not in the scores of sets, and only on Stable-Baselines3's path.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import Any, Literal, get_args

from typing_extensions import override

Anchor = Literal["behaviour", "start"]
COUNTS = ("num_trajectories", "n_envs", "n_steps", "batch_size", "n_epochs", "sequence_length")
SHARES = ("gamma", "gae_lambda")
ABOVE_0 = ("clip_range", "clip_range_vf", "max_grad_norm", "target_kl")
MAY_BE_NONE = ("batch_size", "clip_range_vf", "target_kl")


@dataclass(frozen=True, kw_only=True)
class PPOArguments:
    """The arguments of PPO on both paths, under Stable-Baselines3's names, with its defaults.

    Attributes:
        batch_size: Steps of a minibatch; None: all steps of an update.
        n_epochs: Passes over the steps of an update.
        learning_rate: Step size of Adam.
        gamma: Discount γ.
        gae_lambda: λ of GAE.
        clip_range: ε of the clipped surrogate.
        normalize_advantage: Whether advantages have mean 0 and standard deviation 1.
        ent_coef: Weight of the entropy bonus.
        vf_coef: Weight of the critic's loss.
        max_grad_norm: Largest norm of the gradient.
    """

    batch_size: int | None = 64
    n_epochs: int = 10
    learning_rate: float = 3e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    normalize_advantage: bool = True
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            check_argument(field.name, getattr(self, field.name))


@dataclass(frozen=True, kw_only=True)
class GymPPOArguments(PPOArguments):
    """The arguments of PPO on Stable-Baselines3's path.

    Attributes:
        n_envs: Environments that are stepped side by side.
        n_steps: Steps of each environment in an update.
        clip_range_vf: ε of the critic's clipped loss; None: it is not clipped.
        target_kl: An update ends once the policy has moved by 1.5 times as much; None: never.
    """

    n_envs: int = 8
    n_steps: int = 2048
    clip_range_vf: float | None = None
    target_kl: float | None = None

    @property
    def minibatch(self) -> int:
        """Steps of a minibatch."""
        return self.n_envs * self.n_steps if self.batch_size is None else self.batch_size

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.normalize_advantage and min(self.minibatch, self.n_envs * self.n_steps) < 2:
            raise ValueError(
                "batch_size and n_steps × n_envs must be at least 2 with normalize_advantage, got "
                f"{self.batch_size} and {self.n_steps} × {self.n_envs}"
            )


def check_argument(name: str, value: Any) -> None:
    """Refuse a value that an argument of PPO, or a penalty or bonus, cannot have."""
    may_be_none = name in MAY_BE_NONE
    if name in COUNTS:
        require_number(name, value, 1, whole=True, may_be_none=may_be_none)
    elif name in SHARES:
        require_number(name, value, 0, 1)
    elif name in ABOVE_0:
        require_number(name, value, 1e-12, may_be_none=may_be_none)
    elif name == "kl_anchor":
        require_choice(name, value, Anchor)
    elif name != "normalize_advantage":
        require_number(name, value)
    elif not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")


def check_penalties(kl_coef: Any, kl_anchor: Any, ucb_coef: Any) -> None:
    """Refuse an unknown anchor, and weights that are not numbers ≥ 0."""
    for name, value in (("kl_coef", kl_coef), ("kl_anchor", kl_anchor), ("ucb_coef", ucb_coef)):
        check_argument(name, value)


def require_choice(name: str, value: object, choices: Any) -> None:
    """Refuse a value that is not one of the choices of a `Literal` type."""
    if value not in (allowed := get_args(choices)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def require_number(
    name: str,
    value: Any,
    least: float = 0,
    most: float = inf,
    *,
    whole: bool = False,
    may_be_none: bool = False,
) -> None:
    """Refuse a value that is not a finite number, or not a whole one, from `least` to `most`."""
    kind = int if whole else int | float
    is_number = isinstance(value, kind) and not isinstance(value, bool) and abs(value) < inf
    if (value is None and may_be_none) or (is_number and least <= value <= most):
        return
    span = f"≥ {least:g}" if most == inf else f"from {least:g} to {most:g}"
    requirement = f"a {'whole ' * whole}number {span}{', or None' * may_be_none}"
    raise ValueError(f"{name} must be {requirement}, got {value!r}")
