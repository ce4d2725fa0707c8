"""Environments and tasks as pure functions: their states are pytrees, so that copies cost nothing.

Nothing sets such an environment back: N vines from a state are N calls of `step` with this state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control.options import require_number

State = Any  # a pytree of arrays
StateLabel = Callable[[State], jax.Array]


@runtime_checkable
class JaxEnv(Protocol):
    """An environment as three functions that JAX can compile and map, for one episode.

    Attributes:
        num_actions: Number of actions; they are 0 … num_actions − 1.
        max_steps: Steps after which an episode is cut. If the environment itself ends the episode
            by then, its end counts.
    """

    num_actions: int
    max_steps: int

    def reset(self, key: jax.Array) -> State:
        """Return the first state of an episode."""
        ...

    def step(
        self, key: jax.Array, state: State, action: jax.Array
    ) -> tuple[State, jax.Array, jax.Array]:
        """Return the next state, the reward, and whether the episode has ended there.

        If it has ended, the next state is the last one, not the first of another episode: labels
        are about it. All noise comes from `key`. With a key in the state, all vines of the state
        would have the same noise.
        """
        ...

    def observe(self, state: State) -> jax.Array:
        """Return what the policy sees: (D,) float32."""
        ...


@runtime_checkable
class JaxTask(Protocol):
    """An environment of JAX with several ways to succeed, and functions that label and measure.

    A task is a frozen dataclass of its options, so that its `repr` determines it.

    `JaxPolyPPO` needs only `env` and `label`; the others are for `setrl control`.

    Attributes:
        name: Name of the task in configs and figures.
        env: The environment.
        defaults: Arguments of PPO for the task; `total_timesteps` is among them.
        policy_kwargs: `net_arch`, the widths of the policy's layers.
        demonstrations: Number of an expert's episodes that every policy imitates before it is
            trained; 0 for a task that is learned from scratch. Otherwise the task also has
            `demonstrate(rng)`, which returns `behaviour_cloning.Demonstrations`.
    """

    name: str
    env: JaxEnv
    defaults: Mapping[str, Any]
    policy_kwargs: Mapping[str, Any]
    demonstrations: int

    @property
    def label(self) -> StateLabel | None:
        """The strategy of the episode that ended in a state, −1 for none; None: no strategies."""
        ...

    def evaluate(self, player: Any, rng: np.random.Generator) -> dict[str, float]:
        """Measure a policy, a `Player`, sampled as in training: name → value."""
        ...

    def render(self, state: State) -> np.ndarray:
        """Return a picture of a state: (height, width, 3) uint8."""
        ...


def labels_of(label: StateLabel | None, ends_B: State) -> np.ndarray:
    """Return the labels of episodes by their stacked last states, (B,); −1 without a label."""
    if label is None:
        return np.full(len(jax.tree.leaves(ends_B)[0]), -1)
    return np.asarray(jax.jit(jax.vmap(label))(ends_B))


def check_task(task: JaxTask) -> None:
    """Check that a task has what training needs.

    Raises:
        ValueError: If something is missing; the message names it.
    """
    missing = [name for name in ("env", "label") if not hasattr(task, name)]
    if missing:
        raise ValueError(
            f"a task must have env, and label (None for no strategies); {task!r:.80} has no "
            + " and no ".join(missing)
        )


def check_env(env: JaxEnv) -> int:
    """Check by its shapes, before anything is compiled, that JAX can run an environment.

    Returns:
        D, the size of an observation.

    Raises:
        ValueError: If a state holds something other than arrays, or a function returns other shapes
            or kinds than it must; the message names it.
    """
    key = jax.random.key(0)
    state = _find_shapes("reset", env.reset, key)
    for name, least in (("num_actions", 2), ("max_steps", 1)):
        require_number(f"{name} of an environment", getattr(env, name, None), least, whole=True)
    spec = _find_shapes("observe", env.observe, state)
    if not hasattr(spec, "dtype"):
        raise ValueError(f"observe must return (D,) float32, got {_describe_state(spec)}")
    if spec.ndim != 1 or spec.dtype != jnp.float32:
        raise ValueError(f"observe must return (D,) float32, got {spec.shape} {spec.dtype}")
    result = _find_shapes("step", env.step, key, state, jnp.int32(0))
    if not isinstance(result, tuple) or len(result) != 3:
        got = f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__
        raise ValueError(f"step must return the next state, the reward and done, got {got}")
    following, reward, done = result
    if _describe_state(following) != _describe_state(state):
        raise ValueError(
            "step must return a state of the same shapes and kinds as reset: reset has "
            f"{_describe_state(state)}, step has {_describe_state(following)}"
        )
    for name, value, kind in (("reward", reward, jnp.floating), ("done", done, jnp.bool_)):
        if value.shape != () or not jnp.issubdtype(value.dtype, kind):
            raise ValueError(
                f"step must return a {name} of shape () and kind {kind.__name__}, got "
                f"{value.shape} {value.dtype}"
            )
    return int(spec.shape[0])


def _find_shapes(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Return the shapes of what a function of an environment returns."""
    try:
        return jax.eval_shape(function, *args)
    except jax.errors.ConcretizationTypeError as error:
        raise ValueError(
            f"{name} reads the value of an array in Python, for example by `if`, which JAX cannot "
            f"compile: use jnp.where or jax.lax.cond. {error}"
        ) from error
    except TypeError as error:
        raise ValueError(
            f"{name} must take and return pytrees of arrays, which JAX can compile and copy; "
            "objects of Python, such as a simulator, cannot be part of a state, and reset returns "
            f"the state only: {error}"
        ) from error


def check_label(env: JaxEnv, label: Callable[[State], Any]) -> None:
    """Check by its shape that a label is a signed integer for each state.

    In an unsigned kind, −1 for none is a large number: a separate strategy.

    Raises:
        ValueError: If it is something else, or cannot be compiled.
    """
    requirement = "a label must be a function of JAX from a state to a signed integer, −1 for none"
    try:
        returned = jax.eval_shape(label, jax.eval_shape(env.reset, jax.random.key(0)))
    except Exception as error:
        raise ValueError(f"{requirement}: {error}") from error
    shape, kind = getattr(returned, "shape", None), getattr(returned, "dtype", type(returned))
    if shape != () or not jnp.issubdtype(kind, jnp.signedinteger):
        raise ValueError(f"{requirement}: got shape {shape} and kind {kind}")


def _describe_state(state: State) -> str:
    leaves, tree = jax.tree.flatten(state)
    return f"{tree} with {[f'{leaf.dtype}{leaf.shape}' for leaf in leaves]}"
