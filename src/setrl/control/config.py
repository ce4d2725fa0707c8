"""The config of a control run: one task, several arms that differ in how they learn it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from typing_extensions import override

from setrl.control.options import check_argument
from setrl.control.tasks import with_folder
from setrl.support import names
from setrl.support.files.sections import Count, Natural, blamed_on, refuse_unknown
from setrl.train.runs.config import RunConfig, arms_with_folder

# The arguments of PPO that an algorithm changes. One epoch over one minibatch makes PPO's clipped
# surrogate REINFORCE's, and λ = 1 makes its advantage the return minus the critic's value.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "ppo": {},
    "reinforce": {"n_epochs": 1, "batch_size": None, "gae_lambda": 1.0},
    "poly_ppo": {},
}
VINE_KEYS = (
    *("num_vines", "num_states", "where", "window", "credit", "num_sets"),
    *("max_steps", "trunk"),  # not on JAX
)
OPTIONS = {"kl_coef": 0.0, "kl_anchor": "behaviour", "ucb_coef": 0.0}  # none; the last: not on JAX
OPTION_KEYS = tuple(OPTIONS)
PPO_KEYS = (
    *("n_envs", "n_steps", "num_trajectories", "batch_size", "n_epochs", "learning_rate"),
    *("gamma", "gae_lambda"),
    *("clip_range", "clip_range_vf", "normalize_advantage", "ent_coef", "vf_coef"),
    *("max_grad_norm", "target_kl"),
)


@dataclass(frozen=True, kw_only=True)
class ControlConfig(RunConfig):
    """A comparison on a control task: all arms get the same number of environment steps.

    An arm is {algorithm: ppo | reinforce | poly_ppo, …}. Any arm may set arguments of PPO, kl_coef,
    kl_anchor and ucb_coef; poly_ppo also a method with its arguments (by default poly_epo with
    set_size 4) and num_vines, num_states, where, window, credit, num_sets, max_steps, trunk.
    """

    kind = "control"
    command = "setrl control"

    task: str | Mapping[str, Any]
    """Name of the task, or a mapping of name and options: {name: multi_goal, max_steps: 60}; your
    own task is module:name, any environment {name: gymnasium, id: …, label: module:name}. A task
    on JAX, such as jax_goals, trains with `JaxPolyPPO`."""
    total_steps: Count | None = None
    """Environment steps of each arm, including the steps of vines; null: the task's default."""
    ppo: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of PPO for all arms, over the task's defaults."""
    gru: Count | None = None
    """Size of the GRU memory of all policies, for tasks on JAX; null: policies without a memory."""
    eval_every: Count | None = None
    """Environment steps between evaluations during training; null: only at the end."""
    checkpoint_every: Count = 20_000
    """Environment steps between checkpoints, from which an interrupted run resumes."""
    pretrain_seed: Natural = 0
    """Decides the weights that every arm and seed starts from, if the task pretrains."""

    @override
    def _check(self) -> None:
        """Check each key for itself; `resolve` checks what needs the task or a method."""
        refuse_unknown(self.ppo, PPO_KEYS, "ppo")
        _check_arguments(self.ppo, "ppo")

    @override
    def _check_arm(self, arm: str) -> None:
        algorithm = self.arms[arm].get("algorithm", "ppo")
        names.look_up("algorithm", str(algorithm), ALGORITHMS)
        if algorithm != "poly_ppo":
            refuse_unknown(self.arms[arm], ("algorithm", *OPTION_KEYS, *PPO_KEYS), f"arms.{arm}")
        _check_arguments(self.arms[arm], f"arms.{arm}")

    @override
    def differences(self, other: Self) -> list[str]:
        """Return what differs in `other` and changes results that exist already, one line a key.

        Arms and seeds that `other` adds do not count, nor more steps: they come after the others.
        """
        mine, theirs = self.total_steps, other.total_steps
        if mine is not None and theirs is not None and theirs > mine:
            other = replace(other, total_steps=mine)
        return super().differences(other)

    @classmethod
    @override
    def _with_folder(cls, values: dict[str, Any], path: Path) -> dict[str, Any]:
        folder = str(path.resolve().parent)
        task, arms = values.get("task"), arms_with_folder(values.get("arms"), folder)
        return {**values, "task": with_folder(task, folder), "arms": arms}


def _check_arguments(arguments: Mapping[str, Any], at: str) -> None:
    """Refuse values that PPO cannot have, on both paths alike, before anything starts."""
    for name in (*PPO_KEYS, *OPTION_KEYS):
        if name in arguments:
            with blamed_on(f"{at}.{name}", f"{at}: "):
                check_argument(name, arguments[name])
