"""Schedules: numbers that change over the steps of training, as values.

A schedule maps the share of the steps that is done, from 0 to 1, to a number. It can stand for any
number of a method: K, α, a weight. `Scheduled` is a method with such arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, isfinite, pi
from numbers import Real
from typing import Any

from setrl.core.method import AnyMethod

ROUNDED = "set_size"  # the one argument of methods that must be an integer


class Schedule(ABC):
    """A number for each share of the steps that is done."""

    @abstractmethod
    def __call__(self, progress: float) -> float:
        """Return the number at `progress`, from 0 to 1."""


@dataclass(frozen=True)
class Linear(Schedule):
    """From `first` to `last` in a straight line.

    Attributes:
        first: The number up to `begin`.
        last: The number from `end` on.
        begin: The share of the steps at which it begins to change.
        end: The share at which it has changed.

    >>> [Linear(8, 2)(progress) for progress in (0, 0.5, 1)]
    [8.0, 5.0, 2.0]
    """

    first: float
    last: float
    begin: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
                raise ValueError(f"{name} of a schedule must be a finite number, got {value!r}")
        if not 0 <= self.begin < self.end <= 1:
            raise ValueError(
                "a schedule needs 0 ≤ begin < end ≤ 1, shares of the steps, got "
                f"begin={self.begin} and end={self.end}"
            )

    def __call__(self, progress: float) -> float:
        """Return the number at `progress`."""
        return self.first + self._share_done(progress) * (self.last - self.first)

    def _share_done(self, progress: float) -> float:
        return min(max((progress - self.begin) / (self.end - self.begin), 0.0), 1.0)


@dataclass(frozen=True)
class Cosine(Linear):
    """From `first` to `last` along half a cosine, slow at both ends."""

    def _share_done(self, progress: float) -> float:
        return (1 - cos(pi * super()._share_done(progress))) / 2


by_name: dict[str, Callable[..., Schedule]] = {"linear": Linear, "cosine": Cosine}


@dataclass(frozen=True)
class Scheduled:
    """A method with arguments that change over the steps: progress → method.

    `SetGRPOTrainer(method=…)` takes it instead of a method.

    Attributes:
        make: A function of `setrl.methods`.
        arguments: Its arguments; schedules may stand for numbers, also inside lists and mappings.
            `set_size` is rounded to an integer.

    >>> from setrl import methods
    >>> shrinking = Scheduled(methods.poly_epo, {"set_size": Linear(8, 2)})
    >>> shrinking(0.0).set_size, shrinking(0.6).set_size, shrinking(1.0).set_size
    (8, 4, 2)
    """

    make: Callable[..., AnyMethod]
    arguments: Mapping[str, Any]

    def __call__(self, progress: float) -> AnyMethod:
        """Return the method at `progress`."""
        return self.make(**at(dict(self.arguments), progress))


def at(value: Any, progress: float) -> Any:
    """Return the same value with the numbers of `progress` instead of schedules."""
    if isinstance(value, Schedule):
        return value(progress)
    if isinstance(value, Mapping):
        mapping = {key: at(item, progress) for key, item in value.items()}
        if isinstance(value.get(ROUNDED), Schedule):
            mapping[ROUNDED] = round(mapping[ROUNDED])
        return mapping
    return [at(item, progress) for item in value] if isinstance(value, list | tuple) else value


def has_schedule(value: Any) -> bool:
    """Whether a schedule stands anywhere in a value."""
    if isinstance(value, Mapping):
        return any(map(has_schedule, value.values()))
    return isinstance(value, Schedule) or (
        isinstance(value, list | tuple) and any(map(has_schedule, value))
    )
