"""Any environment whose attributes can be pickled; the fallback, at some hundred microseconds."""

from __future__ import annotations

import io
import pickle
from typing import Any, ClassVar

import gymnasium as gym

from setrl.control.envs.attributes import CONSTANTS
from setrl.control.envs.base import WHAT_TO_IMPLEMENT, Adapter, NotResettableError
from setrl.control.envs.generators import generators_of


class PickledState(Adapter):
    """The attributes of an environment but its constants, pickled.

    Whatever stays in its place (the environment itself, its spaces, its generators) is written as
    a name, so that back-references lead to the environment that is set back, in any process. The
    attributes are pickled, not the environment: many classes (`EzPickle`) pickle as the arguments
    of their constructor, which loses the state without a word.
    """

    name: ClassVar[str] = "pickle"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.save()

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """The last that `auto` comes to: tried on whatever there is."""
        return True

    def save(self) -> bytes:
        """The attributes as one pickle; NotResettableError if one of them refuses."""
        places = {id(value): name for name, value in self._fixtures().items()}
        values = vars(self.env).items()
        state = {
            key: each for key, each in values if key not in CONSTANTS and id(each) not in places
        }
        written = io.BytesIO()
        pickler = pickle.Pickler(written, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = lambda value: places.get(id(value))  # type: ignore[method-assign]
        try:
            pickler.dump(state)
        except Exception as error:  # what a class raises when it is pickled is its own choice
            raise NotResettableError(
                f"{type(self.env).__name__} cannot be pickled ({error}), so it cannot be set back "
                f'this way: {WHAT_TO_IMPLEMENT}; or use backend="replay" if it is a function of '
                "its seed and actions"
            ) from error
        return written.getvalue()

    def load(self, state: bytes) -> None:
        """Set the attributes; one that the state does not have is taken away."""
        fixtures = self._fixtures()
        unpickler = pickle.Unpickler(io.BytesIO(state))
        unpickler.persistent_load = fixtures.__getitem__  # type: ignore[method-assign]
        attributes, here = unpickler.load(), vars(self.env)
        stays = attributes.keys() | fixtures.keys() | CONSTANTS
        for name in here.keys() - stays:
            del here[name]
        here.update(attributes)

    def _fixtures(self) -> dict[str, Any]:
        """Name → what stays where it is."""
        _ = self.env.np_random  # Gymnasium makes it when it is first asked for
        values = vars(self.env)
        objects = {"spec", "action_space", "observation_space", "metadata"} & values.keys()
        constants = {name: values[name] for name in objects if values[name] is not None}
        return {"the environment": self.env} | constants | generators_of(self.env)
