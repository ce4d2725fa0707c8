"""Control: set RL on environments that can be set back, with vines sampled from their states.

Nothing is imported until it is used: `setrl.control` itself needs only NumPy, and each name below
imports what it needs (the extra gym).
"""

from setrl.support.names import imported_on_demand

_MODULES = {
    "Resettable": "setrl.control.envs.resettable",
    "ResettableEnv": "setrl.control.envs.resettable",
    "Snapshot": "setrl.control.envs.resettable",
    "make_resettable": "setrl.control.envs.resettable",
    "check_resettable": "setrl.control.envs.checks",
    "Trajectory": "setrl.control.credit.trajectories",
    "VinePool": "setrl.control.credit.vine_pool",
    "PolyPPO": "setrl.control.sb3.poly_ppo",
    "Vines": "setrl.control.credit.vines",
    "VineChoices": "setrl.control.credit.vines",
    "ControlTask": "setrl.control.tasks.base",
    "SetCritic": "setrl.control.credit.set_critic",
    "RecurrentPolyPPO": "setrl.control.sb3.recurrent",
    "GRUPolicy": "setrl.control.sb3.recurrent",
}

__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "gym")
