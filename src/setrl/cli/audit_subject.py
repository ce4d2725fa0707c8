"""What `setrl audit` audits: a function, a method or a log, with the settings of the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setrl.support.errors import ConfigError

if TYPE_CHECKING:
    from setrl.theory.audit import Shape


def numbers(texts: Sequence[str], what: str) -> tuple[float, ...]:
    """ReadSubject numbers that are separated by spaces or commas: 0 1/2 1, or 0,0.5,1.

    >>> numbers(["0,1/2", "1"], "rewards")
    (0.0, 0.5, 1.0)
    """
    parts = [part for text in texts for part in text.replace(",", " ").split()]
    try:
        return tuple(float(Fraction(part)) for part in parts)
    except (ValueError, ZeroDivisionError):
        raise ConfigError(
            f"{what} must be numbers, such as 0 0.5 1, got {' '.join(texts)}"
        ) from None


def function_of(
    function: Any,
    trainer: str | None,
    settings: Mapping[str, Any],
    fields: Sequence[str],
    rewards: Sequence[float],
) -> tuple[Any, Shape | None]:
    """Return a function and how it is called; with its settings, if it is not for a trainer.

    Args:
        function: The function; anything else is returned unchanged.
        trainer: A name of `setrl.theory.audit.TRAINERS`; by the parameters if None.
        settings: Options of the trainer; otherwise keyword arguments of the function.
        fields: Such as length=3,1: a number for each reward, from the highest; or
            length=module:function, of rewards and labels.
        rewards: The rewards.
    """
    from setrl.theory.audit.shapes import trainer_of, trainer_shape

    if trainer is None and not (callable(function) and trainer_of(function)):
        if fields:
            raise ConfigError("--field needs a trainer that passes it: give --trainer NAME")
        return (
            partial(function, **settings) if settings and callable(function) else function
        ), None
    read = dict(_field(text, rewards) for text in fields)
    shape = trainer_shape(
        function, trainer, {name: one for name, (one, _) in read.items()}, **settings
    )
    return function, replace(shape, reads_labels=any(labels for _, labels in read.values()))


ReadSubject = tuple[
    Callable[[np.ndarray, np.ndarray], Any], bool
]  # a field, and whether it reads labels


def _field(text: str, rewards: Sequence[float]) -> tuple[str, ReadSubject]:
    from setrl.support.files.loading import is_reference, load_function

    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(
            f"a field must look like length=3,1 or length=module:function, got {text!r}"
        )
    if is_reference(value):
        return name, (load_function(value, Path.cwd()).value, True)
    levels, found = sorted(set(rewards)), np.array(numbers([value], f"--field {name}"))
    if len(found) != len(levels):
        raise ConfigError(
            f"--field {name} needs {len(levels)} numbers, one for each reward from the highest, "
            f"got {len(found)}"
        )
    return name, (lambda rewards, _labels: found[::-1][np.searchsorted(levels, rewards)], False)
