"""A set objective of one's own: one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from setrl import names
from setrl.core.objectives.base import Objective
from setrl.core.samples import Samples


@dataclass(frozen=True, repr=False)
class FromFunction(Objective):
    """An objective of your own, scored over all sets where they are few and else sampled sets.

    Attributes:
        function: Fields of the set's members, arrays of shape (…, K) → scores (…). It must be
            symmetric in the members.
        reads: The names of the fields that it takes, in order: "rewards", "clusters", "answers",
            "proxy", "pairs".
        one_set_at_a_time: Call it with the fields of a single set, shape (K,); slower.

    >>> from setrl import objectives
    >>> objectives.from_function(lambda rewards: rewards.max(-1) - rewards.min(-1))
    from_function(<lambda>, reads=('rewards',))
    """

    function: Callable[..., np.ndarray]
    reads: tuple[str, ...] = ("rewards",)
    one_set_at_a_time: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", tuple(self.reads))
        for name in self.reads:
            names.look_up("field", name, dict.fromkeys(field.name for field in fields(Samples)))

    def __repr__(self) -> str:
        return f"from_function({self._name}, reads={self.reads})"

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def __call__(self, members: Samples) -> np.ndarray:
        """The function's scores, checked to be one number a set."""
        given = [getattr(members, name) for name in self.reads]
        shape = members.rewards.shape[:-1]
        if self.one_set_at_a_time:
            scores = np.array(
                [self.function(*(field[at] for field in given)) for at in np.ndindex(shape)],
                dtype=np.float64,
            )
            return self._checked(scores.reshape(shape) if scores.ndim == 1 else scores, shape)
        return self._checked(np.asarray(self.function(*given), dtype=np.float64), shape)

    def _checked(self, scores: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        if scores.shape != shape:
            raise ValueError(
                f"the objective {self._name} must give one score a set, shape {shape}, got "
                f"{scores.shape}: the last axis of its arguments runs over the set's members; "
                "pass one_set_at_a_time=True if it is written for a single set"
            )
        return scores
