"""Poly-PPO on JAX: environments are pure functions, and setting one back is free.

Nothing is imported until it is used: each name imports what it needs (the extra jax-control).
"""

from setrl.support.names import imported_on_demand

_MODULES = {
    "JaxPolyPPO": "setrl.control.jax.poly_ppo",
    "Training": "setrl.control.jax.poly_ppo",
    "Player": "setrl.control.jax.poly_ppo",
    "PPOOptions": "setrl.control.jax.update",
    "ActorCritic": "setrl.control.jax.networks",
    "JaxEnv": "setrl.control.jax.environment",
    "JaxTask": "setrl.control.jax.environment",
    "check_env": "setrl.control.jax.environment",
}

__all__ = list(_MODULES)

__getattr__ = imported_on_demand(__name__, _MODULES, "jax-control")
