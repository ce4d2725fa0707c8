"""Control: set RL on environments that can be set back, and vines sampled from their states.

Nothing is imported until it is asked for: `setrl.control` itself needs NumPy alone, and each name
below brings what it needs (`pip install 'setrl[gym]'`).
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Resettable": "envs.resettable",
    "ResettableEnv": "envs.resettable",
    "Snapshot": "envs.resettable",
    "make_resettable": "envs.resettable",
    "check_resettable": "envs.checks",
    "Trajectory": "credit.trajectories",
    "VinePool": "credit.vine_pool",
    "PolyPPO": "sb3.poly_ppo",
    "Vines": "credit.vines",
    "RecurrentPolyPPO": "sb3.recurrent",
    "GRUPolicy": "sb3.recurrent",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
