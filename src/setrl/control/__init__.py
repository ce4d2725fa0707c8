"""Control: set RL on environments that can be set back, with vines sampled from their states.

What both paths share is here. `sb3` is the path on Gymnasium and Stable-Baselines3, `jax` the one
on environments that are functions of JAX; both have the same files for the same ideas. Nothing is
imported until it is used: each name below imports what it needs.
"""

from typing import Any

from setrl.support.names import imported_on_demand

_OF_GYM = {
    "Resettable": "setrl.control.envs.resettable",
    "ResettableEnv": "setrl.control.envs.resettable",
    "Snapshot": "setrl.control.envs.resettable",
    "make_resettable": "setrl.control.envs.resettable",
    "check_resettable": "setrl.control.envs.checks",
    "Trajectory": "setrl.control.trajectories",
    "VinePool": "setrl.control.sb3.rollouts",
    "PolyPPO": "setrl.control.sb3.poly_ppo",
    "Vines": "setrl.control.sb3.families",
    "VineChoices": "setrl.control.vines",
    "ControlTask": "setrl.control.tasks.base",
}
_OF_JAX = {"JaxPolyPPO": "setrl.control.jax.poly_ppo"}

__all__ = [*_OF_GYM, *_OF_JAX]

_of_gym = imported_on_demand(__name__, _OF_GYM, "gym")
_of_jax = imported_on_demand(__name__, _OF_JAX, "jax-control")


def __getattr__(name: str) -> Any:
    return (_of_jax if name in _OF_JAX else _of_gym)(name)
