"""Set credit inside `jax.jit`, `jax.vmap` and `jax.lax.scan`: the core, called back on the host.

Outside of these, `setrl.set_advantages` takes JAX's arrays itself. The numbers are the same: NumPy
computes in float64, and JAX gets float64 with `jax_enable_x64`, else float32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Unpack

import numpy as np

from setrl.core.advantages import AnyMethod, require_method
from setrl.core.credit import baselines
from setrl.core.inputs import Fields, check_given
from setrl.core.method import Method, MethodSum
from setrl.samples.arrays import Array, check_shape
from setrl.support import names
from setrl.support.installing import install

try:
    import jax
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"setrl.core.jax needs JAX: {install('jax')}", name="jax") from error


class TracedAdvantages(NamedTuple):
    """What `setrl.Advantages` holds, apart from its words, as arrays that JAX can trace.

    Attributes:
        values_BN: (…, N) the advantages.
        with_BN: (…, N) u, the mean score of the sets with each sample.
        without_BN: (…, N) v, the mean score of the sets without it.
        mean_B: (…) U, the mean score of all sets.
        usable_BN: (…, N) bool, whether the sample was in the sets.
        skipped_B: (…) bool, whether the prompt had too few usable samples.
    """

    values_BN: jax.Array
    with_BN: jax.Array
    without_BN: jax.Array
    mean_B: jax.Array
    usable_BN: jax.Array
    skipped_B: jax.Array


def set_advantages(
    rewards_BN: Array,
    method: AnyMethod,
    *,
    rng: Array | int | None = None,
    **fields: Unpack[Fields],
) -> TracedAdvantages:
    """Return what `setrl.set_advantages` returns, inside code that JAX compiles or maps.

    The call leaves the device once a batch, also under `vmap`. Credit is a number for the loss and
    no function to differentiate: no gradient flows through it.

    Args:
        rewards_BN: (B, N) rewards, or (N,) for one prompt, or more axes of prompts before the last.
        method: A value of `setrl.methods`, or a `setrl.Method`; it is fixed when JAX traces.
        rng: An integer seed, needed where sets are sampled. It may be traced, such as
            `jax.random.bits(key)`; an equal seed draws equal sets.
        **fields: Strategies, answers and whatever else the method reads; see `setrl.Fields`. Arrays
            of numbers in the shape of the rewards.

    Raises:
        ValueError: Naming the argument, while JAX traces. What only the numbers show, such as an
            infinite reward, is raised by JAX when it runs, with the same sentence in its error.

    >>> import jax, jax.numpy as jnp
    >>> from setrl import methods
    >>> method = methods.maxpo(set_size=2)
    >>> credit = jax.jit(jax.vmap(lambda rewards: set_advantages(rewards, method).values_BN))
    >>> credit(jnp.array([[1.0, 0, 0], [0, 0, 0]])).round(3).tolist()
    [[1.0, -0.5, -0.5], [0.0, 0.0, 0.0]]
    """
    require_method(method)
    rewards, abstain = _stop_gradient(rewards_BN), fields.pop("abstain", False)
    arrays = {name: _stop_gradient(value) for name, value in fields.items() if value is not None}
    _check_shapes(method, rewards, arrays)
    call = _call_on_host(method, abstain)
    # What learns from other prompts, or draws sets, is called once for each batch under `vmap`.
    apart = rng is not None or _may_mix_prompts(method)
    return jax.pure_callback(
        call,
        _describe_result(rewards.shape),
        rewards,
        arrays,
        None if rng is None else jax.numpy.asarray(rng),
        vmap_method="sequential" if apart else "broadcast_all",
    )


def _stop_gradient(value: Array) -> jax.Array:
    return jax.lax.stop_gradient(jax.numpy.asarray(value))


def _check_shapes(method: AnyMethod, rewards: jax.Array, arrays: Mapping[str, jax.Array]) -> None:
    """Refuse what is wrong before any number is known."""
    if rewards.ndim == 0:
        raise ValueError("rewards_BN must have shape (B, N), or (N,) for one prompt; got ()")
    method.check_samples(rewards.shape[-1])
    for name, array in arrays.items():
        names.look_up("argument", name, Fields.__annotations__)
        ends = rewards.shape[-1:] if name == "pairs" else ()
        check_shape(name, array, (*rewards.shape, *ends))
    check_given(method.reads, arrays)


def _call_on_host(method: AnyMethod, abstain: bool) -> Callable[..., TracedAdvantages]:
    """Return the function that JAX calls: all axes before the last become one axis of prompts."""

    def call(rewards: Array, arrays: Mapping[str, Array], seed: Array | None) -> TracedAdvantages:
        lead = rewards.shape[:-1]  # with the axes that `vmap` has added
        dense: dict[str, Any] = {
            name: np.asarray(value).reshape(-1, *value.shape[len(lead) :])
            for name, value in arrays.items()
        }
        advantages = method.advantages(
            np.asarray(rewards).reshape(-1, rewards.shape[-1]),
            rng=None if seed is None else int(seed),
            abstain=abstain,
            **dense,
        )
        parts = [getattr(advantages, name) for name in TracedAdvantages._fields]
        return TracedAdvantages(*(part.reshape(*lead, *part.shape[1:]) for part in parts))

    return call


def _describe_result(shape: tuple[int, ...]) -> TracedAdvantages:
    """Return the shapes and kinds of what comes back."""
    number = jax.numpy.result_type(float)  # float64 only with jax_enable_x64

    def spec(ends: tuple[int, ...], kind: Any = number) -> Any:
        return jax.ShapeDtypeStruct(ends, kind)

    full, prompt = shape, shape[:-1]
    return TracedAdvantages(
        spec(full), spec(full), spec(full), spec(prompt), spec(full, bool), spec(prompt, bool)
    )


def _may_mix_prompts(method: AnyMethod) -> bool:
    """Return whether the credit of a prompt may depend on the other prompts."""
    if isinstance(method, MethodSum):
        return any(map(_may_mix_prompts, method.parts))
    if not isinstance(method, Method):
        return True
    return not isinstance(baselines.resolve(method.baseline), baselines.BY_PROMPT)
