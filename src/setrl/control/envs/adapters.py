"""Adapters: each saves and loads the state of one kind of environment."""

from __future__ import annotations

import io
import pickle
import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.envs.generators import (
    NotResettableError,
    attributes_that_are_generators,
    sets_itself_back,
)
from setrl.control.envs.layers import copied, is_plain

WHAT_TO_IMPLEMENT = (
    "give the environment `snapshot()` → opaque picklable state, and "
    '`restore(snapshot, *, rng="keep" | "fork" | seed)` → (observation, info); '
    "see docs/resettable.md"
)

# What does not change in an episode, or cannot be pickled (Gymnasium's and pygame's names).
CONSTANTS = frozenset(
    {"spec", "_cached_spec", "action_space", "observation_space", "metadata", "reward_range"}
    | {"render_mode", "_ezpickle_args", "_ezpickle_kwargs", "_np_random_seed"}
    | {"window", "screen", "clock", "surf", "window_surface", "viewer", "renderer"}
)
# Transition tables, maps and sizes of Gymnasium's toy text environments.
_TABLES = frozenset({"P", "desc", "initial_state_distrib", "_cliff", "locs", "locs_colors"})
_MUJOCO = CONSTANTS | {"model", "data", "init_qpos", "init_qvel", "observation_structure"}


class Adapter(ABC):
    """Saves and loads the state of the environment below all wrappers.

    It leaves random generators alone: `ResettableEnv` saves, sets back and forks in place every
    generator that it finds from the environment. An adapter may replace generators that are not
    attributes by equal ones.

    Attributes:
        name: Name of the backend.
        made_for: The class of environments for which the adapter was written, by its full name.
        frame: The picture of the state that was loaded, until the next step, where the environment
            itself would still show an older one.
    """

    name: ClassVar[str]
    made_for: ClassVar[str] = ""
    frame: np.ndarray | None = None

    def __init__(self, env: gym.Env) -> None:
        self.env = env

    @classmethod
    def is_made_for(cls, env: gym.Env) -> bool:
        """Return whether `auto` chooses this adapter for an environment or a subclass of its class.

        The class is looked up and never imported: if its module is not loaded, no environment of
        that class exists.
        """
        module, _, kind = cls.made_for.rpartition(".")
        loaded = sys.modules.get(module)
        return loaded is not None and isinstance(env, getattr(loaded, kind))

    @abstractmethod
    def save(self) -> Any:
        """Return the state: picklable, holds no environment, not changed by later steps."""

    @abstractmethod
    def load(self, state: Any) -> None:
        """Restore a state, perhaps of another instance; the state itself is not changed."""

    def reseed(self, noise: np.random.SeedSequence) -> None:
        """Reseed other noise; called after generators in attributes got streams from `noise`."""
        return


class OwnState(Adapter):
    """The `snapshot` and `restore` of an environment or wrapper; we handle wrappers around it."""

    name: ClassVar[str] = "own"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        if not self.is_made_for(env):
            raise NotResettableError(f"{type(env).__name__} has no own state: {WHAT_TO_IMPLEMENT}")
        self._restored: Any = None

    @classmethod
    @override
    def is_made_for(cls, env: gym.Env) -> bool:
        """Return whether the environment has both methods."""
        return sets_itself_back(env)

    @override
    def save(self) -> Any:
        return self.env.snapshot()  # type: ignore[attr-defined]

    @override
    def load(self, state: Any) -> None:
        self._restored = state
        self.env.restore(state, rng="keep")  # type: ignore[attr-defined]

    @override
    def reseed(self, noise: np.random.SeedSequence) -> None:
        """Restore again with a seed: only the environment can find all of its noise."""
        seed = int(noise.generate_state(1)[0])
        self.env.restore(self._restored, rng=seed)  # type: ignore[attr-defined]


def save_attributes(env: gym.Env, constants: frozenset[str] = CONSTANTS) -> dict[str, Any]:
    """Copy every attribute that is plain data and not a constant."""
    fields = vars(env).items()
    return {name: copied(item) for name, item in fields if name not in constants and is_plain(item)}


class AttributeState(Adapter):
    """The plain attributes of Gymnasium's toy text and classic control: about ten microseconds."""

    name: ClassVar[str] = "attributes"
    _packages = ("gymnasium.envs.toy_text.", "gymnasium.envs.classic_control.")
    _constants = CONSTANTS | _TABLES

    @classmethod
    @override
    def is_made_for(cls, env: gym.Env) -> bool:
        """Return whether it is a class of Gymnasium: subclasses may have unknown attributes."""
        return type(env).__module__.startswith(cls._packages)

    @override
    def save(self) -> dict[str, Any]:
        return save_attributes(self.env, self._constants)

    @override
    def load(self, state: dict[str, Any]) -> None:
        vars(self.env).update(copied(state))


class AtariState(Adapter):
    """`ALEInterface.cloneState`, which omits the action that sticky actions repeat.

    Therefore an environment with repeat_action_probability > 0 is refused. Gymnasium's wrapper
    `StickyAction` does the same in Python, and its last action and its generator are saved.
    """

    name: ClassVar[str] = "atari"
    made_for: ClassVar[str] = "ale_py.env.AtariEnv"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        sticky = env.ale.getFloat("repeat_action_probability")  # type: ignore[attr-defined]
        if sticky > 0:
            raise NotResettableError(
                f"this Atari environment has repeat_action_probability={sticky:g}, and the "
                "emulator does not reveal which action it would repeat: make it with "
                "repeat_action_probability=0 and wrap it in "
                f"gymnasium.wrappers.StickyAction(env, {sticky:g}), whose state is saved"
            )

    @override
    def save(self) -> tuple[Any, dict[str, Any], Any]:
        """Return the emulator with its generator, the plain attributes, and the picture if shown.

        The emulator's state has no picture: after a restore it has that of the last step.
        """
        ale = self.env.ale  # type: ignore[attr-defined]
        frame = self.frame
        if frame is None and self.env.render_mode == "rgb_array":
            frame = ale.getScreenRGB()
        return ale.cloneState(include_rng=True), save_attributes(self.env), frame

    @override
    def load(self, state: tuple[Any, dict[str, Any], Any]) -> None:
        emulator, attributes, self.frame = state
        self.env.ale.restoreState(emulator)  # type: ignore[attr-defined]
        vars(self.env).update(copied(attributes))


class MujocoState(Adapter):
    """`mj_copyData` into a new MjData, and the environment's plain attributes.

    `set_state(qpos, qvel)` is not exact: the solver starts from the last accelerations, and rewards
    read body positions and contact forces of the last forward pass (Ant). mjSTATE_INTEGRATION is
    not exact either, for the second reason. A change of the model itself (masses, friction) is not
    saved.
    """

    name: ClassVar[str] = "mujoco"
    made_for: ClassVar[str] = "gymnasium.envs.mujoco.mujoco_env.MujocoEnv"

    @override
    def save(self) -> tuple[Any, dict[str, Any]]:
        import mujoco

        env: Any = self.env
        data = mujoco.MjData(env.model)
        mujoco.mj_copyData(data, env.model, env.data)
        return data, save_attributes(env, _MUJOCO)

    @override
    def load(self, state: tuple[Any, dict[str, Any]]) -> None:
        import mujoco

        env: Any = self.env
        saved, attributes = state
        if (saved.nbuffer, saved.narena) != (env.data.nbuffer, env.data.narena):
            raise ValueError(
                "the snapshot comes from another MuJoCo model: restore it into an equal environment"
            )
        mujoco.mj_copyData(env.data, env.model, saved)
        vars(env).update(copied(attributes))


class PickledState(Adapter):
    """The attributes of an environment without its constants, pickled: the fallback.

    It takes some hundred microseconds. What stays in place (the environment itself, its spaces, its
    generators) is written as a name, so that back-references lead to the environment that is set
    back, in any process. The attributes are pickled, not the environment: many classes (`EzPickle`)
    are pickled as the arguments of their constructor, which loses the state silently.
    """

    name: ClassVar[str] = "pickle"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.save()

    @classmethod
    @override
    def is_made_for(cls, env: gym.Env) -> bool:
        """Return True: `auto` tries this adapter last, for any environment."""
        return True

    @override
    def save(self) -> bytes:
        """Pickle the attributes; raise NotResettableError if one of them cannot be pickled."""
        places = {id(value): name for name, value in self._list_fixtures().items()}
        fields = vars(self.env).items()
        state = {
            key: item for key, item in fields if key not in CONSTANTS and id(item) not in places
        }
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = lambda value: places.get(id(value))  # type: ignore[method-assign]
        try:
            pickler.dump(state)
        except Exception as error:  # each class raises its own kind of error when it is pickled
            raise NotResettableError(
                f"{type(self.env).__name__} cannot be pickled ({error}), so it cannot be set back "
                f"this way: {WHAT_TO_IMPLEMENT}"
            ) from error
        return buffer.getvalue()

    @override
    def load(self, state: bytes) -> None:
        """Set the attributes, and delete attributes that the state does not have."""
        fixtures = self._list_fixtures()
        unpickler = pickle.Unpickler(io.BytesIO(state))
        unpickler.persistent_load = fixtures.__getitem__  # type: ignore[method-assign]
        attributes, current = unpickler.load(), vars(self.env)
        stays = attributes.keys() | fixtures.keys() | CONSTANTS
        for name in current.keys() - stays:
            del current[name]
        current.update(attributes)

    def _list_fixtures(self) -> dict[str, Any]:
        """Return the objects that stay in place, by name."""
        _ = self.env.np_random  # Gymnasium makes it at the first access
        attributes = vars(self.env)
        objects = {"spec", "action_space", "observation_space", "metadata"} & attributes.keys()
        constants = {name: attributes[name] for name in objects if attributes[name] is not None}
        return {"the environment": self.env} | constants | attributes_that_are_generators(self.env)
