"""Any environment whose attributes can be pickled; the fallback, at some hundred microseconds."""

from __future__ import annotations

import io
import pickle
from typing import Any, ClassVar

import gymnasium as gym

from setrl.control.adapters.base import WHAT_TO_IMPLEMENT, NotResettableError
from setrl.control.adapters.generators import generators_of

# What does not change in an episode, or cannot be pickled (Gymnasium's and pygame's names).
CONSTANTS = frozenset(
    {"spec", "_cached_spec", "action_space", "observation_space", "metadata", "reward_range"}
    | {"window", "screen", "clock", "surf", "window_surface", "viewer", "renderer"}
)


class PickledState:
    """The attributes of an environment but its constants, pickled.

    Whatever stays in its place (the environment itself, its spaces, its generators) is written as
    a name, so that back-references lead to the environment that is set back, in any process. The
    attributes are pickled, not the environment: many classes (`EzPickle`) pickle as the arguments
    of their constructor, which loses the state without a word.
    """

    name: ClassVar[str] = "pickle"

    def __init__(self, env: gym.Env) -> None:
        self.env = env
        try:
            self.save()
        except Exception as error:
            raise NotResettableError(
                f"{type(env).__name__} cannot be pickled ({error}), so it cannot be set back this "
                f'way: {WHAT_TO_IMPLEMENT}; or use backend="replay" if it is a function of its '
                "seed and actions"
            ) from error

    @staticmethod
    def is_made_for(env: gym.Env) -> bool:
        """The last that `auto` comes to: tried on whatever there is."""
        return True

    def save(self) -> bytes:
        """The attributes as one pickle."""
        places = {id(value): name for name, value in self._fixtures().items()}
        state = {key: value for key, value in vars(self.env).items() if id(value) not in places}
        written = io.BytesIO()
        pickler = pickle.Pickler(written, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = lambda value: places.get(id(value))  # type: ignore[method-assign]
        pickler.dump(state)
        return written.getvalue()

    def load(self, state: bytes) -> None:
        """Set the attributes; one that the state does not have is taken away."""
        fixtures = self._fixtures()
        unpickler = pickle.Unpickler(io.BytesIO(state))
        unpickler.persistent_load = fixtures.__getitem__  # type: ignore[method-assign]
        attributes, fixed = unpickler.load(), {id(value) for value in fixtures.values()}
        here = vars(self.env)
        for name in [key for key in here if key not in attributes and id(here[key]) not in fixed]:
            del here[name]
        here.update(attributes)

    def _fixtures(self) -> dict[str, Any]:
        """Name → what stays where it is."""
        values = vars(self.env)
        constants = {
            name: values[name] for name in CONSTANTS & values.keys() if values[name] is not None
        }
        return {"the environment": self.env} | constants | generators_of(self.env)
