"""What several files of tests compile only once."""

from __future__ import annotations

import os

# Read when JAX computes for the first time: tests compile much and compute little.
FAST_COMPILATION = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
os.environ.setdefault("XLA_FLAGS", FAST_COMPILATION)

import jax  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

from setrl.control.jax.adapters import XMiniGridEnv  # noqa: E402


@pytest.fixture(scope="session")
def xland():
    """XLand-MiniGrid's own step with all its goals and rules: environment, first state, step.

    The size is GoTo's, so that GoTo's states can be stepped, too.
    """
    return compiled(XMiniGridEnv("MiniGrid-Empty-5x5", {"height": 22, "width": 22}))


def compiled(env):
    """Return an environment, its first state, and its step, compiled for one kind of actions."""
    step = jax.jit(env.step)
    first = jax.jit(env.reset)(jax.random.key(0))
    return env, first, lambda key, state, action: step(key, state, np.int32(action))
