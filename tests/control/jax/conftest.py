"""What several files of tests compile only once."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from setrl.control.jax.adapters import XMiniGridEnv


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
