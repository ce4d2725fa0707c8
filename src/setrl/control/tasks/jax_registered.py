"""Any environment of a library of JAX that has an id, with functions of the user as its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control import measures
from setrl.control.jax.adapters import LIBRARIES, LibraryEnv, Observed
from setrl.control.jax.environment import StateLabel, labels_of
from setrl.control.tasks.base import JAX_FROM_SCRATCH
from setrl.support import names
from setrl.support.files.loading import check_reference, load_function


@dataclass(frozen=True)
class RegisteredJaxTask:
    """An environment by its library and id, such as gymnax and CartPole-v1.

    References have the form `module:name`; a module next to the config comes first. Their functions
    take the library's own state at the end of an episode.

    Attributes:
        name: The library: "gymnax" or "xminigrid".
        id: The id under which the library knows the environment.
        label_by: Reference to a function of JAX that returns the strategy, an integer, −1 for none;
            None: no episode has a strategy.
        render_by: Reference to a function that returns a picture; None: the library's own.
        make: Further arguments of the adapter in `setrl.control.jax.adapters`.
        episodes: Episodes of an evaluation.
        folder: Where modules are looked up first: the folder of the config.
    """

    name: str
    id: str
    label_by: str | None = None
    render_by: str | None = None
    make: Mapping[str, Any] = field(default_factory=dict)
    episodes: int = 256
    folder: str = field(default=".", repr=False)

    demonstrations: ClassVar[int] = 0
    defaults: ClassVar[Mapping[str, Any]] = JAX_FROM_SCRATCH
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({"net_arch": [64, 64]})

    @cached_property
    def env(self) -> LibraryEnv:
        """The environment."""
        adapter = names.look_up("library", self.name, LIBRARIES)
        return names.call(f"make of {self.name}", partial(adapter, self.id), self.make)

    @cached_property
    def _own_label(self) -> Callable[[Any], Any] | None:
        return None if self.label_by is None else load_function(self.label_by, self.folder).value

    @property
    def label(self) -> StateLabel | None:
        """What the user's function says of a state: an integer, −1 for none."""
        return None if self._own_label is None else self._labelled

    def _labelled(self, state: Observed) -> jax.Array:
        assert self._own_label is not None
        found = jnp.asarray(self._own_label(state.inner))
        if not jnp.issubdtype(found.dtype, jnp.signedinteger):
            raise ValueError(f"a label must be a signed integer, −1 for none, got {found.dtype}")
        return found.astype(jnp.int32)

    def render(self, state: Observed) -> np.ndarray:
        """Return a picture of a state: (height, width, 3) uint8."""
        if self.render_by is None:
            return np.asarray(self.env.render(state))
        return np.asarray(load_function(self.render_by, self.folder).value(state.inner))

    def evaluate(self, player: Any, rng: np.random.Generator) -> dict[str, float]:
        """Measure the mean return, the strategies of whole episodes, and their length."""
        played = player.play_resets(self.episodes, int(rng.integers(2**31)))
        labels_N = labels_of(self.label, played.ends)
        return measures.strategy_metrics(played.returns_B, labels_N, played.lengths_B)


def registered(
    library: str,
    id: str,
    label: str | None = None,
    render: str | None = None,
    make: Mapping[str, Any] | None = None,
    episodes: int = 256,
    folder: str = ".",
) -> RegisteredJaxTask:
    """Make the task of a config: {name: gymnax, id: CartPole-v1, label: module:name, …}."""
    for reference in filter(None, (label, render)):
        check_reference(reference)
    task = RegisteredJaxTask(library, id, label, render, dict(make or {}), episodes, folder)
    _ = task.env, task.label  # a wrong id, argument or reference shows here
    return task


gymnax = partial(registered, "gymnax")
