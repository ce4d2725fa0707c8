"""Control: set RL on environments that can be set back, and vines sampled from their states.

Nothing is imported until it is asked for: `setrl.control` itself needs NumPy alone, and each name
below brings what it needs (`pip install 'setrl[gym]'`).
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Resettable": "resettable",
    "ResettableEnv": "resettable",
    "Snapshot": "resettable",
    "make_resettable": "resettable",
    "check_resettable": "checks",
    "Trajectory": "trajectories",
    "VinePool": "vine_pool",
    "PolyPPO": "poly_ppo",
    "Vines": "vines",
    "RecurrentPolyPPO": "recurrent",
    "GRUPolicy": "recurrent",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
